"""How a learner of action values chooses and learns, move by move: candidates, the decision, the change."""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.rules.game import AnyMove

OUTLOOK = 100
"""The static value of the engine counts a hundredth: a whole rhombus less than what a game may teach."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal action as the machine sees it; of those that its checks leave it prefers the greatest ``total``."""

    move: AnyMove
    key: str
    value: float
    """What it has learnt of the action here, Q."""
    outlook: float
    """The static value after the action, for whoever acts: E, of which a hundredth counts."""
    ends: int = 0
    """1 if the action wins at once, -1 if it loses at once, as the position remembers what came before; else 0."""

    @property
    def total(self) -> float:
        """Q + E/100."""
        return self.value + self.outlook / OUTLOOK


@dataclass(frozen=True, slots=True)
class Decision:
    """One choice: the entry of the action played, and those of every action that could have been."""

    key: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the machine plays, out of what, whether it only tried something, and how many moves ahead it looked."""

    candidates: tuple[Candidate, ...]
    index: int
    explored: bool
    depth: int = 1

    @property
    def move(self) -> AnyMove:
        """The action."""
        return self.candidates[self.index].move

    @property
    def decision(self) -> Decision:
        """What has to be known of the choice to learn from it."""
        return Decision(self.candidates[self.index].key, tuple(one.key for one in self.candidates))


@dataclass(frozen=True, slots=True)
class ValueStep:
    """What a decision did to the value of its entry."""

    key: str
    before: float
    after: float
