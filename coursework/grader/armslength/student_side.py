"""The process in which a submission runs. It knows no test and no answer.

Started as a program, it imports what an assignment needs, once, and then forks: a process each time
that a submission starts. That one runs the cells it is sent, and then calls the functions they
define. What it sends back is data, never code: numbers, strings, arrays, and lists and dictionaries
of them; of a function it sends a number by which the other side can have it called. So whatever a
submission does to numpy, to the library or to this module, it changes what it answers and nothing
else.
"""

import base64
import builtins
import contextlib
import dataclasses
import getpass
import json
import os
import pickle
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections import namedtuple
from collections.abc import Iterable
from fractions import Fraction
from multiprocessing.connection import Connection

functions = []  # those that were sent, by number
ask_back = None  # how a function of the other side is called


def resolve(number):
    """The function that was sent with this number; unpickling an argument calls it."""
    return functions[number]


class Callback:
    """A function of the other side: a call runs there, on data, and returns what pickles."""

    __name__ = "function"

    def __init__(self, number):
        self.number = number

    def __call__(self, *args, **kwargs):
        return ask_back(self.number, args, kwargs)


def named(fields, *values):
    """A named tuple that was sent; unpickling an argument calls it."""
    return namedtuple("Named", fields)(*values)


def encode(value):
    """`value` as what JSON can carry. Raises TypeError for what is no data and no function."""
    import numpy as np

    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, Fraction):
        return {"fraction": [hex(value.numerator), hex(value.denominator)]}  # of any length
    if isinstance(value, np.generic | np.ndarray):
        array = np.asarray(value)
        if array.dtype.kind == "O":
            return {"objects": [list(array.shape), [encode(x) for x in array.ravel()]]}
        data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        return {"array": [array.dtype.str, list(array.shape), data]}
    if isinstance(value, dict):
        return {"dict": [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {"named": {key: encode(getattr(value, key)) for key in value._fields}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        return {"record": {key: encode(getattr(value, key)) for key in fields}}
    for kind in (list, tuple, set):
        if isinstance(value, kind):
            return {kind.__name__: [encode(x) for x in value]}
    if hasattr(value, "detach"):  # a tensor, or a parameter
        tensor = value.detach().cpu()
        short = str(tensor.dtype) == "torch.bfloat16"  # of which numpy knows nothing
        return encode((tensor.float() if short else tensor).numpy())
    if hasattr(value, "__array__"):  # a table of pandas
        return encode(np.asarray(value))
    if callable(value):
        functions.append(value)
        return {"function": len(functions) - 1}
    if hasattr(value, "__float__"):  # a decimal fraction, a number of SymPy
        return float(value)
    if isinstance(value, Iterable) and not isinstance(value, bytes):  # a range, a generator
        return {"list": [encode(x) for x in value]}
    raise TypeError(f"a value of type {type(value).__name__} cannot be graded")


def pretend_otter():
    """A module `otter` whose notebook checks nothing: the tests run elsewhere."""

    class Notebook:
        def __init__(self, *args, **kwargs):
            pass

        def __getattr__(self, name):
            return lambda *args, **kwargs: None

    module = types.ModuleType("otter")
    module.Notebook = Notebook
    sys.modules["otter"] = module


LIMITED = (
    *(resource.RLIMIT_CORE, resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_FSIZE),
    *(resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC),
)


def limit(*numbers):
    """What the kernel denies this process from now on, and all that it starts."""
    for kind, most in zip(LIMITED, (0, *numbers), strict=False):
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def notebook_shell(failed):
    """The shell of a Jupyter kernel, without a front end: nobody sees output or answers questions.

    A line magic or a shell line that fails, since there is no network or no window, costs its own
    line only; `failed` gets what it raised.
    """
    from ipykernel.inprocess.ipkernel import InProcessKernel

    kernel = InProcessKernel()
    kernel.session.send = lambda *args, **kwargs: None
    shell = kernel.shell
    shell.history_manager.enabled = False
    shell.showtraceback = lambda *args, **kwargs: None  # it takes long
    shell.ask_exit = lambda: None  # `exit` ends a notebook, and what is asked comes afterwards
    builtins.input = getpass.getpass = lambda *args, **kwargs: ""

    magic = shell.run_line_magic

    def line(name, text, _stack_depth=1):
        try:
            return magic(name, text, _stack_depth + 1)  # it looks for variables where it is called
        except Exception as error:
            failed.append(error)

    def system(command):
        try:
            subprocess.run(shell.var_expand(command, depth=1), shell=True)  # needs no terminal
        except Exception as error:
            failed.append(error)

    shell.run_line_magic, shell.system = line, system
    return shell


def serve(connection):
    """Answer requests until the other side goes."""
    failed = []
    shell = notebook_shell(failed)

    def run(source):
        failed.clear()
        result = shell.run_cell(source, store_history=False)
        error = result.error_before_exec or result.error_in_exec or next(iter(failed), None)
        return None if error is None else f"{type(error).__name__}: {error}"

    def get(name):
        return shell.user_ns[name]

    def call(number, args, kwargs):
        return resolve(number)(*args, **kwargs)

    def answers():
        """Answer until the other side goes, or replies to what it was asked from here."""
        while True:
            request = connection.recv_bytes()
            try:
                verb, *arguments = pickle.loads(request)
                if verb in ("value", "error"):
                    return verb, arguments
                value = encode({"run": run, "get": get, "call": call}[verb](*arguments))
                answer = json.dumps({"value": value})
            except BaseException as error:  # also sys.exit() and what else a submission may raise
                answer = json.dumps({"error": [type(error).__name__, str(error)[:500]]})
            connection.send_bytes(answer.encode())

    def ask(number, args, kwargs):
        message = json.dumps({"callback": [number, encode(list(args)), encode(kwargs)]})
        connection.send_bytes(message.encode())
        verb, reply = answers()
        if verb == "value":
            return reply[0]
        raise getattr(builtins, reply[0], RuntimeError)(reply[1])

    global ask_back
    ask_back = ask
    with contextlib.suppress(EOFError):
        answers()


def fork_for_each(control):
    """A process for each request: `serve` on a socket that comes with it, until a leash is let go.

    It first says that it is ready. The leash is the second socket, on which a plus says that the
    process has started. When all others have closed it, whatever was their end, the submission is
    ended, and then the leash closes here.
    """
    control.send(b"ready")
    while True:
        request, sockets, *_ = socket.recv_fds(control, 2**16, 2)
        if not request:
            return
        if not os.fork():
            break
        for descriptor in sockets:
            os.close(descriptor)
    control.close()
    connection, leash = sockets
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if not process:
        os.close(leash)
        settle(json.loads(request))
        serve(Connection(connection))
        os._exit(0)
    os.close(connection)
    os.write(leash, b"+")
    os.read(leash, 1)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # also those it started, unless they left its session
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    os._exit(0)


def settle(limits):
    """Make this process, just forked, one in which a submission may run, where it is."""
    import numpy as np

    os.setsid()
    folder = os.getcwd()
    for entry in os.scandir(folder):  # what a process left that was ended; it may be full
        with contextlib.suppress(OSError):
            remove = shutil.rmtree if entry.is_dir(follow_symlinks=False) else os.unlink
            remove(entry.path)
    os.environ.update(HOME=folder, TMPDIR=folder, IPYTHONDIR=f"{folder}/.ipython")
    os.environ.update(USER="student", LOGNAME="student")
    os.environ.update(MPLCONFIGDIR=f"{folder}/.matplotlib")
    np.random.seed()  # noqa: NPY002  (else that of the process it was forked from)
    tempfile.tempdir = None
    sys.path.insert(0, folder)  # as in a notebook, for a module that it writes
    limit(*limits)


if __name__ == "__main__":
    for module in ("armslength", "armslength.student_side"):  # as the other side calls this
        sys.modules[module] = sys.modules["__main__"]
    descriptor, imports = sys.argv[1:]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):  # a gigabyte of output is a gigabyte less, not more
        os.dup2(nowhere, standard)
    pretend_otter()
    for line in imports.splitlines():
        exec(line, {})
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    fork_for_each(socket.socket(fileno=int(descriptor)))
