"""What a claim rests on, as the register has it, agrees with the proof on its page."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from booksite.auto_links import mentions, source_of
from runproofs.claims.pages import checks_in
from runproofs.claims.registry import BOOK, on_pages, register

PART = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<what>code-cell|prf:\w+|dropdown)\} ?(?P<title>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)[ ]*$",
    re.M | re.S,
)
LABEL = re.compile(r"^:label: (\S+)$", re.M)
NOT_READ = re.compile(r"\$\$.*?\$\$( \([\w-]+\))?|\$[^$]*\$|^:[\w-]+:.*$|`[^`{}]*`", re.M | re.S)
ROLE = re.compile(r"\{claim\}`([^`]+)`")
PROOF = re.compile(r"\*Proof\.\*(.*?)\n\n", re.S)


def parts(text):
    """The statements, proofs and checks of a page in their order: (what, label or id, words)."""
    found, end = [], 0
    for part in PART.finditer(text):
        if proof := PROOF.match(text[end : part.start()].lstrip() + "\n\n"):
            found.append(("proof", "", proof[1]))
        end = part.end()
        if part["what"] == "code-cell":
            found += [("check", name, "") for name in checks_in(part[0])]
        elif part["what"] == "prf:proof" or part["title"].startswith("Proof"):
            found.append(("proof", "", part["body"]))
        elif part["what"].startswith("prf:") and (label := LABEL.search(part["body"])):
            found.append(("box", label[1], part["title"] + "\n" + part["body"]))
    return found


def pages():
    """The name of each page with a statement, and its parts."""
    found = {}
    for path in sorted(BOOK.rglob("*.md")):
        text = path.read_text("utf-8")
        if "{prf:" in text and "back" not in path.parts:
            found[path.relative_to(BOOK.parent).with_suffix("").as_posix()] = parts(text)
    return found


PAGES = pages()
STATING = {box.label: box.claims for found in on_pages().values() for box in found}
STATED = {
    claim: f"{BOOK.name}/{page}"
    for page, found in on_pages().items()
    for box in found
    for claim in box.claims
}


def named(words, document):
    """The claims that a text names, by their numbers or by their ids."""
    by_id = set(ROLE.findall(words))
    words = NOT_READ.sub(" ", ROLE.sub(" ", words))
    return by_id | {mention.claim.id for mention in mentions(words, source_of(document))}


def unsaid(document):
    """Of each box: what it and its proofs name and its claims do not say that they rest on."""
    found, claims = {}, []
    for what, name, words in PAGES[document]:
        if what == "box":
            claims = [register()[claim] for claim in STATING[name]]
            words = words.partition("\n")[2]
        if what == "check":
            claims = []
        if not claims:
            continue
        said = {claim.id for claim in claims}
        said.update(*(claim.uses for claim in claims), *(claim.mentions for claim in claims))
        if more := named(words, document) - said:
            found.setdefault(claims[0].id, set()).update(more)
    return found


@pytest.mark.parametrize("document", PAGES)
def test_what_a_proof_names_is_among_its_uses(document):
    assert unsaid(document) == {}


ORDER = re.findall(r"file: (\S+)", (BOOK.parent / "_toc.yml").read_text("utf-8"))
REF = re.compile(r"\{(?:prf:)?ref\}`(?:[^`<]*<)?([^`>]+)>?`")


def ahead(document):
    """What a statement here rests on, stated on a later page to which no link leads."""
    refs = set(REF.findall(Path(BOOK.parent, f"{document}.md").read_text("utf-8")))
    found = {}
    for claims in (STATING[name] for what, name, _ in PAGES[document] if what == "box"):
        for claim, used in ((c, u) for c in claims for u in register()[c].uses):
            place = STATED.get(used)
            if place is None or ORDER.index(place) <= ORDER.index(document):
                continue
            later = Path(BOOK.parent, f"{place}.md").read_text("utf-8")
            if not any(f"({ref})=" in later for ref in refs):
                found.setdefault(claim, []).append(used)
    return found


@pytest.mark.parametrize("document", PAGES)
def test_a_page_leads_to_later_ones_on_which_its_statements_rest(document):
    assert ahead(document) == {}


def test_only_registered_claims_are_used_and_none_its_own():
    for entry in register().values():
        both = {*entry.uses, *entry.mentions}
        assert both <= register().keys(), entry.id
        assert len(both) == len(entry.uses) + len(entry.mentions), entry.id
        assert entry.id not in both


def test_no_proof_rests_on_itself():
    TopologicalSorter({entry.id: entry.uses for entry in register().values()}).prepare()


def test_proofs_are_read_with_their_statements():
    read = sum(what == "proof" for found in PAGES.values() for what, *_ in found)
    fences = ("{prf:proof}", "{dropdown} Proof")
    texts = [Path(BOOK.parent, f"{name}.md").read_text("utf-8") for name in PAGES]
    assert read >= sum(text.count(fence) for text in texts for fence in fences) > 200
