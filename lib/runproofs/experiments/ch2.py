"""The experiments of Chapter 2: Figure 2-2, Figure 2-3, and Figure 2-3 with a constant step size.

The thesis states neither step sizes nor initial points nor the decay of the spectrum; what stands
in the settings here is our choice.
"""

import numpy as np
import torch

from runproofs import linalg
from runproofs.experiments.base import experiment
from runproofs.linear import shallow_training
from runproofs.linear.shallow import optimal_spectrum
from runproofs.training import cosine_schedule

LAMBDAS = (0.1, 0.5, 1.0)
SCALAR = {
    "lam": LAMBDAS, "M": 2.0, "starts": ((1.2, 0.05), (-0.1, 0.4)), "steps": 8000, "eta": 0.01,
}  # fmt: skip
SMALL = {
    "runs": 10, "steps": 20_000, "shape": (30, 20), "decay": 0.25,
    "deviation": (30**-0.5, 20**-0.5),
}  # fmt: skip
LARGE = {
    "runs": 50, "steps": 100_000, "shape": (120, 80), "decay": 0.1,
    "deviation": (120**-0.5, 80**-0.5),
}  # fmt: skip


@experiment(
    "figure-2-2", over=("lam",), quick={**SCALAR, "runs": 10}, paper={**SCALAR, "runs": 50}
)  # fmt: skip
def figure_2_2(lam, M, starts, runs, steps, eta, seed=0):
    """Dropout trajectories u of the scalar autoencoder x -> u u^T x, from each of the starts.

    Returns "path" (starts, k, r), every 20th iterate of the first run; "tail" (starts, runs, r),
    the mean of |u| over the last half; "untied", the largest |U - V| at the end.
    """
    start = torch.tensor(starts, dtype=torch.float64).repeat_interleave(runs, 0)[:, None, :]
    trained = shallow_training.train_linear(
        [[M]], start, start, keep=1 / (1 + lam), steps=steps, step_size=eta, every=20,
        generator=torch.Generator().manual_seed(seed), observe=lambda U, V: {"u": U[:, 0]},
    )  # fmt: skip
    u = trained.observed["u"].reshape(len(trained.times), len(starts), runs, -1)
    return {
        "path": u[:, :, 0].swapaxes(0, 1),
        "tail": np.abs(u[len(u) // 2 :]).mean(axis=0),
        "untied": (trained.U - trained.V).abs().max(),
    }


def spectrum(shape, decay):
    """The singular values exp(-decay (i - 1)) of the teacher of Figure 2-3."""
    return np.exp(-decay * np.arange(min(shape)))


def optima(settings):
    """The minimum of Problem (2.6) for each r and each lam of a run of Figure 2-3."""
    sigma = spectrum(settings["shape"], settings["decay"])
    return np.array(
        [[optimal_spectrum(sigma, r, lam).value for lam in settings["lam"]] for r in settings["r"]]
    )


def _reach_the_optimum(lam, r, runs, steps, shape, decay, deviation, step_size, seed):
    """Train `runs` networks on one teacher; what `figure_2_3` returns."""
    M = linalg.with_spectrum(*shape, spectrum(shape, decay), seed)
    generator = torch.Generator().manual_seed(seed)
    U, V = (
        scale * torch.randn(runs, d, r, generator=generator)
        for scale, d in zip(deviation, shape, strict=True)
    )
    times = np.unique(np.geomspace(1, steps, 240).astype(int)).tolist()
    trained = shallow_training.train_linear(
        M, U, V, keep=1 / (1 + lam), steps=steps, step_size=step_size, generator=generator,
        every=times, observe=shallow_training.progress(M, lam),
    )  # fmt: skip
    objective, variance = (trained.observed[name] for name in ("objective", "score_variance"))
    product = (trained.U @ trained.V.mT).double()
    return {
        "times": trained.times,
        "objective": objective.mean(axis=1),
        "objective_range": np.quantile(objective, (0.1, 0.9), axis=1),
        "variance": variance.mean(axis=1),
        "variance_range": np.quantile(variance, (0.1, 0.9), axis=1),
        "final": objective[-1],
        "singular_values": torch.linalg.svdvals(product).mean(0),
    }


@experiment(
    "figure-2-3", over=("r", "lam"),
    quick={**SMALL, "r": (5, 20), "lam": LAMBDAS, "eta": 0.01},
    paper={**LARGE, "r": (20, 80), "lam": LAMBDAS, "eta": 0.01},
)  # fmt: skip
def figure_2_3(lam, r, runs, steps, shape, decay, deviation, eta, seed=0):
    """Algorithm 1 (float32) on a teacher with decaying spectrum; eta falls to 0 as a cosine.

    `deviation` has the standard deviations of the entries of U and of V at the start. Returns, at
    "times" that are evenly spread on a logarithmic scale, the mean over runs and the 10% and 90%
    quantiles of the objective and of the variance of the importance scores; the final objective of
    each run; and the singular values of the final products, averaged.
    """
    step_size = cosine_schedule(eta, steps)
    return _reach_the_optimum(lam, r, runs, steps, shape, decay, deviation, step_size, seed)


@experiment(
    "figure-2-3-constant-step", over=("r", "lam"),
    quick={**SMALL, "r": (5,), "lam": (0.1, 1.0), "eta": 0.003},
    paper={**LARGE, "r": (20,), "lam": (0.1, 1.0), "eta": 0.003},
)  # fmt: skip
def figure_2_3_constant_step(lam, r, runs, steps, shape, decay, deviation, eta, seed=0):
    """Figure 2-3 with the constant step size eta, which leaves the objective at a noise floor."""
    return _reach_the_optimum(lam, r, runs, steps, shape, decay, deviation, eta, seed)
