"""Do planted errors turn a test red? Random mutants, one at a time: `make mutants`.

They are of the library, and of what reads an assignment. The other modules of coursework/tools need
more than `make test` sets up.

A mutant changes one number, operator, comparison, call or slice. It is judged in a private copy of
the tree, first by the test files that import its module, then by all others; red, or far too slow,
is killed. The command fails if fewer than 95 % are killed. equivalent_mutants.txt, beside this
file, explains those that no test can kill, which are not judged: the code, -> what it becomes, and
the reason.
"""

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from tqdm import tqdm

from booktools.syntax import Sites

ROOT = Path(__file__).resolve().parents[2]
NEEDED = 0.95
GRACE = 60  # seconds that tests may take beyond five times what they take on the unchanged tree
NEED_MORE = {"browser", "optional"}  # than `make test` sets up
COURSEWORK = [f"coursework/tools/{name}.py" for name in ("course", "sources")]
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".unfinished", ".*cache", ".hypothesis", "_build", "__pycache__", "*.egg-info"
)


# Which mutants ------------------------------------------------------------------------------------


def sources(root):
    """Modules whose mutants are planted, by their path below lib, or coursework/...: their code."""
    library = root / "lib"
    paths = [str(path.relative_to(library)) for path in sorted(library.rglob("*.py"))]
    paths += [path for path in COURSEWORK if (root / path).exists()]
    return {path: place(root, path).read_bytes() for path in paths}


def place(root, path):
    """The file of a module of `sources`."""
    return root / path if path in COURSEWORK else root / "lib" / path


def sample(sites, n, rng):
    """n of the mutants: as equal a share as can be for each function, at most one for a line."""
    functions = defaultdict(dict)
    for site in rng.sample(sites, len(sites)):
        functions[site.path, site.scope].setdefault(site.line, site)
    queues = [list(functions[key].values()) for key in sorted(functions)]
    chosen = []
    while queues and len(chosen) < n:
        count, offset = min(n - len(chosen), len(queues)), rng.random()
        turns = [queues[int((i + offset) * len(queues) / count)] for i in range(count)]
        chosen += [queue.pop() for queue in turns]
        queues = [queue for queue in queues if queue]
    return chosen


def explained(root):
    """The mutants of tests/tools/equivalent_mutants.txt: path, code before and code after."""
    listed = root / "lib" / "booktools" / "equivalent_mutants.txt"
    blocks = listed.read_text("utf-8").strip().split("\n\n") if listed.exists() else []
    entries = [block.splitlines() for block in blocks if not block.startswith("#")]
    return {
        (*before.split(": ", 1), after.removeprefix("-> ")) for before, after, _reason in entries
    }


# Which tests --------------------------------------------------------------------------------------


