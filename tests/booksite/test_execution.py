"""What the book adds to Sphinx: warnings, and which pages run again."""

import re
import shutil
import time
from types import SimpleNamespace

import joblib
import nbformat
import pytest
from docutils import nodes
from docutils.utils import new_document
from jupyter_cache.cache.db import NbCacheRecord
from jupyter_cache.executors.utils import ExecutionResult

from booksite import cells, errata, execution, registry_directives
from booksite.cache_keys import keys
from helpers import books
from runproofs.claims.registry import register

HEAD = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3}
---
"""
PAGE = """# A page

{claim}`thesis/theorem-6` and {claim}`thesis/theorem-99`

```{code-cell} ipython3
with claim("thesis/equation-2.1", evidence="computed") as check:
    pass
with claim("thesis/equation-2.99") as check:
    pass
with claim("helmbold-long/theorem-5") as check:
    pass
```

```{code-cell} ipython3
:tags: [show-code]
with claim("thesis/equation-2.1", evidence="computed") as check:
    pass
```

```{code-cell} ipython3
try:
    with claim("thesis/equation-2.1", evidence="computed") as check:
        pass
except ClaimFailed:
    print("refused")
```
"""


def test_pages_and_register_that_disagree_are_warnings(tmp_path, monkeypatch):
    told = dict(register())
    told["thesis/equation-2.1"] = told["thesis/equation-2.1"]._replace(kind="narrative")
    monkeypatch.setattr(registry_directives, "register", lambda: told)
    (tmp_path / "index.md").write_text(HEAD + PAGE, "utf-8")
    html, warnings, _ = books.build(tmp_path)
    assert "'thesis/equation-2.99' is not in the register" in warnings
    assert "'thesis/theorem-99' is not in the register of claims" in warnings
    assert "'thesis/theorem-6' is not in" not in warnings
    assert "'thesis/lemma-2' is registered, but no page checks it" in warnings
    assert "'thesis/equation-2.1' is checked here, but the register says told" in warnings
    assert "'thesis/equation-2.1' is registered, but" not in warnings
    parts = re.split(r'<div class="cell(?=[ "])', (html / "index.html").read_text("utf-8"))[1:]
    folded = ["How this is checked" in part for part in parts]
    assert folded == [True, False, False]  # the second is the open example


def test_the_errata_stand_in_the_order_of_the_text():
    place = list(registry_directives.register()).index
    for parts in errata.slips().values():
        assert list(parts) == [name for name in errata.PARTS if name in parts]
        for part, entries in parts.items():
            places = [place(entry.id) for entry in entries]
            if part.startswith("ch"):
                places = [[int(n) for n in entry.section.split(".")] for entry in entries]
            assert places == sorted(places)


def test_a_picture_without_words_and_a_word_to_stderr_are_warnings(monkeypatch):
    said = []
    warn = SimpleNamespace(warning=lambda text, *arguments, **where: said.append(text % arguments))
    monkeypatch.setattr(cells, "logger", warn)
    document = new_document("page")
    for kind in ("stdout", "stderr"):
        text = f"{kind}: no folder\n"
        document += nodes.literal_block(text, text, classes=["output", kind])
    document += [nodes.image(uri=f"{k}.png", alt=alt) for k, alt in enumerate(("", " ", "A line."))]
    document += nodes.image(uri="3.png")
    cells.look_through(None, document)
    pictures = [f"an image without alt text: {k}.png" for k in (0, 1, 3)]
    assert said == [*pictures, "a cell wrote to stderr: stderr: no folder"]


# Which pages run ----------------------------------------------------------------------------------


def run(folder, cell, prose=""):
    """Builds a page with one cell in `folder` with an execution cache; returns log and HTML."""
    page = f"# A page\n\n{prose}\n\n```{{code-cell}}\n{cell}\n```\n"
    (folder / "index.md").write_text(HEAD + page, "utf-8")
    return build_again(folder)


def build_again(folder):
    html, _, log = books.build(folder, nb_execution_mode="cache", exclude_patterns=["_build"])
    return log, (html / "index.html").read_text("utf-8")


def test_the_imports_of_a_page_are_folded_unless_they_are_what_it_shows(tmp_path):
    cell = "{tags}import os\n```\n\n```{{code-cell}}\nimport re"
    folded = run(tmp_path, cell.format(tags=""))[1].count("Show the imports")
    assert (
        folded,
        run(tmp_path, cell.format(tags=":tags: [show-code]\n"))[1].count("Show the"),
    ) == (1, 0)


def test_pages_have_run_when_sphinx_reads_them(tmp_path):
    log, html = run(tmp_path, "print(6 * 7)")
    assert "Using cached notebook" in log
    assert "Executed notebook" not in log
    assert ">42\n" in html


def test_pages_that_end_at_the_same_moment_are_all_stored(tmp_path, monkeypatch):
    """While the cache looks for what is old (truncate_caches) no other page comes in."""

    def slowly(keep, db):
        kept = [record.pk for record in NbCacheRecord.records_all(db)]
        time.sleep(0.05)
        return [record.pk for record in NbCacheRecord.records_all(db) if record.pk not in kept]

    def at_once(notebook, *arguments, **options):
        return ExecutionResult(notebook, None, 0.0)

    monkeypatch.setattr(NbCacheRecord, "records_to_delete", slowly)
    monkeypatch.setattr(execution, "single_nb_execution", at_once)
    app, env = twelve_pages(tmp_path)
    execution.run_side_by_side(app, env, env.book_keys)
    cache = execution.get_cache(tmp_path / "cache")
    for name, key in env.book_keys.items():
        assert execution.stored(cache, env.doc2path(name))[1].read_text("utf-8") == key


def test_a_build_that_is_interrupted_begins_no_other_page(tmp_path, monkeypatch):
    begun = []

    def soon(notebook, *arguments, **options):
        begun.append(notebook)
        time.sleep(0.1)
        return ExecutionResult(notebook, None, 0.0)

    def interrupt(line):
        if line.startswith("[1/12]"):
            raise KeyboardInterrupt

    monkeypatch.setattr(execution, "single_nb_execution", soon)
    monkeypatch.setattr(execution, "tell", interrupt)
    monkeypatch.setattr(joblib, "cpu_count", lambda: 1)
    app, env = twelve_pages(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        execution.run_side_by_side(app, env, env.book_keys)
    assert len(begun) < 12


def twelve_pages(folder):
    """The pages `page-0` to `page-11`, none of which has run."""
    paths = {f"page-{k}": folder / f"page-{k}.md" for k in range(12)}
    for name, path in paths.items():
        cell = f"```{{code-cell}} ipython3\nprint('{name}')\n```\n"
        path.write_text(f"{HEAD}# {name}\n\n{cell}", "utf-8")
    config = SimpleNamespace(nb_execution_cache_path=folder / "cache", nb_execution_timeout=9)
    env = SimpleNamespace(book_keys=keys(paths), doc2path=paths.get)
    return SimpleNamespace(config=config), env


def published(folder):
    return folder / "_build" / "jupyter_execute" / "index.ipynb"


def test_the_published_notebooks_have_their_outputs(tmp_path):
    run(tmp_path, "print(6 * 7)")
    download = tmp_path / "_build" / "html" / "_sources" / "index.ipynb"
    for path in (published(tmp_path), download):
        [cell] = [c for c in nbformat.read(path, 4).cells if c.cell_type == "code"]
        assert cell.execution_count == 1
        assert [output.text for output in cell.outputs] == ["42\n"]
    run(tmp_path, "print(6 * 7)", "Other words, the same outputs.")
    assert "Other words" in published(tmp_path).read_text("utf-8")
    assert "42" in published(tmp_path).read_text("utf-8")


@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "folder missing"])
def test_a_damaged_cache_heals(tmp_path, damage):
    run(tmp_path, "print(6 * 7)")
    [cached] = (tmp_path / "_build" / ".jupyter_cache" / "executed").glob("*/base.ipynb")
    content = cached.read_bytes()
    if damage == "missing":
        cached.unlink()
    elif damage == "folder missing":
        shutil.rmtree(cached.parent)
    else:
        cached.write_bytes(content[: len(content) // 2] if damage == "truncated" else b"")
    _, html = run(tmp_path, "print(6 * 7)", "Read again.")
    assert ">42\n" in html
    assert nbformat.read(cached, 4).cells[0].outputs[0].text == "42\n"


def test_a_page_runs_again_when_a_file_that_it_reads_has_changed(tmp_path):
    (tmp_path / "numbers.txt").write_text("41", "utf-8")
    (tmp_path / "other.md").write_text(HEAD + "# Other\n", "utf-8")
    run(tmp_path, 'print(open("numbers.txt").read())')
    log, _ = build_again(tmp_path)
    assert "0 added, 0 changed, 0 removed" in log
    (tmp_path / "numbers.txt").write_text("42", "utf-8")
    log, html = build_again(tmp_path)
    assert "0 added, 1 changed, 0 removed" in log
    assert ">42\n" in html


def test_an_output_is_not_kept_if_what_it_comes_from_was_changed_meanwhile(tmp_path):
    """Nor if the run was interrupted before the key was written."""
    count = 'text = open("n.txt").read() + "I"\nprint(open("n.txt", "w").write(text))'
    (tmp_path / "n.txt").write_text("", "utf-8")
    for times in (1, 2):
        _, html = run(tmp_path, count, f"Read {times} times.")
        assert f">{times}\n" in html


def test_the_output_of_another_key_or_of_none_is_dropped(tmp_path):
    run(tmp_path, "print(6 * 7)")
    [key] = (tmp_path / "_build" / ".jupyter_cache" / "executed").glob("*/key")
    output, honest = key.with_name("base.ipynb"), key.read_text("utf-8")
    output.write_text(output.read_text("utf-8").replace("42\\n", "43\\n"), "utf-8")
    for content, expected in [(honest, 43), ("another", 42), (None, 42)]:
        key.write_text(content, "utf-8") if content else key.unlink()
        _, html = run(tmp_path, "print(6 * 7)", f"The key is {content}.")
        assert f">{expected}\n" in html
        assert key.read_text("utf-8") == honest


def test_all_pages_are_read_again_when_the_register_or_a_statement_changes(monkeypatch):
    def digest():
        config = SimpleNamespace()
        execution.note_register(None, config)
        return config.book_register

    before = digest()
    assert digest() == before
    for name in ("register", "on_pages"):
        with monkeypatch.context() as forged:
            forged.setattr(execution, name, lambda: {})
            assert digest() != before
