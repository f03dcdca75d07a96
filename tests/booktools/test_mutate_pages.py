"""Errors that a program makes: on a small page, where each is known to be seen or not."""

import json

import numpy as np
import pytest
import torch

from booktools import mutate, plant
from booktools.children import in_child
from booktools.mutate import accepted
from booktools.plant import Frozen, Heads, TorchCoins
from runproofs import linalg
from runproofs.claims.registry import BOOK, beside
from runproofs.experiments import discover

PAGE = """# A page

```{code-cell}
import numpy as np
from runproofs.claims.block import claim
from runproofs.bounds.lazy import delta_0, start_radius
from runproofs.linalg import random_orthogonal
from runproofs.masks import all_masks
radii = [start_radius(d, 1) for d in (4, 9)]
chances = [delta_0(0.5, T, 25, 2) for T in (10, 20)]
```

```{code-cell}
assert all_masks(2, keep=0.5)[1].sum() == 1
with claim("thesis/equation-2.1", evidence="computed") as check:
    check("the radius").equal(radii, [3, 4], tol=1e-12)
    check("a chance").at_most(lower=chances, upper=1, tightness=0.001, why_loose="it is small")
    check("not so").exceeds(2, 1)
```

```{code-cell}
random_orthogonal(3, np.random.default_rng(0))
```
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "page.md"


def test_what_is_seen_and_what_is_not(path, capsys):
    path.write_text(PAGE, "utf-8")
    outcomes = {name: word for _, name, word, _ in in_child(lambda: mutate.judged(path, 1000, 0))}
    of = {word: {name for name in outcomes if outcomes[name] == word} for word in outcomes.values()}
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
    # The command names those unseen, which do not count if each has a reason.
    command = [
        "pages",
        str(path),
        "--jobs",
        "1",
        "--only",
        "delta_0: times 21|start_radius: times 2",
    ]
    assert mutate.main(command) == 1
    name = "bounds.lazy.delta_0: times 21/20"
    assert f"page | scaled | {name} | thesis/equation-2.1" in capsys.readouterr().out
    path.with_suffix(".yml").write_text(json.dumps({"accepted": {name: "unseen: small."}}), "utf-8")
    assert mutate.main(command) == 0
    assert "100% seen: 3 seen, 1 accepted" in capsys.readouterr().out


def test_a_page_that_is_red_as_it_stands(path, capsys):
    path.write_text(PAGE.replace("[3, 4]", "[3, 5]"), "utf-8")
    assert mutate.main(["pages", str(path), "--jobs", "1"]) == 1
    assert "is not green as it stands" in capsys.readouterr().out


def test_a_reason_is_one_of_three(path):
    path.with_suffix(".yml").write_text("accepted: {an error: who knows}", "utf-8")
    with pytest.raises(ValueError, match="a reason begins with"):
        accepted(path)
    assert sum(bool(accepted(BOOK / f"{page}.md")) for page in beside()) > 20


def test_changes_of_the_library():
    one = discover()["figure-2-2"]
    stored = one.paper()

    def spoiled():
        plant.plant("linalg.nuclear_norm", plant.frozen("X"))  # shape by shape
        plant.plant(plant.LOAD, plant.stored("figure-2-2", "tail", lambda x: np.flip(x, 0)))
        norms = [float(linalg.nuclear_norm(X)) for X in (np.eye(2), np.eye(3), 5 * np.eye(2))]
        return norms, dict(one.paper())

    norms, found = in_child(spoiled)
    assert norms == pytest.approx([2, 3, 2])
    assert found.keys() == stored.keys()
    for key in found:
        expected = np.flipud(stored[key]) if key == "tail" else stored[key]
        np.testing.assert_array_equal(found[key], expected)
    heads, frozen = (kind(np.random.PCG64(3)) for kind in (Heads, Frozen))
    assert not heads.random((2, 3)).any()
    assert np.array_equal(frozen.random(4), frozen.random(4))
    generator = torch.Generator().manual_seed(3)
    with TorchCoins(Heads, generator.get_state()):
        assert not torch.rand(4, generator=generator).any()
    with TorchCoins(Frozen, generator.get_state()):
        assert torch.equal(*(torch.rand(4, generator=generator) for _ in range(2)))
    assert not torch.equal(*(torch.rand(4, generator=generator) for _ in range(2)))
