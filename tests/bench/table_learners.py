"""Strength of value tables: computes the two tables of docs/learning.md again.

``python -m tests.bench.table_learners`` prints the tables. The benchmark compares the page with them, cell by cell.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from pathlib import Path

import numpy as np

from beadbox.experiments.intervals import mean_interval
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.table_learner.memory import TableMemory, table_against_opponent
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.strength.sampled import Z
from tests.bench.figures import Figure
from tests.sizes import sized

PAGE = Path(__file__).parents[2] / "docs" / "learning.md"
PAGE_MACHINES = 400
N_MACHINES = sized(PAGE_MACHINES, 4)
GAMES = (1_000, 10_000)
TRAINING_OPPONENTS = OPPONENTS = ("random", "perfect")
TRAINED_SIDES = {"first only": Side.FIRST, "second only": Side.SECOND, "both": None}
MAX_DEVIATIONS = 5
ROUNDING = 0.0005
CELL = re.compile(r"(\d?\.\d{3}) ± (\.\d{3})")


@dataclass(frozen=True)
class Row:
    """A table row: for each opponent and number of games, the mean points and half of their 95 % interval."""

    preset: str
    plays: str
    cells: tuple[tuple[float, float], ...]

    @property
    def row_start(self) -> str:
        """The first two cells, which identify the row on the page."""
        return f"| `{self.preset}` | {self.plays} |"

    @property
    def text(self) -> str:
        return self.row_start + "".join(
            f" {_three_decimals(mean)} ± {_three_decimals(half)} |" for mean, half in self.cells
        )


def rows(preset: str, training_opponent: str, n_machines: int) -> Iterator[Row]:
    """Yield the rows of a preset, one for each way of training, from machines of seeds 0, 1, 2, …"""
    for plays, side in TRAINED_SIDES.items():
        points = np.array([_points(preset, training_opponent, side, seed) for seed in range(n_machines)])
        if side is None:
            yield _row(preset, "both, as first", points[:, Side.FIRST])
            yield _row(preset, "both, as second", points[:, Side.SECOND])
            yield _row(preset, "both, mean", points.mean(axis=1))
        else:
            yield _row(preset, plays, points[:, side])


def _points(preset: str, training_opponent: str, side: Side | None, seed: int) -> list[list[float]]:
    """Return the exact points of one machine: for each seat, each opponent after each number of games."""
    memory, source = TableMemory.fresh(game_get("noughts-and-crosses"), TABLE_PRESETS[preset].rule), RandomSource(seed)
    scores: dict[tuple[Side, str, int], float] = {}
    n_trained = 0
    for n_games in GAMES:
        memory.train(UNIFORM[training_opponent], n_games - n_trained, source, side)
        n_trained = n_games
        for seat in Side:
            for opponent in OPPONENTS:
                scores[seat, opponent, n_games] = table_against_opponent(memory, seat, UNIFORM[opponent]).score
    return [[scores[seat, opponent, n_games] for opponent in OPPONENTS for n_games in GAMES] for seat in Side]


def _row(preset: str, plays: str, points: np.ndarray) -> Row:
    intervals = [mean_interval(column) for column in points.T.tolist()]
    return Row(preset, plays, tuple((mean, high - mean) for mean, _, high in intervals))


def _three_decimals(number: float) -> str:
    return f"{number:.3f}".removeprefix("0")


def rows_on_page(training_opponent: str) -> list[str]:
    """Return the rows in the page's table for a training opponent."""
    return PAGE.read_text().partition(f"| taught by {training_opponent} |")[2].partition("\n\n")[0].splitlines()


def differs_from_page(row: Row, lines: list[str]) -> bool:
    """Return whether the page has other digits than the row. Below full size, only a large difference counts."""
    text = next((text for text in lines if text.startswith(row.row_start)), "")
    if N_MACHINES == PAGE_MACHINES:
        return text != row.text
    published = [(float(mean), float(half)) for mean, half in CELL.findall(text)]
    factor = MAX_DEVIATIONS / Z * sqrt(PAGE_MACHINES / N_MACHINES)
    return len(published) != len(row.cells) or any(
        abs(page_mean - mean) > factor * (half + ROUNDING) + ROUNDING
        for (page_mean, half), (mean, _) in zip(published, row.cells, strict=True)
    )


def compare_with_page() -> Iterator[Figure]:
    """Compare each preset and training opponent with the page."""
    for training_opponent in TRAINING_OPPONENTS:
        lines = rows_on_page(training_opponent)
        for preset in TABLE_PRESETS:
            new_rows = list(rows(preset, training_opponent, N_MACHINES))
            wrong = [row.text for row in new_rows if differs_from_page(row, lines)]
            text = f"differs from the page: {wrong[0]}" if wrong else f"{new_rows[-1].text}, {N_MACHINES} machines"
            yield Figure(f"{preset}, taught by {training_opponent}", text, "docs/learning.md", not wrong, is_fact=True)


if __name__ == "__main__":
    for one in TRAINING_OPPONENTS:
        sys.stdout.write(f"{one}\n")
        for slug in TABLE_PRESETS:
            sys.stdout.writelines(f"{row.text}\n" for row in rows(slug, one, N_MACHINES))
