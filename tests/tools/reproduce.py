"""python -m tools.reproduce PAGES NOTEBOOKS HTML: do the published outputs come out again?

Every page with code must be published: a notebook with the code of its cells, all of them run, and
a card for each claim; the notebook that readers download and the HTML page show the same outputs.
Then all notebooks run again, and every output is compared with the published one. Times and
addresses in memory may differ. Pictures may differ by a little (`DISTANCE`). Measured values keep
their words and relations, the sign of each number, and its order of magnitude, except below
`ROUNDING` and below 1 % of what bounds it; those in tables of results agree to `DIGITS`.
"""

import base64
import io
import os
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from html import unescape
from pathlib import Path

import nbformat
import numpy as np
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image
from tqdm import tqdm

from runproofs.book.pages import cells
from runproofs.book.register import checks_in, register

SECONDS = 120  # for a cell
MEASURED = re.compile(r'<(?P<tag>td|span) class="measured">(?P<value>(?:[^<]|<br>)*)</(?P=tag)>')
NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?")
RELATION = re.compile(rf"({NUMBER.pattern}) ≤ ({NUMBER.pattern})")
OF_TIMES = "time (ms)"  # a label of a picture that shows times, which is not compared
VARYING = re.compile(r"\d+(?:\.\d+)? ?(?:ms|s|µs)\b(?!\.e)|0x[0-9a-fA-F]+")  # times, addresses
ROUNDING = 1e-8  # two numbers below it are alike
MAGNITUDE = 10  # by what factor two numbers of one order may differ
DIGITS = 0.05  # relative, of the numbers in tables, but for those that say 6-fold
BLOCKS = 32  # a picture is compared as so many by so many mean colours
DISTANCE = 0.014  # of the colours, 0 to 1: root mean square; a curve raised by 5 % is farther


# What is published --------------------------------------------------------------------------------


def pages_with_code(pages: Path) -> list[str]:
    """Their names, without suffix, from the folder of the pages."""
    found = [
        path.relative_to(pages).with_suffix("").as_posix()
        for path in sorted(pages.rglob("*.md"))
        if "{code-cell}" in path.read_text("utf-8") and ".ipynb_checkpoints" not in path.parts
    ]
    return found


def code_of(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]


def unpublished(page: Path, notebook: Path) -> list[str]:
    """What a published notebook lacks of its page, in sentences."""
    if not notebook.exists():
        return ["it is missing."]
    text, found = page.read_text("utf-8"), []
    code = code_of(nbformat.read(notebook, as_version=4))
    if [cell.source.strip() for cell in code] != [
        cell.code.strip() for cell in cells(text) if cell.code.strip()
    ]:
        found.append("its cells do not have the code of the page.")
    if not_run := sum(cell.execution_count is None for cell in code):
        found.append(f"{not_run} of {len(code)} cells have not run.")
    if not any(cell.outputs for cell in code):
        found.append("it has no outputs.")
    shown = "".join(str(cell.outputs) for cell in code)
    return found + [
        f"{claim} has no card."
        for claim in checks_in(text)
        if f'"check-{register()[claim].slug}"' not in shown
    ]


def pictures(outputs) -> list[bytes]:
    return [
        base64.b64decode(output.data["image/png"])
        for output in outputs
        if "image/png" in output.get("data", {})
    ]


def measured(text: str) -> list[str]:
    return [unescape(found["value"]) for found in MEASURED.finditer(text)]


def in_html(outputs) -> str:
    return "".join(output.get("data", {}).get("text/html", "") for output in outputs)


def misquoted(notebook: Path, download: Path, html: Path) -> list[str]:
    """Where the downloaded notebook, or the page, shows other outputs than the notebook has."""
    code, found = code_of(nbformat.read(notebook, as_version=4)), []
    ours = [output for cell in code for output in cell.outputs]
    theirs = [output for cell in code_of(nbformat.read(download, as_version=4))
              for output in cell.outputs]  # fmt: skip
    if pictures(ours) != pictures(theirs) or measured(in_html(ours)) != measured(in_html(theirs)):
        found.append("its download has other outputs.")
    page = html.read_text("utf-8")
    if measured(page) != measured(in_html(ours)):
        found.append("its HTML shows other measured values.")
    names = re.findall(r'src="([^"]*_images/[^"]+\.png)"', page)
    drawn = {(html.parent / name).read_bytes() for name in names}
    if missing := sum(picture not in drawn for picture in pictures(ours)):
        found.append(f"its HTML does not show {missing} of {len(pictures(ours))} pictures.")
    return found


# Two runs -----------------------------------------------------------------------------------------


def alike(one: str, other: str, table: bool = False) -> bool:
    """Whether two measured values say the same.

    >>> alike("2e-16 ≤ 1e-12", "7e-16 ≤ 1e-12"), alike("2e-16 ≤ 1e-12", "7.5 ≤ 1e-12")
    (True, False)
    """
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    if all(map(far_below, (one, other))):
        one, other = (RELATION.sub(r"≤ \2", value, count=1) for value in (one, other))
    elif "nearest" in one and all(map(true, (one, other))):  # of many cases, another one is worst
        one, other = (RELATION.sub("≤", value, count=1) for value in (one, other))
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(near(a, b, table) for a, b in pairs)


def near(one: str, other: str, table: bool) -> bool:
    """Whether two numbers are alike; in a table to 5 %, or to one of the last digit."""
    a, b = number(one), number(other)
    small, large = sorted((abs(a), abs(b)))
    if a == b or large <= ROUNDING:
        return True
    if table:
        last = 10.0 ** -max(len(x.partition(".")[2]) for x in (one, other))
        return abs(a - b) <= max(DIGITS * large, 1.01 * last)
    return a * b > 0 and large <= MAGNITUDE * max(small, ROUNDING)


