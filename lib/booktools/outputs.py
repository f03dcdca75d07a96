"""Check that the published outputs can be reproduced.

Every page with code must be published: a notebook with the code of its cells, all of them run, and
a card for each claim; the notebook that readers download and the HTML page show the same outputs.
Then all notebooks run again, and every output is compared with the published one. Times and
addresses in memory may differ, pictures by a little (`DISTANCE`), hence also in a small word, and
measured values as values.py says.
"""

import argparse
import base64
import io
import os
import re
from concurrent.futures import ProcessPoolExecutor
from html import unescape
from itertools import chain, repeat
from pathlib import Path

import nbformat
import numpy as np
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from PIL import Image
from tqdm import tqdm

from booksite.lazy_animations import FILM
from helpers.stored import spreads
from runproofs.claims.pages import cells, checks_in
from runproofs.claims.registry import register

from . import ROOT
from .children import tenth
from .values import ALONE, EXACT, MEASURED, VARYING, alike, in_table

KernelManager.transport_encryption.default_value = "auto"  # otherwise each kernel prints a warning

PLACES = [ROOT / "book", ROOT / "_build/jupyter_execute/book", ROOT / "_build/html"]
SECONDS = 300  # for a cell
TAGS = re.compile(r"<(script|style)\b.*?</\1>|<!--.*?-->|</?[a-zA-Z][^>]*>", re.S)
OF_TIMES = "time (ms)"  # a label of a picture that shows times, which is not compared
BLOCKS = 32  # a picture is compared as so many by so many mean colors
DISTANCE = 0.014  # of the colors, 0 to 1: root mean square; a curve raised by 5 % is farther


# What is published --------------------------------------------------------------------------------


def read(notebook: Path):
    return nbformat.read(notebook, as_version=4)


def code_of(notebook) -> list:
    return [cell for cell in notebook.cells if cell.cell_type == "code"
            and (cell.source.strip() or cell.outputs)]  # fmt: skip


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


def unpublished(page: Path, notebook: Path) -> list[str]:
    """A sentence for each part of a page that its published notebook lacks."""
    if not notebook.exists():
        return ["it is missing."]
    text, code, found = page.read_text("utf-8"), code_of(read(notebook)), []
    typed = [cell.code.strip() for cell in cells(text) if cell.code.strip()]
    if [cell.source.strip() for cell in code] != typed:
        found.append("its cells do not have the code of the page.")
    if not_run := sum(cell.execution_count is None for cell in code):
        found.append(f"{not_run} of {len(code)} cells have not run.")
    if not any(cell.outputs for cell in code):
        found.append("it has no outputs.")
    shown = "".join(str(cell.outputs) for cell in code)
    cards = ((claim, f'"check-{register()[claim].slug}"') for claim in checks_in(text))
    return found + [f"{claim} has no card." for claim, card in cards if card not in shown]


def measured(text: str) -> list[str]:
    return [unescape(found["value"]) for found in MEASURED.finditer(text)]


def words(text: str) -> str:
    """The visible text of a piece of HTML, without white space."""
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
    ours, found = read(notebook), []
    if shown(ours) != shown(read(download)):
        found.append("its download has other code, or other outputs.")
    outputs = list(chain(*(merged(cell.outputs) for cell in code_of(ours))))
    in_html = "".join(data.get("text/html", "") for _, data in outputs)
    page = re.sub(r"<!--.*?-->", "", html.read_text("utf-8"), flags=re.S)
    if measured(page) != measured(in_html):
        found.append("its HTML shows other measured values.")
    pictures = [base64.b64decode(d["image/png"]) for _, d in outputs if "image/png" in d]
    names = re.findall(r'src="([^"]*_images/[^"]+\.png)"', page)
    if [(html.parent / name).read_bytes() for name in names] != pictures:
        found.append("its HTML shows other pictures, or in another order.")
    films = [base64.b64decode(film) for film in FILM.findall(in_html)]
    names = re.findall(r' data-film="([^"]+)"', page)
    if [(html.parent / name).read_bytes() for name in names] != films:
        found.append("its HTML shows other animations, or in another order.")
    if page.count('class="claim-card') != in_html.count('class="claim-card'):
        found.append("its HTML shows more cards, or fewer.")
    text, place = words(page), 0
    for kind, data in outputs:
        plain = data["text/plain"] if set(data) == {"text/plain"} else data.get("text", "")
        html_of = data.get("text/html")
        said = words(html_of) if html_of is not None else re.sub(r"\s+", "", plain)
        if (at := text.find(said, place)) < 0:
            found.append(f"its HTML lacks {said[:60]!r} of a {kind}.")
            break
        place = at + len(said)
    return found


# Two runs -----------------------------------------------------------------------------------------


