"""The choice of a learner of action values at one move: its candidates, its decision, and the change by learning."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.rules.game import AnyMove

OUTLOOK = 100
"""Divisor of the engine's static value in a choice: a whole rhombus must count less than what a game can teach."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal action as the machine sees it. Of the actions that pass its checks it prefers the greatest ``total``."""

    move: AnyMove
    key: str
    value: float
    """Q, the learnt value of the action in this position."""
    evaluation: float
    """E, the static value after the action, for the acting side; a hundredth of it counts."""
    result_at_once: int = 0
    """1 if the action wins at once, -1 if it loses at once, else 0; the position's history counts for repetitions."""

    @property
    def total(self) -> float:
        """Q + E/100, the number by which candidates are compared."""
        return self.value + self.evaluation / OUTLOOK


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice: the key of the action played, and the keys of every action that could have been played."""

    key: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice: the candidates, the index of the chosen one, whether it was exploration, and the search depth."""

    candidates: tuple[Candidate, ...]
    index: int
    explored: bool
    depth: int = 1

    @property
    def move(self) -> AnyMove:
        """The legal move that was chosen."""
        return self.candidates[self.index].move

    @property
    def decision(self) -> Decision:
        """The part of the choice that learning needs."""
        return Decision(self.candidates[self.index].key, tuple(one.key for one in self.candidates))


@dataclass(frozen=True, slots=True)
class ValueStep:
    """The change of the value of an entry by one decision."""

    key: str
    before: float
    after: float
