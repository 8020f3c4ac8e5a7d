"""Time and size of a back-up of a site with 1,000,000 matches, and the time of its restore.

Two hundred matches are played against a new machine. The database then copies that machine with all its rows as often
as needed, so that the ledger explains every bead of every copy. ``BENCH_BACKUP_MATCHES=100000`` makes a tenth of the
matches.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.bench.figures import Figure
from tests.bench.stored import site
from tests.sizes import sized

N_MATCHES = int(os.environ.get("BENCH_BACKUP_MATCHES", sized("1_000_000", "400")))
N_ROOMS, N_PLAYED = 20, 200
ID_DISTANCE = 10**7
"""Distance between the ids of two copies: larger than any id of a new site."""
ROOM_CODE = "translate(lpad(to_hex(n * 1000 + mod(id, 1000)), 6, '0'), '0123456789abcdef', 'abcdefghjkmnpqrs')"


def backup() -> Iterator[Figure]:
    """Measure the seconds and megabytes of a back-up, the time of ``manage.py restore``, and the audit's part of it."""
    site()
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    from menace_site.operations.backups import backup_make

    var = Path(os.environ["BEADBOX_VAR"])
    _fill()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        size = cursor.fetchone()[0]
        cursor.execute("CREATE DATABASE restored")
    name = f"{N_MATCHES:,} matches"
    yield Figure(f"{name}: size of the database", f"{size / 1e6:,.0f} MB", "-", None)
    took, file = _time_call(lambda: backup_make(var / "copies"))
    yield Figure(f"{name}: back-up", f"{took}, {file.stat().st_size / 1e6:,.0f} MB", "-", None)

    restored_url = urlsplit(settings.DATABASE_URL)._replace(path="/restored").geturl()
    env = {**os.environ, "DATABASE_URL": restored_url, "REDIS_PREFIX": "restored", "BEADBOX_DB_POOL": "0"}
    command = [sys.executable, "manage.py", "restore", file]
    took, _ = _time_call(lambda: subprocess.run(command, env=env, check=True, stdout=sys.stderr))
    yield Figure(f"{name}: restored, migrated and audited", took, "-", None)
    took, _ = _time_call(lambda: call_command("audit", stdout=sys.stderr))
    yield Figure(f"{name}: audit alone", took, "-", None)


def _time_call(call: Callable[[], Any]) -> tuple[str, Any]:
    """Return the elapsed and the processor time as text, and the result. Processor time includes ended children."""
    begin, cpu_begin = time.perf_counter(), _cpu_s()
    result = call()
    return f"{time.perf_counter() - begin:,.0f} s ({_cpu_s() - cpu_begin:,.0f} s of processor time)", result


def _cpu_s() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _fill() -> None:
    """Play matches, and let the database copy the resulting rows."""
    from django.db import connection, models, transaction

    from games.models import Match, Ply, Room, Seat
    from learning.models import Box, Change, Draw, Lesson, Machine, MachineSeat, Standing

    copied_models: list[type[models.Model]] = [
        *(Room, Match, Seat, Ply, Machine, Box, Standing, MachineSeat, Draw, Lesson, Change),
    ]  # fmt: skip
    before = {model: model._default_manager.aggregate(last=models.Max("pk"))["last"] or 0 for model in copied_models}
    _play()
    assert max(model._default_manager.aggregate(last=models.Max("pk"))["last"] for model in copied_models) < ID_DISTANCE
    unique_values = {"code": ROOM_CODE, "slug": "slug || '-' || n"}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for model in copied_models:
            columns = {
                field.column: unique_values.get(field.column, field.column) for field in model._meta.concrete_fields
            }
            for field in model._meta.concrete_fields:
                if field.primary_key or field.related_model in copied_models:
                    columns[field.column] = f"{field.column} + n * {ID_DISTANCE}"
            table, key = model._meta.db_table, model._meta.pk.column
            sys.stderr.write(f"  {table}\n")
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(columns.values())}"
                f" FROM {table}, generate_series(1::bigint, %s) AS n WHERE {table}.{key} > %s",
                [N_MATCHES // N_PLAYED - 1, before[model]],
            )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _play() -> None:
    """Play two hundred matches in twenty rooms against a new machine, with random moves."""
    from beadbox.rules.outcome import Side
    from games.live.play import match_play_move
    from games.live.rooms import room_create, room_reset, room_state_get
    from tests.factories import NC, guest, machine

    draw = random.Random(1)
    player, opponent = guest(), machine(name="Benchmark")
    for _ in range(N_ROOMS):
        code = room_create(person=player, game=NC, opponent="machine", machine=opponent.slug, side=Side.FIRST).room.code
        for number in range(N_PLAYED // N_ROOMS):
            state = room_reset(code=code, person=player) if number else room_state_get(code=code)
            while state["status"] == "playing":
                state = match_play_move(code=code, person=player, move=draw.choice(state["legal_moves"]))
