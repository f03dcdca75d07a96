"""Decide whether the measured values that two runs show in cards and tables agree.

They agree if words and relations are the same and true in both, and each number has the same sign
and order of magnitude. Exempt are numbers below ROUNDING or below 1% of their bound; of the nearest
of many cases, only its distance counts. Numbers in tables may differ by at most TIMES the change
that other arithmetic makes on that page (helpers.stored).
"""

import re
from decimal import Decimal

from helpers.stored import TIMES

MEASURED = re.compile(  # a row says its evidence before its value
    r'<(?P<tag>td|span) class="measured">(?P<level><span class="level[^"]*">[^<]*</span> )?'
    r"(?P<value>(?:[^<]|<br>)*)</(?P=tag)>"
)
VARYING = re.compile(  # times, addresses
    r"(?<![\w.])(?:\d+(?:\.\d+)? ?(?:ms|s|µs)\b(?![.^_]|\.e)|0x[0-9a-fA-F]{6,})"
)
NUMBER = re.compile(r"[-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?")
RELATION = re.compile(rf"({NUMBER.pattern}) ([≤≥<>]) ({NUMBER.pattern})(?: \+ ({NUMBER.pattern}))?")
ROUNDING = 1e-8  # two numbers below it are alike
MAGNITUDE = 10  # by what factor two numbers of one order may differ
LARGE = 0.5  # a relative tolerance of which little would be left: the order of magnitude then is it
ALONE = {"numbers": 1, "errors": 1}  # the spread of numbers that are in no table, for that reason
EXACT = {"numbers": 0, "errors": 0}  # and in the tables of pages that have none: to the last digit


def in_table(found: re.Match) -> bool:
    """Whether a MEASURED value is a number of a table; a ratio of times, 6-fold, is not."""
    return found["tag"] == "td" and "-fold" not in found["value"]


def alike(one: str, other: str, spread: dict = ALONE) -> bool:
    """Whether two measured values agree.

    spread: what other arithmetic changes, relative: in `numbers`, and in the `errors` after a ±.

    >>> alike("2e-16 ≤ 1e-12", "7e-16 ≤ 1e-12"), alike("2e-16 ≤ 1e-12", "7.5 ≤ 1e-12")
    (True, False)
    """
    pair = one, other
    if NUMBER.sub("#", one) != NUMBER.sub("#", other) or true(one) != true(other):
        return False
    if all(map(far_below, pair)) or " s.e." in one:  # a score is noise below its bound
        bare = (re.sub(r", [\d.e-]+ %$", "", value) for value in pair)
        pair = [RELATION.sub(r"≤ \3", value, count=1) for value in bare]
    elif "nearest" in one and all(map(as_near, pair)):  # of many cases, another is worst
        pair = [RELATION.sub("≤", value, count=1) for value in pair]
    return all(near(a, b, TIMES * spread[kind]) for kind, a, b in numbers(*pair))


def numbers(one: str, other: str) -> list[tuple[str, str, str]]:
    """The numbers of two texts in pairs, each after its kind: `errors` or `numbers`."""
    kinds = ["errors" if one[: found.start()].endswith("± ") else "numbers"
             for found in NUMBER.finditer(one)]  # fmt: skip
    return list(zip(kinds, NUMBER.findall(one), NUMBER.findall(other), strict=True))


def near(one: str, other: str, most: float) -> bool:
    """Whether two numbers are alike: apart by at most that, or, if it is LARGE, of one order."""
    a, b = number(one), number(other)
    small, large = sorted((abs(a), abs(b)))
    if a == b or large <= ROUNDING:
        return True
    if most < LARGE:
        return apart(one, other) <= most
    return a * b > 0 and large <= MAGNITUDE * max(small, ROUNDING)


def apart(one: str, other: str) -> float:
    """The relative difference of two numbers as shown; 0 if it is one of the last digit."""
    a, b = number(one), number(other)
    last = max(Decimal(x.replace(",", "")).as_tuple().exponent for x in (one, other))
    return abs(a - b) / max(abs(a), abs(b)) if abs(a - b) > 1.01 * 10.0**last else 0.0


def far_below(value: str) -> bool:
    """Whether a small number is measured, 1 % of its bound at most."""
    found = RELATION.match(value)
    return bool(found) and found[2] == "≤" and abs(number(found[1])) <= abs(number(found[3])) / 100


def true(value: str) -> bool:
    """Whether what it says of two numbers is true, to the digits that are shown."""
    if not (found := RELATION.search(value)):
        return True
    a, b = number(found[1]), number(found[3]) + number(found[4] or "0")
    a, b = (b, a) if found[2] in "≥>" else (a, b)
    return a <= b + 0.01 * max(abs(a), abs(b)) + ROUNDING


def as_near(value: str) -> bool:
    """Whether two sides are no nearer than the nearest case is said to be."""
    found, share = RELATION.match(value), re.search(r"nearest ([\d.e-]+) %", value)
    if not (found and share):
        return False
    small, large = sorted(abs(number(found[k])) for k in (1, 3))
    return small <= (number(share[1]) / 100 + 0.02) * large + ROUNDING


def number(text: str) -> float:
    return float(text.replace(",", ""))
