"""A month of the site in ten minutes: a faster clock, 50,000 matches, 5,000 guests, 200 accounts with schedules.

A retention period of a month is shortened to a week, and a longer period to two weeks, so that the simulation shows
deletions. ``BENCH_MONTH_SHARE=0.05`` plays a twentieth of the matches, in half a minute.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from menace_site.local import processes, servers
from tests.bench.figures import Figure
from tests.bench.month_part import GAME, Clock
from tests.bench.prepared import prepare
from tests.sizes import sized

SHARE = float(os.environ.get("BENCH_MONTH_SHARE", sized("1", "0.005")))
SECONDS = 580 * SHARE
"""Minimum duration of the simulated month in seconds. The work that then remains brings the total to ten minutes."""
N_MATCHES, N_GUESTS, N_ACCOUNTS = int(50_000 * SHARE), int(5_000 * SHARE), max(int(200 * SHARE), 4)
N_PLAYERS = sized(4, 1)
"""Number of playing processes. While one process waits for the disk or the database, another process runs."""
SHORT_RETENTION = {
    **dict.fromkeys(("KEEP_GUEST_MATCHES_DAYS", "KEEP_LEDGER_DAYS", "KEEP_COPIES_DAYS"), "7"),
    # Longer periods get two weeks. Each person plays ten matches in the month, which exceeds these match limits.
    **dict.fromkeys(("KEEP_GUEST_MACHINES_DAYS", "KEEP_MATCHES_DAYS"), "14"),
    "MATCHES_PER_GUEST": "3",
    "MATCHES_PER_ACCOUNT": "5",
}
MAX_MS = 100
N_LONGEST = 5
"""Number of row kinds for which retention's longest transaction is reported."""
TABLES_QUERY = """
    SELECT relname, (SELECT count(*) FROM pg_index WHERE indrelid = relid) FROM pg_stat_user_tables ORDER BY relname"""
INDEX_ROW_BYTES = 32
"""Bytes of one row in an index: its tuple id, the key, and free space in the page."""


def month() -> Iterator[Figure]:
    """Measure database size, retention's longest transaction and move times; check that every bead has a cause."""
    with contextlib.ExitStack() as running:
        _start_site(running)
        yield from _month_figures()


def _start_site(running: contextlib.ExitStack) -> None:
    """Start database and broker, durable as in production, and train the built-in machines that are played."""
    var = Path(tempfile.mkdtemp(prefix="beadbox-month-"))
    running.callback(shutil.rmtree, var, ignore_errors=True)
    os.environ |= SHORT_RETENTION | {"BEADBOX_VAR": str(var), "BEADBOX_LOCAL": "1"}
    os.environ["DJANGO_SETTINGS_MODULE"] = "menace_site.settings"
    prepare(var)
    running.enter_context(servers.private_servers(var, database=True, redis=True, is_durable=True))

    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)

    from beadbox.learners.built_in import HOUSE
    from learning.services.house import house_machine_ensure
    from learning.workers.runs import RUNS, run_execute

    for house in HOUSE:
        if house.game == GAME:
            _, run = house_machine_ensure(house)
            if run is not None and (claimed := RUNS.claim(run.pk)) is not None:
                run_execute(claimed)


def _month_figures() -> Iterator[Figure]:
    _create_accounts()
    sizes = [_database_bytes()]
    begin = time.monotonic()
    with _disk_writes() as stalls:
        maintenance, *players, worker = _simulate(sizes)
    seconds = time.monotonic() - begin
    yield Figure(f"{N_MATCHES:,} matches in {seconds:.0f} s", f"{N_MATCHES / seconds:.0f} per second", "-", None)
    tenths = [[move_s for player in players for move_s in player["took"][tenth]] for tenth in range(10)]
    moves = [move_s for tenth in tenths for move_s in tenth]
    p95 = _p95(moves)
    worst = max(_p95(tenth) for tenth in tenths if tenth)
    yield Figure(f"{len(moves):,} moves, 95th percentile", f"{p95:.0f} ms", f"< {MAX_MS} ms", p95 < MAX_MS)
    yield Figure(
        "95th percentile in the slowest tenth of the month", f"{worst:.0f} ms", f"< {MAX_MS} ms", worst < MAX_MS
    )
    parts = [sum(player["processor"] for player in players), maintenance["processor"], worker["processor"]]
    words = ", ".join(f"{1000 * part / N_MATCHES:.1f}" for part in parts)
    yield Figure(
        "processor time per match: players, maintenance worker, worker; without the database", f"{words} ms", "-", None
    )
    retention_ms = [1000 * seconds for _, seconds in maintenance["took"]]
    n_longer = sum(one >= MAX_MS for one in retention_ms)
    name = f"longest of {len(retention_ms):,} transactions in {maintenance['n_passes']} retention passes"
    yield Figure(name, f"{max(retention_ms):.0f} ms; {n_longer} above the target", f"< {MAX_MS} ms", not n_longer)
    longest_s = {
        name: max(seconds for one, seconds in maintenance["took"] if one == name) for name, _ in maintenance["took"]
    }
    for name, seconds in sorted(longest_s.items(), key=lambda one: -one[1])[:N_LONGEST]:
        yield Figure(f"longest transaction about {name}", f"{1000 * seconds:.0f} ms", "-", None)
    disk_ms = [1000 * seconds for seconds in stalls]
    n_longer = sum(one >= MAX_MS for one in disk_ms)
    name = f"longest of {len(disk_ms):,} test writes to disk"
    yield Figure(name, f"{max(disk_ms):.0f} ms; {n_longer} above {MAX_MS} ms", "-", None)
    words = ", ".join(f"{size / 1e6:.0f}" for size in sizes)
    yield Figure(
        "size of the database: at the start, by thirds of the month, after retention", f"{words} MB", "-", None
    )
    refusals = sum((Counter(player["refused"]) for player in players), Counter[str]())
    yield Figure("matches refused", ", ".join(f"{n} {code}" for code, n in refusals.items()) or "none", "-", None)
    yield Figure("audit at the end", audit := _audit_result(), "clean", audit == "clean", is_fact=True)
    _write_row_sizes()