def imported(test, library):
    """Names of the modules and packages that a test file imports from the library."""
    for node in ast.walk(ast.parse(test.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = library / node.module.replace(".", "/") / alias.name
                is_module = inner.is_dir() or inner.with_suffix(".py").exists()
                yield f"{node.module}.{alias.name}" if is_module else node.module


def names(test, path, library):
    """Whether a test file imports the module at `path`, or a package that it is in."""
    module = path.removesuffix(".py").replace("/", ".")
    found = {name for name in imported(test, library) if "." in name}
    return any(module == name or module.startswith(f"{name}.") for name in found)


# Judging ------------------------------------------------------------------------------------------


class Judge:
    """Runs tests on mutants, each in its own copy of the tree; a context manager."""

    def __init__(self, root, jobs):
        self.root, self.running, self.jobs = root, set(), jobs
        self.library = root / "lib"
        found = sorted((root / "tests").rglob("test_*.py"))
        self.tests = [test for test in found if test.parent.name not in NEED_MORE]
        self.seconds = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in list(self.running):
            with suppress(ProcessLookupError):  # it may end by itself meanwhile
                os.killpg(process.pid, signal.SIGKILL)

    @contextmanager
    def tree(self):
        """A new copy: what a mutant deletes or leaves behind is lost with it."""
        with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
            yield shutil.copytree(self.root, Path(folder, "tree"), ignore=LEFT_OUT)

    def map(self, function, values):
        """The values of the function in the order in which they come, `jobs` at a time."""
        pool = ThreadPoolExecutor(self.jobs)
        try:
            yield from pool.map(function, values)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def passes(self, tree, tests, limit=None):
        """Whether these test files are green in the tree, within `limit` seconds."""
        files = [str(test.relative_to(self.root)) for test in tests]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *files]
        environment = {
            **os.environ, "PYTHONPATH": str(tree / "lib"), "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # a .pyc is stale if a file changes within its second
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # a second less for each start
        }  # fmt: skip
        process = subprocess.Popen(
            command, cwd=tree, env=environment, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.running.add(process)
        try:
            return process.wait(limit) == 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return False
        finally:
            self.running.discard(process)

    def rehearse(self, test):
        """Run a test file on the unchanged tree, which must be green, and note its time."""
        with self.tree() as tree:
            start = time.perf_counter()
            green = self.passes(tree, [test])
            self.seconds[test] = time.perf_counter() - start
        return test, green

    def kills(self, mutant):
        """Whether a test notices; the tests of the module first, the quickest of them first."""
        tests = sorted(self.tests, key=self.seconds.get)
        near = [test for test in tests if names(test, mutant.path, self.library)]
        far = [test for test in tests if test not in near]
        with self.tree() as tree:
            file = place(tree, mutant.path)
            file.write_bytes(mutant.apply(file.read_bytes()))
            return not all(
                self.passes(tree, group, GRACE + 5 * sum(map(self.seconds.get, group)))
                for group in (near, far)
                if group
            )


def main(arguments=None, root=ROOT):
    parser = argparse.ArgumentParser("mutants.py", description=__doc__.splitlines()[0])
    parser.add_argument("n", nargs="?", type=int, default=200, help="how many (200)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--module", default="", help="only paths that start with this")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time (2)")
    parser.add_argument("--out", default="", help="a file for the survivors")
    options = parser.parse_args(arguments)
    code = sources(root)
    sites = [
        site
        for path in code
        if path.startswith(options.module)
        for site in Sites(path, code[path]).found
    ]
    known = explained(root)
    planted = sample(sites, options.n, random.Random(options.seed))
    equivalent = [m for m in planted if (m.path, *m.lines(code[m.path])) in known]
    judged = [m for m in planted if m not in equivalent]
    with Judge(root, options.jobs) as judge:
        for test, green in judge.map(judge.rehearse, judge.tests if judged else []):
            if not green:
                print(f"{test.name} is red on the unchanged tree.", file=sys.stderr)
                return 2
        verdicts = tqdm(judge.map(judge.kills, judged), total=len(judged), disable=None)
        survivors = []
        for mutant, killed in zip(judged, verdicts, strict=True):
            if not killed:
                survivors.append(mutant)
                before, after = mutant.lines(code[mutant.path])
                where = place(Path(), mutant.path)
                print(f"{where}:{mutant.line}\n   {before}\n-> {after}\n", flush=True)
    if options.out:
        lines = (": ".join((m.path, "\n-> ".join(m.lines(code[m.path])))) for m in survivors)
        Path(options.out).write_text("\n\n".join(f"{line}\n?" for line in lines), "utf-8")
    return report(equivalent, judged, survivors, len(sites))


def report(equivalent, judged, survivors, sites):
    """Print a line for each module; 1 if too many survive."""
    columns = [Counter(m.path for m in group) for group in (judged, survivors, equivalent)]
    print(f"{'':40} judged  killed  survive  equivalent")
    for path in sorted({m.path for m in judged + equivalent}):
        total, alive, known = (column[path] for column in columns)
        print(f"{path:40} {total:6} {total - alive:7} {alive:8} {known:11}")
    killed = len(judged) - len(survivors)
    rate = killed / len(judged) if judged else 1
    print(f"{killed} of {len(judged)} killed, {rate:.1%}; {sites} mutants in all")
    return int(rate < NEEDED)


if __name__ == "__main__":
    sys.exit(main())
