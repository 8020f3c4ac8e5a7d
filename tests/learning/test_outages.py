"""The database server and the broker die in the middle of a run and of a tournament: the beads and the table stay.

Servers of its own, as durable as the site's, with a real worker on them: they are killed with ``kill -9``, whole, and
started again, while everybody else's tests go on with theirs.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import environ
import pytest
from django.core.management import call_command
from django.db import Error as DatabaseError
from django.db import connection
from django.utils import timezone

from games.rules.base import Side
from learning.models import CurvePoint, Machine, Pairing, RunStatus, Tournament, TrainingRun
from learning.referee import tournament_play
from learning.runner import curve_marks
from learning.selectors_boxes import ledger_errors
from learning.selectors_tournaments import tournament_view
from learning.services import Stage, training_run_start
from learning.services_tournaments import tournament_start
from learning.storage import memory_load
from menace_site import processes, servers
from menace_site.celery import app
from tests.factories import in_memory, machine, trained

pytestmark = pytest.mark.slow

SECONDS = 60
WORKER = "celery --quiet --app menace_site.celery worker --concurrency 2 --loglevel critical"


class Outage:
    """A PostgreSQL, a Valkey and a worker that only one test uses, so that it may kill them."""

    def __init__(self, var: Path, stack: contextlib.ExitStack) -> None:
        self.var, self.stack = var, stack
        self.redis_url = servers.private_redis_url(var)
        self.start_database()
        self.start_broker()

    def _spawn(self, command: list[Any], **options: Any) -> subprocess.Popen[bytes]:
        process = processes.spawn(command, **options)
        self.stack.callback(processes.stop, {process: signal.SIGKILL})
        return process

    def start_database(self) -> None:
        servers.prepare_postgres(self.var)
        with (self.var / "postgres.log").open("ab") as log:
            command = servers.postgres_command(self.var)
            self.postgres = self._spawn(command, output=log, death_signal=signal.SIGINT)
        servers.wait_for_postgres(self.var, self.postgres)

    def start_broker(self) -> None:
        servers.prepare_valkey(self.var)
        with (self.var / "valkey.log").open("ab") as log:
            self.valkey = self._spawn(servers.valkey_command(self.var), output=log)
        servers.wait_for_valkey(self.var, self.valkey)

    def start_worker(self) -> None:
        place = {"DATABASE_URL": servers.private_database_url(self.var), "REDIS_URL": self.redis_url}
        env = {**os.environ, **place, "DJANGO_SETTINGS_MODULE": "tests.settings", "LOG_LEVEL": "CRITICAL"}
        with (self.var / "worker.log").open("ab") as log:
            self.worker = self._spawn([sys.executable, "-W", "ignore", "-m", *WORKER.split()], env=env, output=log)

    def wait_until(self, condition: Callable[[], bool]) -> bool:
        """Whether it comes true, while a worker that ended is started again, as the site does.

        kombu's Redis transport, told that its broker is gone, sometimes ends the whole worker with an error of its own.
        """

        def holds() -> bool:
            if processes.is_dead(self.worker):
                processes.bury(self.worker)
                self.start_worker()
                self.reap()
            return condition()

        return processes.wait_until(holds, timeout_s=SECONDS)

    def kill_database(self) -> None:
        """The server and every process it forked, which all lead groups of their own."""
        os.kill(self.postgres.pid, signal.SIGSTOP)  # it forks no more
        children = Path(f"/proc/{self.postgres.pid}/task/{self.postgres.pid}/children").read_text().split()
        assert len(children) > 3
        for pid in (self.postgres.pid, *map(int, children)):
            os.kill(pid, signal.SIGKILL)
        processes.bury(self.postgres)
        with pytest.raises(DatabaseError):
            TrainingRun.objects.exists()
        connection.close()

    def kill_broker(self) -> None:
        os.kill(self.valkey.pid, signal.SIGKILL)
        processes.bury(self.valkey)
        assert not servers.redis_answers(self.redis_url)

    def knock(self, task: str, *arguments: int) -> None:
        with app.connection_for_write(
            f"redis+socket://{servers.socket_dir(self.var) / servers.VALKEY_SOCKET}"
        ) as broker:
            app.send_task(task, arguments, connection=broker)

    def reap(self) -> None:
        """Let the worker look for what was forgotten, as beat does every five seconds; no lease need run out for it."""
        TrainingRun.objects.filter(status=RunStatus.RUNNING).update(lease_until=timezone.now())
        Pairing.objects.filter(status=RunStatus.RUNNING).update(lease_until=timezone.now())
        Pairing.objects.filter(status=RunStatus.QUEUED).update(knocked_at=timezone.now() - timedelta(minutes=1))
        self.knock("learning.tasks.training_runs_reap")
        self.knock("learning.tasks.tournaments_reap")


@pytest.fixture
def outage(django_db_setup: None, django_db_blocker: Any) -> Iterator[Outage]:
    """The site on servers of its own, empty; this process's connection leads to them as well."""
    var = Path(tempfile.mkdtemp(prefix="beadbox-outage-"))
    before = dict(connection.settings_dict)
    place = environ.Env.db_url_config(servers.private_database_url(var))
    with contextlib.ExitStack() as stack, django_db_blocker.unblock():
        stack.callback(shutil.rmtree, var, ignore_errors=True)
        stack.callback(shutil.rmtree, servers.socket_dir(var), ignore_errors=True)
        connection.close()
        stack.callback(connection.settings_dict.update, before)
        connection.settings_dict.update(place)
        own = Outage(var, stack)
        stack.callback(connection.close)
        call_command("migrate", verbosity=0)
        yield own


