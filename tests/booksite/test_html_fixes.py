"""What is mended in the HTML of others is still there to be mended, and then gone."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from booksite.html_fixes import MENDS, mend
from helpers.books import build
from runproofs.book import figures

PAGE = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3}
---
# A page

It is $x$. See {cite}`one`.

```{exercise}
:label: ex
Why?
```

```{solution} ex
So.
```

```{code-cell} ipython3
:tags: [hide-input]
1 + 1
```

```{raw} html
:file: player.html
```

```{bibliography}
```
"""


@pytest.fixture(scope="module")
def body(tmp_path_factory):
    """The body of a page as the theme and the extensions wrote it."""
    folder = tmp_path_factory.mktemp("book")
    (folder / "index.md").write_text(PAGE, "utf-8")
    (folder / "all.bib").write_text("@misc{one, title={One}, author={A. Uthor}, year={2026}}\n")
    with mpl.rc_context({"backend": "agg"}):
        fig, _ = plt.subplots(figsize=(1, 1))
        player = figures.animate(fig, lambda k: None, 2, alt="Nothing.").data
    (folder / "player.html").write_text(player, "utf-8")
    seen = []

    def look(*arguments):
        seen.append(arguments[3].get("body", ""))

    build(
        folder, "sphinx_exercise", "sphinxcontrib.bibtex",
        connect=[("html-page-context", look, 599)],  # before html_fixes
        myst_enable_extensions=["dollarmath"], bibtex_bibfiles=["all.bib"],
    )  # fmt: skip
    return "".join(seen)


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in MENDS], ids=lambda p: p[:30])
def test_what_is_mended_is_found_in_what_others_write(body, pattern):
    assert re.search(pattern, body)


def test_mended_it_is_gone(body):
    mended = mend(body)
    assert '<span class="unbroken"><span class="math notranslate nohighlight">' in mended
    assert re.search(r"Solution to.* <a class=.to-exercise.*↑</a></p>", mended)
    for gone in ("Toggle hidden content", "Repetition mode", "doc-biblioentry"):
        assert gone in body
        assert not re.search(rf'(?:summary|form|div)[^>]*"{gone}"', mended)
