"""`python -m booktools check-outputs` notices what is forged: each kind of output, once."""

import base64
import io

import matplotlib.pyplot as plt
import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import v4

from booktools import outputs
from booktools.outputs import judged
from booktools.values import EXACT, alike

CODE = [
    "import time\nprint('three', 'words', time.time_ns(), 'ms')",
    """from runproofs.claims.block import claim
with claim("thesis/equation-2.1", evidence="computed") as check:
    check("it is").equal(0.1 + 0.2, 0.3, tol=1e-12)
    check("it is not").exceeds(0.3, 0.2)""",
    """import matplotlib.pyplot as plt
plt.figure(figsize=(2, 2)).gca().plot([0, 1], [0, 1])
plt.show()""",
]
PAGE = "# A page\n\n" + "\n".join(f"```{{code-cell}}\n{code}\n```\n" for code in CODE)  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The notebook of the page, run."""
    notebook = v4.new_notebook(cells=[v4.new_code_cell(code) for code in CODE])
    NotebookClient(notebook, kernel_name="python3").execute(cwd=str(tmp_path_factory.mktemp("run")))
    return notebook


def image(y):
    fig, ax = plt.subplots(figsize=(2, 2))
    ax.plot([0, 1], y)
    file = io.BytesIO()
    fig.savefig(file, bbox_inches="tight")
    plt.close(fig)
    return base64.b64encode(file.getvalue()).decode()


def replaced(cell, old, new, kind="text/html"):
    """The first `old` in an output of a cell is `new`."""

    def forge(notebook):
        output = notebook.cells[cell].outputs[0]
        data = output.data if "data" in output else output
        assert old in data[kind]
        data[kind] = data[kind].replace(old, new, 1)

    return forge


def curve(notebook):
    notebook.cells[2].outputs[0].data["image/png"] = image([0, 0])


def without(cell):
    return lambda notebook: notebook.cells[cell].update(outputs=[])


FORGERIES = {  # each with what is said of it, and whether a download or the HTML shows it too
    "words": (replaced(0, "words", "sheep", "text"), "place of 'three sheep'", True),
    "value": (replaced(1, "2e-16 ≤", "7.5 ≤"), "in place of '7.5 ≤ 1e-12'", True),
    "relation": (replaced(1, "≤", "&gt;"), "in place of '2e-16 > 1e-12'", True),
    "row": (replaced(1, "it is not", "it is, too"), "in place of", True),
    "demand": (replaced(1, "error ≤ 1e-12", "error ≤ 1e-15", "text/plain"), "in place of", False),
    "mark": (replaced(1, "✓", "!"), "in place of", True),
    "curve": (curve, "cell 2: a picture is ", True),
    "card": (without(1), "no card", True),
    "erased": (without(0), "cell 0: it has 1 outputs in place of 0", False),
    "count": (lambda n: n.cells[0].update(execution_count=None), "1 of 3 cells have not", False),
    "code": (lambda n: n.cells[0].update(source="pass"), "have the code of the page", False),
    "cell": (lambda n: n.cells.pop(0), "do not have the code of the page", False),
}


@pytest.fixture
def published(ran, tmp_path, monkeypatch):
    """What is said of a page with such a notebook, download and HTML; runs come out as they did."""
    monkeypatch.setattr(outputs, "run_again", lambda path: ran)

    def publish(notebook=ran, download=ran, html=ran):
        places = pages, notebooks, site = [tmp_path / name for name in ("a", "b", "c")]
        downloads = site / "_sources/book/page.ipynb"
        page, shown = pages / "page.md", site / "book/page.html"
        for path in (page, notebooks / "page.ipynb", downloads, shown, site / "_images/a.png"):
            path.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(PAGE, "utf-8")
        nbformat.write(notebook, notebooks / "page.ipynb")
        nbformat.write(download, downloads)
        said = ""
        for output in (output for cell in html.cells for output in cell.outputs):
            data = output.get("data", {})
            said += data.get("text/html", output.get("text", ""))
            if picture := data.get("image/png"):
                (site / "_images/a.png").write_bytes(base64.b64decode(picture))
                said += '<img src="../_images/a.png">'
        shown.write_text(said, "utf-8")
        return " ".join(judged("page", *places))

    return publish


def forged(notebook, forge):
    copy = nbformat.from_dict(nbformat.reads(nbformat.writes(notebook), 4))
    forge(copy)
    return copy


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_output_is_red(name, ran, published):
    forge, said, everywhere = FORGERIES[name]
    other = forged(ran, forge)
    assert said in published(other, other, other)
    if everywhere:
        assert "its download has" in published(download=other)
        assert "its HTML " in published(html=other)


def test_what_comes_out_again_and_a_cell_that_fails(ran, published, tmp_path, monkeypatch):
    monkeypatch.undo()
    assert published() == ""
    assert "it is missing" in judged("none", *[tmp_path] * 3)[0]
    monkeypatch.setitem(globals(), "PAGE", PAGE.replace(CODE[0], "1 / 0"))
    fails = forged(ran, lambda notebook: notebook.cells[0].update(source="1 / 0"))
    assert "ZeroDivisionError" in published(fails, fails, fails)


@pytest.mark.parametrize("wrong", [False, True])
def test_an_animation_of_the_html_shows_what_ran(wrong, ran, published, tmp_path):
    film = tmp_path / "c/_static/films/ab.png"
    film.parent.mkdir(parents=True)
    film.write_bytes(base64.b64decode(image([0, 2 if wrong else 1])))
    whole = f'<img data-film="data:image/png;base64,{image([0, 1])}">'
    notebook, html = (
        forged(ran, lambda n, text=text: n.cells[0].outputs.append(
            v4.new_output("display_data", {"text/html": text})))
        for text in (whole, '<img data-film="../_static/films/ab.png">')
    )  # fmt: skip
    assert ("its HTML shows other animations" in published(notebook, html=html)) == wrong


ALIKE = [
    ("2e-16 ≤ 1e-12", "0 ≤ 1e-12"), ("0.31 ≤ 0.5, 62 %", "0.3 ≤ 0.5, 60 %"),
    ("4e-09 ≤ 0.0001", "3e-07 ≤ 0.0001"),  # both far below the bound
    ("6.75 ≤ 6.75, nearest 100 %", "185 ≤ 185, nearest 100 %"),  # another one
]  # fmt: skip
OTHERS = [
    ("0.31 ≤ 0.5", "-0.31 ≤ 0.5"), ("0.31 ≤ 0.5", "0.003 ≤ 0.5"),
    ("4e-09 ≤ 0.0001", "9e-05 ≤ 0.0001"), ("2 > 1", "0.3 > 1"),  # which is false
    ("6.75 ≤ 6.75, nearest 100 %", "185 ≤ 185, nearest 9 %"),
]  # fmt: skip


def test_values_that_are_alike():
    assert all(alike(*pair) for pair in ALIKE)
    assert not any(alike(*pair) for pair in OTHERS)
    assert alike("0.015", "0.016", EXACT)  # one of the last digit
    assert not alike("0.015", "0.017", EXACT)
    table = {"numbers": 0.01, "errors": 0.3}
    assert alike("72.1 ± 1.45", "72.4 ± 2.13", table)  # an error keeps its order of magnitude
    assert not alike("72.1 ± 1.45", "78.4 ± 1.45", table)
    assert not alike("72.1 ± 1.45", "72.1 ± 21.3", table)
