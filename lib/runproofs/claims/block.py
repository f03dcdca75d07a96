"""Proofs as code: a block that checks one claim of the register and shows what it checked.

A page has::

    with claim("thesis/theorem-6", tol=1e-10) as check:
        check("solver = closed form").equal(solved, closed_form)
        check("no perturbation does better").at_most(optimum, perturbed, tightness=0.9)
        check("truncation is not needed").differs(untruncated, closed_form, by=1e-2)

Each row is a sentence, judged exactly once by a method of `Row`. *Positive* rows must be true.
*Controls* (``differs``, ``exceeds``, ``fails``) are false variants of the claim, and their sentence
is the false one: so the reader sees that the check can tell. Leaving the block raises `ClaimFailed`
unless every row was judged and came out as it must, with at least one of each kind. A claim whose
printed form is certainly wrong needs one control marked ``as_printed=True``, the running
counterexample; no other claim may have one. The first positive row is the main one: its evidence
has the level that the register promises (``evidence: exact``), and that is the level of the card.
The words "certified", "certificate" and "exactly" are for positive rows that no float judges.
"""

import os
import re
import sys
from html import escape
from pathlib import Path

from .breaks import Break, invitations
from .registry import BOOK, LEVELS, SHOWN, Claim, register
from .rows import Row, _tolerance

SEEN = 6  # rows of a card that are seen before it is unfolded
PROVING = re.compile(r"\b(certif\w+|exactly)\b", re.I)  # words for rows that are no float's


class ClaimFailed(AssertionError):
    """A block whose rows do not support the claim; the message lists every row."""

    check: "Check"
    shown = False

    def _render_traceback_(self) -> list[str]:
        """What IPython shows where nothing catches this: the card, and in words what is wrong."""
        if not self.shown:  # IPython asks twice, to show it and to remember it
            _show(self.check)
        self.shown = True
        return [f"ClaimFailed: {self.check.claim.id}", *self.check.wrong()]


