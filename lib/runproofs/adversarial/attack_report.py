"""What attacks find on a torch model, what they may miss, and what a bound certifies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import nn

from runproofs import _arguments as arguments
from runproofs._report import Content, Report, percent
from runproofs._tensors import check_module, evaluation, passes_differ
from runproofs.adversarial import attacks

if TYPE_CHECKING:
    import matplotlib.axes

NOTABLE = 0.02  # share of inputs: what differs by more is a warning
STUCK = 0.05  # of the inputs that stand still although the whole box is allowed
TWO_LAYERS = [[nn.Linear, kind, nn.Linear] for kind in (nn.ReLU, nn.LeakyReLU)]
HARMLESS = (nn.Sequential, nn.Identity, nn.Flatten, nn.Dropout)  # around them
PAIRS, ROUNDS = 16, 10  # of points on both sides, for a step without gradients


@dataclass(frozen=True, eq=False)
class AttackRow:
    """One attack.

    Attributes
    ----------
    name : str
        What it ascends.
    steps : int
        Steps from each start.
    starts : int
        Starts: 1 is the input itself, more are random points of the ball.
    accuracy : float
        Share of inputs that are classified rightly wherever the attack has looked.
    robust : (n,) ndarray of bool
        These inputs.
    """

    name: str
    steps: int
    starts: int
    accuracy: float
    robust: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class AttackReport(Report):
    """Robust accuracy by attack, between what is certified and what is found; print or show it.

    Attributes
    ----------
    eps : float
        Radius.
    norm : float
        2 or infinity.
    accuracy : float
        Share of inputs that are classified rightly without an attack.
    attacks : tuple of AttackRow
        The attacks.
    robust_accuracy : float
        Share of inputs that no attack flips: an upper bound of what is robust.
    certified_accuracy : float
        Share of inputs that nothing in the ball flips, by a bound; NaN where there is none.
    saturated : float
        Share of inputs whose cross entropy has gradient 0 in the logit of their class, since their
        probability rounds to 1 in the precision of the logits.
    no_gradient : float
        Share of inputs at which the gradient of the margin in the input is exactly 0.
    anywhere : float
        Robust accuracy when the whole box is allowed: 0 if gradients lead anywhere.
    worst : (n, ...) Tensor
        For each input the point of least margin that an attack has found.
    warnings : tuple of str
        Why the robust accuracy may be too high, a sentence each.
    """

    eps: float
    norm: float
    accuracy: float
    attacks: tuple[AttackRow, ...]
    robust_accuracy: float
    certified_accuracy: float
    saturated: float
    no_gradient: float
    anywhere: float
    worst: torch.Tensor
    warnings: tuple[str, ...]

    def plot(self, ax: matplotlib.axes.Axes) -> None:
        """Draw the robust accuracy by attack, and a line at what is certified.

        Parameters
        ----------
        ax : matplotlib.axes.Axes
            Where to draw.
        """
        names = [f"{row.name}, {row.steps} x {row.starts}" for row in self.attacks]
        ax.barh(names, [row.accuracy for row in self.attacks], alpha=0.5)
        if not math.isnan(self.certified_accuracy):
            ax.axvline(self.certified_accuracy, linestyle="--", label="certified")
            ax.legend()
        ax.invert_yaxis()
        ax.set(xlim=(0, 1), xlabel="robust accuracy")

    def _content(self):
        norm = "l_2" if self.norm == 2 else "l_inf"
        bound, certified = self.certified_accuracy, not math.isnan(self.certified_accuracy)
        title = f"Attacks in {norm}, eps = {self.eps:g}: accuracy {percent(self.accuracy)}, "
        title += f"robust at most {percent(self.robust_accuracy)}"
        title += f", certified {percent(bound)}" if certified else ""
        rows = [
            [row.name, f"{row.steps}", f"{row.starts}", percent(row.accuracy)]
            for row in self.attacks
        ]
        remarks = [
            "Certified by a linear relaxation of the hidden layer."
            if certified
            else "Nothing is certified: the bound is for an nn.Sequential of Linear, ReLU or "
            "LeakyReLU, Linear.",
            f"Cross entropy loses the gradient of {percent(self.saturated)} to rounding; that of "
            f"the margin is exactly 0 at {percent(self.no_gradient)}.",
        ]
        if not math.isnan(self.anywhere):
            remarks.append(f"With the whole box allowed, {percent(self.anywhere)} stay right.")
        header = ["attack", "steps", "starts", "robust accuracy"]
        return Content(title, header, rows, remarks)


def attack_report(
    model: torch.nn.Module,
    x: ArrayLike,
    y: ArrayLike,
    eps: float,
    norm: float = math.inf,
    *,
    steps: int = 20,
    starts: int = 5,
    clip: tuple[float, float] | None = (0.0, 1.0),
    seed: int = 0,
) -> AttackReport:
    """Robust accuracy of a classifier by attack and loss, with what tells of masked gradients.

    Parameters
    ----------
    model : torch.nn.Module
        Takes inputs shaped like x; returns finite logits (n, K), (n, 1) or (n,).
    x : (n, ...) array_like
        Floating-point inputs, inside clip.
    y : (n,) array_like
        Labels: 0 to K - 1, or -1 and 1 for a single logit.
    eps : float
        Radius of the ball, at least 0.
    norm : {2, math.inf}, optional
        Norm of the ball; infinity by default.
    steps : int, optional
        Steps of an attack, at least 1; 20 by default.
    starts : int, optional
        Random starts of one of the attacks, at least 1; 5 by default.
    clip : (float, float) or None, optional
        Least and largest pixel; by default (0, 1). None sets no limits.
    seed : int, optional
        Of the random starts, at least 0; 0 by default.

    Returns
    -------
    AttackReport
        A row an attack, the bounds, and warnings.

    Notes
    -----
    Each attack makes `attacks.pgd` steps of ``2.5 eps / steps`` along the steepest direction, and
    keeps the worst point that it has seen. The one without gradients steps along ``sum_v (L(u +
    eps v / 2) - L(u - eps v / 2)) v`` for 16 random v, 10 times; it is weak, so that where it
    finds what the others miss, their gradients mislead.

    For a Sequential of Linear, ReLU or LeakyReLU, Linear (with Flatten and dropout) the certificate
    replaces each hidden unit whose sign can change by a line below or above it, whichever makes the
    margin smaller. The margin is then linear, and its least value over the ball is a lower bound of
    the true one, to rounding in float64; it is exact if no sign can change.

    Cost: ``steps (K + 9 + starts)`` gradients, and 320 passes. The model is left as it was.

    References
    ----------
    :claim:`thesis/algorithm-pgd`, :claim:`beyond/multiclass-all-targets`

    Examples
    --------
    >>> model = nn.Linear(2, 1, bias=False)
    >>> _ = nn.init.constant_(model.weight, 1)
    >>> x, y = torch.tensor([[0.5, 0.4], [0.1, 0.0]]), [1, 1]
    >>> report = attack_report(model, x, y, 0.2, clip=None)
    >>> report.accuracy, report.robust_accuracy
    (1.0, 0.5)
    """
    trained = isinstance(model, nn.Module) and any(part.training for part in model.modules())
    x = check_module(model, x)
    eps, norm = arguments.number("eps", eps, least=0), arguments.choice("norm", norm, (2, math.inf))
    steps = arguments.positive_integer("steps", steps)
    starts = arguments.positive_integer("starts", starts)
    seed = arguments.positive_integer("seed", seed, least=0)
    attacks._check_inputs(x, clip)
    with evaluation(model, seed):
        logits = attacks._logits(model, x)
        labels = attacks._labels(y, logits)
        search = _Search(model, x, labels, logits)
        saturated, gradients = _lost(model, x, labels)
        generator = torch.Generator(x.device).manual_seed(seed)
        ball, anywhere = {"norm": norm, "eps": eps, "clip": clip}, math.nan
        if gradients is not None:  # the model has some
            search.by_gradients(steps, starts, generator, ball)
            low, high = (end.item() for end in x.aminmax()) if clip is None else map(float, clip)
            box = {"norm": math.inf, "eps": high - low, "clip": (low, high)}
            anywhere = _share(search.margins(search.pgd("margin", steps, box)) > 0)
        search.add("without gradients", ROUNDS, 1, [search.blind(generator, **ball)])
        bound = _certified(model, x, labels, logits, eps, norm)
    smooth = gradients is not None
    still = _share(gradients.flatten(1).abs().amax(1) == 0) if smooth else 1.0
    report = AttackReport(
        eps=eps,
        norm=norm,
        accuracy=_share(search.right),
        attacks=tuple(search.rows),
        robust_accuracy=_share(search.least > 0),
        certified_accuracy=math.nan if bound is None else _share(bound > 0),
        saturated=saturated,
        no_gradient=still,
        anywhere=anywhere,
        worst=search.worst,
        warnings=(),
    )
    several = len(torch.unique(logits > 0 if logits.ndim == 1 else logits.argmax(1))) > 1
    wanders = passes_differ(model, x)
    said = {
        "The model came in train() mode; it is attacked in eval().": trained,
        "Two passes in eval() differ, each number is of one draw: attack the mean.": wanders,
        "The outputs look like probabilities: attack the logits, before softmax or sigmoid.": (
            _probabilities(logits)
        ),
        "The model gives no gradient: only the attack without gradients has looked.": not smooth,
        f"Cross entropy has lost the gradient of {percent(saturated)} to rounding: ascend the "
        "margin, or compute in float64.": saturated > 0,
        f"The gradient is exactly 0 at {percent(still)}: no attack by gradients moves "
        "from there.": smooth and still > 0,
        f"With the whole box allowed, {percent(anywhere)} stay right, and yet other classes lie in "
        "it: the gradients of the margin do not lead there.": several and anywhere > STUCK,
        **({} if wanders else _misses(report.attacks)),
    }
    return replace(report, warnings=tuple(warning for warning, holds in said.items() if holds))


def _share(which):
    return which.double().mean().item()


def _probabilities(logits):
    """Whether they are in [0, 1], and sum to 1 if there are several."""
    sums = logits.sum(1) if logits.ndim > 1 else torch.ones_like(logits)
    near = torch.allclose(sums, torch.ones_like(sums), rtol=0, atol=1e-3)
    return near and bool((logits.min() >= 0) & (logits.max() <= 1))


def _misses(rows):
    """A sentence on what one attack flips and another one misses, and whether it is notable."""
    *others, blind = (row.robust for row in rows)
    if not others:
        return {}
    one, ce, reflected, margin, *targets, longer, started = others
    best = np.logical_and.reduce([reflected, margin, *targets])
    missed = {
        "Cross entropy misses {} that the other losses flip: use these.": ce & ~best,
        "One step flips {} that many steps miss: the gradients are masked.": ce & ~one,
        "Five times the steps flip {} more: take more steps.": margin & ~longer,
        "Random starts flip {} more: take more starts.": margin & ~started,
        "Without gradients {} are flipped that no gradient flips: the gradients are masked.": (
            np.logical_and.reduce(others) & ~blind
        ),
    }
    return {text.format(percent(m.mean())): m.mean() > NOTABLE for text, m in missed.items()}


def _lost(model, x, labels):
    """Share of inputs whose own logit has no gradient of the cross entropy; gradients of margins.

    None for these if the model gives none.
    """
    with torch.enable_grad():
        u = x.clone().requires_grad_()
        outputs = model(u.clone())
        f = outputs[:, 0] if outputs.shape[1:] == (1,) else outputs
        y = labels.to(f.dtype) if f.ndim == 1 else labels
        logits = f.detach().requires_grad_()
        (slopes,) = torch.autograd.grad(attacks._ce(logits, y).sum(), logits)
        own = slopes if f.ndim == 1 else attacks._own(slopes, y)
        if not f.requires_grad:
            return _share(own == 0), None
        (g,) = torch.autograd.grad(attacks._margin(f, y).sum(), u, allow_unused=True)
    return _share(own == 0), g


class _Search:
    """Attacks on a model in evaluation mode: a row for each, and the worst point of all."""

    def __init__(self, model, x, labels, logits):
        self.model, self.x, self.labels, self.classes = model, x, labels, logits.shape[1:]
        self.rows, self.worst, self.least = [], x, attacks._margin(logits, labels)
        self.right = self.least > 0

    def margins(self, u):
        return attacks._margin(attacks._logits(self.model, u), self.labels)

    def add(self, name, steps, starts, points):
        """The row of an attack that has found these points, a batch from each start."""
        robust = self.right.clone()
        for u in points:
            logits = attacks._logits(self.model, u)
            robust &= attacks._margin(logits, self.labels) > 0
            self.worst, self.least = attacks._keep(self.worst, self.least, u, logits, self.labels)
        self.rows.append(AttackRow(name, steps, starts, _share(robust), robust.cpu().numpy()))

    def pgd(self, loss, steps, ball, attack=attacks.pgd, **options):
        size = ball["eps"] * (2.5 / steps if steps > 1 else 1)
        options |= {"loss": loss, "best_iterate": True} if attack is attacks.pgd else {}
        options |= {"steps": steps, "step_size": size, "normalize": True, **ball}
        return attack(self.model, self.x, self.labels, **options)

    def by_gradients(self, steps, starts, generator, ball):
        for name, loss, count in (
            ("cross entropy", "ce", 1),
            ("cross entropy", "ce", steps),
            ("reflected loss", "reflected", steps),
            ("margin", "margin", steps),
        ):
            self.add(name, count, 1, [self.pgd(loss, count, ball)])
        if self.classes and self.classes[0] > 2:  # with two, the margin is the only target
            self.add("all targets", steps, 1, [self.pgd("", steps, ball, attacks.all_targets)])
        self.add("margin", 5 * steps, 1, [self.pgd("margin", 5 * steps, ball)])
        options = {"random_start": True, "generator": generator}
        points = [self.pgd("margin", steps, ball, **options) for _ in range(starts)]
        self.add("margin, random starts", steps, starts, points)

    def blind(self, generator, norm, eps, clip):
        """Steps along differences of the margin, up to half a radius to both sides."""
        x, kind = attacks._wide(self.x), self.x.dtype
        project = attacks._projection(x, norm, eps, clip)
        best, least, u = self.x, None, x.clone()
        for _ in range(ROUNDS):
            slope = torch.zeros_like(x)
            for _ in range(PAIRS):
                v, margins = attacks._random(x, norm, eps, generator) / 2, []
                for side in (u + v, u - v):
                    point = project(side).to(kind)
                    logits = attacks._logits(self.model, point)
                    margins.append(attacks._margin(logits, self.labels))
                    best, least = attacks._keep(best, least, point, logits, self.labels)
                slope += (margins[1] - margins[0]).reshape(-1, *[1] * (x.ndim - 1)) * v
            u = project(attacks._ascend(u, slope, eps / 4, norm, True))
        logits = attacks._logits(self.model, u.to(kind))
        return attacks._keep(best, least, u.to(kind), logits, self.labels)[0]


def _certified(model, x, labels, logits, eps, norm):
    """Lower bounds of the margins over the ball, (n,); None if the model is of another kind."""
    parts = [part for _, part in model.named_modules(remove_duplicate=False)]
    parts = [p for p in parts if type(p) not in HARMLESS]
    if [type(p) for p in parts] not in TWO_LAYERS:
        return None
    alpha, X = getattr(parts[1], "negative_slope", 0.0), x.flatten(1).double()
    (W, b), (U, c) = ((p.weight.double(), p.bias) for p in parts[::2])
    b, c = (torch.zeros(len(M)).to(M) if v is None else v.double() for M, v in ((W, b), (U, c)))
    if not 0 <= alpha <= 1 or X.shape[1] != W.shape[1]:
        return None
    hidden = X @ W.T + b
    f = nn.functional.leaky_relu(hidden, alpha) @ U.T + c
    if not torch.allclose(f, logits.double().reshape(f.shape), rtol=1e-2, atol=1e-3):
        return None  # a hook changes what the parts give
    if len(U) == 1:
        D, shift = labels.double()[:, None, None] * U, labels.double()[:, None] * c
    else:
        D, shift = U[labels][:, None] - U, c[labels][:, None] - c
    # each unit between two lines: through its ends above, through the origin below
    dual = 1 if norm == math.inf else 2
    radius = eps * torch.linalg.vector_norm(W, dual, dim=1)
    low, high = hidden - radius, hidden + radius
    mixed = (low < 0) & (high > 0)
    slope = (low >= 0).to(W) * (1 - alpha) + alpha
    above = torch.where(mixed, (high - alpha * low) / (high - low).clamp_min(1e-300), slope)
    below = slope.masked_fill(mixed & (high > -low), 1)
    at_zero = high * (1 - above) * mixed
    slopes = D * torch.where(D < 0, above[:, None], below[:, None])
    value = shift + (slopes * hidden[:, None] + D.clamp_max(0) * at_zero[:, None]).sum(-1)
    bounds = value - eps * torch.linalg.vector_norm(slopes @ W, dual, dim=-1)
    return bounds[:, 0] if len(U) == 1 else bounds.scatter(1, labels[:, None], math.inf).amin(1)
