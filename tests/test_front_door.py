"""`import runproofs as rp`: what it names is there, and loads no torch before it is used."""

import subprocess
import sys

import pytest

import runproofs as rp


@pytest.mark.parametrize("name", rp.NAMES)
def test_a_name_leads_to_what_the_module_has(name):
    module, _, attribute = rp.NAMES[name].rpartition(".")
    found = getattr(rp, name)
    assert found is getattr(sys.modules[f"runproofs.{module}"], attribute)
    assert callable(found)
    assert found.__doc__


def test_the_front_door_is_listed_and_light():
    code = "import sys, runproofs as rp; rp.optimal_factors; assert 'torch' not in sys.modules; "
    code += "assert {'pgd', 'claim'} <= set(dir(rp)); print(rp.__version__)"
    said = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True)
    assert said.stdout.strip() == rp.__version__


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'optimal_factor'"):
        _ = rp.optimal_factor
