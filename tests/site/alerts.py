"""The alert rules against a real Prometheus: a site is broken in many ways, and the right alert fires each time.

``make alerts`` runs this module. It takes minutes, and needs Debian's package ``prometheus``. The rules come from
``docs/monitoring``, with shorter times (no run lasts a day) and a lower limit on the database's growth.
"""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from menace_site.local import processes
from menace_site.local.servers import BASE_DIR
from tests.bench.prepared import prepare
from tests.environment import shell_environment
from tests.site.test_supervisor import Run, free_port
from tests.sizes import sized
from tests.waiting import HANG_S, wait_until

MONITORING = BASE_DIR / "docs" / "monitoring"
SHORT_WINDOW = sized("[30s]", "[15s]")
SHORT_DURATIONS = {
    "[2m]": "[30s]",
    "[5m]": SHORT_WINDOW,
    "[10m]": SHORT_WINDOW,
    "[15m]": "[10m]",
    "[1d:10m]": "[30s:2s]",
    "5e9": "1e8",
}
PROMETHEUS_CONFIG = {
    "global": {"scrape_interval": "5s", "scrape_timeout": "5s", "evaluation_interval": "1s"},
    "rule_files": ["alerts.yml"],
}


def shorten_durations(text: str) -> str:
    """Return the rules with times of seconds."""
    for long, short in SHORT_DURATIONS.items():
        text = text.replace(long, short)
    return re.sub(r"(?m)^( +for: ).*$", r"\g<1>2s", text)


