"""Training games per second, compared with a C program of the same algorithm."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.table import boxes_compile, opponent_compile
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.table_learner.rule import TableRule
from beadbox.policies.registry import OPPONENTS, UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from tests.bench import c_program
from tests.bench.figures import Figure, spread
from tests.sizes import sized

N_GAMES = sized(2_000_000, 20_000)
N_LOOP_GAMES = sized(400_000, 2_000)
"""Number of training games if positions can repeat: fewer, because such games are longer."""
N_ROUNDS = sized(11, 1)
SEED = 1961
TARGETS = {"noughts-and-crosses": 0.9, "three-mens-morris": 0.8, "pong-hau-ki": 0.8}
"""Minimum speed by game, as a share of the speed of C."""
TABLE_TARGET = 0.8
N_TABLE_ROUNDS = sized(5, 1)


def kernel_and_c() -> Iterator[Figure]:
    """Compare kernel and C on the 304 boxes of Michie's machine, and on games with loops.

    Kernel and C program run alternately, and both update beads after every game. The benchmark measures processor time,
    because other programs on the machine disturb it least.
    """
    cases = [(game, opponent, target) for game, target in TARGETS.items() for opponent in ("random", "perfect")]
    if c_program.compiler() is None:
        for game, opponent, target in cases:
            yield Figure(f"{game} against {opponent}, share of the speed of C", "no C compiler", f">= {target}", None)
        return
    with tempfile.TemporaryDirectory() as folder:
        program = c_program.build(Path(folder), "menace")
        for game, opponent, target in cases:
            yield _box_speed(game, opponent, target, program, Path(folder) / f"{game}-{opponent}")


def _box_speed(slug: str, opponent_slug: str, target: float, program: Path, tables: Path) -> Figure:
    game, opponent, rule = game_get(slug), OPPONENTS[opponent_slug], PRESETS["michie-1961"].rule
    n_games = N_GAMES if game.always_ends else N_LOOP_GAMES
    boxes, compiled = boxes_compile(game, Side.FIRST, rule), opponent_compile(game, Side.FIRST, rule, opponent)
    c_program.write_box_input(tables, boxes, compiled, RandomSource(SEED))
    Memory.fresh(boxes).train(opponent, 1, RandomSource(SEED))  # Compile before the clock starts.

    kernel_speeds, c_speeds = [], []
    for _ in range(N_ROUNDS):
        memory, rng = Memory.fresh(boxes), RandomSource(SEED)
        begin = time.process_time()
        memory.train(opponent, n_games, rng)
        kernel_speeds.append(n_games / (time.process_time() - begin))
        c_result = c_program.run_box_program(program, tables, n_games)
        c_speeds.append(n_games / c_result.seconds)
        _assert_equal(memory, rng, c_result)
    ratios = [kernel / c for kernel, c in zip(kernel_speeds, c_speeds, strict=True)]
    speeds = f"{statistics.median(kernel_speeds) / 1e6:.1f} of {statistics.median(c_speeds) / 1e6:.1f} M games/s"
    return Figure(
        f"{slug} against {opponent_slug}, share of the speed of C",
        f"{spread(ratios)}: {speeds}, same beads",
        f">= {target}",
        statistics.median(ratios) >= target,
    )


def tables_and_c() -> Iterator[Figure]:
    """Compare kernel and C on each preset of value tables, against random play on either side."""
    names = {slug: f"{slug} against random, share of the speed of C" for slug in TABLE_PRESETS}
    if c_program.compiler() is None:
        yield from (Figure(name, "no C compiler", f">= {TABLE_TARGET}", None) for name in names.values())
        return
    with tempfile.TemporaryDirectory() as folder:
        program = c_program.build(Path(folder), "table")
        for slug, name in names.items():
            yield _table_speed(name, TABLE_PRESETS[slug].rule, program, Path(folder) / slug)


def _table_speed(name: str, rule: TableRule, program: Path, tables: Path) -> Figure:
    game, opponent = game_get("noughts-and-crosses"), UNIFORM["random"]
    fresh = TableMemory.fresh(game, rule)
    c_program.write_table_input(tables, fresh, opponent, RandomSource(SEED))
    fresh.train(opponent, 1, RandomSource(SEED))  # Compile before the clock starts.

    kernel_speeds, c_speeds = [], []
    for _ in range(N_TABLE_ROUNDS):
        memory, rng = TableMemory.fresh(game, rule), RandomSource(SEED)
        begin = time.process_time()
        memory.train(opponent, N_GAMES, rng)
        kernel_speeds.append(N_GAMES / (time.process_time() - begin))
        c_result = c_program.run_table_program(program, tables, N_GAMES)
        c_speeds.append(N_GAMES / c_result.seconds)
        assert c_result.words == rng.words, "the random sources differ"
        assert c_result.epsilon == memory.epsilon
        assert np.array_equal(c_result.values, memory.values), "the C program has other values"
        assert np.array_equal(c_result.visits, memory.visits)
    ratios = [kernel / c for kernel, c in zip(kernel_speeds, c_speeds, strict=True)]
    speeds = f"{statistics.median(kernel_speeds) / 1e6:.1f} of {statistics.median(c_speeds) / 1e6:.1f} M games/s"
    text = f"{spread(ratios)}: {speeds}, same values"
    return Figure(name, text, f">= {TABLE_TARGET}", statistics.median(ratios) >= TABLE_TARGET)


def _assert_equal(memory: Memory, rng: RandomSource, c_result: c_program.BoxResult) -> None:
    """Check that kernel and C program have the same beads and counts, so that their speeds can be compared.

    Raises:
        AssertionError: the C program ended with another bead, draw, total or random word.
    """
    assert c_result.words == rng.words, f"the random sources differ: {c_result.words} in C, {rng.words} in Python"
    for name in ("beads", "visits", "totals"):
        assert np.array_equal(getattr(c_result, name), getattr(memory, name)), f"the C program has other {name}"
