"""`make reproduce` notices what is forged: each kind of output, once."""

import base64
import io

import matplotlib.pyplot as plt
import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import v4

from booktools import outputs as reproduce
from booktools.outputs import ALONE, EXACT, alike, judged
from runproofs.book.register import register

CLAIM = register()["thesis/equation-2.1"]
CODE = [
    "import time\nprint('three', 'words', time.time_ns(), 'ms')",
    f"""from runproofs.book.claims import claim
with claim("{CLAIM.id}") as check:
    check("it is").equal(0.1 + 0.2, 0.3, tol=1e-12)
    check("it is not").exceeds(0.3, 0.2)""",
    """import matplotlib.pyplot as plt
plt.figure(figsize=(2, 2)).gca().plot([0, 1], [0, 1])
plt.show()""",
]
TRAINED = {"numbers": 0.01, "errors": 0.3}  # the spread of a table of networks
PAGE = "# A page\n\n" + "\n".join(f"```{{code-cell}}\n{code}\n```\n" for code in CODE)  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The notebook of the page, run."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(code) for code in CODE])
    NotebookClient(notebook, kernel_name="python3").execute(cwd=str(tmp_path_factory.mktemp("run")))
    return notebook


def image(y, color="white"):
    fig, ax = plt.subplots(figsize=(2, 2))
    ax.set_facecolor(color)
    ax.plot([0, 1], y)
    file = io.BytesIO()
    fig.savefig(file, bbox_inches="tight")
    plt.close(fig)
    return base64.b64encode(file.getvalue()).decode()


def forge_words(notebook):
    notebook.cells[0].outputs[0].text = "three sheep 7 ms\n"


def forge_outputs(notebook):
    for cell in notebook.cells:
        cell.outputs = []


def forge_value(notebook):
    data = notebook.cells[1].outputs[0].data
    data["text/html"] = data["text/html"].replace("2e-16 ≤", "7.5 ≤")


def forge_side(notebook):
    data = notebook.cells[1].outputs[0].data
    data["text/html"] = data["text/html"].replace("≤", "&gt;", 1)


def forge_row(notebook):
    data = notebook.cells[1].outputs[0].data
    data["text/html"] = data["text/html"].replace("it is not", "it is, too")


def forge_demand(notebook):
    data = notebook.cells[1].outputs[0].data
    data["text/plain"] = data["text/plain"].replace("error ≤ 1e-12", "error ≤ 1e-15")


def forge_mark(notebook):
    data = notebook.cells[1].outputs[0].data
    data["text/html"] = data["text/html"].replace("✓", "!", 1)


def forge_picture(notebook):
    notebook.cells[2].outputs[0].data["image/png"] = image([0, 1], "green")


def forge_curve(notebook):
    notebook.cells[2].outputs[0].data["image/png"] = image([0, 0])


def forge_card(notebook):
    notebook.cells[1].outputs = []


def forge_erased(notebook):
    """The words of one cell are gone, its count is kept."""
    notebook.cells[0].outputs = []


def forge_count(notebook):
    notebook.cells[0].execution_count = None


def forge_code(notebook):
    notebook.cells[0].source = "print('three',  'sheep')"


def forge_cell(notebook):
    del notebook.cells[0]


FORGERIES = {
    forge_words: "cell 0: 'three words' in place of 'three sheep'",
    forge_outputs: "it has no outputs",
    forge_value: "cell 1: measured '2e-16 ≤ 1e-12' in place of '7.5 ≤ 1e-12'",
    forge_side: "cell 1: measured '2e-16 ≤ 1e-12' in place of '2e-16 > 1e-12'",
    forge_row: "in place of",
    forge_demand: "in place of",
    forge_mark: "in place of",
    forge_erased: "cell 0: it has 1 outputs in place of 0",
    forge_picture: "cell 2: a picture is ",
    forge_curve: "cell 2: a picture is ",
    forge_card: "no card",
    forge_count: "1 of 3 cells have not run",
    forge_code: "do not have the code of the page",
    forge_cell: "do not have the code of the page",
}


def publish(folder, name, notebook, download=None, html=None):
    """The page, its notebook, its download and its HTML, and what `judged` says of them."""
    places = [folder / "pages", folder / "notebooks", folder / "html"]
    page, executed = places[0] / f"{name}.md", places[1] / f"{name}.ipynb"
    copied, shown = (
        places[2] / "_sources/book" / f"{name}.ipynb",
        places[2] / "book" / f"{name}.html",
    )
    for path in (page, executed, copied, shown, places[2] / "_images/a.png"):
        path.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(PAGE, "utf-8")
    nbformat.write(notebook, executed)
    nbformat.write(download or notebook, copied)
    source = html or notebook
    outputs = [output for cell in source.cells if cell.cell_type == "code"
               for output in cell.outputs]  # fmt: skip
    pictures = [
        output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})
    ]
    for picture in pictures:
        (places[2] / "_images/a.png").write_bytes(base64.b64decode(picture))
    said = [output.get("data", {}).get("text/html", output.get("text", "")) for output in outputs]
    shown.write_text("".join(said) + '<img src="../_images/a.png">' * len(pictures), "utf-8")
    return judged(name, *places)


@pytest.fixture
def without_kernel(ran, monkeypatch):
    """Whatever is to run again comes out as it did."""
    monkeypatch.setattr(reproduce, "run_again", lambda path: ran)


def copied(notebook):
    return nbformat.from_dict(nbformat.reads(nbformat.writes(notebook), 4))


def test_what_comes_out_again(ran, tmp_path):
    assert publish(tmp_path, "page", ran) == []


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_a_forged_output_is_red(forge, ran, tmp_path):
    notebook = copied(ran)
    forge(notebook)
    found = publish(tmp_path, "page", notebook)
    assert FORGERIES[forge] in " ".join(found)


