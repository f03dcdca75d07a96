"""Notebooks as people hand them in: all of them get what the same answers get without."""

import json
import os
import unicodedata

import pytest

from armslength import grade as grading
from armslength import table
from armslength.submission import Limits
from coursework.tests.conftest import TREES, grader, notebook, with_cells

NAME = "dropout_is_a_regularizer"
LIMITS = Limits(cell=20, question=20, total=120)
FIRST = {  # what stands above the given imports, in their cell
    "inline": "%matplotlib inline",
    "widget": "%matplotlib widget",
    "notebook": "%matplotlib notebook",
    "window": "%matplotlib qt",
    "pylab": "%pylab inline",
    "retina": "%config InlineBackend.figure_format = 'retina'",
    "reload": "%load_ext autoreload\n%autoreload 2",
    "lint": "%load_ext nb_black",
    "pip": "!pip install -q otter-grader\n%pip install numpy",
    "conda": "%conda install -y numpy",
    "shell": "!ls -l\nfiles = !ls\n!nvidia-smi\n!wget https://example.com/data.csv",
    "folder": "%cd /content/drive/MyDrive\n%env OMP_NUM_THREADS=4\n%pwd",
    "name": "%no_such_magic at all",
    "background": "!sleep 1 &",
    "old": "get_ipython().run_line_magic('matplotlib', 'inline')",
    "interrupt": "%debug\n%pdb off",
    "time": "%%time",
    "capture": "%%capture output",
    "form": "#@title Imports { display-mode: 'form' }",
    "widgets": "import ipywidgets\nipywidgets.interact(lambda x: x, x=(0, 9))\nipywidgets.Output()",
    "bar": "from tqdm.notebook import tqdm\nfor _ in tqdm(range(3)): pass",
    "display": "from IPython.display import *\nclear_output(); display(HTML('<b>x'))",
    "input": "input('Press Enter')\nimport getpass; getpass.getpass()",
    "await": "import asyncio\nawait asyncio.sleep(0)",
    "timeit": "%timeit -n 1 -r 1 sum(range(9))",
    "time of": "work = 9\n%time y = sum(range(work))\nassert y == 36",
    "loop": "for k in 0, 1:\n    !echo {k} > made{k}\nimport os; os.remove('made1')",
    "result": "t = %timeit -o -n 1 -r 1 1\nt.loops; files = !ls\nfiles.n",
    "help": "print?\nprint??\n%who",
    "exit": "exit",
    "quit": "quit()",
    "fork": "import concurrent.futures, threading",
    "warnings": "import warnings; warnings.filterwarnings('error')",
    "style": "import matplotlib.pyplot as plt; plt.style.use('ggplot'); plt.ion(); plt.figure()",
}
CELLS = {  # a cell of its own
    "bash": "%%bash\nls > listed; false",
    "r": "%%R\nx <- 1",
    "html": "%%html\n<b>",
    "script": "%%javascript\nalert(1)",
    "file": "%%writefile mine.py\nx = 1",
    "colab": "from google.colab import drive\ndrive.mount('/content/drive')",
    "missing": "import a_package_that_is_not_here",
    "unfinished": "def scratch(",
    "prose": "Here I tried to plot it, but -- see above -- no luck.",
    "empty": "",
}


def minor(number):
    def change(found):
        found["nbformat_minor"] = number
        for cell in found["cells"]:
            cell.pop("id", None)

    return change


def ran(found):
    """As it was left: run in some order, with results, pictures and an error."""
    shown = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo="}}
    printed = {"output_type": "stream", "name": "stdout", "text": ["a\n", "b\r\x1b[31mc"]}
    failed = {"output_type": "error", "ename": "E", "evalue": "\x1b[0m", "traceback": ["x"]}
    for number, cell in enumerate(found["cells"]):
        if cell["cell_type"] == "code":
            cell.update(execution_count=99 - number, outputs=[shown, printed, failed])


def prose(found):
    """Text and pictures in cells of their own, and raw cells."""
    picture = {"a b.png": {"image/png": "iVBORw0KGgo="}}
    texts = ("Ich denke, λ = (1−θ)/θ.", "![a](attachment:a%20b.png)", "> 引用 🙂", "$$\\frac{1}{")
    for place, text in enumerate(texts):
        cell = {"cell_type": "markdown", "metadata": {}, "source": text, "id": f"prose-{place}"}
        found["cells"].insert(3 * place, cell | {"attachments": picture})
    found["cells"].append({"cell_type": "raw", "metadata": {}, "source": "raw", "id": "raw"})


