"""Style of the code cells of the pages: ruff's rules and its format; with --fix, mends them."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CELL = re.compile(
    r"^(?P<fence>`{3,})\{code-cell\}.*\n(?P<options>---\n(?s:.*?)\n---\n|(?::.*\n)*)"
    r"(?P<code>(?s:.*?))^(?P=fence)$",
    re.M,
)
# A page is read from top to bottom: imports stand where they are first needed, and the last
# expression of a cell is its output. White space between cells is ours.
ALLOWED = "E402,B018,W293,W391"
FORMAT = [
    "format", "--line-length", "88",  # what fits beside the table of contents
    "--config", "format.skip-magic-trailing-comma=true", "-",
]  # fmt: skip


def ruff(arguments: list[str], code: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "ruff", *arguments]
    return subprocess.run(
        command, input=code, cwd=ROOT, text=True, capture_output=True, check=False
    )


def script(page: str) -> str:
    """The code of a page, on the lines where it stands; every other line is empty."""
    lines = [""] * (page.count("\n") + 1)
    for cell in CELL.finditer(page):
        first = page.count("\n", 0, cell.start("code"))
        code = cell["code"].splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines) + "\n"


def formatted(page: str) -> str:
    def replace(cell: re.Match) -> str:
        result = ruff(FORMAT, cell["code"])
        code = result.stdout if result.returncode == 0 else cell["code"]
        return cell[0][: cell.start("code") - cell.start()] + code + cell["fence"]

    return CELL.sub(replace, page)


def main(fix: bool) -> int:
    failed = False
    for path in sorted((ROOT / "book").rglob("*.md")):
        page, name = path.read_text("utf-8"), path.relative_to(ROOT).as_posix()
        better = formatted(page)
        if better != page:
            if fix:
                path.write_text(better, "utf-8")
                page = better
            else:
                print(f"{name}: cells not formatted; run `python tests/lint_pages.py --fix`")
                failed = True
        options = ["--quiet", "--output-format=concise", "--extend-ignore", ALLOWED]
        result = ruff(["check", *options, "--stdin-filename", f"{name}.py", "-"], script(page))
        failed |= result.returncode != 0
        print((result.stdout + result.stderr).replace(".md.py:", ".md:"), end="")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(fix="--fix" in sys.argv[1:]))
