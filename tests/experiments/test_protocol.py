"""The table "source / here": on every page with a stored run, its numbers those of the run."""

import ast
import importlib
import pkgutil
import re

import pytest
import yaml

from runproofs import experiments
from runproofs.claims.pages import cells
from runproofs.claims.registry import BOOK
from runproofs.experiments import base
from runproofs.experiments.base import Experiment, experiment
from runproofs.experiments.protocol import ROWS, protocol

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?(?:e-\d+)?")
BY_NAME = {  # of the variable, in the modules of experiments
    variable: one
    for found in pkgutil.iter_modules(experiments.__path__, f"{experiments.__name__}.")
    if not found.name.endswith("__main__")
    for variable, one in vars(importlib.import_module(found.name)).items()
    if isinstance(one, Experiment)
}
TRAINED = [
    one
    for one in experiments.discover().values()
    if not one.not_run and {"steps", "epochs", "times"} & one.scales["paper"].keys()
]
PAGES = [p for p in sorted(BOOK.rglob("*.md")) if ".paper()" in p.read_text("utf-8")]
PAGES.remove(BOOK / "ch4_generalization" / "als.md")  # has one number of a run of movielens.md
PAGES.remove(BOOK / "back" / "scoreboard.md")  # which shows all runs, and links to their pages


def words(one):
    return yaml.safe_load(one.path.with_suffix(".yml").read_text("utf-8"))


def first(one):
    """The run beside which the source of this one is told."""
    like = words(one).get("like", one.name)
    return experiments.discover()[like]


def calls(page):
    """The experiments whose stored runs a page loads, and those that its tables show."""
    program = ast.parse("\n".join(cell.code for cell in cells(page)))
    loaded, tables = set(), []
    for node in ast.walk(program):
        match node:
            case ast.Call(ast.Attribute(ast.Name(name) | ast.Attribute(attr=name), "paper")):
                loaded.add(name)
            case ast.Call(ast.Name("protocol"), arguments):
                tables.append([ast.unparse(a).rpartition(".")[2] for a in arguments])
    return loaded, tables


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_page_that_shows_a_stored_run_has_its_table(path):
    loaded, tables = calls(path.read_text("utf-8"))
    assert loaded
    untrained = {name for name in loaded if BY_NAME[name] not in TRAINED}
    assert loaded - untrained <= set().union(*tables), "protocol(...) is missing"
    for table in tables:
        protocol(*(BY_NAME[name] for name in table))


@pytest.mark.parametrize("one", TRAINED, ids=lambda one: one.name)
def test_every_number_under_here_is_a_setting_of_the_stored_run(one):
    assert not set(words(one)) - {"of", "like", *ROWS}
    for row, told in words(one).items():
        if row in ROWS:
            assert not re.search(r"\d", re.sub(r"\{[^{}]*\}", "", told["here"])), row
    settings = one.paper().provenance["settings"]
    known = list(numbers(settings))
    shown = protocol(*dict.fromkeys([first(one), one])).rows
    assert tuple(shown) == ROWS
    for row, (*_, here) in shown.items():
        for text in NUMBER.findall(here):
            number = float(text.replace(",", ""))
            assert any(abs(number - k) <= 5e-3 * abs(k) for k in known), (row, text)


def numbers(value):
    """All numbers among settings, those in texts included, and how many values a list has."""
    if isinstance(value, dict | list):
        yield len(value)
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers(part)
    elif isinstance(value, str):
        yield from map(float, NUMBER.findall(value))
    elif value is not None:
        yield value


@pytest.fixture
def invented(monkeypatch, tmp_path):
    """Two stored runs of one source, with their words."""
    monkeypatch.setattr(base, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(base, "_registry", {})
    (tmp_path / "results").mkdir()

    def made(name, told, **changes):
        paper = {"n": 100_000, "rates": (0.1, 1 / 3), "seed": tuple(range(9))} | changes

        def function(n, rates, seed=0):
            return {"x": n}

        one = experiment(name, quick=paper, paper=paper)(function)
        one.path.with_suffix(".yml").write_text(told, "utf-8")
        base.save(one.path, one._run(one.scales["paper"], None))
        return one

    return made


FACTS = """\
of: us, p. 3
step size: {source: "< 1", here: "{rates}, of {seed} the last is {seed:last}"}
data: {source: not said, here: "{n} points, {seed:count} seeds"}
"""


def test_a_table_as_text_and_as_html(invented):
    one = invented("figure-0-1", FACTS)
    table = protocol(one)
    assert repr(table) == (
        "data\n  source: us, p. 3: not said\n  here: 100,000 points, 9 seeds\n"
        "step size\n  source: us, p. 3: < 1\n  here: 0.1, 0.333, of 0, 1, …, 8 the last is 8"
    )
    html = table._repr_html_()
    assert "<tr><th></th><th>source: us, p. 3</th><th>here</th></tr>" in html
    assert '<th>step size</th><td data-of="source: us, p. 3">&lt; 1</td><td data-of="here">' in html
    title = "What the source says, and what was run"
    assert protocol(one, folded=True)._repr_html_() == (
        f'<details class="protocol"><summary>{title}</summary>{html}</details>'
    )


def test_a_second_run_says_only_what_is_other(invented):
    one = invented("figure-0-1", FACTS)
    more = "like: figure-0-1\nstep size: {here: 'constant, {rates[0]}'}\n"
    other = invented("figure-0-2", more, n=7, rates=(0.5,))
    table = protocol(one, other)
    assert table.columns == ["source: us, p. 3", "here", "here: figure-0-2"]
    assert table.rows["data"][2] == "7 points, 9 seeds"
    assert table.rows["step size"][2] == "constant, 0.5"
    other = invented("figure-0-3", "like: figure-0-1\n", rates=(0.5,))
    assert protocol(one, other).rows["data"][1:] == ["100,000 points, 9 seeds", "ditto"]
    with pytest.raises(ValueError, match=r"\['figure-0-1'\] must say `like: figure-0-2`"):
        protocol(invented("figure-0-2", FACTS), one)
    with pytest.raises(ValueError, match=r"not \['pace'\]"):
        protocol(invented("figure-0-1", FACTS + "pace: {source: a, here: b}\n"))
