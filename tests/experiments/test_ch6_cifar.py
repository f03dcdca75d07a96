"""The experiment of Table 6-II, on random images of the right shape: no CIFAR-10 is needed."""

import hashlib
import io
import itertools
import tarfile

import numpy as np
import pytest
import torch

from runproofs import data
from runproofs.experiments import ch6_cifar as cifar
from runproofs.experiments.__main__ import main
from runproofs.experiments.results import ResultError


def test_network_has_the_size_of_a_preact_resnet_18():
    """18 layers with weights: the first convolution, 16 in the blocks, and the linear one."""
    model = cifar.preact_resnet18()
    convolutions = [m for m in model.modules() if isinstance(m, torch.nn.Conv2d)]
    assert sum(c.kernel_size == (3, 3) for c in convolutions) == 17
    w = [64, 64, 128, 256, 512]  # channels into stages 1, 2, 3, 4, and out of the last
    into = itertools.pairwise(w)
    by_hand = 9 * 3 * 64 + sum(9 * (a * b + 3 * b * b) + 2 * a + 6 * b for a, b in into)
    by_hand += sum(a * 2 * a for a in (64, 128, 256)) + 2 * 512 + 512 * 10 + 10
    assert sum(p.numel() for p in model.parameters()) == by_hand
    with torch.no_grad():
        assert model.eval()(torch.rand(2, 3, 32, 32)).shape == (2, 10)
        assert model[:10](torch.rand(2, 3, 32, 32)).shape == (2, 512, 4, 4)


def test_pixels_are_measured_in_deviations_of_cifar_10():
    """Means and standard deviations of its three colors, as others give them, in 0, ..., 255."""
    mean, std = torch.tensor([125.3, 123.0, 113.9]), torch.tensor([63.0, 62.1, 66.7])
    pixels = torch.stack([mean, mean + std, mean - 2 * std]) / 255
    scaled = cifar.Normalize()(pixels[..., None, None].expand(3, 3, 2, 2))
    expected = torch.tensor([0.0, 1, -2]).reshape(3, 1, 1, 1).expand(3, 3, 2, 2)
    torch.testing.assert_close(scaled, expected, atol=5e-3, rtol=0)


