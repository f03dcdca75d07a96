"""Table 6-II with few images: the sizes of what is trained and tested; the code is tested there."""

import numpy as np
import torch

from runproofs import data
from runproofs.experiments import ch6_cifar, ch6_cifar_small


def test_the_first_images_train_and_the_others_test(monkeypatch):
    images = data.Images(np.arange(40.0, dtype=np.float32), np.arange(40) % 10)
    monkeypatch.setattr(ch6_cifar_small, "first_images", lambda: images)
    (X, Y), (x, y) = ch6_cifar_small.split_images("cifar-10-first", 30, seed=0)
    assert torch.cat([X, x]).tolist() == images.pixels.tolist()
    assert torch.cat([Y, y]).tolist() == images.labels.tolist()
    assert len(X) == len(Y) == 30


def test_it_trains_crops_and_tests_at_the_size_asked(monkeypatch):
    attacks, crops = [], []
    for function, calls in ((ch6_cifar.attacked, attacks), (ch6_cifar.cropped_and_flipped, crops)):

        def spy(*arguments, calls=calls, function=function):
            calls.append(arguments)
            return function(*arguments)

        monkeypatch.setattr(ch6_cifar, function.__name__, spy)
    options = {"loss": ("greedy",), "eps": (0.02,), "steps": 3, "test": (0.01, 5, 1)}
    first, second = (ch6_cifar_small.table_6_2_small(**options) for _ in range(2))
    sizes = [(len(x), eps, steps, loss) for _, x, _, eps, steps, loss, _ in attacks]
    assert sizes == ([(16, 0.02, 3, "greedy")] * 2 + [(32, 0.01, 5, "ce")]) * 2
    assert [len(x) for x, _ in crops] == [16, 16] * 2
    for name in ("clean", "robust"):
        assert first[name].shape == (1, 1, 1, 1)  # seeds, losses, sizes, runs
        np.testing.assert_array_equal(first[name], second[name])
    assert first["robust"] <= first["clean"]


def test_the_network_is_that_of_the_thesis_but_for_the_first_stride():
    torch.manual_seed(0)
    expected, x = ch6_cifar.preact_resnet18(4).eval(), torch.rand(3, 3, 32, 32)
    found = ch6_cifar_small.network(4, 1).eval()
    found.load_state_dict(expected.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(found(x), expected(x), atol=1e-5, rtol=1e-4)
        coarse = ch6_cifar_small.network(4, 2).eval()
        coarse.load_state_dict(expected.state_dict())
        every_second = expected[:2](x)[..., ::2, ::2]
        torch.testing.assert_close(coarse[:2](x), every_second, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(coarse(x), expected[2:](every_second), atol=1e-5, rtol=1e-4)
