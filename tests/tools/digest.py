"""Writes what every entry of the register says, as a digest: `make register`.

Beside it stands how many of the formulas of its statement the page that checks it has, letter by
letter. A test compares both, so that no number, statement, kind or erratum changes or goes by
accident, nor a formula on the page alone.
"""

import hashlib
import json
import re
from functools import cache

from runproofs.book.register import BOOK, Claim, checks_in, register

FILE = BOOK / "claims" / "digests.txt"
CODE = re.compile(r"^(`{3,})\{code-cell.*?^\1", re.M | re.S)
FORMULA = re.compile(r"\$([^$]+)\$")
SHORTEST = 8  # letters of a formula that counts: shorter ones are anywhere
SPELLINGS = (  # of the same formula
    (r"\\(left|right|[bB]igg?[lr]?|displaystyle|q?quad)(?![a-zA-Z])", ""),
    (r"\\[td]frac", r"\\frac"),
    (r"\\[lr]Vert(?![a-zA-Z])", r"\\|"),
    (r"\\[lr]vert(?![a-zA-Z])", "|"),
    (r"\\(operatorname|mathrm|text)\*?(?![a-zA-Z])", ""),
    (r"[\s{}~]|\\[,;!: ]", ""),
)


def digest(entry: Claim) -> str:
    """Of all that the entry says."""
    said = json.dumps(entry._asdict(), ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def plain(formula: str) -> str:
    for pattern, instead in SPELLINGS:
        formula = re.sub(pattern, instead, formula)
    return formula.rstrip(".,;")


@cache
def texts() -> dict[str, str]:
    """Of each claim that is checked, the text of its page without code, spelled plainly."""
    found = {}
    for path in BOOK.rglob("*.md"):
        text = path.read_text("utf-8")
        found |= dict.fromkeys(checks_in(text), plain(CODE.sub("", text)))
    return found


def shared(entry: Claim) -> int:
    """How many formulas of its statement the page has as well."""
    formulas = [plain(formula) for formula in FORMULA.findall(entry.statement)]
    page = texts().get(entry.id, "")
    return sum(len(formula) >= SHORTEST and formula in page for formula in formulas)


def digests() -> str:
    return "".join(f"{digest(entry)} {shared(entry)} {entry.id}\n" for entry in register().values())


def changed() -> list[str]:
    """The ids whose entries or formulas are not what the file says, or that only one has."""
    written, now = (
        {line.rpartition(" ")[2]: line for line in text.splitlines()}
        for text in (FILE.read_text("utf-8"), digests())
    )
    return sorted({name for name, _ in written.items() ^ now.items()})


if __name__ == "__main__":
    FILE.write_text(digests(), "utf-8")
