"""Packages that a part of the library needs, and the extra of pyproject.toml that has each.

Where one is missing, whatever module of the library imports it ends in one sentence, which says
what to install. The sentence is for the library alone: others may do without these packages.
"""

import sys

EXTRAS = {  # a module: its package, and the extra
    "torch": ("PyTorch", "torch"),
    "joblib": ("joblib", "data"),
    "pooch": ("pooch", "data"),
    "sklearn": ("scikit-learn", "data"),
    "tqdm": ("tqdm", "data"),
}


def needs(who: str, module: str) -> str:
    package, extra = EXTRAS[module]
    return f'{who} needs {package}: pip install "runproofs[{extra}]"'


class Finder:
    """The last one in sys.meta_path: Python asks it for what no other has found."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in EXTRAS:
            return
        frame = sys._getframe(1)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        who = frame.f_globals.get("__name__", "")
        if who.startswith("runproofs."):
            raise ModuleNotFoundError(needs(who, name), name=name)


sys.meta_path.append(Finder)
