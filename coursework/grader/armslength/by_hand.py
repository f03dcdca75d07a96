"""A page for each question that is marked by hand: all answers to it beside the rubric."""

import base64
from pathlib import Path

import jinja2

from armslength.submission import read_notebook

PAGE = Path(__file__).with_name("by_hand.html")
BEGIN, END = "<!-- BEGIN QUESTION -->", "<!-- END QUESTION -->"  # otter's, around what has no check
PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")


def pages(everything, source):
    """Pairs (name of a question, HTML), of all that was handed in."""
    page = jinja2.Environment(autoescape=True).from_string(PAGE.read_text())
    manual = [question for question in source.questions if question.manual]
    given = {line for cell in source.notebook.cells for line in cell.source.splitlines()}
    given |= {f"_Points:_ {question.points}" for question in source.questions}  # otter's
    answers = [(handed, answers_in(handed.content, given)) for handed in everything if handed.file]
    for number, question in enumerate(manual):
        rows = [(h, a[number] if len(a) == len(manual) else None) for h, a in answers]
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
            section.append(("code" if cell["cell_type"] == "code" else "text", text))
            section += _pictures(cell)
            section += [kind for output in cell.get("outputs", []) for kind in _shown(output)]


def _typed(cell, given):
    """What was added to a cell that was handed out."""
    lines = [line for line in cell["source"].splitlines() if line not in {*given, BEGIN, END}]
    if text := "\n".join(lines).strip():
        yield "text", text
    yield from _pictures(cell)


def _pictures(cell):
    """The pictures that were dropped into a cell of text."""
    for data in cell.get("attachments", {}).values():
        yield from _shown({"data": data})


def _shown(output):
    """What of an output is shown: pictures and text, and nothing that a browser would run."""
    data = output.get("data", {})
    kind = next((kind for kind in PICTURES if kind in data), "")
    if kind == "image/svg+xml":  # a browser runs no script of a picture
        svg = base64.b64encode("".join(data[kind]).encode()).decode()
        yield "picture", f"{kind};base64,{svg}"
    elif kind:
        yield "picture", f"{kind};base64," + "".join(data[kind]).replace("\n", "")
    elif "text/plain" in data:
        yield "output", "".join(data["text/plain"])
    elif "text" in output:
        yield "output", "".join(output["text"])
