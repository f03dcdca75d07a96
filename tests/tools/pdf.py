"""Is the book on paper whole? What LaTeX said, and counts against the built pages (make pdf).

Fails on an error, a reference that leads nowhere, a missing glyph, a line that runs off the page,
and on a page that has not as many formulas, pictures and cards as the built page has.
"""

import re
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

WIDEST = 5.0  # points that a line may be too wide; the margin has 62
LEFT_OUT = {"book/back/glossary", "book/back/library", "book/back/map"}
COMPLAINTS = [
    r"^! .*",
    r"^LaTeX Warning: (?:Hyper reference|Reference) .* undefined",
    r"^LaTeX Warning: Citation .* undefined",
    r"^LaTeX Warning: Label .* multiply defined",
    r"^Missing character: .*",
]
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


def complaints(log: str) -> list[str]:
    """What a log of LaTeX has that a reader would notice."""
    log = re.sub(r"(?<=.{79})\n(?!\n)", "", log)  # LaTeX breaks its lines after 79 characters
    found = [match for pattern in COMPLAINTS for match in re.findall(pattern, log, re.M)]
    for width, where in re.findall(r"^Overfull \\hbox \(([\d.]+)pt too wide\)(.*)", log, re.M):
        if float(width) > WIDEST:
            found.append(f"{width}pt too wide{where}")
    return list(dict.fromkeys(found))


def sheets(log: str) -> int:
    """The pages of a book, by its log."""
    return int(re.search(r"Output written on \S+ \((\d+) pages", log)[1])


class Page(HTMLParser):
    """Counts what a built page shows in its article."""

    def __init__(self, html: str):
        super().__init__()
        self.count = Counter()
        self.depth = 0  # of tags in the article
        self.folded = 0  # the depth at which begins what paper has not: a check, a picture to move
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        classes = (dict(attributes).get("class") or "").split()
        if tag == "article" and "bd-article" in classes:
            self.depth = 1
        elif self.depth and tag not in VOID:
            self.depth += 1
        left_out = {"evidence", "results", "hand"} & {*classes}
        if tag in {"details", "div"} and left_out and not self.folded:
            self.folded = self.depth
        if self.depth and not self.folded:
            self.count["formulas"] += tag == "div" and "math" in classes
            self.count["pictures"] += tag == "img"
            self.count["cards"] += "claim-card" in classes

    def handle_endtag(self, tag):
        if self.depth and tag not in VOID:
            if self.folded == self.depth:
                self.folded = 0
            self.depth -= 1

    def handle_data(self, data):
        if self.depth and not self.folded and self.lasttag != "script":
            self.count["formulas"] += data.count(r"\(")


def in_html(folder: Path, names) -> dict[str, Counter]:
    return {name: Page((folder / f"{name}.html").read_text("utf-8")).count for name in names}


def in_latex(book: str) -> dict[str, Counter]:
    """The same of each page in LaTeX; what stands before the first page is the landing page's."""
    pages = re.split(r"\\sphinxstepscope\n", book)
    found = {}
    for text in pages:
        name = re.search(r"\\label\{\\detokenize\{([^}]+?)::doc\}\}", text)
        found[name[1] if name else "book/index"] = Counter(
            # Sphinx makes a formula of the mark of a card
            formulas=len(re.findall(r"(?<!\\)\\\((?!\\checkmark)|\\bookdisplay\{", text)),
            pictures=len(re.findall(r"\\sphinxincludegraphics", text)),
            cards=text.count(r"\begin{claimcard}"),
        )
    return found


def main(root=Path("_build")) -> int:
    folder = root / "latex"
    log = (folder / "book.log").read_text("utf-8", errors="replace")
    found = complaints(log)
    printed = in_latex((folder / "book.tex").read_text("utf-8"))
    shown = in_html(root / "html", printed)
    for name in printed:
        if name not in LEFT_OUT:
            for what in ("formulas", "pictures", "cards"):
                here, there = printed[name][what], shown[name][what]
                if here != there:
                    found.append(f"{name}: {here} {what} on paper, {there} on the page")
    # links to what the shorter edition leaves out lead nowhere there
    shorter = (folder / "book-short.log").read_text("utf-8", errors="replace")
    found += [f"Shorter: {line}" for line in complaints(shorter) if " undefined" not in line]
    print("\n".join(found))
    whole = sum((printed[name] for name in printed), Counter())
    print(f"{len(printed)} pages: {', '.join(f'{n} {what}' for what, n in whole.items())}.")
    print(f"On paper {sheets(log)} pages, in the shorter edition {sheets(shorter)}.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
