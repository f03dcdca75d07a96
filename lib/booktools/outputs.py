"""python -m booktools.outputs PAGES NOTEBOOKS HTML: do the published outputs come out again?

Every page with code must be published: a notebook with the code of its cells, all of them run, and
a card for each claim; the notebook that readers download and the HTML page show the same outputs.
Then all notebooks run again, and every output is compared with the published one. Times and
addresses in memory may differ. Pictures may differ by a little (`DISTANCE`), hence also in a small
word. Measured values keep their words and relations, and are as true; the sign of each number and
its order of magnitude, except below `ROUNDING` and below 1 % of what bounds it; of many cases, how
near the nearest comes. Those in tables of results differ by no more than a multiple of what other
arithmetic changed on that page (helpers.stored).
"""

import argparse
import base64
import io
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from functools import partial
from html import unescape
from pathlib import Path

import joblib
import nbformat
import numpy as np
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from PIL import Image
from tqdm import tqdm

from booksite.animations import FRAMES
from booktools.children import tenth
from helpers.stored import TIMES, spreads
from runproofs.book.pages import cells, checks_in
from runproofs.book.register import register

KernelManager.transport_encryption.default_value = "auto"  # else each kernel complains

SECONDS = 300  # for a cell
TAGS = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->|</?[a-zA-Z][^>]*>", re.S)
MEASURED = re.compile(r'<(?P<tag>td|span) class="measured">(?P<value>(?:[^<]|<br>)*)</(?P=tag)>')
NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?")
RELATION = re.compile(rf"({NUMBER.pattern}) ([≤≥<>]) ({NUMBER.pattern})(?: \+ ({NUMBER.pattern}))?")
FRAME = re.compile(r'"data:image/png;base64,[^"]+"')  # of a player
OF_TIMES = "time (ms)"  # a label of a picture that shows times, which is not compared
VARYING = re.compile(  # times, addresses
    r"(?<![\w.])(?:\d+(?:\.\d+)? ?(?:ms|s|µs)\b(?![.^_]|\.e)|0x[0-9a-fA-F]{6,})"
)
ROUNDING = 1e-8  # two numbers below it are alike
MAGNITUDE = 10  # by what factor two numbers of one order may differ
LARGE = 0.5  # a relative tolerance of which little would be left: the order of magnitude then is it
ALONE = {"numbers": 1, "errors": 1}  # the spread of numbers that are in no table, for that reason
EXACT = {"numbers": 0, "errors": 0}  # and in the tables of pages that have none: to the last digit
BLOCKS = 32  # a picture is compared as so many by so many mean colors
DISTANCE = 0.014  # of the colors, 0 to 1: root mean square; a curve raised by 5 % is farther


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
    return [cell for cell in notebook.cells if cell.cell_type == "code"
            and (cell.source.strip() or cell.outputs)]  # fmt: skip


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


def words(text: str) -> str:
    """What a reader sees of a piece of HTML, without white space."""
    return re.sub(r"\s+", "", unescape(TAGS.sub("", text)))


def shown(notebook) -> list:
    """The code and the outputs of the cells that readers get, to be compared with a copy's."""
    found = []
    for cell in code_of(notebook):
        if "from myst_nb import glue" not in cell.source:
            found.append(cell.source)
            for kind, data in merged(cell.outputs):
                html = {key: words(data[key]) for key in data if key == "text/html"}
                found.append((kind, data | html))
    return found


def misquoted(notebook: Path, download: Path, html: Path) -> list[str]:
    """Where the downloaded notebook, or the page, shows other outputs than the notebook has."""
    ours, found = nbformat.read(notebook, as_version=4), []
    if shown(ours) != shown(nbformat.read(download, as_version=4)):
        found.append("its download has other code, or other outputs.")
    outputs = [output for cell in code_of(ours) for output in cell.outputs]
    page = re.sub(r"<!--.*?-->", "", html.read_text("utf-8"), flags=re.S)
    if measured(page) != measured(in_html(outputs)):
        found.append("its HTML shows other measured values.")
    names = re.findall(r'src="([^"]*_images/[^"]+\.png)"', page)
    if [(html.parent / name).read_bytes() for name in names] != pictures(outputs):
        found.append("its HTML shows other pictures, or in another order.")
    for player in FRAMES.finditer(in_html(outputs)):
        source = re.search(rf'dataset\.frames = "([^"]*/{player["name"]}\.js)"', page)
        script = html.parent / source[1] if source else html
        if FRAME.findall(script.read_text("utf-8")) != FRAME.findall(player["pictures"]):
            found.append(f"its HTML shows other pictures in the player {player['name']}.")
    if page.count('class="claim-card') != in_html(outputs).count('class="claim-card'):
        found.append("its HTML shows more cards, or fewer.")
    text, place = words(page), 0
    for kind, data in (output for cell in code_of(ours) for output in merged(cell.outputs)):
        content = data.get("text/html", data.get("text"))
        if content is None and set(data) == {"text/plain"}:
            content = data["text/plain"]
        if content is None:
            continue
        said = words(content) if "text/html" in data else re.sub(r"\s+", "", content)
        if (at := text.find(said, place)) < 0:
            found.append(f"its HTML lacks {said[:60]!r} of a {kind}.")
            break
        place = at + len(said)
    return found


