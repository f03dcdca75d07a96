"""Stored results: arrays and their provenance in one small file, read whole or refused."""

import hashlib
import json
import os
import sys
from pathlib import Path
from uuid import uuid4

import numpy as np
from tqdm import tqdm

from runproofs.claims.registry import BOOK

FORMAT = 3  # of the stored files; one of another format is refused
UNFINISHED = BOOK.parent / ".unfinished"  # what a killed process leaves; `make clean` keeps it
TAKEN = {"provenance", "file", "allow_pickle"}  # not for arrays: save and np.savez use them


class ResultError(RuntimeError):
    """A stored result is missing, or is not the one that was asked for."""


class Result(dict):
    """The arrays of a run, by name.

    Parameters
    ----------
    arrays : dict of array_like
        Numbers or texts, which a file can hold without pickle; no name is one of `TAKEN`.
    provenance : dict
        Settings, versions, seconds, date and the like: the attribute of this name.
    """

    def __init__(self, arrays: dict, provenance: dict):
        super().__init__({name: np.asarray(array) for name, array in arrays.items()})
        self.provenance = provenance
        for name, array in self.items():
            if name in TAKEN or array.dtype.hasobject:
                raise ValueError(
                    "A result holds arrays of numbers or texts under names other than "
                    f"{sorted(TAKEN)}, but {name!r} was of dtype {array.dtype}."
                )


def save(path: Path, result: Result) -> None:
    """Write a result at once or not at all: no reader ever sees half a file.

    Parameters
    ----------
    path : Path
        File to write.
    result : Result
        What is written; in the file its provenance has the SHA-256 of every array and its own,
        which `load` compares.
    """
    for folder in (path.parent, UNFINISHED):
        folder.mkdir(parents=True, exist_ok=True)
    temporary = UNFINISHED / f"{path.name}.{uuid4().hex}"
    about = {**result.provenance, "format": FORMAT, "arrays": _digests(result)}
    about = json.loads(json.dumps(about))  # as `load` finds it
    provenance = np.array(json.dumps({**about, "digest": _digest(about)}))
    try:
        with open(temporary, "wb") as file:
            np.savez_compressed(file, provenance=provenance, **result)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def load(path: Path, **expected) -> Result:
    """Read a stored result, whole.

    Parameters
    ----------
    path : Path
        File to read; nothing is ever unpickled.
    **expected
        Entries that its provenance must have.

    Returns
    -------
    Result
        The arrays, with their provenance.

    Raises
    ------
    ResultError
        If the file is missing, corrupt or of another format, if an array or the provenance is not
        the one that was saved, or differs from what is expected.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        provenance = dict(json.loads(arrays.pop("provenance").item()))
    except FileNotFoundError:
        raise ResultError(f"{shown(path)} does not exist.") from None
    except Exception as error:  # corrupt bytes can fail anywhere in the zip, NumPy or JSON reader
        raise ResultError(f"{shown(path)} is refused: it cannot be read ({error!r}).") from error
    for name, value in {"format": FORMAT, **expected}.items():
        if provenance.get(name) != value:
            raise ResultError(
                f"{shown(path)} is refused: it holds {name} {provenance.get(name)}, not {value}."
            )
    if provenance.pop("digest", None) != _digest(provenance):
        raise ResultError(f"{shown(path)} is refused: its provenance is not the one once saved.")
    # also the names: a damaged zip directory can hide an array and still be read
    saved, found = provenance.get("arrays", {}), _digests(arrays)
    if changed := sorted({name for name, _ in saved.items() ^ found.items()}):
        raise ResultError(f"{shown(path)} is refused: {changed} are not the arrays once saved.")
    return Result(arrays, provenance)


def _digest(provenance: dict) -> str:
    """SHA-256 of the provenance, whatever the order of its entries."""
    return hashlib.sha256(json.dumps(provenance, sort_keys=True).encode()).hexdigest()


def _digests(arrays: dict[str, np.ndarray]) -> dict[str, str]:
    """SHA-256 of the dtype, the shape and the entries of each array."""
    return {
        name: hashlib.sha256(f"{a.dtype.str}{a.shape}".encode() + a.tobytes()).hexdigest()
        for name, a in arrays.items()
    }


def load_if_valid(path: Path, **expected) -> Result | None:
    """Read a stored result, if it is valid; a file that is refused is named, since it is made anew.

    Parameters
    ----------
    path : Path
        File to read.
    **expected
        Entries that its provenance must have.

    Returns
    -------
    Result or None
        None if the file is missing or refused.
    """
    if not path.exists():
        return None
    try:
        return load(path, **expected)
    except ResultError as error:
        tqdm.write(f"{error} It is computed anew.", file=sys.stderr)
        return None


def shown(path: Path) -> Path:
    """The path as the reader knows it.

    Parameters
    ----------
    path : Path
        Any path.

    Returns
    -------
    Path
        From the root of the project, if it lies there.
    """
    return path.relative_to(BOOK.parent) if path.is_relative_to(BOOK.parent) else path
