"""No line of a solution or of a hidden test is anywhere in what students get."""

import functools
import html
import io
import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from coursework.tests.conftest import TREES
from coursework.tools import sources

NAMES = sources.names()
PAGES = Path("_build/html")
LIBRARY = sources.COURSEWORK.parent / "lib"
TAGS = re.compile(r"<[^>]*>")


def squeezed(line):
    """A line without spaces, quotes and end marks, so that no reformatting hides it."""
    return re.sub(r"[\s\"'`\\]|#\s*SOLUTION.*", "", line)


def secrets(name):
    """The lines that no student may see, squeezed: all that is long enough to give something away.

    A line that is given anyway, in a question, a given cell or a visible test, is no secret.
    """
    source = sources.read(name)
    hidden, open_ = [], [cell.source for cell in source.given]
    for question in source.questions:
        hidden += question.hidden_tests
        open_ += question.text + question.visible_tests
        for cell in question.solution:
            kept, removed = parts(cell)
            open_.append(kept)
            hidden.append(removed)
    given = {squeezed(line) for text in open_ for line in text.splitlines()}
    lines = {squeezed(line) for text in hidden for line in text.splitlines()}
    hints = {line for line in lines if line.startswith(("failure_message:", "success_message:"))}
    return {line for line in lines - given - hints if len(line) >= 16 and not trivial(line)}


def parts(cell):
    """What of a solution's cell students get, and what they do not."""
    if cell.cell_type != "code":
        return "", cell.source
    kept, removed, inside = [], [], False
    for line in cell.source.splitlines():
        inside |= "# BEGIN SOLUTION" in line
        (removed if inside or line.rstrip().endswith("# SOLUTION") else kept).append(line)
        inside &= "# END SOLUTION" not in line
    return "\n".join(kept), "\n".join(removed)


def trivial(line):
    """Whether a line is one that anybody writes anywhere.

    So also the head of a short loop, and of a call of NumPy whose arguments stand below it.
    """
    head = line.startswith("for") and line.endswith(":") and len(line) < 25
    call = bool(re.fullmatch(r"(assert)?np\.\w+\(", line))
    anybodys = ("import", "from", "#", "$$", "plt.", "ax.", "axis.", "fig,", "figure,")
    return head or call or line.startswith(anybodys)


def texts(path, content):
    """All texts in a file: of notebooks each string, of zips (also wheels) each member."""
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for member in archive.namelist():
                yield from texts(f"{path}/{member}", archive.read(member))
        return
    text = content.decode("utf-8", errors="replace")
    if str(path).endswith((".ipynb", ".json")):
        text = "\n".join(strings(json.loads(text)))
    yield path, text


def strings(value):
    """All strings in a JSON value, keys too: sources, outputs, metadata, tests."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        if value and all(isinstance(x, str) for x in value):
            yield "".join(value)  # a source may be a list of lines
        for inner in value:
            yield from strings(inner)


def history(folder):
    """All that was ever committed in a folder, if it is a git repository of its own."""
    git = ["git", "-C", str(folder)]
    if not (folder / ".git").exists():
        return
    listed = subprocess.check_output([*git, "rev-list", "--all", "--objects"], text=True)
    for line in listed.splitlines():
        number, _, path = line.partition(" ")
        kind = subprocess.check_output([*git, "cat-file", "-t", number], text=True).strip()
        content = subprocess.check_output([*git, "cat-file", kind, number])
        yield from texts(f"{number}:{path}" if kind == "blob" else number, content)


def leaks(name, found):
    """Pairs (where, line) of secrets in texts, however they are broken into lines and quoted."""
    hidden = secrets(name)
    assert len(hidden) >= 10, "next to nothing is secret: is the source read right?"
    for where, text in found:
        yield from ((where, line) for line in hidden if line in text)


def whole(found):
    """The same texts, squeezed as the secrets are, and each but once."""
    texts = {text: str(where) for where, text in found}
    return [(where, squeezed(re.sub(r"# ?SOLUTION", "", text))) for text, where in texts.items()]


def everything(folder):
    """All texts in a folder, its zips and its history."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".git" not in path.parts:
            yield from texts(path, path.read_bytes())
    yield from history(folder)


@functools.cache
def students():
    """What all students get, which is read once for all assignments, as the next two are."""
    return whole(everything(TREES / "student"))


@functools.cache
def book():
    pages = (path for path in PAGES.rglob("*") if path.suffix in (".html", ".md", ".ipynb", ".js"))
    texts = ((path, path.read_text(errors="replace")) for path in pages)
    return whole((path, html.unescape(TAGS.sub("", text))) for path, text in texts)


@functools.cache
def library():
    return whole(everything(LIBRARY / "runproofs"))


@pytest.mark.parametrize("name", NAMES)
def test_the_student_tree_has_no_answer(name):
    assert not list(leaks(name, students()))


@pytest.mark.parametrize("name", NAMES)
def test_the_instructor_tree_has_them(name):
    found = leaks(name, whole(everything(TREES / "instructor" / name)))
    assert {line for _, line in found} >= secrets(name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.skipif(not PAGES.exists(), reason="the book is not built: make book")
def test_the_book_has_no_answer(name):
    assert not list(leaks(name, book()))


@pytest.mark.parametrize("name", NAMES)
def test_the_library_has_no_answer(name):
    assert not list(leaks(name, library()))


@pytest.mark.parametrize("name", NAMES)
def test_what_is_a_solution_is_marked_as_one(name):
    for question in sources.read(name).questions:
        for cell in question.solution:
            assert parts(cell)[1].strip(), f"{question.name}: all of this cell is given away"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", ["source", "metadata", "output", "member", "autograder", "history"])
def test_a_planted_leak_is_found(tmp_path, name, way):
    cell = next(
        c for q in sources.read(name).questions for c in q.solution if "BEGIN SOL" in c.source
    )
    planted = [line for line in parts(cell)[1].splitlines() if squeezed(line) in secrets(name)]
    notebook = json.loads((TREES / "student" / name / f"{name}.ipynb").read_text())
    path = tmp_path / f"{name}.ipynb"
    if way == "source":
        notebook["cells"][-1]["source"] = [f"{line}\n" for line in planted]
    elif way == "metadata":
        notebook["metadata"]["old"] = {"cell": "\n".join(planted)}
    elif way == "output":
        notebook["cells"][0]["outputs"] = [{"data": {"text/plain": planted}}]
    path.write_text(json.dumps(notebook))
    if way == "member":
        with zipfile.ZipFile(tmp_path / "more.zip", "w") as archive:
            archive.writestr("x/notes.txt", "\n".join(planted))
    elif way == "autograder":
        shutil.copy(TREES / "instructor" / name / "autograder.zip", tmp_path)
    elif way == "history":
        (tmp_path / "old.py").write_text("\n".join(planted))
        git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.check_call(["git", "init", "-q", str(tmp_path)])
        for command in ("add .", "commit -qm a", "rm -qf old.py", "commit -qm b"):
            subprocess.check_call([*git, *command.split()])
    assert list(leaks(name, whole(everything(tmp_path))))
