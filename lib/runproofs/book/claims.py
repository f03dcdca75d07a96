"""Proofs as code: a block that checks one claim of the register and shows what it checked.

    with claim("thesis/theorem-6") as check:
        check.equal(solved, closed_form, tol=1e-10, what="solver = closed form")
        check.at_most(optimum, perturbed, what="no perturbation does better")
        check.differs(printed, closed_form, by=1e-2, what="without truncation it fails")

A block holds *positive rows* (`equal`, `at_most`, `holds`, `within`), which must be true, and
*negative controls* (`differs`, `exceeds`, `fails`): neighbours of the claim that must be false, so
that the reader sees that the check can tell. Leaving the block raises `ClaimFailed` unless all rows
pass, at least one is positive and at least one is a control. A claim whose printed form has a
certain erratum also needs one control marked `as_printed=True`: the counterexample, running.
"""

import os
import re
from collections.abc import Callable
from html import escape
from math import erfc, isfinite, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from IPython.core.getipython import get_ipython
from IPython.display import display

from .register import BOOK, Claim, register

__all__ = ["ClaimFailed", "claim"]

LARGEST_TOLERANCE = 0.2


class ClaimFailed(AssertionError):
    """A block whose rows do not support the claim; the message lists every row."""


class Row(NamedTuple):
    what: str
    measured: str
    demanded: str
    passed: bool
    control: bool
    as_printed: bool


class Check:
    """The rows of one claim, in the order in which they were checked. Made by `claim`."""

    def __init__(self, entry: Claim):
        self.claim = entry
        self.rows: list[Row] = []

    # Positive rows ---------------------------------------------------------------------------

    def equal(self, measured, expected, *, tol: float, what: str, scale: float | None = None):
        """max|measured - expected| <= tol * scale; scale is max|expected| unless given.

        Arrays of one shape, or an array against a scalar. 0 <= tol <= 0.2. Where everything
        expected is zero there is no scale to compare with: give one (ValueError otherwise).
        """
        _tolerance(tol)
        self._compare(measured, expected, scale, what, f"error ≤ {tol:.0e}", lambda e: e <= tol)

    def at_most(self, lower, upper, *, what: str, tol: float = 0.0):
        """lower <= upper + tol * max|upper|, elementwise; arrays of one shape, or with a scalar."""
        _tolerance(tol)
        a, b, reason = _pair(lower, upper)
        gap = np.nan if reason else float(np.max(a - b))
        passed = not reason and gap <= tol * np.max(np.abs(b))
        self._add(what, reason or f"largest excess {gap:.1e}", "at most", passed)

    def holds(self, condition, *, what: str):
        """The condition, one truth value, is true."""
        self._add(what, str(_truth(condition)), "holds", _truth(condition))

    def within(self, estimate, target, standard_error, *, what: str, z: float = 5.0):
        """|estimate - target| <= z standard errors, for each of the estimates.

        The card states the probability that a true claim fails here by chance: erfc(z / sqrt 2)
        for each normal estimate, added up. The seed of the page is fixed, so it fails never or
        always.
        """
        a, b, reason = _pair(estimate, target)
        error = np.asarray(standard_error, dtype=float)
        if not np.all(error > 0):
            raise ValueError(f"standard_error must be positive, it is {standard_error}.")
        score = np.nan if reason else float(np.max(np.abs(a - b) / error))
        chance = erfc(z / sqrt(2)) * a.size
        self._add(
            what, reason or f"{score:.1f} s.e.", f"≤ {z:g} s.e. (false alarm {chance:.0e})",
            not reason and score <= z,
        )  # fmt: skip

    # Negative controls -----------------------------------------------------------------------

    def differs(self, wrong, right, *, by: float, what: str, scale: float | None = None,
                as_printed: bool = False):  # fmt: skip
        """max|wrong - right| >= by * scale; scale is max|right| unless given, by > 0."""
        if not by > 0:
            raise ValueError(f"by must be positive, it is {by}.")
        self._compare(
            wrong, right, scale, what, f"differs by ≥ {by:.0e}", lambda e: e >= by,
            control=True, as_printed=as_printed,
        )  # fmt: skip

    def exceeds(self, value, bound, *, what: str, by: float = 0.0, as_printed: bool = False):
        """value > bound + by somewhere: a bound that must be violated; by >= 0, absolute."""
        if not by >= 0:
            raise ValueError(f"by must not be negative, it is {by}.")
        a, b, reason = _pair(value, bound)
        gap = np.nan if reason else float(np.max(a - b))
        demanded = f"exceeds by > {by:.0e}" if by else "exceeds"
        self._add(what, reason or f"excess {gap:.1e}", demanded, not reason and gap > by,
                  control=True, as_printed=as_printed)  # fmt: skip

    def fails(self, condition, *, what: str, as_printed: bool = False):
        """The condition, one truth value, is false."""
        truth = _truth(condition)
        self._add(what, str(truth), "fails", not truth, control=True, as_printed=as_printed)

    # -----------------------------------------------------------------------------------------

    def _compare(self, a, b, scale, what, demanded, passes: Callable[[float], bool], **kind):
        a, b, reason = _pair(a, b)
        if not reason:
            scale = float(np.max(np.abs(b))) if scale is None else float(scale)
            if not (isfinite(scale) and scale > 0):
                raise ValueError(
                    f"{what!r}: everything expected is zero, so scale= must say what is large "
                    f"(positive and finite; it is {scale})."
                )
        error = np.nan if reason else float(np.max(np.abs(a - b))) / scale
        self._add(what, reason or f"{error:.1e}", demanded, not reason and passes(error), **kind)

    def _add(self, what, measured, demanded, passed, control=False, as_printed=False):
        self.rows.append(Row(what, measured, demanded, bool(passed), control, as_printed))

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if kind is not None:
            return  # the reader needs that traceback, not ours
        reasons = [f"{sum(not row.passed for row in self.rows)} of {len(self.rows)} rows failed"]
        reasons *= not all(row.passed for row in self.rows)
        if all(row.control for row in self.rows):
            reasons.append("there is no positive row")
        if not any(row.control for row in self.rows) and not self.claim.no_control:
            reasons.append("there is no negative control")
        erratum = self.claim.erratum
        if erratum and erratum.grade == "certain" and not any(row.as_printed for row in self.rows):
            reasons.append("its certain erratum has no row marked as_printed")
        if reasons:
            raise ClaimFailed(f"{self.claim.id}: {'; '.join(reasons)}.\n{self._text(True)}")
        if get_ipython():
            display(self)
        else:
            print(self)

    # The card --------------------------------------------------------------------------------

    def __repr__(self):
        return self._text(measured=False)

    def _text(self, measured: bool) -> str:
        """Measured errors differ in the last bits between machines, so they are shown on demand."""
        lines = [f"{self.claim.name}: {self.claim.title}"]
        for row in self.rows:
            kind = "as printed: " * row.as_printed or "control: " * row.control
            value = f"; measured {row.measured}" * measured
            lines.append(f"  {'✓' if row.passed else '✗'} {kind}{row.what} [{row.demanded}{value}]")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        entry, back = self.claim, _path_to_back_matter()
        title = f"<b>{_math(entry.name)}</b> {_math(entry.title)}"
        if back:
            title = f'<a href="{back}/ledger.html#claim-{entry.slug}">{title}</a>'
            if entry.erratum and entry.erratum.grade != "extraction artefact":
                href = f"{back}/errata.html#erratum-{entry.slug}"
                title += f' <a class="tag" href="{href}">erratum</a>'
        rows = "".join(
            f'<tr class="{"control" if row.control else "positive"}">'
            f'<td class="mark">{"✓" if row.passed else "✗"}</td>'
            f"<td>{_kind(row)}{_math(row.what)}</td>"
            f'<td class="measured">{escape(row.measured)}</td><td>{escape(row.demanded)}</td></tr>'
            for row in self.rows
        )
        head = "<tr><th></th><th>checked</th><th>measured</th><th>demanded</th></tr>"
        return (
            f'<div class="claim-card mathjax_process" {_anchor(entry)}><p>{title}</p>'
            f"<table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"
        )


