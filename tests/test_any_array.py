"""Every public function of the theory gives the same result for the same numbers, whoever made the
array: of another layout, byte order or type, read-only, from pandas, or a list.

The calls are the first that the examples of the docstrings make, else the first of a test, which
runs until it has made them.
"""

import copy
import doctest
import functools
import importlib.util
import inspect
import itertools
import pkgutil
import re
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import torch

import runproofs
from booktools.lint import THEORY
from runproofs.adversarial import attacks, margin_attacks, robust_training
from runproofs.linear.landscape import descent
from runproofs.networks import lazy, trace_theorem_14, two_layer

try:
    import pandas
except ModuleNotFoundError:
    pandas = None

HERE = Path(__file__).parent
CALLS = 3  # of each function, at most: the first examples of hypothesis are often zero
UNCHECKED = re.compile("(?i)nothing is checked|without the checks")  # as a docstring says
NET, X, Y = two_layer.TwoLayerNetwork(np.eye(2), [1, -3], 0.5), [[1, 2], [0, 1]], [1, -1]
TRAINING = {"rounds": 3, "step_size": 0.1, "attack": margin_attacks.clean, "sample": 0}
EXTRA = [  # what neither an example nor a test calls by its name
    lambda: attacks.bim(abs, torch.full((2, 3), 0.5), [0, 2], eps=0.1, step_size=0.1, steps=2),
    lambda: descent.find_critical_point(np.eye(2), X, [[2, 1], [0, 1]], 0.5),
    lambda: trace_theorem_14.trace([*itertools.islice(RUN, 5)], 3, X, 5, step_size=0.5),
    lambda: robust_training.adversarial_training(NET, X, Y, 0.1, **TRAINING),
    lambda: robust_training.mistake_driven_training(NET, X, Y, 0.1, **TRAINING),
    lambda: robust_training.attack_of_half_threshold(0.9),
    lambda: robust_training.attack_of_theorem_16(0.1),
]
RUN = lazy.algorithm_4(NET, X, Y, keep=0.5, step_size=0.5, rng=1)


def public():
    """The public functions of the theory, and how instances are called, by their code."""
    for found in pkgutil.walk_packages(runproofs.__path__, "runproofs."):
        if found.name.split(".")[1] in THEORY and "._" not in found.name:
            module = importlib.import_module(found.name)
            own = [x for name, x in vars(module).items()
                   if name[0] != "_" and getattr(x, "__module__", "") == found.name]  # fmt: skip
            for f in own + [f for x in own if inspect.isclass(x) for f in vars(x).values()]:
                named = inspect.isfunction(f) and f.__module__ == found.name
                if named and (f.__name__[0] != "_" or f.__name__ in ("__call__", "__getitem__")):
                    yield inspect.unwrap(f).__code__, f


class Called(BaseException):
    """Ends a test, which catches no such error."""


def record():
    """A call of each public function, its arguments by position and by name, or None."""
    known, wanted, enough = dict(public()), None, CALLS
    calls = {code: [] for code in known}

    def watch(frame, event, _):
        code = frame.f_code
        if event != "call" or code not in known or len(calls[code]) == CALLS:
            return
        found, n = inspect.getargvalues(frame), code.co_argcount
        given = [found.locals[name] for name in found.args]
        named = dict(zip(found.args[n:], given[n:], strict=True))
        named |= found.locals[found.keywords] if found.keywords else {}
        rest = found.locals[found.varargs] if found.varargs else ()
        calls[code].append(None)  # while copies are made
        calls[code][-1] = copied([[*given[:n], *rest], named])
        if code is wanted and len(calls[code]) == enough:
            raise Called

    def run(f, *args, **options):
        sys.setprofile(watch)
        try:
            f(*args, **options)
        except (Called, Exception):  # of a test that asks for what pytest would bring
            pass
        finally:
            sys.setprofile(None)

    for module in dict.fromkeys(map(inspect.getmodule, known.values())):
        for example in doctest.DocTestFinder().find(module):
            run(doctest.DocTestRunner(verbose=False).run, example, out=len, clear_globs=False)
    for call in EXTRA:
        run(call)
    paths = [path for part in THEORY for path in HERE.glob(f"{part}/**/test_*.py")]
    paths += HERE.glob("test_[lm]*.py")
    tests = [test for path in sorted(paths) for test in cases(path)]
    for wanted, f in known.items():
        call, own = best(f, calls[wanted]), f"test_{f.__module__.rpartition('.')[2]}"
        near = [test for test in tests if f"{f.__name__}(" in test[1]]
        for _, _, test in sorted(near, key=lambda test: (test[0] != own, len(test[1]))):
            if call is None:
                calls[wanted].clear()
                enough = CALLS if hasattr(test.func, "hypothesis") else 1
                run(test)
                call = best(f, calls[wanted])
        yield f, call


def best(f, calls):
    """The last call that f takes and ends soon, else the shortest, None if there is none."""
    taken = []
    for call in calls:
        start = time.perf_counter()
        with suppress(Exception):
            result(f, call, np.asarray, [False] * sum(map(len, call)))
            taken.insert(0, (max(time.perf_counter() - start, 0.1), call))
    return min(taken, key=lambda pair: pair[0])[1] if taken else None


