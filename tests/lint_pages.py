"""Style of the code cells: each page as a notebook through ruff (which knows that format)."""

import subprocess
import sys
import tempfile
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parents[1]
# A page is read from top to bottom: imports stand where they are first needed, and the last
# expression of a cell is its output.
ALLOWED = "E402,B018"


def main() -> int:
    pages = [
        page
        for page in sorted((ROOT / "book").rglob("*.md"))
        if "format_name: myst" in page.read_text("utf-8")
    ]
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            target = Path(folder, page.relative_to(ROOT)).with_suffix(".ipynb")
            target.parent.mkdir(parents=True, exist_ok=True)
            jupytext.write(jupytext.read(page), target)
        (Path(folder) / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
        command = [sys.executable, "-m", "ruff", "check", "--extend-ignore", ALLOWED, folder]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
