"""A Python that finds some packages nowhere, as where they are not installed."""

import subprocess
import sys

HIDING = """
import sys
from importlib.machinery import PathFinder

class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in {} else super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Finder
"""


def without(packages, code, **options):
    """Run the code there, in a process of its own; options of subprocess.run."""
    command = [sys.executable, "-c", HIDING.format(packages) + code]
    return subprocess.run(command, capture_output=True, text=True, **options)
