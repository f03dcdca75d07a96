"""Puts what the library reads of the book into the package: the register, the stored results.

All else is declared in pyproject.toml. In a clone (an editable install) they lie in `book/`.
"""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CARRIED = ("claims", "sabotage", "results")


class WithTheBook(build_py):
    """The modules, and a copy of the carried folders in `runproofs/_book`."""

    def files(self) -> dict[Path, Path]:
        """Each carried file by the place where it is installed."""
        target = Path(self.build_lib) / "runproofs" / "_book"
        return {
            target / path.relative_to("book"): path
            for name in CARRIED
            for path in sorted(Path("book", name).rglob("*.*"))
            if path.suffix in {".yml", ".json", ".npz"}
        }

    def run(self):
        super().run()
        for target, path in () if self.editable_mode else self.files().items():
            self.mkpath(str(target.parent))
            self.copy_file(str(path), str(target))


setup(cmdclass={"build_py": WithTheBook})
