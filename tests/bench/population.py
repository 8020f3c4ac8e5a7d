"""Training of many machines at once, compared with one machine: gain from all cores, and time of a percentile band."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.band import MAX_GAMES, N_MACHINES, band_marks
from beadbox.learners.boxes.population import N_CORES, Population
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from tests.bench.figures import Figure, spread
from tests.sizes import sized

N_ROUNDS = sized(7, 1)
MIN_GAIN, MAX_SHORT_S, MAX_BAND_S = 1.6, 0.05, 0.5


def many_at_once() -> Iterator[Figure]:
    """Train 200 machines and one machine alternately, by Michie's rule against random play."""
    table = boxes_compile(game_get("noughts-and-crosses"), Side.FIRST, PRESETS["michie-1961"].rule)
    random, perfect = UNIFORM["random"], UNIFORM["perfect"]

    def seconds(n: int, marks: list[int], *, measured: bool) -> float:
        population = Population.fresh(table, [RandomSource(seed) for seed in range(n)])
        begin = time.perf_counter()
        population.train(random, marks, [perfect] if measured else [])
        return time.perf_counter() - begin

    seconds(2, [1], measured=True)  # compiles before the clock starts
    ratios, short, band = [], [], []
    for _ in range(N_ROUNDS):
        alone = N_MACHINES * MAX_GAMES / seconds(1, [N_MACHINES * MAX_GAMES], measured=False)
        ratios.append(N_MACHINES * MAX_GAMES / seconds(N_MACHINES, [MAX_GAMES], measured=False) / alone)
        short.append(seconds(N_MACHINES, [1_000], measured=False))
        band.append(seconds(N_MACHINES, band_marks(MAX_GAMES), measured=True))
    yield Figure(
        f"games/s of 200 machines on {N_CORES} cores, relative to one machine",
        spread(ratios),
        f">= {MIN_GAIN} on 2 cores",
        statistics.median(ratios) >= MIN_GAIN if N_CORES >= 2 else None,
    )
    for name, seconds_taken, max_s in (
        ("200 machines, 1,000 games each", short, MAX_SHORT_S),
        ("percentile band of 200 machines: 10,000 games, exact at 40 points", band, MAX_BAND_S),
    ):
        yield Figure(
            name, f"{spread(seconds_taken, '{:.3f}')} s", f"< {max_s} s", statistics.median(seconds_taken) < max_s
        )
