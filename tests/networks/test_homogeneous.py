"""The tester of positive homogeneity: degrees it must find, and maps that must not pass."""

import numpy as np
import pytest

from helpers.refusals import refusals
from runproofs.networks.homogeneous import degree, scaled

X = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 1.0]])


def relu(z):
    return np.maximum(z, 0)


def drawn(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=shape) for shape in shapes]


def test_degrees_need_not_be_positive_integers():
    for p in (0.25, 2 - 1e-6, 2 + 1e-6):
        found = degree(lambda w, p=p: np.sign(w) * np.abs(w) ** p, drawn(4)).found
        assert found == pytest.approx(p, rel=1e-12)
    # these are not tried at zero
    assert degree(lambda w: w / np.linalg.norm(w), drawn(3)).found == 0
    assert degree(lambda w: 1 / w, drawn(3)).found == -1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda w: np.tanh(w),
        lambda w: w**2 + w,
        lambda w: np.array([w[0], w[1] ** 2]),  # entries of different degrees
        lambda w: np.where(np.abs(w).max() > 3, 2 * w, w),
        lambda w: np.maximum(1 - np.abs(w), 0),  # vanishes at the first scale
    ],
)
def test_there_is_a_witness(wrong):
    found = degree(wrong, [np.array([0.5, 0.75])], scales=(2, 5))
    assert found.found is None
    alpha, entry, value, wanted = found.witness
    assert wrong(alpha * np.array([0.5, 0.75]))[entry] == value != wanted


def test_what_passes_for_rounding():
    def bent(w):
        return w * (1 + 1e-7 * np.abs(w))

    assert degree(bent, [np.array([1.0, 0.5])]).found is None
    assert degree(bent, [np.array([1.0, 0.5])], tol=1e-5).found == 1


def test_zero_is_tried():
    found = degree(lambda w: np.where(w == 0, 1.0, w), [np.array([1.0, 2.0])])
    assert found.witness == (0.0, (0,), 1.0, 0.0)
    assert degree(lambda w: w**2 / np.linalg.norm(w), [np.array([1.0, 2.0])]).witness.alpha == 0


def test_scale_of_the_output_does_not_matter():
    for size in (1e-200, 1e-12, 1e6, 1e150):
        assert degree(lambda w, size=size: size * w**2, drawn(3)).found == 2
        assert degree(lambda w, size=size: size * (w**2 + w), drawn(3)).found is None
        at_zero = degree(lambda w, size=size: np.where(w == 0, size, size * w), drawn(3))
        assert at_zero.witness.alpha == 0


def test_powers_of_the_biases():
    def network(W1, b1, W2, b2, W3):
        return relu(relu(X @ W1 + b1) @ W2 + b2) @ W3

    weights = drawn((2, 6), 6, (6, 6), 6, (6, 2))
    assert degree(network, weights, powers=[1, 1, 1, 2, 1]).found == 3
    assert degree(network, weights).found is None
    assert degree(network, weights, powers=[2, 2, 1, 3, 1]).found == 4
    assert scaled([[2, 3]], 3, [2])[0].tolist() == [18, 27]


test_bad_arguments = refusals(
    (lambda: scaled([[2, 3]], 3, [1, 1]), "powers must be 1 exponents"),
    (lambda: scaled([[2, 3]], 3, [0]), "powers"),
    (lambda: degree(lambda w: 0 * w, [1.0]), "not zero"),
    (lambda: degree(lambda w: w / 0, [np.array([1.0])]), "finite"),
    (lambda: degree(lambda w: np.ones(int(w)), [1.0]), "one shape"),
    (lambda: degree(lambda w: w, ["a"]), r"weights\[0\]"),
    (lambda: degree(lambda w: w, [1.0], tol=0), "tol"),
    *(
        (lambda scales=scales: degree(lambda w: w, [1.0], scales=scales), "scales must be")
        for scales in ((2,), (2, 2), (1, 2), (0, 2))
    ),
)
