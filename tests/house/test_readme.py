"""The README says what the first page and CITATION.cff say."""

import html
import re

import pytest
import yaml

from runproofs.book.register import BOOK, counts

README = (BOOK.parent / "README.md").read_text("utf-8")
PAGE = (BOOK / "index.md").read_text("utf-8")
CITATION = yaml.safe_load((BOOK.parent / "CITATION.cff").read_text("utf-8"))


def test_the_first_page_counts_the_same():
    shown = set(re.findall(r"\{glue:text\}`(\w+)`", PAGE))
    assert shown == set(counts())


def told_otherwise(readme, page):
    """The pictures of the tour whose alt text the README and the first page do not share."""
    alts = dict(re.findall(r'name: fig-(\w+)\n.*?alt: "(.*?)"', page, re.S))
    tour = re.findall(r'<img src="book/_static/tour/(\w+)\.png".*?alt="(.*?)">', readme)
    assert {name for name, _ in tour} == {
        path.stem for path in (BOOK / "_static" / "tour").glob("*.png")
    }
    return [name for name, alt in tour if html.unescape(alt) != alts[name]]


def test_a_picture_has_the_alt_text_of_the_first_page():
    assert told_otherwise(README, PAGE) == []


def test_another_alt_text_is_noticed():
    name, alt = re.search(r'tour/(\w+)\.png".*?alt="(.*?)">', README).groups()
    assert told_otherwise(README.replace(alt, f"No {alt}"), PAGE) == [name]
    [alt] = re.findall(rf'name: fig-{name}\n.*?alt: "(.*?)"', PAGE, re.S)
    assert told_otherwise(README, PAGE.replace(alt, f"No {alt}")) == [name]


@pytest.mark.parametrize(
    "work", [CITATION, *CITATION["references"]], ids=lambda work: work["title"][:30]
)
def test_the_readme_cites_what_the_citation_file_does(work):
    cited = README.split("## How to cite")[1]
    [line] = [line for line in cited.splitlines() if f" *{work['title']}.* " in line]
    for author in work["authors"]:
        initials = [f"{name[0]}." for name in author.get("given-names", "").split()]
        assert author.get("name") or " ".join([*initials, author["family-names"]]) in line
    facts = [author["name"] for author in work["authors"] if "name" in author]
    facts += [work[key] for key in ("year", "version", "volume", "journal") if key in work]
    facts += [work.get("collection-title", ""), work.get("institution", {}).get("name", "")]
    assert [fact for fact in facts if str(fact) not in line] == []
    assert cited.count("\n- ") == 1 + len(CITATION["references"])
