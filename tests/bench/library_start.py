"""Time of the library's import, of the first example in its documents, and of a million games from Python.

Each import and each run of the example is a whole process. The target of the example is in processor time, because
other programs on the machine disturb it least.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

import beadbox as bb
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from tests.bench.figures import Figure, spread
from tests.sizes import sized

N_STARTS = sized(10, 2)
MAX_RATIO = 1.3
TIMED = """
import time; began = time.perf_counter(), time.process_time()
{}
print(time.perf_counter() - began[0], time.process_time() - began[1])
"""
FIRST_LINES = """
import beadbox as bb
m = bb.menace(seed=1).train(1_000, against="perfect")
m.strength("perfect")
"""
MAX_COMPILED_S, MAX_PLAIN_S = 1.0, 3.0
N_GAMES, N_ROUNDS = sized(1_000_000, 10_000), sized(11, 1)
MAX_KERNEL_RATIO = 1.1


def import_time() -> Iterator[Figure]:
    """Import NumPy and Beadbox in new processes, alternately. The first import of each fills the disk cache."""
    times_s: dict[str, list[float]] = {"numpy": [], "beadbox": []}
    for _ in range(1 + N_STARTS):
        for name, times in times_s.items():
            times.append(_times_s(f"import {name}")[0])
    numpy_s, beadbox_s = (statistics.median(times[1:]) for times in times_s.values())
    yield Figure(
        "import beadbox",
        f"{beadbox_s / numpy_s:.2f} times import numpy ({1000 * beadbox_s:.0f} and {1000 * numpy_s:.0f} ms)",
        f"at most {MAX_RATIO}",
        beadbox_s <= MAX_RATIO * numpy_s,
    )


def first_lines() -> Iterator[Figure]:
    """Run the first example in new processes, with compiled kernels from the cache, and without numba."""
    for kernels, label, limit_s in (("", "compiled", MAX_COMPILED_S), ("plain", "without numba", MAX_PLAIN_S)):
        _times_s(FIRST_LINES, kernels)  # fills the cache
        runs = [_times_s(FIRST_LINES, kernels) for _ in range(N_STARTS)]
        elapsed_s, processor_s = zip(*runs, strict=True)
        text = f"{spread(processor_s)} s of processor time, {statistics.median(elapsed_s):.2f} s elapsed"
        yield Figure(f"first lines, {label}", text, f"< {limit_s:.0f} s", statistics.median(processor_s) < limit_s)


def million_games() -> Iterator[Figure]:
    """Train a machine from Python and, alternately, by the kernel alone with the same seed."""
    game, rule = game_get("noughts-and-crosses"), PRESETS["michie-1961"].rule
    table = boxes_compile(game, Side.FIRST, rule)
    for name in ("random", "perfect"):
        bb.menace().train(1, against=name)  # Compile before the clock starts.
        ratios = []
        for _ in range(N_ROUNDS):
            machine, memory, rng = bb.menace(seed=1), Memory.fresh(table), RandomSource(1)
            begin = time.process_time()
            machine.train(N_GAMES, against=name)
            between = time.process_time()
            memory.train(OPPONENTS[name], N_GAMES, rng)
            ratios.append((between - begin) / (time.process_time() - between))
        median = statistics.median(ratios)
        yield Figure(
            f"{N_GAMES:,} games against {name} from Python",
            f"{spread(ratios)} times the time of the kernel",
            f"at most {MAX_KERNEL_RATIO}",
            median <= MAX_KERNEL_RATIO,
        )


def _times_s(program: str, kernels: str = "") -> tuple[float, float]:
    """Run a program in a new process; return its elapsed time and its processor time in seconds."""
    process = subprocess.run(
        [sys.executable, "-c", TIMED.format(program)],
        env={**os.environ, "BEADBOX_KERNELS": kernels},
        check=True,
        stdout=subprocess.PIPE,
    )
    on_clock_s, processor_s = map(float, process.stdout.split())
    return on_clock_s, processor_s