def _simulate(sizes: list[int]) -> Iterator[dict[str, Any]]:
    """Simulate the month; yield the results of the maintenance worker, of each player and of the worker."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "clock"
        clock = Clock(file, N_PLAYERS)
        numbers = [str(N_MATCHES // N_PLAYERS), str(N_GUESTS), str(N_ACCOUNTS)]
        parts = [
            processes.spawn([sys.executable, "-m", "tests.bench.month_part", role, str(file), str(number), *numbers])
            for role, number in [
                ("keep", 0),
                *(("play", number) for number in range(1, 1 + N_PLAYERS)),
                ("work", 1 + N_PLAYERS),
            ]
        ]
        begin = time.monotonic()
        while clock[0] < 1:
            time.sleep(0.05)
            # The month's clock waits for the slowest player.
            slowest = min(clock[number] for number in range(1, 1 + N_PLAYERS))
            clock[0] = min((time.monotonic() - begin) / SECONDS, slowest + 0.02, 1.0)
            if clock[0] >= len(sizes) / 3:
                sizes.append(_database_bytes())
            assert not any(part.poll() for part in parts), "a part of the month failed"
        for number, part in enumerate(parts):
            assert part.wait() == 0, "a part of the month failed"
            yield json.loads(file.with_name(f"{number}.json").read_text())
    sizes.append(_database_bytes())


@contextlib.contextmanager
def _disk_writes() -> Iterator[list[float]]:
    """During the block, measure the seconds of writing and syncing a page to disk, as each transaction does."""
    stalls: list[float] = []
    is_over = threading.Event()

    def write() -> None:
        with tempfile.TemporaryFile(buffering=0) as file:
            while not is_over.wait(0.05):
                begin = time.perf_counter()
                file.seek(0)
                file.write(b"m" * 8192)
                os.fsync(file.fileno())
                stalls.append(time.perf_counter() - begin)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield stalls
    finally:
        is_over.set()
        writer.join()


def _create_accounts() -> None:
    """Create accounts, each with a machine that a schedule trains daily."""
    from django.contrib.auth import get_user_model

    from beadbox.rules.outcome import Side
    from learning.services.machines import machine_create_for_account
    from learning.services.runs import Stage
    from learning.services.schedules import Timing, schedule_create

    accounts = get_user_model().objects
    for number in range(N_ACCOUNTS):
        user = accounts.create(username=f"month-{number}", password="!")
        machine = machine_create_for_account(user=user, game=GAME, side=Side.FIRST, name=f"Machine {number}")
        stages = [Stage("random", 100)]
        schedule_create(user=user, machine=str(machine.pk), stages=stages, timing=Timing(every=24))


def _database_bytes() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        (size,) = cursor.fetchone()
    return int(size)


def _audit_result() -> str:
    from django.core.management import CommandError, call_command

    try:
        call_command("audit", stdout=open(os.devnull, "w"))  # noqa: SIM115 - closed with the process
    except CommandError as error:
        return str(error)
    return "clean"


def _write_row_sizes() -> None:
    """Write the bytes per row of each table to the standard error, for docs/bounds.md."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(TABLES_QUERY)
        for name, n_indexes in cursor.fetchall():
            cursor.execute(f"SELECT count(*), avg(pg_column_size(one)) FROM {name} AS one")
            n_rows, row = cursor.fetchone()
            if n_rows:
                bytes_each = row + 4 + INDEX_ROW_BYTES * n_indexes
                sys.stderr.write(f"  {name:40} {n_rows:>9,} rows, {n_indexes} indexes, {bytes_each:,.0f} bytes each\n")


def _p95(seconds: list[float]) -> float:
    """Return the 95th percentile in milliseconds."""
    return 1000 * statistics.quantiles(seconds, n=20)[-1] if len(seconds) > 1 else 0.0
