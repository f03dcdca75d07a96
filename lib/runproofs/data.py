"""Data sets: digits that come with scikit-learn, MNIST, CIFAR-10, MovieLens; verified.

All but the digits are looked for in the folder that the environment variable HEURISTICS_DATA
names, as ``mnist/train-images-idx3-ubyte.gz`` ..., ``cifar-10-binary.tar.gz``, ``ml-100k/u.data``,
``ml-1m.zip`` and ``ml-10m.zip``; without that variable they are downloaded once into a cache.
Either way the decompressed bytes (of CIFAR-10 and the last two, the archive) must have the known
SHA-256.
"""

import gzip
import hashlib
import io
import math
import os
import re
import tarfile
import warnings
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from runproofs import _arguments as arguments

with warnings.catch_warnings():  # its progress bars warn in notebooks that have no widgets
    warnings.simplefilter("ignore")
    import pooch

CACHE = pooch.os_cache("runproofs")
RATING = re.compile(r"([1-9]\d{0,17})\t([1-9]\d{0,17})\t([1-5])\t(\d{1,18})", re.ASCII)
STARS = {  # a line of ratings.dat, with whole or with half stars; 15 digits fit a float64
    whole: rb"[1-9]\d{0,14}::[1-9]\d{0,14}::(?:" + stars + rb")::\d{1,15}"
    for whole, stars in ((True, rb"[1-5]"), (False, rb"[1-4](?:\.[05])?|5(?:\.0)?|0\.5"))
}


class DataError(Exception):
    """A data set is missing or is not what it should be; one sentence says what to do."""


class Images(NamedTuple):
    """Images and their labels.

    Attributes
    ----------
    pixels : (n, ...) ndarray
        Pixels in [0, 1], one image an entry of the first axis.
    labels : (n,) ndarray
        Classes 0 to 9, int64.
    """

    pixels: np.ndarray
    labels: np.ndarray


class Ratings(NamedTuple):
    """One rating an entry.

    Attributes
    ----------
    user : (n,) ndarray
        Users, int64 from 1.
    item : (n,) ndarray
        Films, int64 from 1.
    rating : (n,) ndarray
        1 to 5, int64; ratings in half stars are float64, 0.5 to 5.
    timestamp : (n,) ndarray
        Unix time in seconds, int64.
    """

    user: np.ndarray
    item: np.ndarray
    rating: np.ndarray
    timestamp: np.ndarray


class _Source(NamedTuple):
    """A file of a data set: where it lies in HEURISTICS_DATA, where it comes from, its hashes."""

    path: str
    url: str
    download_md5: str  # of what the url serves: lets pooch replace a broken download
    sha256: str  # of the decompressed bytes (or of an archive kept whole): the one that counts
    member: str = ""  # of the zip archive that the url serves


def _mnist(name, md5, sha256):
    url = f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz"
    return _Source(f"mnist/{name}.gz", url, md5, sha256)


