"""The rows of a claim block: sentences, and the comparisons that judge them."""

import cmath
from decimal import ROUND_FLOOR, Decimal
from math import erfc, isfinite, sqrt
from numbers import Number, Rational
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from runproofs.claims.proofs import Proofs, _for_all
from runproofs.claims.registry import LEVELS

LARGEST_TOLERANCE = 0.2
ROUNDING = 1e-12  # what is nearer is no difference
SMALLEST_DIFFERENCE = 1e-10  # that a row may ask for: what sums of many numbers round is smaller
LARGEST_Z = 10
NEAR = 0.3  # what stays farther from its bound says why


class Verdict(NamedTuple):
    """How a row came out.

    Attributes
    ----------
    passed : bool
        Whether it is as it must be: a positive row true, a control false.
    measured : str
        What was found, as "2e-16 ≤ 1e-12"; differs between machines.
    demanded : str
        What was asked for, as "error ≤ 1e-12"; does not differ.
    control : bool
        Whether its sentence must be false.
    as_printed : bool
        Whether it runs the counterexample to a certain erratum.
    why_loose : str
        Why an inequality is nowhere near equality.
    compared : bool
        False where two sides cannot be: other shapes, nothing, not finite.
    room : tuple of float
        From each number that is compared to its limit; negative beyond it.
    """

    passed: bool
    measured: str
    demanded: str
    control: bool
    as_printed: bool
    why_loose: str
    compared: bool
    room: tuple[float, ...]


