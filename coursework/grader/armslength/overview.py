"""What the class did, question by question: a table for the teacher, and counts for students."""

from statistics import mean

FEWEST = 5  # who handed in: of fewer, students are told nothing


def full_marks(graded, source):
    """By question, how many have full marks, and of how many who handed in.

    Left out are questions of which somebody has no mark yet, and all where fewer than FEWEST did.
    """
    found = ((question, _marks(question.name, graded)) for question in source.questions)
    return {
        question.name: (marks.count(question.points), len(marks))
        for question, marks in found
        if len(marks) >= FEWEST and None not in marks
    }


def rows(graded, source, tests):
    """A line for each question, with its mean, and for each of its tests, by otter's test files."""
    yield ["question", "of", "test", "handed in", "mean", "full marks", "failed"]
    for question in source.questions:
        name, marks = question.name, _marks(question.name, graded)
        known = [mark for mark in marks if mark is not None]
        average = f"{mean(known):.3g}" if known else ""
        full = known.count(question.points)
        yield [name, f"{question.points:g}", "", len(marks), average, full, ""]
        failed = [
            number
            for handed, result, _ in graded
            for mark in result.marks
            if mark.question == name and _counts(handed)
            for number in mark.failed
        ]
        for number, case in enumerate(tests[name].test_cases if name in tests else ()):
            kind = "hidden" if case.hidden else "visible"
            what = f"{kind} test {number + 1}: {case.failure_message or ''}"
            yield [name, "", what, len(marks), "", "", failed.count(number)]


def _counts(handed):
    """Whether it is what a student of the class handed in."""
    return handed.listed and handed.content is not None


def _marks(question, graded):
    """The marks of a question, of all who handed in; None for what has no mark yet."""
    return [by_hand.mark(question, result) for h, result, by_hand in graded if _counts(h)]