def cases(path):
    """The tests of a file, with the last of their parameters: (file, text, test)."""
    spec = importlib.util.spec_from_file_location(f"{path.stem}_again", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, test in vars(module).items():
        if name.startswith("test_") and hasattr(test, "__code__"):
            given = {}
            for mark in getattr(test, "pytestmark", []):
                names = mark.args[0].split(", ") if isinstance(mark.args[0], str) else mark.args[0]
                last = list(mark.args[1])[-1] if mark.name == "parametrize" else None
                given |= dict(zip(names, last if len(names) > 1 else [last], strict=False))
            yield path.stem, inspect.getsource(test), functools.partial(test, **given)


def copied(call):
    return copy.deepcopy(call, {id(module): module for module in (np, torch)})


# Again -------------------------------------------------------------------------------------------


def foreign(a):
    a = np.flip(np.flip(a).astype(a.dtype.newbyteorder(">")))
    a.setflags(write=False)
    return a


def small(a):
    """8 bits, with a sign where there is one; a itself where they do not suffice."""
    whole = a.dtype.kind in "iuf" and (a == np.round(a)).all() and (abs(a) < 128).all()
    return a.astype("i1" if (a < 0).any() else "u1") if whole else a


def framed(a):
    return {1: pandas.Series, 2: pandas.DataFrame}.get(a.ndim, np.asarray)(a)


def single(a, then="f4"):
    return a.astype("f4").astype(then) if a.dtype == float else a


FORMS = {
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, -1)[..., ::2],
    "reversed, big-endian and read-only": foreign,
    "without a masked entry": np.ma.array,
    "a list": lambda a: a.tolist(),
    "small integers": small,
    "float32": single,
} | ({"of pandas": framed} if pandas else {})


def made(x, form, whole):
    """x with its arrays in this form; lists of numbers are arrays, too, unless not whole."""
    if isinstance(x, np.ndarray):
        return form(x) if x.ndim and x.dtype.kind in "biuf" else x
    if is_dataclass(x):
        return replace(x, **{f.name: made(getattr(x, f.name), form, whole) for f in fields(x)})
    if type(x).__name__ == "Ratings":
        return type(x)(*(made(column, form, True) for column in x))
    if type(x) not in (list, tuple):
        return x
    with suppress(ValueError):  # ragged
        if whole and (a := np.asarray(x)).dtype.kind in "iuf" and a.size:
            return form(a)
    return type(x)(made(part, form, True) for part in x)


def leaves(x):
    """The numbers in a result, as arrays."""
    if isinstance(x, torch.Tensor):
        return [x.detach().double().numpy()]
    if isinstance(x, np.ndarray | np.generic | int | float | Fraction):
        return [np.asarray(x).astype(float)]
    x = vars(x) if is_dataclass(x) else x
    x = x.values() if isinstance(x, dict) else x
    x = itertools.islice(x, 3) if hasattr(x, "__next__") else x  # Algorithm 4 has no end
    return [leaf for part in x for leaf in leaves(part)] if np.iterable(x) and x != str(x) else []


def result(f, call, form, whole):
    given, named = copied(call)
    kinds = iter(whole)
    given = [made(x, form, next(kinds)) for x in given]
    named = {name: made(x, form, next(kinds)) for name, x in named.items()}
    return leaves(f(*given, **named))


def differences(f, call):
    """What differs in the result if the arrays in the call have one of the FORMS."""
    plain = [type(x) not in (list, tuple) for x in (*call[0], *call[1].values())]
    whole = list(plain)  # also the lists that f takes as arrays
    for k in np.flatnonzero(~np.array(whole, bool)):
        with suppress(Exception):
            result(f, call, np.asarray, [j == k for j in range(len(whole))])
            whole[k] = True
    expected = result(f, call, np.asarray, whole)
    for name, form in FORMS.items():
        wanted, tol = expected, 1e-9
        if form is single:  # to its own accuracy, and if f takes the rounded numbers
            wanted, tol = None, 1e-4
            with suppress(ValueError):
                wanted = result(f, call, functools.partial(single, then=float), whole)
        try:
            for one, two in zip(result(f, call, form, whole), wanted, strict=True):
                scale = abs(two[np.isfinite(two)]).max(initial=1e-4)
                np.testing.assert_allclose(one, two, rtol=tol, atol=tol * scale)
        except Exception as error:
            if wanted is not None:
                yield f"{f.__module__}.{f.__qualname__}, {name}: {type(error).__name__} {error}"


def test_the_same_numbers_give_the_same_result(record_property):
    found, uncalled, count = [], [], 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", ".*not writable")  # of torch
        for f, call in record():
            if call is None:
                uncalled.append(f.__qualname__)
            elif not UNCHECKED.search(f.__doc__ or ""):
                count += 1
                found += differences(f, call)
    record_property("functions", count)
    assert not found, "\n".join(found)
    assert not uncalled


def test_every_argument_and_result_has_a_type():
    without = [
        f"{f.__module__}.{f.__qualname__}: {name}"
        for _, f in public()
        if f.__name__[0] != "_"
        for name, part in [*inspect.signature(f).parameters.items(), ("result", None)]
        if name != "self"
        and name != "cls"
        and (part.annotation if part else inspect.signature(f).return_annotation) is inspect._empty
    ]
    assert without == []
