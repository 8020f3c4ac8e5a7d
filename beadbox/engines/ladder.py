"""Files with the measured ratings of an engine's levels; ``manage.py measure_ladders`` writes them.

The engine chooses the levels on its ladder (``Engine.ladder``).
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
class Measured:
    """The measurement of a ladder: its game, conditions, ratings, and results by pair."""

    game: str
    conditions: Mapping[str, Any]
    ratings: Mapping[str, Elo]
    """Ratings of all measured levels by slug, whether or not they are on the ladder."""
    pairs: Sequence[Pair]


def ladders_read(path: Path) -> dict[str, Measured]:
    """Read the measurements of a file, by mode."""
    return {
        mode: Measured(
            found["game"],
            found["conditions"],
            {slug: Elo(*rating) for slug, rating in found["ratings"].items()},
            [Pair(*pair) for pair in found["pairs"]],
        )
        for mode, found in json.loads(path.read_text()).items()
    }


def ladders_text(measured: Mapping[str, Measured]) -> str:
    """Format measurements as JSON, with a line for each rating and each pair; ``ladders_read`` reads it back."""
    return "{\n" + ",\n".join(f"{json.dumps(mode)}: {_text(found)}" for mode, found in measured.items()) + "\n}\n"


def _text(found: Measured) -> str:
    ratings = ",\n".join(f"  {json.dumps(slug)}: {json.dumps(rating)}" for slug, rating in found.ratings.items())
    pairs = ",\n".join(f"  {json.dumps(pair)}" for pair in found.pairs)
    return (
        f'{{\n "game": {json.dumps(found.game)},\n "conditions": {json.dumps(found.conditions)},\n'
        f' "ratings": {{\n{ratings}\n }},\n "pairs": [\n{pairs}\n ]\n}}'
    )
