"""What a student opens: an assignment without its solutions and tests."""

import re

BLOCK = re.compile(r"( *)# BEGIN SOLUTION\n.*?# END SOLUTION", re.S)
LINE = re.compile(r"^( *)(\w[\w, ]*= )?.*# SOLUTION$", re.M)


def starter(code: str) -> str:
    """What a student finds where this solution stands.

    >>> starter("def f(x):\\n    # BEGIN SOLUTION\\n    y = x\\n    return y\\n    # END SOLUTION")
    'def f(x):\\n    ...'
    >>> starter("a = 1  # SOLUTION\\nb = 2")
    'a = ...\\nb = 2'
    """
    return LINE.sub(r"\1\2...", BLOCK.sub(r"\1...", code))


def cells(source):
    """Kind and text of each cell; of a question no solution and no test."""
    questions, block = iter(source.questions), []
    for cell in source.notebook.cells:
        found = re.match(r"# (BEGIN|END) (\w+)", cell.source) if cell.cell_type == "raw" else None
        if found and found[1] == "BEGIN":
            block.append(found[2])
            if found[2] == "QUESTION":
                question = next(questions)
        elif found:
            block.pop()
            if found[2] == "TESTS":
                yield "code", f'grader.check("{question.name}")'
        elif block[-1:] == ["SOLUTION"]:
            is_code = cell.cell_type == "code"
            yield ("code", starter(cell.source)) if is_code else ("markdown", "*Your answer.*")
        elif cell.cell_type != "raw" and block[-1:] != ["TESTS"]:
            yield cell.cell_type, cell.source
