"""A submission at arm's length: it runs in a process of its own, and answers with data."""

import base64
import builtins
import contextlib
import io
import json
import pickle
import signal
import socket
import struct
import sys
import time
import warnings
from collections import namedtuple
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import FunctionType, SimpleNamespace

import nbformat
import numpy as np

from armslength import student_side

DIGITS = 2**14  # of a fraction, in base 16: the time to reduce it grows with their square
MOST_CELLS = 2000  # of a notebook
MOST_CODE = 300_000  # characters: Python parses that in seconds
LET_GO = 3  # seconds in which a process that is told to end has ended


@dataclass(frozen=True)
class Limits:
    """What a submission may use."""

    cell: float = 60  # seconds for one cell
    question: float = 60  # seconds for all calls of one question
    total: float = 600  # seconds for all of a submission, and seconds of CPU for each process
    memory: int = 4 * 2**30  # bytes of address space
    file: int = 64 * 2**20  # bytes of one file
    files: int = 256  # open at once, in one process
    processes: int = 256  # and threads, of all of a submission, where it has a sandbox
    answer: int = 32 * 2**20  # bytes of one answer
    notebook: int = 32 * 2**20  # bytes of what is handed in


class Unanswered(Exception):
    """The submission gave no answer that can be used."""


def read_notebook(content):
    """The notebook in these bytes, of nbformat 4, its texts such that they can be written again.

    Raises Unanswered if it is none.
    """
    try:
        found = json.loads(content)  # in any of the encodings that JSON may have
        sheets = found.get("worksheets", [found])  # of nbformat 3
        if sum(len(sheet.get("cells", ())) for sheet in sheets) > MOST_CELLS:
            raise Unanswered(f"The notebook has more than {MOST_CELLS} cells.")
        with warnings.catch_warnings():  # of cells without an id
            warnings.simplefilter("ignore")
            notebook = nbformat.reads(clean(json.dumps(found, ensure_ascii=False)), as_version=4)
        code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
        if sum(len(source) for source in code if isinstance(source, str)) > MOST_CODE:
            raise Unanswered(f"The notebook has more than {MOST_CODE} characters of code.")
    except Unanswered:
        raise
    except Exception as error:  # whatever nbformat makes of whatever was handed in
        raise Unanswered("The file is not a notebook.") from error
    if not all(isinstance(source, str) for source in code):
        raise Unanswered("The file is not a notebook.")
    return notebook


def code_cells(content):
    """Sources of the code cells of a notebook, from its bytes. Raises Unanswered if it is none."""
    cells = read_notebook(content)["cells"]
    return [cell["source"] for cell in cells if cell["cell_type"] == "code"]


# What IPython and Python raise for the source of a cell that no machine can read.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, RuntimeError)


def clean(text):
    """A text from outside, with question marks for what no file can hold: halves of characters."""
    return text.encode("utf-8", "replace").decode()


