"""What was measured of the levels of an engine, as a file keeps it: ``manage.py measure_ladders`` writes it.

Who is on a ladder the engine says (``Engine.ladder``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from beadbox.strength.elo import Elo


class Pair(NamedTuple):
    """What came of the games between two levels."""

    strong: str
    weak: str
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """All games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Those of the first: a draw is half a point."""
        return self.wins + self.draws / 2


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured in a game, and how."""

    game: str
    conditions: Mapping[str, Any]
    ratings: Mapping[str, Elo]
    """Of every level that was measured, by slug, on the ladder or not."""
    pairs: Sequence[Pair]


def ladders_read(path: Path) -> dict[str, Measured]:
    """What a file says, by mode."""
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
    """The text of such a file: a line for each rating and each pair."""
    return "{\n" + ",\n".join(f"{json.dumps(mode)}: {_text(found)}" for mode, found in measured.items()) + "\n}\n"


def _text(found: Measured) -> str:
    ratings = ",\n".join(f"  {json.dumps(slug)}: {json.dumps(rating)}" for slug, rating in found.ratings.items())
    pairs = ",\n".join(f"  {json.dumps(pair)}" for pair in found.pairs)
    return (
        f'{{\n "game": {json.dumps(found.game)},\n "conditions": {json.dumps(found.conditions)},\n'
        f' "ratings": {{\n{ratings}\n }},\n "pairs": [\n{pairs}\n ]\n}}'
    )
