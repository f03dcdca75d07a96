"""The experiments of Chapter 3: Figures 3-2 and 3-3, each with sampled and with exact gradients.

The settings are those of the public notebook behind the figures, where the text leaves them open.
The random numbers are ours; a run has the same start at every rate and with either gradient.
"""

from itertools import pairwise

import numpy as np
import torch

from runproofs.experiments.base import experiment
from runproofs.linear import deep
from runproofs.linear.deep import deep_training

SPECTRA = {"widths": (20, 20, 20, 20), "rank": 15, "noise": 0.1}
RATES = tuple(round(0.05 * i, 2) for i in range(1, 20))
GAPS = {"widths": (5, 5, 5, 5, 5, 5, 1), "rank": 1, "noise": 0.1, "theta": 0.7, "seed": 1}
KEPT = 0.5  # a singular value above it counts for the rank of a map of Figure 3-2


def teacher(widths, rank, noise, seed):
    """The map U V^T + noise, (d_{k+1}, d_0), with standard Gaussian U and V of `rank` columns."""
    rng = np.random.default_rng(seed)
    U, V = (rng.standard_normal((d, rank)) for d in (widths[-1], widths[0]))
    return U @ V.T + noise * rng.standard_normal((widths[-1], widths[0]))


def start(widths, run, seed):
    """Weights (1, d_i, d_{i-1}), float64, uniform between +-1 / sqrt(d_i d_{i-1})."""
    rng = np.random.default_rng((seed, run))
    return [
        torch.tensor(rng.uniform(-1, 1, (1, b, a)) / (a * b) ** 0.5) for a, b in pairwise(widths)
    ]


