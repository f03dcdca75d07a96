"""A page runs again when something that its cells reach has changed, and only then."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import runproofs
from booksite import cache_keys
from runproofs.claims.registry import BOOK

LIB, HELPERS = Path(runproofs.__file__).parents[1], Path(__file__).parents[1] / "helpers"
OURS, OTHER = "thesis/lemma-2", "thesis/theorem-6"
MODULES = {
    "__init__": "NAMES = {'front': 'c.value'}\n",
    "a": "from runproofs import b\n",
    "b": "from .c import value\n",
    "c": "'''Has a value.'''\nvalue = 1  # one\n",
    "experiments/__init__": (LIB / "runproofs/experiments/__init__.py").read_text("utf-8"),
    "experiments/ch0": "'''figure-0-2'''\nexperiment('figure-0-1')\n",
    "experiments/ch1": "number = 1\n",
}
PAGES = {
    "plain": "print(1)",
    "direct": "from runproofs.c import value",
    "through": "import runproofs.a",
    "front": "import runproofs as rp\nprint(rp.front)",
    "ours": f"from runproofs.claims.block import claim\nwith claim('{OURS}'):\n    pass",
    "other": f"from runproofs.claims import block\nwith block.claim('{OTHER}'):\n    pass",
    "counts": "from runproofs.claims.registry import register\nprint(len(register()))",
    "stored": "from runproofs.experiments import ch0",
    "every": "from runproofs.experiments import discover\ndiscover()",
    "renamed": "from runproofs.claims.block import claim as c\nfor name in []:\n    c(name)",
    "opens": "import numpy\nimport beside\nnumpy.loadtxt('numbers.csv')",
    "reads": "from runproofs.claims.registry import BOOK\n(BOOK / 'plain.md').read_text()",
    "computed": "from runproofs.claims.block import claim\nfor name in []:\n    claim(name)",
    "by_name": "import importlib",
    "shows": "from runproofs import c\nhelp(c)",
    "magic": "%time 1",
}
ALL = {"by_name", "every", "magic", "reads", "shows"}  # they may reach anything
COMPUTED = {"computed", "counts", "renamed"} | ALL
SCRIPT = """
import json, sys
from pathlib import Path
from unittest.mock import patch
from booksite import cache_keys
from runproofs.claims import breaks
from runproofs.claims import registry

root = Path(sys.argv[1])
assert registry.BOOK == root / "book"
pages = {path.stem: path for path in registry.BOOK.glob("*.md")}

def now():
    registry.beside.cache_clear()
    registry.register.cache_clear()
    breaks.all_breaks.cache_clear()
    return cache_keys.keys(pages)

def changed():
    return sorted(name for name, key in now().items() if key != before[name])

before = now()
found = []
for file, old, new in json.load(sys.stdin):
    path = root / file
    is_new = not path.exists()
    text = "" if is_new else path.read_text("utf-8")
    assert old in text, old
    path.write_text(text.replace(old, new) if old else text + new, "utf-8")
    found.append(changed())
    path.unlink() if is_new else path.write_text(text, "utf-8")
with patch.object(cache_keys, "version", lambda name: "0"):
    found.append(changed())
with patch.dict("os.environ", SCALE="paper"):
    found.append(changed())
with patch.object(cache_keys.platform, "python_version", lambda: "2.7"):
    found.append(changed())
