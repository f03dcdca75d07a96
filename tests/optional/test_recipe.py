"""The recipe "Add a claim" of CONTRIBUTING, followed in a copy of the tree with a small theorem.

Every command that the recipe names is run as it stands there, in the environment of this run; of
`make book` and `make test`, which run all pages, only the parts that a new claim can fail. Then
each step is left out once, and the command that its sentence names must notice.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None or not hasattr(os, "fork"),
    reason="make and fork are needed",
)

ROOT = Path(__file__).resolve().parents[2]
RECIPE = re.search(
    r"^## Add a claim$(.*?)^## ", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.M | re.S
)[1]
CLAIM = "beyond/smallest-goes-first"
PAGE = "book/ch2_shallow_linear/width.md"
BESIDE = "book/ch2_shallow_linear/width.yml"
BEYOND = "book/back/beyond.md"

ENTRY = r"""
  beyond/smallest-goes-first:
    number: "Remark 2.{letter} (beyond the thesis)"
    section: "2.4.1"
    kind: remark
    title: The smallest singular value goes first
"""
STATEMENT = r"""
## Who leaves first

:::{{prf:remark}} Remark 2.{letter} (beyond the thesis): the smallest goes first
:label: wd-remark-order
:claim: beyond/smallest-goes-first
:nonumber:
If $\sigma_1>\dots>\sigma_r>0$, then $c_2>c_3>\dots>c_r$. So with growing $\lambda$ the singular
values leave one by one, the smallest first.
:::

:::{{prf:proof}}
From $j$ to $j+1$ the numerator of {{eq}}`wd-critical` falls, and the denominator grows: each of
its terms does, since $\sigma_{{j+1}}<\sigma_j$, and there is one more. $\square$
:::

```{{code-cell}} ipython3
ladders = [np.cumsum(rng.uniform(0.1, 1, size=6))[::-1] for _ in range(30)]
leaving = np.array([critical_rates(ladder, 6) for ladder in ladders])
remaining = [
    [np.count_nonzero(by_nnls(ladder, 6, rate) > 1e-9) for rate in between]
    for ladder, between in zip(
        ladders, np.sqrt(leaving[:, 1:] * leaving[:, :-1]), strict=True
    )
]

with claim("beyond/smallest-goes-first", tol=1e-9) as check:
    check("30 spectra: $c_{{j+1}}<c_j$").below(leaving[:, 1:], leaving[:, :-1], by=1e-3)
    check("between $c_{{j+1}}$ and $c_j$ least squares keeps $j$").equal(
        remaining, [[2, 3, 4, 5]] * 30, tol=0
    )
    check("a network of twice the width has the same rates").differs(
        [critical_rates(ladder, 12) for ladder in ladders], leaving, by=0.1
    )
```
"""
SABOTAGE = """  beyond/smallest-goes-first:
  - break: begin with the smallest singular value
    in: page
    replace: sigma = np.sort(sigma)[::-1][:r]
    by: sigma = np.sort(sigma)[:r]
"""
SENTENCE = r"""
**{claim}`beyond/smallest-goes-first`: the smallest goes first**
: As dropout grows, distinct singular values leave one by one, the smallest first.<br>
  <small>{ref}`sec:width`. *Adds an order to Remark 3. Elementary.*</small>