@pytest.mark.parametrize(("channels", "out", "stride"), [(3, 3, 1), (3, 5, 1), (3, 3, 2)])
def test_a_block_adds_two_convolutions_to_its_input(channels, out, stride):
    """As in the paper of 2016: normalize, clip, convolve, twice; sums over windows by hand."""
    torch.manual_seed(0)
    block = cifar.PreActivationBlock(channels, out, stride).double().eval()
    for bn in (block.bn1, block.bn2):
        for name in ("weight", "bias", "running_mean", "running_var"):
            torch.nn.init.uniform_(getattr(bn, name), 0.5, 1.5)

    def activated(x, bn):
        of = [p[:, None, None] for p in (bn.running_mean, bn.running_var, bn.weight, bn.bias)]
        return ((x - of[0]) / (of[1] + 1e-5).sqrt() * of[2] + of[3]).clamp_min(0)

    def convolved(x, weight, stride):
        side = weight.shape[-1]
        windows = torch.nn.functional.unfold(x, side, padding=side // 2, stride=stride)
        size = (x.shape[-1] - 1) // stride + 1
        return (weight.flatten(1) @ windows).reshape(len(x), -1, size, size)

    x = torch.randn(2, channels, 6, 6, dtype=torch.float64)
    with torch.no_grad():
        h = activated(x, block.bn1)
        inner = activated(convolved(h, block.conv1.weight, stride), block.bn2)
        same = channels == out and stride == 1
        skip = x if same else convolved(h, block.skip.weight, stride)
        torch.testing.assert_close(block(x), skip + convolved(inner, block.conv2.weight, 1))


def test_networks_side_by_side_start_as_layers_of_torch_do():
    """Uniformly; that they are two layers each, the training by hand says."""
    torch.manual_seed(3)
    both = cifar.SideBySide(2, 40)
    for p, into in zip((*both.first, *both.second), (64, 64, 40, 40), strict=True):
        scaled = into**0.5 * p.detach()
        assert -1 <= scaled.min() < -0.8 < 0.8 < scaled.max() <= 1


def spied(monkeypatch, name):
    """The positional and named arguments of every call of a function of the module."""
    calls, function = [], getattr(cifar, name)

    def spy(*args, **options):
        calls.append((*args, *options.values()))
        return function(*args, **options)

    monkeypatch.setattr(cifar, name, spy)
    return calls


def sizes(attacks):
    """How many images were attacked, and the eps, steps and loss, in each call of `attacked`."""
    return [(len(x), eps, steps, loss) for _, x, _, eps, steps, loss, _ in attacks]


def test_images_are_trained_with_crops_and_tested_at_the_size_asked(monkeypatch):
    crops, attacks = spied(monkeypatch, "cropped_and_flipped"), spied(monkeypatch, "attacked")
    options = {"loss": ("greedy",), "eps": (0.02,), "steps": (3,), "test": (0.01, 5, 2)}
    first, second = (cifar.table_6_2(**options, epochs=2) for _ in range(2))
    assert [len(x) for x, _ in crops] == [16] * 4 * 2, "two epochs of two batches"
    once = [(16, 0.02, 3, "greedy")] * 4 + [(32, 0.01, 5, "ce")] * 2
    assert sizes(attacks) == once * 2
    for name in ("clean", "robust"):
        assert first[name].shape == (1, 1, 1, 1)  # losses, sizes, steps, runs
        np.testing.assert_array_equal(first[name], second[name])
    assert first["robust"] <= first["clean"]


def test_digits_are_trained_as_they_are(monkeypatch):
    crops, attacks = spied(monkeypatch, "cropped_and_flipped"), spied(monkeypatch, "attacked")
    options = {"runs": 2, "epochs": 1, "batch": 512, "eps": (0.1,), "test": (0.05, 2, 1)}
    found = cifar.table_6_2_digits(loss=("ce",), **options)
    assert not crops
    assert sizes(attacks) == [(1024, 0.1, 4, "ce"), (774, 0.1, 4, "ce"), (1796, 0.05, 2, "ce")]
    assert found["robust"].shape == (1, 1, 1, 1, 2), "loss, size, steps, seed, runs"
    test = cifar.table_6_2_digits.scales["paper"]["test"], cifar.table_6_2.scales["paper"]["test"]
    assert test == ((0.1, 50, 10), (8 / 255, 50, 10))


@pytest.mark.parametrize("runs", [1, 2])
def test_training_is_sgd_with_momentum_and_weight_decay(runs):
    """Four steps by hand, at rates 1/2, 1, 1/2 and 0, of the mean over one batch of everything."""
    (X, Y), _ = cifar.split_images("digits", 0)
    X, Y = X[:30], Y[:30]
    torch.manual_seed(0)
    model = cifar.SideBySide(runs, 6)
    before = [p.detach().clone() for p in model.parameters()]
    options = {"eps": 0.0, "steps": 1, "epochs": 4, "batch": 30, "rate": 0.8}
    options |= {"runs": runs} if runs > 1 else {}
    cifar.train(model, X, Y, loss="ce", augment=False, seed=0, **options)
    for k in range(runs):
        weights = [p[k : k + 1] for p in before]
        velocity = [torch.zeros_like(p) for p in weights]
        for rate in (0.4, 0.8, 0.4, 0.0):
            weights = [p.detach().requires_grad_() for p in weights]
            W, b, V, c = weights
            logits = ((X @ W[0] + b[0]).relu() @ V[0]) + c[0]
            loss = (logits.exp().sum(1).log() - logits[range(30), Y]).mean()
            slopes = torch.autograd.grad(loss, weights)
            velocity = [
                0.9 * v + g + 5e-4 * p.detach()
                for v, g, p in zip(velocity, slopes, weights, strict=True)
            ]
            weights = [p - rate * v for p, v in zip(weights, velocity, strict=True)]
        for p, q in zip(model.parameters(), weights, strict=True):
            torch.testing.assert_close(p[k : k + 1], q, rtol=1e-4, atol=1e-6)


def test_the_rate_rises_and_falls_over_all_batches_the_last_and_smaller_one_too(monkeypatch):
    assert [cifar.triangle(t, 8) for t in range(9)] == [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0]
    calls = spied(monkeypatch, "triangle")
    (X, Y), _ = cifar.split_images("digits", 0)
    options = {"eps": 0.0, "steps": 1, "epochs": 3, "batch": 16, "rate": 0.1}
    cifar.train(cifar.SideBySide(1, 5), X[:20], Y[:20], loss="ce", augment=False, seed=0, **options)
    assert calls == [(t, 6) for t in range(1, 7)]


class Recorded(torch.nn.Linear):
    """A linear model that keeps its inputs, and whether it was training."""

    def __init__(self):
        super().__init__(6, 2)
        self.inputs = []

    def forward(self, x):
        self.inputs.append((x.detach().clone(), self.training))
        return super().forward(x)


def test_the_attack_starts_at_random_and_its_steps_add_up_to_two_and_a_half_radii():
    model, x = Recorded(), torch.full((400, 6), 0.5)
    generator = torch.Generator().manual_seed(0)
    end = cifar.attacked(model, x, torch.zeros(400).long(), 0.1, 10, "ce", generator)
    points = [u for u, _ in model.inputs]
    assert len(points) == 10
    assert not any(training for _, training in model.inputs)
    scaled = (points[0] - x) / 0.1
    assert -1 <= scaled.min() < -0.99 < 0.99 < scaled.max() <= 1
    assert abs(scaled.mean()) < 0.05
    sign = (model.weight[1] - model.weight[0]).sign().detach()
    for u, v in itertools.pairwise(points):
        torch.testing.assert_close(v, torch.clamp(u + 0.025 * sign, x - 0.1, x + 0.1))
    torch.testing.assert_close(end, x + 0.1 * sign)


def test_the_model_is_attacked_as_it_will_be_used_and_trained_as_it_learns():
    model = Recorded()
    X, Y = torch.full((8, 6), 0.5), torch.arange(8) % 2
    options = {"eps": 0.1, "steps": 2, "epochs": 1, "batch": 4, "rate": 0.1}
    assert cifar.train(model, X, Y, loss="ce", augment=False, seed=0, **options) is model
    assert [training for _, training in model.inputs] == [False, False, True] * 2
    for learned, _ in model.inputs[2::3]:  # two steps reach the corners of the cube
        torch.testing.assert_close((learned - 0.5).abs(), torch.full((4, 6), 0.1))
    assert not model.training


def test_accuracies_count_every_batch_and_every_network_for_itself():
    """Two networks, which read off the label from the pixels, resp. the next one."""
    X, Y = torch.eye(10)[torch.arange(23) % 10], torch.arange(23) % 10
    Y[:4] += 1

    def model(x):
        first, second = x.chunk(2)
        return torch.cat([first, second.roll(1, 1)])

    model.parameters = lambda: iter([torch.zeros(())])
    model.eval = lambda: model
    how = {"eps": 0.0, "steps": 1, "restarts": 1, "seed": 0, "runs": 2}
    for batch in (5, 1000):
        found = cifar.accuracies(model, X, Y, **how, batch=batch)
        for kind in ("clean", "robust"):
            assert found[kind].tolist() == pytest.approx([19 / 23, 4 / 23])


def test_an_image_is_robust_only_if_it_survives_every_restart(monkeypatch):
    model = torch.nn.Linear(4, 4, bias=False)
    torch.nn.init.eye_(model.weight)
    victims = iter(range(3))

    def attacked(model, x, *_):
        """Each restart fools another image."""
        u = x.clone()
        u[next(victims)] *= -1
        return u

    monkeypatch.setattr(cifar, "attacked", attacked)
    how = {"eps": 1, "steps": 1, "restarts": 3, "seed": 0}
    found = cifar.accuracies(model, torch.eye(4), torch.arange(4), **how)
    assert found == {"clean": 1, "robust": 0.25}


def test_splits_of_the_digits_and_of_the_noise():
    pixels, labels = data.digits()
    for (X, Y), k in zip(cifar.split_images("digits", 0), (0, 1), strict=True):
        np.testing.assert_array_equal(X, np.float32(pixels[k::2]))
        assert Y.tolist() == labels[k::2].tolist()
    (X, Y), (x, y) = cifar.split_images("noise", 0)
    assert X.shape == x.shape == (32, 3, 32, 32)
    assert Y.tolist() == y.tolist() == [k % 10 for k in range(32)]
    assert 0 <= X.min() < 0.01 < 0.99 < X.max() <= 1
    assert (x != X).any()
    assert (cifar.split_images("noise", 1)[0][0] != X).any()


def test_crops_are_shifts_and_mirror_images_all_as_likely():
    x = torch.rand(3, 32, 32, generator=torch.Generator().manual_seed(0))
    whole, kinds = torch.nn.functional.pad(x, (4, 4, 4, 4)), {}
    for mirrored, i, j in itertools.product(range(2), range(9), range(9)):
        crop = whole[:, i : i + 32, j : j + 32]
        kinds[(crop.flip(2) if mirrored else crop).numpy().tobytes()] = mirrored, i, j
    images = x.repeat(4000, 1, 1, 1)
    out = cifar.cropped_and_flipped(images, torch.Generator().manual_seed(1))
    found = np.array([kinds[image.numpy().tobytes()] for image in out])
    for choices, count in zip(found.T, (2, 9, 9), strict=True):
        deviation = (1 / count * (1 - 1 / count) / 4000) ** 0.5
        share = np.bincount(choices, minlength=count) / 4000
        np.testing.assert_allclose(share, 1 / count, atol=5 * deviation)


def test_what_was_not_run_and_has_no_images_says_so(capsys, monkeypatch, tmp_path):
    with pytest.raises(ResultError, match="It has not been run: it needs the images of CIFAR-10"):
        cifar.table_6_2.paper()
    known = {"table-6-2": cifar.table_6_2}
    monkeypatch.setattr("runproofs.experiments.__main__.discover", lambda: known)
    assert main([]) == 0
    assert "table-6-2: left out, it needs" in capsys.readouterr().out
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    with pytest.raises(data.DataError, match=r"cifar-10-binary\.tar\.gz does not exist"):
        cifar.table_6_2(images="cifar-10")


def test_binary_version_is_read(monkeypatch, tmp_path):
    """With the same records in each of the files of the archive."""
    records = np.random.default_rng(0).integers(0, 256, (4, 3073), dtype=np.uint8)
    records[:, 0] = 7, 0, 9, 3
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in itertools.chain(*data.CIFAR_10_FILES.values()):
            about = tarfile.TarInfo(name)
            about.size = records.size
            tar.addfile(about, io.BytesIO(records.tobytes()))
    payload = buffer.getvalue()
    (tmp_path / data.CIFAR_10.path).write_bytes(payload)
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    with pytest.raises(data.DataError, match="SHA-256"):
        data.cifar10()
    known = data.CIFAR_10._replace(sha256=hashlib.sha256(payload).hexdigest())
    monkeypatch.setattr(data, "CIFAR_10", known)
    pixels, labels = data.cifar10("train")
    assert pixels.shape == (20, 3, 32, 32)
    assert labels.tolist() == [7, 0, 9, 3] * 5
    green = np.float32(records[1, 1 + 1024 + 32 * 5 + 6]) / np.float32(255)  # row 5, column 6
    assert pixels[1, 1, 5, 6] == green
    assert len(data.cifar10("test").labels) == 4
    with pytest.raises(ValueError, match="split must"):
        data.cifar10("all")


@pytest.mark.parametrize(
    ("payload", "sentence"), [(b"", "0 bytes"), (b"x" * 3072, "3072"), (b"\x0a" * 3073, "label 10")]
)
def test_damaged_binaries_are_refused(payload, sentence):
    with pytest.raises(data.DataError, match=sentence):
        data._parse_cifar(payload, "batch.bin")
