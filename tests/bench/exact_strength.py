"""Time of computing a MENACE's exact strength."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import against_opponent, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from tests.bench.figures import Figure
from tests.sizes import sized

N_CALLS = sized(200, 2)
TARGET_MS = 5


def of_a_menace() -> Iterator[Figure]:
    """Time one opponent, and everything on a machine's page: three opponents and the worst case."""
    memory = Memory.fresh(boxes_compile(game_get("noughts-and-crosses"), Side.FIRST, PRESETS["michie-1961"].rule))
    memory.train(OPPONENTS["random"], 50_000, RandomSource(1))
    one, page = [], []
    for _ in range(N_CALLS):
        begin = time.perf_counter()
        against_opponent(memory, OPPONENTS["random"])
        one.append(1000 * (time.perf_counter() - begin))
        against_opponent(memory, OPPONENTS["win-block"])
        against_opponent(memory, OPPONENTS["perfect"])
        worst_case(memory)
        page.append(1000 * (time.perf_counter() - begin))
    measured = (
        f"{statistics.median(one):.2f} ms (with two more opponents and the worst case {statistics.median(page):.2f})"
    )
    yield Figure("exact strength of a MENACE", measured, f"< {TARGET_MS} ms", statistics.median(one) < TARGET_MS)
