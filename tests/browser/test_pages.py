"""Every page of the built site opens without a complaint (see browse.py for what is looked at)."""

import pytest

from browser import browse


def pytest_generate_tests(metafunc):
    root = browse.site(metafunc.config)
    names = browse.page_names(root)
    if not names:
        pytest.exit(f"No built page under {root}: build the book first (make book).", returncode=2)
    metafunc.parametrize("name", names)


def test_page(context, pytestconfig, home, name):
    found = browse.complaints(context, browse.site(pytestconfig), home, name)
    if found:
        pytest.fail("\n".join([f"{name}:", *sorted(set(found))]), pytrace=False)