assert not changed()
print(json.dumps(found))
"""
EDITS = [  # what is edited, from what, to what, and the pages that then run
    ("lib/runproofs/c.py", "value = 1", "value = 2", {"direct", "front", "through"} | ALL),
    ("lib/runproofs/b.py", "value", "value as v", {"through"} | ALL),
    ("lib/runproofs/c.py", "# one", "# 1", ALL),
    ("lib/runproofs/__init__.py", "", "x = 1", set(PAGES) - {"plain", "opens"}),
    ("lib/runproofs/claims/rows.py", "LARGEST_TOLERANCE = 0.2", "LARGEST_TOLERANCE = 0.3",
     {"ours", "other", "computed", "renamed"} | ALL),
    ("lib/runproofs/experiments/ch0.py", "figure-0-1", "figure-0-3", {"stored"} | ALL),
    ("lib/runproofs/experiments/ch1.py", "1", "2", ALL),
    ("lib/runproofs/d.py", "", "x = 1", ALL),
    ("book/ch2/ours.yml", "title: Ours", "title: Mine", {"ours"} | COMPUTED),
    ("book/ch2/ours.yml", "title: Other", "title: Another", {"other"} | COMPUTED),
    ("book/ch2/ours.yml", "halve it", "double it", {"ours"} | COMPUTED),
    ("book/results/figure-0-1.npz", "first", "second", {"stored"} | ALL),
    ("book/results/figure-0-2.npz", "", "new", ALL),
    ("book/results/figure-0-1.yml", "", "of: us", {"stored"} | ALL),
    ("book/plain.md", "# plain", "# changed", ALL),
    ("book/plain.md", "{code-cell}", "{code-cell}\n:tags: [skip-execution]", {"plain"} | ALL),
    ("book/numbers.csv", "1", "2", {"opens"} | ALL),
    ("book/beside.py", "", "x = 1", {"opens"} | ALL),
    ("book/.numbers.csv.swp", "", "x", set()),
    ("book/.ipynb_checkpoints/plain.md", "", "x", set()),
    ("book/numbers.csv~", "", "x", set()),
]  # fmt: skip


def test_one_edit_of_each_kind_runs_the_pages_that_it_reaches(tmp_path):
    book, library = tmp_path / "book", tmp_path / "lib" / "runproofs"
    shutil.copytree(LIB / "runproofs" / "claims", library / "claims")
    shutil.copytree(LIB / "booksite", tmp_path / "lib" / "booksite")
    (library / "experiments").mkdir()
    for name in ("base", "protocol", "provenance", "results"):
        shutil.copy(LIB / "runproofs" / "experiments" / f"{name}.py", library / "experiments")
    for name in ("figures", "__init__"):
        shutil.copy(LIB / "runproofs" / f"{name}.py", library)
    for name, text in MODULES.items():
        (library / f"{name}.py").write_text(text, "utf-8")
    for folder in ("ch2", "results", ".ipynb_checkpoints"):
        (book / folder).mkdir(parents=True)
    for name, code in PAGES.items():
        page = f"# {name}\n\n```{{code-cell}}\n{code}\n```\n"
        (book / f"{name}.md").write_text(page, "utf-8")
    entry = {"section": "2", "kind": "lemma", "statement": "It holds."}
    titles = {OURS: "Ours", OTHER: "Other"}
    claims = {name: entry | {"number": name, "title": title} for name, title in titles.items()}
    breaks = {OURS: [{"break": "halve it", "in": "page", "replace": "a", "by": "b"}]}
    parts = yaml.safe_dump({"claims": claims, "breaks": breaks})
    (book / "ch2" / "ours.yml").write_text(parts, "utf-8")
    (book / "ch2" / "ours.md").write_text("# Beside it\n", "utf-8")
    (book / "results" / "figure-0-1.npz").write_text("first", "utf-8")
    (book / "numbers.csv").write_text("1", "utf-8")

    edits = json.dumps([edit[:3] for edit in EDITS])
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], input=edits,
        env=os.environ | {"PYTHONPATH": str(tmp_path / "lib")}, capture_output=True, text=True,
    )  # fmt: skip
    assert not ran.returncode, ran.stderr
    found = list(map(set, json.loads(ran.stdout)))
    for (file, old, new, pages), pages_found in zip(EDITS, found, strict=False):
        assert pages_found == pages, (file, old, new)
    assert found[len(EDITS) :] == 3 * [set(PAGES)]  # packages, SCALE, Python


PATHS = {path.relative_to(BOOK).as_posix(): path for path in sorted(BOOK.rglob("*.md"))}
WITH_CELLS = [name for name, path in PATHS.items() if "{code-cell}" in path.read_text("utf-8")]


def reach(name):
    return cache_keys.reach(PATHS[name].read_text("utf-8"), PATHS[name].parent)


SAMPLE = [
    "back/beyond.md", "ch1_preliminaries/index.md", "ch2_shallow_linear/width.md",
    "ch3_deep_linear/recorded_runs.md", "practice/use_the_library.md",
]  # fmt: skip


@pytest.mark.parametrize("name", WITH_CELLS if os.environ.get("EVERY_PAGE") else SAMPLE)
def test_a_page_reaches_nothing_that_its_key_does_not_know(name):
    """Run and watched: what it imports, opens, lists, and asks of the register."""
    script = HELPERS / "audit.py"
    ran = subprocess.run([sys.executable, script, PATHS[name]], capture_output=True, text=True)
    assert not ran.returncode, ran.stderr
    really, known = json.loads(ran.stdout), set(reach(name))
    really["broken"] = [f"break {claim}" for claim in really["broken"]]
    for kind, found in really.items():
        assert set(found) <= known, kind


def test_modules_of_theory_read_no_file_and_import_nothing_by_name():
    """But for those that the keys know: `discover`, and data sets outside of the book."""
    known = {
        "figures.py": {"open"},  # a picture in memory
        "__init__.py": {"importlib", "import_module", "pathlib"},  # the names of the front door
        "data.py": {"open", "os", "pathlib", "importlib"},  # HEURISTICS_DATA, scikit-learn's digits
        "experiments/first_images.py": {"os", "pathlib"},  # HEURISTICS_DATA
        "experiments/__init__.py": {"importlib", "import_module"},
    }
    skipped = {"cli.py", "__main__.py"}
    skipped |= {f"claims/{name}.py" for name in ("block", "breaks", "registry")}
    machinery = ("__main__", "base", "protocol", "provenance", "results")
    skipped |= {f"experiments/{name}.py" for name in machinery}
    for path in (LIB / "runproofs").rglob("*.py"):
        name = path.relative_to(LIB / "runproofs").as_posix()
        if name in skipped:
            continue
        page = f"```{{code-cell}}\n{path.read_text('utf-8')}\n```"
        found = cache_keys.read(page).names & (
            cache_keys.READING | cache_keys.IMPORTING | {"register", "RESULTS"}
        )
        assert found <= known.get(name, set()), name
