"""The subnetworks of a wide layer, by loops over masks, enumeration and the normal law."""

import numpy as np
import pytest
from scipy.stats import norm

from helpers.refusals import refusals
from runproofs.masks import all_masks
from runproofs.networks import subnetworks

n, m, C, K, q = 5, 7, 3, 4, 0.2
rng = np.random.default_rng(0)
H = np.maximum(rng.normal(size=(n, m)), 0)
A, beta = rng.normal(size=(C, m)), rng.normal(size=C)
masks = rng.random((K, m)) < 0.5
labels = np.array([0, 1, 2, 1, 0])


def test_the_blocks_of_the_product_are_the_subnetworks():
    expected = [(H * b / q) @ A.T + beta for b in masks]
    found = subnetworks.logits(H, A, beta, masks, keep=q)
    assert found.shape == (K, n, C)
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    np.testing.assert_array_equal(subnetworks.logits(H, A, beta, masks.astype(int), keep=q), found)


@pytest.mark.parametrize("block", [1, 2 * m * C, 3 * m * C + 1])
def test_a_product_in_parts_is_the_same(block, monkeypatch):
    whole = subnetworks.logits(H, A, beta, masks, keep=q)
    monkeypatch.setattr(subnetworks, "BLOCK", block)
    np.testing.assert_allclose(subnetworks.logits(H, A, beta, masks, keep=q), whole, rtol=1e-13)


def test_all_units_are_the_full_network():
    full = subnetworks.logits(H, A, beta, np.ones((1, m)), keep=1)
    np.testing.assert_allclose(full[0], H @ A.T + beta, rtol=1e-13)
    mean, covariance = subnetworks.moments(H, A, beta, keep=1)
    np.testing.assert_allclose(mean, full[0], rtol=1e-13)
    assert (covariance == 0).all()


def test_moments_by_enumeration():
    every, law = all_masks(m, keep=q)
    z = subnetworks.logits(H, A, beta, every, keep=q)
    mean = np.tensordot(law, z, 1)
    covariance = np.einsum("k,kni,knj->nij", law, z - mean, z - mean)
    found = subnetworks.moments(H, A, beta, keep=q)
    np.testing.assert_allclose(found[0], mean, rtol=1e-12)
    np.testing.assert_allclose(found[1], covariance, rtol=1e-12, atol=1e-12)


def test_single_precision_stays_single_and_a_mixture_does_not():
    single = [a.astype(np.float32) for a in (H, A, beta)]
    assert subnetworks.logits(*single, masks, keep=q).dtype == np.float32
    assert {a.dtype for a in subnetworks.moments(*single, keep=q)} == {np.dtype(np.float32)}
    assert subnetworks.logits(single[0], A, beta, masks, keep=q).dtype == np.float64
    np.testing.assert_allclose(
        subnetworks.logits(*single, masks, keep=q),
        subnetworks.logits(H, A, beta, masks, keep=q),
        rtol=1e-4,
    )


def test_two_classes_by_the_normal_law():
    mean, covariance = np.array([[1.0, 0.0]] * 2), np.array([[[2.0, 0.5], [0.5, 1.0]]] * 2)
    p = subnetworks.predicted_accuracy(mean, covariance, [0, 1], 1, draws=40_000)
    right = norm.cdf(1 / np.sqrt(2 + 1 - 2 * 0.5))
    np.testing.assert_allclose(p, [right, 1 - right], atol=0.01)  # 4 standard errors


def test_logits_that_do_not_vary_are_predicted_exactly():
    mean, covariance = subnetworks.moments(H, A, beta, keep=1)
    found = subnetworks.predicted_accuracy(mean, covariance, labels, 0)
    np.testing.assert_array_equal(found, mean.argmax(1) == labels)


LAYER = {"H": H, "A": A, "beta": beta, "keep": q}
MOMENTS = dict(zip(("mean", "covariance"), subnetworks.moments(H, A, beta, keep=q), strict=True))


def moments(**change):
    return lambda: subnetworks.moments(**LAYER | change)


def logits(masks):
    return lambda: subnetworks.logits(**LAYER, masks=masks)


def predicted(**change):
    return lambda: subnetworks.predicted_accuracy(**MOMENTS | {"labels": labels, "rng": 0} | change)


test_bad_arguments = refusals(
    (moments(H=H[0]), "H must be a matrix"),
    (moments(A=A.T), "A must have 7 columns, one a unit, not 3"),
    (moments(beta=np.ones(7)), "beta must have 3 entries"),
    (moments(keep=0), "keep must be a probability"),
    (logits(masks.T), "masks must consist of zeros and ones, 7 on its last axis"),
    (logits(masks[:0]), "masks must be"),
    (logits(masks[0]), "masks must be"),
    (logits(masks / q), "zeros and ones"),
    (predicted(mean=H), r"covariance must be \(5, 7, 7\)"),
    (predicted(mean=H[0]), "mean must be a matrix"),
    (predicted(labels=labels[1:]), "labels must be 5"),
    (predicted(labels=labels + 1), "from 0 to 2"),
    (predicted(draws=0), "draws must be an integer"),
    (predicted(rng=None), "rng must be"),
)
