"""What each dropout layer of a torch model adds to the loss, exactly or to second order.

A layer multiplies what it sees by 1 + delta, with independent delta of mean 0 and variance lambda =
p / (1 - p), one for each unit that it drops as a whole. If L(delta) is the loss, it adds ::

    E L(delta) - L(0)  ~  (lambda / 2) sum_j d^2 L(0) / d delta_j^2,

with equality if L is quadratic in delta: nothing but linear maps behind the layer, and a squared
loss. With columns w_j behind activations h_j that is ``lambda sum_j ||w_j||^2 E h_j^2``, as (4.4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules import conv, pooling
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.dropout import _DropoutNd

from runproofs import _arguments as arguments
from runproofs._report import Content, Report, percent
from runproofs._tensors import check_module, evaluation, passes_differ, tensor, without_graph

if TYPE_CHECKING:
    import matplotlib.axes

PROBES = 16  # random directions where a layer is wide
MOST_UNITS = 128  # of a sample, for one direction each
MOST_ENTRIES = 2**26  # of the derivatives of the outputs: half a gigabyte
AXES = {nn.Dropout1d: 1, nn.Dropout2d: 2, nn.Dropout3d: 3}  # of a channel, dropped as a whole
ALPHA = (nn.AlphaDropout, nn.FeatureAlphaDropout)
KNOWN = {kind.forward for kind in (nn.Dropout, *AXES, *ALPHA)}  # whose masks are
LINEAR = (
    *(nn.Linear, nn.Flatten, nn.Unflatten, nn.Identity, _DropoutNd, _BatchNorm, conv._ConvNd),
    *(pooling._AvgPoolNd, pooling._AdaptiveAvgPoolNd),
)


@dataclass(frozen=True, eq=False)
class DropoutLayer:
    """One dropout layer, alone: the others are in evaluation mode.

    Attributes
    ----------
    name : str
        Its name in the model.
    kind : str
        Its class.
    p : float
        Probability of dropping.
    lam : float
        lambda = p / (1 - p).
    penalty : float
        What it adds to the loss, exactly or to second order; NaN where there is no formula.
    exact : bool
        Whether the loss is quadratic in its mask.
    reason : str
        Why it is exact, or is not.
    standard_error : float
        Of penalty, where it comes from random directions; else 0.
    share : float
        Part of penalty in the loss with it.
    units : (r,) ndarray
        What each unit pays; their sum is penalty. Units are channels of images, else features.
    sampled : float
        What the layer adds to the loss by sampled masks.
    sampled_error : float
        Its standard error.
    """

    name: str
    kind: str
    p: float
    lam: float
    penalty: float
    exact: bool
    reason: str
    standard_error: float
    share: float
    units: np.ndarray
    sampled: float
    sampled_error: float

    def heaviest(self, share: float = 0.5) -> np.ndarray:
        """The fewest units that pay this share of what all pay.

        Parameters
        ----------
        share : float, optional
            Above 0, at most 1; a half by default.

        Returns
        -------
        (k,) ndarray of int
            The units, the one that pays most first.
        """
        share = arguments.number("share", share, above=0, most=1)
        units = arguments.numbers("units", self.units)
        order = np.argsort(-units, kind="stable")
        paid = np.cumsum(units[order].clip(0))
        if not paid.size or not paid[-1] > 0:
            return order[:0]
        return order[: np.searchsorted(paid, share * paid[-1] * (1 - 1e-12)) + 1]


@dataclass(frozen=True, eq=False, repr=False)
class DropoutReport(Report):
    """What dropout adds to the loss of a model, layer by layer; print it, or show it in a notebook.

    Attributes
    ----------
    loss : float
        The loss in evaluation mode.
    noisy : float
        The mean loss over sampled masks of all layers together.
    noisy_error : float
        Its standard error.
    layers : tuple of DropoutLayer
        The layers, in the order of the model.
    warnings : tuple of str
        What is likely to be an error, a sentence each.
    """

    loss: float
    noisy: float
    noisy_error: float
    layers: tuple[DropoutLayer, ...]
    warnings: tuple[str, ...]

    def plot(self, ax: matplotlib.axes.Axes) -> None:
        """Draw what each layer adds: a bar by the formula, a mark with 2 errors by sampled masks.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
            Where to draw.
        """
        names = [layer.name for layer in self.layers]
        ax.barh(names, [layer.penalty for layer in self.layers], alpha=0.5, label="formula")
        errors = [2 * layer.sampled_error for layer in self.layers]
        sampled = [layer.sampled for layer in self.layers]
        ax.errorbar(sampled, names, xerr=errors, fmt="o", color="black", label="sampled masks")
        ax.invert_yaxis()
        ax.set(xlabel="added to the loss")
        ax.legend()

    def _content(self):
        header = ["layer", "kind", "p", "lambda", "adds", "by", "share", "sampled masks", "units"]
        rows, reasons = [], {}
        for f in self.layers:
            heavy, formula = f.heaviest(), not math.isnan(f.penalty)
            by = "formula" if f.exact else "second order"
            rows.append([
                f.name, f.kind, f"{f.p:g}", f"{f.lam:.3g}",
                _measured(f.penalty, f.standard_error) if formula else "-",
                by if formula else "-",
                percent(f.share) if formula else "-",
                _measured(f.sampled, f.sampled_error),
                _half(heavy, f.units.size) if len(heavy) else "-",
            ])  # fmt: skip
            reasons.setdefault(f.reason, []).append(f.name)
        title = f"Dropout: loss {self.loss:.4g} in eval()"
        if self.layers:
            title += f", {_measured(self.noisy, self.noisy_error)} over masks of all layers"
        remarks = [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
        remarks = remarks or ["The model has no dropout layer."]
        return Content(title, header, rows, remarks)


def dropout_report(
    model: torch.nn.Module,
    x: ArrayLike,
    y: ArrayLike,
    loss: Callable,
    *,
    samples: int = 100,
    seed: int = 0,
) -> DropoutReport:
    """What each dropout layer of a model adds to its loss on a batch, and whether that is exact.

    Parameters
    ----------
    model : torch.nn.Module
        Takes x, returns one floating-point tensor, samples first.
    x : (n, ...) array_like
        A batch as the model takes it.
    y : array_like
        What loss takes as its second argument.
    loss : callable
        Takes outputs and y; returns a number. ``nn.MSELoss()``, ``nn.CrossEntropyLoss()``, ...
    samples : int, optional
        Number of sampled masks a layer, at least 2; 100 by default.
    seed : int, optional
        Of the sampled masks, at least 0; 0 by default.

    Returns
    -------
    DropoutReport
        A row a layer, and warnings.

    Raises
    ------
    ValueError
        If the model gives no such tensor, in 32 bits or more, or the loss no finite number.

    Notes
    -----
    The term is ``(lambda / 2) sum_j h_j^2 d^2 L / d h_j^2``, the other layers in evaluation mode;
    for channels that are dropped as a whole, the second derivative is along all of a channel. It is
    exact if the loss is quadratic in the outputs, and these are affine in the mask. Both are tried
    at some masks and outputs, to rounding, and derivatives are compared with a step. Else the term
    is right for small activations, not for small p, since a dropped unit moves by all that it is;
    and it sees no kink.

    Cost, for each layer: ``samples`` passes, and about twenty for the questions. If the outputs are
    affine, a gradient for each of the K outputs of a sample; else a product with the Hessian, some
    four passes, for each of r <= 128 units of a sample, and for 16 random directions beyond, or
    where samples see each other; then the term has a standard error.

    The model is left as it was: modes, buffers, random numbers of CPU and CUDA, gradients.

    References
    ----------
    :claim:`thesis/proposition-5`, :claim:`thesis/equation-4.4`

    Examples
    --------
    >>> model = nn.Sequential(nn.Dropout(0.5), nn.Linear(2, 1, bias=False))
    >>> _ = nn.init.constant_(model[1].weight, 2)
    >>> report = dropout_report(model, torch.ones(4, 2), torch.ones(4, 1), nn.MSELoss())
    >>> report.layers[0].exact, report.layers[0].penalty, report.loss
    (True, 8.0, 9.0)
    """
    trained = isinstance(model, nn.Module) and any(part.training for part in model.modules())
    x = check_module(model, x)
    y = without_graph(tensor("y", y, device=x.device))
    samples = arguments.positive_integer("samples", samples, least=2)
    seed = arguments.positive_integer("seed", seed, least=0)
    if isinstance(loss, type) or not callable(loss):
        raise ValueError(f"loss must be a function, such as nn.MSELoss(), but it was {loss!r}.")
    if any(isinstance(part, torch.jit.ScriptModule) for part in model.modules()):
        raise ValueError("model must be as it was before torch.jit: that takes no hooks.")
    known = {name or "model": part for name, part in model.named_modules() if _rate(part)[0]}
    single = [
        name or "model"
        for name, part in model.named_modules()
        if isinstance(part, nn.RNNBase) and part.num_layers == 1 and part.dropout
    ]
    with evaluation(model, seed):
        audit = _Audit(model, x, y, loss, samples)
        wanders = passes_differ(model, x)
        layers = [audit.layer(name, part, wanders) for name, part in known.items()]
        noisy = audit.sampled(known.values())
    apart = {*known.values(), *(part for part in model.modules() if isinstance(part, _NormBase))}
    others = [part for part in model.modules() if part not in apart]
    silent = not wanders and passes_differ(model, x, others)
    found = {
        "The model came in train() mode; this report is of eval().": trained,
        "Two passes in eval() differ: something drops there, too, such as F.dropout(x) without "
        "training=self.training.": wanders,
        "Two passes in train() differ with all these layers off: there is other noise, such as "
        "F.dropout or dropped paths, which no row has.": silent,
        f"In {', '.join(single)} nothing is dropped: it would be between layers, and there is "
        "one.": single,
        **audit.warnings(),
    }
    said = tuple(warning for warning, holds in found.items() if holds)
    return DropoutReport(audit.loss, *noisy, tuple(layers), said)


def _rate(part):
    """Whether a module drops, and with which p."""
    if isinstance(part, _DropoutNd):
        return True, part.p
    inside = isinstance(part, nn.MultiheadAttention) or (
        isinstance(part, nn.RNNBase) and part.num_layers > 1
    )
    return inside and part.dropout > 0, part.dropout if inside else 0


class _Audit:
    """A model, a batch and a loss, in evaluation mode, and what is odd about its layers."""

    def __init__(self, model, x, y, loss, samples):
        self.model, self.x, self.y, self.criterion, self.samples = model, x, y, loss, samples
        self.nothing, self.everything, self.uncalled, self.bent, self.normalized = (
            [] for _ in "12345"
        )
        with self._watched() as self.plain:
            self.outputs = _tried("model", model, x.clone())
        if not (isinstance(self.outputs, torch.Tensor) and self.outputs.is_floating_point()):
            raise ValueError(
                "model must return one floating-point tensor, "
                f"but it returns a {type(self.outputs).__name__}."
            )
        if torch.finfo(self.outputs.dtype).bits < 32:  # too few to tell a line from a curve
            raise ValueError(
                f"model must compute in 32 bits or more, but it returns {self.outputs.dtype}."
            )
        value = _tried("loss", loss, self.outputs, y)
        if not (isinstance(value, torch.Tensor) and value.numel() == 1 and value.isfinite().all()):
            found = f"a {type(value).__name__}"
            if isinstance(value, torch.Tensor):
                found = value.item() if value.numel() == 1 else f"shape {tuple(value.shape)}"
            raise ValueError(
                f"loss must return one finite number, in a tensor, but it returns {found}."
            )
        self.loss, self.eps = value.item(), torch.finfo(self.outputs.dtype).eps
        self.quadratic, self.additive = self._about_the_loss()

    def layer(self, name, part, wanders):
        """The row of one layer."""
        p = float(_rate(part)[1])
        lam = p / (1 - p) if p < 1 else math.inf
        term, exact, reason = None, False, ""
        if part not in self.plain:
            reason = "the model never calls it"
            self.uncalled.append(name)
        elif p == 1:
            reason = "everything is dropped, so there is no formula: sampled only"
            self.everything.append(name)
        elif not isinstance(part, _DropoutNd):
            reason = f"inside {type(part).__name__}, where no mask can be set: sampled only"
        elif isinstance(part, ALPHA):
            reason = "it adds noise that is no mask of mean 1: sampled only"
        elif type(part).forward not in KNOWN:
            reason = "its class drops in a way of its own: sampled only"
        elif wanders:
            reason = "two passes in eval() differ: sampled only"
        else:
            term, exact, reason = self._formula(name, part, p, lam)
        self.nothing += [name] * (p == 0)
        penalty, error, units = term or (math.nan, 0.0, np.zeros(0))
        return DropoutLayer(
            name, type(part).__name__, p, lam, penalty, exact, reason, error,
            penalty / (self.loss + penalty) if self.loss + penalty else math.nan,
            units, *self.sampled([part], self.loss),
        )  # fmt: skip

    def sampled(self, parts, less=0.0):
        """Mean of the loss, less a number, over masks of these layers, and its standard error."""
        values = []
        for part in parts:
            part.training = True
        for _ in range(self.samples):
            values.append(self.criterion(self.model(self.x.clone()), self.y).item() - less)
        for part in parts:
            part.training = False
        return float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))

    def warnings(self):
        """The sentences, and what each is about."""
        names = {part: name for name, part in self.model.named_modules()}
        normal = ", ".join(dict.fromkeys(names[part] for part in self.normalized))
        return {
            f"Batch normalization stands behind dropout ({normal}): it learns the variance under "
            "masks, and meets none in eval(); drop behind the last one.": self.normalized,
            f"Behind {', '.join(self.bent)} the network is not linear: eval() is not the mean over "
            "the masks; trust the sampled ones.": self.bent,
            f"p = 0 drops nothing: {', '.join(self.nothing)}.": self.nothing,
            f"p = 1 drops everything: {', '.join(self.everything)}.": self.everything,
            f"Never called: {', '.join(self.uncalled)}.": self.uncalled,
        }

    def _formula(self, name, part, p, lam):
        """Penalty, error and units, whether that is exact, and why."""
        with self._noise(part, None) as calls:
            self.model(self.x.clone())
        affine, each, hidden, apart, behind = self._about_the_mask(part, calls, p)
        self.normalized += [
            m for m in behind if isinstance(m, _BatchNorm) and m.track_running_stats and p
        ]
        if hidden:
            reason = "outputs move too little for their size to see more: try float64"
        elif affine:
            reason = "the outputs are affine in its mask"
            reason += (
                ", and the loss is squared" if self.quadratic else ", but the loss is no square"
            )
        elif each:
            reason = "it is called more than once, and its masks multiply"
        else:
            kinds = dict.fromkeys(type(m).__name__ for m in behind if not isinstance(m, LINEAR))
            reason = "the outputs are not affine in its mask, since behind it stands "
            reason += " and ".join(kinds) if kinds else "a function that is no module"
            self.bent.append(name)
        exact = affine and self.quadratic and not hidden
        try:
            if not self._felt(part, calls, affine):
                why = "derivatives do not see its mask (detach, rounding): sampled only"
                return None, False, why
            term = self._curvature(part, calls, lam, affine, apart and self.additive)
        except RuntimeError as error:  # of a kernel or a function with one derivative only
            why = str(error).splitlines()[0].rstrip(".")
            why = f"model or loss cannot be differentiated twice ({why}): sampled only"
            return None, False, why
        return term, exact, f"{'exact' if exact else 'second order only'}: {reason}"

    def _curvature(self, part, calls, lam, affine, apart):
        """Half of lambda times the second derivatives: their sum, its error, the sum of each unit.

        apart: no sample sees another one, so that one direction serves all.
        """
        deltas = [
            torch.zeros(shape, dtype=dtype, device=self.x.device, requires_grad=True)
            for shape, dtype in calls
        ]
        with torch.enable_grad(), _twice_differentiable():
            outputs = self._run(part, deltas)
            size = sum(delta.numel() for delta in deltas)
            K, r = outputs.numel() // len(self.x), size // len(self.x)
            by_column = affine and apart and max(r, PROBES) >= K and K * size <= MOST_ENTRIES
            random = not by_column and not (apart and r <= MOST_UNITS)
            if by_column:
                found = [_columns(outputs, deltas, self.criterion, self.y, K)]
            else:
                probes = _signs(deltas) if random else _units(deltas)
                found = _products(self.criterion(outputs, self.y), deltas, probes)
        sums = [lam / 2 * sum(d.double().sum().item() for d in each) for each in found]
        units = [
            lam / 2 * _by_unit(part, sum(d.double() for d in call)).cpu().numpy()
            for call in zip(*found, strict=True)
        ]
        alike = len({len(u) for u in units}) == 1
        units = sum(units) if alike else np.concatenate(units)
        if not random:
            return math.fsum(sums), 0.0, units
        return float(np.mean(sums)), float(np.std(sums, ddof=1) / PROBES**0.5), units / PROBES

    @contextmanager
    def _watched(self):
        """Fingerprints of what each module without parts gets, call by call."""
        seen, handles = {}, []

        def hook(module, given, named):
            calls = seen.setdefault(module, [])
            for h in (*given, *named.values()):
                if isinstance(h, torch.Tensor):
                    h = h.detach().double()
                    calls.append((h.sum().item(), h.square().sum().item()))

        try:
            for module in self.model.modules():
                if not list(module.children()) or _rate(module)[0]:
                    handles.append(module.register_forward_pre_hook(hook, with_kwargs=True))
            yield seen
        finally:
            for handle in handles:
                handle.remove()

    @contextmanager
    def _noise(self, layer, deltas):
        """What the layer gives is multiplied by 1 + delta, call by call; None asks for shapes."""
        calls = []

        def hook(module, given, h):
            calls.append((_mask_shape(module, h), h.dtype))
            return None if deltas is None else h * (1 + deltas[len(calls) - 1])

        with layer.register_forward_hook(hook, prepend=True):
            yield calls

    def _run(self, layer, deltas):
        with self._noise(layer, deltas):
            return self.model(self.x.clone())

    def _about_the_loss(self):
        """Whether it is quadratic in the outputs, and a sum over samples, near and far."""
        quadratic = additive = True
        size, first = max(1.0, self.outputs.abs().max().item()), slice(0, len(self.x) // 2)
        for scale in (size, 30 * size):
            step = scale * torch.randn_like(self.outputs)
            part = torch.zeros_like(step)
            part[first] = step[first]
            steps = (0 * step, step, 2 * step, 3 * step, part, step - part)
            v = [self.criterion(self.outputs + step, self.y).item() for step in steps]
            tol = 100 * self.eps * max(map(abs, v))
            quadratic &= abs(v[3] - 3 * v[2] + 3 * v[1] - v[0]) <= tol
            additive &= abs(v[1] - v[4] - v[5] + v[0]) <= tol
        return quadratic, additive

    def _about_the_mask(self, part, calls, p):
        """Whether outputs are affine between masks, of all calls and of each; whether rounding
        hides that; whether each sample has a mask of its own; what the masks reach."""

        def masks(keep):
            return [
                torch.bernoulli(torch.full(shape, keep, device=self.x.device)).to(dtype) / (1 - p)
                - 1
                for shape, dtype in calls
            ]

        with self._watched() as seen:
            self._run(part, masks(0.5))
        behind = [m for m in seen if m is not part and seen[m] != self.plain.get(m)]

        def straight(one, two):
            middle = [(a + b) / 2 for a, b in zip(one, two, strict=True)]
            ends = torch.stack([self._run(part, one), self._run(part, two)])
            tol = 200 * self.eps * max(ends.abs().max(), self.outputs.abs().max())
            moved.append(((ends - self.outputs).abs().max() / tol).item())
            return bool((ends.mean(0) - self._run(part, middle)).abs().max() <= tol)

        moved = []
        # the last one drops everything
        affine = all(straight(masks(0.5), masks(keep)) for keep in (0.5, 0.5, 0.5, 0.0))
        one, two = masks(0.5), masks(0.5)
        each = affine or (
            len(calls) > 1
            and all(straight(one, [*one[:k], two[k], *one[k + 1 :]]) for k in range(len(calls)))
        )
        n, first = len(self.x), masks(0.5)
        apart = all(len(t) == n for t in (self.outputs, *first))
        if apart and n > 1:
            for mask in first:
                mask[n // 2 :] = 0
            changed = (self._run(part, first) - self.outputs)[n // 2 :]
            apart = bool(changed.abs().max() <= 200 * self.eps * self.outputs.abs().max())
        return affine, each, affine and 0 < max(moved) < 20, apart, behind

    def _felt(self, part, calls, affine):
        """Whether the derivatives in the mask are there: all of them, if outputs are affine."""
        deltas = [
            torch.zeros(shape, dtype=dtype, device=self.x.device, requires_grad=True)
            for shape, dtype in calls
        ]
        toward, masks = torch.randn_like(self.outputs), [torch.rand_like(d) - 0.5 for d in deltas]
        with torch.enable_grad():
            told = _derivatives((self._run(part, deltas) * toward).sum(), deltas)
        moves = [t * m for t, m in zip(told, masks, strict=True)]
        moved = ((self._run(part, masks) - self.outputs) * toward).sum()
        size = sum(m.abs().sum() for m in moves)
        off = abs(moved - sum(m.sum() for m in moves)) if affine else abs(moved) * (size == 0)
        return bool(off <= 0.01 * size + 200 * self.eps * (self.outputs * toward).abs().sum())


# ----------------------------------------------------------------------------------- derivatives


@contextmanager
def _twice_differentiable():
    """Without the kernels of attention and recurrent layers that have one derivative only."""
    with (
        sdpa_kernel(SDPBackend.MATH),
        torch.backends.cudnn.flags(enabled=False),
    ):
        yield


def _derivatives(value, inputs, vector=None, create_graph=False):
    """Derivatives of a tensor along a vector; zeros where it does not depend on inputs."""
    if not value.requires_grad:
        return [torch.zeros_like(v) for v in inputs]
    return torch.autograd.grad(
        value, inputs, vector, retain_graph=True, create_graph=create_graph, materialize_grads=True
    )


def _columns(outputs, deltas, loss, y, K):
    """Second derivatives if the outputs are affine: ``c_j^T H c_j``, c_j their derivatives."""
    o = outputs.detach().requires_grad_()
    (slope,) = _derivatives(loss(o, y), [o], create_graph=True)
    units = torch.eye(K, dtype=o.dtype, device=o.device)
    vectors = [unit.reshape(o.shape[1:]).expand_as(o) for unit in units]
    H = torch.stack([_derivatives(slope, [o], v)[0].reshape(len(o), K) for v in vectors], 1)
    rows = [_derivatives(outputs, deltas, v) for v in vectors]
    return [
        torch.einsum("nk...,nkl,nl...->n...", C, H.to(C.dtype), C)
        for C in (torch.stack(parts, 1) for parts in zip(*rows, strict=True))
    ]


def _products(value, deltas, probes):
    """``v * H v`` for the Hessian H in deltas and each probe v, as a list of lists."""
    slopes = _derivatives(value, deltas, create_graph=True)
    _check_graph(slopes)
    inner = [(s, k) for k, s in enumerate(slopes) if s.requires_grad]
    found = []
    for v in probes:
        if inner:
            total = sum((s * v[k]).sum() for s, k in inner)
            found.append([a * b for a, b in zip(_derivatives(total, deltas), v, strict=True)])
        else:
            found.append([torch.zeros_like(d) for d in deltas])
    return found


def _check_graph(slopes):
    """No function below may have one derivative only; torch would take its second one for 0."""
    waiting, seen = {s.grad_fn for s in slopes} - {None}, set()
    while waiting:
        node = waiting.pop()
        seen.add(node)
        if node.name().endswith("::Error"):
            raise RuntimeError("a function in it is once_differentiable")
        waiting |= {after for after, _ in node.next_functions} - seen - {None}


def _units(deltas):
    """For each unit of a sample the vector that is 1 there, for all samples."""
    for k, delta in enumerate(deltas):
        for j in range(delta[0].numel()):
            v = [torch.zeros_like(d) for d in deltas]
            v[k].flatten(1)[:, j] = 1
            yield v


def _signs(deltas):
    """Random signs, whose products with H v have the mean of its diagonal."""
    for _ in range(PROBES):
        yield [torch.randint(2, d.shape, device=d.device).to(d.dtype) * 2 - 1 for d in deltas]


# ----------------------------------------------------------------------------------------- helpers


def _tried(name, call, *given):
    """What a call returns; where it fails, a sentence says what it was given."""
    try:
        return call(*given)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        kinds = " and ".join(f"{tuple(t.shape)} {t.dtype} on {t.device}" for t in given)
        why = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"{name} does not take {kinds}: {why}.") from error


def _mask_shape(layer, h):
    """Shape of the mask: a channel is dropped as a whole."""
    axes = next((axes for kind, axes in AXES.items() if isinstance(layer, kind)), None)
    if axes is None or not isinstance(h, torch.Tensor):
        return tuple(getattr(h, "shape", ()))
    kept = 1 if axes != 2 and h.ndim == axes + 1 else 2  # a single image or signal, or a batch
    return (*h.shape[:kept], *[1] * (h.ndim - kept))


def _by_unit(layer, d):
    """Sums over all but channels (of images, or dropped as a whole), else all but features."""
    channels = isinstance(layer, tuple(AXES)) or d.ndim > 3
    axis = 1 if channels and d.ndim > 1 else d.ndim - 1
    return d.sum([k for k in range(d.ndim) if k != axis])


def _half(heavy, size):
    most = ", ".join(map(str, heavy[:3])) + ", ..." * (len(heavy) > 3)
    return f"half by {len(heavy)} of {size}: {most}"


def _measured(value, error):
    return f"{value:.4g}" + (f" ± {error:.1g}" if error else "")
