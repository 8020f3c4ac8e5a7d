"""Run the benchmarks and print their figures: ``python -m tests.bench [NAME ...]``, or ``make bench``.

A new one is a function that yields :class:`tests.bench.figures.Figure` and a line in ``BENCHMARKS``. One that needs
Django imports and sets it up inside the function, so that the others run without a database.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / "var" / "numba"))

from tests.bench import (
    admin,
    ai,
    backup,
    exact_strength,
    first_seconds,
    ladder,
    learn_load,
    learning_speed,
    learnt,
    live_load,
    month,
    population,
    romgon,
    stored,
    values,
    warm_start,
)
from tests.bench.figures import Figure, table

BENCHMARKS: dict[str, Callable[[], Iterator[Figure]]] = {
    "learning-speed": learning_speed.kernel_and_c,
    "table-speed": learning_speed.tables_and_c,
    "population": population.many_at_once,
    "warm-start": warm_start.second_start,
    "exact-strength": exact_strength.of_a_menace,
    "stored-run": stored.fifty_thousand_games,
    "api-run": stored.api_run,
    "storing-boxes": stored.storing_boxes,
    "live-move": stored.live_move,
    "first-seconds": first_seconds.first_seconds,
    "live-few": live_load.live_few,
    "match-page": stored.match_page,
    "page-of-boxes": stored.page_of_boxes,
    "romgon-engine": romgon.engine,
    "ladder-short": ladder.short,
    "learnt-speed": learnt.learnt_speed,
    "learnt-plain": learnt.learnt_plain,
    "learner-curve": romgon.learner_curve,
    "q-checks": romgon.q_checks,
    "million-values": values.a_million_entries,
    "advice": ai.advice_and_live_moves,
}
LONG: dict[str, Callable[[], Iterator[Figure]]] = {
    "admin": admin.lists,
    "backup": backup.backup,
    "live-load": live_load.live_load,
    "learn-load": learn_load.learn_load,
    "ladder": ladder.whole,
    "month": month.month,
    "learnt-flips": learnt.learnt_flips,
}
"""Only by name: they take many minutes each."""


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all that are not long; 1 if a target was missed, 2 if a name is unknown."""
    known = BENCHMARKS | LONG
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"No benchmark called {', '.join(unknown)}; there are {', '.join(known)}.\n")
        return 2
    figures = []
    for name in names or BENCHMARKS:
        sys.stderr.write(f"{name}...\n")
        figures += list(known[name]())
    sys.stdout.write(f"{table(figures)}\n")
    return int(any(figure.ok is False for figure in figures))


sys.exit(main(sys.argv[1:]))
