"""The pages of the book as their sources say them."""

import re

import yaml

from runproofs.claims.registry import BOOK

PAGES = [path for path in sorted(BOOK.glob("*/**/*.md")) if path.parts[len(BOOK.parts)] != "back"]


def needs(path):
    """The labels in the front matter of a page; None where it has no such key."""
    return yaml.safe_load(path.read_text("utf-8").split("\n---\n")[0]).get("needs")


def labeled():
    """The pages by their labels and those of their sections."""
    return {
        label: path
        for path in PAGES
        for label in re.findall(r"^\(((?:ch|sec):.*)\)=$", path.read_text("utf-8"), re.M)
    }
