"""What the book adds to Sphinx: a page that breaks a rule is a warning, and a warning fails."""

import io
import re

import pytest
from myst_nb.core.execute.base import ExecutionError
from sphinx.application import Sphinx

from runproofs.book import sphinx
from runproofs.book.register import Erratum

PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3}
---
# A page

```{image} dot.png
```

```{image} dot.png
:alt: A dot.
```

{claim}`thesis/theorem-6` and {claim}`thesis/theorem-99`

```{code-cell} ipython3
with claim("thesis/equation-2.1") as check:
    pass
with claim("thesis/equation-2.99") as check:
    pass
with claim("vidal/barron") as check:
    pass
```
"""
BACK = """# Back

```{ledger}
```

Major

```{errata} major
```

Misprints

```{errata} typo
```

Wording

```{errata} wording
```
"""


def built(folder):
    """Builds a book of two pages; returns its warnings and the HTML of its back matter."""
    (folder / "index.md").write_text(PAGE + "\n```{toctree}\nback\n```\n", "utf-8")
    (folder / "back.md").write_text(BACK, "utf-8")
    (folder / "dot.png").write_bytes(b"")
    warnings = io.StringIO()
    settings = {
        "extensions": ["myst_nb", "runproofs.book.sphinx"],
        "myst_enable_extensions": ["dollarmath"],
        "nb_execution_mode": "off",
    }
    output = folder / "_build"
    Sphinx(
        folder, None, output / "html", output / "trees", "html", settings,
        status=None, warning=warnings,
    ).build()  # fmt: skip
    return warnings.getvalue(), (output / "html" / "back.html").read_text("utf-8")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    return built(tmp_path_factory.mktemp("book"))


def test_an_unknown_claim_is_a_warning_in_a_block_and_in_prose(build):
    assert "'thesis/equation-2.99' is not in the register" in build[0]
    assert "'thesis/theorem-99' is not in the register of claims" in build[0]
    assert "'thesis/theorem-6' is not in" not in build[0]


def test_a_planned_claim_that_is_checked_is_a_warning(build):
    assert "'vidal/barron' is checked here, but the register says planned" in build[0]


def test_a_claim_that_lost_its_check_is_a_warning(build):
    assert "'thesis/lemma-2' is registered, but no page checks it" in build[0]
    assert "'thesis/equation-2.1' is registered, but" not in build[0]


def test_a_picture_without_alt_text_is_a_warning(build):
    assert build[0].count("an image without alt text: dot.png") == 1


def test_the_ledger_links_to_the_check_and_states_no_planned_claim(build):
    html = build[1]
    assert 'href="index.html#check-thesis-equation-2-1">A page</a>' in html
    assert 'id="claim-thesis-theorem-6"' in html
    entry = re.search(r'<details class="claim" id="claim-vidal-barron".*?</details>', html, re.S)[0]
    assert "planned" in entry
    assert "checked on" not in entry


def test_the_errata_show_written_chapters_by_weight(build):
    majors, typos = build[1].split("<p>Misprints</p>")
    assert 'id="erratum-thesis-theorem-6"' in majors
    assert 'id="erratum-thesis-equation-2-4"' in typos
    assert 'id="erratum-thesis-contribution-2' not in build[1]  # a question, not asked for here
    assert "erratum-vidal" not in build[1]


def test_a_narrative_is_told_and_a_slip_of_wording_is_a_line(tmp_path, monkeypatch):
    slip = Erratum("certain", "wording", "an *upper* bound", "a problem", "a lower bound", "")
    claims = dict(sphinx.register())
    told = claims["thesis/lemma-2"]._replace(kind="narrative", status="told", erratum=slip)
    checked_narrative = claims["thesis/equation-2.1"]._replace(kind="narrative", status="told")
    claims |= {told.id: told, checked_narrative.id: checked_narrative}
    monkeypatch.setattr(sphinx, "register", lambda: claims)
    warnings, html = built(tmp_path)
    assert "'thesis/equation-2.1' is checked here, but the register says told" in warnings
    assert "'thesis/lemma-2' is registered, but" not in warnings
    entry = re.search(r'<details class="claim" id="claim-thesis-lemma-2".*?</details>', html, re.S)[
        0
    ]
    assert 'class="tag told"' in entry
    assert "checked on" not in entry
    assert re.search(r"<p>\d+ checked, 2 told\.</p>", html)
    line = html.split("<p>Wording</p>")[1]
    assert re.search(r"Lemma 2</a>: .*an <em>upper</em> bound → a lower bound", line)
    assert "a problem" not in line


def test_the_fingerprint_sees_the_library_the_register_and_the_results(tmp_path, monkeypatch):
    folders = [tmp_path / name for name in ("lib", "claims", "results")]
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(sphinx, "SOURCES", folders)
    seen = {sphinx.fingerprint()}
    for folder in folders:
        for content in ("one", "two"):
            (folder / "file").write_text(content, "utf-8")
            seen.add(sphinx.fingerprint())
    monkeypatch.setattr(sphinx, "version", lambda name: "0")
    seen.add(sphinx.fingerprint())
    assert len(seen) == 8


def test_outputs_are_forgotten_when_the_fingerprint_changes(tmp_path, monkeypatch):
    class Config:
        nb_execution_cache_path = tmp_path / "cache"

    class App:
        config = Config

    def output_survives(fingerprint):
        monkeypatch.setattr(sphinx, "fingerprint", lambda: fingerprint)
        sphinx.forget_stale_outputs(App, Config)
        return (Config.nb_execution_cache_path / "output").exists()

    assert not output_survives("first")
    (Config.nb_execution_cache_path / "output").touch()
    assert output_survives("first")
    assert not output_survives("second")


def run(folder, cell):
    """Builds a page with one cell in `folder` with an execution cache; returns log and HTML."""
    page = PAGE[: PAGE.index("# A page")] + f"# A page\n\n```{{code-cell}}\n{cell}\n```\n"
    (folder / "index.md").write_text(page, "utf-8")
    status = io.StringIO()
    settings = {
        "extensions": ["myst_nb", "runproofs.book.sphinx"],
        "nb_execution_mode": "cache",
        "nb_execution_raise_on_error": True,
    }
    output = folder / "_build"
    Sphinx(
        folder, None, output / "html", output / "trees", "html", settings,
        status=status, warning=io.StringIO(),
    ).build()  # fmt: skip
    return status.getvalue(), (output / "html" / "index.html").read_text("utf-8")


def test_pages_have_run_when_sphinx_reads_them(tmp_path):
    log, html = run(tmp_path, "print(6 * 7)")
    assert "Using cached notebook" in log
    assert "Executed notebook" not in log
    assert ">42\n" in html


def test_a_page_that_fails_fails_the_build(tmp_path):
    with pytest.raises(ExecutionError):
        run(tmp_path, "1 / 0")
