"""Most modules load with NumPy and SciPy alone; the others say what to install, in one sentence."""

import json
import pkgutil
import re

import pytest

import runproofs
from helpers.without import without
from runproofs._optional import EXTRAS

NAMES = {
    module.name.removeprefix("runproofs.")
    for module in pkgutil.walk_packages(runproofs.__path__, "runproofs.")
    if not module.name.endswith("__main__")
}
WITH_TORCH = {
    "_tensors",
    "adversarial.attack_report",
    "adversarial.attacks",
    "linear.deep.deep_training",
    "linear.ratings",
    "linear.shallow_training",
    "networks.dropout_report",
    "networks.relu_dropout",
    *(f"experiments.{name}" for name in ("ch2", "ch3", "ch4", "ch4_least_squares")),
    *(f"experiments.{name}" for name in ("ch4_networks", "ch4_steps", "ch5")),
    *(f"experiments.{name}" for name in ("ch6", "ch6_autoattack", "ch6_cifar", "ch6_cifar_small")),
    "experiments.ch6_published",
}
# The first of these that a module lacks.
LIGHT = dict.fromkeys((name for name in NAMES if name.partition(".")[0] == "experiments"), "joblib")
LIGHT |= {"data": "pooch", "figures": "matplotlib", "published": "pooch"}
OTHERS = ("IPython", "joblib", "matplotlib", "pooch", "sklearn", "sympy", "tqdm")
SENTENCE = r'runproofs\.[\w.]+ needs \w+: pip install "runproofs\[(torch|data)\]"'
LACKING = """
import importlib, json
lacking = {}
for name in names:
    try:
        importlib.import_module(f"runproofs.{name}")
    except ModuleNotFoundError as error:
        lacking[name] = error.name, str(error)
print(json.dumps(lacking))
"""


@pytest.mark.parametrize(
    ("hidden", "lacking"),
    [(["torch"], dict.fromkeys(WITH_TORCH, "torch")), (OTHERS, LIGHT)],
    ids=["torch", "others"],
)
def test_a_module_loads_what_it_needs_and_says_what_is_missing(hidden, lacking):
    run = without(hidden, f"names = {sorted(NAMES)}{LACKING}")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert {name: package for name, (package, _) in found.items()} == lacking
    sentences = {sentence for package, sentence in found.values() if package in EXTRAS}
    assert all(re.fullmatch(SENTENCE, sentence) for sentence in sentences)
    assert len(sentences) > 1


def test_others_may_do_without_what_the_library_needs():
    """Finding out that a package is missing is theirs, and raises nothing new."""
    code = "import importlib.util, runproofs; assert importlib.util.find_spec('torch') is None\n"
    run = without(["torch"], code + "import torch")
    assert run.stderr.endswith("ModuleNotFoundError: No module named 'torch'\n")
