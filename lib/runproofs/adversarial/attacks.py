"""Attacks on any torch classifier, with plain and reflected losses; Section 6.5 of the thesis.

The conventions are the field's: a model maps a batch of inputs, (n, ...) in [0, 1], to logits, and
normalizes its inputs itself. With K >= 2 logits labels are 0, ..., K - 1, and the margin is
``f_y - max_{j != y} f_j``. With a single logit f, (n,) or (n, 1), labels are -1 and 1, and the
margin is y f. A `torch.nn.Module` is attacked in evaluation mode and gets its own mode back; a
function of inputs is taken as it is. No attack changes the model, nor the gradients of its
parameters. In half precision only the model computes: losses, lengths and steps are in float32.
"""

import math
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Literal

import torch
from numpy.typing import ArrayLike
from torch.nn.functional import cross_entropy, log_softmax, softplus

from runproofs import _arguments as arguments
from runproofs._tensors import tensor

_BOX = (0.0, 1.0)  # known to be finite, so that the default is not checked at every call


def margin(logits: torch.Tensor, y: ArrayLike) -> torch.Tensor:
    """Margin of each sample, negative where it is misclassified.

    Parameters
    ----------
    logits : (n, K), (n, 1) or (n,) Tensor
        Finite floating-point outputs of the model.
    y : (n,) array_like
        Labels: 0 to K - 1, or -1 and 1 for a single logit.

    Returns
    -------
    (n,) Tensor
        ``f_y - max_{j != y} f_j``, or y f for a single logit.

    Examples
    --------
    >>> margin(torch.tensor([[3.0, 1.0], [0.5, 2.0]]), [0, 0])
    tensor([ 2.0000, -1.5000])
    """
    logits = tensor("logits", logits)
    logits = _checked_logits("logits must be", logits, len(logits) if logits.ndim else 0)
    return _margin(logits, _labels(y, logits))


def _margin(logits, y):
    if logits.ndim == 1:
        return y * logits
    return _own(logits, y) - _wrong(logits, y).amax(1)


def _own(logits, y):
    return logits.gather(1, y[:, None])[:, 0]


def _wrong(logits, y):
    return logits.scatter(1, y[:, None], -math.inf)


def _ce(logits, y):
    return softplus(-y * logits) if logits.ndim == 1 else cross_entropy(logits, y, reduction="none")


def _reflected(logits, y):
    return -softplus(_margin(logits, y))


def _greedy(logits, y):
    if logits.ndim == 1:
        return _reflected(logits, y)
    return _own(log_softmax(logits, 1), _wrong(logits, y).argmax(1))


# What the attacks ascend, for each sample.
LOSSES = {
    "ce": _ce,  # the logistic loss or cross entropy, -ln p_y
    "reflected": _reflected,  # -ln(1 + e^margin)
    "greedy": _greedy,  # ln p_k, k the wrong class with the largest logit, chosen at every step
    "margin": lambda logits, y: -_margin(logits, y),
}


def _in_evaluation_mode(attack):
    """The attack without grad or inference mode, on a model of which no part is in training."""

    @wraps(attack)
    def attacking(model, x, y, **options):
        parts = model.modules() if isinstance(model, torch.nn.Module) else ()
        training = [part for part in parts if part.training]
        try:
            for part in training:
                part.training = False
            with torch.inference_mode(False), torch.no_grad():
                return attack(model, x, y, **options)
        finally:
            for part in training:
                part.training = True

    return attacking


