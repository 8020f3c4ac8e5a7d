"""The same learning as a C program: built where there is a compiler, fed the same tables, its beads read back."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from learning.core.kernels.random_source import RandomSource
from learning.core.machines.rule import WhenEmpty
from learning.core.training.tables import Course

SOURCE = Path(__file__).with_name("menace.c")
COMMAND = ("-std=c11", "-O3")


@dataclass(frozen=True)
class CRun:
    """What the C program printed: the processor time of the games, and everything it learnt."""

    seconds: float
    words: tuple[int, int]
    tally: list[int]
    beads: NDArray[np.int64]
    visits: NDArray[np.int64]
    totals: NDArray[np.int64]


def compiler() -> str | None:
    """The C compiler of this machine, if it has one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build(folder: Path) -> Path:
    """The program, compiled into the folder."""
    program = folder / "menace"
    compile_with = compiler()
    assert compile_with is not None, "ask compiler() first"
    subprocess.run([compile_with, *COMMAND, "-o", program, SOURCE], check=True)
    return program


def write_tables(path: Path, course: Course, rng: RandomSource) -> None:
    """Everything the program needs to know, as numbers in text, in the order of ``read_tables`` in the C source."""
    table, rule = course.boxes, course.boxes.cabinet.rule
    assert rule.when_empty is not WhenEmpty.UNIFORM, "the C program knows no empty box that plays anything"
    assert not rule.removes
    assert not rule.only_last
    head = (
        *(table.n_boxes, len(table.initial), len(course.reply_indptr) - 1, len(course.reply_target), course.start),
        *(rule.win, rule.draw, rule.loss, rule.floor, rule.highest),
    )
    arrays = (
        *(table.slot_indptr, course.slot_target, table.refills.astype(int), table.initial),
        *(course.reply_indptr, course.reply_target),
    )
    lines = (rng.words, head, *arrays)
    path.write_text("\n".join(" ".join(str(int(number)) for number in line) for line in lines))


def run(program: Path, tables: Path, n_games: int) -> CRun:
    """Let the program learn from ``n_games`` in a process of its own."""
    printed = subprocess.run([program, tables, str(n_games)], check=True, capture_output=True, text=True).stdout
    seconds, words, tally, beads, visits, totals = printed.splitlines()
    first, second = map(int, words.split())
    return CRun(
        float(seconds),
        (first, second),
        [int(number) for number in tally.split()],
        *(np.array(line.split(), dtype=np.int64) for line in (beads, visits, totals)),
    )
