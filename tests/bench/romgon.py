"""How fast the Romgon engine searches, counts and evaluates, and how its levels do against each other."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from games.rules.registry import game_get
from games.rules.romgon.moves import CORE, Options
from games.rules.romgon.pieces import BLACK, START
from learning.engines.romgon import boards
from learning.engines.romgon.answers import perft, ranking
from tests.bench.figures import Figure, spread
from tests.learning.romgon_contest import interval, level_contest

N_SEARCHES = 101
N_ROUNDS = 7
N_EVALUATIONS = 200_000
N_GAMES = 200
FLIPS = Options(flip=True)
NOT_BELOW = {"romgon-flip: hard against medium", "romgon-flip: expert against medium"}
"""With flips the evaluation rewards turning pieces over, so the deeper levels come late for medium's race."""


def engine() -> Iterator[Figure]:
    """Warm: each search, count and evaluation has been done once before the clock runs."""
    for name, options, depth, target_ms in (
        ("hard (depth 2), flip on", FLIPS, 2, 5),
        ("depth 4, flip off", CORE, 4, 50),
    ):
        milliseconds = _timed(lambda o=options, d=depth: ranking(START, BLACK, o, depth=d), N_SEARCHES, 1000)
        yield Figure(
            f"Romgon, {name}, from the start",
            f"{spread(milliseconds)} ms",
            f"< {target_ms} ms",
            statistics.median(milliseconds) < target_ms,
        )
    for name, options, depth in (("flip off", CORE, 6), ("flip on", FLIPS, 5)):
        n = perft(START, BLACK, options, depth=depth)
        speeds = [n / s / 1e6 for s in _timed(lambda o=options, d=depth: perft(START, BLACK, o, depth=d), N_ROUNDS)]
        yield Figure(
            f"Romgon, perft {depth}, {name}",
            f"{spread(speeds)} M nodes/s ({n:,} nodes)",
            ">= 1 M nodes/s",
            statistics.median(speeds) >= 1,
        )
    speeds = [N_EVALUATIONS / s / 1e6 for s in _timed(_evaluations, N_ROUNDS)]
    yield Figure(
        "Romgon, evaluations called from Python, flip on",
        f"{spread(speeds)} M/s",
        ">= 0.3 M/s",
        statistics.median(speeds) >= 0.3,
    )


def _evaluations() -> None:
    board = np.frombuffer(START, np.uint8)
    for _ in range(N_EVALUATIONS):
        boards.terms(board, 0, boards.FLIP)


def _timed(call: Callable[[], object], n: int, unit: float = 1) -> list[float]:
    """How long each of ``n`` calls took, in seconds or so many parts of one."""
    call()
    times = []
    for _ in range(n):
        begin = time.perf_counter()
        call()
        times.append(unit * (time.perf_counter() - begin))
    return times


def levels() -> Iterator[Figure]:
    """Each level against the one below: two random plies, then 200 games, every opening from both sides."""
    for slug in ("romgon", "romgon-flip"):
        for strong, weak in (
            ("beginner", "easy"),
            ("medium", "easy"),
            ("hard", "easy"),
            ("hard", "medium"),
            ("expert", "medium"),
            ("expert", "hard"),
        ):
            wins, draws, losses = level_contest(game_get(slug), strong, weak, N_GAMES)
            low, high = interval(wins, N_GAMES)
            measured = f"{wins} won, {draws} drawn, {losses} lost: {wins / N_GAMES:.2f} ({low:.2f} to {high:.2f})"
            name = f"{slug}: {strong} against {weak}"
            if name in NOT_BELOW:
                yield Figure(name, measured, "none", ok=True)
            else:
                yield Figure(name, measured, "> 0.5", low > 0.5)
