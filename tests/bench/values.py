"""A machine with a million stored values: moves, lessons and training should be as fast as with no values."""

from __future__ import annotations

import statistics
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tests.bench.figures import Figure, spread
from tests.bench.stored import site
from tests.sizes import sized

N_ENTRIES = sized(1_000_000, 1_000)
N_MOVES = sized(60, 3)
N_GAMES = sized(500, 4)
N_RUNS = sized(3, 1)


def a_million_entries() -> Iterator[Figure]:
    """Time a choice of a move, the storage of a game, and a training run; first without values, then with a million."""
    site()
    from django.db import connection

    from learning.services.machines import machine_create

    small, large, first = (machine_create(game="romgon", side=None, name=name) for name in ("Small", "Large", "First"))
    # Kernels compile at their first call, which takes most of a minute.
    _move_times(first)
    _games_per_s(first, 2)
    with connection.cursor() as cursor:
        # Keys are as long as those of a game. A machine would have this many entries after 28,000 games.
        cursor.execute(
            "INSERT INTO learning_value (machine_id, key, start, value, n_visits)"
            " SELECT %s, lpad(to_hex(n * 2654435761 %% 4294967296), 8, '0') || '-' || n || '#' || %s, 0.1, 0.1, 1"
            " FROM generate_series(1, %s) AS n",
            [large.pk, "|".join(["0-0:swU"] * 14), N_ENTRIES],
        )
        cursor.execute("SELECT pg_total_relation_size('learning_value')")
        size_mb = cursor.fetchone()[0] / 1e6
    yield Figure(f"{N_ENTRIES:,} values, with their index", f"{size_mb:,.0f} MB", "", None)
    moves = {machine.pk: _move_times(machine) for machine in (small, large)}
    yield _ratio_figure("live move, with reading its values", moves[small.pk], moves[large.pk], "ms", 1.5)
    games = {machine.pk: _lesson_times(machine) for machine in (small, large)}
    yield _ratio_figure("live game, learnt and stored", games[small.pk], games[large.pk], "ms", 1.5)
    runs = [[_games_per_s(machine, N_GAMES) for machine in (small, large)] for _ in range(N_RUNS)]
    without, with_million = ([run[index] for run in runs] for index in (0, 1))
    yield Figure(
        "training against easy, stored in chunks",
        f"{spread(without, '{:.0f}')} games/s, with a million values {spread(with_million, '{:.0f}')}",
        ">= 200 games/s",
        min(statistics.median(without), statistics.median(with_million)) >= 200,
    )


def _ratio_figure(name: str, without: list[float], with_million: list[float], unit: str, max_ratio: float) -> Figure:
    ratio = statistics.median(with_million) / statistics.median(without)
    text = f"{spread(without)} {unit}, with a million {spread(with_million)} {unit}"
    return Figure(name, text, f"at most {max_ratio} times", ratio <= max_ratio)


def _move_times(machine: Any) -> list[float]:
    """Return the milliseconds of each choice in a random game. For each choice, the machine reads its values anew."""
    from beadbox.kernels.random_source import RandomSource
    from learning.kinds.q_learning.memory import values_learner

    game, rng = machine.game_rules, RandomSource(5)
    position, milliseconds = game.initial_position(), []
    while game.outcome(position) is None and len(milliseconds) < N_MOVES:
        begin = time.perf_counter()
        decision = values_learner(machine).choose(position, rng)
        milliseconds.append(1000 * (time.perf_counter() - begin))
        actions = decision.candidates
        position = game.apply(position, actions[rng.below(len(actions))].move)
    return milliseconds


def _lesson_times(machine: Any) -> list[float]:
    """Return the milliseconds of each resignation after a few moves, with all storage at the end of a match."""
    from beadbox.rules.outcome import Side
    from games.accounts.principal import Principal
    from games.live.play import match_play_move, match_resign
    from games.live.rooms import room_create
    from games.live.store import room_get
    from tests.factories import room_view

    milliseconds = []
    for _ in range(sized(5, 1)):
        person = Principal(guest=uuid.uuid4())
        seated = room_create(person=person, game="romgon", opponent="machine", machine=machine.slug, side=Side.FIRST)
        for _ in range(10):
            state = room_view(room_get(seated.room.code))
            if state["status"] != "playing":
                break
            match_play_move(code=seated.room.code, person=person, move=state["legal_moves"][-1])
        if state["status"] == "playing":
            begin = time.perf_counter()
            match_resign(code=seated.room.code, person=person)
            milliseconds.append(1000 * (time.perf_counter() - begin))
    return milliseconds


def _games_per_s(machine: Any, n_games: int) -> float:
    """Return the games per second of a run, with its two strength samples cut to one game each."""
    from learning.kinds.q_learning.training import QLearningTraining
    from learning.services.runs import Stage, training_run_start
    from learning.workers.runs import RUNS, run_execute

    QLearningTraining.sampling = replace(QLearningTraining.sampling, n_games=1)
    run = training_run_start(machine=machine.slug, stages=[Stage("easy", n_games)], seed=1, enqueue=False)
    claimed = RUNS.claim(run.pk)
    assert claimed is not None
    begin = time.perf_counter()
    run_execute(claimed)
    return n_games / (time.perf_counter() - begin)
