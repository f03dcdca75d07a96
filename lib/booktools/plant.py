"""Plant one error in a function of the library, for all of its callers in this process."""

import copy
import importlib
import inspect
import pkgutil
import types
from contextlib import nullcontext
from fractions import Fraction
from functools import cache
from numbers import Integral, Number
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

import runproofs
from runproofs.claims.breaks import change

LIBRARY = Path(runproofs.__file__).parent
LOAD = "experiments.results.load"  # the one function of the book's own tools that gives numbers


class Known(NamedTuple):
    """A function of the library: its name, itself, and what callers have (a cache of it)."""

    name: str
    bare: types.FunctionType
    outer: object


@cache
def functions() -> dict[types.CodeType, Known]:
    """The functions and methods of the library, by the code that their frames have.

    Without generators, whose result is not what they yield, and without those that have free
    variables, as `super()` is one: the code that is planted has none.
    """
    found = {}

    def add(name, value):
        bare = inspect.unwrap(value)
        if (
            inspect.isfunction(bare)
            and Path(bare.__code__.co_filename).is_relative_to(LIBRARY)
            and not inspect.isgeneratorfunction(bare)
            and not bare.__code__.co_freevars
        ):
            found.setdefault(bare.__code__, Known(name, bare, value))

    for _, full, _ in pkgutil.walk_packages(runproofs.__path__, "runproofs."):
        short = full.removeprefix("runproofs.")
        if short.endswith("__main__") or (short.startswith("book") and not LOAD.startswith(short)):
            continue
        for name, value in vars(importlib.import_module(full)).items():
            if getattr(value, "__module__", "") != full:
                continue
            if inspect.isclass(value):
                for inner, method in vars(value).items():
                    add(f"{short}.{name}.{inner}", getattr(method, "fget", None) or method)
            elif callable(value):
                add(f"{short}.{name}", value)
    return found


def named(name: str) -> Known:
    return next(known for known in functions().values() if known.name == name)