class Check:
    """The rows of one claim, in the order in which they were made; `claim` makes it.

    ``check(sentence, evidence="")`` makes a `Row`.

    Parameters
    ----------
    entry : Claim
        The claim.
    tol : float, optional
        Tolerance of the rows ``equal`` that name no other, 0 to 0.2; 0 by default, which compares
        exactly.
    """

    def __init__(self, entry: Claim, tol: float = 0.0):
        self.claim, self.tol = entry, _tolerance(tol)
        self.rows: list[Row] = []
        self.of_floats = "measured" if entry.kind in SHOWN else "computed"
        self.state = "not entered"

    def __call__(self, text: str, evidence: str = "") -> Row:
        """A row with this sentence, to be judged; the arguments are those of `Row`."""
        if not (isinstance(text, str) and text.strip()):
            raise ValueError(f"a row is a sentence, not {text!r}.")
        self.must_be_open(text)
        self.rows.append(Row(self, text, evidence))
        return self.rows[-1]

    def must_be_open(self, text: str) -> None:
        """Refuse a row that stands outside the block.

        Parameters
        ----------
        text : str
            Its sentence.

        Raises
        ------
        RuntimeError
            If the block is not entered yet, or left.
        """
        if self.state != "open":
            raise RuntimeError(f"{text!r} stands outside the block of {self.claim.id}.")

    def __enter__(self):
        if self.state != "not entered":
            raise RuntimeError(f"the block of {self.claim.id} is entered twice.")
        self.state = "open"
        return self

    def __exit__(self, kind, error, traceback):
        self.state = "left"
        if kind is not None:
            return  # the reader needs that traceback, not ours
        if reasons := list(self.objections()):
            error = ClaimFailed(f"{self.claim.id}: {'; '.join(reasons)}.\n{self._text(True)}")
            error.check = self
            raise error
        _show(self)

    def objections(self) -> None:
        """Why these rows do not support the claim."""
        verdicts = [row.verdict for row in self.rows if row.verdict]
        yield from (f"{row.text!r} was never judged" for row in self.rows if not row.verdict)
        if failed := sum(not verdict.passed for verdict in verdicts):
            yield f"{failed} of {len(self.rows)} rows failed"
        if all(verdict.control for verdict in verdicts):
            yield "there is no positive row"
        controls = any(verdict.control for verdict in verdicts)
        if not controls:
            yield "there is no control"
        printed = any(verdict.as_printed for verdict in verdicts)
        if self.claim.needs_counterexample and not printed:
            yield "its certain erratum has no row marked as_printed"
        if printed and not self.claim.needs_counterexample:
            yield "a row is marked as_printed, and the register has no certain erratum to show"
        for row in self._groups()[0]:
            if row.level in ("computed", "measured") and (word := PROVING.search(row.text)):
                yield f"{row.text!r} says {word[0]!r}, and its evidence is {row.level!r}"
        promised, positive = self.claim.evidence, self._groups()[0]
        if promised and positive and positive[0].level != promised:
            yield f"its first row is {positive[0].level!r}, and its heading says {promised!r}"

    def wrong(self) -> list[str]:
        """A sentence on each row that failed; where none did, why the others are not enough."""
        is_not = {False: "false", True: "true, and must be false"}
        return [
            f"On this machine this row is {is_not[verdict.control]}: {text} "
            f"(demanded: {verdict.demanded}; measured: {verdict.measured})"
            for text, verdict in ((row.text, row.verdict) for row in self.rows)
            if verdict and not verdict.passed
        ] or [f"{reason}." for reason in self.objections()]

    # The card --------------------------------------------------------------------------------

    def _groups(self) -> tuple[list[Row], list[Row]]:
        """The positive rows, and the controls."""
        controls = [row for row in self.rows if row.verdict and row.verdict.control]
        return [row for row in self.rows if row not in controls], controls

    def _ways(self) -> list[Break]:
        """What a reader may break, of a claim of the register."""
        return [] if self.claim.source == "example" else invitations(self.claim.id)

    def __repr__(self):
        return self._text(measured=False)

    def _text(self, measured: bool) -> str:
        """Measured values differ in the last bits between machines, so they are shown on demand."""

        def line(row):
            if not row.verdict:
                return f"  {row.mark()} {row.text} [never judged]"
            value = f"; measured {row.verdict.measured}" * measured
            printed = "as printed: " * row.verdict.as_printed
            loose = f" (far from equality: {row.verdict.why_loose})" * bool(row.verdict.why_loose)
            shown = f"{row.evidence()}: {row.verdict.demanded}{value}"
            return f"  {row.mark()} {printed}{row.text}{loose} [{shown}]"

        positive, controls = self._groups()
        heading = [f"  {_must_fail(controls) if not measured else 'must fail'}:"] * bool(controls)
        lines = [*map(line, positive), *heading, *map(line, controls)]
        lines += [f"  break it: {wrong.sentence}" for wrong in self._ways()]
        level = f" ({LEVELS[self.claim.evidence]})" if self.claim.evidence else ""
        return "\n".join([f"{self.claim.name}: {self.claim.title}{level}", *lines])

    def _repr_html_(self) -> str:
        entry, back = self.claim, _path_to_back_matter()
        title = f"<b>{_inline(entry.name)}</b> {_inline(entry.title)}"
        if back and entry.source != "example":
            title = f'<a href="{back}/ledger.html#claim-{entry.slug}">{title}</a>'
            if entry.erratum and entry.erratum.grade != "extraction artifact":
                href = f"{back}/errata.html#erratum-{entry.slug}"
                title += f' <a class="tag" href="{href}">erratum</a>'
        if entry.evidence:
            title += f' <span class="level">{LEVELS[entry.evidence]}</span>'
        positive, controls = self._groups()
        html = [f'<p class="title">{title}</p>']
        if self.state == "left":
            html += [f'<p class="failed">{_inline(reason)}</p>' for reason in self.wrong()]
        own = LEVELS.get(entry.evidence)  # said once, in the title
        false = min(len(controls), max(SEEN - len(positive), 2))
        html.append(_list(positive, "positive", own, SEEN - false))
        if controls:
            heading = f'<p class="heading">{_must_fail(controls)}</p>'
            html += [heading, _list(controls, "control", own, false)]
        html.append(_breaks(self._ways()))
        return f'<div class="claim-card mathjax_process" {_anchor(entry)}>{"".join(html)}</div>'


def claim(identifier: str, tol: float = 0.0, evidence: str = "") -> Check:
    """Block that checks one registered claim; use it in a ``with`` statement.

    Parameters
    ----------
    identifier : str
        Id of the claim.
    tol : float, optional
        Tolerance of the rows ``equal`` that name no other, 0 to 0.2; 0 by default, which compares
        exactly.
    evidence : str, optional
        Level of a card that shows a claim again, with less than the register promises.

    Returns
    -------
    Check
        The block. Leaving it raises `ClaimFailed` if its rows do not support the claim.

    Raises
    ------
    KeyError
        If the register does not have the id.
    ValueError
        If the claim is told on its page and not checked.
    """
    if identifier not in register():
        raise KeyError(
            f"{identifier!r} is not in the register of claims (the file `.yml` beside its page)."
        )
    entry = register()[identifier]
    if entry.kind == "narrative":
        raise ValueError(f"{identifier!r} is a narrative: told, and not checked by a block.")
    return Check(entry._replace(evidence=evidence or entry.evidence), tol)


