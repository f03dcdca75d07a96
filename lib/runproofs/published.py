"""A network that others trained and certified, for MNIST.

Raghunathan, Steinhardt and Liang, "Certified defenses against adversarial examples" (2018). Its
files come from https://github.com/vtjeng/MIPVerify_data (MIT license). As those of
`runproofs.data` they are looked for in HEURISTICS_DATA, as ``robust-mnist/W1.npy`` ..., or
downloaded once, and must have the known SHA-256.
"""

import io

import numpy as np

from runproofs.data import _read, _Source

_URL = (
    "https://raw.githubusercontent.com/vtjeng/MIPVerify_data/"
    "35578a19c5182714e6d4874d4615da8362f9c674/weights/mnist/RSL18a/linf0.1"
)


def _part(name, md5, sha256):
    return _Source(f"robust-mnist/{name}.npy", f"{_URL}/{name}.npy", md5, sha256)


SOURCES = (
    _part(
        "W1",
        "10d209d6071cd1f7b580cecba91ca700",
        "074e6d3f6e2e9a3d55bbc62014e366e0d419657a27a90b0bec54d1d24e2c83f2",
    ),
    _part(
        "B1",
        "09e7e0ea37233d1f13941ca0028568da",
        "82e61ae93e229c823c4b3d536d2c17f41638e51fe4cb65d9d18262e4d0663e14",
    ),
    _part(
        "W2",
        "e59e23239f97001542bdff4f574f704a",
        "b6a3fc8aca69afd8ab63378f4b077e572b2593677dc9fca2ec3f545ea7c81af1",
    ),
    _part(
        "B2",
        "47ea449a469fdb135eabfe1a2f327150",
        "c6fcf4acc1f5f4fbeb1946cfc80fc99e2fb32ade2db53f5ffc8f9239457ace5b",
    ),
)


def certified() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The two-layer network that is certified at l_inf .1: ``relu(x @ W1 + b1) @ W2 + b2``.

    Returns
    -------
    W1 : (784, 500) ndarray
        Weights of the 500 ReLU units; x holds the pixels of an image row by row, in [0, 1].
    b1 : (500,) ndarray
        Their biases.
    W2 : (500, 10) ndarray
        Weights of the ten logits.
    b2 : (10,) ndarray
        Their biases. All are float32.

    Raises
    ------
    DataError
        If a file is missing or corrupt.
    """
    W1, b1, W2, b2 = (np.load(io.BytesIO(_read(source))) for source in SOURCES)
    return W1, b1, W2, b2
