"""Two-layer leaky-ReLU networks, Section 6.2 of the thesis; with alpha = 0, ReLU networks.

    f_W(x) = a^T sigma(W x),   sigma(p) = max(alpha p, p),   z(u) = y f_W(u), the margin at u,

with W (m, d), a (m,) and labels y = -1, 1. At a kink the slope is alpha, as in PyTorch. All
functions broadcast: a batch of networks, of points, or of both.
"""

from dataclasses import dataclass

import numpy as np

from runproofs import _arguments as arguments
from runproofs.linalg import column_norms


@dataclass(frozen=True, eq=False)
class TwoLayerNetwork:
    """The network x -> a^T sigma(W x), or a batch of them.

    W: (..., m, d). a: (..., m) or (m,). alpha: in [0, 1], a number or a batch; the theorems of
    Chapter 6 need alpha > 0, and alpha = 0 is the ReLU. Arrays of Fractions, and an alpha that is
    one, stay exact in what is computed from them. Raises ValueError for bad arguments.
    `net[mask]` switches hidden units off. So the network of Chapter 4, u^T sigma(V^T x), is
    TwoLayerNetwork(V.T, u, 0), several outputs being a batch of u, and that of Chapter 5,
    m^{-1/2} a^T B sigma(W x) with the mask b on the diagonal of B, is
    TwoLayerNetwork(W, a / m**0.5, 0)[b].

    >>> net = TwoLayerNetwork([[2, 0], [0, -3]], [5, 7], 0.5)
    >>> net([[1, 1], [0, -2]]).tolist()
    [-0.5, 42.0]
    """

    W: np.ndarray
    a: np.ndarray
    alpha: np.ndarray

    def __post_init__(self):
        W = arguments.matrix("W", self.W, batched=True, exact=True)
        alpha = arguments.numbers("alpha", self.alpha, exact=True, least=0, most=1)
        for name, value in (
            ("W", W),
            ("a", arguments.points("a", self.a, W.shape[-2], exact=True)),
            ("alpha", np.asarray(alpha)),
        ):
            object.__setattr__(self, name, value)
        _agree(**_batches(self))

    def __call__(self, x):
        """f_W(x) at x (..., d). Raises ValueError for bad arguments. Cost: O(m d) a point."""
        x = arguments.points("x", x, self.W.shape[-1], exact=True)
        _agree(network=_agree(**_batches(self)), x=x.shape[:-1])
        return output(self, preactivations(self, x))

    def __getitem__(self, mask):
        """The sub-network that keeps the hidden units where mask is 1: a becomes mask * a.

        mask: (..., m), 0 and 1 or Booleans, one or a batch. Weights are not rescaled: dropout's
        1 / theta belongs into a. Raises ValueError for bad arguments. Cost: O(m d), to check W.

        >>> net = TwoLayerNetwork([[2, 0], [0, -3]], [5, 7], 0.5)
        >>> net[[[1, 0], [0, 1], [0, 0]]]([0, -2]).tolist()
        [0.0, 42.0, 0.0]
        """
        try:
            kept = np.asarray(mask)
        except ValueError:  # NumPy's own message for ragged lists names no argument
            kept = np.asarray(None)
        m = self.W.shape[-2]
        if kept.dtype.kind not in "biuf" or kept.shape[-1:] != (m,) or (kept * kept != kept).any():
            raise ValueError(f"mask must consist of zeros and ones, {m} on its last axis.")
        _agree(network=_agree(**_batches(self)), mask=kept.shape[:-1])
        return TwoLayerNetwork(self.W, kept * self.a, self.alpha)

    def at_each_point(self):
        """The same networks with a new last batch axis, to broadcast against n points (n, d)."""
        return TwoLayerNetwork(
            self.W[..., None, :, :], self.a[..., None, :], np.expand_dims(self.alpha, -1)
        )


def preactivations(network, x):
    """W x (..., m) at points x (..., d); nothing is checked."""
    W = network.W
    return x @ W.T if W.ndim == 2 else (x[..., None, :] @ W.mT)[..., 0, :]


def _slopes(network, hidden):
    """sigma' at preactivations (..., m), which is alpha at 0; nothing is checked."""
    return np.where(hidden > 0, 1, network.alpha[..., None])


def output(network, hidden):
    """a^T sigma(.) at preactivations (..., m); nothing is checked."""
    return (network.a * np.maximum(network.alpha[..., None] * hidden, hidden)).sum(-1)


def margin(network, x, y):
    """Margin z = y f_W(x): negative where the network errs.

    x: (..., d). y: (...), labels -1 and 1. Returns the batch shape.
    Raises ValueError for bad arguments. Cost: O(m d) a point.
    """
    x, y = _labelled(network, x, y)
    return y * output(network, preactivations(network, x))


def input_gradient(network, x, y):
    """Gradient of the margin with respect to the input, g = y W^T (a * sigma'(W x)).

    Arguments, errors and cost as in `margin`. Returns (..., d). <g, x> is the margin.
    Source: thesis, Section 6.2.
    """
    return _margin_and_gradient(network, *_labelled(network, x, y))[1]


def weight_gradient(network, x, y):
    """Gradient of the margin with respect to W, y (a * sigma'(W x)) x^T.

    Arguments, errors and cost as in `margin`. Returns (..., m, d). Source: thesis, Section 6.2.
    """
    x, y = _labelled(network, x, y)
    back = y[..., None] * network.a * _slopes(network, preactivations(network, x))
    return back[..., :, None] * x[..., None, :]


def lipschitz(network):
    """L = ||a||_2 ||W||_2 (spectral norm): f_W is L-Lipschitz. Returns the batch shape.

    Cost: one SVD. Source: sharper than the thesis, which has max|a_r| sqrt(m) ||W||_F.
    """
    return column_norms(network.a[..., None])[..., 0] * np.linalg.norm(network.W, 2, axis=(-2, -1))


def loss(z):
    """Logistic loss ln(1 + e^{-z}) of the margin, natural logarithm."""
    return np.logaddexp(0, -np.asarray(z, dtype=float))


def reflected_loss(z):
    """Reflected loss ln 1/(1 + e^z) = -loss(-z): concave, below the 0-1 loss.

    Source: thesis, Section 6.2.
    """
    return -np.logaddexp(0, np.asarray(z, dtype=float))


def trap(alpha, mu):
    """The network with rows sqrt(alpha) e_1, -e_1, mu e_2 and top layer -sqrt(alpha), -1, mu.

    Where u_2 > 0, f(u) = mu^2 u_2 - (1 - alpha^2) max(0, -u_1): a floor and a cliff beside it, of
    which no gradient on the floor knows. alpha: in [0, 1]. mu: larger than 0. They broadcast to a
    batch of networks. Raises ValueError for bad arguments.
    Source: beyond the thesis, Proposition 6.G.

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
    x = arguments.points("x", x, network.W.shape[-1], exact=True)
    y = arguments.signs("y", y)
    y = y.astype(int) if x.dtype == object else y
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
