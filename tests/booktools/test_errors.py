"""Errors that a program makes: on a small page, where each is known to be seen or not."""

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import torch

from booktools.errors import NEEDED, explanations, in_fork, main
from booktools.planting import Frozen, Heads, TorchCoins, at, functions, plant, power, times
from runproofs import linalg, masks
from runproofs.book.register import beside
from runproofs.reproductions import discover

PAGE = """# A page

```{code-cell}
import numpy as np
from runproofs.book.claims import claim
from runproofs.bounds.lazy import delta_0, start_radius
from runproofs.linalg import random_orthogonal
from runproofs.masks import all_masks
radii = [start_radius(d, 1) for d in (4, 9)]
chances = [delta_0(0.5, T, 25, 2) for T in (10, 20)]
```

```{code-cell}
assert all_masks(2, 0.5)[1].sum() == 1
with claim("thesis/equation-2.1") as check:
    check("the radius").equal(radii, [3, 4], tol=1e-12)
    check("a chance").at_most(chances, 1, reaching=0.001, far="it is small")
    check("not so").exceeds(2, 1)
```

```{code-cell}
random_orthogonal(3, np.random.default_rng(0))
```
"""


@pytest.fixture
def judged(tmp_path):
    """What the command says of a page: (what it ends with, outcomes by name, what it prints)."""

    def command(capsys, page=PAGE, *options):
        file, out = tmp_path / "page.md", tmp_path / "out.jsonl"
        file.write_text(page, "utf-8")
        out.unlink(missing_ok=True)
        ended = main([str(file), "-n", "1000", "--jobs", "1", "--out", str(out), *options])
        lines = map(json.loads, out.read_text("utf-8").splitlines() if out.exists() else [])
        return ended, {name: outcome for _, name, _, outcome, _ in lines}, capsys.readouterr().out

    return command


def test_what_is_seen_and_what_is_not(judged, capsys, tmp_path):
    ended, outcomes, printed = judged(capsys)
    of = {kind: {name for name in outcomes if outcomes[name] == kind} for kind in outcomes.values()}
    radius = "bounds.lazy.start_radius: "
    assert {
        f"{radius}times 21/20", f"{radius}times 1/10", f"{radius}d frozen",
        f"{radius}d to the power 1.4", f"{radius}d and m exchanged",
         "thesis/equation-2.1, row 1: first",
    } <= of["seen"]  # fmt: skip
    assert any(name.startswith(f"{radius}return np.sqrt(d)") for name in of["seen"])
    assert f"{radius}m to the power 0.7" in of["nothing"]  # where it is 1
    unseen = {f"bounds.lazy.delta_0: {what}" for what in ("times 21/20", "T frozen")}
    assert unseen <= of["unseen"]
    assert outcomes["masks.all_masks: [1] times 21/20"] == "loud"
    assert not any("random_orthogonal" in name for name in outcomes)  # it comes after the card
    assert ended == (len(of["seen"]) < NEEDED * len(of["seen"] | of["unseen"]))
    assert all(f"| {name} | thesis/equation-2.1" in printed for name in of["unseen"])
    # With a reason for each none of them counts.
    reasons = {"accepted": dict.fromkeys(of["unseen"], "unseen: it is small.")}
    (tmp_path / "page.yml").write_text(json.dumps(reasons), "utf-8")
    ended, again, printed = judged(capsys)
    assert ended == 0
    assert "100% seen" in printed
    assert {name for name in again if again[name] == "explained"} == of["unseen"]


def test_rows_that_no_error_turns_red_are_listed(judged, capsys):
    row = "row {} of thesis/equation-2.1: no error turns it red"
    *_, printed = judged(capsys, PAGE, "--rows", "--only", "start_radius: times|delta_0: times 21")
    assert row.format(1) not in printed
    assert row.format(2) in printed


def test_too_few_are_seen(judged, capsys):
    weak = PAGE.replace('check("the radius")', "# ").replace(", 1) for d in", ", 3) for d in")
    ended, outcomes, _ = judged(capsys, weak)
    assert ended == 1
    assert Counter(outcomes.values())["unseen"] > 3


def test_a_page_that_is_red_as_it_stands(judged, capsys):
    ended, outcomes, printed = judged(capsys, PAGE.replace("[3, 4]", "[3, 5]"))
    assert (ended, outcomes) == (1, {})
    assert "is not green as it stands" in printed


def test_a_reason_is_one_of_three(tmp_path):
    (tmp_path / "page.yml").write_text("accepted: {an error: who knows}", "utf-8")
    with pytest.raises(ValueError, match="a reason begins with"):
        explanations(str(tmp_path / "page"))
    assert sum(map(bool, map(explanations, beside()))) > 20


def test_values():
    assert [power(9, 0.7), power(1, 1.4), power(0.25, 0.5)] == [5, 1, 0.5]
    assert times(Fraction(1, 2), Fraction(21, 20)) == Fraction(21, 40)
    assert at((1, {"a": 2.0}), (1, "a"), lambda x: 3) == (1, {"a": 3})
    assert functions()[masks.all_masks.__code__].name == "masks.all_masks"


def test_an_argument_is_frozen_shape_by_shape():
    def spoiled():
        plant("frozen", "linalg.nuclear_norm", "X")
        return [linalg.nuclear_norm(X) for X in (np.eye(2), np.eye(3), 5 * np.eye(2))]

    assert in_fork(spoiled, 60) == pytest.approx([2, 3, 2])


def test_coins():
    heads, frozen = (kind(np.random.PCG64(3)) for kind in (Heads, Frozen))
    assert not heads.random((2, 3)).any()
    assert heads.binomial(5, 0.1) == 5
    first = frozen.random(4)
    assert np.ptp(first) > 0
    assert np.array_equal(frozen.random(4), first)
    assert not np.array_equal(frozen.random(5)[:4], first)


def test_coins_of_torch():
    generator = torch.Generator().manual_seed(3)
    state = generator.get_state()
    with TorchCoins("Heads", state):
        assert not torch.rand(4, generator=generator).any()
        assert torch.rand(4).any()
    with TorchCoins("Frozen", state):
        first = torch.rand(4, generator=generator)
        assert first.std() > 0
        assert torch.equal(torch.rand(4, generator=generator), first)
    assert not torch.equal(torch.rand(4, generator=generator), first)


@pytest.mark.parametrize(
    ("change", "value", "expected"), [("times", 0.0, np.zeros_like), ("flip", 0, np.flipud)]
)
def test_a_stored_array(change, value, expected):
    one = discover()["figure-2-2"]
    stored = one.paper()

    def spoiled():
        plant("stored", "figure-2-2", "tail", change, value)
        return one.paper()

    found = in_fork(spoiled, 60)
    np.testing.assert_array_equal(found.pop("tail"), expected(stored["tail"]))
    assert all(np.array_equal(found[key], stored[key]) for key in found)
    assert found.keys() | {"tail"} == stored.keys()