def distance(one: bytes, other: bytes) -> float:
    """Root mean square over the blocks of how their mean colors differ; 1 for other shapes."""
    if one == other:
        return 0.0
    images = [Image.open(io.BytesIO(picture)).convert("RGBA") for picture in (one, other)]
    sizes = np.array([image.size for image in images])
    if np.any(np.abs(sizes[0] - sizes[1]) > 0.05 * sizes.max(axis=0)):
        return 1.0
    blocks = []
    for image in images:
        flat = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
        blocks.append(np.asarray(flat.resize((BLOCKS, BLOCKS), Image.Resampling.BOX)) / 255)
    return float(np.sqrt((np.abs(blocks[0] - blocks[1]).max(axis=2) ** 2).mean()))


def difference(kind: str, one: str, other: str, spread: dict = EXACT) -> str:
    """A phrase about how two contents of a type differ; empty if they agree."""
    if kind == "image/png":
        apart = distance(*(base64.b64decode(content) for content in (one, other)))
        return f"a picture is {apart:.3f} from the published one" * (apart > DISTANCE)
    bare = [VARYING.sub("", MEASURED.sub(r"<\g<tag>#>\g<level>", text)) for text in (one, other)]
    if bare[0] != bare[1]:
        lines = zip(*(text.splitlines() for text in bare), strict=False)
        first = next((pair for pair in lines if pair[0] != pair[1]), ("", "a line more or less"))
        return f"{first[1].strip()[:200]!r} in place of {first[0].strip()[:200]!r}"
    for a, b in zip(MEASURED.finditer(one), MEASURED.finditer(other), strict=True):
        values = [unescape(VARYING.sub("TIME", found["value"])) for found in (a, b)]
        if not alike(*values, spread if in_table(a) else ALONE):
            return f"measured {values[1]!r} in place of {values[0]!r}"
    return ""


def differences(published, again, spread: dict = EXACT) -> list[str]:
    """A sentence for each cell in which two runs of a notebook differ."""
    found = []
    for place, pair in enumerate(zip(code_of(published), code_of(again), strict=True)):
        one, other = (merged(cell.outputs) for cell in pair)
        if OF_TIMES in pair[0].source:
            for _, data in one + other:
                data.pop("image/png", None)
        if [(kind, set(data)) for kind, data in one] != [(kind, set(data)) for kind, data in other]:
            how = [f"it has {len(other)} outputs in place of {len(one)}, or others"]
        else:
            contents = [
                (k, a[k], b[k]) for (_, a), (_, b) in zip(one, other, strict=True) for k in a
            ]
            how = filter(None, (difference(*content, spread) for content in contents))
        found += [f"cell {place}: {what}." for what in how][:1]
    return found


def run_again(notebook: Path):
    """The published notebook, run from its folder; CellExecutionError where a cell fails."""
    again = read(notebook)
    for cell in code_of(again):
        cell.outputs, cell.execution_count = [], None
    metadata = {"metadata": {"path": str(notebook.parent)}}
    NotebookClient(again, timeout=SECONDS, kernel_name="python3", resources=metadata).execute()
    return again


def judged(name: str, pages: Path, notebooks: Path, html: Path) -> list[str]:
    """A sentence for each fault of a page."""
    page, notebook = pages / f"{name}.md", notebooks / f"{name}.ipynb"
    found = unpublished(page, notebook)
    if not found:
        download = html / "_sources" / "book" / f"{name}.ipynb"
        found = misquoted(notebook, download, html / "book" / f"{name}.html")
        try:
            spread = spreads()["tables"].get(name, EXACT)
            found += differences(read(notebook), run_again(notebook), spread)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            found.append(f"a cell fails: {str(error).strip().splitlines()[-1]}")
    return [f"{name}: {sentence}" for sentence in found]


def main(arguments: list[str]) -> int:
    """Run all published notebooks again, or a tenth of them; 1 if an output differs."""
    parser = argparse.ArgumentParser("python -m booktools check-outputs", description=main.__doc__)
    parser.add_argument("pages", nargs="*", help="such as ch2_shallow_linear/index; or all")
    parser.add_argument("--tenth", type=int, help="0 to 9, modulo 10: only this part")
    options = parser.parse_args(arguments)
    with_code = [
        path.relative_to(PLACES[0]).with_suffix("").as_posix()
        for path in sorted(PLACES[0].rglob("*.md"))
        if "{code-cell}" in path.read_text("utf-8") and ".ipynb_checkpoints" not in path.parts
    ]
    chosen, wrong = tenth(options.pages or with_code, options.tenth), []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        judgments = pool.map(judged, chosen, *map(repeat, PLACES))
        for found in tqdm(judgments, total=len(chosen), disable=None):
            wrong += found
            print("\n".join(found), end="\n" * bool(found), flush=True)
    print(f"{len(chosen)} notebooks, {len(wrong)} differences.")
    return int(bool(wrong) or not chosen)
