"""Files with the measured ratings of an engine's levels, which ``manage.py measure_ladders`` writes.

A file has the ratings of all measured levels. The engine decides which of them are on a ladder (``Engine.ladder``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from beadbox.strength.elo import Elo


class Pair(NamedTuple):
    """Results of the games between two levels, counted for ``strong``."""

    strong: str
    weak: str
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Number of games: wins, draws and losses."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points of ``strong``: 1 for a win, ½ for a draw."""
        return self.wins + self.draws / 2


@dataclass(frozen=True, slots=True)
class LadderMeasurement:
    """The measurement of a ladder: its game, its conditions, the ratings, and the results of each pair of levels."""

    game: str
    conditions: Mapping[str, Any]
    ratings: Mapping[str, Elo]
    """Ratings of all measured levels by slug, whether or not they are on the ladder."""
    pairs: Sequence[Pair]


def ladders_read(path: Path) -> dict[str, LadderMeasurement]:
    """Return the measurements of a file by the name of the ladder."""
    return {
        mode: LadderMeasurement(
            fields["game"],
            fields["conditions"],
            {slug: Elo(*rating) for slug, rating in fields["ratings"].items()},
            [Pair(*pair) for pair in fields["pairs"]],
        )
        for mode, fields in json.loads(path.read_bytes()).items()
    }


def ladders_format(measured: Mapping[str, LadderMeasurement]) -> str:
    """Return measurements as JSON for ``ladders_read``, with a line for each rating and each pair."""
    return "{\n" + ",\n".join(f"{json.dumps(mode)}: {_text(ladder)}" for mode, ladder in measured.items()) + "\n}\n"


def _text(ladder: LadderMeasurement) -> str:
    ratings = ",\n".join(f"  {json.dumps(slug)}: {json.dumps(rating)}" for slug, rating in ladder.ratings.items())
    pairs = ",\n".join(f"  {json.dumps(pair)}" for pair in ladder.pairs)
    return (
        f'{{\n "game": {json.dumps(ladder.game)},\n "conditions": {json.dumps(ladder.conditions)},\n'
        f' "ratings": {{\n{ratings}\n }},\n "pairs": [\n{pairs}\n ]\n}}'
    )
