"""Sides, the outcome of a game, its result for one side, and counts of results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Side(IntEnum):
    """Who moves: the first player or the second. Colours and names belong to the layout."""

    FIRST = 0
    SECOND = 1

    @property
    def other(self) -> Side:
        """The opponent's side."""
        return Side.SECOND if self is Side.FIRST else Side.FIRST


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a game ended: the winner (``None`` is a draw) and, apart from it, why."""

    winner: Side | None
    termination: str


class Result(IntEnum):
    """What an episode was for the machine; also the index into a tally."""

    WIN = 0
    DRAW = 1
    LOSS = 2

    @classmethod
    def of(cls, outcome: Outcome, side: Side) -> Result:
        """The result of this outcome for this side."""
        if outcome.winner is None:
            return cls.DRAW
        return cls.WIN if outcome.winner is side else cls.LOSS


@dataclass(slots=True)
class Tally:
    """Games of a machine by result."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def add(self, result: Result) -> None:
        """Count one more game."""
        match result:
            case Result.WIN:
                self.wins += 1
            case Result.DRAW:
                self.draws += 1
            case Result.LOSS:
                self.losses += 1

    def mirrored(self) -> Tally:
        """The same games for the other side."""
        return Tally(wins=self.losses, draws=self.draws, losses=self.wins)

    def __add__(self, other: Tally) -> Tally:
        """These games and those."""
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)

    def __sub__(self, other: Tally) -> Tally:
        """These games without those, which are among them."""
        return Tally(self.wins - other.wins, self.draws - other.draws, self.losses - other.losses)

    @property
    def games(self) -> int:
        """All games."""
        return self.wins + self.draws + self.losses
