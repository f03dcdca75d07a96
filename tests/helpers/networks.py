"""Small models in torch of the kinds that people use, for images of 8 by 8 and ten classes."""

import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, channels, drop):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Dropout2d(drop), nn.Conv2d(channels, channels, 3, padding=1),
            nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x):
        return torch.relu(x + self.body(x))


class Rows(nn.Module):
    """Reads an image row by row: a part that gives (n, 8, size), or its first result."""

    def __init__(self, inside, part, size, drop):
        super().__init__()
        self.inside, self.part = inside, part
        self.drop, self.head = nn.Dropout(drop), nn.Linear(size, 10)

    def forward(self, x):
        h = self.part(self.inside(x))
        return self.head(self.drop((h[0] if isinstance(h, tuple) else h).mean(1)))


def cnn():
    return nn.Sequential(
        nn.Unflatten(1, (1, 8)), nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Dropout2d(0.2),
        nn.Conv2d(6, 8, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Dropout(0.5),
        nn.Linear(128, 10),
    )  # fmt: skip


def resnet():
    return nn.Sequential(
        nn.Unflatten(1, (1, 8)), nn.Conv2d(1, 6, 3, padding=1), Residual(6, 0.1), Residual(6, 0.1),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(6, 10),
    )  # fmt: skip


def transformer():
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return Rows(nn.Linear(8, 16), encoder, 16, 0.1)


def lstm():
    return Rows(nn.Dropout(0.1), nn.LSTM(8, 12, 2, batch_first=True, dropout=0.3), 12, 0.5)


def mlp():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5),
        nn.Linear(32, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 10),
    )  # fmt: skip


MODELS = (cnn, resnet, transformer, lstm, mlp)


def made(build, seed=0):
    torch.manual_seed(seed)
    return build().double().eval()


def images(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 8, 8, generator=g, dtype=torch.float64)
    return x, torch.randint(10, (n,), generator=g)
