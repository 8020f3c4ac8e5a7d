"""Games played move by move between any two players, in plain Python and without learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import RESIGNATION, UNFINISHED, Outcome, Result, Side

Mover = Callable[[AnyPosition, Random], AnyMove | None]
"""Choose a move in a position that is not terminal; ``None`` resigns."""


class MovePlayer(Protocol):
    """A player that can play a whole game move by move."""

    def mover(self, game: AnyGame) -> Mover:
        """Return the player's mover for one game; any memory of the game lives in the mover alone."""


@dataclass(frozen=True, slots=True)
class PlayedGame:
    """A game that is over: each position with the move played there, and the outcome."""

    turns: tuple[tuple[AnyPosition, AnyMove], ...]
    outcome: Outcome
    resigned: Side | None = None
    """The side that resigned in the position after the last turn."""

    @property
    def is_unfinished(self) -> bool:
        """Whether the game stopped before its end: at the ply limit, or by agreement."""
        return self.outcome.termination in UNFINISHED

    def result(self, side: Side) -> Result:
        """Return the result for a side."""
        return Result.of(self.outcome, side)


def game_recorded(
    game: AnyGame, movers: Mapping[Side, Mover], rng: Random, start: AnyPosition | None = None
) -> PlayedGame:
    """Play one game from ``start`` (by default the initial position), and return it.

    A game that is not over after ``game.ply_limit`` plies has the outcome of endless play.
    """
    position = game.initial_position() if start is None else start
    turns = list[tuple[AnyPosition, AnyMove]]()
    while (outcome := game.outcome(position)) is None and len(turns) < game.ply_limit:
        side = game.side_to_move(position)
        move = movers[side](position, rng)
        if move is None:
            return PlayedGame(tuple(turns), Outcome(side.other, RESIGNATION), resigned=side)
        turns.append((position, move))
        position = game.apply(position, move)
    return PlayedGame(tuple(turns), outcome or game.ply_limit_outcome)


def game_played(
    game: AnyGame, movers: Mapping[Side, Mover], rng: Random, start: AnyPosition | None = None
) -> dict[Side, Result]:
    """Play one game as :func:`game_recorded` does, and return its result for each side."""
    played = game_recorded(game, movers, rng, start)
    return {side: played.result(side) for side in Side}
