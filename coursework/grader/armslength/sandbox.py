"""Where a submission runs: in a sandbox of its own, made by bubblewrap, which needs no privilege.

A sandbox has processes, a network, users and files of its own. Of this machine's files it has the
system's programs, Python and the course's own packages, all of them read-only; beside them an
empty folder in memory. Everything in it dies with it, and it dies with the process that made it.
"""

import contextlib
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

from armslength import student_side

KEPT = ("PATH", "LANG", "LD_LIBRARY_PATH", "HOME", "MPLCONFIGDIR")  # of what is set
ALWAYS = "import ipykernel.inprocess.ipkernel, matplotlib.pyplot, numpy\n"  # what all import
CODE = Path(student_side.__file__).read_text()  # its file is out of reach there
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/fonts")
DEVICES = ("/dev/null", "/dev/urandom")
FOLDER = "/tmp"
ROOM = 256 * 2**20  # bytes of all files in it
START = 5  # seconds for a process that has all imports to start
PATIENCE = 120  # seconds for Python to start and to import; nothing of a submission runs in them


def readable(library=()):
    """What a sandbox sees beside the system's folders: Python's, and the packages of a library.

    Raises ValueError for a package that is not there.
    """
    specs = {name: find_spec(name) for name in library}
    if missing := [name for name, spec in specs.items() if spec is None]:
        raise ValueError(f"There is no package {', '.join(missing)}.")
    places = [spec.submodule_search_locations or [spec.origin] for spec in specs.values()]
    return [*map(Path, (sys.prefix, sys.base_prefix, *chain(*places)))]


def exposed(paths, library=()):
    """Those of `paths` that a submission could read, since they lie where a sandbox must look."""
    seen = [folder.resolve() for folder in (*map(Path, SYSTEM), *readable(library))]
    return [path for path in paths if any(path.resolve().is_relative_to(f) for f in seen)]


def confined(program, library=()):
    """The command that runs `program`, a list, in a sandbox that sees the packages `library`."""
    bound = [("--ro-bind-try", path) for path in (*SYSTEM, *map(str, readable(library)))]
    bound += [("--dev-bind", path) for path in DEVICES]
    return [
        *("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
        *("--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"),
        *("--size", str(ROOM), "--tmpfs", FOLDER),  # first, since a package may lie below it
        *(word for how, path in bound for word in (how, path, path)),
        *("--symlink", FOLDER, "/dev/shm", "--chdir", FOLDER, "--remount-ro", "/"),
        *program,
    ]


@functools.cache
def trouble():
    """What bubblewrap says where it cannot make a sandbox; nothing where it can."""
    if not shutil.which("bwrap"):
        return "there is no bubblewrap"
    tried = subprocess.run(confined([sys.executable, "-c", ""]), capture_output=True, text=True)
    return " ".join(tried.stderr.split()) or "bubblewrap fails" if tried.returncode else ""


class Sandbox:
    """A clean process that has imported what an assignment needs, and forks for a submission.

    It is confined if this machine can (see `trouble`). It starts in the background.
    """

    def __init__(self, imports="", library=()):
        self.imports, self.library = ALWAYS + imports, library
        self.open()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(PATIENCE)
        self.ready = False
        self.folder = None if not trouble() else tempfile.mkdtemp(prefix="submission-")
        program = [sys.executable, "-P", "-c", CODE, str(theirs.fileno()), self.imports]
        environment = {key: os.environ[key] for key in KEPT if key in os.environ}
        environment |= {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        with theirs:
            self.process = subprocess.Popen(
                program if self.folder else confined(program, self.library),
                cwd=self.folder,
                # It could reach the terminal by these, and write there.
                **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL),
                pass_fds=[theirs.fileno()],
                env=environment | {"MPLBACKEND": "agg"},
                start_new_session=True,
            )

    def close(self):
        """End all that runs in it, and leave nothing behind."""
        self.control.close()
        self.process.kill()
        self.process.wait()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self):
        """Wait until it has started. Raises OSError if it does not."""
        if not self.ready and not self.control.recv(16):
            raise OSError("A sandbox did not start.")
        self.ready = True

    def fork(self, limits):
        """A new process in it: the connection to it, and its leash. Raises OSError."""
        try:
            return self._fork(limits)
        except OSError:  # a submission ended what it was forked from
            self.close()
            self.open()
            return self._fork(limits)

    def _fork(self, limits):
        self.wait()
        connection, theirs = socket.socketpair()
        leash, kept = socket.socketpair()
        with contextlib.ExitStack() as ours:
            ours.enter_context(connection)
            ours.enter_context(leash)
            most = [int(limits.total), limits.memory, limits.file, limits.files]
            most += [] if self.folder else [limits.processes]  # else it counts all of the user's
            with theirs, kept:
                handles = [theirs.fileno(), kept.fileno()]
                socket.send_fds(self.control, [json.dumps(most).encode()], handles)
            leash.settimeout(START)
            if leash.recv(1) != b"+":
                raise OSError("A sandbox has ended.")
            ours.pop_all()
        return connection, leash