def fgsm(
    model: Callable,
    x: torch.Tensor,
    y: ArrayLike,
    *,
    eps: float,
    loss: Literal["ce", "reflected", "greedy", "margin"] | Callable = "ce",
    clip: tuple[float, float] | None = _BOX,
) -> torch.Tensor:
    """Fast gradient sign method: one step of eps along the sign of the gradient.

    Parameters
    ----------
    model : callable
        Takes inputs shaped like x; returns finite logits (n, K), (n, 1) or (n,).
    x : (n, ...) Tensor
        Floating-point inputs, inside clip.
    y : (n,) array_like
        Labels: 0 to K - 1, or -1 and 1 for a single logit.
    eps : float
        Radius of the l_inf ball and length of the step, at least 0.
    loss : {"ce", "reflected", "greedy", "margin"} or callable, optional
        What is ascended; a function takes checked logits and labels, and returns (n,).
    clip : (float, float) or None, optional
        Least and largest pixel; by default (0, 1). None sets no limits.

    Returns
    -------
    (n, ...) Tensor
        Attacked inputs, without a graph.

    Notes
    -----
    Cost: one gradient.

    References
    ----------
    :claim:`thesis/remark-fgsm`
    """
    return bim(model, x, y, eps=eps, step_size=eps, steps=1, loss=loss, clip=clip)


def bim(
    model: Callable,
    x: torch.Tensor,
    y: ArrayLike,
    *,
    eps: float,
    step_size: float | Callable,
    steps: int,
    **options: object,
) -> torch.Tensor:
    """Basic iterative method: steps along the sign of the gradient, in the l_inf ball.

    With ``random_start=True`` the field calls it PGD.

    Parameters
    ----------
    model : callable
        Takes inputs shaped like x; returns finite logits (n, K), (n, 1) or (n,).
    x : (n, ...) Tensor
        Floating-point inputs, inside clip.
    y : (n,) array_like
        Labels: 0 to K - 1, or -1 and 1 for a single logit.
    eps : float
        Radius of the ball, at least 0.
    step_size : float or callable
        Length of a step, at least 0, or a function of t = 0, ..., steps - 1 that returns it.
    steps : int
        Number of updates, at least 1.
    **options
        Other options of `pgd`, but for norm and normalize.

    Returns
    -------
    (n, ...) Tensor
        Attacked inputs, without a graph.

    Notes
    -----
    Cost: one gradient a step.
    """
    options |= {"norm": math.inf, "normalize": True}
    return pgd(model, x, y, eps=eps, step_size=step_size, steps=steps, **options)


@_in_evaluation_mode
def pgd(
    model: Callable,
    x: torch.Tensor,
    y: ArrayLike,
    *,
    norm: float,
    eps: float,
    step_size: float | Callable,
    steps: int,
    loss: Literal["ce", "reflected", "greedy", "margin"] | Callable = "ce",
    reduction: Literal["sum", "mean"] = "sum",
    normalize: bool = False,
    clip: tuple[float, float] | None = _BOX,
    random_start: bool = False,
    best_iterate: bool = False,
    generator: torch.Generator | None = None,
) -> torch.Tensor:
    """Projected gradient ascent on a loss, in the ball of radius eps about each input.

    Parameters
    ----------
    model : callable
        Takes inputs shaped like x; returns finite logits (n, K), (n, 1) or (n,).
    x : (n, ...) Tensor
        Floating-point inputs, inside clip.
    y : (n,) array_like
        Labels: 0 to K - 1, or -1 and 1 for a single logit.
    norm : {2, math.inf}
        Norm of the ball.
    eps : float
        Radius of the ball, at least 0.
    step_size : float or callable
        Factor of the gradient, at least 0, or a function of t = 0, ..., steps - 1 that returns it.
    steps : int
        Number of updates, at least 1.
    loss : {"ce", "reflected", "greedy", "margin"} or callable, optional
        What is ascended; a function takes checked logits and labels, and returns (n,).
    reduction : {"sum", "mean"}, optional
        Whether each sample ascends its own gradient, or one n times smaller.
    normalize : bool, optional
        Replace the raw gradient, whatever the reduction, by the steepest direction in the norm: the
        sign (inf), or the gradient at length 1 (2).
    clip : (float, float) or None, optional
        Least and largest pixel; by default (0, 1). None sets no limits.
    random_start : bool, optional
        Start from a uniform point of the ball, clipped, instead of x.
    best_iterate : bool, optional
        Return the visited point of least margin, the start included, instead of the last.
    generator : torch.Generator, optional
        On the device of x; needed for random_start, which it determines.

    Returns
    -------
    (n, ...) Tensor
        Attacked inputs, without a graph.

    Raises
    ------
    ValueError
        If logits are not finite, the loss does not depend on x, or a step overflows.

    Notes
    -----
    Cost: one gradient a step, and one evaluation more with best_iterate. Works under
    ``torch.no_grad`` and ``torch.inference_mode``, too.

    References
    ----------
    :claim:`thesis/algorithm-pgd`; the l_inf PGD of the thesis' Section 6.5 has the raw gradient.
    """
    _check_inputs(x, clip)
    objective = _checked_options(norm, loss, reduction)
    eps, steps = _nonnegative("eps", eps, x.dtype), arguments.positive_integer("steps", steps)
    if not callable(step_size):
        step_size = _nonnegative("step_size", step_size, x.dtype)
    u = x = x.detach().clone() if x.is_inference() else x.detach()
    wide = _wide(x)
    project = _projection(wide, norm, eps, clip)
    if random_start:
        if not (isinstance(generator, torch.Generator) and generator.device.type == x.device.type):
            raise ValueError(
                f"generator must be a torch.Generator on the device of x, but it was {generator!r}."
            )
        u = project(wide + _random(wide, norm, eps, generator)).to(x.dtype)
    best, least, labels = x, None, None
    for t in range(steps):
        with torch.enable_grad():
            point = u.detach().requires_grad_()
            logits = _logits(model, point)
            if labels is None:
                labels = _labels(y, logits)
            g = _gradient(objective(logits, labels), point)
        if best_iterate:
            best, least = _keep(best, least, u, logits.detach(), labels)
        eta = step_size
        if callable(step_size):
            eta = _nonnegative("step_size", step_size(t), x.dtype)
        if reduction == "mean" and not normalize:
            eta /= len(x)
        u = project(_ascend(_wide(u), _wide(g), eta, norm, normalize)).to(x.dtype)
    _check_finite(u)
    return _keep(best, least, u, _logits(model, u), labels)[0] if best_iterate else u


