"""What was handed in, read into memory before any of it runs, and by whom.

Beside the folder of an assignment may lie `roster.csv`, with the columns id, name and file: a
pattern such as `*_40312_*` for what a student's files are called, or nothing where they are called
`ID.ipynb` or lie in a folder `ID`. It may have more columns: `due`, a date for one student, and
`group`, the same word for students who hand in one file; or `due NAME`, `group NAME` for one
assignment.
"""

import os
import stat
import unicodedata
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from fnmatch import fnmatchcase
from itertools import chain, count
from pathlib import Path

from armslength import table


@dataclass(frozen=True)
class Handed:
    """What one student handed in. Without a content, the remarks say why."""

    student: str
    file: str = ""
    content: bytes | None = None
    when: float | None = None  # seconds, as a file's time is
    name: str = ""
    group: str = ""  # of those who hand in one file
    due: datetime | None = None  # for this student
    listed: bool = True  # in the roster, if there is one
    sure: bool = True  # that nothing else may be this student's
    remarks: list[str] = field(default_factory=list)
    path: str = (
        ""  # the name of the file as the system has it: two files may have one readable name
    )

    def hours_late(self, due):
        """How late it is, as text; nothing if it is not, or if nothing says when it is due."""
        due = self.due or due
        if due is None or self.when is None:
            return ""
        hours = (self.when - due.timestamp()) / 3600
        return f"{hours:.1f}" if hours > 0 else ""


def read(folder, most, students=None):
    """All that was handed in, a `Handed` each, sorted; files of more than `most` bytes unread.

    `students` is what `roster` returns. Without it each file is a student's: "ada" of `ada.ipynb`,
    "ada-hw" of `ada/hw.ipynb`; what is no notebook keeps its ending, and what comes twice, or is
    the same in a table, has a number, so that none is lost. Raises ValueError, and OSError for a
    file that cannot be read.
    """
    found = sorted(_files(Path(folder), most), key=lambda handed: handed.file.split("/"))
    if students is not None:
        return _by_roster(found, students)
    return _numbered(
        replace(handed, student=handed.file.replace("/", "-").removesuffix(".ipynb"))
        for handed in found
    )


def _numbered(everything):
    """The same, where a student whose name in a table is that of an earlier one has a number."""
    taken, numbered = set(), []
    for handed in everything:
        names = chain([handed.student], (f"{handed.student} ({k})" for k in count(2)))
        student = next(name for name in names if table.cell(name) not in taken)
        taken.add(table.cell(student))
        numbered.append(replace(handed, student=student))
    return numbered


def _files(folder, most):
    """What lies in a folder and below it. A link is not followed: it may lead to what is not its
    owner's. What has a name that begins with a dot is left out."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(place, name) for name in [*folders, *files] if name[0] != "."):
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode):
                continue
            inside = path.relative_to(folder).as_posix()
            name = os.fsencode(inside).decode("utf-8", "replace")
            handed = Handed(
                "", unicodedata.normalize("NFC", name), path=inside
            )  # of macOS they are not
            if not stat.S_ISREG(found.st_mode):
                kind = "a link" if stat.S_ISLNK(found.st_mode) else "no file"
                yield replace(handed, remarks=[f"It is {kind}: hand in the notebook itself."])
            elif found.st_size > most:
                yield replace(handed, remarks=["The file is too large for a notebook."])
            else:
                yield replace(handed, content=path.read_bytes(), when=found.st_mtime)


def roster(path, name):
    """The rows of roster.csv: dictionaries with id, name, file, and the group and date that hold
    for the assignment `name`. Raises ValueError."""
    rows = [row for row in table.read(path) if any(row.values())]  # spreadsheets leave empty ones
    if not rows or not {"id", "name", "file"} <= set(rows[0]):
        raise ValueError(f"{path} needs the columns id, name, file, and a row for each student.")
    twice = [key for key, times in Counter(row["id"] for row in rows).items() if times > 1]
    if twice:
        raise ValueError(f"{path} has {', '.join(twice)} more than once.")
    for row in rows:
        for column in ("due", "group"):
            row[column] = row.get(f"{column} {name}") or row.get(column, "")
        row["due"] = due(row["due"]) if row["due"] else None
    return rows


def _by_roster(found, students):
    """A `Handed` for each of the students, and one for each file that is nobody's."""
    files = {_whose(row): [] for row in students}
    strangers = []
    for handed in found:
        owners = [row["id"] for row in students if _is_of(handed.file, row)]
        whose = {_whose(row) for row in students if row["id"] in owners}
        if len(whose) == 1:
            files[whose.pop()].append(handed)
            continue
        remark = "Nobody in roster.csv has a file of this name."
        if owners:
            remark = f"This may be of {' and of '.join(owners)}: see roster.csv."
        remarks = [*handed.remarks, remark]
        strangers.append(replace(handed, student=handed.file, listed=False, remarks=remarks))
    listed = [_newest(files[_whose(row)], row, strangers) for row in students]
    return _numbered(listed + strangers)


def _whose(row):
    """A key that the students of one group share, and nobody else."""
    return (True, row["group"]) if row["group"] else (False, row["id"])


def _is_of(file, row):
    patterns = [row["file"]] if row["file"] else [f"{row['id']}.ipynb", f"{row['id']}/*"]
    return any(fnmatchcase(file, unicodedata.normalize("NFC", pattern)) for pattern in patterns)


def _newest(files, row, strangers):
    """What counts of a student's files: the newest notebook, or else the newest of all."""
    own = {"student": row["id"], **{key: row[key] for key in ("name", "group", "due")}}
    if not files and strangers:
        remark = "Nothing was handed in, or it is one of the files that are nobody's."
        return Handed(**own, sure=False, remarks=[remark])
    if not files:
        return Handed(**own, remarks=["Nothing was handed in."])
    last = max(files, key=lambda f: (f.file.endswith(".ipynb"), f.when or 0, f.file))
    others = [handed.file for handed in files if handed is not last]
    remark = [f"The newest counts, {last.file}, and not {', '.join(others)}."] if others else []
    return replace(last, **own, remarks=[*last.remarks, *remark])


def due(text):
    """A date, "2027-05-03 18:00", in the time of this machine. Raises ValueError."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no date such as 2027-05-03 18:00.") from None
