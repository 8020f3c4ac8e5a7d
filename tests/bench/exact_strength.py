"""Time in which the exact strength of MENACE is computed."""

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
MAX_MS = 5


def exact_strength_of_menace() -> Iterator[Figure]:
    """Measure one opponent, and all that a machine's page shows: three opponents and the worst case."""
    memory = Memory.fresh(boxes_compile(game_get("noughts-and-crosses"), Side.FIRST, PRESETS["michie-1961"].rule))
    memory.train(OPPONENTS["random"], 50_000, RandomSource(1))
    one_ms, page_ms = [], []
    for _ in range(N_CALLS):
        begin = time.perf_counter()
        against_opponent(memory, OPPONENTS["random"])
        one_ms.append(1000 * (time.perf_counter() - begin))
        against_opponent(memory, OPPONENTS["win-block"])
        against_opponent(memory, OPPONENTS["perfect"])
        worst_case(memory)
        page_ms.append(1000 * (time.perf_counter() - begin))
    one, page = statistics.median(one_ms), statistics.median(page_ms)
    measured = f"{one:.2f} ms (with two more opponents and the worst case {page:.2f} ms)"
    yield Figure("exact strength of a MENACE", measured, f"< {MAX_MS} ms", one < MAX_MS)
