"""Rules of boxes in games with loops: computes the two tables of docs/learning.md again.

``python -m tests.bench.circles`` prints the tables. The benchmark compares the page with them, row by row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.learners.boxes.presets import DEFAULT_PRESETS, PRESETS, default_preset
from beadbox.learners.boxes.rule import BoxRule, RepeatedVisits, Unfinished, WhenEmpty
from beadbox.learners.boxes.training_config import Cohort, TrainingConfig
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from tests.beadbox.perfect_graph import points_of
from tests.bench.figures import Figure
from tests.bench.table_learners import PAGE
from tests.sizes import sized

LOOP_GAMES = [game for game in GAMES.values() if not game.always_ends and game.slug == game.family]
PAGE_MACHINES = 20
N_MACHINES = sized(PAGE_MACHINES, 2)
N_GAMES = sized(5_000, 50)
MEASURED_GAMES = sized(LOOP_GAMES, LOOP_GAMES[:1])
TRAINING_OPPONENTS = ("random", "win-block", "perfect")
OPPONENTS = (*TRAINING_OPPONENTS, "worst")
REWARDS = ((3, 1, -1), (3, 0, -1), (1, 0, -1), (3, 0, -3))


class Candidate(NamedTuple):
    """The fields of a rule that the benchmark compares. All other fields have their defaults."""

    repeated: RepeatedVisits
    unfinished: Unfinished
    rewards: tuple[int, int, int]
    when_empty: WhenEmpty

    @classmethod
    def of(cls, rule: BoxRule) -> Candidate:
        return cls(rule.repeated_visits, rule.unfinished, (rule.win, rule.draw, rule.loss), rule.when_empty)

    @property
    def rule(self) -> BoxRule:
        win, draw, loss = self.rewards
        return BoxRule(
            win=win,
            draw=draw,
            loss=loss,
            when_empty=self.when_empty,
            repeated_visits=self.repeated,
            unfinished=self.unfinished,
        )

    @property
    def row_start(self) -> str:
        """The first cells of the candidate's row, which identify the row on the page."""
        rewards = " / ".join(f"{reward:+}" if reward else "0" for reward in self.rewards).replace("-", "−")
        return f"| `{self.repeated}` | `{self.unfinished}` | {rewards} | `{self.when_empty}` |"


CANDIDATES = [Candidate(*fields, WhenEmpty.REFILL) for fields in product(RepeatedVisits, Unfinished, REWARDS)]
CANDIDATES += [
    Candidate(RepeatedVisits.EVERY, Unfinished.RESULT, (3, 1, -1), WhenEmpty.RESIGN),
    Candidate(RepeatedVisits.LAST, Unfinished.RESULT, (1, 0, -1), WhenEmpty.RESIGN),
]


@cache
def points(slug: str, side: Side, candidate: Candidate) -> NDArray[np.float64]:
    """Return ``(n_training_opponents, n_machines, n_opponents)``: exact points after the training."""
    game, by_opponent = GAMES[slug], []
    for training_opponent in TRAINING_OPPONENTS:
        config = TrainingConfig(game, side, candidate.rule, training_opponent, 0)
        strength = Cohort.fresh(config, range(N_MACHINES)).train(training_opponent, [N_GAMES], OPPONENTS).strength[:, 0]
        # The four chances are those of a win, a draw, a loss and endless play, as if the machine were the first side.
        winner = game.endless_winner
        endless_winner = None if winner is None else Side.FIRST if winner is side else Side.SECOND
        by_opponent.append(points_of(strength[..., [0, 2, 1, 3]], Side.FIRST, endless_winner))
    return np.array(by_opponent)


def table_row(candidate: Candidate) -> str:
    """Return the row of a candidate: its mean points in each game, and over all games with the standard error."""
    by_game = np.array(
        [[points(game.slug, side, candidate).mean(axis=(0, 2)) for side in Side] for game in MEASURED_GAMES]
    ).mean(axis=1)
    cells = [_three_decimals(mean) for mean in by_game.mean(axis=1)]
    overall = by_game.mean(axis=0)
    cells.append(f"{_three_decimals(overall.mean())} ± {_three_decimals(overall.std(ddof=1) / sqrt(len(overall)))}")
    return f"{candidate.row_start} {' | '.join(cells)} |"


def rows_by_side() -> Iterator[str]:
    """Yield a row for each game and side: points against each opponent with the usual and the loop preset."""
    for game, side in product(MEASURED_GAMES, Side):
        presets = DEFAULT_PRESETS[side], default_preset(game, side)
        means = [points(game.slug, side, Candidate.of(PRESETS[slug].rule)).mean(axis=(0, 1)) for slug in presets]
        cells = " | ".join(
            f"{_three_decimals(usual)}, {_three_decimals(for_loops)}" for usual, for_loops in zip(*means, strict=True)
        )
        yield f"| {game.name} | {side.name.lower()} | {cells} |"


def _three_decimals(number: float) -> str:
    return f"{number:.3f}".removeprefix("0")


def compare_with_page() -> Iterator[Figure]:
    """Compare each row with the page; in the smallest form only the first cells of the rows."""
    page = PAGE.read_text().splitlines()
    if N_MACHINES < PAGE_MACHINES:
        missing = [one.row_start for one in CANDIDATES if not any(row.startswith(one.row_start) for row in page)]
        rows = [table_row(CANDIDATES[0]), *rows_by_side()]
        yield Figure(
            "rules of boxes in games with loops",
            f"{len(rows)} rows",
            "docs/learning.md",
            not missing,
            is_fact=True,
        )
        return
    wrong = [one for one in (*map(table_row, CANDIDATES), *rows_by_side()) if one not in page]
    text = f"differs from the page: {wrong[0]}" if wrong else f"{len(CANDIDATES)} rules, {N_MACHINES} machines each"
    yield Figure("rules of boxes in games with loops", text, "docs/learning.md", not wrong, is_fact=True)


if __name__ == "__main__":
    for candidate in CANDIDATES:
        sys.stdout.write(f"{table_row(candidate)}\n")
        sys.stdout.flush()
    sys.stdout.writelines(f"{one}\n" for one in rows_by_side())
