"""Checks that a second start of the program does not compile its kernels again."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.sizes import IS_SMALL

FIRST_CALL = """
import time
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.kernels.box_learning import train_against_opponent
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.presets import PRESETS
from beadbox.policies.registry import OPPONENTS
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.table import boxes_compile, opponent_compile

game, rule, opponent = game_get("noughts-and-crosses"), PRESETS["michie-1961"].rule, OPPONENTS["random"]
memory = Memory.fresh(boxes_compile(game, Side.FIRST, rule))
opponent_compile(game, Side.FIRST, rule, opponent)
begin = time.perf_counter()
memory.train(opponent, 1, RandomSource(1))
print(time.perf_counter() - begin, sum(train_against_opponent.compiled.stats.cache_misses.values()))
"""


def second_start() -> Iterator[Figure]:
    """Time the first training call of a process with an empty cache, then of a second process with the filled cache."""
    with tempfile.TemporaryDirectory() as empty:
        cache = os.environ["NUMBA_CACHE_DIR"] if IS_SMALL else empty  # compiling takes half a minute
        (cold, _), (warm, compiled) = _first_call(cache), _first_call(cache)
    yield Figure(
        "first training call, second start",
        f"{1000 * warm:.0f} ms, {compiled} compiled (first start: {1000 * cold:.0f} ms)",
        "0 compiled",
        compiled == 0,
        is_fact=True,
    )


def _first_call(cache: str) -> tuple[float, int]:
    """Return the seconds of the first call in a new process, and how many kernels it had to compile."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    printed = subprocess.run(
        [sys.executable, "-c", FIRST_CALL], env=environment, check=True, capture_output=True, text=True
    ).stdout
    seconds, compiled = printed.split()
    return float(seconds), int(compiled)
