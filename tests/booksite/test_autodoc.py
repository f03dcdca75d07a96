"""The library's pages: every public function once, with its source and the pages that use it."""

import ast
import inspect
import pkgutil
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from numpydoc.docscrape import NumpyDocString

import runproofs
from booksite import autodoc
from booksite.markup import site

ROOT = Path(__file__).resolve().parents[2]
PAGE = """# A page

```{code-cell} ipython3
%matplotlib inline
```

```{code-cell} ipython3
:tags: [hide-input]
import runproofs as rp
from runproofs.linear import deep, shallow as plain
from runproofs.masks import all_masks
from elsewhere import expectation

masks, probabilities = all_masks(3, keep=0.5)
value = deep.objective(weights, Cyx, lam, Ey2).sum()
schedule = plain.balance
expectation(f, 3, 0.5)
rp.shrink(M, 1)
```

`shallow.path_norm(U, V)` is only spoken of.
"""


def test_the_names_that_the_cells_of_a_page_use():
    assert autodoc.used_in(PAGE) == {
        "runproofs",
        "runproofs.linalg.shrink",
        "runproofs.masks.all_masks",
        "runproofs.linear.deep",
        "runproofs.linear.deep.network.objective",
        "runproofs.linear.shallow",
        "runproofs.linear.shallow.balance",
    }


def test_the_library_is_read_again_when_a_page_uses_something_else(tmp_path, monkeypatch):
    page, room = tmp_path / "page.md", "book/back/library/base"
    env = SimpleNamespace(found_docs={"page", room}, doc2path=lambda name: page)

    def outdated(text):
        page.write_text(text, "utf-8")
        return autodoc.find_uses(None, env, set(), set(), set())

    assert outdated(PAGE) == {room}
    assert outdated(f"Words.\n\n{PAGE}") == set()
    assert outdated(PAGE.replace("plain.balance", "plain.gradient")) == {room}
    monkeypatch.setattr(autodoc, "modules", lambda room: [runproofs])
    assert outdated(PAGE.replace("plain.balance", "plain.gradient")) == {room}


def public():
    """Every public function and class by the name it has for a reader, as the sources define it.

    What a package lists in `__all__` has the name of the package, and the rest is its own; but for
    the command line and what makes the instances of checks.
    """
    folder = Path(runproofs.__file__).parent
    for path in sorted(folder.rglob("[!_]*.py")):
        if path.parent.name == "instances" or path.stem == "cli":
            continue
        home = ".".join(path.relative_to(folder.parent).parent.parts)
        listed = getattr(import_module(home), "__all__", None)
        for item in ast.parse(path.read_text("utf-8")).body:
            if not isinstance(item, ast.FunctionDef | ast.ClassDef) or item.name[0] == "_":
                continue
            if listed is None:
                yield f"{home}.{path.stem}.{item.name}", item
            elif item.name in listed:
                yield f"{home}.{item.name}", item


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Builds a book of three pages and the library; returns its warnings and the library's HTML."""
    folder = tmp_path_factory.mktemp("book")
    rooms = ["book/back/library", *(f"book/back/library/{room}" for room in site()["library"])]
    toctree = "\n".join(["```{toctree}", *rooms, *"ba", "```"])
    (folder / "index.md").write_text(f"{PAGE}\n{toctree}\n", "utf-8")
    for name in "ba":
        (folder / f"{name}.md").write_text(PAGE.replace("A page", f"Page {name}"), "utf-8")
    (folder / "book" / "back" / "library").mkdir(parents=True)
    for name in rooms:
        shutil.copy(ROOT / f"{name}.md", folder / f"{name}.md")
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    ours = ("add_", "autodoc_", "default_role", "napoleon_", "nitpick_")
    settings = {name: value for name, value in config.items() if name.startswith(ours)}
    settings |= {
        "extensions": ["myst_nb", "booksite"],
        "html_theme": "basic",
        "nb_execution_mode": "off",
        "nitpicky": True,
    }
    (folder / "conf.py").write_text(f"globals().update({settings!r})", "utf-8")
    # In a process of its own: autodoc_preserve_defaults gives the functions another signature.
    command = [sys.executable, "-m", "sphinx", "-q", folder, folder / "_build"]
    warnings = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    built = folder / "_build" / "book" / "back" / "library"
    pages = {path.stem: path.read_text("utf-8") for path in built.glob("*.html")}
    return warnings, built.with_suffix(".html").read_text("utf-8"), pages


def test_an_entry_has_its_source_and_the_pages_that_use_it(library):
    entry = r'id="runproofs.masks.all_masks">.*?<dt class="sig'
    shown = re.search(entry, library[2]["base"], re.S)[0]
    assert '_modules/runproofs/masks.html#all_masks"' in shown
    links = re.findall(r'href="[./]*(\w+)\.html"><span[^>]*>([^<]*)</span></a>', shown)
    assert links == [("a", "Page a"), ("b", "Page b"), ("index", "A page")]


def test_no_docstring_is_a_warning(library):
    assert [line for line in library[0].splitlines() if "runproofs" in line] == []


def test_the_rooms_hold_every_function_once_and_the_list_leads_to_them(library):
    html = "".join(library[2].values())
    found = re.findall(r'<dt class="sig [^"]*" id="([\w.]+)"', html)
    wanted = [name for name, _ in public()]
    assert len(wanted) == len(set(wanted)) > 200
    assert {"runproofs.linear.shallow.objective", "runproofs.linear.deep.objective"} < set(wanted)
    assert set(wanted) <= set(found)
    assert "runproofs.claims.rows.Row.equal" in found
    assert len(found) == len(set(found))
    assert not any("._" in name or "booksite" in name for name in found)
    assert 'href="library/linear.html#module-runproofs.linear.shallow"' in library[1]
    assert 'id="runproofs.linear.shallow"' in html, "the anchor of older links"


def test_a_result_says_what_its_fields_are():
    """The rest of a docstring numpydoc checks in `make lint`; it knows no NamedTuple."""
    items = [pkgutil.resolve_name(name) for name, _ in public()]
    results = [item for item in items if hasattr(item, "_fields")]
    assert len(results) > 10
    for item in results:
        said = NumpyDocString(inspect.getdoc(item))["Attributes"]
        names = [name for entry in said for name in entry.name.split(", ")]
        assert names == list(item._fields), item.__qualname__
