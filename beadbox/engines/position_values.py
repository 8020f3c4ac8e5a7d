"""The interface between an engine and a learner of position values: features, search, fast training games."""

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
    """The scores of a search with a learnt value for every legal move of a position, in canonical order."""

    moves: tuple[MoveT, ...]
    near: tuple[float, ...]
    """Scores one move ahead; a win with the ``k``-th move scores a million less ``k``."""
    deep: tuple[float, ...]
    """Scores at full depth; for moves other than the best possibly only an upper bound."""
    best: int
    """Index of the best move, the first of equals."""
    depth: int
    """Full depth in moves, less than requested if the time ran out."""

    @property
    def score(self) -> float:
        """The score of the best move at full depth."""
        return self.deep[self.best]


class Part(NamedTuple):
    """The contribution of one feature to a board's sum: ``value`` is ``weight`` times ``amount``, exactly."""

    name: str
    value: float
    weight: float
    amount: float


class PartGroup(NamedTuple):
    """Parts on one subject, and their exact sum."""

    name: str
    value: float
    parts: tuple[Part, ...]


class WeightMap(NamedTuple):
    """Weights of one kind of piece by cell, to be drawn on the board as the second side sees it."""

    kind: str
    own: bool
    """Whether the piece belongs to the side that has just moved."""
    flipped: bool
    piece: str
    """A piece of that kind as text, for its picture."""
    cells: tuple[int, ...]
    """The index of the weight for each cell of the board."""


class WeightTable(NamedTuple):
    """Weights on one subject, in rows and columns."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """Rows as pairs: the name, and the index of the weight for each column."""


class WeightSheet(NamedTuple):
    """The weights of a set of features that a game uses, arranged for display."""

    maps: tuple[WeightMap, ...]
    squares: WeightTable
    """The weights of the maps as a table."""
    tables: tuple[WeightTable, ...]
    """All other weights, one table for each subject."""


class Learnt(NamedTuple):
    """A learnt value as a player: weights, search depth, and the cost of a repeated move (``restlessness``)."""

    weights: NDArray[np.float64]
    depth: int
    restlessness: float = 0.0


class Lessons(NamedTuple):
    """Parameters of learning by self-play; ``beadbox/learners/value_learner/learner.py`` explains them.

    All fields are numbers, because a kernel takes the tuple as it is.
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
    """Features of the positions of one family of games, and search with a value that is linear in them.

    A valuer has no state. Weights are ``(n,) float64`` for a set of ``n`` features, each rounded by
    :func:`beadbox.kernels.exact_floats.grained`. Scores are then exact, and the same on every computer.
    """

    sets: Mapping[str, int]
    """Number of weights of each set of features, by name."""

    @abstractmethod
    def refusal(self, game: GameT) -> str:
        """Return why the features do not suit a game of the family; empty if they do."""

    @abstractmethod
    def features(self, position: PositionT, feature_set: str) -> dict[int, float]:
        """Return the nonzero features of a position by index, as seen by the side that has just moved."""

    @abstractmethod
    def describe_feature(self, index: int) -> str:
        """Describe the feature with this index; an index has the same meaning in every set."""

    @abstractmethod
    def parts(self, position: PositionT, weights: NDArray[np.float64], feature_set: str) -> tuple[PartGroup, ...]:
        """Split a position's sum, as seen by the side that has just moved, by feature; largest parts first."""

    @abstractmethod
    def sheet(self, game: GameT, feature_set: str) -> WeightSheet:
        """Return the arrangement of the weights of a set for display."""

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
        """Score every legal move by a search to the player's depth; all scores are exact if ``whole``.

        With a ``time_limit_s``, return the scores of the last depth finished in time. Depth 2 is always finished.

        At full depth a move costs ``restlessness`` for each earlier move of its player to the same cell with the same
        kind of piece, as far as the position remembers. Wins and losses cost nothing.

        A move that loses at once by the history of the game scores as a loss. Deeper in the tree the search ignores the
        history.
        """


class FastValuer(Valuer[GameT, PositionT, MoveT]):
    """A valuer that can also play and learn from batches of games in compiled code."""

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
        """Play ``n_games`` of self-play after ``n_learnt`` earlier ones, learn from each, and count the outcomes.

        ``weights``, their ``average`` and ``rng`` are updated in place.

        Equal to ``n_games`` calls of ``ValueLearner.game_learnt``, to the last bit. ``start`` is the position in which
        every game begins, without a history; ``None`` for the game's own.
        """

    @abstractmethod
    def contest(
        self, game: GameT, opening: Sequence[MoveT], players: tuple[Learnt | Level, Learnt | Level], rng: RandomSource
    ) -> Outcome:
        """Play a game without learning, from the moves of an opening; ``players`` are ordered by side.

        Equal to the game played move by move with the same ``rng``, except that levels ignore their clock. ``rng`` is
        updated in place.
        """
