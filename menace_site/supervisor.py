"""``python -m menace_site.supervisor``: the whole site on one machine, for ``make run``.

Starts PostgreSQL and Valkey (unless URLs name others), sets the site up, then runs the web server, the
worker and the scheduler, starts again whichever dies, and stops all of them when it is stopped.
Why not systemd, honcho or supervisord: docs/decisions/0002-supervisor.md.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NoReturn

from menace_site import processes, servers

BACK_OFF_S = 2
POLL_S = 0.1
SITE_TIMEOUT_S = 60
LOG_MAX_BYTES = 10_000_000
"""A log that is longer is put aside, in the place of the one before."""
WEB_ENV = {"BEADBOX_DB_POOL": "1", "BEADBOX_ALONE": "1"}
# On one's own machine root is no news; in a container the compose file names another user.
WORKER_ENV = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}


class StopRequested(BaseException):
    """Ctrl-C, SIGTERM or a closed terminal. Not an Exception: nothing on the way may swallow it."""


def say(text: str) -> None:
    """Tell the person who typed ``make run``; a terminal that is gone or a full disk beneath a log ends nothing."""
    with contextlib.suppress(OSError):
        print(text, flush=True)  # noqa: T201


@dataclass
class Child:
    """One program that must always run.

    ``death_signal`` is what it gets when we are killed: the one that lets it end its own children.
    """

    name: str
    command: list[str | Path]
    prepare: Callable[[], None] = lambda: None
    env: dict[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGTERM
    is_server: bool = False
    log: Path | None = None
    process: subprocess.Popen[bytes] | None = None
    started_at_s: float = 0
    start_again_at_s: float | None = None


class Supervisor:
    """The children of one ``var`` directory, in the order of their start."""

    def __init__(self, var: Path, *, host: str, port: int) -> None:
        self.var = var
        self.host = host
        self.port = port
        self.children: list[Child] = []
        self.children_lock = -1

    def run(self) -> None:
        """Serve until ``StopRequested``. Raises ``ServerError`` with a sentence when that cannot begin."""
        with self._only_one():
            self._check_port()
            try:
                self._start_servers()
                self._set_up()
                self._start_site()
                while True:
                    self._watch()
                    time.sleep(POLL_S)
            finally:
                self._stop()

    @contextlib.contextmanager
    def _only_one(self) -> Iterator[None]:
        """Hold the lock that every child holds too: it is free when the last run has ended to the last process."""
        (self.var / "log").mkdir(parents=True, exist_ok=True)
        with (self.var / "supervisor.lock").open("w") as own, (self.var / "children.lock").open("w") as shared:
            if not _lock(own):
                raise servers.ServerError(f"Beadbox already runs from {self.var}: stop it first.")
            # After kill -9 of a supervisor its children take a moment to end.
            if not processes.wait_until(lambda: _lock(shared), timeout_s=30):
                raise servers.ServerError(f"Processes of an earlier run still use {self.var}: stop them first.")
            self.children_lock = shared.fileno()
            yield

    def _check_port(self) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                sentence = f"Port {self.port} cannot be used ({error.strerror}): choose another"
                raise servers.ServerError(f"{sentence}, as in PORT={self.port + 1} make run.") from error

    def _start_servers(self) -> None:
        if url := os.environ.get("REDIS_URL"):
            servers.check_given_redis(url)
        if url := os.environ.get("DATABASE_URL"):
            servers.check_given_database(url)
        if not os.environ.get("REDIS_URL"):
            valkey = Child(
                "valkey",
                servers.valkey_command(self.var),
                prepare=lambda: servers.prepare_valkey(self.var),
                is_server=True,
                log=self.var / "log" / "valkey.log",
            )
            servers.wait_for_valkey(self.var, self._start(valkey))
        if not os.environ.get("DATABASE_URL"):
            postgres = Child(
                "postgres",
                servers.postgres_command(self.var),
                prepare=lambda: servers.prepare_postgres(self.var),
                is_server=True,
                stop_signal=signal.SIGINT,  # a fast shutdown: sessions are ended, data is safe
                death_signal=signal.SIGINT,
                log=self.var / "log" / "postgres.log",
            )
            servers.wait_for_postgres(self.var, self._start(postgres))

    def _set_up(self) -> None:
        """Run ``manage.py set_up`` to its end. A child like the others, so that Ctrl-C stops it too."""
        command: list[str | Path] = [sys.executable, servers.BASE_DIR / "manage.py", "set_up"]
        process = self._start(set_up := Child("set-up", command))
        while not processes.is_dead(process):
            time.sleep(POLL_S)
        self.children.remove(set_up)
        if processes.bury(process):
            raise servers.ServerError("The site could not be set up; the reason stands above.")

    def _start_site(self) -> None:
        python = [sys.executable, "-m"]
        celery = [*python, "celery", "--quiet", "--app", "menace_site.celery"]
        cores = os.cpu_count() or 1
        web = (
            "menace_site.web menace_site.asgi:application --workers 2 --timeout-graceful-shutdown 5 --ws-max-size 65536"
        )
        quiet = "--no-proxy-headers --no-server-header --no-access-log --log-level warning --lifespan on"
        where = ["--host", self.host, "--port", str(self.port)]
        worker = f"worker --queues bulk --hostname worker@%h --concurrency {max(2, cores)} --loglevel warning"
        # What is short never stands behind what is long.
        clerk = "worker --queues default --hostname clerk@%h --pool solo --loglevel warning"
        # The worker's pool dies with it; a training it was busy with goes on from its last checkpoint.
        for child in (
            Child("web", [*python, *web.split(), *quiet.split(), *where], env=WEB_ENV),
            Child("worker", [*celery, *worker.split()], env=WORKER_ENV, death_signal=signal.SIGKILL),
            Child("clerk", [*celery, *clerk.split()], env=WORKER_ENV, death_signal=signal.SIGKILL),
            Child("beat", [*celery, *["beat", "--loglevel", "warning"]], death_signal=signal.SIGKILL),
        ):
            self._start(child)
        deadline_s = time.monotonic() + SITE_TIMEOUT_S
        while not self._site_answers():
            if time.monotonic() > deadline_s:
                raise servers.ServerError("The site does not answer; the reason stands above.")
            self._watch()
            time.sleep(POLL_S)
        say(f"Beadbox is at http://localhost:{self.port} (Ctrl-C stops it)")

    def _site_answers(self) -> bool:
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host  # noqa: S104 - compared, not bound
        try:
            with urllib.request.urlopen(f"http://{host}:{self.port}/api/health/ready", timeout=5) as response:
                return bool(response.status == 200)
        except OSError:  # includes refused connections and answers that are not 200
            return False

    def _start(self, child: Child) -> subprocess.Popen[bytes]:
        child.prepare()
        with contextlib.ExitStack() as stack:
            log = stack.enter_context(child.log.open("ab")) if child.log else None
            child.process = processes.spawn(
                child.command,
                death_signal=child.death_signal,
                env={**os.environ, **child.env},
                output=log,
                keep_open=[self.children_lock],
            )
        child.started_at_s = time.monotonic()
        child.start_again_at_s = None
        if child not in self.children:
            self.children.append(child)
        return child.process

    def _watch(self) -> None:
        """Keep logs short and start what has died: at once, or after the back-off when it had only just started."""
        now_s = time.monotonic()
        for child in self.children:
            if child.log is not None:
                _turn_over(child.log)
            if child.start_again_at_s is not None:
                if now_s >= child.start_again_at_s:
                    self._start_again(child)
            elif child.process is not None and processes.is_dead(child.process):
                status = processes.bury(child.process)
                hint = f"; see {child.log}" if child.log else ""
                say(f"{child.name} stopped (status {status}) and is started again{hint}")
                child.start_again_at_s = max(now_s, child.started_at_s + BACK_OFF_S)

    def _start_again(self, child: Child) -> None:
        try:
            self._start(child)
        except (servers.ServerError, OSError) as error:  # a full disk keeps a log from being opened, say
            say(f"{child.name}: {error}")
            child.start_again_at_s = time.monotonic() + BACK_OFF_S

    def _stop(self) -> None:
        """Stop the site first and the servers it writes to last."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # we are stopping: a second Ctrl-C changes nothing
        for is_server in (False, True):
            processes.stop(
                {
                    child.process: child.stop_signal
                    for child in self.children
                    if child.process is not None and child.is_server is is_server
                }
            )


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _turn_over(log: Path) -> None:
    """Put a log that has grown long aside and begin it anew: whoever writes appends, and goes on at its new end."""
    with contextlib.suppress(OSError):  # there is none yet
        if log.stat().st_size > LOG_MAX_BYTES:
            with contextlib.suppress(OSError):  # a full disk has no room for a copy
                shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)


def _request_stop(number: int, frame: object) -> NoReturn:
    raise StopRequested


def main() -> int:
    """Run until asked to stop; the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _request_stop)
    port = os.environ.get("PORT") or "8000"
    try:
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise servers.ServerError(f"PORT is {port!r}: give a number from 1 to 65535.")
        Supervisor(servers.var_dir(), host=os.environ.get("BIND") or "127.0.0.1", port=int(port)).run()
    except servers.ServerError as error:
        say(str(error))
        return 1
    except StopRequested:
        say("Beadbox has stopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