class Row(Proofs):
    """One sentence of a block, which one of its methods must judge, once; `Check` makes it.

    Its evidence has a level (registry.LEVELS), which is that of the numbers on both sides: where
    all are fractions or SymPy numbers, and no tolerance is given, it is "exact"; with free symbols,
    "for-all"; with floats, "computed", or "measured" in a figure, a table or an experiment. Whole
    numbers and truth values are "computed", since most count or ask something of floats.

    Two sides are arrays of one shape, or an array and a scalar: NumPy, torch, or anything that
    makes an array; neither empty nor with a NaN or an infinity, which fails the row. Integers,
    Fractions and SymPy numbers are compared and subtracted exactly, of whatever size.

    Parameters
    ----------
    check : Check
        The block.
    text : str
        The sentence, with TeX between dollars and code between backticks.
    evidence : {"", "exact", "measured"}, optional
        "measured" of what was trained or sampled; "exact" of whole numbers and truth values that
        come from exact arithmetic alone. All else its numbers say.

    Raises
    ------
    ValueError
        From a method, for a demand that says nothing: a tolerance, scale or standard error that
        hides any difference, a distance that rounding makes.
    TypeError
        From a method, for what is not a number.
    """

    def __init__(self, check, text: str, evidence: str = ""):
        if evidence not in ("", "exact", "measured"):
            raise ValueError(f'{text!r}: evidence= is "exact" or "measured", not {evidence!r}.')
        self.check, self.text, self.said = check, text, evidence
        self.verdict: Verdict | None = None
        self.level, self.scope = "computed", ""

    # Positive rows ---------------------------------------------------------------------------

    def equal(
        self,
        measured: ArrayLike,
        expected: ArrayLike,
        tol: float | None = None,
        scale: float | None = None,
    ) -> None:
        """Two sides are equal: ``max|measured - expected| <= tol * scale``.

        Parameters
        ----------
        measured, expected : array_like
            Both sides.
        tol : float, optional
            Tolerance, 0 to 0.2, the block's by default; with 0 exactly equal, entry by entry.
        scale : float, optional
            What is large, ``max|expected|`` by default; needed where that is 0. It hides nothing:
            ``tol * scale <= 0.2 max|expected|``, or 0.2 where everything expected is zero.
        """
        tol = self.check.tol if tol is None else _tolerance(tol)
        a, b, reason = self._pair(measured, expected)
        if reason:
            self._judge(reason, False, "", f"error ≤ {tol:g}" if tol else "equal")
        elif tol == 0:
            wrong = np.flatnonzero(a != b)
            measured = "equal"
            if len(wrong):
                measured = f"{len(wrong)} of {a.size} differ: {a[wrong[0]]} is not {b[wrong[0]]}"
            self._judge("", len(wrong) == 0, measured, "equal")
        else:
            scale, size = self._scale(scale, b)
            self.level = "computed"
            if tol * scale > LARGEST_TOLERANCE * size:
                raise ValueError(f"{self.text!r}: scale is {scale:g}, which hides any difference.")
            error = np.abs(a - b).max() / scale
            measured = _relation(error, "≤", tol, error <= tol, (2, 6))
            self._judge("", error <= tol, measured, f"error ≤ {tol:g}", room=(tol - error,))

    def at_most(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        tol: float = 0.0,
        *,
        tightness: float,
        why_loose: str = "",
    ) -> None:
        """``lower <= upper + tol * max|upper|``, entry by entry, and near equality in one of them.

        Parameters
        ----------
        lower, upper : array_like
            Both sides.
        tol : float, optional
            Tolerance, 0 to 0.2; 0 by default.
        tightness : float
            How near, in (0, 1]: the smaller of ``|lower|`` and ``|upper|`` over the larger; 0 where
            one is zero or their signs differ. So ``0 <= bound`` is no evidence.
        why_loose : str, optional
            Why no case comes nearer; given where tightness is below 0.3, and printed on the card.
        """
        _tolerance(tol)
        if not 0 < tightness <= 1:
            raise ValueError(f"{self.text!r}: tightness is {tightness}, not in (0, 1].")
        if bool(why_loose) != (tightness < NEAR):
            raise ValueError(
                f"{self.text!r}: why_loose= says why tightness is below {NEAR}, and only then."
            )
        demanded = f"at most{f', to {tol:g}' * (tol > 0)}, reaching {tightness:g}"
        a, b, reason = self._pair(lower, upper, ordered=True)
        if reason:
            self._judge(reason, False, "", demanded, why_loose=why_loose)
            return
        if tol:
            self.level = "computed"
        worst, slack = np.argmax(a - b), float(tol * np.abs(b).max())
        holds = a[worst] - b[worst] <= slack
        nearest = _nearness(a, b).max()
        measured = _relation(a[worst], "≤", b[worst], holds) + f" + {slack:.0e}" * (tol > 0)
        measured += f", {'nearest ' * (a.size > 1)}{_percent(nearest, tightness)}"
        room = b[worst] + slack - a[worst], nearest - tightness
        self._judge(
            "", holds and nearest >= tightness, measured, demanded, why_loose=why_loose, room=room
        )

    def less(self, lower: ArrayLike, upper: ArrayLike, *, by: float) -> None:
        """``lower < upper``, entry by entry, by a share of the larger of both sizes.

        For an order that is strict, such as what falls: ``values[1:]`` below ``values[:-1]``. A
        side that is 0 throughout fails: it is a subject that is gone, and of what is positive the
        row is to say how large it is.

        Parameters
        ----------
        lower, upper : array_like
            Both sides.
        by : float
            The share, at least 1e-10: what is nearer is rounding.
        """
        _apart(by)
        a, b, reason = self._pair(lower, upper, ordered=True)
        demanded = f"below by {_percent(by)}"
        if reason or (gone := _nothing(a, b)):
            self._judge(reason, False, "" if reason else gone, demanded)
            return
        gap = _share(b - a, np.maximum(np.abs(a), np.abs(b)))
        worst = np.argmin(gap)
        measured = _relation(a[worst], "<", b[worst], a[worst] < b[worst])
        measured += f", by {_percent(gap[worst], by)}"
        self._judge("", gap[worst] >= by, measured, demanded, room=(gap[worst] - by,))

    def not_close(
        self, one: ArrayLike, other: ArrayLike, *, by: float, every: bool = False
    ) -> None:
        """``|one - other| >= by * max|other|`` in some entry, or in every one.

        Said of what moved, or of noise. A side that is 0 throughout fails.

        Parameters
        ----------
        one, other : array_like
            Both sides.
        by : float
            How far apart, at least 1e-10: what is nearer is rounding.
        every : bool, optional
            Whether every entry must be; False by default.
        """
        _apart(by)
        a, b, reason = self._pair(one, other)
        where = _where(every, a)
        if reason or (gone := _nothing(a, b)):
            self._judge(reason, False, "" if reason else gone, f"{where}≥ {by:g} apart")
            return
        found = (np.min if every else np.max)(np.abs(a - b)) / np.abs(b).max()
        measured = f"{where}{_relation(found, '≥', by, found >= by, (2, 6))} apart"
        self._judge("", found >= by, measured, f"{where}≥ {by:g} apart", room=(found - by,))

    def pairwise_different(self, members: ArrayLike, *, by: float) -> None:
        """Any two members are ``by * max|members|`` apart in some entry.

        Parameters
        ----------
        members : (n, ...) array_like
            At least two members, along the first axis.
        by : float
            How far apart, at least 1e-10: what is nearer is rounding.

        Notes
        -----
        Cost: ``O(n^2)`` comparisons of members.
        """
        _apart(by)
        a, _, reason = self._pair(members, 0)
        demanded = f"any two ≥ {by:g} apart"
        if not reason and len(members) < 2:
            reason = f"{len(members)} member"
        if reason:
            self._judge(reason, False, "", demanded)
            return
        a = a.reshape(len(members), -1)
        nearest = min(np.abs(a[i + 1 :] - a[i]).max(1).min() for i in range(len(a) - 1))
        nearest = nearest / (np.abs(a).max() or 1)
        measured = f"any two {_relation(nearest, '≥', by, nearest >= by, (2, 6))} apart"
        self._judge("", nearest >= by, measured, demanded, room=(nearest - by,))

    def holds(self, condition: bool) -> None:
        """A condition is true.

        Parameters
        ----------
        condition : bool
            One truth value.
        """
        self.level = "whole"
        self._judge("", _truth(condition), str(_truth(condition)).lower(), "true")

    def within(
        self, estimate: ArrayLike, target: ArrayLike, standard_error: ArrayLike, z: float = 5.0
    ) -> None:
        """``|estimate - target| <= z * standard_error``, for each of the estimates.

        Parameters
        ----------
        estimate, target : array_like
            Both sides.
        standard_error : array_like
            Errors, positive; z of them at most ``max|target|`` (1 where the target is zero): else
            the row could not tell the target from 0.
        z : float, optional
            How many, in (0, 10]; 5 by default.

        Notes
        -----
        The card states the probability that a true claim fails here by chance: for each normal
        estimate ``erfc(z / sqrt(2))``, added up. The seed of the page is fixed, so it fails never
        or always.
        """
        if not 0 < z <= LARGEST_Z:
            raise ValueError(f"z must be positive and at most {LARGEST_Z}, it is {z}.")
        a, b, reason = self._pair(estimate, target, ordered=True)
        _, error, other = _sides(estimate, standard_error, ordered=True)
        self.level = "measured"
        demanded = f"≤ {z:g} s.e. (false alarm {erfc(z / sqrt(2)) * a.size:.0e})"
        if reason or other:
            self._judge(reason or other, False, "", demanded)
            return
        if not (np.all(error > 0) and z * error.max() <= (float(np.abs(b).max()) or 1)):
            raise ValueError(
                f"standard_error must be positive, and {z:g} of it must tell the target from 0; "
                f"it is {standard_error}."
            )
        score = (np.abs(a - b) / error).max()
        measured = (
            _relation(score, "≤", z, score <= z, (2, 6)) + demanded[demanded.index(" s.e.") :]
        )
        self._judge("", score <= z, measured, demanded, room=(z - score,))

    # Controls: the sentence is false ---------------------------------------------------------

    def differs(
        self,
        wrong: ArrayLike,
        right: ArrayLike,
        *,
        by: float,
        scale: float | None = None,
        every: bool = False,
        as_printed: bool = False,
    ) -> None:
        """Control: ``|wrong - right| >= by * scale`` in some entry, or in every one.

        Parameters
        ----------
        wrong, right : array_like
            Both sides.
        by : float
            How far apart; ``by * scale`` is at least 1e-10 of ``max|right|`` (1e-10 where right is
            zero): what is nearer is rounding.
        scale : float, optional
            What is large, ``max|right|`` by default; needed where that is 0.
        every : bool, optional
            Whether every entry must differ; False by default.
        as_printed : bool, optional
            Whether the row is the counterexample to a certain erratum; False by default.
        """
        if not (by > 0 and isfinite(by)):
            raise ValueError(f"by must be positive and finite, it is {by}.")
        a, b, reason = self._pair(wrong, right)
        where = _where(every, a)
        if reason:
            self._judge(reason, False, "", f"{where}≥ {by:g} apart", True, as_printed)
            return
        scale, size = self._scale(scale, b)
        if by * scale < SMALLEST_DIFFERENCE * size:
            raise ValueError(f"by is {by:g}: so far apart are also numbers that rounding parts.")
        apart = (np.min if every else np.max)(np.abs(a - b)) / scale
        measured = f"{where}{_relation(apart, '≥', by, apart >= by, (2, 6))} apart"
        demanded = f"{where}≥ {by:g} apart"
        self._judge("", apart >= by, measured, demanded, True, as_printed, room=(apart - by,))

    def exceeds(self, value: ArrayLike, bound: ArrayLike, *, by: float = 0.0, every: bool = False,
                as_printed: bool = False) -> None:  # fmt: skip
        """Control: ``value > bound + by`` in some entry, or in every one; a bound must be violated.

        Parameters
        ----------
        value, bound : array_like
            Both sides. Of what is not exact the excess must be more than 1e-12 of the larger side,
            which is rounding.
        by : float, optional
            By how much more, absolute, at least 0; 0 by default.
        every : bool, optional
            Whether every entry must exceed its bound; False by default.
        as_printed : bool, optional
            Whether the row is the counterexample to a certain erratum; False by default.
        """
        if not (by >= 0 and isfinite(by)):
            raise ValueError(f"by must not be negative, and finite, it is {by}.")
        a, b, reason = self._pair(value, bound, ordered=True)
        where = _where(every, a)
        demanded = f"{where}exceeds by > {by:g}" if by else f"{where}exceeds"
        if reason:
            self._judge(reason, False, "", demanded, True, as_printed)
            return
        rounding = ROUNDING * float(max(np.abs(a).max(), np.abs(b).max()))
        if 0 < by < rounding:
            raise ValueError(f"by is {by:g}: so far apart are also numbers that rounding parts.")
        entry = (np.argmin if every else np.argmax)(a - b)
        excess = a[entry] - b[entry]
        limit = by if _exact(excess) else max(by, rounding)
        passed = excess > limit
        measured = where + _relation(a[entry], ">", b[entry], passed) + f" + {by:g}" * (by > 0)
        self._judge("", passed, measured, demanded, True, as_printed, room=(excess - limit,))

    def fails(self, condition: bool, *, as_printed: bool = False) -> None:
        """Control: a condition is false.

        Parameters
        ----------
        condition : bool
            One truth value.
        as_printed : bool, optional
            Whether the row is the counterexample to a certain erratum; False by default.
        """
        truth, self.level = _truth(condition), "whole"
        self._judge("", not truth, str(truth).lower(), "false", True, as_printed)

    # -----------------------------------------------------------------------------------------

    def _pair(self, one, other, ordered: bool = False) -> tuple[np.ndarray, np.ndarray, str]:
        """`_sides`, and the level of what is compared."""
        a, b, reason = _sides(one, other, ordered)
        self.level, self.scope = _evidence(a, b)
        return a, b, reason

    def _scale(self, scale, b) -> tuple[float, float]:
        """What differences are divided by, and the size that bounds it."""
        size = float(np.abs(b).max())
        scale = size if scale is None else float(scale)
        if not (isfinite(scale) and scale > 0):
            raise ValueError(
                f"{self.text!r}: everything expected is zero, so scale= must say what is large "
                f"(positive and finite; it is {scale})."
            )
        return scale, size or 1.0

    def _judge(self, reason, passed, measured, demanded, control=False, as_printed=False,
               why_loose="", room=()):  # fmt: skip
        self.check.must_be_open(self.text)
        if self.verdict:
            raise RuntimeError(f"{self.text!r} is judged twice.")
        if self.level == "whole":
            self.level = "exact" if self.said == "exact" else "computed"
        elif self.said == "exact" and self.level in ("computed", "measured"):
            raise ValueError(f"{self.text!r}: what is compared is not exact.")
        if self.said == "measured" or self.level == "computed":
            self.level, self.scope = self.said or self.check.of_floats, ""
        self.verdict = Verdict(
            bool(passed),
            reason or measured,
            demanded,
            control,
            as_printed,
            why_loose,
            not reason,
            tuple(map(float, room)),
        )

    def evidence(self) -> str:
        """The level in words, with what it is for: "exact", "for all x, y"."""
        return self.scope or LEVELS[self.level]

    def mark(self) -> str:
        """✓ for a sentence that is true, ✗ for a false one, ! where it should be otherwise."""
        if not (self.verdict and self.verdict.passed):
            return "!"
        return "✗" if self.verdict.control else "✓"


