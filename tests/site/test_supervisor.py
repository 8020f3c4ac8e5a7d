"""The real supervisor of ``make run``: it starts killed processes again, and stored data survive."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path

import psycopg
import pytest
import redis

from menace_site.local import processes, servers, supervisor
from menace_site.local.addresses import ListenAddress
from menace_site.local.errors import ServerError
from tests.bench.prepared import prepare
from tests.environment import shell_environment
from tests.waiting import HANG_S, PAGE_HANG_S, wait_until

CHILDREN = {
    "postgres": "bin/postgres -D",
    "valkey": "valkey-server",
    "web": "-m menace_site.web",
    "worker": "celery.* worker --queues bulk",
    "clerk": "celery.* worker --queues default",
    "beat": "celery.* beat",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def read(file: Path) -> str:
    with contextlib.suppress(OSError):
        return file.read_text()
    return ""


def environment_of(pid: str) -> str:
    return read(Path("/proc") / pid / "environ")


class Run:
    """A running supervisor, as ``make run`` starts it, with a separate ``var`` folder."""

    def __init__(self, var: Path, *, python: str = sys.executable, **environment: str) -> None:
        self.var = var
        self.python = python
        self.port = int(environment.get("PORT") or free_port())
        ours = {"BEADBOX_VAR": str(var), "BEADBOX_LOCAL": "1", "PORT": str(self.port)}
        ours["DJANGO_SETTINGS_MODULE"] = "menace_site.settings"
        self.environment = {**shell_environment(), **ours, **environment}
        var.mkdir(parents=True, exist_ok=True)
        self.output = var / "output"
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [python, "-m", "menace_site.local.supervisor"],
                cwd=servers.BASE_DIR,
                env=self.environment,
                stdout=output,
                stderr=output,
            )

    def children(self) -> dict[str, int]:
        """Return the process ids of the supervisor's living children, by the names in ``CHILDREN``."""
        pids = {}
        for pid in read(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")).split():
            command = read(Path("/proc") / pid / "cmdline").replace("\0", " ")
            for name, words in CHILDREN.items():
                if all(word in command for word in words.split(".*")):
                    pids[name] = int(pid)
        return pids

    def processes(self) -> set[str]:
        """Return the ids of all living processes with this ``var`` folder, including all descendants."""
        return {
            entry.name
            for entry in Path("/proc").iterdir()
            if entry.name.isdecimal()
            and int(entry.name) != os.getpid()
            and f"BEADBOX_VAR={self.var}\0" in environment_of(entry.name)
        }

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://localhost:{self.port}/api/health", timeout=PAGE_HANG_S) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def wait_until_serving(self) -> None:
        def serves() -> bool:
            assert self.process.poll() is None, read(self.output)
            return "Beadbox is at" in read(self.output) and self.answers()

        assert wait_until(serves), read(self.output)

    def wait_for_end(self) -> tuple[int, str]:
        status = self.process.wait(HANG_S)
        assert wait_until(lambda: not self.processes()), self.processes()
        return status, read(self.output)

    def database(self) -> psycopg.Connection:
        return psycopg.connect(servers.private_database_url(self.var), autocommit=True)

    def valkey(self) -> redis.Redis:
        return redis.Redis.from_url(servers.private_redis_url(self.var), decode_responses=True)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    runs: list[Run] = []

    def start_run(var: Path = tmp_path / "var", **environment: str) -> Run:
        runs.append(Run(var, **environment))
        return runs[-1]

    yield start_run
    for run in runs:
        if run.process.poll() is None:
            run.process.terminate()
    for run in runs:
        run.wait_for_end()


@pytest.mark.soak
def test_killed_programs_restart_and_lose_no_data(start: Callable[..., Run], tmp_path: Path) -> None:
    prepare(tmp_path / "var")
    run = start()
    run.wait_until_serving()
    with run.database() as database, run.valkey() as valkey:
        database.execute("CREATE TABLE kept (word text)")
        database.execute("INSERT INTO kept VALUES ('bead')")
        valkey.set("kept", "box")

    def serving() -> set[str]:
        web = run.children().get("web")
        return set(read(Path(f"/proc/{web}/task/{web}/children")).split())

    killed = serving()
    assert len(killed) > 1
    for pid in killed:
        os.kill(int(pid), signal.SIGKILL)
    assert wait_until(lambda: not killed & serving() and run.answers())

    for name in CHILDREN:
        before = run.children()
        assert set(before) == set(CHILDREN)
        os.kill(before[name], signal.SIGKILL)

        def is_back(name: str = name, dead: int = before[name]) -> bool:
            return run.children().get(name, dead) != dead and run.answers()

        assert wait_until(is_back), f"{name}: {read(run.output)}"
        assert f"{name} stopped" in read(run.output)

    os.kill(run.process.pid, signal.SIGKILL)
    run.wait_for_end()

    again = start()
    again.wait_until_serving()
    with again.database() as database, again.valkey() as valkey:
        assert database.execute("SELECT word FROM kept").fetchall() == [("bead",)]
        assert valkey.get("kept") == "box"

    second = start()  # with the same folder, while the first still runs
    assert second.process.wait(HANG_S) == 1
    assert "already runs" in read(second.output)

    again.process.send_signal(signal.SIGINT)
    status, output = again.wait_for_end()
    assert status == 0
    assert output.endswith("Beadbox has stopped.\n")
    assert not list(servers.socket_dir(again.var).glob(".s.PGSQL*"))


def test_stop_during_startup_leaves_no_process(start: Callable[..., Run]) -> None:
    run = start()
    assert wait_until(lambda: "postgres" in run.children())
    run.process.terminate()
    status, output = run.wait_for_end()
    assert status == 0
    assert output.endswith("Beadbox has stopped.\n")


def test_stop_request_holds_when_its_exception_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the hooks of a fork, Python prints an exception and continues, so the exception is lost."""
    monkeypatch.setattr(supervisor, "stop_requested", threading.Event())
    with contextlib.suppress(supervisor.StopRequested):
        supervisor._request_stop(signal.SIGINT, None)
    for waits in (supervisor.Progress("the web server").remind, supervisor.Supervisor(tmp_path)._watch):
        with pytest.raises(supervisor.StopRequested):
            waits()


def test_supervisor_continues_when_output_cannot_be_written() -> None:
    imports = "import os; from menace_site.local.supervisor import print_line"
    code = f"{imports}; print_line('web stopped'); print_line('and again'); os._exit(7)"
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run([sys.executable, "-c", code], cwd=servers.BASE_DIR, stdout=full, check=False)
    assert process.returncode == 7


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> supervisor.Supervisor:
    """Return a supervisor that starts no programs. Its first hundred checks of the web server fail."""
    answers = iter(["503 Service Unavailable"] * 100)
    monkeypatch.setattr(supervisor, "REMIND_AFTER_S", 1e-4)
    monkeypatch.setattr(supervisor, "POLL_INTERVAL_S", 1e-5)
    monkeypatch.setattr(supervisor.Supervisor, "_start", lambda self, child: self.children.append(child))
    monkeypatch.setattr(supervisor.Supervisor, "_unready_reason", lambda *args: next(answers, ""))
    return supervisor.Supervisor(tmp_path, port=8000)


LISTEN_ADDRESS = ListenAddress(ip_address("127.0.0.1"), 8000, is_given=False)


def test_slow_start_prints_reminders_with_the_reason(
    slow: supervisor.Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    slow._start_site(LISTEN_ADDRESS, "localhost")
    output = capsys.readouterr().out
    assert "Still waiting for the web server (0 s): 503 Service Unavailable" in output
    assert len(output.splitlines()) < 20, "reminders come more often than after doubled waits"


def test_startup_ends_when_the_web_server_keeps_stopping(
    slow: supervisor.Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watch(self: supervisor.Supervisor) -> None:
        self.children[0].n_deaths += 1

    monkeypatch.setattr(supervisor.Supervisor, "_watch", watch)
    with pytest.raises(ServerError, match="stopped 3 times before it answered; the reason stands above"):
        slow._start_site(LISTEN_ADDRESS, "localhost")


def test_failed_setup_names_the_reason_or_signal() -> None:
    assert supervisor._exit_reason(1) == "the reason stands above."
    assert "SIGKILL" in supervisor._exit_reason(-9)


def test_log_size_is_bounded_while_its_program_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOG_MAX_BYTES", 2_000)
    log, site = tmp_path / "it.log", supervisor.Supervisor(tmp_path)
    words = "import itertools\nfor n in itertools.count(1): print(f'{n:099}', flush=True)"

    def is_turned_over_twice() -> bool:
        """Return whether the rotated log no longer begins with the first line."""
        site._watch()
        return read(tmp_path / "it.log.1")[:99] not in {"", f"{1:099}"}

    with (tmp_path / "lock").open("w") as lock:
        site.children_lock = lock.fileno()
        writer = site._start(supervisor.Child("it", [sys.executable, "-c", words], log=log))
        try:
            assert wait_until(is_turned_over_twice)
        finally:
            processes.stop({writer: signal.SIGKILL})
    assert b"\0" not in log.read_bytes(), "the program writes at the old position of the truncated file"


def test_finite_child_restarts_until_it_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervisor, "BACK_OFF_S", 0)
    site, log = supervisor.Supervisor(tmp_path), tmp_path / "it.log"
    n_failures = 5
    words = f"print('begun', flush=True); raise SystemExit(len(open({str(log)!r}).readlines()) <= {n_failures})"

    def is_gone() -> bool:
        site._watch()
        return not site.children

    with (tmp_path / "lock").open("w") as lock:
        site.children_lock = lock.fileno()
        site._start(supervisor.Child("it", [sys.executable, "-c", words], runs_once=True, log=log))
        assert wait_until(is_gone)
    assert read(log).split() == ["begun"] * (n_failures + 1)
    assert capsys.readouterr().out.count("is started again") == n_failures


def test_each_failure_of_a_finite_child_doubles_its_back_off(tmp_path: Path) -> None:
    site = supervisor.Supervisor(tmp_path)
    waits = []
    with (tmp_path / "lock").open("w") as lock:
        site.children_lock = lock.fileno()
        site._start(child := supervisor.Child("it", [sys.executable, "-c", "raise SystemExit(1)"], runs_once=True))
        for _ in range(2):

            def is_noticed() -> bool:
                site._watch()
                return child.start_again_at_s is not None

            assert wait_until(is_noticed)
            assert child.start_again_at_s is not None
            waits.append(child.start_again_at_s - child.started_at_s)
            site._start(child)
        assert child.process is not None
        processes.stop({child.process: signal.SIGKILL})
    assert waits[1] == pytest.approx(2 * waits[0])


def test_port_in_use_is_reported_in_one_sentence(start: Callable[..., Run]) -> None:
    with socket.socket() as other_socket:
        other_socket.bind(("127.0.0.1", 0))
        other_socket.listen()
        port = other_socket.getsockname()[1]
        status, output = start(PORT=str(port)).wait_for_end()
    assert status == 1
    assert output.startswith(f"Port {port} cannot be used")
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize("port", ["nonsense", "0", "70000"])
def test_invalid_port_is_reported_in_one_sentence(port: str, start: Callable[..., Run], tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "menace_site.local.supervisor"],
        cwd=servers.BASE_DIR,
        env={**os.environ, "PORT": port, "BEADBOX_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1
    assert process.stdout == f"PORT is {port!r}: give a number from 1 to 65535.\n"


def test_invalid_bind_or_allowed_host_is_named(start: Callable[..., Run]) -> None:
    for wrong in ({"BIND": "198.51.100.9"}, {"BIND": "0.0.0.0", "ALLOWED_HOSTS": "192.168.1.20:8000"}):
        status, output = start(**wrong).wait_for_end()
        assert status == 1
        name, value = list(wrong.items())[-1]
        assert output.splitlines()[-1].startswith(name)
        assert repr(value) in output


def test_unreachable_redis_url_fails_at_once_with_a_sentence(start: Callable[..., Run]) -> None:
    status, output = start(REDIS_URL=f"redis://:secret@127.0.0.1:{free_port()}/0").wait_for_end()
    assert status == 1
    assert output.startswith("REDIS_URL is set, but nothing answers at 127.0.0.1:")
    assert "secret" not in output
    assert len(output.splitlines()) == 1


def test_unreachable_database_url_fails_at_once_with_a_sentence(start: Callable[..., Run]) -> None:
    status, output = start(DATABASE_URL=f"postgres://app:secret@127.0.0.1:{free_port()}/app").wait_for_end()
    assert status == 1
    assert output.startswith("DATABASE_URL is set, but does not work")
    assert "secret" not in output