def metadata(**entries):
    return lambda found: found.update(metadata=entries)


def of_cells(**entries):
    def change(found):
        for cell in found["cells"]:
            cell["metadata"] = entries

    return change


def lines(found):
    for cell in found["cells"]:
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)


def windows(found):
    for cell in found["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")


def same_ids(found):
    for cell in found["cells"]:
        cell["id"] = "same"


def kernel(name, language):
    return {"name": name, "display_name": name, "language": language}


CHANGES = {  # of the notebook as a whole
    **{f"minor {number}": minor(number) for number in range(6)},
    "ran": ran,
    "prose": prose,
    "no metadata": metadata(),
    "another kernel": metadata(kernelspec=kernel("conda-env-ml-py", "python")),
    "of R": metadata(kernelspec=kernel("ir", "R"), language_info={"name": "R"}),
    "Colab": metadata(colab={"provenance": [], "gpuType": "T4"}, accelerator="GPU", widgets={}),
    "VS Code": metadata(vscode={"interpreter": {"hash": "31f2"}}, language_info={"name": "python"}),
    "cells of Colab": of_cells(id="x", colab={"base_uri": "https://localhost:8080/"}, outputId="y"),
    "cells of VS Code": of_cells(vscode={"languageId": "python"}, tags=["a"], collapsed=True),
    "lines": lines,
    "windows": windows,
    "same ids": same_ids,
}
BYTES = {  # of the file
    "crlf": lambda text: json.dumps(json.loads(text), indent=1).replace("\n", "\r\n").encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "utf-16": lambda text: text.encode("utf-16"),
    "unescaped": lambda text: json.dumps(json.loads(text), ensure_ascii=False).encode(),
}


def corpus():
    """Contents of notebooks, by a name that says what is special."""
    solved = notebook("instructor", NAME)
    for what, first in FIRST.items():
        found = json.loads(solved)
        at = next(c for c in found["cells"] if "import numpy" in "".join(c["source"]))
        at["source"] = first + "\n" + "".join(at["source"])
        yield f"first {what}", json.dumps(found).encode()
    for what, source in CELLS.items():
        yield f"cell {what}", with_cells(solved, first=source, last=source).encode()
    for what, change in CHANGES.items():
        found = json.loads(solved)
        change(found)
        yield what, json.dumps(found).encode()
    for what, written in BYTES.items():
        yield what, written(solved)


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The rows of one batch, by student."""
    folder = tmp_path_factory.mktemp("corpus") / NAME
    folder.mkdir()
    students = [("id", "name", "file")]
    for number, (what, content) in enumerate(corpus()):
        (folder / f"{what}_{number:03}_.ipynb").write_bytes(content)
        students.append((what, what, f"*_{number:03}_*"))
    for what, pattern, file in (("NFD", "NFC", "NFD"), ("NFC", "NFD", "NFC")):
        name, written = (unicodedata.normalize(form, "García Józef") for form in (pattern, file))
        (folder / f"{what} {written}.ipynb").write_text(notebook("instructor", NAME))
        students.append((what, what, f"{what} {name}*"))
    for number, tree in enumerate(("student", "instructor")):
        path = folder / f"work ({number}).ipynb"
        path.write_text(notebook(tree, NAME))
        os.utime(path, (0, 1.8e9 + number))
    students.append(("twice", "twice", "work*"))
    table.write(folder.parent / "roster.csv", students)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "Grader", lambda tree, _: grader(tree.name))
        patch.setattr(grading, "check_solution", lambda *_: None)
        grading.grade(folder, NAME, TREES, folder.parent / "out", LIMITS)
    return {row["student"]: row for row in table.read(folder.parent / "out" / "marks.csv")}


@pytest.mark.parametrize("what", [*(what for what, _ in corpus()), "NFC", "NFD", "twice"])
def test_an_honest_notebook_gets_full_marks(rows, what):
    row = rows[what]
    assert row["automatic"] == row["automatic, of"], row