# Two runs -----------------------------------------------------------------------------------------


def alike(one: str, other: str, spread: dict = ALONE) -> bool:
    """Whether two measured values say the same.

    spread: what other arithmetic changes, relative: in `numbers`, and in the `errors` after a ±.

    >>> alike("2e-16 ≤ 1e-12", "7e-16 ≤ 1e-12"), alike("2e-16 ≤ 1e-12", "7.5 ≤ 1e-12")
    (True, False)
    """
    if NUMBER.sub("#", one) != NUMBER.sub("#", other) or true(one) != true(other):
        return False
    if all(map(far_below, (one, other))) or " s.e." in one:  # a score is noise below its bound
        one, other = (RELATION.sub(r"≤ \3", re.sub(r", [\d.e-]+ %$", "", value), count=1)
                      for value in (one, other))  # fmt: skip
    elif "nearest" in one and all(map(as_near, (one, other))):  # of many cases, another is worst
        one, other = (RELATION.sub("≤", value, count=1) for value in (one, other))
    return all(near(a, b, TIMES * spread[kind]) for kind, a, b in numbers(one, other))


def numbers(one: str, other: str) -> list[tuple[str, str, str]]:
    """The numbers of two texts in pairs, each after its kind: `errors` or `numbers`."""
    kinds = ["errors" if one[: found.start()].endswith("± ") else "numbers"
             for found in NUMBER.finditer(one)]  # fmt: skip
    return list(zip(kinds, NUMBER.findall(one), NUMBER.findall(other), strict=True))


def near(one: str, other: str, most: float) -> bool:
    """Whether two numbers are alike: apart by at most that, or, if it is LARGE, of one order."""
    a, b = number(one), number(other)
    small, large = sorted((abs(a), abs(b)))
    if a == b or large <= ROUNDING:
        return True
    if most < LARGE:
        return apart(one, other) <= most
    return a * b > 0 and large <= MAGNITUDE * max(small, ROUNDING)


def apart(one: str, other: str) -> float:
    """The relative difference of two numbers as shown; 0 if it is one of the last digit."""
    a, b = number(one), number(other)
    last = max(Decimal(x.replace(",", "")).as_tuple().exponent for x in (one, other))
    return abs(a - b) / max(abs(a), abs(b)) if abs(a - b) > 1.01 * 10.0**last else 0.0


def far_below(value: str) -> bool:
    """Whether a small number is measured, 1 % of its bound at most."""
    found = RELATION.match(value)
    return bool(found) and found[2] == "≤" and abs(number(found[1])) <= abs(number(found[3])) / 100


def true(value: str) -> bool:
    """Whether what it says of two numbers is true, to the digits that are shown."""
    if not (found := RELATION.search(value)):
        return True
    a, b = number(found[1]), number(found[3]) + number(found[4] or "0")
    a, b = (b, a) if found[2] in "≥>" else (a, b)
    return a <= b + 0.01 * max(abs(a), abs(b)) + ROUNDING


def as_near(value: str) -> bool:
    """Whether two sides are no nearer than the nearest case is said to be."""
    found, share = RELATION.match(value), re.search(r"nearest ([\d.e-]+) %", value)
    if not (found and share):
        return False
    small, large = sorted(abs(number(found[k])) for k in (1, 3))
    return small <= (number(share[1]) / 100 + 0.02) * large + ROUNDING


def number(text: str) -> float:
    return float(text.replace(",", ""))