"""


# The steps --------------------------------------------------------------------------------------


def insert(path: Path, text: str, before: str = ""):
    """Put the text before a line, which stands in the file once, or at its end."""
    old = path.read_text("utf-8")
    head, place, tail = old.partition(f"\n{before}\n") if before else (old, "", "")
    assert bool(place) == bool(before), f"{path} has no line {before!r}"
    path.write_text(head + text + place + tail, "utf-8")


def next_letter(tree: Path) -> str:
    entries = "".join(path.read_text("utf-8") for path in tree.glob("book/ch2*/*.yml"))
    return chr(max(map(ord, re.findall(r"^    number: .*\b2\.([A-Z])\b", entries, re.M))) + 1)


def register_it(tree):
    insert(tree / BESIDE, ENTRY.format(letter=next_letter(ROOT)), before="breaks:")


def state_it(tree):
    insert(tree / PAGE, STATEMENT.format(letter=next_letter(ROOT)), before="## Exercises")


def break_it(tree):
    text = (tree / BESIDE).read_text("utf-8")
    (tree / BESIDE).write_text(text.replace("breaks:\n", f"breaks:\n{SABOTAGE}"), "utf-8")


def tell_it(tree):
    insert(tree / BEYOND, SENTENCE, before="## Chapter 3: deep linear networks")


def commands() -> list[str]:
    """What the recipe tells to type, in its order, for this claim and page."""
    said = re.findall(r"`make ([^`]+)`", RECIPE)
    return [
        command.replace("book/<chapter>/<page>.md", PAGE).replace("<id>", CLAIM)
        for command in said
        if command != "test-recipe"
    ]


# Each step with the command that notices that it was left out, and what that says.
STEPS = {
    state_it: (f"sabotage CLAIM={CLAIM}", "is not checked on that page"),
    register_it: (f"page PAGE={PAGE}", CLAIM),
    break_it: (f"sabotage CLAIM={CLAIM}", "There is no break to run"),
    tell_it: (f"page PAGE={BEYOND}", f"not listed here: ['{CLAIM}']"),
}
BIN = Path(sys.executable).parent
TESTS = ("house/test_readme.py", "book/test_register.py", "booktools/test_breaks.py")
TESTS += ("booksite/test_page_head.py",)


def make(*arguments: str) -> list[str]:
    """The command, with the environment of this run in the place of the copy's own."""
    return ["make", "--no-print-directory", "-o", ".venv/.done", f"BIN={BIN}", *arguments]


def part_of(command: str) -> list[str]:
    """The command; of `make test` the tests that read the register or the pages."""
    if command != "test":
        return make(*command.split())
    return [f"{BIN}/pytest", "-qx", *(f"tests/{name}" for name in TESTS)]


def run(tree: Path, *command: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(tree / "lib")}
    return subprocess.run(
        command, cwd=tree, env=environment, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def green(tree: Path, *command: str) -> str:
    done = run(tree, *command)
    assert done.returncode == 0, done.stdout
    return done.stdout


def followed(tree: Path, without=None) -> Path:
    """A copy of the tree in which the steps were done, all of them or all but one."""
    generated = shutil.ignore_patterns(".*", "_build", "build", "__pycache__")
    shutil.copytree(ROOT, tree, ignore=generated)
    for step in STEPS:
        if step is not without:
            step(tree)
    return tree


# The tests --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return followed(tmp_path_factory.mktemp("recipe") / "tree")


def test_the_steps_are_those_of_the_recipe():
    # The last one is to run all.
    assert len(re.findall(r"^\d\. ", RECIPE, re.M)) == len(STEPS) + 1
    assert {command for command, _ in STEPS.values()} <= set(commands())


@pytest.mark.parametrize("command", [c for c in commands() if c != "book"])
def test_whoever_follows_the_recipe_ends_green(tree, command):
    green(tree, *part_of(command))


def test_the_pages_are_built_without_a_warning(tree):
    """All are read and four written; nothing is run, so that numbers and pictures are missing."""
    green(tree, f"{BIN}/jupyter-book", "config", "sphinx", ".")
    output = green(
        tree, f"{BIN}/python", "-m", "sphinx", "-q", "-b", "html", "-D", "nb_execution_mode=off",
        ".", "_build/html", PAGE, BEYOND, "book/back/ledger.md", "book/back/ledger/ch2.md",
    )  # fmt: skip
    not_run = (
        r"\[mystnb\.glue\]$|undefined label: '(\w+-)?fig-[\w-]+'$|parallel|serial read|search index"
    )
    warnings = [line for line in output.splitlines() if "WARNING" in line or "ERROR" in line]
    assert [line for line in warnings if not re.search(not_run, line)] == []
    html = (tree / "_build/html" / PAGE).with_suffix(".html").read_text("utf-8")
    assert f"#claim-{CLAIM.replace('/', '-')}" in html


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_a_step_that_is_left_out_is_noticed(step, tmp_path):
    command, message = STEPS[step]
    done = run(followed(tmp_path / "tree", without=step), *part_of(command))
    assert done.returncode != 0
    assert message in done.stdout
