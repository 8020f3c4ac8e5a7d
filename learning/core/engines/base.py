"""What an engine is: a search that knows the games of one family, and what the rest of the house asks of it.

It plays at levels, says which moves it likes best and by how much, and tells a machine that keeps values what its
entries are called and how each move looks from afar.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from games.rules.base import Game, Outcome
from games.rules.player import Random
from learning.core.kernels.jit import Readiness
from learning.core.kernels.random_source import RandomSource
from learning.core.tournaments.elo import Elo

GameT = TypeVar("GameT", bound=Game[Any, Any])


class Candidate(NamedTuple):
    """A move and what it is worth to whoever asked."""

    move: Any
    value: float


class Entry(NamedTuple):
    """A move as a machine that keeps values has it: its key, and the static value after it for whoever moves."""

    move: Any
    key: str
    outlook: float
    ends: int
    """1 if whoever moves wins with it at once, -1 if they lose with it at once, as the position remembers; else 0."""


@dataclass(frozen=True, slots=True)
class Level:
    """How well an engine plays."""

    slug: str
    name: str
    summary: str
    depth: int
    random_tenths: int = 0
    """In how many of ten moves it plays anything."""
    plain: bool = False
    """Whether it looks at material and advancement alone."""
    time_limit_s: float | None = None
    """The most that it may think; what it plays then depends on how fast the machine is."""
    learnt: bool = False
    """Whether it plays by the learnt value that comes with its engine."""
    whom: str = ""
    """For whom it is, in a few words."""

    def plays_anything(self, rng: Random) -> bool:
        """Whether this move is one that it leaves to chance. The first that it draws; nothing, if it never does."""
        return self.random_tenths > 0 and rng.below(10) < self.random_tenths

    @property
    def is_deep(self) -> bool:
        """Whether there are boards, if only such as no game comes to, on which it would look for seconds."""
        return self.depth > 2


class Rung(NamedTuple):
    """A level on a ladder, and its rating, where it was measured."""

    level: Level
    rating: Elo | None


class Engine(ABC, Generic[GameT]):
    """A search for the games of one family. It holds no state: share it freely."""

    levels: Mapping[str, Level]
    """By slug: all that it plays at, whether or not they are on a ladder."""
    modes: Mapping[str, str] = {}
    """What its ladders are called, each with the game in which it is measured."""
    ladder_file: Path | None = None
    """Where it is written what was measured."""
    newcomers: Sequence[str] = ()
    """The levels that can be beaten by somebody who begins to play: one of them is on every ladder."""
    valuer: FastValuer[GameT] | None = None
    """What machines that learn a value of positions need; ``None``: there are none for this family."""
    trainer: FastTrainer[GameT]
    """What plays many games of machines that keep values at once."""

    def readiness(self) -> Readiness:
        """Whether it can be asked now."""
        return Readiness.READY

    def plays_at(self, game: GameT, level: Level) -> bool:
        """Whether it can play the game at one of its levels."""
        return True

    def ladder(self, game: GameT) -> Sequence[Rung]:
        """The levels that it offers in the game, the weakest first, each clearly stronger than the one before."""
        return [Rung(level, None) for level in self.levels.values() if self.plays_at(game, level)]

    def learnt_file(self, game: GameT) -> Path | None:
        """Where the learnt value is that levels play the game by: the file of a machine; ``None`` where none do."""
        return None

    def learnt_mark(self, game: GameT) -> str:
        """What tells the learnt value that levels play by from any other: what was measured holds for that alone."""
        return ""

    @abstractmethod
    def choose(self, game: GameT, position: Any, *, level: Level, rng: Random) -> Any:
        """The move that it plays at a level in a position that is not terminal."""

    @abstractmethod
    def best(self, game: GameT, position: Any) -> tuple[tuple[Candidate, ...], int]:
        """The moves that it likes best for the side to move, best first, and how many moves ahead it looked.

        Done in a few milliseconds. A win is worth 1,000,000 less the number of moves until then; 40 make a side
        clearly better.
        """

    @abstractmethod
    def entries(self, game: GameT, position: Any) -> list[Entry]:
        """Every legal move, in canonical order."""

    @abstractmethod
    def keys(self, game: GameT, position: Any) -> tuple[str, ...]:
        """The keys of :meth:`entries` alone."""

    @abstractmethod
    def key_board(self, key: str) -> str:
        """The board of a key as text: what the keys of all entries on it have in common."""

    @abstractmethod
    def entry_read(self, key: str) -> tuple[Any, Any]:
        """The position and the move that a key is made of.

        Raises:
            ValueError: it is no key, or not written as keys are.
        """

    @abstractmethod
    def entry_problem(self, game: GameT, position: Any, move: Any) -> str:
        """Why no machine can have chosen this move in this position of the game; nothing if it can."""


class QLessons(NamedTuple):
    """How values follow what happens, as ``machines/q_learning.py`` says it: numbers, for a kernel takes it so."""

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


Recall = Callable[[Mapping[str, Sequence[Any]]], Mapping[str, float]]
"""The values, by key, of all entries on these boards: by ``Engine.key_board``, as positions of either side."""


@dataclass(slots=True)
class Pupil:
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
        pupil: Pupil,
        other: Pupil | Level | None,
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

        Equal to ``training.q_episodes.games_played``, to the last bit, but for the clock of levels that have one.
        Returns how many the pupil won, drew and lost; who learns is updated in place, and so is ``rng``.
        """


