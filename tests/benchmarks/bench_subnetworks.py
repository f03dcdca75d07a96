"""Benchmarks of Chapter 5: all subnetworks of a wide layer."""

from functools import partial

import numpy as np
import torch
from timing import in_turn, ratio
from torch.nn.functional import linear

from runproofs.experiments import ch5
from runproofs.networks import subnetworks

KEEP, MASKS = 0.2, 100
torch.set_num_threads(1)


@torch.no_grad()
def passes(network, x, masks):
    """One forward pass of the whole network for each mask."""
    W, b, out = network.wide
    return [
        linear(ch5.below(network.body, x), W, b).relu() * mask @ out / KEEP + network.beta
        for mask in masks
    ]


@torch.no_grad()
def loop(network, x, masks):
    """What is below the mask once, the output layer for each mask."""
    W, b, out = network.wide
    H = linear(ch5.below(network.body, x), W, b).relu()
    return [H * mask @ out / KEEP + network.beta for mask in masks]


def product(network, x, masks):
    """What is below the mask once, and all masked output layers side by side."""
    return subnetworks.logits(*ch5.activations(network, x), masks.numpy(), keep=KEEP)


def products():
    """Subnetworks: the logits of 100 on 450 inputs, what is below the mask included, milliseconds

    A pass computes convolutions, dense layers and the masked output layer, as a loop over models
    does. The loop computes all below the mask once. The three agree to 1e-5 of the largest logit.
    """
    yield f"{'':22}{'passes':>8}{'loop':>8}{'product':>9}{'passes / product':>18}"
    for side, width in ((8, 3000), (28, 1000), (28, 3000)):
        draws = torch.Generator().manual_seed(0)
        x = torch.rand((450, 1, side, side), generator=draws)
        network = ch5.start(side, width, draws)
        kept = torch.rand((MASKS, width), generator=draws) < KEEP
        ways = [partial(way, network, x, kept) for way in (passes, loop, product)]
        one, *others = (np.array([np.asarray(z) for z in way()]) for way in ways)
        assert np.abs(others - one).max() <= 1e-5 * np.abs(one).max()
        slow, middle, fast = 1e3 * in_turn(ways, 0.2)
        name = f"subnetworks.logits, {side} x {side}, m = {width}"
        ratio(name, "what is below the mask once", middle, fast)
        yield (
            f"{side:2} x {side:2}, m = {width:4}    {slow:8.0f}{middle:8.0f}{fast:9.1f}"
            f"{ratio(name, 'one pass for each mask', slow, fast):18.0f}"
        )


TABLES = [products]
