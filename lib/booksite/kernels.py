"""Fork kernels from one process that has imported what the pages import.

A kernel that starts alone spends a second on imports, and two more on torch; the book has a hundred
pages. `python -m booksite.kernels` imports everything once, and forks a kernel for each line of
JSON that it reads. When its input ends, it ends together with its kernels. This works only on
Linux, where these libraries can be forked; elsewhere kernels start as usual.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from functools import cache

from jupyter_client.launcher import launch_kernel
from jupyter_client.provisioning import local_provisioner

LAUNCHER = "ipykernel_launcher"
ONE_BY_ONE = threading.Lock()


class Forked:
    """A running kernel with the part of the interface of `Popen` that jupyter_client uses."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int):
        self.pid = pid

    def poll(self) -> int | None:
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 1
        return None

    wait = poll  # jupyter_client waits for the poll to end

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def fork_kernels() -> None:
    """From now on, fork the Python kernels that this process starts, if the system can."""
    if sys.platform == "linux":
        local_provisioner.launch_kernel = launch


def launch(command: list[str], env=None, cwd=None, **options) -> Forked | subprocess.Popen:
    """Replaces `jupyter_client.launcher.launch_kernel`."""
    if command[:3] != [sys.executable, "-m", LAUNCHER]:
        return launch_kernel(command, env=env, cwd=cwd, **options)
    with ONE_BY_ONE:
        print(json.dumps([command[3:], env, str(cwd)]), file=source().stdin, flush=True)
        return Forked(int(source().stdout.readline()))


@cache
def source() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def main() -> None:
    """Fork a kernel for each line of input."""
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as in a kernel
    import matplotlib.pyplot  # noqa: F401
    from ipykernel.kernelapp import IPKernelApp

    from runproofs import figures  # noqa: F401
    from runproofs.claims import block  # noqa: F401
    from runproofs.experiments import discover

    discover()  # most modules of the library, and torch
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # kernels that end leave nothing behind
    parent = os.getpid()
    for line in sys.stdin:
        arguments, environment, folder = json.loads(line)
        if pid := os.fork():
            os.setpgid(pid, pid)  # ending a kernel ends its group, so it needs its own
            print(pid, flush=True)
            continue
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(2, 1)  # the first line of output belongs to the parent
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = [LAUNCHER, *arguments]
        IPKernelApp.launch_instance(parent_handle=parent)
        return


if __name__ == "__main__":
    main()