@_in_evaluation_mode
def all_targets(
    model: Callable,
    x: torch.Tensor,
    y: ArrayLike,
    *,
    clip: tuple[float, float] | None = _BOX,
    **options: object,
) -> torch.Tensor:
    """The strongest of K - 1 attacks, one toward each wrong class.

    For each wrong class j, `pgd` on ``ln p_j - ln p_y = f_j - f_y``; the result of least margin.

    Parameters
    ----------
    model : callable
        Takes inputs shaped like x; returns finite logits (n, K), K >= 2.
    x : (n, ...) Tensor
        Floating-point inputs, inside clip.
    y : (n,) array_like
        Labels, 0 to K - 1.
    clip : (float, float) or None, optional
        Least and largest pixel; by default (0, 1). None sets no limits.
    **options
        Other options of `pgd`, but for loss and best_iterate, which is on.

    Returns
    -------
    (n, ...) Tensor
        Attacked inputs, without a graph.

    Notes
    -----
    Cost: K - 1 times that of `pgd`.

    References
    ----------
    :claim:`beyond/multiclass-all-targets`
    """
    _check_inputs(x, clip)
    logits = _logits(model, x)
    if logits.ndim == 1:
        raise ValueError("model must return at least two logits, but it returns one.")
    labels, best, least = _labels(y, logits), x, None
    for shift in range(1, logits.shape[1]):
        loss = partial(_targeted, (labels + shift) % logits.shape[1])
        u = pgd(model, x, y, loss=loss, best_iterate=True, clip=clip, **options)
        best, least = _keep(best, least, u, _logits(model, u), labels)
    return best


def _targeted(target, logits, y):
    return _own(logits, target) - _own(logits, y)


# ----------------------------------------------------------------------------------------- helpers


def _wide(v):
    """v in float32, if it is in half precision."""
    return v.to(torch.promote_types(v.dtype, torch.float32))