def _tolerance(tol) -> float:
    """The tolerance; ValueError if it is negative or larger than any check may have."""
    if not 0 <= tol <= LARGEST_TOLERANCE:
        raise ValueError(
            f"tol is {tol}; a check worth its name has 0 <= tol <= {LARGEST_TOLERANCE}."
        )
    return tol


def _nearness(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How near equality: the smaller of |a| and |b| over the larger; 0 if signs differ or one is 0.

    >>> _nearness(np.array([17.0, -2, -1, 0]), np.array([20.0, -1, 1, 0])).tolist()
    [0.85, 0.5, 0.0, 0.0]
    """
    sizes = np.abs(a), np.abs(b)
    return np.where((a > 0) == (b > 0), _share(np.minimum(*sizes), np.maximum(*sizes)), 0)


def _percent(share, demanded=1.0) -> str:
    """A share in percent, cut and never rounded up, in as many decimals as what is demanded has.

    >>> _percent(0.859), _percent(-0.851), _percent(0.0219), _percent(3e-5)
    ('85 %', '-86 %', '2.1 %', '0.003 %')
    >>> _percent(0.9955, 0.999), _percent(0.99899, 0.999), _percent(0.999, 0.999), _percent(0.999)
    ('99.5 %', '99.8 %', '99.9 %', '99 %')
    """
    known = f"{share:.12g}" if share >= demanded else str(float(share))  # 1 - 1e-16 is 100 %
    share, demanded = 100 * Decimal(known), 100 * Decimal(str(demanded))
    digits = 0 if abs(share) >= 10 or not share else 1 - share.adjusted()
    digits = max(digits, -demanded.normalize().as_tuple().exponent)
    return f"{share.quantize(Decimal(1).scaleb(-digits), ROUND_FLOOR).normalize():f} %"


def _share(part, whole) -> np.ndarray:
    """part / whole as floats; 0 where both are."""
    whole = np.where(whole == 0, 1, whole)  # then the part is 0, too
    return (part / whole).astype(float)


def _apart(by: float):
    if not SMALLEST_DIFFERENCE <= by < float("inf"):
        raise ValueError(f"by is {by}: what is nearer than {SMALLEST_DIFFERENCE:g} is rounding.")


def _nothing(a, b) -> str:
    return "" if np.any(a != 0) and np.any(b != 0) else "a side is 0"


def _exact(number) -> bool:
    """Whether a number knows no rounding: an integer, a fraction, a SymPy number without floats."""
    if isinstance(number, Rational):
        return True
    return hasattr(number, "free_symbols") and not any(atom.is_Float for atom in number.atoms())


def _evidence(a: np.ndarray, b: np.ndarray) -> tuple[str, str]:
    """The level of a comparison of these numbers, "whole" for Python's integers, and for what."""
    if a.dtype != object or b.dtype != object:
        return "computed", ""
    entries = [*a.flat, *b.flat]
    if not all(map(_exact, entries)):
        return "computed", ""
    if free := set().union(*(getattr(entry, "free_symbols", ()) for entry in entries)):
        return "for-all", _for_all(free)
    return "whole" if all(isinstance(entry, int) for entry in entries) else "exact", ""


def _truth(condition) -> bool:
    if not isinstance(condition, bool | np.bool_):
        raise TypeError(f"a condition is one truth value, not {type(condition).__name__}.")
    return bool(condition)


def _where(every: bool, a: np.ndarray) -> str:
    return ("each " if every else "somewhere ") * (a.size > 1)


def _sides(a, b, ordered: bool = False) -> tuple[np.ndarray, np.ndarray, str]:
    """Both sides as flat arrays of one length, and why they cannot be compared, if so.

    Integers, truth values and fractions become Python's own, which know no overflow and no
    rounding. Raises TypeError for what is not a number or a SymPy expression, and for complex
    numbers where an order is asked for.
    """
    a, b = (_array(x, ordered) for x in (a, b))
    if a.size == 0 or b.size == 0:
        return a, b, "nothing to compare"
    if a.shape != b.shape and a.ndim and b.ndim:
        return a, b, f"shapes {a.shape} and {b.shape}"
    a, b = (x.ravel() for x in np.broadcast_arrays(a, b))
    return a, b, "" if _finite(a) and _finite(b) else "not finite"


def _array(x, ordered: bool) -> np.ndarray:
    x = np.asarray(x.detach().cpu() if hasattr(x, "detach") else x)
    kind = x.dtype.kind
    if kind in "fc":
        x = x.astype(complex if kind == "c" else float)
    elif kind in "biu":
        x = x.astype(object)
    elif kind != "O" or not all(
        isinstance(e, Number) or hasattr(e, "free_symbols") for e in x.flat
    ):
        raise TypeError(f"a row compares numbers, not {x.ravel()[:1].tolist()}.")
    if ordered and kind == "c":
        raise TypeError("complex numbers have no order.")
    return x


def _finite(x: np.ndarray) -> bool:
    if x.dtype != object:
        return bool(np.all(np.isfinite(x)))
    return all(
        isinstance(entry, Rational)
        or (cmath.isfinite(entry) if isinstance(entry, Number) else entry.is_finite is not False)
        for entry in x
    )


def _relation(a, sign: str, b, passed: bool, digits: tuple[int, int] = (3, 3)) -> str:
    """`a sign b` in few digits, or with the opposite sign where that is the case.

    >>> _relation(10, "≤", 288031, True), _relation(1.0001, ">", 1, True)
    ('10 ≤ 288,031', '1.0001 > 1')
    """
    sign = sign if passed else {"≤": ">", ">": "≤", "≥": "<", "<": "≥"}[sign]
    for more in range(15):
        left, right = _digits(a, digits[0] + more), _digits(b, digits[1] + more)
        if left != right or sign in "≤≥":
            break
    return f"{left} {sign} {right}"


def _digits(x, count: int) -> str:
    """Whole numbers in full; others in `count` digits, one less where they are tiny."""
    if x == round(x) and abs(x) < 1e15:
        return f"{int(x):,}"
    return f"{float(x):.{count if abs(x) >= 1e-3 else max(count - 1, 1)}g}"
