"""A whole setting of every stored run, drawn anew each day, is what today's code makes of it.

`make test-settings SEED=...`: the seed draws the settings, today's date by default. LIMIT: a run
whose settings took more seconds on average, when it was stored, is left out.
"""

import os
import random
import time

import numpy as np
import pytest

from helpers.stored import agree, demand_data, known
from runproofs.reproductions.__main__ import ELSEWHERE

SEED = os.environ.get("SEED") or time.strftime("%Y-%m-%d")
LIMIT = float(os.environ.get("LIMIT") or 1000)
# Trained in float32, or by large steps: other kernels end elsewhere, and the same ones do not.
CHAOTIC = {"table-6-2-digits": 0.01} | dict.fromkeys(
    (
        "figure-4-2",
        "figure-4-2-sgd",
        "figure-5-2",
        "figure-5-2-digits",
        "figure-5-3",
        "figure-5-3-digits",
        "figure-5-3-wide",
        "slides-equalization",
    ),
    0.05,
)


def seconds(name):
    """What a setting took on average."""
    one = known[name]
    count = np.prod([len(one.scales["paper"][axis]) for axis in one.over])
    return one.paper().provenance["seconds"] / count


STORED = [name for name, one in known.items() if not one.not_run and name not in ELSEWHERE]
CHOSEN = [name for name in STORED if seconds(name) <= LIMIT]


def drawn(name):
    """A setting of the run, the same for the same seed."""
    rng, one = random.Random(f"{SEED} {name}"), known[name]
    return {axis: rng.choice(list(one.scales["paper"][axis])) for axis in one.over}


@pytest.mark.parametrize("name", CHOSEN)
def test_a_setting_comes_out_again(name):
    demand_data(name)
    setting = drawn(name)
    print(f"SEED={SEED}: {name} {setting}")
    agree(name, setting, known[name].paper(), chaotic=CHAOTIC.get(name, 0))


@pytest.mark.parametrize("name", ["slides-equalization", "figure-5-3-digits"])
def test_a_forged_array_of_a_chaotic_run_is_found_out(name):
    setting = drawn(name)
    for key in ("variation", "objective") if name.startswith("slides") else ("fixed", "half"):
        stored = dict(known[name].paper())
        stored[key] = 1.1 * stored[key]
        with pytest.raises(AssertionError, match=f"{name} {key}"):
            agree(name, setting, stored, chaotic=0.05)


def test_a_forged_number_is_found_out():
    """Also one that no prefix reaches, the final one."""
    stored = known["slides-variable-size"].paper()
    setting = {"rule": "fixed", "r": 10, "seed": 2}
    agree("slides-variable-size", setting, stored)
    stored["found"][1, 0, 2] *= 1.1
    with pytest.raises(AssertionError, match="slides-variable-size found"):
        agree("slides-variable-size", setting, stored)
