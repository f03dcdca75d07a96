"""Tables that a spreadsheet may have had in between."""

import csv
import io
import os
from pathlib import Path


def read(path):
    """The rows of a CSV file, as dictionaries of texts, however a spreadsheet wrote it.

    UTF-8, with a mark or without, else Windows' Latin letters; between the columns commas,
    semicolons or tabs.
    """
    content = Path(path).read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    between = max(",;\t", key=text.partition("\n")[0].count)
    return [
        {key: (value or "").strip() for key, value in row.items() if key is not None}
        for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=between)
    ]


def write(path, rows):
    """Write a CSV file that spreadsheets read, all of it or nothing."""
    new = path.with_name(f"{path.name}.new")
    with open(new, "w", newline="", encoding="utf-8-sig", errors="replace") as file:
        csv.writer(file).writerows([cell(value) for value in row] for row in rows)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)


def cell(value):
    """`value` as text for a spreadsheet, which must not take it for a formula."""
    text = " ".join(str(value).split())
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def number(text, most, what):
    """A mark, from 0 to `most`, that somebody wrote. Raises ValueError, with `what` in it."""
    try:
        found = float(text.replace(",", "."))
    except ValueError:
        found = -1
    if not 0 <= found <= most:
        raise ValueError(f"{what}: {text!r} is no mark from 0 to {most:g}.")
    return found
