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


class SearchResult(NamedTuple, Generic[MoveT]):
    """The result of a search with a learnt value: scores for every legal move of a position, in canonical order."""

    moves: tuple[MoveT, ...]
    near: tuple[float, ...]
    """Scores at depth 1. A win with the ``k``-th move scores 1,000,000 minus ``k``."""
    deep: tuple[float, ...]
    """Scores at full depth. For a move that is not the best, the score may be only an upper bound."""
    best: int
    """Index of the move with the highest score at full depth, the first if several have it."""
    depth: int
    """Full depth in moves. It is less than the requested depth if the time ran out."""

    @property
    def score(self) -> float:
        """The score of the best move at full depth."""
        return self.deep[self.best]


class Part(NamedTuple):
    """A feature's contribution to the value of a board: ``value`` is exactly ``weight`` times ``amount``."""

    name: str
    value: float
    weight: float
    amount: float


class PartGroup(NamedTuple):
    """Parts about the same subject, and their exact sum ``value``."""

    name: str
    value: float
    parts: tuple[Part, ...]


class WeightMap(NamedTuple):
    """The weights of one kind of piece by cell, for a picture of the board seen by the second side."""

    kind: str
    own: bool
    """Whether the piece belongs to the side that has just moved."""
    flipped: bool
    piece: str
    """A piece of that kind as text, for its picture."""
    cells: tuple[int, ...]
    """The index of the weight for each cell of the board."""


class WeightTable(NamedTuple):
    """Weights about one subject, in rows and columns."""

    title: str
    about: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int, ...]], ...]
    """Rows as pairs of a name and the indices of the weights, one for each column."""


class WeightSheet(NamedTuple):
    """The arrangement of all weights of a feature set for display."""

    maps: tuple[WeightMap, ...]
    squares: WeightTable
    """The weights of ``maps`` as a table."""
    tables: tuple[WeightTable, ...]
    """All other weights, one table for each subject."""


class LearntPlayer(NamedTuple):
    """A player that searches with a learnt value."""

    weights: NDArray[np.float64]
    depth: int
    """Number of moves that the search looks ahead."""
    restlessness: float = 0.0
    """Cost of a repeated move; :meth:`Valuer.search` explains it."""


class SelfPlayParameters(NamedTuple):
    """Parameters of learning by self-play; ``beadbox/learners/value_learner/learner.py`` explains them.

    All fields are numbers or booleans, so that a kernel can take the tuple.
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
    """Features of the positions of one family of games, and a search with a value that is linear in these features.

    A valuer has no state. The weights of a set of ``n`` features are ``(n,) float64``. If each is rounded by
    :func:`beadbox.kernels.exact_floats.rounded_weight`, scores are exact, and equal on every computer.
    """

    feature_set_sizes: Mapping[str, int]
    """Number of weights of each feature set, by the name of the set."""

    @abstractmethod
    def refusal(self, game: GameT) -> str:
        """Return the reason why the features do not suit a game of the family; empty if they do."""

    @abstractmethod
    def features(self, position: PositionT, feature_set: str) -> dict[int, float]:
        """Return the nonzero features of a position by index, as seen by the side that has just moved."""

    @abstractmethod
    def describe_feature(self, index: int) -> str:
        """Return the name of the feature with this index. An index means the same feature in every set."""

    @abstractmethod
    def parts(self, position: PositionT, weights: NDArray[np.float64], feature_set: str) -> tuple[PartGroup, ...]:
        """Return the value of a position, for the side that has just moved, divided by feature; largest parts first."""

    @abstractmethod
    def sheet(self, game: GameT, feature_set: str) -> WeightSheet:
        """Return the arrangement of the weights of a set for display."""

    @abstractmethod
    def search(
        self,
        game: GameT,
        position: PositionT,
        player: LearntPlayer,
        *,
        whole: bool = False,
        time_limit_s: float | None = None,
    ) -> SearchResult[MoveT]:
        """Return the scores of all legal moves by a search to the player's depth.

        If ``whole``, all scores are exact. With a ``time_limit_s``, the scores are those of the greatest depth that was
        finished in time. Depth 2 is always finished.

        The score at full depth is reduced by ``restlessness`` for each earlier move of the same side with the same kind
        of piece to the same cell, if the position has it in its history. Scores of wins and losses are not reduced.

        A move that loses at once by the history of the game scores as a loss. After the first move, the search ignores
        the history.
        """


class FastValuer(Valuer[GameT, PositionT, MoveT]):
    """A valuer that can also play and learn from batches of games in compiled code."""

    @abstractmethod
    def train(
        self,
        game: GameT,
        weights: NDArray[np.float64],
        average: NDArray[np.float64],
        parameters: SelfPlayParameters,
        n_learnt: int,
        n_games: int,
        rng: RandomSource,
        start: PositionT | None = None,
    ) -> Counter[Outcome]:
        """Play ``n_games`` of self-play, learn from each, and return the number of games by outcome.

        ``n_learnt`` is the number of games from which the machine has learnt before. Every game begins in the position
        ``start``, which has no history; ``None`` is the initial position of the game. ``weights``, their ``average``
        and ``rng`` are updated in place.

        The result is equal to that of ``n_games`` calls of ``ValueLearner.game_learnt``, to the last bit.
        """

    @abstractmethod
    def contest(
        self,
        game: GameT,
        opening: Sequence[MoveT],
        players: tuple[LearntPlayer | Level, LearntPlayer | Level],
        rng: RandomSource,
    ) -> Outcome:
        """Play a game that begins with the moves of an opening, without learning; return its outcome.

        ``players`` are in the order of the sides. The game is equal to one played move by move with the same ``rng``,
        except that levels ignore their time limit. ``rng`` is updated in place.
        """
