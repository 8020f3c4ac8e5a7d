"""Games played move by move between any two players, in plain Python and without learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Result, Side

Mover = Callable[[AnyPosition, Random], AnyMove | None]
"""Choose a move in a position that is not terminal; ``None`` resigns."""


class MovePlayer(Protocol):
    """A player that can play a whole game move by move."""

    def mover(self, game: AnyGame) -> Mover:
        """Return the player's mover for one game; any memory of the game lives in the mover alone."""


def game_played(
    game: AnyGame, movers: Mapping[Side, Mover], rng: Random, start: AnyPosition | None = None
) -> dict[Side, Result]:
    """Play one game from ``start`` (by default the initial position), and return its result for each side.

    A game that is not over after ``game.ply_limit`` plies has the result of endless play.
    """
    position, n_plies = game.initial_position() if start is None else start, 0
    while (outcome := game.outcome(position)) is None and n_plies < game.ply_limit:
        side = game.side_to_move(position)
        move = movers[side](position, rng)
        if move is None:
            return {side: Result.LOSS, side.other: Result.WIN}
        position, n_plies = game.apply(position, move), n_plies + 1
    return {side: Result.of(outcome or game.stopped, side) for side in Side}