def claim(identifier: str) -> Check:
    """A block that checks one registered claim; use it in a `with` statement.

    Raises KeyError for an id that the register does not have; leaving the block raises
    `ClaimFailed` as the module's first lines say.
    """
    if identifier not in register():
        raise KeyError(f"{identifier!r} is not in the register of claims (book/claims).")
    return Check(register()[identifier])


def _tolerance(tol):
    if not 0 <= tol <= LARGEST_TOLERANCE:
        raise ValueError(
            f"tol is {tol}; a check worth its name has 0 <= tol <= {LARGEST_TOLERANCE}."
        )


def _truth(condition) -> bool:
    if not isinstance(condition, bool | np.bool_):
        raise TypeError(f"a condition is one truth value, not {type(condition).__name__}.")
    return bool(condition)


def _pair(a, b):
    """Both sides as float (or complex) arrays, and why they cannot be compared, if so."""
    a, b = (np.asarray(x.detach().cpu() if hasattr(x, "detach") else x) for x in (a, b))
    a, b = (x if np.iscomplexobj(x) else x.astype(float) for x in (a, b))
    reason = ""
    if a.size == 0 or b.size == 0:
        reason = "nothing to compare"
    elif a.shape != b.shape and a.ndim and b.ndim:
        reason = f"shapes {a.shape} and {b.shape}"
    elif not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
        reason = "not finite"
    return a, b, reason


def _kind(row: Row) -> str:
    if row.as_printed:
        return '<span class="tag">as printed</span> '
    return '<span class="tag">control</span> ' if row.control else ""


def _math(text: str) -> str:
    """Escaped HTML whose $...$ the page typesets."""
    return re.sub(r"\$([^$]+)\$", r"\\(\1\\)", escape(text))


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
