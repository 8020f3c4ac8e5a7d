"""Hosts on one machine: network namespaces with addresses, joined by a bridge. Needs root and ``ip``."""

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
"""Last number of this process's own address."""
LOCK = Path("/run/lock/beadbox-hosts")
ORIGINAL_ENVIRONMENT = dict(os.environ)
"""The environment of programs on hosts, copied before the caller sets variables of its own."""
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
PERIOD_US = 50_000


def address(number: int) -> str:
    return f"{NETWORK}.{number}"


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


class Host:
    """A network namespace with an address; with ``share``, its programs may use that share of a core."""

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
        # Without this, the link lasts until the host's last process ends, perhaps after the next test begins.
        _ip("link", "del", f"bbo{self.number}")
        _ip("netns", "del", self.name)
        if self.share:
            self.group.rmdir()

    def link(self, state: str) -> None:
        """Set the host's network link to ``down`` or ``up``."""
        _ip("link", "set", f"bbo{self.number}", state)

    def limit_cpu(self) -> None:
        """Limit the host to its share from now on; until then it could use all cores."""
        if self.share:
            (self.group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (self.group / "cpu.cfs_quota_us").write_text(str(int(PERIOD_US * self.share)))

    def start(
        self, command: Sequence[str | Path], log: Path, cwd: Path | None = None, **env: str
    ) -> subprocess.Popen[bytes]:
        """Start a program on this host; it is stopped together with this process."""
        joined = ["sh", "-c", f'echo $$ > {self.group}/cgroup.procs && exec "$@"', "sh"] if self.share else []
        words = [*joined, "ip", "netns", "exec", self.name, *command]
        with log.open("ab") as output:
            return processes.spawn(
                words, env={**ORIGINAL_ENVIRONMENT, **env}, output=output, cwd=cwd, death_signal=signal.SIGINT
            )


@contextlib.contextmanager
def bridge() -> Iterator[None]:
    """Run the bridge that joins the hosts with this process.

    Only one bridge exists at a time. Remains of a killed run are cleared first.
    """
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