class Look(NamedTuple):
    """What a search with a learnt value says of every legal move of a position, in canonical order."""

    moves: tuple[Any, ...]
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
    """How a learnt value learns from a game against itself: ``learning/core/machines/value_learner.py`` has the words.

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


class Valuer(ABC, Generic[GameT]):
    """Features of the positions of one family of games, and searches with a value that is linear in them.

    It holds no state. Weights are ``(n,) float64``, n that of the set of features, each as
    :func:`learning.core.kernels.exact_floats.grained` keeps it; scores are exact then, and the same on every machine.
    """

    sets: Mapping[str, int]
    """Sets of features, each with its number of weights."""

    @abstractmethod
    def refusal(self, game: GameT) -> str:
        """Why the features do not do for a game of the family; nothing if they do."""

    @abstractmethod
    def features(self, position: Any, feature_set: str) -> dict[int, float]:
        """What a position has to say after the move that led to it, for whoever made that: by index, without 0s."""

    @abstractmethod
    def told(self, index: int) -> str:
        """The feature with this index in words; one index says the same in every set."""

    @abstractmethod
    def parts(self, position: Any, weights: NDArray[np.float64], feature_set: str) -> tuple[PartGroup, ...]:
        """The sum of a position after a move, for whoever made that, as what each feature adds to it: largest first."""

    @abstractmethod
    def sheet(self, game: GameT, feature_set: str) -> WeightSheet:
        """How to lay out the weights of a set."""

    @abstractmethod
    def look(
        self,
        game: GameT,
        position: Any,
        player: Learnt,
        *,
        whole: bool = False,
        time_limit_s: float | None = None,
    ) -> Look:
        """What the value says of every legal move, as far ahead as it looks; exact for all of them if ``whole``.

        With a ``time_limit_s`` it is what was found at the last depth that was finished by then. Two moves ahead are
        always finished.

        At full depth a move costs the player's ``restlessness`` for every time that its player has already made one to
        the same end with the same kind of piece, as far as the position remembers; wins and losses cost nothing.

        A move that loses at once by the history of the game scores so; further on the search knows none.
        """


class FastValuer(Valuer[GameT]):
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
        start: Any = None,
    ) -> Counter[Outcome]:
        """Learn from ``n_games`` more than the ``n_learnt`` before; how they ended.

        ``weights``, their ``average`` and ``rng`` are updated in place.

        Equal to ``ValueLearner.game_learnt`` as often, to the last bit. ``start``: the position that every game begins
        with, as if nothing had come before it; ``None`` for that of the game.
        """

    @abstractmethod
    def contest(
        self, game: GameT, opening: Sequence[Any], players: tuple[Learnt | Level, Learnt | Level], rng: RandomSource
    ) -> Outcome:
        """A game in which nobody learns, from the moves of an opening; ``players`` by side.

        As move by move with the same ``rng``, which is updated in place, but for the clock of levels that have one.
        """
