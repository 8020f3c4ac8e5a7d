"""The interface between an engine and a learner of action values: table keys, and fast training games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from beadbox.engines.level import Level
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.game import AnyPosition, GameT, MoveT


class Entry(NamedTuple, Generic[MoveT]):
    """A move as an entry of a value table: its key, and the static value of the next position for the mover."""

    move: MoveT
    key: str
    outlook: float
    ends: int
    """1 if the move wins at once, -1 if it loses at once by the history of the position, else 0."""


class QLessons(NamedTuple):
    """Parameters of Q-learning for a kernel (``learners/q_learning/learner.py`` explains them)."""

    learning_rate: float
    discount: float
    epsilon_decay: float
    epsilon_floor: float
    step_reward: float
    take_wins: bool
    avoid_repetition: bool
    learns: bool


class Taught(NamedTuple):
    """A changed entry: its value before the first change and after the last, and ``visits``, the number of changes."""

    key: str
    before: float
    after: float
    visits: int
    is_new: bool


BoardLookup = Callable[[Mapping[str, Sequence[AnyPosition]]], Mapping[str, float]]
"""Return the stored values, by key, of all entries on some boards.

The argument maps each board (as ``Engine.key_board`` writes it) to its positions with either side to move.
"""


@dataclass(slots=True)
class Trainee:
    """A value-table machine for a batch of games: its parameters, and the changes that the games made."""

    lessons: QLessons
    epsilon: float
    """Exploration rate; it changes with every game learnt from."""
    lookup: BoardLookup
    max_new_entries: int | None = None
    """Maximum number of entries to add; ``None`` for no limit."""
    taught: list[Taught] = field(default_factory=list)
    n_left_out: int = 0
    """Number of times that an entry was not added because the limit was reached."""


class FastTrainer(ABC, Generic[GameT]):
    """Plays batches of games of value-table machines, and trains the machines on them."""

    @abstractmethod
    def play(
        self,
        game: GameT,
        trainee: Trainee,
        other: Trainee | Level | None,
        n_games: int,
        rng: RandomSource,
        *,
        other_learns: bool = False,
        in_turn: bool = False,
        n_random: int = 0,
    ) -> tuple[int, int, int]:
        """Play ``n_games`` from the start against another trainee, itself, a level, or (``None``) random play.

        The trainee's side is drawn at random, or alternates if ``in_turn``, beginning with the first side. The first
        ``n_random`` plies are uniformly random and are not learnt from.

        Equal to ``learners.q_learning.memory.games_played``, to the last bit, except for levels with a clock.
        Learning trainees and ``rng`` are updated in place.

        Returns:
            The trainee's wins, draws and losses.
        """
