"""Rules of boxes in games with loops: the two tables of docs/learning.md, computed again.

``python -m tests.bench.circles`` prints the tables. The benchmark compares the page with them, line by line.
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

LOOPS = [game for game in GAMES.values() if not game.always_ends and game.slug == game.family]
PAGE_MACHINES = 20
N_MACHINES = sized(PAGE_MACHINES, 2)
N_GAMES = sized(5_000, 50)
MEASURED = sized(LOOPS, LOOPS[:1])
TEACHERS = ("random", "win-block", "perfect")
OPPONENTS = (*TEACHERS, "worst")
REWARDS = ((3, 1, -1), (3, 0, -1), (1, 0, -1), (3, 0, -3))


class Candidate(NamedTuple):
    """The fields of a rule that are compared; all others have their defaults."""

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
    def head(self) -> str:
        """The first cells of its line, which identify it."""
        rewards = " / ".join(f"{reward:+}" if reward else "0" for reward in self.rewards).replace("-", "−")
        return f"| `{self.repeated}` | `{self.unfinished}` | {rewards} | `{self.when_empty}` |"


CANDIDATES = [Candidate(*fields, WhenEmpty.REFILL) for fields in product(RepeatedVisits, Unfinished, REWARDS)]
CANDIDATES += [
    Candidate(RepeatedVisits.EVERY, Unfinished.RESULT, (3, 1, -1), WhenEmpty.RESIGN),
    Candidate(RepeatedVisits.LAST, Unfinished.RESULT, (1, 0, -1), WhenEmpty.RESIGN),
]


@cache
def points(slug: str, side: Side, candidate: Candidate) -> NDArray[np.float64]:
    """Return ``(n_teachers, n_machines, n_opponents)``: exact points after the training."""
    game, found = GAMES[slug], []
    for teacher in TEACHERS:
        config = TrainingConfig(game, side, candidate.rule, teacher, 0)
        strength = Cohort.fresh(config, range(N_MACHINES)).train(teacher, [N_GAMES], OPPONENTS).strength[:, 0]
        # The chances are those of a win, a draw, a loss and endless play: of the machine as if it were the first side.
        winner = game.endless_winner
        ours = None if winner is None else Side.FIRST if winner is side else Side.SECOND
        found.append(points_of(strength[..., [0, 2, 1, 3]], Side.FIRST, ours))
    return np.array(found)


def line(candidate: Candidate) -> str:
    """Return the line of a candidate: its mean points in each game, and over all games with the standard error."""
    by_game = np.array(
        [[points(game.slug, side, candidate).mean(axis=(0, 2)) for side in Side] for game in MEASURED]
    ).mean(axis=1)
    cells = [_short(mean) for mean in by_game.mean(axis=1)]
    whole = by_game.mean(axis=0)
    cells.append(f"{_short(whole.mean())} ± {_short(whole.std(ddof=1) / sqrt(len(whole)))}")
    return f"{candidate.head} {' | '.join(cells)} |"


def sides_lines() -> Iterator[str]:
    """Yield a line for each game and side: points against each opponent by the usual presets, and by ours for loops."""
    for game, side in product(MEASURED, Side):
        presets = DEFAULT_PRESETS[side], default_preset(game, side)
        means = [points(game.slug, side, Candidate.of(PRESETS[slug].rule)).mean(axis=(0, 1)) for slug in presets]
        cells = " | ".join(f"{_short(former)}, {_short(ours)}" for former, ours in zip(*means, strict=True))
        yield f"| {game.name} | {side.name.lower()} | {cells} |"


def _short(number: float) -> str:
    return f"{number:.3f}".removeprefix("0")


def as_the_page_says() -> Iterator[Figure]:
    """Compare each line with the page; in the smallest form only the heads of the lines."""
    page = PAGE.read_text().splitlines()
    if N_MACHINES < PAGE_MACHINES:
        missing = [one.head for one in CANDIDATES if not any(said.startswith(one.head) for said in page)]
        found = [line(CANDIDATES[0]), *sides_lines()]
        yield Figure(
            "rules of boxes in games with loops", f"{len(found)} lines", "docs/learning.md", not missing, is_fact=True
        )
        return
    wrong = [one for one in (*map(line, CANDIDATES), *sides_lines()) if one not in page]
    measured = f"other than the page: {wrong[0]}" if wrong else f"{len(CANDIDATES)} rules, {N_MACHINES} machines each"
    yield Figure("rules of boxes in games with loops", measured, "docs/learning.md", not wrong, is_fact=True)


if __name__ == "__main__":
    for candidate in CANDIDATES:
        sys.stdout.write(f"{line(candidate)}\n")
        sys.stdout.flush()
    sys.stdout.writelines(f"{one}\n" for one in sides_lines())
