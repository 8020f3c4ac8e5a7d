"""What an engine offers a learner of position values: features, search with the value, fast training games."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.level import Level
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.game import GameT, MoveT, PositionT
from beadbox.rules.outcome import Outcome


class Look(NamedTuple, Generic[MoveT]):
    """What a search with a learnt value says of every legal move of a position, in canonical order."""

    moves: tuple[MoveT, ...]
    near: tuple[float, ...]
    """The score of each, one move ahead; a win with the ``k``-th move scores a million less ``k``."""
    deep: tuple[float, ...]
    """The same at full depth; of moves that are not best perhaps an upper bound."""
    best: int
    """The index of the best, the first of equals."""
    depth: int
    """How many moves ahead full depth is: fewer than were asked for if the time ran out."""

    @property
    def score(self) -> float:
        """That of the best."""
        return self.deep[self.best]


class Part(NamedTuple):
    """What one feature of a board adds to its sum: ``value`` is ``weight`` times ``amount``, exactly."""

    name: str
    value: float
    weight: float
    amount: float


class PartGroup(NamedTuple):
    """Parts that speak of one thing, and what they come to, exactly."""

    name: str
    value: float
    parts: tuple[Part, ...]


class WeightMap(NamedTuple):
    """Weights of one kind of piece by where it stands, to be laid on the board as the second side sees it."""

    kind: str
    own: bool
    """Whether it is a piece of whoever has just moved."""
    flipped: bool
    piece: str
    """A piece of that kind as text, for its picture."""
    cells: tuple[int, ...]
    """For each cell of the board the index of its weight."""


class WeightTable(NamedTuple):
    """Weights that speak of one thing, in rows and columns."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """The name of each, and for each column the index of its weight."""


class WeightSheet(NamedTuple):
    """All weights of a set of features that a game has a use for, laid out for people."""

    maps: tuple[WeightMap, ...]
    squares: WeightTable
    """What the maps show, as a table."""
    tables: tuple[WeightTable, ...]
    """All others."""


class Learnt(NamedTuple):
    """A learnt value as it stands, how far ahead it looks, and what it costs it to go where it has been."""

    weights: NDArray[np.float64]
    depth: int
    restlessness: float = 0.0


class Lessons(NamedTuple):
    """How a value learns from a game against itself: ``beadbox/learners/value_learner/learner.py`` has the words.

    All are numbers, for a kernel takes it as it is.
    """

    search_depth: int
    rate: float
    rate_floor: float
    half_life: float
    trace: float
    discount: float
    random_share: float
    soft_share: float
    temperature: float
    random_opening: int
    trace_cut: bool
    average_games: float


class Valuer(ABC, Generic[GameT, PositionT, MoveT]):
    """Features of the positions of one family of games, and searches with a value that is linear in them.

    It holds no state. Weights are ``(n,) float64``, n that of the set of features, each as
    :func:`beadbox.kernels.exact_floats.grained` keeps it; scores are exact then, and the same on every machine.
    """

    sets: Mapping[str, int]
    """Sets of features, each with its number of weights."""

    @abstractmethod
    def refusal(self, game: GameT) -> str:
        """Why the features do not do for a game of the family; nothing if they do."""

    @abstractmethod
    def features(self, position: PositionT, feature_set: str) -> dict[int, float]:
        """What a position has to say after the move that led to it, for whoever made that: by index, without 0s."""

    @abstractmethod
    def told(self, index: int) -> str:
        """The feature with this index in words; one index says the same in every set."""

    @abstractmethod
    def parts(self, position: PositionT, weights: NDArray[np.float64], feature_set: str) -> tuple[PartGroup, ...]:
        """The sum of a position after a move, for whoever made that, as what each feature adds to it: largest first."""

    @abstractmethod
    def sheet(self, game: GameT, feature_set: str) -> WeightSheet:
        """How to lay out the weights of a set."""

    @abstractmethod
    def look(
        self,
        game: GameT,
        position: PositionT,
        player: Learnt,
        *,
        whole: bool = False,
        time_limit_s: float | None = None,
    ) -> Look[MoveT]:
        """What the value says of every legal move, as far ahead as it looks; exact for all of them if ``whole``.

        With a ``time_limit_s`` it is what was found at the last depth that was finished by then. Two moves ahead are
        always finished.

        At full depth a move costs the player's ``restlessness`` for every time that its player has already made one to
        the same end with the same kind of piece, as far as the position remembers; wins and losses cost nothing.

        A move that loses at once by the history of the game scores so; further on the search knows none.
        """


class FastValuer(Valuer[GameT, PositionT, MoveT]):
    """One that plays many games against itself at once, and learns from them."""

    @abstractmethod
    def train(
        self,
        game: GameT,
        weights: NDArray[np.float64],
        average: NDArray[np.float64],
        lessons: Lessons,
        n_learnt: int,
        n_games: int,
        rng: RandomSource,
        start: PositionT | None = None,
    ) -> Counter[Outcome]:
        """Learn from ``n_games`` more than the ``n_learnt`` before; how they ended.

        ``weights``, their ``average`` and ``rng`` are updated in place.

        Equal to ``ValueLearner.game_learnt`` as often, to the last bit. ``start``: the position that every game begins
        with, as if nothing had come before it; ``None`` for that of the game.
        """

    @abstractmethod
    def contest(
        self, game: GameT, opening: Sequence[MoveT], players: tuple[Learnt | Level, Learnt | Level], rng: RandomSource
    ) -> Outcome:
        """A game in which nobody learns, from the moves of an opening; ``players`` by side.

        As move by move with the same ``rng``, which is updated in place, but for the clock of levels that have one.
        """
