"""Let pytest judge mutants of the library and of the two modules that read an assignment.

The other modules of the course need more than `make test` sets up. A mutant is tested in a private
copy of the tree, first by the test files that name its module, then by all others. It is killed if
a test fails or takes far too long. equivalent_mutants.txt explains the mutants that no test can
kill; they are left out. A survivor is printed in the form of an entry of that file.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

from . import ROOT
from .children import in_children
from .syntax import mutants

NEEDED = 0.95
GRACE = 60  # seconds that tests may take beyond five times what they take on the unchanged tree
FOLDERS = ("lib/runproofs", "lib/booksite")
NEED_MORE = {"browser", "optional"}  # than `make test` sets up
COURSEWORK = [
    f"coursework/{name}.py"
    for name in ("grader/armslength/otter_source", "tools/course", "tools/sources")
]
EQUIVALENT = "lib/booktools/equivalent_mutants.txt"
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".unfinished", ".*cache", ".hypothesis", "_build", "__pycache__", "*.egg-info"
)


def sources(root):
    """The code of the modules to mutate, by path."""
    found = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.py"))]
    found += [root / path for path in COURSEWORK if (root / path).exists()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def sample(found, n, rng, group=lambda mutant: (mutant.path, mutant.scope)):
    """A random sample of n, with shares of the groups as equal as possible."""
    counts, turns = Counter(), []
    for one in rng.sample(found, len(found)):
        counts[group(one)] += 1
        turns.append((counts[group(one)], one))
    return [one for _, one in sorted(turns, key=lambda turn: turn[0])[:n]]


def explained(root):
    """The mutants in equivalent_mutants.txt: path, code before and code after."""
    listed = root / EQUIVALENT
    blocks = listed.read_text("utf-8").strip().split("\n\n") if listed.exists() else []
    entries = [block.splitlines() for block in blocks if not block.startswith("#")]
    return {
        (*before.split(": ", 1), after.removeprefix("-> ")) for before, after, _reason in entries
    }


def near(tests, path):
    """The test files that name the module at `path`, or of a package's first module the package."""
    name = Path(path.removesuffix("/__init__.py")).stem
    return [test for test in tests if re.search(rf"\b{name}\b", test.read_text("utf-8"))]


def green(root, folder, tests, limit=None, mutant=None):
    """Whether test files are green in a new copy of the tree, with the mutant, within `limit` s.

    What a mutant deletes or leaves behind is lost with the copy.
    """
    with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
        tree = shutil.copytree(root, Path(own, "tree"), ignore=LEFT_OUT)
        if mutant:
            file = tree / mutant.path
            file.write_bytes(mutant.apply(file.read_bytes()))
        files = [str(test.relative_to(root)) for test in tests]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]
        environment = {
            **os.environ, "PYTHONPATH": str(tree / "lib"), "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # a .pyc is stale if a file changes within its second
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # a second less for each start
        }  # fmt: skip
        with suppress(subprocess.TimeoutExpired):
            ran = subprocess.run(
                command, cwd=tree, env=environment, timeout=limit, capture_output=True
            )
            return ran.returncode == 0
        return False


def main(arguments, root=ROOT):
    """Test n mutants of the library; 1 if too few are killed, 2 if tests fail without a mutant."""
    parser = argparse.ArgumentParser("python -m booktools mutate library", description=main.__doc__)
    parser.add_argument("-n", type=int, default=200, help="how many (200)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--module", default="", help="only paths that start with this")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (2)")
    options = parser.parse_args(arguments)
    code, known = sources(root), explained(root)
    paths = [path for path in code if path.startswith(options.module)]
    sites = [site for path in paths for site in mutants(path, code[path])]
    planted = sample(sites, options.n, random.Random(options.seed))
    lines = {m: m.lines(code[m.path]) for m in planted}
    judged = [m for m in planted if (m.path, *lines[m]) not in known]
    found = sorted((root / "tests").rglob("test_*.py"))
    tests = [(test,) for test in found if judged and test.parent.name not in NEED_MORE]
    took, survivors = {}, []
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:

        def unchanged(test):
            return green(root, folder, [test])

        def killed(mutant):
            order = sorted(took, key=took.get)  # the quickest first
            first = near(order, mutant.path)
            return not all(
                green(root, folder, group, GRACE + 5 * sum(map(took.get, group)), mutant)
                for group in (first, [test for test in order if test not in first])
                if group
            )

        for (test,), passed, seconds in in_children(unchanged, tests, options.jobs):
            took[test] = seconds
            if not passed:
                print(f"{test.name} is red on the unchanged tree.", file=sys.stderr)
                return 2
        for (m,), dead, _ in in_children(killed, [(m,) for m in judged], options.jobs):
            if not dead:
                survivors.append(m)
                before, after = lines[m]
                print(f"{m.path}: {before}\n-> {after}\n(line {m.line})\n", flush=True)
    count = len(judged) - len(survivors)
    rate = count / len(judged) if judged else 1
    print(
        f"{count} of {len(judged)} killed, {rate:.1%}; {len(planted) - len(judged)} equivalent; "
        f"{len(sites)} mutants in all"
    )
    return int(rate < NEEDED)