class Submission:
    """The names that a notebook defines, from a process in which its cells ran.

    A cell that ends the process or takes too long is left out, and the others run again; after a
    call that does so too, the cells run again. `remarks` says what went wrong, cell by cell, and
    `complaints` what went wrong in the calls since `question` was called.
    """

    def __init__(self, cells, limits, sandbox):
        sandbox.wait()
        self.cells, self.limits, self.sandbox = cells, limits, sandbox
        self.remarks = {}
        self.left_out = set()
        self.connection = None
        self.deadline = time.monotonic() + limits.total
        self.failure = None  # of this machine
        self.question()

    def question(self):
        """From now on another question is asked, which has time of its own."""
        self.left = self.limits.question
        self.complaints = []
        self.lent = []  # functions of its tests, by number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def get(self, name):
        """The value of a name, a function as a `Remote`. Raises Unanswered if it has none."""
        try:
            value = self.ask("get", name)
        except KeyError:
            raise Unanswered("it has no value") from None
        except TypeError as error:
            raise Unanswered(str(error)) from None
        except Exception as error:
            if self.failure or isinstance(error, Unanswered):
                raise
            raise Unanswered(f"{type(error).__name__}: {error}") from None
        if isinstance(value, Remote):
            value.name = name
        return value

    def ask(self, verb, *arguments):
        """One request and its answer. Raises what the submission raised, or Unanswered."""
        request = self.pickled((verb, *arguments))
        if self.connection is None:
            self.start()
        began = time.monotonic()
        try:
            return self.exchange(request, self.left)
        finally:
            self.left -= time.monotonic() - began

    def start(self):
        """A new process, and all cells but those left out."""
        while self.connection is None:
            try:
                self.connection, self.leash = self.sandbox.fork(self.limits)
            except OSError as error:
                self.failure = error
                raise
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

    def exchange(self, request, seconds):
        """Send, wait, decode. What does not answer in time, or nonsense, is ended."""
        seconds = min(seconds, self.deadline - time.monotonic())
        until = time.monotonic() + seconds
        try:
            if seconds <= 0:
                raise Unanswered("The time was used up.")
            self.send(request, until)
            while "callback" in (answer := json.loads(self.receive(until))):
                number, args, kwargs = answer["callback"]
                self.send(self.called_back(int(number), args, kwargs, until), until)
            if "error" not in answer:
                return self.decode(answer["value"], until)
            kind, message = (clean(str(part)) for part in answer["error"])
        except Unanswered:
            self.stop()
            raise
        except TimeoutError:
            self.stop()
            raise Unanswered(f"It took longer than {seconds:.0f} seconds.") from None
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

    def send(self, message, until):
        """A message in the format of multiprocessing, all of it until some time."""
        self.connection.settimeout(left(until))
        self.connection.sendall(struct.pack("!i", len(message)) + message)

    def receive(self, until):
        """The same in the other direction. Raises EOFError, also if it is too long."""
        message, size = bytearray(), 4
        while len(message) < size:
            self.connection.settimeout(left(until))
            part = self.connection.recv(min(size - len(message), 2**20))
            message += part
            if len(message) == size == 4:
                size += int.from_bytes(message)
            if not part or size > self.limits.answer:
                raise EOFError
        return message[4:]

    def pickled(self, message):
        """A message in which a function that only exists here is one that calls back."""
        written = io.BytesIO()
        Lender(written, self.lent).dump(message)
        return written.getvalue()

    def called_back(self, number, args, kwargs, until):
        """What a function of a test returns or raises, as a message."""
        try:
            with at_most(until):
                args, kwargs = self.decode(args, until), self.decode(kwargs, until)
                return self.pickled(("value", self.lent[number](*args, **kwargs)))
        except Exception as error:
            return pickle.dumps(("error", type(error).__name__, str(error)[:500]))

    def stop(self):
        """End the process and those it started."""
        if self.connection is None:
            return
        self.connection.close()
        self.connection = None
        self.leash.settimeout(LET_GO)
        with self.leash:
            try:
                self.leash.shutdown(socket.SHUT_WR)
                self.leash.recv(1)  # nothing, once they are ended
            except OSError:  # it holds what should end it; the next one starts in another sandbox
                self.sandbox.close()

    def decode(self, value, until):
        """The reverse of `student_side.encode`, until some time.

        Nothing that is sent can make code run here, or tell numpy where memory is: no field has a
        name that begins with an underscore.
        """
        left(until)
        if isinstance(value, str):
            return clean(value)
        if not isinstance(value, dict):
            return value
        ((kind, x),) = value.items()
        each = partial(self.decode, until=until)
        if kind == "array":
            dtype, shape, data = np.dtype(str(x[0])), x[1], base64.b64decode(x[2])
            if dtype.kind not in "biufcUSM":
                raise ValueError(dtype)
            return np.frombuffer(data, dtype).reshape(shape).copy()[()]
        if kind == "objects":
            array = np.empty(len(x[1]), dtype=object)
            array[:] = [each(entry) for entry in x[1]]
            return array.reshape(x[0])[()]
        if kind == "function":
            return Remote(self, int(x))
        return {
            "complex": lambda: complex(*x),
            "fraction": lambda: Fraction(*map(short, x)),
            "dict": lambda: {each(k): each(v) for k, v in x},
            "named": lambda: namedtuple("Named", x)(*map(each, x.values())),
            "record": lambda: SimpleNamespace(**{k: each(v) for k, v in x.items() if k[0] != "_"}),
            "list": lambda: [each(v) for v in x],
            "tuple": lambda: tuple(each(v) for v in x),
            "set": lambda: {each(v) for v in x},
        }[kind]()


def short(number):
    """An integer in base 16 that is not too long."""
    if len(number) > DIGITS:
        raise ValueError(len(number))
    return int(number, 16)


class Lender(pickle.Pickler):
    """Pickles a function of a test as its number in a list: no submission sees its code."""

    def __init__(self, file, lent):
        super().__init__(file)
        self.lent = lent

    def reducer_override(self, value):
        if type(value).__name__ == "Named" and isinstance(value, tuple):
            return student_side.named, (value._fields, *value)
        module = sys.modules.get(getattr(value, "__module__", None))
        known = getattr(module, getattr(value, "__name__", ""), None) is value
        if not isinstance(value, FunctionType) or (known and module.__name__ != "__main__"):
            return NotImplemented
        self.lent.append(value)
        return student_side.Callback, (len(self.lent) - 1,)


def left(until):
    """The seconds until some time, more than none. Raises TimeoutError when it has come."""
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


@contextlib.contextmanager
def at_most(until):
    """Raises TimeoutError in what is not done until some time."""

    def stop(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    outer, _ = signal.setitimer(signal.ITIMER_REAL, left(until))
    began = time.monotonic()
    try:
        yield
    finally:
        rest = outer and max(outer - (time.monotonic() - began), 0.001)
        signal.setitimer(signal.ITIMER_REAL, rest)
        signal.signal(signal.SIGALRM, before)


class Remote:
    """A function of the submission: a call runs there and returns data."""

    name = "a function"

    def __init__(self, submission, number):
        self.submission, self.number = submission, number
        self.connection = submission.connection

    def __call__(self, *args, **kwargs):
        try:
            if self.submission.connection is not self.connection:
                raise Unanswered("An earlier call ended the process.")
            return self.submission.ask("call", self.number, args, kwargs)
        except Exception as error:
            kind = "" if isinstance(error, Unanswered) else f"{type(error).__name__}: "
            self.submission.complaints.append(f"{self.name}: {kind}{str(error)[:200]}")
            raise

    def __reduce__(self):  # as an argument it becomes the function itself again
        return student_side.resolve, (self.number,)