MNIST = {
    "train": (
        _mnist(
            "train-images-idx3-ubyte",
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        ),
        _mnist(
            "train-labels-idx1-ubyte",
            "d53e105ee54ea40749a09fcbcd1e9432",
            "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        ),
    ),
    "test": (
        _mnist(
            "t10k-images-idx3-ubyte",
            "9fb629c4189551a2d022fa330f9573f3",
            "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        ),
        _mnist(
            "t10k-labels-idx1-ubyte",
            "ec29112dd5afa0611ce80d1b7f02629c",
            "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        ),
    ),
}
MOVIELENS_100K = _Source(
    "ml-100k/u.data",
    "https://files.grouplens.org/datasets/movielens/ml-100k.zip",
    "0e33842e24a9c977be4e0107933c0723",
    "06416e597f82b7342361e41163890c81036900f418ad91315590814211dca490",
    member="ml-100k/u.data",
)
MOVIELENS = {  # an archive and the file in it, by name
    "1m": (
        _Source(
            "ml-1m.zip",
            "https://files.grouplens.org/datasets/movielens/ml-1m.zip",
            "c4d9eecfca2ab87c1945afe126590906",
            "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        ),
        "ml-1m/ratings.dat",
    ),
    "10m": (
        _Source(
            "ml-10m.zip",
            "https://files.grouplens.org/datasets/movielens/ml-10m.zip",
            "ce571fd55effeba0271552578f2648bd",
            "813c411ccb6122564edfe752e7f80c4dcc5aa25fa94c93622f6877a7ba252862",
        ),
        "ml-10M100K/ratings.dat",
    ),
}
CIFAR_10 = _Source(
    "cifar-10-binary.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    "c32a1d4ab5d03f1284b67883e8d87530",
    "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
)
CIFAR_10_FILES = {
    "train": [f"cifar-10-batches-bin/data_batch_{k}.bin" for k in range(1, 6)],
    "test": ["cifar-10-batches-bin/test_batch.bin"],
}


# The data sets -----------------------------------------------------------------------------------


def digits() -> Images:
    """Handwritten digits, offline.

    Returns
    -------
    Images
        Of pixels (1797, 64), float64: images of 8 by 8, row by row.
    """
    # scikit-learn's own file: to import the package takes a second, and it would only read this
    folder = find_spec("sklearn").submodule_search_locations[0]
    table = np.loadtxt(Path(folder, "datasets", "data", "digits.csv.gz"), delimiter=",")
    return Images(table[:, :-1] / 16, table[:, -1].astype(np.int64))


def mnist(split: str = "train") -> Images:
    """MNIST, images of handwritten digits.

    Parameters
    ----------
    split : {"train", "test"}, optional
        60,000 images or 10,000.

    Returns
    -------
    Images
        Of pixels (n, 28, 28), float32.

    Raises
    ------
    DataError
        If a file is missing or corrupt.
    """
    arguments.choice("split", split, MNIST)
    images, labels = (_parse_idx(_read(source), source.path) for source in MNIST[split])
    return Images(images.astype(np.float32) / np.float32(255), labels.astype(np.int64))


def cifar10(split: str = "train") -> Images:
    """CIFAR-10, colored images of ten things.

    Parameters
    ----------
    split : {"train", "test"}, optional
        50,000 images or 10,000.

    Returns
    -------
    Images
        Of pixels (n, 3, 32, 32), float32.

    Raises
    ------
    DataError
        If the archive is missing or corrupt.
    """
    arguments.choice("split", split, CIFAR_10_FILES)
    with tarfile.open(fileobj=io.BytesIO(_read(CIFAR_10))) as archive:
        parts = [archive.extractfile(name).read() for name in CIFAR_10_FILES[split]]
    return _parse_cifar(b"".join(parts), CIFAR_10.path)


def movielens(size: str = "100k") -> Ratings:
    """Ratings of MovieLens, in the order of the file.

    Parameters
    ----------
    size : {"100k", "1m", "10m"}, optional
        100,000 ratings of 1,682 films by 943 users; 1,000,209 by 6,040 users; or 10,000,054 in half
        stars. In the last two ids have gaps.

    Returns
    -------
    Ratings
        The ratings.

    Raises
    ------
    DataError
        If the file is missing or corrupt.

    Notes
    -----
    "10m" takes about 2 GB of memory.
    """
    if arguments.choice("size", size, ["100k", *MOVIELENS]) == "100k":
        return _parse_ratings(_read(MOVIELENS_100K).decode("ascii"), MOVIELENS_100K.path)
    source, member = MOVIELENS[size]
    with zipfile.ZipFile(io.BytesIO(_read(source))) as archive:
        return _parse_dat(archive.read(member), member, whole=size == "1m")


# Parsers -----------------------------------------------------------------------------------------


def _parse_idx(payload: bytes, name: str) -> np.ndarray:
    """The array of unsigned bytes, with 1 to 4 axes, in a decompressed IDX file.

    `name` stands in the DataError raised for a wrong magic number, header or length.
    """
    if len(payload) < 4 or payload[:3] != b"\x00\x00\x08" or not 1 <= payload[3] <= 4:
        raise DataError(
            f"{name} is no IDX file of unsigned bytes: its magic number is 0x{payload[:4].hex()}, "
            "not 0x000008 and the number of axes, 1 to 4."
        )
    axes = payload[3]
    start = 4 + 4 * axes
    if len(payload) < start:
        raise DataError(
            f"{name} ends within the header: {axes} axes need {start} bytes, it has {len(payload)}."
        )
    shape = tuple(np.frombuffer(payload, ">u4", count=axes, offset=4).tolist())
    if len(payload) - start != math.prod(shape):
        raise DataError(
            f"{name} holds {len(payload) - start} bytes of data, but its header announces "
            f"the shape {shape}, {math.prod(shape)} bytes."
        )
    return np.frombuffer(payload, np.uint8, offset=start).reshape(shape)


def _parse_cifar(payload: bytes, name: str) -> Images:
    """Images (n, 3, 32, 32) and labels of CIFAR-10's binary format: a label and 3072 pixels each.

    `name` stands in the DataError raised for another length, or a label that is none of 0..9.
    """
    if len(payload) % 3073 or not payload:
        raise DataError(f"{name} holds {len(payload)} bytes, no positive multiple of 3073.")
    records = np.frombuffer(payload, np.uint8).reshape(-1, 3073)
    if records[:, 0].max() > 9:
        raise DataError(f"{name} holds the label {records[:, 0].max()}, but they end at 9.")
    pixels = records[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / np.float32(255)
    return Images(pixels, records[:, 0].astype(np.int64))


def _parse_ratings(text: str, name: str) -> Ratings:
    """The ratings in lines of user, item, rating, timestamp, separated by tabs.

    `name` stands in the DataError raised for a line that is not four integers, or out of range.
    """
    rows = []
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        match = RATING.fullmatch(line := line.removesuffix("\n"))
        if not match:
            raise DataError(
                f"{name}, line {number} must be four integers separated by tabs, user and item "
                f"from 1, a rating in 1..5 and a timestamp, but it is {line!r}."
            )
        rows.append(match.groups())
    if not rows:
        raise DataError(f"{name} holds no rating.")
    return Ratings(*np.array(rows).astype(np.int64).T.copy())


def _parse_dat(payload: bytes, name: str, *, whole: bool) -> Ratings:
    """The ratings in lines of user, item, rating, timestamp, separated by `::`.

    whole: 1 to 5 stars; else 0.5 to 5 in half stars. `name` stands in the DataError raised for a
    line that is not of this form, or for a file without any. Cost: some 6 s for ten million lines.
    """
    line = STARS[whole]
    if not re.fullmatch(rb"(?:" + line + rb"\r?\n)*+(?:" + line + rb")?", payload):
        for number, found in enumerate(payload.splitlines(), start=1):
            if not re.fullmatch(line, found):
                raise DataError(
                    f"{name}, line {number} must be user, item, rating and timestamp, separated by "
                    f"::, with {'1' if whole else '0.5'} to 5 stars, but it is "
                    f"{found.decode('ascii', 'replace')!r}."
                )
    if not payload:
        raise DataError(f"{name} holds no rating.")
    text = payload.replace(b"::", b" ").decode("ascii")
    columns = np.fromstring(text, sep=" ").reshape(-1, 4).T
    user, item, time = columns[[0, 1, 3]].astype(np.int64)
    return Ratings(user, item, columns[2].astype(np.int64 if whole else np.float64), time)


# Files -------------------------------------------------------------------------------------------


def _read(source: _Source) -> bytes:
    """The decompressed bytes of a file, from HEURISTICS_DATA or the cache, with the right hash.

    Raises DataError when the file is missing, cannot be downloaded or decompressed, or has
    another hash.
    """
    root = os.environ.get("HEURISTICS_DATA")
    path = Path(root, source.path).expanduser() if root else _fetch(source)
    try:
        payload = _decompress(path.read_bytes(), path.name, source.member)
    except FileNotFoundError:
        raise DataError(
            f"{path} does not exist: HEURISTICS_DATA must name a folder that holds {source.path}, "
            "packed as it is served (unset it to download the file), and `data.digits()` needs no "
            "file at all."
        ) from None
    except (EOFError, OSError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"{path} cannot be read: it is truncated or corrupt ({error}).") from error
    if not payload:
        raise DataError(f"{path} is empty.")
    if (found := hashlib.sha256(payload).hexdigest()) != source.sha256:
        raise DataError(
            f"{path} is not the known {source.path}: the SHA-256 of its contents is {found}, "
            f"not {source.sha256}."
        )
    return payload


def _decompress(content: bytes, name: str, member: str) -> bytes:
    if name.endswith(".gz") and not name.endswith(".tar.gz"):
        return gzip.decompress(content)
    if name.endswith(".zip") and member:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read(member)
    return content


def _fetch(source: _Source) -> Path:
    """The file in the cache, downloaded if it is not there yet."""
    name = source.url.rpartition("/")[2]
    try:
        return Path(pooch.retrieve(source.url, f"md5:{source.download_md5}", name, CACHE))
    except (OSError, ValueError) as error:  # no network, no right to write, or not the known bytes
        raise DataError(
            f"{source.path} could not be downloaded from {source.url} into the cache {CACHE} "
            f"({error}): set HEURISTICS_DATA to a folder that holds it, or use `data.digits()`, "
            "which needs no file."
        ) from error
