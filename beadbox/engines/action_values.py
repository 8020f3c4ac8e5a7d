"""What an engine offers a learner of action values: the keys of its table, and fast training games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from beadbox.engines.level import Level
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.game import AnyPosition, GameT, MoveT


class Entry(NamedTuple, Generic[MoveT]):
    """A move as a machine that keeps values has it: its key, and the static value after it for whoever moves."""

    move: MoveT
    key: str
    outlook: float
    ends: int
    """1 if whoever moves wins with it at once, -1 if they lose with it at once, as the position remembers; else 0."""


class QLessons(NamedTuple):
    """How values follow what happens (``learners/q_learning/learner.py``), in numbers for a kernel."""

    learning_rate: float
    discount: float
    epsilon_decay: float
    epsilon_floor: float
    step_reward: float
    take_wins: bool
    avoid_repetition: bool
    learns: bool


class Taught(NamedTuple):
    """What games have made of an entry: its value before the first change and now, and how many changes there were."""

    key: str
    before: float
    after: float
    visits: int
    is_new: bool


Recall = Callable[[Mapping[str, Sequence[AnyPosition]]], Mapping[str, float]]
"""The values, by key, of all entries on these boards: by ``Engine.key_board``, as positions of either side."""


@dataclass(slots=True)
class Trainee:
    """A machine that keeps values, as games that are played at once need it, and what they have taught it."""

    lessons: QLessons
    epsilon: float
    """The chance of trying anything; changes with every game learnt from."""
    recall: Recall
    room: int | None = None
    """How many entries may be added; ``None`` for any number."""
    taught: list[Taught] = field(default_factory=list)
    n_left_out: int = 0
    """How often an entry was not added, for want of room."""


class FastTrainer(ABC, Generic[GameT]):
    """Plays many games of machines that keep values at once, and teaches them."""

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
        """Play ``n_games`` from the start against another, itself, a level or, with ``None``, uniformly random play.

        Sides fall by chance, or are taken ``in_turn``, the first side first. The first ``n_random`` plies are anything
        at all, and nobody learns from them.

        Equal to ``learners.q_learning.memory.games_played``, to the last bit, but for levels with a clock.
        Returns how many the pupil won, drew and lost; who learns is updated in place, and so is ``rng``.
        """