def done(run: TrainingRun) -> int:
    run.refresh_from_db()
    return run.games_done


def reaches(run: TrainingRun, games: int) -> Callable[[], bool]:
    return lambda: done(run) >= games


def test_a_run_ends_with_the_same_beads_though_database_and_broker_were_killed_under_it(outage: Outage) -> None:
    games = 60_000_000
    learner = machine()
    outage.start_worker()
    run = training_run_start(machine=learner.slug, stages=[Stage("random", games)], seed=3, enqueue=False)
    outage.knock("learning.tasks.training_run_execute", run.pk)

    assert outage.wait_until(reaches(run, games // 8))
    outage.kill_broker()
    assert outage.wait_until(reaches(run, done(run) + 1)), "it trains without a broker"
    outage.start_broker()

    assert outage.wait_until(reaches(run, games // 4))
    outage.kill_database()
    outage.start_database()
    stopped_at = done(run)
    assert games // 4 <= stopped_at < games
    outage.reap()

    assert outage.wait_until(reaches(run, max(stopped_at + 1, games // 2))), "it was taken up again"
    outage.kill_broker()
    outage.kill_database()
    outage.start_database()
    outage.start_broker()
    assert run.games_done <= done(run) < games
    outage.reap()

    assert outage.wait_until(lambda: done(run) == games)
    assert run.status == RunStatus.FINISHED
    memory, expected = memory_load(learner), in_memory(learner, games, 3)
    assert (memory.beads == expected.beads).all()
    assert (memory.draws == expected.draws).all()
    points = CurvePoint.objects.filter(run=run).order_by("games_done")
    assert list(points.values_list("games_done", flat=True)) == curve_marks(games)
    learner.refresh_from_db()
    assert learner.n_games == games
    numbers = learner.lessons.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, learner.n_lessons + 1))
    assert ledger_errors() == []


def field() -> list[str]:
    slugs = []
    for number, side in enumerate((Side.FIRST, Side.SECOND, Side.FIRST, Side.SECOND)):
        slugs.append(trained(machine(side, slug=f"m{number}"), games=400 * number + 100, seed=number).slug)
    return [*slugs, "random", "perfect", "win-block", "perfect-fast"]


def n_done(tournament: Tournament) -> int:
    return tournament.pairings.filter(status=RunStatus.FINISHED).count()


def outcome(tournament: Tournament) -> dict[str, Any]:
    view = tournament_view(Tournament.objects.get(pk=tournament.pk))
    return {key: view[key] for key in ("status", "round", "entries", "standings", "crosstable", "pairings")}


def test_a_tournament_comes_to_the_same_though_database_and_broker_were_killed_under_it(outage: Outage) -> None:
    def held() -> Tournament:
        return tournament_start(
            user=None, entries=entries, games=400_000, seed=8, format="swiss", rounds=4, enqueue=False
        )

    entries = field()
    quiet = held()
    tournament_play(quiet.pk)
    expected = outcome(quiet)
    before = list(Machine.objects.order_by("pk").values_list("pk", "n_lessons"))

    outage.start_worker()
    disturbed = held()
    n_pairings = quiet.pairings.count()
    outage.reap()
    for kills, part in (
        ([outage.kill_broker], 1),
        ([outage.kill_database], 2),
        ([outage.kill_database, outage.kill_broker], 3),
    ):
        assert outage.wait_until(lambda part=part: n_done(disturbed) >= part * n_pairings // 5)
        for kill in kills:
            kill()
        if outage.kill_database in kills:
            outage.start_database()
        if outage.kill_broker in kills:
            outage.start_broker()
        assert n_done(disturbed) < n_pairings
        outage.reap()
    assert outage.wait_until(lambda: outcome(disturbed)["status"] == RunStatus.FINISHED)
    assert outcome(disturbed) == expected
    assert list(Machine.objects.order_by("pk").values_list("pk", "n_lessons")) == before, "nobody learnt"
