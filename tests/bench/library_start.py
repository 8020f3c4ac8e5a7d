"""Time of importing the library, compared with NumPy's, and of the first lines of its documents."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator

from tests.bench.figures import Figure, spread
from tests.sizes import sized

N_STARTS = sized(10, 2)
MAX_RATIO = 1.3
TIMED = "import time; begin = time.perf_counter()\n{}\nprint(time.perf_counter() - begin)"
FIRST_LINES = """
import beadbox as bb
m = bb.menace(seed=1).train(1_000, against="perfect")
m.strength("perfect")
"""
MAX_COMPILED_S, MAX_PLAIN_S = 1.0, 3.0


def import_time() -> Iterator[Figure]:
    """Import each of the two in new processes, alternately. The first of each fills the cache of the file system."""
    times_s: dict[str, list[float]] = {"numpy": [], "beadbox": []}
    for _ in range(1 + N_STARTS):
        for name, found in times_s.items():
            found.append(_time_s(f"import {name}"))
    numpy_s, beadbox_s = (statistics.median(found[1:]) for found in times_s.values())
    yield Figure(
        "import beadbox",
        f"{beadbox_s / numpy_s:.2f} times import numpy ({1000 * beadbox_s:.0f} and {1000 * numpy_s:.0f} ms)",
        f"at most {MAX_RATIO}",
        beadbox_s <= MAX_RATIO * numpy_s,
    )


def first_lines() -> Iterator[Figure]:
    """Run the first lines in new processes, with compiled kernels from the cache, and without numba."""
    for kernels, words, limit_s in (("", "compiled", MAX_COMPILED_S), ("plain", "without numba", MAX_PLAIN_S)):
        _time_s(FIRST_LINES, kernels)  # This fills the cache.
        times_s = [_time_s(FIRST_LINES, kernels) for _ in range(N_STARTS)]
        measured = f"{spread(times_s)} s"
        yield Figure(f"first lines, {words}", measured, f"< {limit_s:.0f} s", statistics.median(times_s) < limit_s)


def _time_s(program: str, kernels: str = "") -> float:
    done = subprocess.run(
        [sys.executable, "-c", TIMED.format(program)],
        env={**os.environ, "BEADBOX_KERNELS": kernels},
        check=True,
        stdout=subprocess.PIPE,
    )
    return float(done.stdout)
