"""Table 6-II of Chapter 6: adversarial training with several classes, plain against greedy.

CIFAR-10 with a PreActResNet-18, as in the thesis, and a stand-in that runs offline: the ten digits
with one hidden layer. One training loop serves both. The thesis fixes network, optimizer, schedule,
batch, epochs, sizes and numbers of steps of the attacks. It does not fix their step size and start,
nor the size at which the robust accuracy is measured; what stands here is our choice.
"""

from functools import partial

import torch
from torch import nn
from torch.nn.functional import cross_entropy, pad, relu
from torch.optim.sgd import sgd

from runproofs import data
from runproofs.adversarial import attacks
from runproofs.experiments.base import experiment

LOSSES = ("ce", "greedy")  # what the attacker of the training ascends: PGD and R-PGD
SCALES = {"mean": (0.4914, 0.4822, 0.4465), "std": (0.2470, 0.2435, 0.2616)}  # of CIFAR-10


class Normalize(nn.Module):
    """(x - mean) / std for each of three colors: the model takes pixels in [0, 1]."""

    def __init__(self):
        super().__init__()
        for name, values in SCALES.items():
            self.register_buffer(name, torch.tensor(values).reshape(3, 1, 1))

    def forward(self, x):
        return (x - self.mean) / self.std


class PreActivationBlock(nn.Module):
    """x + conv(relu(bn(conv(h)))), h = relu(bn(x)); a 1x1 convolution of h for x of other shape."""

    def __init__(self, channels, out, stride):
        super().__init__()
        self.bn1, self.bn2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(out)
        self.conv1 = nn.Conv2d(channels, out, 3, stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        same = stride == 1 and channels == out
        self.skip = None if same else nn.Conv2d(channels, out, 1, stride, bias=False)

    def forward(self, x):
        h = relu(self.bn1(x))
        skip = x if self.skip is None else self.skip(h)
        return skip + self.conv2(relu(self.bn2(self.conv1(h))))


def preact_resnet18(width=64):
    """Logits (n, 10) of images (n, 3, 32, 32): four stages of two blocks, `width` channels first.

    Source: He, Zhang, Ren, Sun, "Identity mappings in deep residual networks" (2016), with the
    3x3 first convolution that is usual for images of 32x32.
    """
    blocks, channels = [], width
    for stage in range(4):
        out = width * 2**stage
        blocks += [PreActivationBlock(channels, out, 1 if stage == 0 else 2)]
        blocks += [PreActivationBlock(out, out, 1)]
        channels = out
    return nn.Sequential(
        Normalize(), nn.Conv2d(3, width, 3, padding=1, bias=False), *blocks,
        nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(channels, 10),
    )  # fmt: skip


class SideBySide(nn.Module):
    """`runs` networks with one hidden layer, each for its own part of the images (runs n, 64)."""

    def __init__(self, runs, width):
        super().__init__()
        self.runs, self.first, self.second = runs, nn.ParameterList(), nn.ParameterList()
        for layer, (out, into) in ((self.first, (width, 64)), (self.second, (10, width))):
            for shape in ((runs, into, out), (runs, 1, out)):
                layer.append(into**-0.5 * (2 * torch.rand(shape) - 1))

    def forward(self, x):
        (W, b), (V, c) = self.first, self.second
        hidden = relu(torch.baddbmm(b, x.reshape(self.runs, -1, 64), W))
        return torch.baddbmm(c, hidden, V).flatten(0, 1)


def cropped_and_flipped(x, generator):
    """Each image shifted by up to 4 pixels, zeros coming in, and mirrored with probability 1/2."""
    n, _, size, _ = x.shape
    shift = torch.randint(0, 9, (2, n, 1), generator=generator)
    rows, columns = shift + torch.arange(size)
    mirrored = torch.rand(n, 1, generator=generator) < 0.5
    columns = torch.where(mirrored, columns.flip(1), columns)
    image, colour = torch.arange(n)[:, None, None, None], torch.arange(3)[:, None, None]
    return pad(x, (4, 4, 4, 4))[image, colour, rows[:, None, :, None], columns[:, None, None]]


def triangle(t, total):
    """0 at both ends of the training, 1 in the middle, linear in between."""
    return 1 - abs(2 * t / total - 1)


def attacked(model, x, y, eps, steps, loss, generator):
    """l_inf PGD along signs from a random start; the steps add up to 2.5 times the radius."""
    options = {"eps": eps, "step_size": 2.5 * eps / steps, "steps": steps, "loss": loss}
    return attacks.bim(model.eval(), x, y, random_start=True, generator=generator, **options)


def train(model, X, Y, *, loss, eps, steps, epochs, batch, rate, augment, seed, runs=1):
    """Adversarial training in place: SGD, momentum .9, weight decay 5e-4, rate up and down.

    A model of several runs is given every batch once for each run.
    """
    device = next(model.parameters()).device
    draws = torch.Generator().manual_seed(seed)  # of batches and augmentation
    starts = torch.Generator(device).manual_seed(seed)  # of attacks
    weights = list(model.parameters())
    # not torch.optim.SGD, which does the same, but imports torch's compiler, for a second
    descend = partial(
        sgd, [w.detach() for w in weights], momentum_buffer_list=[None] * len(weights),
        momentum=0.9, weight_decay=5e-4, dampening=0, nesterov=False, maximize=False,
    )  # fmt: skip
    count, t = -(-len(X) // batch), 0
    for _ in range(epochs):
        for chosen in torch.randperm(len(X), generator=draws).split(batch):
            x, y = X[chosen], Y[chosen].repeat(runs).to(device)
            x = torch.cat([cropped_and_flipped(x, draws) if augment else x] * runs).to(device)
            u = attacked(model, x, y, eps, steps, loss, starts)
            slopes = torch.autograd.grad(runs * cross_entropy(model.train()(u), y), weights)
            descend(slopes, lr=rate * triangle(t := t + 1, count * epochs))
    return model.eval()


@torch.no_grad()
def accuracies(model, X, Y, *, eps, steps, restarts, seed, runs=1, batch=1000):
    """For each run the shares of images that are right, and right after each restart of PGD."""
    device = next(model.parameters()).device
    generator = torch.Generator(device).manual_seed(seed)
    clean = robust = torch.zeros(runs)
    for x, y in zip(X.split(batch), Y.split(batch), strict=True):
        x, y = torch.cat([x] * runs).to(device), y.repeat(runs).to(device)
        right = model(x).argmax(1) == y
        clean = clean + right.reshape(runs, -1).sum(1).cpu()
        for _ in range(restarts):
            with torch.enable_grad():
                u = attacked(model, x, y, eps, steps, "ce", generator)
            right &= model(u).argmax(1) == y
        robust = robust + right.reshape(runs, -1).sum(1).cpu()
    return {"clean": clean / len(X), "robust": robust / len(X)}


def split_images(images, seed):
    """((X, Y), (X, Y)) for training and test: float32 pixels in [0, 1], labels 0, ..., 9.

    images: "digits", whose images of even index train and those of odd index test; "cifar-10"; or
    "noise", 64 random images of the shape of CIFAR-10, for a test of the code.
    """
    if images == "digits":
        pixels, labels = data.digits()
        pairs = [(pixels[k::2], labels[k::2]) for k in (0, 1)]
    elif images == "cifar-10":
        pairs = [data.cifar10("train"), data.cifar10("test")]
    else:
        generator = torch.Generator().manual_seed(seed)
        pairs = [
            (torch.rand(32, 3, 32, 32, generator=generator), torch.arange(32) % 10) for _ in "ab"
        ]
    return [
        (torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(Y, dtype=torch.int64))
        for X, Y in pairs
    ]


def trained_and_tested(model, images, loss, eps, steps, epochs, batch, rate, test, seed, runs=1):
    """Train from the seed and measure, on a graphics processor if there is one.

    model: makes the network. test: size, steps and restarts of PGD.
    """
    (X, Y), (x, y) = split_images(images, seed)
    torch.manual_seed(seed)  # of the initial weights
    made = model().to("cuda" if torch.cuda.is_available() else "cpu")
    train(
        made, X, Y, loss=loss, eps=eps, steps=steps, epochs=epochs, batch=batch, rate=rate,
        augment=X.ndim == 4, seed=seed, runs=runs,
    )  # fmt: skip
    size, count, restarts = test
    return accuracies(made, x, y, eps=size, steps=count, restarts=restarts, seed=seed, runs=runs)


DIGITS = {"width": 64, "epochs": 10, "batch": 128, "rate": 0.2}


@experiment(
    "table-6-2-digits", over=("loss", "eps", "steps", "seed"),
    quick={
        "loss": LOSSES, "eps": (0.0, 0.1), "steps": (4,), "seed": (0,), "runs": 3,
        **DIGITS, "test": (0.1, 20, 1),
    },
    paper={
        "loss": LOSSES, "eps": (0.025, 0.05, 0.1, 0.2), "steps": (2, 4, 16, 32),
        "seed": tuple(range(10)), "runs": 3, **DIGITS, "test": (0.1, 50, 10),
    },
)  # fmt: skip
def table_6_2_digits(loss, eps, steps, runs, width, epochs, batch, rate, test, seed=0):
    """The stand-in: "clean" and "robust" accuracy (runs,) of 64-width-10 networks on the digits.

    The runs of a seed see the same batches; weights and starts of the attacks are their own. They
    are no replications: errors come from the seeds. eps = 0 is training without attack.
    """
    model = partial(SideBySide, runs, width)
    return trained_and_tested(
        model, "digits", loss, eps, steps, epochs, batch, rate, test, seed, runs
    )


@experiment(
    "table-6-2", over=("loss", "eps", "steps"),
    quick={
        "loss": LOSSES, "eps": (8 / 255,), "steps": (2,), "images": "noise", "width": 4,
        "epochs": 1, "batch": 16, "rate": 0.2, "test": (8 / 255, 2, 2),
    },
    paper={
        "loss": LOSSES, "eps": tuple(k / 255 for k in (2, 4, 8, 16)), "steps": (2, 4, 16, 32),
        "images": "cifar-10", "width": 64, "epochs": 20, "batch": 128, "rate": 0.2,
        "test": (8 / 255, 50, 10),
    },
    not_run="it needs the images of CIFAR-10 and a day or more on a graphics processor",
)  # fmt: skip
def table_6_2(loss, eps, steps, images, width, epochs, batch, rate, test, seed=0):
    """Table 6-II: "clean" and "robust" accuracy (1,) of a PreActResNet-18 on CIFAR-10."""
    model = partial(preact_resnet18, width)
    return trained_and_tested(model, images, loss, eps, steps, epochs, batch, rate, test, seed)
