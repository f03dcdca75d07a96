"""The experiments of the book, one module a chapter; `discover` finds them all."""

import importlib
import pkgutil

from runproofs.experiments.base import Experiment, registered


def discover() -> dict[str, Experiment]:
    """Every experiment of the book by name: imports each module of this package."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return registered()
