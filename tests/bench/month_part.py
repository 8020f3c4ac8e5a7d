"""One process of the month that ``tests.bench.month`` simulates: a player, the maintenance worker, or a worker.

``python -m tests.bench.month_part (play|keep|work) CLOCK NUMBER MATCHES GUESTS ACCOUNTS`` writes its results as JSON
into the folder of the file ``CLOCK``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import mmap
import os
import random
import struct
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from uuid import UUID

GAME = "noughts-and-crosses"
N_DAYS = 30
N_ADDRESSES = 100
RETENTION_EVERY_H = 12
"""Simulated hours between two retention passes. The usual period is too short: a simulated hour lasts under 1 s."""
NEW_CONNECTION_DAYS = 3
"""Simulated days for which a player keeps its database connection.

A shorter time would add work: few matches are played in a simulated hour, and a new connection prepares its statements.
"""
CHECK_EVERY_H = 6
"""Simulated hours between two checks of schedules, strengths and ledgers. The period does not change the work."""


class Clock:
    """A clock shared by processes in a file: the month's progress first, then each player's progress, from 0 to 1."""

    def __init__(self, file: Path, n_players: int = 0) -> None:
        if n_players:
            file.write_bytes(bytes(8 * (1 + n_players)))
        self.n_players = file.stat().st_size // 8 - 1
        with file.open("r+b") as opened:
            self._shared = mmap.mmap(opened.fileno(), 0)

    def __getitem__(self, number: int) -> float:
        value: float = struct.unpack_from("d", self._shared, 8 * number)[0]
        return value

    def __setitem__(self, number: int, value: float) -> None:
        struct.pack_into("d", self._shared, 8 * number, value)

    def install(self) -> None:
        """Make this process use the simulated time from now on."""
        from django.utils import timezone

        shared = self

        class SimulatedDatetime(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Any:
                return datetime.now(tz) + timedelta(days=N_DAYS * shared[0])

        vars(timezone)["datetime"] = SimulatedDatetime


@contextlib.contextmanager
def broadcasting() -> Iterator[None]:
    """During the block, an event loop sends broadcasts, as in a web process, so that players do not wait."""
    from games.transport.broadcaster import broadcaster_close, broadcaster_open

    async def open_broadcaster() -> None:
        broadcaster_open()

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(open_broadcaster(), loop).result()
        yield
        asyncio.run_coroutine_threadsafe(broadcaster_close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def play(clock: Clock, number: int, n_matches: int, n_guests: int, n_accounts: int) -> dict[str, Any]:
    """Play matches one after the other; return the seconds of each move by tenths of the month, and the refusals."""
    from django.db import connection

    from games.exceptions import PlayError

    rng = random.Random(number)
    # Each person belongs to one process. If two processes played as the same person, they would share a match.
    people = range(number - 1, n_guests + n_accounts, clock.n_players)
    move_s: list[list[float]] = [[] for _ in range(10)]
    refusals: Counter[str] = Counter()
    day = 0
    with broadcasting():
        for number_of_match in range(n_matches):
            while clock[0] < 1 and clock[0] < number_of_match / n_matches - 0.01:  # This player is ahead of the month.
                time.sleep(0.01)
            # A web process renews its connection after an hour. PostgreSQL compares the cost of a stored plan with the
            # average cost so far. On a connection as old as the site, the average includes costs from empty tables. So
            # the stored plan would seem expensive, and PostgreSQL would plan every statement anew.
            if day + NEW_CONNECTION_DAYS <= (today := int(N_DAYS * clock[0])):
                day = today
                connection.close()
            try:
                _match(rng, move_s[min(int(10 * number_of_match / n_matches), 9)], people, n_guests)
            except PlayError as error:
                refusals[error.code] += 1
            clock[number] = (number_of_match + 1) / n_matches
    return {"took": move_s, "refused": refusals}


def _match(rng: random.Random, move_s: list[float], people: range, n_guests: int) -> None:
    """Play one match of a random person, and append the seconds of each move. Some matches stay unfinished."""
    from beadbox.rules.outcome import Side
    from games.accounts.principal import Principal
    from games.live.play import match_play_move
    from games.live.rooms import room_create, room_state_get
    from learning.services.personal_machines import personal_machine_play

    person_number = rng.choice(people)
    person = Principal(guest=UUID(int=person_number + 1), address=f"10.0.0.{person_number % N_ADDRESSES}")
    if person_number >= n_guests:
        person = Principal(user_id=_accounts()[person_number - n_guests])
    kind = rng.random()
    if kind < 0.25:
        code = personal_machine_play(person=person, game=GAME).room.code
    else:
        opponent = "menace" if kind < 0.85 else "perfect" if kind < 0.97 else "human"
        fresh = 0.25 <= kind < 0.35
        seated = room_create(person=person, game=GAME, side=Side.SECOND, fresh=fresh, opponent=opponent)
        code = seated.room.code
    if kind >= 0.97:  # No second person comes to this room.
        return
    state: Any = room_state_get(code=code, person=person)
    ends = rng.random() > 0.05
    while state["status"] == "playing" and (ends or state["ply"] < 3):
        begin = time.perf_counter()
        state = match_play_move(code=code, person=person, move=rng.choice(state["legal_moves"]), ply=state["ply"])
        move_s.append(time.perf_counter() - begin)


ACCOUNT_IDS: list[int] = []


def _accounts() -> list[int]:
    from django.contrib.auth import get_user_model

    if not ACCOUNT_IDS:
        ACCOUNT_IDS.extend(get_user_model().objects.filter(username__startswith="month-").values_list("pk", flat=True))
    return ACCOUNT_IDS


def keep(clock: Clock) -> dict[str, Any]:
    """Do the maintenance worker's work until the month is over: schedules, strengths, ledgers and retention."""
    from learning.beat import schedules_catch_up
    from learning.models import TrainingRun
    from learning.workers.jobs import TurnEnd
    from learning.workers.ledger import ledgers_compact
    from learning.workers.retention import retention_run
    from learning.workers.standings import standings_measure

    took: list[tuple[str, float]] = []
    n_passes, next_retention, next_check, is_left = 0, 0.0, 0.0, False
    while clock[0] < 1 or TrainingRun.objects.filter(finished_at=None).exists():
        if clock[0] >= next_check:
            next_check, is_left = clock[0] + CHECK_EVERY_H / (24 * N_DAYS), True
            if clock[0] < 1:
                schedules_catch_up()
            standings_measure(TurnEnd(0.5))
        if is_left:
            is_left = ledgers_compact(TurnEnd(0.5))
        if clock[0] >= next_retention:
            n_passes, next_retention = n_passes + 1, clock[0] + RETENTION_EVERY_H / (24 * N_DAYS)
            retention_run(TurnEnd(), batch_times=took)
        time.sleep(0.05)
    while ledgers_compact(TurnEnd(5.0)):
        pass
    retention_run(TurnEnd(), batch_times=took)
    return {"took": took, "n_passes": n_passes + 1}


def work(clock: Clock) -> dict[str, Any]:
    """Do a worker's training runs until the month is over."""
    from learning import tasks
    from learning.models import TrainingRun
    from learning.workers.jobs import TurnEnd, claim_next

    while clock[0] < 1 or TrainingRun.objects.filter(finished_at=None).exists():
        if (claim := claim_next(tasks.KINDS)) is None:
            time.sleep(0.25)  # In production a wake-up ends this wait.
        else:
            kind, job = claim
            kind.take_turn(job, TurnEnd(0.5))
    return {}


def main() -> None:
    """Run one part and write its results."""
    role, file, *numbers = sys.argv[1:]
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")
    django.setup()
    from learning import tasks

    clock = Clock(Path(file))
    clock.install()
    number, n_matches, n_guests, n_accounts = map(int, numbers)
    tasks.wake_up = lambda *_: True  # No worker listens for wake-ups.
    if role == "play":
        results = play(clock, number, n_matches, n_guests, n_accounts)
    else:
        results = keep(clock) if role == "keep" else work(clock)
    results["processor"] = time.process_time()
    Path(file).with_name(f"{number}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    main()
