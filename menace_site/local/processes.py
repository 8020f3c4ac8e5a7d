"""Child processes that never outlive us: start one, stop one, know one is dead.

Every child leads its own process group, so what it forked dies with it, and asks the kernel to
signal it when we die (``PR_SET_PDEATHSIG``), so that even ``kill -9`` of the parent leaves nothing behind.
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
# Loaded here and not after the fork: a forked child should do as little as possible before exec.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def wait_until(condition: Callable[[], bool], *, timeout_s: float, poll_s: float = 0.05) -> bool:
    """True as soon as the condition holds, False when ``timeout_s`` seconds pass without it."""
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
    """Start a child that gets ``death_signal`` when this thread dies. Call it from the main thread.

    Args:
        cwd: where it works; ours when None.
        output: where standard output and error go; ours when None.
        keep_open: file descriptors the child inherits, such as a lock that must live as long as it.
    """
    parent_pid = os.getpid()

    def die_with_parent() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, death_signal)
            if os.getppid() != parent_pid:  # it died before we asked to be told
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
    """True when the child has ended. It stays a zombie, so its group id cannot be given away yet."""
    if process.returncode is not None:
        return True
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def bury(process: subprocess.Popen[bytes]) -> int:
    """Kill what a dead child left in its group, reap it, and return its exit status."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def stop(running: Mapping[subprocess.Popen[bytes], signal.Signals], *, timeout_s: float = 8) -> None:
    """Send each child its signal, wait ``timeout_s`` seconds for all to end, then kill their groups."""
    for process, number in running.items():
        if not is_dead(process):
            process.send_signal(number)
    wait_until(lambda: all(is_dead(process) for process in running), timeout_s=timeout_s)
    for process in running:
        bury(process)
