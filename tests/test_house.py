"""The house itself: exact versions that any index has, commands that exist, the library's page."""

import io
import re
from pathlib import Path

import pytest
from sphinx.application import Sphinx

from runproofs.book import rows
from runproofs.linear import deep, shallow
from runproofs.site import autodoc

ROOT = Path(__file__).resolve().parents[1]
PINS = sorted([ROOT / "constraints.txt", *ROOT.glob("requirements-*.txt")])


def pins(path):
    lines = (line.split("#")[0].strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line]


@pytest.mark.parametrize("path", PINS, ids=lambda path: path.name)
def test_every_version_is_exact_and_has_no_local_label(path):
    """A label such as +cpu names a build that the plain package index does not have."""
    assert pins(path)
    for pin in pins(path):
        assert re.fullmatch(r"[A-Za-z][\w.-]*==[0-9][\w.]*", pin), pin


def test_no_package_has_two_versions():
    names = [
        re.sub("[-_.]+", "-", pin.split("==")[0]).lower() for path in PINS for pin in pins(path)
    ]
    assert len(names) == len(set(names))


SPEAKING_OF_MAKE = ["README.md", "CONTRIBUTING.md", ".ci/run", "Makefile"]
SPEAKING_OF_MAKE += [".github/workflows/book.yml", ".github/workflows/nightly.yml"]


@pytest.mark.parametrize("name", SPEAKING_OF_MAKE)
def test_every_command_that_is_named_is_a_target(name):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.search(r"^\.PHONY: (.*)$", makefile, re.M)[1].split()
    text = (ROOT / name).read_text("utf-8")
    if matrix := re.search(r"target: \[(.*)\]", text):  # of a workflow
        text = "".join(f"`make {target}`" for target in matrix[1].split(", "))
    named = re.findall(r"(?:^ *|^# |`|&& |\" |run: )make ([a-z][a-z-]*)", text, re.M)
    assert named
    assert set(named) <= set(targets)
    if name == "Makefile":  # its first lines explain all but two of them
        assert set(targets) - set(named) == {"lint", "clean"}


@pytest.mark.parametrize("arguments", [[], ["PAGE=book/no_such_page.md"]])
def test_make_page_says_how_to_name_a_page(dry_make, arguments):
    result = dry_make("page", *arguments)
    assert result.returncode == 2
    example = re.search(r"make page PAGE=(\S+)\.  Stop", result.stderr)[1]
    assert (ROOT / example).exists()


PAGE = """# A page

```{code-cell} ipython3
%matplotlib inline
```

```{code-cell} ipython3
:tags: [hide-input]
from runproofs.linear import deep, shallow as plain
from runproofs.masks import all_masks
from elsewhere import expectation

masks, probabilities = all_masks(3, 0.5)
value = deep.objective(weights, Cyx, lam, Ey2).sum()
schedule = plain.balance
expectation(f, 3, 0.5)
```

`shallow.path_norm(U, V)` is only spoken of.
"""


def test_the_names_that_the_cells_of_a_page_use():
    assert autodoc.used_in(PAGE) == {
        "runproofs.masks.all_masks",
        "runproofs.linear.deep.network.objective",
        "runproofs.linear.shallow.balance",
    }


def test_the_library_has_every_public_function_once():
    entries = [
        autodoc.identity(item)
        for module in autodoc.modules()
        for item in autodoc.members(module).values()
    ]
    assert len(entries) == len(set(entries)) > 200
    assert {autodoc.identity(item) for item in (shallow.objective, deep.objective)} < set(entries)
    assert not any("._" in name or ".autodoc." in name for name in entries)
    assert "equal" in autodoc.members(rows.Row)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Builds a book of six pages and the library; returns its warnings and the library's HTML."""
    folder = tmp_path_factory.mktemp("book")
    names = [
        "book/back/library",
        *(f"book/back/library/{room}" for room in autodoc.ROOMS),
        *"edcba",
    ]
    toctree = "\n".join(["```{toctree}", *names, "```"])
    (folder / "index.md").write_text(f"{PAGE}\n{toctree}\n", "utf-8")
    for name in "edcba":
        (folder / f"{name}.md").write_text(PAGE.replace("A page", f"Page {name}"), "utf-8")
    rooms = folder / "book" / "back" / "library"
    rooms.mkdir(parents=True)
    rooms.with_suffix(".md").write_text("# Library\n\n```{library}\n```\n", "utf-8")
    for room in autodoc.ROOMS:
        page = f"# {room}\n\n```{{library}} {room}\n```\n"
        (rooms / f"{room}.md").write_text(page, "utf-8")
    warnings = io.StringIO()
    settings = {
        "extensions": ["myst_nb", "runproofs.site"],
        "nb_execution_mode": "off",
        "html_theme": "basic",
    }
    output = folder / "_build"
    Sphinx(
        folder, None, output / "html", output / "trees", "html", settings,
        status=None, warning=warnings,
    ).build()  # fmt: skip
    built = output / "html" / "book" / "back" / "library"
    pages = {path.stem: path.read_text("utf-8") for path in built.glob("*.html")}
    return warnings.getvalue(), built.with_suffix(".html").read_text("utf-8"), pages


def entry(html, name):
    return re.search(rf'<details class="api" id="{re.escape(name)}">.*?</details>', html, re.S)[0]


def test_every_public_function_has_a_docstring(library):
    assert re.findall(r"(\S+) has no docstring", library[0]) == []


def test_an_entry_shows_signature_arguments_links_and_the_pages_that_use_it(library):
    shown = entry(library[2]["base"], "runproofs.masks.all_masks")
    assert "<code><b>all_masks</b>(r, theta)</code>" in shown
    assert re.search(r"<p><code[^>]*><span class=.pre.>theta</span></code>: keep prob", shown)
    assert "<p>Cost: O(r 2^r).</p>" in shown
    links = re.findall(r'href="[./]*(\w+)\.html"><span[^>]*>([^<]*)</span></a>', shown)
    assert links == [*((name, f"Page {name}") for name in "abcde"), ("index", "A page")]
    expectation = entry(library[2]["base"], "runproofs.masks.expectation")
    assert 'href="#runproofs.masks.all_masks"' in expectation
    assert "index.html" not in expectation


def test_docstrings_keep_the_quotes_of_the_code(library):
    html = "".join(library[2].values())
    assert "&quot;" in html or '"ce"' in html
    assert not re.search("[\u201c\u201d\u2018\u2019]", html)


def test_a_package_stands_for_its_modules(library):
    assert 'id="runproofs.linear.deep.objective"' in library[2]["linear"]
    assert '"runproofs.linear.deep.network"' not in library[2]["linear"]


def test_the_rooms_hold_every_function_and_the_list_leads_to_them(library):
    found = re.findall(r'<details class="api" id="([\w.]+)"', "".join(library[2].values()))
    wanted = {
        f"{module.__name__}.{name}"
        for module in autodoc.modules()
        for name in autodoc.members(module)
    }
    assert wanted <= set(found)
    assert len(found) == len(set(found))
    assert 'href="library/linear.html#runproofs.linear.shallow"' in library[1]