class Watched:
    """A separate site, and a Prometheus that watches the site."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run = run
        self.port = free_port()
        (folder / "alerts.yml").write_text(shorten_durations((MONITORING / "alerts.yml").read_text()))
        scrape = {"job_name": "beadbox", "static_configs": [{"targets": [f"127.0.0.1:{run.port}"]}]}
        (folder / "prometheus.yml").write_text(yaml.safe_dump({**PROMETHEUS_CONFIG, "scrape_configs": [scrape]}))
        where = [f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
        with (folder / "log").open("wb") as log:
            self.prometheus = processes.spawn(
                ["prometheus", *where, f"--web.listen-address=127.0.0.1:{self.port}"], output=log
            )

    def _data(self, path: str) -> Any:
        """Return the answer of Prometheus, or ``None`` while it starts."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=HANG_S) as response:
                return json.load(response)["data"]
        except urllib.error.URLError:
            return None

    def firing(self) -> set[str]:
        if (data := self._data("alerts")) is None:
            return {"Prometheus does not answer"}
        return {alert["labels"]["alertname"] for alert in data["alerts"] if alert["state"] == "firing"}

    def value(self, query: str) -> float:
        data = self._data(f"query?query={urllib.parse.quote(query)}")
        return float(data["result"][0]["value"][1]) if data and data["result"] else 0.0

    def ask(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> tuple[int, Any]:
        """Return status and body of the site's answer to a program."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.run.port}{path}", data, {"Content-Type": "application/json", **headers}
        )
        try:
            with urllib.request.urlopen(request, timeout=HANG_S) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def room(self) -> Any:
        """Create a room in which the first player is to move."""
        status, room = self.ask("/api/rooms", {"game": "noughts-and-crosses", "opponent": "random", "side": 0})
        assert status == 201, room
        return json.loads(room)

    def tell(self, statement: str) -> None:
        with self.run.database() as database:
            database.execute(statement)

    def pids(self, child: str) -> list[int]:
        """Return the process ids of a part of the site, with all descendants."""
        child_pids = [self.run.children()[child]]
        for pid in child_pids:
            with suppress(OSError):
                child_pids += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return child_pids

    @contextmanager
    def stopped(self, child: str) -> Iterator[None]:
        """Stop the processes of a part of the site for the block."""
        pids = self.pids(child)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def manage(self, code: str) -> None:
        """Run code in the site's own environment."""
        env = {**shell_environment(), "DJANGO_SETTINGS_MODULE": "menace_site.settings", "BEADBOX_LOCAL": "1"}
        command = [sys.executable, str(BASE_DIR / "manage.py"), "shell", "--no-imports", "--command", code]
        subprocess.run(command, env=env | {"BEADBOX_VAR": str(self.run.var)}, check=True)

    @contextmanager
    def changed(self, there: str, back: str) -> Iterator[None]:
        """Change the database for the block."""
        self.tell(there)
        try:
            yield
        finally:
            self.tell(back)

    def fires(self, alert: str, *others: str, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Wait until the alert fires; no alert except ``others``, which have the same cause, may fire meanwhile."""

        def holds() -> bool:
            meanwhile()
            firing_alerts = self.firing()
            assert firing_alerts <= {alert, *others}, firing_alerts
            return alert in firing_alerts

        assert wait_until(holds), (alert, self.firing())

    def is_quiet(self) -> bool:
        return wait_until(lambda: not self.firing())


BACKUP = """
from pathlib import Path
from django.conf import settings
from menace_site.operations.backups import backup_make
backup_make(Path(settings.BACKUP_DIR))
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("alerts")
    prepare(folder / "var")
    run = Run(folder / "var", METRICS_ADDRESSES="127.0.0.1")
    run.wait_until_serving()
    site = Watched(run, folder)
    site.manage(BACKUP)  # the site itself makes the first back-up some minutes later
    # Before the first scrape Prometheus counts the site as down.
    assert wait_until(lambda: site.value('up{job="beadbox"}') == 1)
    yield site
    processes.stop({site.prometheus: signal.SIGTERM})
    run.process.terminate()
    run.wait_for_end()


@pytest.fixture(autouse=True)
def _quiet(watched: Watched) -> None:
    """Check that no alert fires before a fault. After the block, mend the fault."""
    assert watched.is_quiet(), watched.firing()


EXPERIMENTS = """
from learning.services.experiments import experiment_request
size = {{"machines": 300, "games": 2000}}
for seed in range({first}, {first} + 6):
    experiment_request(person=None, experiment="hexapawn-rewards", parameters=size, seed=seed)
"""


def test_promtool_reads_the_rules() -> None:
    for what, file in (("rules", "alerts.yml"), ("config", "prometheus.yml")):
        subprocess.run(["promtool", "check", what, file], cwd=MONITORING, check=True)


def test_every_web_process_hangs(watched: Watched) -> None:
    with watched.stopped("web"):
        watched.fires("SiteDown")


def test_the_database_hangs(watched: Watched) -> None:
    with watched.stopped("postgres"):
        watched.fires("DatabaseAway", "SchedulerSilent")


def test_the_broker_hangs(watched: Watched) -> None:
    with watched.stopped("valkey"):
        watched.fires("BrokerAway", "SchedulerSilent")


def test_the_scheduler_hangs(watched: Watched) -> None:
    with watched.stopped("beat"):
        watched.fires("SchedulerSilent")


def test_the_maintenance_worker_hangs(watched: Watched) -> None:
    # The clerk also knocks for what waits: on a busy machine the first tournament of the house may be among it.
    with watched.stopped("clerk"):
        watched.fires("SchedulerSilent", "WorkersAway")


@pytest.mark.parametrize("forget", ["SELECT 1", "DELETE FROM learning_turn"], ids=["before", "always"])
def test_the_workers_hang(watched: Watched, forget: str) -> None:
    with watched.stopped("worker"):
        watched.tell(forget)
        watched.manage(EXPERIMENTS.format(first=100 + len(forget)))
        watched.fires("WorkersAway")


SLOW = """
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
    CREATE TRIGGER slow BEFORE INSERT ON games_ply FOR EACH ROW EXECUTE FUNCTION slow()"""


def test_moves_are_slow(watched: Watched) -> None:
    def play() -> None:
        room = watched.room()
        headers = {"X-Seat-Token": room["seat_token"]}
        status, state = watched.ask(f"/api/rooms/{room['code']}/move", {"move": "5"}, **headers)
        assert status == 200, state

    with watched.changed(SLOW, "DROP TRIGGER slow ON games_ply; DROP FUNCTION slow()"):
        watched.fires("MovesSlow", meanwhile=play)


def test_a_request_breaks(watched: Watched) -> None:
    watched.ask("/experiments")
    with watched.changed(
        "ALTER TABLE learning_tournament RENAME TO away", "ALTER TABLE away RENAME TO learning_tournament"
    ):
        watched.fires("Faults", meanwhile=lambda: watched.ask("/tournaments"))


def test_players_are_turned_away(watched: Watched) -> None:
    """The table of rooms is locked: requests that read a room use up all threads, so that moves are refused."""
    from websockets.sync.client import connect

    origin = f"http://127.0.0.1:{watched.run.port}"
    url = f"ws{origin[4:]}/api/rooms/{watched.room()['code']}/ws"
    with ExitStack() as stack:
        sockets = [stack.enter_context(connect(url, origin=origin, open_timeout=None)) for _ in range(60)]
        assert all("joined" in socket.recv() for socket in sockets)
        database = stack.enter_context(watched.run.database())
        database.execute("BEGIN; LOCK TABLE games_room IN ACCESS EXCLUSIVE MODE")
        for socket in sockets[:40]:
            socket.send('{"type": "ping"}')
        assert wait_until(lambda: watched.value("beadbox_thread_wait_seconds") > 0.5)

        def move() -> None:
            for socket in sockets[40:]:
                with suppress(TimeoutError):  # a client that never reads is disconnected
                    while True:
                        socket.recv(timeout=0)
                socket.send('{"type": "move", "data": {"move": "5"}}')

        watched.fires("PlayersTurnedAway", "DatabaseAway", meanwhile=move)
        database.execute("ROLLBACK")


def test_codes_of_classes_are_guessed(watched: Watched) -> None:
    """A program types codes, with the cookie and the token of the form."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    url = f"http://127.0.0.1:{watched.run.port}/class"
    form = opener.open(url, timeout=HANG_S).read().decode()
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
    assert token
    data = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1], "code": "zzzzz9"}).encode()

    def guess() -> None:
        for _ in range(100):
            with suppress(urllib.error.HTTPError):
                opener.open(url, data, timeout=HANG_S).read()

    watched.fires("CodesGuessed", meanwhile=guess)


def test_the_database_grows(watched: Watched) -> None:
    fill = "CREATE TABLE filler AS SELECT repeat(md5(n::text), 30) FROM generate_series(1, 200000) AS n"
    with watched.changed(fill, "DROP TABLE filler"):
        watched.fires("DatabaseGrows")


def test_no_back_up_is_made(watched: Watched) -> None:
    folder = watched.run.var / "backups"
    folder.rename(folder.with_name("away"))
    folder.touch()  # the next back-up fails too
    try:
        watched.fires("BackupOld")
    finally:
        folder.unlink()
        folder.with_name("away").rename(folder)


def test_the_workers_die_again_and_again(watched: Watched) -> None:
    """The last, as it is remembered for the longest."""
    watched.manage(EXPERIMENTS.format(first=200))
    seen = -1.0

    def kill() -> None:
        """Kill all workers during their time slices, again after each detection."""
        nonlocal seen
        lost = watched.value("sum(beadbox_leases_lost_total)")
        if lost > seen and watched.value("sum(beadbox_jobs_running)") > 0:
            seen = lost
            for pid in watched.pids("worker"):
                os.kill(pid, signal.SIGKILL)

    watched.fires("WorkersDie", "WorkersAway", meanwhile=kill)
