"""A page for each question that is marked by hand: all answers to it beside the rubric."""

import base64
import re
from collections import defaultdict
from pathlib import Path

import jinja2

from armslength.submission import read_notebook

PAGE = Path(__file__).with_name("by_hand.html")
BEGIN, END = "<!-- BEGIN QUESTION -->", "<!-- END QUESTION -->"  # otter's, around what has no check
PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")
INLINE = re.compile(r"data:(image/(?:svg\+xml|png|jpeg|gif|webp);base64,[\w+/=]+)")


def pages(everything, source, names):
    """Pairs (name of a question, HTML), of all that was handed in, each file once.

    `names` says, by student, under what name: of several who hand in one file, their names.
    """
    page = jinja2.Environment(autoescape=True).from_string(PAGE.read_text())
    manual = [question for question in source.questions if question.manual]
    given = {line for cell in source.notebook.cells for line in cell.source.splitlines()}
    given |= {f"_Points:_ {question.points}" for question in source.questions}  # otter's
    answers, whose = {}, defaultdict(list)
    for handed in everything:
        if handed.file:
            answers[handed.path or handed.file] = answers_in(handed.content, given)
            whose[handed.path or handed.file].append(names[handed.student])
    for number, question in enumerate(manual):
        rows = [
            (" and ".join(whose[file]), found[number] if len(found) == len(manual) else None)
            for file, found in answers.items()
        ]
        texts = [cell.source for cell in question.solution if cell.cell_type == "markdown"]
        rubric, title = "\n\n".join(texts), source.title()
        yield question.name, page.render(title=title, question=question, rubric=rubric, rows=rows)


def answers_in(content, given):
    """The answers to what has no check, in order: of each a list of (kind, text or picture).

    An answer is what stands between the cells of a question and of its end, and the lines in these
    cells that were not `given`.
    """
    try:
        return list(_sections(read_notebook(content)["cells"], given))
    except Exception:  # it is no notebook, or has outputs that are none
        return []


def _sections(cells, given):
    section = None
    for cell in cells:
        text = cell["source"]
        if section is not None and END in text:
            section += _typed(cell, given)
        if section is not None and (END in text or BEGIN in text):
            yield section
            section = None
        if BEGIN in text:
            section = [*_typed(cell, given)]
        elif section is not None:
            section += [("code", text)] if cell["cell_type"] == "code" else _text(cell, text)
            section += [kind for output in cell.get("outputs", []) for kind in _shown(output)]


def _typed(cell, given):
    """What was added to a cell that was handed out."""
    lines = [line for line in cell["source"].splitlines() if line not in {*given, BEGIN, END}]
    return _text(cell, "\n".join(lines).strip())


def _text(cell, text):
    """A text of a cell, and the pictures that were dropped into it."""
    if text:
        yield "text", INLINE.sub("(see below)", text)
    yield from (("picture", found) for found in INLINE.findall(text))
    for name, data in cell.get("attachments", {}).items():
        yield from list(_shown({"data": data})) or [("text", f"{name} is not shown here.")]


def _shown(output):
    """What of an output is shown: pictures and text, and nothing that a browser would run."""
    data = output.get("data", {})
    kind = next((kind for kind in PICTURES if kind in data), "")
    if kind == "image/svg+xml":  # a browser runs no script of a picture
        svg = base64.b64encode("".join(data[kind]).encode()).decode()
        yield "picture", f"{kind};base64,{svg}"
    elif kind:
        yield "picture", f"{kind};base64," + "".join(data[kind]).replace("\n", "")
    elif found := INLINE.findall("".join(data.get("text/html", ""))):
        yield from (("picture", picture) for picture in found)
    elif "text/plain" in data:
        yield "output", "".join(data["text/plain"])
    elif "text" in output:
        yield "output", "".join(output["text"])
