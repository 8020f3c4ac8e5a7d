"""Sides, the outcome of a game, its result for one side, and counts of results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Side(IntEnum):
    """The side of the first or the second player. Each game has names of its own for its two sides."""

    FIRST = 0
    SECOND = 1

    @property
    def other(self) -> Side:
        """The side that plays against this one."""
        return Side.SECOND if self is Side.FIRST else Side.FIRST


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game: the winner (``None`` for a draw) and, separately, the reason.

    The page on the rules of each game has its reasons, such as "far_row". All games have "resignation", "agreed" (a
    draw) and "move_limit".
    """

    winner: Side | None
    termination: str


MOVE_LIMIT = "move_limit"
"""The termination of a game that stopped at the ply limit."""
AGREED = "agreed"
"""The termination of a game that the players agreed to draw."""
RESIGNATION = "resignation"
"""The termination of a game in which a side resigned."""
UNFINISHED = frozenset({MOVE_LIMIT, AGREED})
"""The terminations of a game that stopped before its end."""


class Result(IntEnum):
    """The result of an episode for the machine; also an index into a tally."""

    WIN = 0
    DRAW = 1
    LOSS = 2

    @classmethod
    def of(cls, outcome: Outcome, side: Side) -> Result:
        """Return the result of an outcome for a side."""
        if outcome.winner is None:
            return cls.DRAW
        return cls.WIN if outcome.winner is side else cls.LOSS


@dataclass(slots=True)
class Tally:
    """Numbers of a machine's games by result."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, result: Result) -> None:
        """Count one more game with this result."""
        match result:
            case Result.WIN:
                self.wins += 1
            case Result.DRAW:
                self.draws += 1
            case Result.LOSS:
                self.losses += 1

    def mirrored(self) -> Tally:
        """Return the tally of the same games for the other side."""
        return Tally(wins=self.losses, draws=self.draws, losses=self.wins)

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def __sub__(self, other: Tally) -> Tally:
        """Subtract a tally of games that this one includes."""
        return Tally(self.wins - other.wins, self.draws - other.draws, self.losses - other.losses)

    @property
    def games(self) -> int:
        """Number of games: wins, draws and losses."""
        return self.wins + self.draws + self.losses