def plant(name: str, changed) -> None:
    """Make every call of a function one of `changed(call, arguments)`; call() goes on with them."""
    _, bare, outer = named(name)
    inner = types.FunctionType(
        bare.__code__, bare.__globals__, bare.__name__, bare.__defaults__, bare.__closure__
    )
    inner.__kwdefaults__ = bare.__kwdefaults__
    signature = inspect.signature(inner)

    def planted(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return changed(lambda: inner(*bound.args, **bound.kwargs), bound.arguments)

    bare.__globals__["_planted"] = planted
    change(outer, (lambda *args, **kwargs: _planted(*args, **kwargs)).__code__)  # noqa: F821
    bare.__defaults__ = bare.__kwdefaults__ = None


# Values -------------------------------------------------------------------------------------------


def scalar(x) -> bool:
    """A number that a formula may depend on; truth values are not."""
    return isinstance(x, Number) and not isinstance(x, bool | np.bool_ | complex)


def array(x) -> bool:
    return isinstance(x, np.ndarray | torch.Tensor)


def floating(x) -> bool:
    """What may be off by 5 %: inexact numbers, fractions, and arrays of them."""
    if isinstance(x, torch.Tensor):
        return x.is_floating_point()
    if isinstance(x, np.ndarray):
        exact = x.dtype == object and all(isinstance(entry, Fraction) for entry in x.flat)
        return x.size > 0 and (exact or x.dtype.kind in "fc")
    return scalar(x) and not isinstance(x, Integral)


def at(x, path, change):
    """A copy of x with the part at the path changed: in tuples, lists and dictionaries."""
    if not path:
        return change(x)
    key, *rest = path
    if isinstance(x, tuple):
        parts = [at(p, rest, change) if i == key else p for i, p in enumerate(x)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    changed = copy.copy(x)
    changed[key] = at(x[key], rest, change)
    return changed


def times(x, factor: Fraction):
    exact = isinstance(x, Fraction) or (isinstance(x, np.ndarray) and x.dtype == object)
    return x * (factor if exact else float(factor))


def power(x, exponent: float):
    """A positive x to a power, of the same kind and on the same side of 1."""
    if not x > 0:
        return x
    if isinstance(x, Integral):
        return type(x)(max(round(float(x) ** exponent), 1))
    if isinstance(x, Fraction):
        return Fraction(float(x) ** exponent).limit_denominator(97)
    return type(x)(x**exponent)


# Coins --------------------------------------------------------------------------------------------


class Heads(np.random.Generator):
    """Coins that all show heads: `random` is 0, the binomial full, of integers the least."""

    def random(self, size=None, dtype=np.float64, out=None):
        return np.zeros(size or (), dtype)[()]

    def binomial(self, n, p, size=None):
        return np.full(size or (), n)[()]

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        return np.zeros(size or (), dtype)[()] + (0 if high is None else low)


class Frozen(np.random.Generator):
    """One draw forever: who asks the same gets the first answer again."""

    def __getattribute__(self, name):
        method = super().__getattribute__(name)
        if name.startswith("_") or name in ("spawn", "bit_generator"):
            return method
        answers = self.__dict__.setdefault("_answers", {})

        def draw(*args, **kwargs):
            asked = name, repr(args), repr(kwargs)
            if asked not in answers:
                answers[asked] = method(*args, **kwargs)
            return copy.copy(answers[asked])

        return draw


HEADS = {torch.rand: torch.zeros_like, torch.bernoulli: torch.ones_like}
DRAWS = {torch.rand, torch.randn, torch.randint, torch.randperm, torch.bernoulli}


class TorchCoins(TorchFunctionMode):
    """The same for torch's draws: all Heads, or, Frozen, what comes first from the given state."""

    def __init__(self, kind, state):
        super().__init__()
        self.kind, self.state = kind, state

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        drawn = function in DRAWS and kwargs.get("generator") is not None
        if drawn and self.kind is Frozen:
            kwargs["generator"].set_state(self.state)
        found = function(*args, **kwargs)
        if drawn and self.kind is Heads and function in HEADS:
            found = HEADS[function](found)
        return found


# Changes: what `plant` makes of each call ---------------------------------------------------------


def result(changed):
    """changed(what it returns, arguments)."""
    return lambda call, arguments: changed(call(), arguments)


def scaled(path, factor):
    """A part of the result, times a number."""

    def part(found, _):
        try:
            return at(found, path, lambda x: times(x, factor))
        except (KeyError, IndexError, TypeError):  # a result of another form
            return found

    return result(part)


def stored(run, key, changed):
    """An array of a stored run, changed."""

    def loaded(found, arguments):
        if arguments["path"].stem == run:
            found[key] = changed(found[key])
        return found

    return result(loaded)


def given(name):
    """What it was given, where that has the form of what it would return."""

    def same(found, arguments):
        x = arguments[name]
        return x if getattr(x, "shape", 0) == getattr(found, "shape", 1) else found

    return result(same)


def argument(name, changed):
    """The function gets changed(x) in place of an argument x."""

    def called(call, arguments):
        arguments[name] = changed(arguments[name])
        return call()

    return called


def frozen(name):
    """An argument keeps its first value, of an array the first one of each shape."""
    first = {}
    return argument(name, lambda x: first.setdefault(getattr(x, "shape", None), copy.copy(x)))


def exchanged(one, other):
    def called(call, arguments):
        arguments[one], arguments[other] = arguments[other], arguments[one]
        return call()

    return called


def coins(name, kind):
    """The random source is `Heads`, or for all calls the first one, `Frozen`."""
    made = []

    def called(call, arguments):
        source, mode = arguments[name], nullcontext()
        if isinstance(source, np.random.Generator | Integral):
            drawing = kind(np.random.default_rng(source).bit_generator)
            made[:] = made if made and kind is Frozen else [drawing]
            arguments[name] = made[0]
        elif isinstance(source, torch.Generator):
            made[:] = made or [source.get_state()]
            mode = TorchCoins(kind, made[0])
        with mode:
            return call()

    return called


def late(name):
    """The observer sees the state of one call before; the first one twice."""

    def shown(observe):
        before = []

        def observed(*args):
            now = copy.deepcopy(args)
            then, before[:] = (before or [now])[0], [now]
            return observe(*(a if isinstance(a, Integral) else b
                             for a, b in zip(args, then, strict=True)))  # fmt: skip

        return observed if callable(observe) else observe

    return argument(name, shown)
