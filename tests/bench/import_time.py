"""Time of importing the library, compared with NumPy's."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

from tests.bench.figures import Figure
from tests.sizes import sized

N_IMPORTS = sized(10, 2)
MAX_RATIO = 1.3
IMPORT = "import time; begin = time.perf_counter(); import {}; print(time.perf_counter() - begin)"


def beadbox_and_numpy() -> Iterator[Figure]:
    """Import each of the two in new processes, alternately; the first of each fills the caches of files."""
    times_s: dict[str, list[float]] = {"numpy": [], "beadbox": []}
    for _ in range(1 + N_IMPORTS):
        for name, found in times_s.items():
            done = subprocess.run(
                [sys.executable, "-c", IMPORT.format(name)], check=True, capture_output=True, text=True
            )
            found.append(float(done.stdout))
    numpy_s, beadbox_s = (statistics.median(found[1:]) for found in times_s.values())
    yield Figure(
        "import beadbox",
        f"{beadbox_s / numpy_s:.2f} times import numpy ({1000 * beadbox_s:.0f} and {1000 * numpy_s:.0f} ms)",
        f"at most {MAX_RATIO}",
        beadbox_s <= MAX_RATIO * numpy_s,
    )