def forge_more(notebook):
    data = notebook.cells[1].outputs[0].data
    data["text/html"] += '<div class="claim-card">P = NP</div>'


def forge_order(notebook):
    notebook.cells[1].outputs, notebook.cells[2].outputs = (
        notebook.cells[2].outputs, notebook.cells[1].outputs,
    )  # fmt: skip


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize(
    "forge", [forge_words, forge_value, forge_mark, forge_picture, forge_more, forge_card],
    ids=lambda forge: forge.__name__,
)  # fmt: skip
@pytest.mark.parametrize("place", ["download", "html"])
def test_what_readers_get_is_what_ran(forge, place, ran, tmp_path):
    forged = copied(ran)
    forge(forged)
    found = publish(tmp_path, "page", ran, **{place: forged})
    assert {"download": "its download has", "html": "its HTML "}[place] in " ".join(found)


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize("forge", [forge_code, forge_cell, forge_order, forge_outputs])
def test_a_download_has_the_code_that_ran(forge, ran, tmp_path):
    forged = copied(ran)
    forge(forged)
    assert "its download has" in " ".join(publish(tmp_path, "page", ran, download=forged))


@pytest.mark.usefixtures("without_kernel")
@pytest.mark.parametrize("forge", [False, True])
def test_a_player_of_the_html_shows_what_ran(forge, ran, tmp_path):
    frames = [f'"data:image/png;base64,{image([0, y])}"' for y in (1, 2)]
    script = tmp_path / "html/_static/players/ab.js"
    script.parent.mkdir(parents=True)
    script.write_text(f"showPlayer(animab, [{','.join(frames[::-1] if forge else frames)}]);")
    head = 'var img_id = "_anim_imgab";'
    listed = "".join(f"frames[{k}] = {frame};" for k, frame in enumerate(frames))
    player = f"<script>{head} var frames = new Array(2);{listed}/* set a timeout */</script>"
    lean = f'<script>{head} x.dataset.frames = "../_static/players/ab.js";</script>'
    notebook, html = copied(ran), copied(ran)
    notebook.cells[0].outputs.append(v4.new_output("display_data", {"text/html": player}))
    html.cells[0].outputs.append(v4.new_output("display_data", {"text/html": lean}))
    found = publish(tmp_path, "page", notebook, html=html)
    assert ("shows other pictures in the player ab" in " ".join(found)) == forge


def test_a_notebook_that_is_missing(tmp_path):
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    assert judged("page", tmp_path, tmp_path / "none", tmp_path) == ["page: it is missing."]


def test_a_cell_that_fails(ran, tmp_path, monkeypatch):
    notebook = copied(ran)
    monkeypatch.setitem(globals(), "PAGE", PAGE.replace(CODE[0], "1 / 0"))
    notebook.cells[0].source = "1 / 0"
    assert "ZeroDivisionError" in " ".join(publish(tmp_path, "page", notebook))


@pytest.mark.parametrize(
    ("one", "other", "spread", "expected"),
    [
        ("2e-16 ≤ 1e-12", "0 ≤ 1e-12", ALONE, True),  # rounding
        ("0.31 ≤ 0.5, 62 %", "0.3 ≤ 0.5, 60 %", ALONE, True),
        ("0.31 ≤ 0.5, 62 %", "0.31 ≤ 0.5", ALONE, False),
        ("0.31 ≤ 0.5", "-0.31 ≤ 0.5", ALONE, False),
        ("0.31 ≤ 0.5", "0.003 ≤ 0.5", ALONE, False),
        ("4e-09 ≤ 0.0001", "3e-07 ≤ 0.0001", ALONE, True),  # both far below the bound
        ("4e-09 ≤ 0.0001", "9e-05 ≤ 0.0001", ALONE, False),
        ("4e-09 ≤ 0.0001", "4e-09 ≤ 0.1", ALONE, False),
        ("6.75 ≤ 6.75, nearest 100 %", "185 ≤ 185, nearest 100 %", ALONE, True),  # another one
        ("7.5 ≤ 1e-12, nearest 100 %", "185 ≤ 185, nearest 100 %", ALONE, False),
        ("6.75 ≤ 6.75, nearest 100 %", "185 ≤ 185, nearest 9 %", ALONE, False),
        ("0.015", "0.016", EXACT, True),  # one of the last digit
        ("0.015", "0.017", EXACT, False),
        ("10 ≤ 288,031", "10 ≤ 28,803", ALONE, False),
        ("2 > 1", "0.3 > 1", ALONE, False),  # false
        ("0.1 ≤ 9.75, nearest 40 %", "6.75 ≤ 9.75, nearest 40 %", ALONE, False),  # nearer than 40 %
        ("4.1e-05 ≤ 1, 0.0041 %", "6.3e-04 ≤ 1, 0.063 %", ALONE, True),  # both far below
        ("3e-07", "9e-01", TRAINED, False),
        ("0.812", "0.815", TRAINED, True),
        ("0.812", "0.815", EXACT, False),
        ("0.812", "0.912", TRAINED, False),
        ("+0.0<br>± 0.4", "+0.0<br>± 0.4", TRAINED, True),
        ("72.1 ± 1.45", "72.4 ± 2.13", TRAINED, True),  # an error keeps its order of magnitude
        ("72.1 ± 1.45", "78.4 ± 1.45", TRAINED, False),
        ("72.1 ± 1.45", "72.1 ± 21.3", TRAINED, False),
    ],
)
def test_values_that_are_alike(one, other, spread, expected):
    assert alike(one, other, spread) is expected
