"""Speed of the Romgon engine, and strength of the Q-learner after training."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from beadbox.engines.romgon import boards
from beadbox.engines.romgon.answers import perft, ranking
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.frozen import FrozenValues
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.registry import game_get
from beadbox.rules.romgon.moves import CORE, Options
from beadbox.rules.romgon.pieces import BLACK, START
from beadbox.rules.romgon.rules import Romgon
from beadbox.strength.sampled import wilson
from beadbox.strength.snapshots import Points, measure_openings, meeting, openings
from tests.bench.figures import Figure, spread
from tests.sizes import sized

N_SEARCHES = sized(101, 1)
N_ROUNDS = sized(7, 1)
N_EVALUATIONS = sized(200_000, 1_000)
N_CHECK_GAMES = sized(400, 4)
FLIPS = Options(flip=True)
CURVE_POINTS = sized((0, 100, 200, 400, 1_000), (0, 2))
N_CURVE_GAMES = sized(1_000, 4)
BATCH_SIZE = sized(100, 2)
PERFT_DEPTHS = sized((6, 5), (4, 3))
FLIP_GAME = Romgon(FLIPS)


def engine() -> Iterator[Figure]:
    """Time searches, move counts and evaluations. Each call runs once before the clock starts."""
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
    for name, options, depth in (("flip off", CORE, PERFT_DEPTHS[0]), ("flip on", FLIPS, PERFT_DEPTHS[1])):
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


def learner_curve() -> Iterator[Figure]:
    """Measure the Q-learner with its default constants, with flips, before and during training against ``easy``.

    Each point is the win rate in 1,000 games with the current ε. Target: the win rate at the end is above the win rate
    at the start, and the two 95 % intervals do not overlap.
    """
    rule, easy, rng, stored = QRule(), OPPONENTS["easy"], RandomSource(1), dict[str, float]()
    epsilon, trained, first = rule.epsilon, 0, 0.0

    def memory() -> QMemory:
        # The benchmark renews the memory regularly, as a training run does, because a memory grows with each key.
        return QMemory.load(FLIP_GAME, rule, epsilon, lambda keys: {key: stored[key] for key in keys if key in stored})

    for n in CURVE_POINTS:
        while trained < n:
            learner = memory()
            learner.train(easy, BATCH_SIZE, rng)
            stored |= {one.key: one.after for one in learner.touched()}
            epsilon, trained = learner.epsilon, trained + BATCH_SIZE
        batches = [
            memory().sample(easy, BATCH_SIZE, RandomSource(batch)) for batch in range(N_CURVE_GAMES // BATCH_SIZE)
        ]
        wins = round(sum(batch.win for batch in batches) * BATCH_SIZE)
        low, high = wilson(wins, N_CURVE_GAMES)
        first = first or high
        yield Figure(
            f"Q-learner against easy, with flips, after {n:,} games",
            f"{wins / N_CURVE_GAMES:.3f} won ({low:.3f} to {high:.3f}), ε {epsilon:.3f}",
            f"> {first:.3f}" if n == CURVE_POINTS[-1] else "",
            low > first if n == CURVE_POINTS[-1] else True,
        )


def q_checks() -> Iterator[Figure]:
    """Measure the points of the untrained Q-learner with both checks against ``easy``, without exploration.

    Each opening has four random plies and is played from both sides.
    """
    rule = Q_PRESETS["romgon-q-careful"].rule
    for slug, least in (("romgon", 0.90), ("romgon-flip", 0.58)):
        game = game_get(slug)
        player = FrozenValues(rule, 0.0, lambda keys: {})
        play = meeting(game, player, OPPONENTS["easy"])
        points = Points.of(measure_openings(play, openings(game, N_CHECK_GAMES // 2, seed=1), seed=2))
        low, high = points.interval
        yield Figure(
            f"{slug}: Q with both checks, untrained, against easy",
            f"{points.share:.3f} of the points ({low:.3f} to {high:.3f})",
            f">= {least:.2f}",
            points.share >= least,
        )


def _evaluations() -> None:
    board = np.frombuffer(START, np.uint8)
    for _ in range(N_EVALUATIONS):
        boards.terms(board, 0, boards.FLIP)


def _timed(call: Callable[[], object], n: int, unit: float = 1) -> list[float]:
    """Return the duration of each of ``n`` calls, in seconds times ``unit``. A first call before is not timed."""
    call()
    times = []
    for _ in range(n):
        begin = time.perf_counter()
        call()
        times.append(unit * (time.perf_counter() - begin))
    return times
