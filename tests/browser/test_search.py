"""Who looks for a statement by its number or name finds it first, where it is stated."""

import gzip
from urllib.request import urlopen

import pytest

from browser import browse

FIRST = "#search-results li a"


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("Theorem 16", "book/ch6_adversarial/training_converges.html#a3-theorem-16"),
        ("(2.14)", "book/ch2_shallow_linear/two_layer.html#tl-two-inequalities"),
        ("PGD", "book/ch1_preliminaries/robust_learning.html#rl-pgd"),
        ("equalizer", "book/ch2_shallow_linear/autoencoders.html#ae-definition-1"),
        ("Lemma 20", "book/ch2_shallow_linear/matrix_factorization.html#mf-lemma-20"),
        ("Theorem 3.A", "book/ch3_deep_linear/exact_regularizer.html#d4-theorem-a"),
        ("co-adaptation", "book/ch4_generalization/relu_networks.html#rd-coadaptation"),
        ("nuclear norm", "book/ch2_shallow_linear/two_layer.html#sec-two-layer"),
        ("theorem 1", "book/ch2_shallow_linear/autoencoders.html#ae-theorem-1"),  # the thesis' own
        ("matrix completion", "book/ch4_generalization/matrix_completion.html#sec-completion"),
        ("adversarial training", "book/ch6_adversarial/two_losses.html#a0-algorithm-6"),
        ("notation", "book/back/notation.html#sec-notation"),
        ("CIFAR", "book/ch6_adversarial/many_classes.html#sec-many-classes"),
        ("erratum", "book/back/errata.html#sec-errata"),
        ("how to run", "book/index.html#sec-run"),
        ("weight decay", "book/companions/surprises/weight_decay.html#sec-weight-decay"),
        ("batch normalization", "book/companions/homogeneous/homogeneity.html#sec-homogeneity"),
        ("beyond the thesis", "book/back/beyond.html#back-beyond"),
        ("glossary", "book/back/glossary.html"),
        ("nn.Dropout", "book/practice/your_code.html#sec-your-code"),
        ("batch norm", "book/practice/where_dropout_stands.html#sec-where-dropout-stands"),
        ("p in nn.Dropout", "book/practice/your_code.html#sec-your-code"),
        ("batchnorm", "book/practice/where_dropout_stands.html#sec-where-dropout-stands"),
        ("local minima", "book/ch2_shallow_linear/landscape.html#sec-landscape"),
        ("distribution", "book/back/notation.html#sec-notation"),
        ("adversarial examples", "book/ch1_preliminaries/robust_learning.html#sec-robust-learning"),
        ("certified robustness", "book/ch6_adversarial/worst_cases.html#sec-worst-cases"),
        (
            "generalization bound",
            "book/ch1_preliminaries/generalization_bounds.html#sec-norm-bounds",
        ),
        ("Monte Carlo", "book/ch1_preliminaries/what_a_check_proves.html#sec-what-a-check-proves"),
        ("Lemma 33", "book/companions/surprises/printed_lemmas.html#pl-lemma-33"),
        (
            "importance_scores",
            "book/back/library/linear.html#runproofs.linear.equalize.importance_scores",
        ),
    ],
)
def test_the_first_result(context, home, query, place):
    with browse.visit(context, home, f"search.html?q={query}") as (page, found):
        page.wait_for_selector(FIRST)
        assert page.locator(FIRST).first.evaluate("a => a.href") == home + place
        assert found == []


def test_a_query_loads_no_more_than_one_sees(context, home):
    """At most 1.5 MB, as a host compresses it: the pages of excerpts come as their results do."""
    with browse.visit(context, home, "search.html?q=dropout") as (page, _):
        page.wait_for_selector("#search-results li .context")
        page.wait_for_timeout(1000)
        loaded = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
        pages = {address for address in loaded if "/book/" in address}
        assert 3 < len(pages) < page.locator("#search-results li").count() / 2
        sizes = [len(gzip.compress(urlopen(address).read(), 6)) for address in {*loaded, page.url}]
        assert sum(sizes) < 1.5e6
        seen = page.locator("#search-results .context").count()
        page.locator("#search-results li").last.scroll_into_view_if_needed()
        page.wait_for_function(
            "(n) => document.querySelectorAll('#search-results .context').length > n", arg=seen
        )


def test_an_excerpt_reads_as_the_page_does(context, home):
    with browse.visit(context, home, "search.html?q=Theorem 16") as (page, _):
        excerpt = page.wait_for_selector("#search-results li .context").inner_text()
        assert excerpt.startswith("Theorem 16: adversarial training reaches")
    with browse.visit(context, home, "search.html?q=batch norm") as (page, _):
        excerpt = page.wait_for_selector("#search-results li .context").inner_text()
        assert excerpt.startswith("Where else dropout stands")


def test_the_ledger_is_asked_the_same(context, home):
    with browse.visit(context, home, "search.html?q=equalizer") as (page, _):
        page.click("a:has(+ #search-results)")
        page.wait_for_selector(".ledger-filter")
        assert page.input_value(".ledger-filter [name=words]") == "equalizer"
        shown = page.locator("div.claim:visible")
        assert 0 < shown.count() < 60
        assert page.locator("output").inner_text().startswith(f"{shown.count()} of")