def example(title: str, evidence: str) -> Check:
    """A block for a statement that the register does not have; its card leads nowhere.

    Parameters
    ----------
    title : str
        Title of the card.
    evidence : str
        Level of its first positive row, one of `LEVELS`.

    Returns
    -------
    Check
        To be used in a `with` statement.
    """
    if evidence not in LEVELS:
        raise ValueError(f"evidence must be one of {', '.join(LEVELS)}, but it was {evidence!r}.")
    name = "example/" + re.sub(r"\W+", "-", title)
    return Check(Claim(name, "Example", "", "remark", title, None, "", evidence=evidence))


def _show(check: Check) -> None:
    """As HTML in a notebook, as text elsewhere, where IPython need not be installed."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython():
        from IPython.display import display

        display(check)
    else:
        print(check)


def _must_fail(controls: list[Row]) -> str:
    return "must fail" + ", and does" * all(row.verdict.passed for row in controls)


def _breaks(ways: list[Break]) -> str:
    """What a reader may break: a line for one way, else a line that unfolds to all."""
    lead, several = "<em>Break it:</em> ", len(ways) > 1
    lines = "".join(
        f'<details class="break"><summary>{lead * (not several)}{_inline(way.sentence)}</summary>'
        f"<pre>{escape(str(way))}</pre></details>"
        for way in ways
    )
    if not several:
        return lines
    return f"<details><summary>{lead}{len(ways)} ways</summary>{lines}</details>"


def _list(rows: list[Row], kind: str, own: str | None, seen: int) -> str:
    """Rows that are read also where there is no style but the browser's, as in a notebook.

    What comes after the rows that are seen is folded, unless it failed.
    """

    def item(row):
        printed, loose, level, measured = "", "", "", "never judged"
        if verdict := row.verdict:
            printed = '<span class="tag">as printed</span> ' * verdict.as_printed
            loose = f" <em>(far from equality: {_inline(verdict.why_loose)})</em>" * bool(
                verdict.why_loose
            )
            same = " same" * (row.evidence() == own)
            level = f'<span class="level{same}">{_inline(row.evidence())}:</span> '
            measured = escape(verdict.measured)
        failed = ' class="failed"'
        return (
            f'<li{failed * (row.mark() == "!")}><span class="mark">{row.mark()}</span> '
            f"<span>{printed}{_inline(row.text)}{loose}</span>"
            '<span class="dot"> · </span>'
            f'<span class="measured">{level}{measured}</span></li>'
        )

    first, rest = (
        f'<ul class="{kind}">{"".join(map(item, part))}</ul>' if part else ""
        for part in (rows[:seen], rows[seen:])
    )
    if not rest:
        return first
    unfolded = " open" * any(row.mark() == "!" for row in rows[seen:])
    more = len(rows) - seen
    summary = f"<summary>and {more} more row{'s' * (more > 1)}</summary>"
    return f'{first}<details class="more"{unfolded}>{summary}{rest}</details>'


def _inline(text: str) -> str:
    """Escaped HTML whose $...$ the page typesets, with `code`."""
    text = re.sub(r"\$([^$]+)\$", r"\\(\1\\)", escape(text))
    # No line begins with the full stop after a formula.
    text = re.sub(r"\\\([^$]*?\\\)[.,;:!?)]+", r'<span class="unbroken">\g<0></span>', text)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def _path_to_back_matter() -> str:
    """Relative path from the running page to the ledger's folder; empty outside the book.

    The published notebooks stand in a copy of the book's folders, where the same path holds.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if folder.name == BOOK.name and BOOK.parent in folder.parents:
            return Path(os.path.relpath(folder / "back", here)).as_posix()
    return ""


_anchored: set[str] = set()


def _anchor(entry: Claim) -> str:
    """The anchor that the ledger links to; an id may stand only once on a page."""
    if entry.id in _anchored:
        return ""
    _anchored.add(entry.id)
    return f'id="check-{entry.slug}"'
