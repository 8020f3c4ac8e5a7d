"""``python -m menace_site.local.supervisor``: the whole site on one machine, for ``make run``.

Starts PostgreSQL and Valkey (unless URLs name other servers), sets the site up, then runs the web server, the workers
and the scheduler. Restarts each child that dies, and stops all children at its own end.
Why not systemd, honcho or supervisord: docs/decisions/0002-supervisor.md.
"""

import contextlib
import fcntl
import http.client
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import IO, NoReturn

import segno

from menace_site.local import processes, servers
from menace_site.local.addresses import ListenAddress, find_listen_address, host_of
from menace_site.local.errors import ServerError
from menace_site.local.given_servers import check_given_database, check_given_redis

BACK_OFF_S = 2
MAX_BACK_OFF_S = 600
"""Longest back-off of a child with ``runs_once``; each failure doubles the back-off up to this limit."""
POLL_INTERVAL_S = 0.1
REMIND_AFTER_S = 10.0
"""Time after which the first "Still waiting" message is printed."""
MAX_DEATHS_AT_START = 3
"""Deaths of the web server before its first answer after which the start is given up."""
LOG_MAX_BYTES = 10_000_000
"""Length at which a log is rotated; the rotated copy replaces the previous one."""
# Serving processes compile nothing; the child ``kernels`` does (docs/decisions/0110-plain-kernels.md).
SITE_ENV = {"BEADBOX_KERNELS": os.environ.get("BEADBOX_KERNELS", "ready")}
KERNELS_ENV = {"BEADBOX_KERNELS": SITE_ENV["BEADBOX_KERNELS"].replace("ready", "")}
WEB_ENV = SITE_ENV | {"BEADBOX_DB_POOL": "1"}
# Running as root is normal in a local run; in containers the compose file names another user.
WORKER_ENV = SITE_ENV | {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}
MANAGE_COMMAND: list[str | Path] = [sys.executable, servers.BASE_DIR / "manage.py"]


class StopRequested(BaseException):
    """Ctrl-C, SIGTERM or a closed terminal. A BaseException, so that no ``except Exception`` swallows it."""


stop_requested = threading.Event()
"""Set when ``StopRequested`` is raised, because Python swallows an exception in some callbacks, such as a fork hook."""


def raise_if_stop_requested() -> None:
    """Raise ``StopRequested`` if a stop was requested; the exception of the signal handler can get lost."""
    if stop_requested.is_set():
        raise StopRequested


def qr_lines(url: str) -> str:
    """Return a QR code for a terminal, with its address below."""
    text = StringIO()
    segno.make(url, micro=False).terminal(text, compact=True)
    return f"{text.getvalue()}Pupils of a class scan this code: {url}"


def print_line(text: str) -> None:
    """Print a line for the user of ``make run``; ignore a closed terminal or a full disk."""
    with contextlib.suppress(OSError):
        print(text, flush=True)  # noqa: T201