def _scaled(v):
    """Scales s, v / s and its 2-norms, (n, 1, ..., 1) and larger than 0, whose squares are normal.

    s is 1, unless squares of entries of v under- or overflow.
    """
    axes = tuple(range(1, v.ndim))
    lengths = torch.linalg.vector_norm(v, dim=axes, keepdim=True)
    least, largest = lengths.aminmax()
    if least.item() > _shortest(v.dtype) and largest.item() < math.inf:
        return 1, v, lengths
    scale = v.abs().amax(axes, keepdim=True)
    scale[scale == 0] = 1
    v = v / scale
    return scale, v, torch.linalg.vector_norm(v, dim=axes, keepdim=True).clamp_min_(1)


def _lengths(v):
    """2-norms (n, 1, ..., 1) that are, and whose inverses are, normal numbers."""
    scale, _, lengths = _scaled(v)
    lengths = lengths.mul_(scale).clamp_min_(torch.finfo(v.dtype).tiny)
    _check_finite(lengths / torch.finfo(v.dtype).eps)
    return lengths


@cache
def _shortest(dtype):
    """Length at which squares of entries begin to underflow."""
    limits = torch.finfo(dtype)
    return limits.tiny**0.5 / limits.eps


def _finite(v):
    """Whether all entries are finite: so they are if their sum is, which takes one pass."""
    return math.isfinite(v.sum().item()) or bool(v.isfinite().all())


def _check_finite(u):
    if not _finite(u):
        raise ValueError(
            f"step_size or the gradient must be smaller: an update of x overflows {u.dtype}."
        )


def _gradient(values, u):
    """Gradient of the sum of the losses of the samples; grad_outputs would import SymPy."""
    g = None
    if isinstance(values, torch.Tensor) and values.requires_grad and values.shape == u.shape[:1]:
        (g,) = torch.autograd.grad(values.sum(), u, allow_unused=True)
    if g is None:
        raise ValueError(f"model and loss must give a loss ({len(u)},) that depends on x smoothly.")
    return g


def _ascend(u, g, eta, norm, normalize):
    """u + eta g, or eta times the steepest direction; few passes over memory."""
    if normalize and norm == 2:
        _, g, lengths = _scaled(g)
        factor = lengths.reciprocal_().mul_(eta)
        if eta > 1:  # instead of infinity, which times 0 is NaN
            factor.clamp_max_(torch.finfo(g.dtype).max)
        return torch.addcmul(u, g, factor)
    return torch.add(u, g.sign() if normalize else g, alpha=eta)


def _projection(x, norm, eps, clip):
    """The map into the ball, then into the box: u stays in the ball, because x is in the box.

    It overwrites u, which is a fresh tensor at every step.
    """
    if norm == math.inf:
        low, high = x - eps, x + eps
        if clip is not None:
            low, high = low.clamp_(*clip), high.clamp_(*clip)
        return lambda u: u.clamp_(low, high)

    def project(u):
        delta = u.sub_(x)
        factor = _lengths(delta).clamp_min_(eps).reciprocal_().mul_(eps)
        u = torch.addcmul(x, delta, factor, out=delta)
        return u if clip is None else u.clamp_(*clip)

    return project


def _random(x, norm, eps, generator):
    """Uniform displacements in the ball of radius eps."""
    options = {"generator": generator, "dtype": x.dtype, "device": x.device}
    if norm == math.inf:
        return eps * (2 * torch.rand(x.shape, **options) - 1)
    direction = torch.randn(x.shape, **options)
    radius = torch.rand(len(x), **options) ** (1 / x[0].numel())
    return eps * radius.reshape(-1, *[1] * (x.ndim - 1)) * (direction / _lengths(direction))


def _keep(best, least, u, logits, y):
    """The inputs of least margin so far, and their margins."""
    z = _margin(logits, y)
    if least is None:
        return u, z
    better = z < least
    return (
        torch.where(better.reshape(-1, *[1] * (u.ndim - 1)), u, best),
        torch.minimum(z, least),
    )


