"""Start and stop child processes that never outlive their parent.

Every child leads its own process group, so its descendants are killed with it. It also asks the kernel for a signal
when the parent dies (``PR_SET_PDEATHSIG``), so that even ``kill -9`` of the parent leaves no process behind.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

PR_SET_PDEATHSIG = 1
# Load the library before any fork, because a forked child should do as little as possible before exec.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def wait_until(condition: Callable[[], bool], *, timeout_s: float, poll_s: float = 0.05) -> bool:
    """Return ``True`` as soon as the condition holds, ``False`` after ``timeout_s`` seconds without it."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(poll_s)
    return True


def spawn(
    command: Sequence[str | Path],
    *,
    death_signal: signal.Signals = signal.SIGKILL,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: IO[bytes] | None = None,
    keep_open: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a child that gets ``death_signal`` when the calling thread dies, so call this from the main thread.

    Args:
        cwd: working directory; the parent's if None.
        output: file for standard output and error; the parent's if None.
        keep_open: file descriptors that the child inherits, such as a lock to hold while the child lives.
    """
    parent_pid = os.getpid()

    def die_with_parent() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, death_signal)
            if os.getppid() != parent_pid:  # The parent died before prctl, so the kernel will send no signal.
                os._exit(1)

    return subprocess.Popen(
        command,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=keep_open,
        process_group=0,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - the supervisor has one thread
    )


def is_dead(process: subprocess.Popen[bytes]) -> bool:
    """Whether the child has ended. This call does not reap the child, so its process group id stays reserved."""
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_group_and_wait(process: subprocess.Popen[bytes]) -> int:
    """Kill the other processes of a dead child's process group, reap the child, and return its exit status."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def stop(running: Mapping[subprocess.Popen[bytes], signal.Signals], *, timeout_s: float = 8) -> None:
    """Send each child its signal, wait ``timeout_s`` seconds for all to end, then kill their groups."""
    for process, stop_signal in running.items():
        if not is_dead(process):
            process.send_signal(stop_signal)
    wait_until(lambda: all(is_dead(process) for process in running), timeout_s=timeout_s)
    for process in running:
        kill_group_and_wait(process)
