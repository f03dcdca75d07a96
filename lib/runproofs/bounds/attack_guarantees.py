"""The bounds of Chapter 6 on attacks as numbers: what PGD on a margin finds, and how soon.

eps is the radius of the attack (the thesis' nu), error the thesis' epsilon, and A stands for
``kappa sqrt(m)``, or ``||a||_2`` where a top layer is arbitrary. In formulas eta is step_size, and
T is the number of visits. All functions but `visits_at_level` broadcast, and none but that rounds.
"""

from fractions import Fraction
from math import ceil
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments


def beta_threshold(eps: ArrayLike, alpha: ArrayLike, A: ArrayLike) -> float | np.ndarray:
    """The least beta of Lemma 18 and Theorem 16, ``2 eps (1 - alpha) A``.

    Above half of it PGD on the margin finds a flip.

    Parameters
    ----------
    eps : float or array_like
        Radius of the attack, at least 0.
    alpha : float or array_like
        Slope of the leaky ReLU, in [0, 1].
    A : float or array_like
        Norm of the top layer, at least 0.

    Returns
    -------
    float or ndarray
        The threshold.

    References
    ----------
    :claim:`thesis/lemma-18`, :claim:`beyond/pgd-half-threshold`
    """
    eps, A = arguments.numbers("eps", eps, least=0), arguments.numbers("A", A, least=0)
    return 2 * eps * (1 - arguments.numbers("alpha", alpha, least=0, most=1)) * A


def attack_step(A: ArrayLike, norm: ArrayLike) -> float | np.ndarray:
    """Largest step of Lemma 18, ``1 / (A ||W||)^2``.

    Parameters
    ----------
    A : float or array_like
        Norm of the top layer, larger than 0.
    norm : float or array_like
        Frobenius norm of W, or the spectral norm, larger than 0.

    Returns
    -------
    float or ndarray
        The step size.

    References
    ----------
    :claim:`thesis/lemma-18`
    """
    return 1 / (arguments.numbers("A", A, above=0) * arguments.numbers("norm", norm, above=0)) ** 2


def visits_at_level(b0: float | Fraction, alpha: float | Fraction) -> int:
    """Visits with which PGD on the margin finds a flip at every level above b0.

    ``ceil((b0 - 1 + alpha)^-2)``.

    Parameters
    ----------
    b0 : float
        Level, larger than 1 - alpha.
    alpha : float
        Slope of the leaky ReLU, in [0, 1].

    Returns
    -------
    int
        Number of visited points.

    Notes
    -----
    Arguments are taken as they read in decimals, and the rest is exact: .4 and .8 are two fifths
    and four fifths, and where the power is an integer, it is the result.

    References
    ----------
    :claim:`beyond/pgd-half-threshold`, :claim:`beyond/end-to-end-cost`

    Examples
    --------
    >>> visits_at_level(0.4, 0.8)
    25
    """
    alpha = Fraction(str(arguments.number("alpha", alpha, least=0, most=1)))
    b0 = Fraction(str(arguments.number("b0", b0, above=0)))
    wanted = "a number that is larger than 1 - alpha"
    excess = arguments.number("b0", b0, exact=True, wanted=wanted, above=1 - alpha) - 1 + alpha
    return ceil(excess**-2)


def flow_time(
    z: ArrayLike, slope: ArrayLike, loss: Literal["ce", "reflected"] = "ce"
) -> float | np.ndarray:
    """Total step that gradient ascent needs to bring an affine margin from z down to 0.

    Parameters
    ----------
    z : float or array_like
        Margin at the start; where it is negative, the result is 0.
    slope : float or array_like
        Norm of the gradient of the margin, larger than 0.
    loss : {"ce", "reflected"}, optional
        "ce" gives ``(e^z + z - 1) / slope^2``, below which no sequence of steps succeeds;
        "reflected" gives ``(z + 1 - e^-z) / slope^2``, from which on every one does.

    Returns
    -------
    float or ndarray
        The sum of the step sizes.

    References
    ----------
    :claim:`beyond/total-step-law`

    Examples
    --------
    >>> [round(float(flow_time(7, 1, loss)), 3) for loss in ("ce", "reflected")]
    [1102.633, 7.999]
    """
    arguments.choice("loss", loss, ("ce", "reflected"))
    z, slope = np.maximum(arguments.numbers("z", z), 0), arguments.numbers("slope", slope, above=0)
    return (z + (np.expm1(z) if loss == "ce" else -np.expm1(-z))) / slope**2
