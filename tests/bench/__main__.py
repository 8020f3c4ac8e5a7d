"""Run the benchmarks and print their figures: ``python -m tests.bench [NAME ...]``, or ``make bench``.

A benchmark that fails is reported as a figure, and the others still run. ``SMALL=1`` runs each benchmark in its
smallest form, within seconds, to show that it still runs: ``make soak`` does this with all of them.

To add a benchmark, write a function that yields :class:`tests.bench.figures.Figure` and add a line to ``BENCHMARKS``.
If the benchmark needs Django, import it and set it up inside the function, so that the others run without a database.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[2] / "var" / "numba"))

from tests.bench import (
    admin,
    ai,
    asked_ladder,
    backup,
    circles,
    class_lesson,
    exact_strength,
    first_seconds,
    ladder,
    learning_speed,
    learnt,
    library_start,
    live_load,
    month,
    population,
    romgon,
    solved,
    stored,
    table_learners,
    values,
    warm_start,
)
from tests.bench.figures import Figure, table

BENCHMARKS: dict[str, Callable[[], Iterator[Figure]]] = {
    "import-time": library_start.import_time,
    "first-lines": library_start.first_lines,
    "million-games": library_start.million_games,
    "learning-speed": learning_speed.kernel_and_c,
    "table-speed": learning_speed.tables_and_c,
    "table-learners": table_learners.compare_with_page,
    "circles": circles.compare_with_page,
    "population": population.many_at_once,
    "warm-start": warm_start.second_start,
    "exact-strength": exact_strength.exact_strength_of_menace,
    "solved": solved.each_game,
    "stored-run": stored.fifty_thousand_games,
    "api-run": stored.api_run,
    "storing-boxes": stored.storing_boxes,
    "live-move": stored.live_move,
    "first-seconds": first_seconds.first_seconds,
    "live-few": live_load.live_few,
    "class-lesson": class_lesson.class_lesson,
    "match-page": stored.match_page,
    "page-of-boxes": stored.page_of_boxes,
    "romgon-engine": romgon.engine,
    "ladder-short": ladder.short_ladder,
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
    "ladder": ladder.whole_ladder,
    "asked-ladder": asked_ladder.compare_with_page,
    "month": month.month,
    "learnt-flips": learnt.learnt_flips,
}
"""Benchmarks that run only when named: each takes many minutes."""
KNOWN = BENCHMARKS | LONG

ALONE = ("first-seconds", "live-few", "class-lesson", "advice", "live-load", "month", "admin", "backup")
"""Benchmarks with a separate process and site. The other benchmarks share one process and the site of ``stored.py``."""


def run_here(names: list[str], out: IO[str]) -> None:
    """Run some benchmarks in this process, and write each figure as a line of JSON."""
    for name in names:
        sys.stderr.write(f"{name}...\n")
        try:
            for figure in KNOWN[name]():
                out.write(f"{json.dumps(asdict(figure))}\n")
                out.flush()
        except Exception as error:
            words = f"FAILED: {type(error).__name__} {error}".splitlines()[0][:100]
            failed = Figure(name, words, "runs to its end", ok=False, is_fact=True)
            out.write(f"{json.dumps(asdict(failed))}\n")
            traceback.print_exc()


def run(names: list[str]) -> Iterator[Figure]:
    """Run some benchmarks in a new process, and yield their figures."""
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "tests.bench", "--to", str(writing), *names]
    with subprocess.Popen(command, pass_fds=[writing]) as process:
        os.close(writing)
        with os.fdopen(reading) as lines:
            for line in lines:
                yield Figure(**json.loads(line))
    if process.returncode:
        yield Figure(
            ", ".join(names), f"FAILED: exit status {process.returncode}", "runs to its end", ok=False, is_fact=True
        )


def main(words: list[str]) -> int:
    """Run the named benchmarks; without names, run all benchmarks except the long ones.

    Return 1 if a benchmark failed or missed its target, 2 if a name is unknown.
    """
    if words[:1] == ["--to"]:
        with os.fdopen(int(words[1]), "w") as out:
            run_here(words[2:], out)
        return 0
    names = words or list(BENCHMARKS)
    if unknown := [name for name in names if name not in KNOWN]:
        sys.stderr.write(f"No benchmark called {', '.join(unknown)}; there are {', '.join(KNOWN)}.\n")
        return 2
    together = [name for name in names if name not in ALONE]
    groups = [together, *([name] for name in names if name in ALONE)]
    figures = [figure for group in groups if group for figure in run(group)]
    sys.stdout.write(f"{table(figures)}\n")
    return int(any(figure.verdict == "NOT" for figure in figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
