"""A page waits only for packages that it needs: most modules load neither torch nor sklearn."""

import pkgutil
import subprocess
import sys

import runproofs

WITH_TORCH = {
    "_tensors",
    "adversarial.attacks",
    "linear.deep.deep_training",
    "linear.ratings",
    "linear.shallow_training",
    "networks.relu_dropout",
    *(f"experiments.{name}" for name in ("ch2", "ch3", "ch4", "ch4_least_squares")),
    *(f"experiments.{name}" for name in ("ch4_networks", "ch4_steps", "ch5")),
    *(f"experiments.{name}" for name in ("ch6", "ch6_autoattack", "ch6_cifar")),
}
NAMES = {
    module.name.removeprefix("runproofs.")
    for module in pkgutil.walk_packages(runproofs.__path__, "runproofs.")
    if not module.name.endswith("__main__")
}
LOADS = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(f"runproofs.{name}")
    if slow := {"torch", "sklearn"} & sys.modules.keys():
        sys.exit(f"runproofs.{name} loads {slow}")
"""


def test_what_loads_slowly_is_loaded_where_it_is_used():
    assert WITH_TORCH <= NAMES
    others = sorted(NAMES - WITH_TORCH)
    run = subprocess.run([sys.executable, "-c", LOADS, *others], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
