"""Hosts as Docker containers: ``docker compose`` with the unchanged file, in a project that is deleted afterwards.

Without access to an image registry, ``stand_ins.sh`` makes the images that the file names.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from menace_site.local.servers import BASE_DIR
from tests.hosts.machines import PORTS, figure_of
from tests.waiting import wait_until

PROJECT = "beadbox-hosts"


def is_available() -> bool:
    """Whether Docker Compose and a Docker engine answer."""
    checks = (("docker", "compose", "version"), ("docker", "info"))
    return shutil.which("docker") is not None and not any(
        subprocess.run(words, check=False, capture_output=True).returncode for words in checks
    )


class Docker:
    """The containers, named like the hosts of :class:`tests.hosts.machines.Machines`: ``worker-2``."""

    site = "beadbox.local"
    endpoint = ("127.0.0.1", 443)

    def __init__(self, n_webs: int, n_workers: int) -> None:
        self.scale = ("--scale", f"web={n_webs}", "--scale", f"worker={n_workers}")
        secrets = {"SITE": self.site, "SECRET_KEY": os.urandom(40).hex(), "POSTGRES_PASSWORD": "beads"}
        self.env = {**os.environ, **secrets, "RELEASE": PROJECT}  # leaves other sites' images unchanged
        self.authority = Path(tempfile.mkdtemp()) / "root.crt"

    def __enter__(self) -> Docker:
        with contextlib.ExitStack() as stack:
            stack.callback(self._compose, "down", "--volumes", "--timeout", "10")
            self._compose("up", "--build", "--detach", "--wait", *self.scale)
            assert wait_until(self._has_authority, poll_s=1)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.stack.close()

    def start(self, name: str) -> None:
        """Start a stopped container, or create it."""
        service, _, number = name.rpartition("-")
        if self._container(name) in self._docker("ps", "--all", "--format", "{{.Names}}").split():
            self._docker("start", self._container(name))
        else:
            self._compose("up", "--detach", "--no-deps", "--no-recreate", "--scale", f"{service}={number}", service)

    def kill(self, name: str) -> None:
        self._docker("kill", self._container(name))

    def stop(self, name: str) -> None:
        """Stop a container as an operator does."""
        self._docker("stop", self._container(name))

    def cut(self, name: str) -> None:
        """Disconnect a container from its network; its programs run on."""
        self._docker("network", "disconnect", f"{PROJECT}_default", self._container(name))

    def join(self, name: str) -> None:
        """Connect a container to its network again, under the name of its service."""
        alias = ("--alias", name.rpartition("-")[0])
        self._docker("network", "connect", *alias, f"{PROJECT}_default", self._container(name))

    def manage(self, *words: str) -> str:
        """Run a ``manage.py`` command and return its output."""
        return self._compose("exec", "-T", "clerk", "python", "manage.py", *words)

    def log(self, name: str) -> str:
        return self._docker("logs", self._container(name))

    def is_healthy(self, name: str) -> bool:
        """Whether the service's last health check succeeded."""
        return (
            self._docker("inspect", "--format", "{{.State.Health.Status}}", self._container(name)).strip() == "healthy"
        )

    def _has_authority(self) -> bool:
        """Whether the proxy has created its own certificate authority. Copies the certificate here."""
        with contextlib.suppress(AssertionError):
            self._compose("cp", "proxy:/data/caddy/pki/authorities/local/root.crt", str(self.authority))
        return self.authority.exists()

    def is_reachable(self, name: str) -> bool:
        """Whether a container is connected to its network."""
        return bool(self.address_of(name))

    def is_listening(self, name: str) -> bool:
        """Whether a container accepts connections at its service's port."""
        where = self.address_of(name)
        try:
            if where:
                socket.create_connection((where, PORTS[name.rpartition("-")[0]]), 2).close()
        except OSError:
            return False
        return bool(where)

    def figure(self, name: str, what: str) -> float:
        """Return a metric of a worker, or 0 if it has no samples yet."""
        script = f"import urllib.request as u; print(u.urlopen('http://localhost:{PORTS['worker']}/metrics').read().decode())"
        return figure_of(self._docker("exec", self._container(name), "python", "-c", script), what)

    def hostname(self, name: str) -> str:
        """Return a container's own host name."""
        return self._docker("inspect", "--format", "{{.Config.Hostname}}", self._container(name)).strip()

    @property
    def database(self) -> str:
        """The database's URL as seen from this process."""
        return f"postgres://beadbox:beads@{self.address_of('postgres-1')}:{PORTS['postgres']}/beadbox"

    def address_of(self, name: str) -> str:
        """Return a container's address; empty while it is disconnected or stopped."""
        where = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
        return self._docker("inspect", "--format", where, self._container(name)).strip()

    def _container(self, name: str) -> str:
        return f"{PROJECT}-{name}"

    def _compose(self, *words: str) -> str:
        return self._docker("compose", "--project-name", PROJECT, *words)

    def _docker(self, *words: str) -> str:
        command = ["docker", *words]
        stderr = subprocess.STDOUT  # a log may use either stream
        done = subprocess.run(
            command, check=False, cwd=BASE_DIR, env=self.env, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
        assert not done.returncode, done.stdout
        return done.stdout
