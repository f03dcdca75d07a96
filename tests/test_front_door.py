"""`import runproofs as rp`: what it names is there, and most of it without torch."""

import ast
import json
import sys
from pathlib import Path

import pytest

import runproofs as rp
from helpers.without import without

WITH_TORCH = {
    *("train_linear", "relu_dropout_penalty"),
    *("pgd", "fgsm", "all_targets", "margin", "attack_report", "dropout_report"),
}


@pytest.mark.parametrize("name", rp.NAMES)
def test_a_name_leads_to_what_the_module_has(name):
    module, _, attribute = rp.NAMES[name].rpartition(".")
    found = getattr(rp, name)
    assert found is getattr(sys.modules[f"runproofs.{module}"], attribute)
    assert callable(found)
    assert found.__doc__


def test_the_front_door_is_listed():
    assert {"pgd", "claim", "__version__"} <= set(dir(rp))


def test_a_type_checker_sees_the_same_names():
    stub = ast.parse(Path(rp.__file__).with_suffix(".pyi").read_text("utf-8"))
    (listed,) = (ast.literal_eval(line.value) for line in stub.body if isinstance(line, ast.Assign))
    assert listed == list(rp.NAMES)


def test_most_names_need_no_torch_and_the_others_say_so():
    code = """
import json, runproofs as rp
said = {}
for name in rp.NAMES:
    try:
        getattr(rp, name)
    except ModuleNotFoundError as error:
        said[name] = str(error)
print(json.dumps(said))
"""
    run = without(["torch"], code)
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert said.keys() == WITH_TORCH
    pgd = 'runproofs.adversarial.attacks needs PyTorch: pip install "runproofs[torch]"'
    assert said["pgd"] == pgd


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'optimal_factor'"):
        _ = rp.optimal_factor
