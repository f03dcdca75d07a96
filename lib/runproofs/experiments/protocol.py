"""The protocol of an experiment: what its source says of it, and what the stored run did.

Beside a stored run ``figure-2-3.npz`` lies ``figure-2-3.yml``, with some of the `ROWS`::

    of: thesis, Section 2.6
    data:
      source: a teacher of 120 by 80
      here: a teacher of {shape[0]} by {shape[1]}, singular values exp(−{decay} i)

``source`` is the one place where that fact is typed. ``here`` has no digit of its own: its numbers
are the settings of the stored run, those in braces. There ``seed:count`` is how many a list has,
and ``times:last`` the last. A second run of the same source says ``like: figure-2-3`` in place of
``of``, and ``here`` only where other words are needed; its "ditto" repeats what the first one has.
"""

import string
from decimal import Decimal
from html import escape
from typing import NamedTuple

import yaml

from .base import Experiment

ROWS = ("data", "split", "network", "start", "optimizer", "step size", "batch", "length",
        "repeated", "measured")  # fmt: skip
FEW = 6  # values of a list that are shown one by one
NAMES = {"mnist": "MNIST", "100k": "100K"}  # of data


class _Filled(string.Formatter):
    """Settings in words: 100,000, 0.25, lists as "0.1, 0.5, 1"."""

    def format_field(self, value, spec):
        if spec == "count":
            return str(len(value) if isinstance(value, list) else 1)
        return shown(value[-1] if spec == "last" else value)


def shown(value) -> str:
    """A setting as the table has it.

    Parameters
    ----------
    value : object
        A number, a text, or a list of them.

    Returns
    -------
    str
        100,000 or 0.25; of a long list the first two values and the last.
    """
    if isinstance(value, list):
        parts = value if len(value) <= FEW else [*value[:2], "…", value[-1]]
        return ", ".join(map(shown, parts))
    if isinstance(value, float):
        return f"{Decimal(f'{value:.3g}'):,f}"  # never 1e-05
    return f"{value:,}" if isinstance(value, int) else NAMES.get(value, str(value))


class Protocol(NamedTuple):
    """What a source says of experiments, and what was run, as a table.

    Attributes
    ----------
    columns : list of str
        Heads of the columns.
    rows : dict of list of str
        Under each name a text for each column.
    folded : bool
        Whether the table opens on a click, on a page that has no room for it.
    """

    columns: list[str]
    rows: dict[str, list[str]]
    folded: bool

    def __repr__(self):
        return "\n".join(
            "\n  ".join([name, *(f"{of}: {text}" for of, text in self._told(texts))])
            for name, texts in self.rows.items()
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(of)}</th>" for of in ["", *self.columns])
        body = ""
        for name, texts in self.rows.items():
            # a phone shows the cells of a row one below the other, each with its column's name
            cells = (f'<td data-of="{of}">{text}</td>' for of, text in self._told(texts, escape))
            body += f"<tr><th>{name}</th>{''.join(cells)}</tr>"
        table = (
            f'<table class="dataframe protocol"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )
        if not self.folded:
            return table
        title = "What the source says, and what was run"
        return f'<details class="protocol"><summary>{title}</summary>{table}</details>'

    def _told(self, texts, form=str):
        return zip(map(form, self.columns), map(form, texts), strict=True)


def protocol(*experiments: Experiment, folded: bool = False) -> Protocol:
    """What a source says of experiments, and how their stored runs were made.

    Parameters
    ----------
    *experiments : Experiment
        The first has the facts of the source beside it; the others are ``like`` it.
    folded : bool, optional
        Whether the table opens on a click; by default it is open.

    Returns
    -------
    Protocol
        The table.

    Raises
    ------
    ResultError
        If a run is not stored.
    """
    first, *others = experiments
    facts = _beside(first)
    columns = [f"source: {facts.pop('of')}", "here", *(f"here: {one.name}" for one in others)]
    told = {first: facts} | {one: _beside(one) for one in others}
    if wrong := [one.name for one in others if told[one].pop("like", "") != first.name]:
        raise ValueError(f"{wrong} must say `like: {first.name}`, whose source is told.")
    if unknown := {name for words in told.values() for name in words} - set(ROWS):
        raise ValueError(f"The rows are {ROWS}, not {sorted(unknown)}.")
    rows = {name: [facts[name]["source"]] for name in ROWS if name in facts}
    for one in experiments:
        settings = one.paper().provenance["settings"]
        for name, texts in rows.items():
            words = told[one].get(name, facts[name])["here"]
            text = _Filled().vformat(words, (), settings)
            texts.append("ditto" if text in texts[1:2] else text)
    return Protocol(columns, rows, folded)


def _beside(one: Experiment) -> dict:
    """The words that lie beside the stored run."""
    return yaml.safe_load(one.path.with_suffix(".yml").read_text("utf-8"))
