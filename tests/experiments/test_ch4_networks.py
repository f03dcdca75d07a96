"""The experiment of Figure 4-2: its samples, its start, and what it measures, by other routes."""

import numpy as np
import pytest
import torch

from runproofs import data
from runproofs.experiments import ch4_networks
from runproofs.networks import relu_dropout


def test_the_samples_are_the_fours_and_sevens():
    (X, Y), (x, y) = ch4_networks.fours_and_sevens("digits")
    digits = data.digits()
    assert len(X) + len(x) == np.isin(digits.labels, (4, 7)).sum()
    for k, (inputs, labels) in enumerate(((X, Y), (x, y))):
        for digit, label in ((4, -1), (7, 1)):
            expected = digits.pixels[k::2][digits.labels[k::2] == digit]
            np.testing.assert_array_equal(inputs[labels[:, 0] == label], expected)


def test_the_start_is_common_and_uniform():
    U, V = ch4_networks.start(3, 100, 400, torch.Generator().manual_seed(0))
    assert torch.equal(U[0], U[2])
    assert torch.equal(V[0], V[1])
    assert U.shape == (3, 1, 400)
    for t, fan_in in ((U, 400), (V, 100)):
        assert 0.98 < t.max() * fan_in**0.5 <= 1
        assert t.square().mean() * fan_in == pytest.approx(1 / 3, rel=0.1)


def test_measure_by_the_library_in_double_precision():
    (X, Y), (x, y) = ch4_networks.fours_and_sevens("digits")
    U, V = ch4_networks.start(1, 64, 7, torch.Generator().manual_seed(1))
    U, V = torch.cat([U, -2 * U]), torch.cat([V, V.flip(2)])
    pairs = [[torch.as_tensor(t, dtype=torch.float32) for t in pair] for pair in ((X, Y), (x, y))]
    found = ch4_networks.measure(U, V, *pairs)
    U, V = U.double().numpy(), V.double().numpy()
    for k, (inputs, labels) in enumerate(((X, Y), (x, y), (-x, y))):
        f = np.maximum(inputs @ V, 0) @ U.mT
        np.testing.assert_allclose(found["risk"][:, k], ((labels - f) ** 2).mean((1, 2)), rtol=1e-5)
        clipped = (labels - np.clip(f, -1, 1)) ** 2
        np.testing.assert_allclose(found["clipped"][:, k], clipped.mean((1, 2)), rtol=1e-5)
        accuracy = (labels * f > 0).mean((1, 2))
        np.testing.assert_allclose(found["accuracy"][:, k], accuracy, rtol=1e-12)
        law = np.concatenate([x, -x]) if k == 2 else inputs
        psi = relu_dropout.flows(U, V, law)
        np.testing.assert_allclose(found["alpha"][:, k], psi.sum(1), rtol=1e-5)
        np.testing.assert_allclose(found["phi"][:, k], relu_dropout.coadaptation(psi), rtol=1e-5)


def test_both_arms_start_alike_and_only_one_learns_what_the_negative_shows():
    tiny = {"width": (30,), "seed": (3,), "epochs": 6}
    assert ch4_networks.figure_4_2(**tiny, share=(4,))["n"].item() == 181 // 4
    found = ch4_networks.figure_4_2(**tiny)
    assert found["n"].item() == 181
    assert found["times"][0, 0, 0].tolist() == [0, 20, 23, 69, 138]
    found = {name: array[0, 0, 0] for name, array in found.items()}
    np.testing.assert_array_equal(found["alpha"][0, 0, :, 1:], found["alpha"][1, 0, :, 1:])
    assert (found["alpha"][:, 0] == found["alpha"][:, 0, :1]).all(), "one start for all rates"
    raw, symmetrized = found["accuracy"][:, -1]
    assert raw[:, 1].min() > 0.95
    assert raw[:, 2].max() < 0.5
    assert symmetrized[:, 1:].min() > 0.9
