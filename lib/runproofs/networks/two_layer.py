"""Two-layer leaky-ReLU networks, Section 6.2 of the thesis; with alpha = 0, ReLU networks.

The network, and the margin z at a point u, are::

    f_W(x) = a^T sigma(W x),   sigma(p) = max(alpha p, p),   z(u) = y f_W(u),

with W (m, d), a (m,) and labels y = -1, 1. At a kink the slope is alpha, as in PyTorch. All
functions broadcast: a batch of networks, of points, or of both. With W, a and points of
Fractions, outputs and gradients are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from runproofs import _arguments as arguments
from runproofs.linalg import column_norms


@dataclass(frozen=True, eq=False)
class TwoLayerNetwork:
    """The network ``x -> a^T sigma(W x)``, or a batch of them.

    Attributes
    ----------
    W : (..., m, d) ndarray
        Weights of the hidden layer, a row a unit.
    a : (..., m) ndarray
        Weights of the top layer.
    alpha : (...) ndarray
        Slope of sigma on negative numbers, in [0, 1]: 0 is the ReLU, Chapter 6 needs more than 0.

    Notes
    -----
    ``net[mask]`` switches hidden units off. So the network of Chapter 4, ``u^T sigma(V^T x)``, is
    ``TwoLayerNetwork(V.T, u, 0)``, several outputs being a batch of u, and that of Chapter 5,
    ``m^{-1/2} a^T B sigma(W x)`` with the mask b on the diagonal of B, is
    ``TwoLayerNetwork(W, a / m**0.5, 0)[b]``.

    References
    ----------
    :claim:`thesis/definition-network-6.2`

    Examples
    --------
    >>> net = TwoLayerNetwork([[2, 0], [0, -3]], [5, 7], 0.5)
    >>> net([[1, 1], [0, -2]]).tolist()
    [-0.5, 42.0]
    """

    W: np.ndarray
    a: np.ndarray
    alpha: np.ndarray

    def __post_init__(self):
        W = arguments.matrix("W", self.W, batched=True, exact=True)
        exact = W.dtype == object
        alpha = arguments.numbers("alpha", self.alpha, exact=exact, least=0, most=1)
        if exact:  # a float is a fraction
            alpha = np.vectorize(Fraction, otypes=[object])(alpha)
        for name, value in (
            ("W", W),
            ("a", arguments.points("a", self.a, W.shape[-2], exact=exact)),
            ("alpha", alpha),
        ):
            object.__setattr__(self, name, value)
        _agree(**_batches(self))

    def __call__(self, x):
        """Outputs f_W(x), (...), at points x (..., d)."""
        x = arguments.points("x", x, self.W.shape[-1], exact=self.W.dtype == object)
        _agree(network=_agree(**_batches(self)), x=x.shape[:-1])
        return output(self, preactivations(self, x))

    def __getitem__(self, mask):
        """The subnetwork that keeps the hidden units where mask is 1: a becomes mask * a.

        Parameters
        ----------
        mask : (..., m) array_like
            Zeros and ones, or Booleans; one mask or a batch.

        Returns
        -------
        TwoLayerNetwork
            The subnetwork. Weights are not rescaled: dropout's 1 / theta belongs into a.

        Examples
        --------
        >>> net = TwoLayerNetwork([[2, 0], [0, -3]], [5, 7], 0.5)
        >>> net[[[1, 0], [0, 1], [0, 0]]]([0, -2]).tolist()
        [0.0, 42.0, 0.0]
        """
        kept = arguments.zeros_and_ones("mask", mask, self.W.shape[-2])
        _agree(network=_agree(**_batches(self)), mask=kept.shape[:-1])
        return TwoLayerNetwork(self.W, kept * self.a, self.alpha)

    def at_each_point(self) -> TwoLayerNetwork:
        """The same networks with a new last batch axis, to broadcast against n points (n, d).

        Returns
        -------
        TwoLayerNetwork
            A batch (..., 1).
        """
        return TwoLayerNetwork(
            self.W[..., None, :, :], self.a[..., None, :], np.expand_dims(self.alpha, -1)
        )


def preactivations(network: TwoLayerNetwork, x: np.ndarray) -> np.ndarray:
    """Preactivations W x of the hidden units.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network or a batch.
    x : (..., d) ndarray
        Points.

    Returns
    -------
    (..., m) ndarray
        The preactivations at each point.

    Notes
    -----
    Cost: ``O(m d)`` per point. Nothing is checked.
    """
    W = network.W
    return x @ W.T if W.ndim == 2 else (x[..., None, :] @ W.mT)[..., 0, :]


def _slopes(network, hidden):
    """sigma' at preactivations (..., m), which is alpha at 0; nothing is checked."""
    return np.where(hidden > 0, 1, network.alpha[..., None])