class Progress:
    """Messages about one thing that the start of the site waits for."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.began_at_s = time.monotonic()
        self.remind_after_s = REMIND_AFTER_S

    @property
    def seconds(self) -> float:
        """Seconds since the wait began."""
        return time.monotonic() - self.began_at_s

    def remind(self, last_answer: str = "") -> None:
        """Print a message with ``last_answer`` after ``REMIND_AFTER_S``, and then at each doubling of the wait."""
        raise_if_stop_requested()
        if self.seconds >= self.remind_after_s:
            self.remind_after_s *= 2
            print_line(
                f"Still waiting for {self.what} ({self.seconds:.0f} s){f': {last_answer}' if last_answer else ''}"
            )


@dataclass
class Child:
    """A program that the supervisor keeps running or, with ``runs_once``, runs until the program succeeds.

    The kernel sends ``death_signal`` to the child if the supervisor is killed. The child then ends its own children.
    """

    name: str
    command: list[str | Path]
    prepare: Callable[[], None] = lambda: None
    env: dict[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGTERM
    is_server: bool = False
    """Whether the program is PostgreSQL or Valkey, which stop after the processes of the site."""
    runs_once: bool = False
    """Whether exit status 0 means that the work is done. After any other status the program starts again."""
    log: Path | None = None
    process: subprocess.Popen[bytes] | None = None
    started_at_s: float = 0
    start_again_at_s: float | None = None
    n_deaths: int = 0


class Supervisor:
    """Starts, watches and stops the children of one ``var`` directory."""

    def __init__(self, var: Path, *, bind: str = "", port: int = 0, allowed_hosts: str = "") -> None:
        self.var = var
        self.bind = bind
        self.port = port
        self.allowed_hosts = allowed_hosts
        self.children: list[Child] = []
        self.children_lock = -1

    def run(self) -> None:
        """Serve until ``StopRequested``; raise ``ServerError`` if the site cannot start."""
        with self._exclusive_run():
            listen = find_listen_address(self.bind, self.port)
            hosts = listen.hosts(self.allowed_hosts)
            try:
                self._start_servers()
                self._set_up()
                self._start_site(listen, hosts[0])
                urls = [f"http://{host}:{self.port}" for host in hosts]
                print_line(f"Beadbox is at {urls[0]} (Ctrl-C stops it)")
                if urls[1:]:
                    print_line(f"It is also at {', '.join(urls[1:])}")
                reachable_hosts = [host_of(address) for address in listen.reachable_addresses()]
                for host, url in zip(hosts, urls, strict=True):
                    if host in reachable_hosts:
                        print_line(qr_lines(f"{url}/class"))
                if warning := listen.warning(self.allowed_hosts):
                    print_line(warning)
                self._start(
                    Child("kernels", [*MANAGE_COMMAND, "warm_kernels", "--background"], env=KERNELS_ENV, runs_once=True)
                )
                while True:
                    self._watch()
                    time.sleep(POLL_INTERVAL_S)
            finally:
                self._stop()

    @contextlib.contextmanager
    def _exclusive_run(self) -> Iterator[None]:
        """Hold two locks: one of this supervisor alone, and one that its children share until the last has ended."""
        (self.var / "log").mkdir(parents=True, exist_ok=True)
        with (
            (self.var / "supervisor.lock").open("w") as own_lock,
            (self.var / "children.lock").open("w") as children_lock,
        ):
            if not _try_lock(own_lock):
                raise ServerError(f"Beadbox already runs from {self.var}: stop it first.")
            # After kill -9 of a supervisor its children take a moment to end.
            if not processes.wait_until(lambda: _try_lock(children_lock), timeout_s=30):
                raise ServerError(f"Processes of an earlier run still use {self.var}: stop them first.")
            self.children_lock = children_lock.fileno()
            for file in servers.metrics_dir(self.var).glob("*.db"):  # metrics restart with the processes
                file.unlink()
            yield

    def _start_servers(self) -> None:
        waiting = Progress("servers")
        if url := os.environ.get("REDIS_URL"):
            check_given_redis(url)
        if url := os.environ.get("DATABASE_URL"):
            check_given_database(url)
        if not os.environ.get("REDIS_URL"):
            valkey = Child(
                "valkey",
                servers.valkey_command(self.var),
                prepare=lambda: servers.prepare_valkey(self.var),
                is_server=True,
                log=self.var / "log" / "valkey.log",
            )
            servers.wait_for_valkey(self.var, self._start(valkey), Progress("Valkey").remind)
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
            servers.wait_for_postgres(self.var, self._start(postgres), Progress("PostgreSQL").remind)
        print_line(f"Servers: ready in {waiting.seconds:.1f} s")

    def _set_up(self) -> None:
        """Run ``manage.py set_up`` to its end, as a child process, so that Ctrl-C stops the set-up too."""
        process = self._start(set_up := Child("set-up", [*MANAGE_COMMAND, "set_up"], env=SITE_ENV))
        waiting = Progress("the set-up")
        while not processes.is_dead(process):
            waiting.remind()
            time.sleep(POLL_INTERVAL_S)
        self.children.remove(set_up)
        if status := processes.kill_group_and_wait(process):
            raise ServerError(f"The site could not be set up: {_exit_reason(status)}")

    def _start_site(self, listen: ListenAddress, host: str) -> None:
        """Start web server, workers and beat, and wait until the site answers under ``host``, an allowed host."""
        python = [sys.executable, "-m"]
        celery = [*python, "celery", "--quiet", "--app", "menace_site.celery"]
        cores = os.cpu_count() or 1
        web = f"menace_site.web --stand-in --workers 2 --host {listen.address} --port {self.port}"
        worker = f"worker --queues bulk --hostname worker@%h --concurrency {max(2, cores)} --loglevel warning"
        # Short tasks have a separate worker, so that they never wait for long jobs.
        maintenance = "worker --queues default --hostname clerk@%h --pool solo --loglevel warning"
        # SIGKILL loses little: a training resumes from its last checkpoint, and the pool dies with its worker.
        site = (
            Child("web", [*python, *web.split()], env=WEB_ENV),
            Child("worker", [*celery, *worker.split()], env=WORKER_ENV, death_signal=signal.SIGKILL),
            Child("clerk", [*celery, *maintenance.split()], env=WORKER_ENV, death_signal=signal.SIGKILL),
            Child("beat", [*celery, *["beat", "--loglevel", "warning"]], env=SITE_ENV, death_signal=signal.SIGKILL),
        )
        for child in site:
            self._start(child)
        waiting = Progress("the web server")
        while answer := self._unready_reason(listen, host):
            self._watch()
            if site[0].n_deaths == MAX_DEATHS_AT_START:
                times = f"{MAX_DEATHS_AT_START} times"
                raise ServerError(f"The web server stopped {times} before it answered; the reason stands above.")
            waiting.remind(answer)
            time.sleep(POLL_INTERVAL_S)

    def _unready_reason(self, listen: ListenAddress, host: str) -> str:
        """Return the web server's error or status, or an empty text once the server is ready."""
        # Use http.client, because urllib.request would go through the proxy that the environment names.
        connection = http.client.HTTPConnection(listen.own_address, self.port, timeout=5)
        with contextlib.closing(connection):
            try:
                connection.request("GET", "/api/health/ready", headers={"Host": f"{host}:{self.port}"})
                response = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                return f"{error}"
            return "" if response.status == 200 else f"{response.status} {response.reason}"

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
        """Rotate long logs and restart dead children: at once, or after the back-off if the child had just started."""
        raise_if_stop_requested()
        now_s = time.monotonic()
        for child in list(self.children):
            if child.log is not None:
                _rotate(child.log)
            if child.start_again_at_s is not None:
                if now_s >= child.start_again_at_s:
                    self._start_again(child)
            elif child.process is not None and processes.is_dead(child.process):
                status = processes.kill_group_and_wait(child.process)
                child.n_deaths += 1
                if child.runs_once and not status:
                    self.children.remove(child)
                    continue
                hint = f"; see {child.log}" if child.log else ""
                print_line(f"{child.name} stopped (status {status}) and is started again{hint}")
                back_off_s = min(BACK_OFF_S * 2**child.n_deaths, MAX_BACK_OFF_S) if child.runs_once else BACK_OFF_S
                child.start_again_at_s = max(now_s, child.started_at_s + back_off_s)

    def _start_again(self, child: Child) -> None:
        try:
            self._start(child)
        except (ServerError, OSError) as error:  # For example, a full disk has no room for a new log.
            print_line(f"{child.name}: {error}")
            child.start_again_at_s = time.monotonic() + BACK_OFF_S

    def _stop(self) -> None:
        """Stop the processes of the site, then the database servers that they write to."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not interrupt the stop
        for is_server in (False, True):
            processes.stop(
                {
                    child.process: child.stop_signal
                    for child in self.children
                    if child.process is not None and child.is_server is is_server
                }
            )


def _try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _exit_reason(status: int) -> str:
    """Return a hint why a child ended with this status; a negative status is the number of a signal."""
    if status < 0:
        return f"it was ended by {signal.Signals(-status).name}, perhaps for lack of memory."
    return "the reason stands above."


def _rotate(log: Path) -> None:
    """Copy a long log to ``NAME.1`` and truncate the log. Writers append, so they continue at its new end."""
    with contextlib.suppress(OSError):  # The log may not exist yet.
        if log.stat().st_size > LOG_MAX_BYTES:
            with contextlib.suppress(OSError):  # A full disk has no room for a copy.
                shutil.copyfile(log, log.with_name(f"{log.name}.1"))
            os.truncate(log, 0)


def _request_stop(number: int, frame: object) -> NoReturn:
    stop_requested.set()
    raise StopRequested


def main() -> int:
    """Run until SIGINT, SIGTERM or SIGHUP, and return the exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _request_stop)
    port = (os.environ.get("PORT") or "8000").strip()
    try:
        if not port.isdecimal() or not 0 < int(port) < 65536:
            raise ServerError(f"PORT is {port!r}: give a number from 1 to 65535.")
        bind, allowed_hosts = (os.environ.get(name) or "" for name in ("BIND", "ALLOWED_HOSTS"))
        Supervisor(servers.var_dir(), bind=bind, port=int(port), allowed_hosts=allowed_hosts).run()
    except ServerError as error:
        print_line(str(error))
        return 1
    except StopRequested:
        print_line("Beadbox has stopped.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