def _check_inputs(x, clip):
    dense = isinstance(x, torch.Tensor) and x.layout == torch.strided
    if not (dense and x.is_floating_point() and x.ndim > 1 and x.numel()):
        found = f"a {type(x).__name__}"
        if isinstance(x, torch.Tensor):
            found = f"{x.dtype} of shape {tuple(x.shape)}" + ("" if dense else ", a sparse one")
        raise ValueError(
            f"x must be a non-empty floating-point tensor (n, ...), not sparse, but it was {found}."
        )
    least, largest = (end.item() for end in x.aminmax())  # NaN if there is one
    if not (math.isfinite(least) and math.isfinite(largest)):
        raise ValueError("x must have finite entries, but it contains NaN or infinity.")
    if clip is None:
        return
    low, high = _BOX if clip is _BOX else arguments.points("clip", clip, 2, axes=1).tolist()
    outside = least < low or largest > high
    if outside and ((x < low) | (x > high)).any():  # also where x rounds low and high to its dtype
        raise ValueError(
            f"x must lie in the box from {low} to {high}, or clip be another one or None, "
            f"but its entries reach from {least:.4g} to {largest:.4g}."
        )


def _checked_options(norm, loss, reduction):
    """What is ascended."""
    arguments.choice("norm", norm, (2, math.inf))
    arguments.choice("reduction", reduction, ("sum", "mean"))
    if callable(loss):
        return loss
    return LOSSES[arguments.choice("loss", loss, LOSSES, also="a function, ")]


def _nonnegative(name, value, dtype):
    """A number that is at least 0 and that dtype can hold."""
    largest = torch.finfo(dtype).max
    if type(value) is float and 0 <= value <= largest:  # the usual case, without an array
        return value
    wanted = f"a number that is at least 0 and at most {largest:.3g} in {dtype}"
    return arguments.number(name, value, wanted=wanted, least=0, most=largest)


def _logits(model, x):
    """Logits (n,) or (n, K), K >= 2. The model gets a copy of x, which it may overwrite."""
    try:
        logits = model(x.clone())
    except RuntimeError as error:
        weights = model.parameters() if isinstance(model, torch.nn.Module) else ()
        kinds = {f"{w.dtype} on {w.device}" for w in weights if w.is_floating_point()}
        if kinds and (found := f"{x.dtype} on {x.device}") not in kinds:
            wanted = " or ".join(sorted(kinds))
            raise ValueError(
                f"x must be {wanted}, like the parameters of the model, but it is {found}."
            ) from error
        raise
    return _checked_logits("model must return", logits, len(x))


def _checked_logits(demand, logits, n):
    if not (isinstance(logits, torch.Tensor) and logits.is_floating_point()):
        raise ValueError(f"{demand} floating-point numbers in a tensor.")
    shape = tuple(logits.shape)
    if shape[:1] != (n,) or len(shape) > 2 or 0 in shape:
        raise ValueError(f"{demand} logits ({n},) or ({n}, K), but their shape is {shape}.")
    if not _finite(logits):
        raise ValueError(f"{demand} finite, but there is NaN or infinity among the logits.")
    return _wide(logits[:, 0] if shape[1:] == (1,) else logits)


def _labels(y, logits):
    """y as numbers -1 and 1 for one logit, as indices of classes for more."""
    y = tensor("y", y, device=logits.device)
    if y.dtype == torch.bool:
        raise ValueError(f"y must contain real numbers, but its type is {y.dtype}.")
    if y.dtype in (torch.uint16, torch.uint32, torch.uint64):  # which torch does not compare
        y = y.double()
    y = y.clone() if y.is_inference() else y
    if y.shape != logits.shape[:1]:
        raise ValueError(f"y must have shape ({len(logits)},), but its shape is {tuple(y.shape)}.")
    one = logits.ndim == 1
    labels = y.to(logits.dtype if one else torch.long)
    valid = y.abs() == 1 if one else labels.clamp(0, logits.shape[1] - 1) == y
    if not valid.all():
        allowed = "-1 and 1" if one else f"0 to {logits.shape[1] - 1}"
        raise ValueError(f"y must contain only labels {allowed}, but it contains {y[~valid][0]}.")
    return labels