def output(network: TwoLayerNetwork, hidden: np.ndarray) -> np.ndarray | Fraction | float:
    """``a^T sigma(.)`` at given preactivations.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network or a batch.
    hidden : (..., m) ndarray
        Preactivations of the hidden units.

    Returns
    -------
    (...) ndarray
        The outputs.

    Notes
    -----
    Nothing is checked.
    """
    return (network.a * np.maximum(network.alpha[..., None] * hidden, hidden)).sum(-1)


def margin(network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike) -> np.ndarray | Fraction | float:
    """Margin ``z = y f_W(x)``, negative where the network errs.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network or a batch.
    x : (..., d) array_like
        Points.
    y : (...) array_like
        Labels, -1 and 1.

    Returns
    -------
    (...) ndarray
        The margin of each point.

    Notes
    -----
    Cost: ``O(m d)`` per point.

    References
    ----------
    :claim:`thesis/definition-network-6.2`
    """
    x, y = _labelled(network, x, y)
    return y * output(network, preactivations(network, x))


def input_gradient(network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Gradient ``g = y W^T (a * sigma'(W x))`` of the margin in the input; <g, x> is the margin.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network or a batch.
    x : (..., d) array_like
        Points.
    y : (...) array_like
        Labels, -1 and 1.

    Returns
    -------
    (..., d) ndarray
        The gradient at each point.

    Notes
    -----
    Cost: ``O(m d)`` per point.

    References
    ----------
    :claim:`thesis/definition-network-6.2`
    """
    return _margin_and_gradient(network, *_labelled(network, x, y))[1]


def weight_gradient(network: TwoLayerNetwork, x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """Gradient ``y (a * sigma'(W x)) x^T`` of the margin in W.

    Parameters
    ----------
    network : TwoLayerNetwork
        One network or a batch.
    x : (..., d) array_like
        Points.
    y : (...) array_like
        Labels, -1 and 1.

    Returns
    -------
    (..., m, d) ndarray
        The gradient at each point.

    Notes
    -----
    Cost: ``O(m d)`` per point.

    References
    ----------
    :claim:`thesis/definition-network-6.2`
    """
    x, y = _labelled(network, x, y)
    back = y[..., None] * network.a * _slopes(network, preactivations(network, x))
    return back[..., :, None] * x[..., None, :]


def lipschitz(network: TwoLayerNetwork) -> np.ndarray | float:
    """Lipschitz constant ``L = ||a||_2 ||W||_2`` of f_W (spectral norm).

    Parameters
    ----------
    network : TwoLayerNetwork
        One network or a batch.

    Returns
    -------
    (...) ndarray
        An L for each network.

    Notes
    -----
    It is sharper than the thesis' ``max|a_r| sqrt(m) ||W||_F``. Cost: one SVD.
    """
    return column_norms(network.a[..., None])[..., 0] * np.linalg.norm(network.W, 2, axis=(-2, -1))


def loss(z: ArrayLike) -> np.ndarray | float:
    """Logistic loss ``ln(1 + e^{-z})`` of the margin, natural logarithm.

    Parameters
    ----------
    z : (...) array_like
        Margins.

    Returns
    -------
    (...) ndarray
        The loss of each margin.
    """
    return np.logaddexp(0, -arguments.margins(z))


def reflected_loss(z: ArrayLike) -> np.ndarray:
    """Reflected loss ``ln 1/(1 + e^z) = -loss(-z)`` of the margin: concave, below the 0-1 loss.

    Parameters
    ----------
    z : (...) array_like
        Margins.

    Returns
    -------
    (...) ndarray
        The loss of each margin.

    References
    ----------
    :claim:`thesis/definition-reflected-loss`
    """
    return -np.logaddexp(0, arguments.margins(z))


def trap(alpha: ArrayLike, mu: ArrayLike) -> TwoLayerNetwork:
    """The network with rows sqrt(alpha) e_1, -e_1, mu e_2 and top layer -sqrt(alpha), -1, mu.

    Where u_2 > 0, ``f(u) = mu^2 u_2 - (1 - alpha^2) max(0, -u_1)``: a floor and a cliff beside it,
    of which no gradient on the floor knows.

    Parameters
    ----------
    alpha : (...) array_like
        Slope of sigma on negative numbers, in [0, 1].
    mu : (...) array_like
        Weight of the floor, larger than 0.

    Returns
    -------
    TwoLayerNetwork
        The network, or a batch, to whose shape alpha and mu broadcast.

    References
    ----------
    :claim:`beyond/half-threshold-sharp`

    Examples
    --------
    >>> trap(0.25, 0.5)([[1, 2], [-1, 2]]).tolist()
    [0.5, -0.4375]
    """
    alpha = arguments.numbers("alpha", alpha, least=0, most=1)
    mu = arguments.numbers("mu", mu, above=0)
    _agree(alpha=alpha.shape, mu=mu.shape)
    alpha, mu = np.broadcast_arrays(alpha, mu)
    root = np.sqrt(alpha)
    W, a = np.zeros((*root.shape, 3, 2)), np.empty((*root.shape, 3))
    W[..., 0, 0], W[..., 1, 0], W[..., 2, 1] = root, -1, mu
    a[..., 0], a[..., 1], a[..., 2] = -root, -1, mu
    return TwoLayerNetwork(W, a, alpha)


# ----------------------------------------------------------------------------------------- helpers


def _margin_and_gradient(network, u, y):
    """`margin` and `input_gradient` at once, at points u (..., d); nothing is checked."""
    hidden = preactivations(network, u)
    s = _slopes(network, hidden)
    back = y[..., None] * network.a * s
    W = network.W
    gradient = back @ W if W.ndim == 2 else (back[..., None, :] @ W)[..., 0, :]
    return (back * hidden).sum(-1), gradient


def _labelled(network, x, y):
    """Points x (..., d) and labels y (...) as arrays, checked against each other and the network.

    Raises ValueError for bad arguments.
    """
    exact = network.W.dtype == object
    x = arguments.points("x", x, network.W.shape[-1], exact=exact)
    y = arguments.signs("y", y)
    if exact:
        y = y.astype(int).astype(object)
    _batch_shape(network, x, y)
    return x, y


def _batch_shape(network, x, y):
    """The common batch shape of a network and of arrays x (..., d) and y (...).

    Raises ValueError if there is none.
    """
    return _agree(network=_agree(**_batches(network)), x=x.shape[:-1], y=y.shape)


def _batches(network):
    return {
        "W": network.W.shape[:-2],
        "a": network.a.shape[:-1],
        "alpha": network.alpha.shape,
    }


def _agree(**batches):
    """The shape to which the named batch shapes broadcast."""
    try:
        return np.broadcast_shapes(*batches.values())
    except ValueError:
        *names, last = batches
        *shapes, shape = (str(batch) for batch in batches.values())
        raise ValueError(
            f"{', '.join(names)} and {last} must agree in their batch axes, "
            f"but these are {', '.join(shapes)} and {shape}."
        ) from None
