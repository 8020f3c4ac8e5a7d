"""Hosts on one machine: each a network namespace with an address, joined by a bridge. As root, with ``ip``."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from menace_site.local import processes

NETWORK = "10.77.0"
BRIDGE = "beadbox-b0"
OUTSIDE = 1
"""The last number of our own address."""
LOCK = Path("/run/lock/beadbox-hosts")
SURROUNDINGS = dict(os.environ)
"""What programs find in their environment: nothing of what whoever drives them sets for themselves later."""
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_US = 50_000


def address(number: int) -> str:
    """The address of a host."""
    return f"{NETWORK}.{number}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class Host:
    """A network namespace with an address; what is started here may use so much of a core."""

    def __init__(self, number: int, share: float = 0.0) -> None:
        self.number, self.name, self.share = number, f"beadbox-{number}", share
        self.group = CPU_GROUPS / self.name

    def __enter__(self) -> Host:
        _ip("netns", "add", self.name)
        inside, outside = f"bbi{self.number}", f"bbo{self.number}"
        _ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", self.name)
        _ip("link", "set", outside, "master", BRIDGE, "up")
        _ip("-n", self.name, "addr", "add", f"{address(self.number)}/24", "dev", inside)
        for link in (inside, "lo"):
            _ip("-n", self.name, "link", "set", link, "up")
        if self.share:
            self.group.mkdir(exist_ok=True)
        return self

    def __exit__(self, *error: object) -> None:
        # By itself it goes when the last that has run here has ended, which may be after the next begins.
        _ip("link", "del", f"bbo{self.number}")
        _ip("netns", "del", self.name)
        if self.share:
            self.group.rmdir()

    def link(self, state: str) -> None:
        """Its cable, seen from the other end: ``down`` and nobody hears of it, ``up`` again."""
        _ip("link", "set", f"bbo{self.number}", state)

    def bound(self) -> None:
        """From now on it has its share, and no more; it began with all that there was."""
        if self.share:
            (self.group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (self.group / "cpu.cfs_quota_us").write_text(str(int(PERIOD_US * self.share)))

    def start(
        self, command: Sequence[str | Path], log: Path, cwd: Path | None = None, **env: str
    ) -> subprocess.Popen[bytes]:
        """Start a program here, which is stopped with us."""
        joined = ["sh", "-c", f'echo $$ > {self.group}/cgroup.procs && exec "$@"', "sh"] if self.share else []
        words = [*joined, "ip", "netns", "exec", self.name, *command]
        with log.open("ab") as output:
            return processes.spawn(
                words, env={**SURROUNDINGS, **env}, output=output, cwd=cwd, death_signal=signal.SIGINT
            )


@contextlib.contextmanager
def bridge() -> Iterator[None]:
    """What joins the hosts, and us. What a run that was killed has left is cleared first; two at once there are not."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _clear()
        _ip("link", "add", BRIDGE, "type", "bridge")
        try:
            _ip("addr", "add", f"{address(OUTSIDE)}/24", "dev", BRIDGE)
            _ip("link", "set", BRIDGE, "up")
            yield
        finally:
            _ip("link", "del", BRIDGE)


def _clear() -> None:
    for link in json.loads(subprocess.check_output(["ip", "-json", "link"])):
        if link["ifname"] == BRIDGE or link["ifname"].startswith("bbo"):
            _ip("link", "del", link["ifname"])
    for name in Path("/run/netns").glob("beadbox-*"):
        _ip("netns", "del", name.name)
