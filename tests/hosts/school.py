"""A lesson at a school without the internet: two computers that have no route to other networks and no name server.

``python -m tests.hosts.school``, as root. On one computer the site runs as by ``BIND=0.0.0.0 make run``. On the other
are the browsers of a teacher and a pupil.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from menace_site.local import processes
from menace_site.local.servers import BASE_DIR
from tests.bench.live_site import answers_at
from tests.bench.prepared import prepare
from tests.hosts.network import Host, address, bridge
from tests.waiting import HANG_S, wait_until

PORT = 8000
ELSEWHERE = "deb.debian.org"
"""A name that only a name server knows."""


def is_alone(host: Host) -> bool:
    """Whether a host has no route to other networks, and finds no name there."""
    routes = subprocess.check_output(["ip", "-n", host.name, "route", "show", "default"])
    asked = subprocess.run(["ip", "netns", "exec", host.name, "getent", "hosts", ELSEWHERE], check=False)
    return not routes and asked.returncode != 0


def hold_lesson(folder: Path) -> int:
    """Run the site and the lesson; return the exit status of the lesson."""
    var, log = folder / "var", folder / "site.log"
    prepare(var)
    with bridge(), Host(2) as computer, Host(3) as visitor:
        assert is_alone(computer)
        assert is_alone(visitor)
        command = [sys.executable, "-m", "menace_site.local.supervisor"]
        settings = {"BIND": "0.0.0.0", "PORT": str(PORT), "BEADBOX_VAR": str(var), "BEADBOX_LOCAL": "1"}
        site = computer.start(command, log, BASE_DIR, **settings)
        try:
            assert wait_until(lambda: answers_at(address(computer.number), PORT)), log.read_text()
            lesson = [sys.executable, "-m", "tests.e2e.school", f"http://{address(computer.number)}:{PORT}"]
            return subprocess.run(["ip", "netns", "exec", visitor.name, *lesson], cwd=BASE_DIR, check=False).returncode
        finally:
            processes.stop({site: signal.SIGTERM}, timeout_s=HANG_S)


def main() -> int:
    if os.geteuid():
        sys.stdout.write("Only root may make network namespaces.\n")
        return 1
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="beadbox-school-") as folder:
        status = hold_lesson(Path(folder))
    words = "failed" if status else "passed"
    sys.stdout.write(f"A lesson without a route and a name server {words} in {time.monotonic() - begin:.0f} s.\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
