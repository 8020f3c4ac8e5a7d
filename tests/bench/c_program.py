"""The learning algorithms as C programs: compile them, write their tables, run them and read back their results."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beadbox.kernels.box_learning import OpponentArrays
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.rule import RepeatedVisits, Unfinished, WhenEmpty
from beadbox.learners.boxes.table import BoxTable
from beadbox.learners.table_learner.memory import TableMemory, replies_compile, rule_numbers
from beadbox.policies.opponent import UniformOpponent

COMPILER_OPTIONS = ("-std=c11", "-O3", "-ffp-contract=off")
"""Compiler options. Contraction is off, so that sums and products round as they do in the kernels."""


@dataclass(frozen=True)
class BoxResult:
    """The output of ``menace.c``: the processor seconds of the games, and the machine after them."""

    seconds: float
    words: tuple[int, int]
    tally: list[int]
    beads: NDArray[np.int64]
    visits: NDArray[np.int64]
    totals: NDArray[np.int64]


@dataclass(frozen=True)
class TableResult:
    """The output of ``table.c``: the processor seconds of the games, and the machine after them."""

    seconds: float
    words: tuple[int, int]
    tally: list[int]
    values: NDArray[np.float64]
    visits: NDArray[np.int64]
    epsilon: float


def compiler() -> str | None:
    """Return the path of a C compiler on this machine, or ``None``."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build(folder: Path, name: str) -> Path:
    """Compile ``NAME.c`` into the folder and return the program's path."""
    program, source = folder / name, Path(__file__).with_name(f"{name}.c")
    compile_with = compiler()
    assert compile_with is not None, "call compiler() first"
    subprocess.run([compile_with, *COMPILER_OPTIONS, "-o", program, source, "-lm"], check=True)
    return program


def write_box_input(path: Path, table: BoxTable, opponent: OpponentArrays, rng: RandomSource) -> None:
    """Write the input of ``menace.c`` as numbers in text, in the order of ``read_tables`` in the C source."""
    rule = table.cabinet.rule
    assert rule.when_empty is not WhenEmpty.UNIFORM, "the C program does not implement empty boxes that play at random"
    assert not rule.removes
    assert not rule.only_last
    assert rule.repeated_visits is RepeatedVisits.EVERY
    assert rule.unfinished is Unfinished.RESULT
    head = (
        *(
            table.n_boxes,
            len(table.initial),
            len(opponent.reply_indptr) - 1,
            len(opponent.reply_target),
            opponent.start,
        ),
        *(rule.win, rule.draw, rule.loss, rule.floor, rule.highest),
        *(opponent.start_plies, 0 if table.cabinet.game.always_ends else opponent.limit, opponent.endless),
    )
    arrays = (
        *(table.slot_indptr, opponent.slot_target, table.refills.astype(int), table.initial),
        *(opponent.reply_indptr, opponent.reply_target, opponent.slot_plies, opponent.reply_plies),
    )
    lines = (rng.words, head, *arrays)
    path.write_text("\n".join(" ".join(str(int(number)) for number in line) for line in lines))


def write_table_input(path: Path, memory: TableMemory, opponent: UniformOpponent, rng: RandomSource) -> None:
    """Write the input of ``table.c``. Fractions are in hexadecimal, which does not round them."""
    graph, rule = memory.table.graph, rule_numbers(memory.rule)
    reply_indptr, reply_edge = replies_compile(memory.game, opponent)
    head = (
        *(len(graph.side), len(graph.successor), len(memory.table.keys), len(reply_edge)),
        *(rule.off_policy, rule.by_visits),
    )
    constants = (
        *(rule.reach, rule.discount, rule.outlook, rule.step, rule.decay, rule.floor, rule.win, rule.draw, rule.loss),
        *(memory.rule.start_value, memory.epsilon),
    )
    arrays = (graph.indptr, graph.successor, graph.side, memory.table.edge_entry, reply_indptr, reply_edge)
    lines = [" ".join(str(int(number)) for number in line) for line in (rng.words, head, *arrays)]
    lines.insert(2, " ".join(float(number).hex() for number in constants))
    path.write_text("\n".join(lines))


def run_table_program(program: Path, tables: Path, n_games: int) -> TableResult:
    """Run ``table.c`` for ``n_games``, and return its output."""
    seconds, words, tally, values, visits, epsilon = _output_lines(program, tables, n_games)
    first, second = map(int, words.split())
    return TableResult(
        float(seconds),
        (first, second),
        [int(number) for number in tally.split()],
        np.array([float.fromhex(number) for number in values.split()]),
        np.array(visits.split(), dtype=np.int64),
        float.fromhex(epsilon),
    )


def _output_lines(program: Path, tables: Path, n_games: int) -> list[str]:
    command = [program, tables, str(n_games)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def run_box_program(program: Path, tables: Path, n_games: int) -> BoxResult:
    """Run ``menace.c`` for ``n_games``, and return its output."""
    seconds, words, tally, beads, visits, totals = _output_lines(program, tables, n_games)
    first, second = map(int, words.split())
    return BoxResult(
        float(seconds),
        (first, second),
        [int(number) for number in tally.split()],
        *(np.array(line.split(), dtype=np.int64) for line in (beads, visits, totals)),
    )
