"""The scoreboard, the pages and the register say the same verdict of each figure and experiment.

The home of a verdict is the scoreboard. The page that an entry links to says it after the word
"Verdict", in bold, as a heading or as the title of an admonition, in the order of the scoreboard:
**Verdict on Figure 3-3: reproduced.** One such word may stand for neighbors that share it.
"""

import ast
import re
from itertools import groupby

import pytest

from runproofs.book.pages import cells
from runproofs.book.register import BOOK, register

WORDS = ("reproduced", "with a qualification", "not reproduced", "not run")
WORD = re.compile(r"not reproduced|not run|(?:reproduced,? )?with a qualification|reproduced", re.I)
SAID = re.compile(
    r"^(?:\*\*|#+ |:{3,}\{admonition\} )Verdict[^:\n]*: (?P<what>.+?)(?:\*\*(?!\*)|$)", re.M
)
BOARD = (BOOK / "back" / "scoreboard.md").read_text("utf-8")


def words(text):
    """The verdicts in a text, in order."""
    found = (word.lower() for word in WORD.findall(text))
    return [word if word.startswith("not") else word.split("reproduced")[-1].strip(", ") or word
            for word in found]  # fmt: skip


def entries(board):
    """(claim, page, verdict) of each entry of the scoreboard, in order."""
    here, found = "", []
    for node in ast.parse("\n".join(cell.code for cell in cells(board))).body:
        match node:
            case ast.Assign([ast.Name("here")], ast.Constant(page)):
                here = page
            case ast.Expr(ast.Call(ast.Name("score" | "card"), [claim, page, _, _, verdict, *_])):
                page = here if isinstance(page, ast.Name) else page.value
                found.append((claim.value, page, verdict.value))
    return found


def stated(page):
    """The verdicts that the text of a page states, in order."""
    return [word for said in SAID.finditer(page) for word in words(said["what"])]


def agree(told, on_board):
    """Whether they are the same, where one word of the page may stand for equal neighbors."""
    told, on_board = (
        [(word, len(list(run))) for word, run in groupby(x)] for x in (told, on_board)
    )
    return [word for word, _ in told] == [word for word, _ in on_board] and all(
        few <= many for (_, few), (_, many) in zip(told, on_board, strict=True)
    )


ENTRIES = entries(BOARD)
PAGES = list(dict.fromkeys(page for _, page, _ in ENTRIES))
ON_BOARD = {page: [verdict for _, at, verdict in ENTRIES if at == page] for page in PAGES}
TEXTS = {page: (BOOK / f"{page}.md").read_text("utf-8") for page in PAGES}


def test_every_entry_is_read():
    code = "\n".join(cell.code for cell in cells(BOARD))
    assert len(ENTRIES) == len(re.findall(r"^(?:score|card)\(", code, re.M)) > 25
    assert {verdict for *_, verdict in ENTRIES} <= set(WORDS)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_states_the_verdicts_of_the_scoreboard(page):
    assert agree(stated(TEXTS[page]), ON_BOARD[page]), (stated(TEXTS[page]), ON_BOARD[page])


def test_the_register_says_no_other_word():
    for claim in {claim for claim, *_ in ENTRIES}:
        entry = register()[claim]
        said = set(words(entry.statement))
        assert said <= {verdict for of, _, verdict in ENTRIES if of == claim}, claim


def test_a_forged_word_is_noticed():
    """On the page, each word in turn; and on the scoreboard, where the page has one for each."""
    page = "ch2_shallow_linear/experiments"
    told, on_board = stated(TEXTS[page]), ON_BOARD[page]
    assert agree(told, on_board)
    for k in range(len(told)):
        for other in set(WORDS) - {told[k]}:
            assert not agree([*told[:k], other, *told[k + 1 :]], on_board)
            assert not agree(told, [*on_board[:k], other, *on_board[k + 1 :]])
    said = "**Verdict on Figure 2-2: reproduced**"
    assert said in TEXTS[page]
    forged = TEXTS[page].replace(said, "**Verdict on Figure 2-2: not reproduced**")
    assert not agree(stated(forged), on_board)
    assert not agree(stated(TEXTS[page].replace(said, "")), on_board)


def test_the_words_are_read_wherever_a_verdict_stands():
    page = (
        "**Verdict: reproduced, with a qualification; that it is *monotone* is not reproduced.**\n"
        "## Verdict on both: Not run\n::::{admonition} Verdict: reproduced\n"
        "It was **reproduced**, with a qualification.\n"
    )
    assert stated(page) == ["with a qualification", "not reproduced", "not run", "reproduced"]
    assert agree(["reproduced"], ["reproduced", "reproduced"])
    assert not agree(["reproduced", "reproduced"], ["reproduced"])
