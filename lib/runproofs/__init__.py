"""Dropout and adversarial training, claim by claim: `import runproofs as rp`.

The names in __init__.pyi are what people need most. Each is loaded when it is first used, so that
only what trains or attacks networks needs torch (`pip install "runproofs[torch]"`). The modules
`linear`, `networks`, `adversarial` and `bounds` have the rest. On the command line:
`runproofs --help`.
"""

import ast
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from runproofs import _optional  # noqa: F401 - says what to install where something is missing

NAMES = {  # what __init__.pyi imports for type checkers and editors: the name, and where it is
    name.asname: f"{line.module}.{name.name}"
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for name in line.names
}


def __getattr__(name: str):
    if name == "__version__":
        return version("runproofs")
    if name not in NAMES:
        raise AttributeError(f"module 'runproofs' has no attribute {name!r}")
    module, _, attribute = NAMES[name].rpartition(".")
    return getattr(import_module(f"runproofs.{module}"), attribute)


def __dir__():
    return sorted([*globals(), *NAMES, "__version__"])
