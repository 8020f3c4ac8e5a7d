"""The supervisor, for real: what is killed comes back, and what was stored is still there."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from menace_site import processes, servers, supervisor
from tests.waiting import HANG_S, PAGE_HANG_S, wait_until

pytestmark = pytest.mark.slow

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
    """One ``make run`` without make, in a ``var`` of its own."""

    def __init__(self, var: Path, **environment: str) -> None:
        self.var = var
        self.port = int(environment.get("PORT") or free_port())
        ours = {"BEADBOX_VAR": str(var), "BEADBOX_LOCAL": "1", "PORT": str(self.port)}
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in {"DATABASE_URL", "REDIS_URL", "REDIS_PREFIX"}
        }
        inherited["DJANGO_SETTINGS_MODULE"] = "menace_site.settings"
        var.mkdir(parents=True, exist_ok=True)
        self.output = var / "output"
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "menace_site.supervisor"],
                cwd=servers.BASE_DIR,
                env={**inherited, **ours, **environment},
                stdout=output,
                stderr=output,
            )

    def children(self) -> dict[str, int]:
        """The process id of each child that lives, by its name."""
        found = {}
        for pid in read(Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")).split():
            command = read(Path("/proc") / pid / "cmdline").replace("\0", " ")
            for name, words in CHILDREN.items():
                if all(word in command for word in words.split(".*")):
                    found[name] = int(pid)
        return found

    def processes(self) -> set[str]:
        """Every living process that was started for this ``var``, down to the last grandchild."""
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

    def refuses(self) -> bool:
        """Whether a page is asked for in vain, and comes back by itself."""
        try:
            page = urllib.request.Request(f"http://localhost:{self.port}/", headers={"Accept": "text/html"})
            urllib.request.urlopen(page, timeout=HANG_S).close()
        except urllib.error.HTTPError as error:
            said = error.code, error.headers["Retry-After"], b'http-equiv="refresh"' in error.read()
            return said == (503, "2", True)
        except OSError:  # a connection that a process took with it
            pass
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


def test_what_is_killed_comes_back_and_forgets_nothing(start: Callable[..., Run]) -> None:
    run = start()
    run.wait_until_serving()
    with run.database() as database, run.valkey() as valkey:
        database.execute("CREATE TABLE kept (word text)")
        database.execute("INSERT INTO kept VALUES ('bead')")
        valkey.set("kept", "box")

    serving = Path(f"/proc/{run.children()['web']}/task/{run.children()['web']}/children").read_text().split()
    assert len(serving) > 1
    for pid in serving:
        os.kill(int(pid), signal.SIGKILL)
    assert wait_until(run.refuses), "somebody answers at once, while nobody serves"
    assert wait_until(run.answers)

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

    second = start()  # of the same folder, while the first serves
    assert second.process.wait(HANG_S) == 1
    assert "already runs" in read(second.output)

    again.process.send_signal(signal.SIGINT)
    status, output = again.wait_for_end()
    assert status == 0
    assert output.endswith("Beadbox has stopped.\n")
    assert not list(servers.socket_dir(again.var).glob(".s.PGSQL*"))


def test_stopping_during_the_start_leaves_nothing(start: Callable[..., Run]) -> None:
    run = start()
    assert wait_until(lambda: "postgres" in run.children())
    run.process.terminate()
    status, output = run.wait_for_end()
    assert status == 0
    assert output.endswith("Beadbox has stopped.\n")


def test_where_nothing_can_be_written_the_site_goes_on() -> None:
    words = "import os; from menace_site.supervisor import say; say('web stopped'); say('and again'); os._exit(7)"
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, "-c", words], cwd=servers.BASE_DIR, stdout=full, check=False)
    assert done.returncode == 7


def test_a_log_is_bounded_while_its_program_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOG_MAX_BYTES", 2_000)
    log, site = tmp_path / "it.log", supervisor.Supervisor(tmp_path, host="", port=0)
    words = "import itertools\nfor n in itertools.count(1): print(f'{n:099}', flush=True)"

    def is_turned_over_twice() -> bool:
        """Whether what was put aside does not begin with the first line."""
        site._watch()
        return read(tmp_path / "it.log.1")[:99] not in {"", f"{1:099}"}

    with (tmp_path / "lock").open("w") as lock:
        site.children_lock = lock.fileno()
        writer = site._start(supervisor.Child("it", [sys.executable, "-c", words], log=log))
        try:
            assert wait_until(is_turned_over_twice)
        finally:
            processes.stop({writer: signal.SIGKILL})
    assert b"\0" not in log.read_bytes(), "it goes on at the new end"


def test_a_port_in_use_is_a_sentence(start: Callable[..., Run]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, output = start(PORT=str(port)).wait_for_end()
    assert status == 1
    assert output.startswith(f"Port {port} cannot be used")
    assert len(output.splitlines()) == 1


@pytest.mark.parametrize("port", ["nonsense", "0", "70000"])
def test_a_wrong_port_is_a_sentence(port: str, start: Callable[..., Run], tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "menace_site.supervisor"],
        cwd=servers.BASE_DIR,
        env={**os.environ, "PORT": port, "BEADBOX_VAR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1
    assert process.stdout == f"PORT is {port!r}: give a number from 1 to 65535.\n"


def test_a_silent_redis_url_fails_at_once_with_a_sentence(start: Callable[..., Run]) -> None:
    status, output = start(REDIS_URL=f"redis://:secret@127.0.0.1:{free_port()}/0").wait_for_end()
    assert status == 1
    assert output.startswith("REDIS_URL is set, but nothing answers at 127.0.0.1:")
    assert "secret" not in output
    assert len(output.splitlines()) == 1


def test_a_silent_database_url_fails_at_once_with_a_sentence(start: Callable[..., Run]) -> None:
    status, output = start(DATABASE_URL=f"postgres://app:secret@127.0.0.1:{free_port()}/app").wait_for_end()
    assert status == 1
    assert output.startswith("DATABASE_URL is set, but does not work")
    assert "secret" not in output