def colors(picture: bytes) -> np.ndarray:
    """The mean colors of its blocks, 0 to 1, on white: (BLOCKS, BLOCKS, 3)."""
    image = Image.open(io.BytesIO(picture)).convert("RGBA")
    white = Image.new("RGBA", image.size, "white")
    flat = Image.alpha_composite(white, image).convert("RGB")
    return np.asarray(flat.resize((BLOCKS, BLOCKS), Image.Resampling.BOX)) / 255


def distance(one: bytes, other: bytes) -> float:
    """Root mean square over the blocks of how their mean colors differ; 1 for other shapes."""
    if one == other:
        return 0.0
    sizes = np.array([Image.open(io.BytesIO(picture)).size for picture in (one, other)])
    if np.any(np.abs(sizes[0] - sizes[1]) > 0.05 * sizes.max(axis=0)):
        return 1.0
    apart = np.abs(colors(one) - colors(other)).max(axis=2)
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
        elif output.output_type == "error":
            found.append(("error", {"text": f"{output.ename}: {output.evalue}"}))
        else:
            found.append((output.output_type, dict(output.get("data", {}))))
    return found


def difference(kind: str, one: str, other: str, spread: dict = EXACT) -> str:
    """How two contents of a type differ, in a phrase; empty where they agree."""
    if kind == "image/png":
        apart = distance(*(base64.b64decode(content) for content in (one, other)))
        return f"a picture is {apart:.3f} from the published one" * (apart > DISTANCE)
    bare = [VARYING.sub("", MEASURED.sub(r"<\g<tag>#>", content)) for content in (one, other)]
    if bare[0] != bare[1]:
        lines = zip(*(text.splitlines() for text in bare), strict=False)
        first = next((pair for pair in lines if pair[0] != pair[1]), ("", "a line more or less"))
        return f"{first[1].strip()[:200]!r} in place of {first[0].strip()[:200]!r}"
    for a, b in zip(MEASURED.finditer(one), MEASURED.finditer(other), strict=True):
        values = [unescape(VARYING.sub("TIME", found["value"])) for found in (a, b)]
        if not alike(*values, spread if in_table(a) else ALONE):
            return f"measured {values[1]!r} in place of {values[0]!r}"
    return ""


def in_table(found: re.Match) -> bool:
    """Whether a MEASURED value is a number of a table; a ratio of times, 6-fold, is not."""
    return found["tag"] == "td" and "-fold" not in found["value"]


def differences(published, again, spread: dict = EXACT) -> list[str]:
    """Where two runs of a notebook differ, in sentences, a cell each."""
    found = []
    for place, cells_ in enumerate(zip(code_of(published), code_of(again), strict=True)):
        one, other = (merged(cell.outputs) for cell in cells_)
        if OF_TIMES in cells_[0].source:
            for _, data in one + other:
                data.pop("image/png", None)
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
        found += [f"cell {place}: {how}." for pair in pairs if (how := difference(*pair, spread))][
            :1
        ]
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
            published, spread = nbformat.read(notebook, as_version=4), spreads()["tables"].get(name)
            found += differences(published, run_again(notebook), spread or EXACT)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            found.append(f"a cell fails: {str(error).strip().splitlines()[-1]}")
    return [f"{name}: {sentence}" for sentence in found]


def main(arguments: list[str] | None = None) -> int:
    """Run the published notebooks again, a tenth of them or all; 1 if an output is another."""
    parser = argparse.ArgumentParser("python -m booktools.outputs", description=main.__doc__)
    for folder in ("pages", "notebooks", "html"):
        parser.add_argument(folder, type=Path)
    parser.add_argument("names", nargs="*", help="of pages; all of them if there is none")
    parser.add_argument("--tenth", type=int, help="0 to 9, modulo 10: only this part")
    options = parser.parse_args(arguments)
    folders = {name: getattr(options, name).resolve() for name in ("pages", "notebooks", "html")}
    chosen = tenth(options.names or pages_with_code(folders["pages"]), options.tenth)
    wrong = []
    with ProcessPoolExecutor(joblib.cpu_count()) as pool:
        judgments = pool.map(partial(judged, **folders), chosen)
        for found in tqdm(judgments, total=len(chosen), disable=None):
            wrong += found
            print("\n".join(found), end="\n" * bool(found), flush=True)
    print(f"{len(chosen)} notebooks, {len(wrong)} differences.")
    return int(bool(wrong) or not chosen)


if __name__ == "__main__":
    sys.exit(main())
