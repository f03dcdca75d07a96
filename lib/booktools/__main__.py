import os
import re
import sys
from importlib import import_module

import booktools

ELSEWHERE = {  # than in `main` of the module of the tool's name
    "break": "breaks.main",
    "check-outputs": "outputs.main",
    "lock": "optional.lock",
    "newest": "optional.newest",
    "optional": "optional.optional",
}


def main(arguments: list[str]) -> int:
    """Run the tool that the first argument names, with the other arguments."""
    known = re.findall(r"^ {4}([\w-]+)", booktools.__doc__, re.M)
    if not arguments or arguments[0] not in known:
        print(booktools.__doc__)
        return int(arguments not in (["-h"], ["--help"])) * 2
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # more slow each other down, and disturb a fork
    name, *rest = arguments
    module, _, function = ELSEWHERE.get(name, f"{name}.main").partition(".")
    return getattr(import_module(f"booktools.{module}"), function)(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
