"""The experiment of Table 6-II, on random images of the right shape: no CIFAR-10 is needed."""

import hashlib
import io
import itertools
import tarfile

import numpy as np
import pytest
import torch

from runproofs import data
from runproofs.book.results import ResultError
from runproofs.reproductions import ch6_cifar as cifar
from runproofs.reproductions.__main__ import main


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


def test_quick_scale_runs_on_random_images_and_repeats():
    first, second = cifar.table_6_2(), cifar.table_6_2()
    for name in ("clean", "robust"):
        assert first[name].shape == (2, 1, 1, 1)  # losses, sizes, steps, runs
        np.testing.assert_array_equal(first[name], second[name])
    assert (first["robust"] <= first["clean"]).all()


def test_training_learns_images_by_heart():
    """The loop does train: half of 20 coloured noise images get a label that their colour tells."""
    (X, Y), _ = cifar.split_images("noise", 0)
    Y = (torch.arange(len(Y)) % 2).long()
    X = 0.2 * X + 0.6 * Y[:, None, None, None]
    torch.manual_seed(0)
    model = cifar.preact_resnet18(4)
    options = {"eps": 8 / 255, "steps": 2, "epochs": 6, "batch": 16, "rate": 0.1}
    cifar.train(model, X, Y, loss="greedy", augment=True, seed=0, **options)
    found = cifar.accuracies(model, X, Y, eps=8 / 255, steps=2, restarts=1, seed=0)
    assert found["robust"] > 0.9


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
    found = cifar.accuracies(
        model, torch.eye(4), torch.arange(4), eps=1, steps=1, restarts=3, seed=0
    )
    assert found == {"clean": 1, "robust": 0.25}


def test_crops_are_shifts_and_mirror_images():
    x = torch.arange(2.0 * 3 * 32 * 32).reshape(2, 3, 32, 32) + 1
    out = cifar.cropped_and_flipped(x.repeat(20, 1, 1, 1), torch.Generator().manual_seed(0))
    padded = torch.nn.functional.pad(x.repeat(20, 1, 1, 1), (4, 4, 4, 4))
    kinds = set()
    for image, whole in zip(out, padded, strict=True):
        matches = [
            (i, j, mirrored)
            for i in range(9)
            for j in range(9)
            for mirrored in (False, True)
            if torch.equal(image.flip(2) if mirrored else image, whole[:, i : i + 32, j : j + 32])
        ]
        assert len(matches) == 1
        kinds.add(matches[0])
    assert len(kinds) > 15
    assert {mirrored for *_, mirrored in kinds} == {False, True}


def test_rate_rises_and_falls_linearly():
    found = [cifar.triangle(t, 8) for t in range(9)]
    assert found == [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25, 0]


def test_without_the_images_there_is_one_clear_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv("HEURISTICS_DATA", str(tmp_path))
    with pytest.raises(data.DataError, match=r"cifar-10-binary\.tar\.gz does not exist"):
        cifar.table_6_2(images="cifar-10")


def test_what_was_not_run_says_so(capsys, monkeypatch):
    with pytest.raises(ResultError, match="It has not been run: it needs the images of CIFAR-10"):
        cifar.table_6_2.paper()
    known = {"table-6-2": cifar.table_6_2}
    monkeypatch.setattr("runproofs.reproductions.__main__.discover", lambda: known)
    assert main([]) == 0
    assert "table-6-2: left out, it needs" in capsys.readouterr().out


def archive(records):
    """The bytes of a .tar.gz like CIFAR-10's, with the same records in each of its files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in itertools.chain(*data.CIFAR_10_FILES.values()):
            about = tarfile.TarInfo(name)
            about.size = records.size
            tar.addfile(about, io.BytesIO(records.tobytes()))
    return buffer.getvalue()


def test_binary_version_is_read(monkeypatch, tmp_path):
    records = np.random.default_rng(0).integers(0, 256, (4, 3073), dtype=np.uint8)
    records[:, 0] = 7, 0, 9, 3
    payload = archive(records)
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
        data.parse_cifar(payload, "batch.bin")