def far_below(value: str) -> bool:
    """Whether a small number is measured, 1 % of its bound at most."""
    found = RELATION.match(value)
    return bool(found) and abs(number(found[1])) <= abs(number(found[2])) / 100


def true(value: str) -> bool:
    """Whether `a ≤ b` is, to the digits that are shown."""
    found = RELATION.match(value)
    return bool(found) and number(found[1]) <= number(found[2]) + 0.01 * abs(number(found[2]))


def number(text: str) -> float:
    return float(text.replace(",", ""))


def colours(picture: bytes) -> np.ndarray:
    """The mean colours of its blocks, 0 to 1, on white: (BLOCKS, BLOCKS, 3)."""
    image = Image.open(io.BytesIO(picture)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    flat = Image.alpha_composite(white, image).convert("RGB")
    return np.asarray(flat.resize((BLOCKS, BLOCKS), Image.Resampling.BOX)) / 255


def distance(one: bytes, other: bytes) -> float:
    """Root mean square over the blocks of how their mean colours differ; 1 for other shapes."""
    if one == other:
        return 0.0
    sizes = np.array([Image.open(io.BytesIO(picture)).size for picture in (one, other)])
    if np.any(np.abs(sizes[0] - sizes[1]) > 0.05 * sizes.max(axis=0)):
        return 1.0
    apart = np.abs(colours(one) - colours(other)).max(axis=2)
    return float(np.sqrt((apart**2).mean()))


def merged(outputs) -> list:
    """The outputs as pairs (kind, content by type); pieces of a stream as one."""
    found = []
    for output in outputs:
        if output.output_type == "stream":
            if found and found[-1][0] == output.name:
                found[-1][1]["text"] += output.text
            else:
                found.append((output.name, {"text": output.text}))
        else:
            found.append((output.output_type, dict(output.get("data", {}))))
    return found


def difference(kind: str, one: str, other: str) -> str:
    """How two contents of a type differ, in a phrase; empty where they agree."""
    if kind == "image/png":
        apart = distance(*(base64.b64decode(content) for content in (one, other)))
        return f"a picture is {apart:.3f} from the published one" * (apart > DISTANCE)
    bare = [VARYING.sub("", MEASURED.sub("", content)) for content in (one, other)]
    if bare[0] != bare[1]:
        lines = zip(*(text.splitlines() for text in bare), strict=False)
        first = next((pair for pair in lines if pair[0] != pair[1]), ("", "a line more or less"))
        return f"{first[1].strip()[:200]!r} in place of {first[0].strip()[:200]!r}"
    for a, b in zip(MEASURED.finditer(one), MEASURED.finditer(other), strict=True):
        values = [unescape(VARYING.sub("TIME", found["value"])) for found in (a, b)]
        if not alike(*values, table=a["tag"] == "td" and "-fold" not in values[0]):
            return f"measured {values[1]!r} in place of {values[0]!r}"
    return ""


def differences(published, again) -> list[str]:
    """Where two runs of a notebook differ, in sentences, a cell each."""
    found = []
    for place, cells_ in enumerate(zip(code_of(published), code_of(again), strict=True)):
        one, other = (merged(cell.outputs) for cell in cells_)
        if OF_TIMES in cells_[0].source:
            one, other = ([(kind, {}) for kind, _ in outputs] for outputs in (one, other))
        if [(kind, set(data)) for kind, data in one] != [(kind, set(data)) for kind, data in other]:
            found.append(
                f"cell {place}: it has {len(other)} outputs in place of {len(one)}, or others."
            )
            continue
        pairs = [
            (kind, a[kind], b[kind])
            for (_, a), (_, b) in zip(one, other, strict=True)
            for kind in a
        ]
        found += [f"cell {place}: {how}." for pair in pairs if (how := difference(*pair))][:1]
    return found


def run_again(notebook: Path):
    """The published notebook, run from its folder; CellExecutionError where a cell fails."""
    again = nbformat.read(notebook, as_version=4)
    for cell in code_of(again):
        cell.outputs, cell.execution_count = [], None
    metadata = {"metadata": {"path": str(notebook.parent)}}
    NotebookClient(again, timeout=SECONDS, kernel_name="python3", resources=metadata).execute()
    return again


def judged(name: str, pages: Path, notebooks: Path, html: Path) -> list[str]:
    """All that is wrong with a page, in sentences."""
    page, notebook = pages / f"{name}.md", notebooks / f"{name}.ipynb"
    found = unpublished(page, notebook)
    if not found:
        sources = html / "_sources" / "book"
        found = misquoted(notebook, sources / f"{name}.ipynb", html / "book" / f"{name}.html")
        try:
            found += differences(nbformat.read(notebook, as_version=4), run_again(notebook))
        except CellExecutionError as error:
            found.append(f"a cell fails: {str(error).strip().splitlines()[-1]}")
    return [f"{name}: {sentence}" for sentence in found]


def main(pages: str, notebooks: str, html: str, *names: str) -> int:
    folders = [Path(folder).resolve() for folder in (pages, notebooks, html)]
    chosen = list(names) or pages_with_code(folders[0])
    work = partial(judged, **dict(zip(("pages", "notebooks", "html"), folders, strict=True)))
    wrong = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in tqdm(pool.map(work, chosen), total=len(chosen), disable=None):
            wrong += found
            print("\n".join(found), end="\n" * bool(found), flush=True)
    print(f"{len(chosen)} notebooks, {len(wrong)} differences.")
    return int(bool(wrong) or not chosen)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