def schedule(eta, outputs):
    """The step size: the loss is averaged over the outputs; /1.4 at once and every 10,000 steps."""
    return lambda t: eta / outputs / 1.4 ** (1 + t // 10_000)


def train(run, theta, widths, rank, noise, steps, eta, batch, seed, every, observe):
    """One run at the rates theta; `observe` gets float64 arrays. batch None: exact gradients."""
    N, weights = teacher(widths, rank, noise, seed), start(widths, run, seed)
    common = {
        "steps": steps, "step_size": schedule(eta, widths[-1]), "every": every,
        "observe": lambda weights: observe([W[:, 0].double().numpy() for W in weights]),
    }  # fmt: skip
    if batch is None:
        return deep_training.train_exact(N, weights, keep=theta, **common)
    weights = [W.float() for W in weights]
    generator = torch.Generator().manual_seed(1000 * seed + run)
    return deep_training.train_sampled(
        N, weights, keep=theta, batch=batch, generator=generator, **common
    )


def _spectra(run, theta, widths, rank, noise, steps, eta, seed, batch=None):
    """What `figure_3_2` and `figure_3_2_exact` return."""
    N = teacher(widths, rank, noise, seed)
    lam = 1 / np.array(theta) - 1

    def observe(weights):
        M = deep.network_map(weights)
        s = np.linalg.svd(M, compute_uv=False)
        return {
            "risks": np.float32(((M - N) ** 2).sum((1, 2))),
            "ranks": np.uint8((s > KEPT).sum(1)),
            "singular_values": np.float32(s),
            "objective": deep.objective(weights, N, lam, (N**2).sum()),
            "gaps": np.float32(deep.equalization_gaps(weights, lam).parts),
        }

    every = max(steps // 16, 1)
    trained = train(run, theta, widths, rank, noise, steps, eta, batch, seed, every, observe)
    final = ("singular_values", "objective", "gaps")
    found = trained.observed
    return {"times": trained.times, **{a: found[a][-1] if a in final else found[a] for a in found}}


@experiment(
    "figure-3-2", over=("run",),
    quick={**SPECTRA, "run": range(2), "theta": (0.3, 0.5, 0.7, 0.9), "steps": 4000, "eta": 0.02,
           "batch": 200},
    paper={**SPECTRA, "run": range(41), "theta": RATES, "steps": 16_010, "eta": 0.01,
           "batch": 1000},
)  # fmt: skip
def figure_3_2(run, theta, widths, rank, noise, steps, eta, batch, seed=0):
    """Dropout SGD (float32) at every rate, from one start.

    Returns, for each rate, the final "singular_values" of the map, the final "objective" and "gaps"
    r_1, ..., r_k, evaluated exactly; and at "times" the "risks" ||map - N||^2 and the "ranks".
    """
    return _spectra(run, theta, widths, rank, noise, steps, eta, seed, batch)


@experiment(
    "figure-3-2-exact", over=("run",),
    quick={**SPECTRA, "run": range(3), "theta": (0.1, 0.3, 0.5, 0.7, 0.9), "steps": 4000,
           "eta": 0.04},
    paper={**SPECTRA, "run": range(41), "theta": RATES, "steps": 16_010, "eta": 0.01},
)  # fmt: skip
def figure_3_2_exact(run, theta, widths, rank, noise, steps, eta, seed=0):
    """As `figure_3_2`, with the gradient of the expected objective (float64)."""
    return _spectra(run, theta, widths, rank, noise, steps, eta, seed)


def local_optima(result):
    """The local optima of the ranks that the runs of Figure 3-2 reached.

    result: of `figure_3_2` or `figure_3_2_exact`. Returns their singular values (runs, rates, d),
    padded with zeros, and their objectives (runs, rates); NaN for a rank that has none.
    Source: beyond the thesis, Theorem 3.H.
    """
    about, N, m = _taught(result)
    reached = result["ranks"][:, -1]
    spectra, values = np.zeros(result["singular_values"].shape), np.zeros(reached.shape)
    for k, theta in enumerate(about["theta"]):
        for rank in np.unique(reached[:, k]):
            optimum = deep.local_optimum(m, about["widths"][1:-1], 1 / theta - 1, int(rank))
            spectrum = optimum.spectrum if optimum else np.nan
            value = optimum.value if optimum else np.nan
            spectra[reached[:, k] == rank, k, :rank] = spectrum
            values[reached[:, k] == rank, k] = (N**2).sum() + value
    return spectra, values


def unevenness(result, least=0.5):
    """Largest spread of m_i - s_i over the surviving directions of one run, relative to their mean.

    result: as in `local_optima`. least: only runs with theta >= least count.
    """
    about, _, m = _taught(result)
    mild = np.array(about["theta"]) >= least
    spectra = result["singular_values"][:, mild].reshape(-1, len(m))
    ranks = result["ranks"][:, -1, mild].ravel()
    losses = [m[:r] - s[:r] for s, r in zip(spectra, ranks, strict=True)]
    return max(np.ptp(loss) / loss.mean() for loss in losses)


def _taught(result):
    """Settings of a run of Figure 3-2, its teacher, and the teacher's singular values."""
    about = result.provenance["settings"]
    N = teacher(about["widths"], about["rank"], about["noise"], about["seed"])
    return about, N, np.linalg.svd(N, compute_uv=False)


def _gaps(run, theta, widths, rank, noise, steps, eta, seed, batch=None):
    """What `figure_3_3` and `figure_3_3_exact` return."""
    lam = 1 / theta - 1

    def observe(weights):
        gaps = deep.equalization_gaps([W[0] for W in weights], lam)
        return {
            "gaps": np.float32(np.append(gaps.parts, gaps.total)),
            "map": np.float32(deep.network_map(weights)[0, 0]),
        }

    times = np.unique(np.geomspace(1, steps, 100).astype(int)).tolist()
    trained = train(run, (theta,), widths, rank, noise, steps, eta, batch, seed, times, observe)
    return {"times": trained.times, **trained.observed}


@experiment(
    "figure-3-3", over=("run",),
    quick={**GAPS, "run": range(2), "steps": 4000, "eta": 0.3, "batch": 200},
    paper={**GAPS, "run": range(31), "steps": 40_010, "eta": 0.3, "batch": 1000},
)  # fmt: skip
def figure_3_3(run, theta, widths, rank, noise, steps, eta, batch, seed=0):
    """Dropout SGD (float32) in a network with one output.

    Returns, at "times" spread evenly on a logarithmic scale, the "gaps" r_1, ..., r_k and r, and
    the network "map" (d_0,).
    """
    return _gaps(run, theta, widths, rank, noise, steps, eta, seed, batch)


@experiment(
    "figure-3-3-exact", over=("run",),
    quick={**GAPS, "run": range(1), "steps": 4000, "eta": 0.3},
    paper={**GAPS, "run": range(31), "steps": 40_010, "eta": 0.3},
)  # fmt: skip
def figure_3_3_exact(run, theta, widths, rank, noise, steps, eta, seed=0):
    """As `figure_3_3`, with the gradient of the expected objective (float64)."""
    return _gaps(run, theta, widths, rank, noise, steps, eta, seed)
