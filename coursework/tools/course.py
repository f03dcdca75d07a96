"""The course as a whole: its assignments in order, and their numbers.

course.yml has the order and some words. Titles, questions and marks are those of the assignments,
minutes those of the table in their notes.md, which must name the same questions and marks. All that
does not fit together raises ValueError.
"""

import re
from dataclasses import dataclass
from itertools import zip_longest

import yaml

from coursework.tools import sources


@dataclass
class Assignment:
    """A row of the table of the course."""

    name: str
    title: str
    about: str
    figure: str  # what it shows, in words
    before: list[str]  # labels of pages
    after: list[str]
    minutes: int
    by_tests: float  # marks
    by_hand: float


def assignments():
    """All of them, in the order of the course."""
    listed = yaml.safe_load((sources.COURSEWORK / "course.yml").read_text("utf-8"))
    if odd := sorted(set(sources.names()) ^ set(listed)):
        raise ValueError(f"in course.yml or written, but not both: {', '.join(odd)}")
    return [_assignment(name, words) for name, words in listed.items()]


def files():
    """All that the table is made of."""
    found = [sources.COURSEWORK / "course.yml"]
    for name in sources.names():
        found += [sources.COURSEWORK / name / f"{name}.md", sources.COURSEWORK / name / "notes.md"]
    return found


def _assignment(name, words):
    source = sources.read(name)
    marks = {True: 0, False: 0}
    for question in source.questions:
        marks[question.manual] += question.points
    return Assignment(
        name,
        **words,
        title=source.title(),
        minutes=_minutes(source),
        by_tests=marks[False],
        by_hand=marks[True],
    )


def _minutes(source):
    """The sum of the minutes in notes.md: rows "| questions | minutes | marks | what for |"."""
    known = {q.name: f"{q.points:g}" + " (by hand)" * q.manual for q in source.questions}
    total, told = 0, []
    for line in (sources.COURSEWORK / source.name / "notes.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.split("|", 4)]
        if len(cells) == 5 and re.fullmatch(r"\d+( \+ \d+)*", cells[2]):
            _, names, minutes, marks, _ = cells
            total += sum(map(int, minutes.split(" + ")))
            # "figure, with its text" has one name
            named = [name for name in names.split(", ") if name in known]
            told += zip_longest(named, marks.split(" + "))
    if told != list(known.items()):
        raise ValueError(f"{source.name}: notes.md has {told}, but the questions are {known}")
    return total
