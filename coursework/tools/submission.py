"""A submission at arm's length: it runs in a process of its own, and answers with data."""

import base64
import builtins
import contextlib
import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import nbformat
import numpy as np

from coursework.tools import student_side

KEPT = ("PATH", "PYTHONPATH", "LANG", "LD_LIBRARY_PATH", "HOME", "MPLCONFIGDIR")  # of what is set
ALWAYS = "import IPython.core.interactiveshell, matplotlib.pyplot, numpy\n"  # what all import
CODE = Path(student_side.__file__).read_text()  # its file may be out of reach there


@dataclass(frozen=True)
class Limits:
    """What a submission may use."""

    cell: float = 60  # seconds for one cell
    call: float = 30  # seconds for one call of one function
    total: float = 300  # seconds for all of a submission, and seconds of CPU for each process
    memory: int = 4 * 2**30  # bytes of address space
    file: int = 64 * 2**20  # bytes of one file
    answer: int = 32 * 2**20  # bytes of one answer
    notebook: int = 32 * 2**20  # bytes of what is handed in


class Unanswered(Exception):
    """The submission gave no answer that can be used."""


def code_cells(path, limits):
    """Sources of the code cells of a notebook. Raises Unanswered if it is none."""
    if path.stat().st_size > limits.notebook:
        raise Unanswered("The file is too large for a notebook.")
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        sources = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except Exception as error:  # whatever nbformat makes of whatever was handed in
        raise Unanswered("The file is not a notebook.") from error
    if not all(isinstance(source, str) for source in sources):
        raise Unanswered("The file is not a notebook.")
    return sources


class Origin:
    """A clean process that has imported what an assignment needs, and forks for each submission."""

    def __init__(self, imports=""):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {key: os.environ[key] for key in KEPT if key in os.environ}
        environment |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        with theirs:
            self.process = subprocess.Popen(  # it ends when `control` is closed
                [sys.executable, "-P", "-c", CODE, str(theirs.fileno()), ALWAYS + imports],
                pass_fds=[theirs.fileno()],
                env=environment | {"MPLBACKEND": "agg"},
                start_new_session=True,
            )

    def fork(self, folder, user, limits):
        """A new process: the connection to it, and its leash. Raises OSError if there is none."""
        connection, theirs = socket.socketpair()
        leash, kept = socket.socketpair()
        most = [int(limits.total), limits.memory, limits.file]
        request = json.dumps({"folder": folder, "user": user, "limits": most}).encode()
        with theirs, kept:
            socket.send_fds(self.control, [request], [theirs.fileno(), kept.fileno()])
        return Connection(connection.detach()), leash


class Submission:
    """The names that a notebook defines, from a process in which its cells ran.

    A cell that ends the process or takes too long is left out, and the others run again; after a
    call that does so too, the cells run again. `remarks` says what went wrong, cell by cell.
    """

    def __init__(self, cells, limits, origin, user=None):
        self.origin = origin
        self.cells, self.limits, self.user = cells, limits, user
        self.remarks = {}
        self.left_out = set()
        self.connection = None
        self.deadline = time.monotonic() + limits.total
        self.folder = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def get(self, name):
        """The value of a name, a function as a `Remote`. Raises KeyError if it has none."""
        try:
            return self.ask("get", name)
        except (KeyError, Unanswered, TypeError) as error:
            raise KeyError(name) from error

    def ask(self, verb, *arguments, seconds=None):
        """One request and its answer. Raises what the submission raised, or Unanswered."""
        if self.connection is None:
            self.start()
        return self.exchange(cloudpickle.dumps((verb, *arguments)), seconds or self.limits.call)

    def start(self):
        """A new process, and all cells but those left out."""
        while self.connection is None:
            self.spawn()
            for number, source in enumerate(self.cells):
                if number in self.left_out:
                    continue
                try:
                    request = pickle.dumps(("run", source))
                    error = self.exchange(request, self.limits.cell)
                except Exception as broken:  # the process is gone
                    self.left_out.add(number)
                    self.remarks[number] = str(broken)
                    self.stop()
                    break
                if error:
                    self.remarks[number] = str(error)[:300]

    def spawn(self):
        if self.user:
            for path in (self.folder.name, *Path(self.folder.name).rglob("*")):
                shutil.chown(path, self.user)
        self.connection, self.leash = self.origin.fork(self.folder.name, self.user, self.limits)

    def exchange(self, request, seconds):
        """Send, wait, decode. What does not answer in time, or nonsense, is ended."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.stop()
            raise Unanswered("The time for this submission was used up.")
        try:
            self.connection.send_bytes(request)
            if not self.connection.poll(min(seconds, left)):
                raise Unanswered(f"It took longer than {min(seconds, left):.0f} seconds.")
            answer = json.loads(self.connection.recv_bytes(self.limits.answer))
            if "error" not in answer:
                return self.decode(answer["value"])
            kind, message = map(str, answer["error"])
        except Unanswered:
            self.stop()
            raise
        except (EOFError, OSError):
            self.stop()
            raise Unanswered("It ended the process, or answered too much.") from None
        except Exception:  # whatever a submission may write in the place of an answer
            self.stop()
            raise Unanswered("It answered nonsense.") from None
        error = Unanswered(f"{kind}: {message}")
        known = getattr(builtins, kind, None)
        if isinstance(known, type) and issubclass(known, Exception):
            with contextlib.suppress(Exception):  # some want more than a message
                error = known(message)
        raise error

    def stop(self):
        """End the process and those it started, unless they left its session."""
        if self.connection is not None:
            self.connection.close()
            self.leash.shutdown(socket.SHUT_WR)
            self.leash.recv(1)  # nothing, once they are ended
            self.leash.close()
            self.connection = None

    def decode(self, value):
        """The reverse of `student_side.encode`; nothing that is sent can make code run here."""
        if not isinstance(value, dict):
            return value
        ((kind, x),) = value.items()
        each = self.decode
        if kind == "array":
            dtype, shape, data = np.dtype(str(x[0])), x[1], base64.b64decode(x[2])
            if dtype.kind not in "biufcUSM":
                raise ValueError(dtype)
            return np.frombuffer(data, dtype).reshape(shape).copy()[()]
        if kind == "objects":
            array = np.empty(len(x[1]), dtype=object)
            array[:] = [each(entry) for entry in x[1]]
            return array.reshape(x[0])[()]
        if kind == "tensor":
            import torch

            return torch.as_tensor(each(x))
        if kind == "function":
            return Remote(self, int(x))
        return {
            "complex": lambda: complex(*x),
            "fraction": lambda: Fraction(*x),
            "dict": lambda: {each(k): each(v) for k, v in x},
            "named": lambda: namedtuple("Named", x)(*map(each, x.values())),
            "record": lambda: SimpleNamespace(**{str(k): each(v) for k, v in x.items()}),
            "list": lambda: [each(v) for v in x],
            "tuple": lambda: tuple(each(v) for v in x),
            "set": lambda: {each(v) for v in x},
        }[kind]()


class Remote:
    """A function of the submission: a call runs there and returns data."""

    def __init__(self, submission, number):
        self.submission, self.number = submission, number
        self.connection = submission.connection

    def __call__(self, *args, **kwargs):
        if self.submission.connection is not self.connection:
            raise Unanswered("An earlier call ended the process.")
        return self.submission.ask("call", self.number, args, kwargs)

    def __reduce__(self):  # as an argument it becomes the function itself again
        return student_side.resolve, (self.number,)
