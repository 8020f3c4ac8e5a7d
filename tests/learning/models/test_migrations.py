"""Migrations forwards: a database of an earlier release, with a row in every table and matches in play."""

import gzip
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from beadbox.experiments.registry import EXPERIMENTS
from beadbox.rules.outcome import Side
from games.accounts.principal import Principal
from games.live.play import match_play_move
from games.live.rooms import room_create
from games.live.store import room_get
from games.models import AccountName, Room
from learning.kinds.boxes.memory import ledger_errors
from learning.models import ExperimentRun, JobStatus, Machine, Schedule, Tournament, TrainingRun
from learning.services.schedules import schedule_fire
from learning.workers import jobs
from learning.workers.experiments import EXPERIMENT_RUNS
from learning.workers.pairings import PAIRINGS
from learning.workers.runs import RUNS
from tests.factories import expire_leases, person, play_out, room_view
from tests.outage import Outage

DUMPS = sorted((Path(__file__).parents[2] / "data" / "databases").glob("*.sql.gz"))
"""Dumps by pg_dump: of a release before jobs had turns, and of commit f788850."""
SCHEMA_SQL = """
    SELECT table_name, column_name, data_type, is_nullable, column_default, character_maximum_length
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', '', 0
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
    UNION ALL SELECT tablename, indexname, indexdef, '', '', 0 FROM pg_indexes WHERE schemaname = 'public'
    ORDER BY 1, 2, 3
"""


def rows(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def schema_lines() -> list[str]:
    """Return every column, constraint and index, without casts, since a dump writes casts in other places."""
    return [
        re.sub(r"[()\s]|::(text|charactervarying|character varying)(\[\])?", "", str(row)) for row in rows(SCHEMA_SQL)
    ]


def row_counts() -> dict[str, int]:
    return {table: rows(f'SELECT count(*) FROM "{table}"')[0][0] for table in connection.introspection.table_names()}


@pytest.mark.soak
@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.name.partition(".")[0])
def test_an_older_database_is_migrated_and_continues(dump: Path, outage: Outage) -> None:
    expected_schema = schema_lines()
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        cursor.execute(gzip.decompress(dump.read_bytes()).decode())
    counts_before = row_counts()
    assert all(counts_before.values())
    games = dict(Machine.objects.order_by().values_list("slug", "n_games"))
    call_command("migrate", verbosity=0)
    assert schema_lines() == expected_schema
    counts_after = row_counts()
    growing_tables = {"auth_permission", "django_content_type", "django_migrations"}
    assert {table: counts_after[table] for table in counts_before if table not in growing_tables} == {
        table: n for table, n in counts_before.items() if table not in growing_tables
    }
    assert dict(Machine.objects.order_by().values_list("slug", "n_games")) == games
    assert AccountName.objects.count() == counts_after["auth_user"]
    assert not Machine.objects.filter(search_name="").exists()
    assert not Machine.objects.exclude(shares=None).exists(), "older copies have their own rows"
    assert ledger_errors() == []
    _continue_work()
    assert ledger_errors() == []


def _continue_work() -> None:
    """Continue the matches, play in a fresh copy too, let every schedule come due, and run all waiting jobs."""
    owner = get_user_model().objects.get(username="owner")
    for learner in Machine.objects.filter(room=None, side__isnull=False).order_by("pk"):
        options: dict[str, Any] = {"opponent": "machine", "machine": learner.slug, "fresh": True}
        room = room_create(person=person(owner), game=learner.game, side=Side(learner.side).other, **options).room
        assert Machine.objects.get(room=room).shares == learner
        assert play_out(room.code, person(owner))["status"] == "finished"
    waiting_guest = Principal(guest=UUID(int=7))
    assert (
        play_out(Room.objects.get(matches__seats__guest=waiting_guest.guest).code, waiting_guest)["status"]
        == "finished"
    )
    romgon_code = Room.objects.filter(game="romgon").earliest("pk").code
    for _ in range(2):
        move = room_view(room_get(romgon_code))["legal_moves"][0]
        state = match_play_move(code=romgon_code, person=person(owner), move=move)
    assert state["ply"] == 6
    Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    assert [schedule_fire(schedule_id=schedule.pk) is not None for schedule in Schedule.objects.order_by("pk")] == [
        True,
        False,
    ]
    expire_leases(*TrainingRun.objects.all())
    while (kind_and_job := jobs.claim_next([RUNS, PAIRINGS, EXPERIMENT_RUNS])) is not None:
        kind, job = kind_and_job
        kind.take_turn(job, jobs.TurnEnd())
    for finished_rows in (TrainingRun.objects, Tournament.objects, ExperimentRun.objects.filter(error="")):
        assert set(finished_rows.order_by().values_list("status", flat=True)) == {JobStatus.FINISHED}
    for run in ExperimentRun.objects.exclude(error=""):
        assert run.edition < EXPERIMENTS[run.experiment].edition, run.error
