"""What a teacher takes from the page of the course: a calendar, notebooks, slides."""

import io
import re
import zipfile

import pytest

from browser import browse

PAGE = "book/course/index.html"


def test_a_syllabus_becomes_a_calendar_from_the_week_that_is_named(page):
    form = page.locator("#four-weeks form")
    form.get_by_label("The term begins on").fill("2027-12-29")  # a Wednesday
    with page.expect_download() as got:
        form.get_by_role("button").press("Enter")
    text = got.value.path().read_bytes().decode("utf-8")
    assert got.value.suggested_filename == "course.ics"
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    lines = text.replace("\r\n ", "").split("\r\n")
    assert (lines[0], lines[-2:]) == ("BEGIN:VCALENDAR", ["END:VCALENDAR", ""])
    starts = [line.partition(":")[2] for line in lines if line.startswith("DTSTART;")]
    assert starts == ["20271227", "20280103", "20280110", "20280117"]
    told = [line.partition(":")[2] for line in lines if re.match("SUMMARY|DESCRIPTION", line)]
    rows = page.locator("#four-weeks tbody tr").all()
    shown = [[cell.inner_text() for cell in row.locator("td").all()] for row in rows]
    wanted = [
        (f"Week {week}: {pages}", f"Handed out at its end: {task}") for week, pages, task in shown
    ]
    assert [re.sub(r"\\(.)", r"\1", line) for line in told] == [x for pair in wanted for x in pair]


def test_its_notebooks_can_be_downloaded_without_answers(context, home):
    with browse.visit(context, home, PAGE) as (page, _):
        with page.expect_download() as got:
            page.get_by_role("link", name="All notebooks").click()
        with zipfile.ZipFile(io.BytesIO(got.value.path().read_bytes())) as archive:
            texts = {name: archive.read(name).decode("utf-8") for name in archive.namelist()}
        assert len(texts) == page.locator(".course.table tbody tr").count() - 1  # and the sums
    assert not [name for name, text in texts.items() if re.search("SOLUTION|grader", text)]


@pytest.mark.parametrize("size", [browse.DESKTOP, browse.PHONE], ids=["desktop", "phone"])
def test_a_page_is_shown_a_screen_at_a_time(context, home, size):
    with browse.visit(context, home, PAGE) as (page, found):
        page.set_viewport_size(size)
        links = page.locator("a[href$='?slides']")
        assert links.count() == 3
        links.first.click()
        counter = page.locator(".slide-controls output")
        counter.wait_for()
        count = int(re.fullmatch(r"1 of (\d+)", counter.inner_text())[1])
        assert count > 10
        seen = set()
        for k in range(1, count + 1):
            assert counter.inner_text() == f"{k} of {count}"
            shown = page.locator("article section > :not(section):visible")
            assert shown.count() > 0
            seen |= set(page.locator("article h2:visible").all_inner_texts())
            assert page.locator("article :is(.proof, .claim-card, figure):visible").count() <= 3
            page.keyboard.press("ArrowRight")
        assert {title.rstrip("#") for title in seen} >= {"The network, and the mask", "Recap"}
        page.reload()
        counter.wait_for()
        assert counter.inner_text() == f"{count} of {count}"
        page.get_by_role("button", name="Back").click()
        assert counter.inner_text() == f"{count - 1} of {count}"
        page.keyboard.press("Escape")
        page.locator(".bd-header-article:visible").wait_for()
        assert found == []
