"""The interface between an engine and a learner of action values: table entries, and fast training games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from beadbox.engines.level import Level
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.game import AnyPosition, GameT, MoveT


class Entry(NamedTuple, Generic[MoveT]):
    """The entry of a value table for a move in some position, without its learnt value."""

    move: MoveT
    key: str
    evaluation: float
    """Static evaluation of the position after the move, for the side that made it."""
    result_at_once: int
    """1 if the move wins at once, -1 if it loses at once by the history of the position, else 0."""


class QParameters(NamedTuple):
    """Parameters of Q-learning for a kernel (``learners/q_learning/learner.py`` explains them)."""

    learning_rate: float
    discount: float
    epsilon_decay: float
    epsilon_floor: float
    step_reward: float
    take_wins: bool
    avoid_repetition: bool
    learns: bool


class EntryChange(NamedTuple):
    """An entry of a value table that a batch of games has changed."""

    key: str
    before: float
    """Value before the first change by the games."""
    after: float
    """Value after the last change by the games."""
    visits: int
    """Number of changes by the games."""
    is_new: bool
    """Whether the table lacked the entry before the games."""


BoardLookup = Callable[[Mapping[str, Sequence[AnyPosition]]], Mapping[str, float]]
"""A function that returns the stored values, by key, of all entries on some boards.

Its argument maps each board, as ``Engine.key_board`` writes it, to two positions: one with each side to move.
"""


@dataclass(slots=True)
class Trainee:
    """A value-table machine in a batch of games: its parameters, and the changes of its entries by these games."""

    parameters: QParameters
    epsilon: float
    """Exploration rate. It changes with every game from which the machine learns."""
    lookup: BoardLookup
    max_new_entries: int | None = None
    """Maximum number of entries to add; ``None`` for no limit."""
    changes: list[EntryChange] = field(default_factory=list)
    """Changes of entries, which the trainer appends."""
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
        alternate_sides: bool = False,
        n_random: int = 0,
    ) -> tuple[int, int, int]:
        """Play ``n_games`` and let the trainee learn from each game.

        ``other`` is another trainee, the trainee itself, a level, or ``None`` for random play. Another trainee learns
        only if ``other_learns``. The trainee's side is drawn at random. If ``alternate_sides``, it alternates instead,
        beginning with the first side. The first ``n_random`` plies are uniformly random and are not learnt from.

        The results are equal to those of ``learners.q_learning.memory.play_games``, to the last bit, except for
        levels with a time limit. Learning trainees and ``rng`` are updated in place.

        Returns:
            The trainee's wins, draws and losses.
        """
