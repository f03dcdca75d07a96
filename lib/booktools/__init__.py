"""The tools of those who maintain the book: `python -m booktools NAME ...`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests"))  # helpers, which compare stored runs
