"""Games move by move, whoever plays them: nothing is compiled and nothing learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from games.rules.base import Game, Side
from games.rules.player import Random
from learning.core.machines.box_machine import Result

Mover = Callable[[Any, Random], Any]
"""What somebody plays in a position that is not terminal; ``None``: nothing, it gives up."""


class MovePlayer(Protocol):
    """Whoever can play a whole game move by move."""

    def mover(self, game: Game[Any, Any]) -> Mover:
        """How it plays in one game: what that keeps in mind is forgotten with it."""


def game_played(
    game: Game[Any, Any], movers: Mapping[Side, Mover], rng: Random, start: Any = None
) -> dict[Side, Result]:
    """One game from the start, unless another position is given; what it was for each side."""
    position = game.initial_position() if start is None else start
    while (outcome := game.outcome(position)) is None:
        side = game.side_to_move(position)
        move = movers[side](position, rng)
        if move is None:
            return {side: Result.LOSS, side.other: Result.WIN}
        position = game.apply(position, move)
    return {side: Result.of(outcome, side) for side in Side}
