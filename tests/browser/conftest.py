from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from booktools.browser import launched
from browser import browse


def pytest_addoption(parser):
    parser.addoption("--html", type=Path, help="folder of the built site (default: _build/html)")


@pytest.fixture(scope="session")
def context():
    """One context of one browser; every visit opens a page of its own in it."""
    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser.new_context(viewport=browse.DESKTOP)


@pytest.fixture
def page(request, context, home):
    """The page that the test's module names PAGE, on which nothing may go wrong."""
    with browse.visit(context, home, request.module.PAGE) as (page, found):
        yield page
        assert found == []


@pytest.fixture(scope="session")
def home(pytestconfig):
    """The address at which the built site is served."""
    with browse.serve(browse.site(pytestconfig)) as address:
        yield address
