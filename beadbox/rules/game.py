"""The interface of a game: positions and moves as frozen values, symmetry, and text in and out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

from beadbox.rules.errors import IllegalMoveError
from beadbox.rules.layout import Bead, Layout
from beadbox.rules.outcome import Outcome, Side

POSITIONS_RETURN = "has positions that can come again"
"""Why a game has no list of its positions in the order of play, as words that follow its name."""


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A way to turn the board that leaves the rules unchanged.

    ``cells[i]`` is the cell that cell ``i`` is carried to. The picture is mirrored left to right
    first (when ``mirrored``), then turned clockwise by ``quarter_turns``.
    """

    name: str
    cells: tuple[int, ...]
    quarter_turns: int = 0
    mirrored: bool = False

    def then(self, other: Symmetry) -> tuple[int, ...]:
        """The cell permutation of doing this symmetry first and ``other`` second."""
        return tuple(other.cells[cell] for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Addition:
    """A rule that a game may be played with: its name, and what it says in a sentence."""

    name: str
    summary: str


PositionT = TypeVar("PositionT", bound=Hashable)

MoveT = TypeVar("MoveT", bound=Hashable)


@dataclass(frozen=True)
class GuidePart(Generic[PositionT, MoveT]):
    """A part of a game's guide: a heading, a sentence or two and, where one helps, a picture.

    The picture is the board of ``position``, with a dot wherever one of ``moves`` leads.
    """

    title: str
    words: str
    position: PositionT | None = None
    moves: tuple[MoveT, ...] = ()


class Look(Generic[PositionT, MoveT]):
    """How a game is drawn and told. What is here does for every game; one that has more to say overrides it.

    Args:
        game: the rules.
        layout: the board.
        notation: how ``encode`` writes a position, for those who write programs.
        reasons: why a game ended, in words a child understands, by termination.
        guide: how to play, for a player who has never seen the board.
    """

    has_actions: bool = False
    """Whether a piece can do more than go somewhere: then :meth:`kind` and :meth:`describe_action` say what."""
    plain_words: str = ""
    """What is said of a match without any of the additions."""
    legend: str = ""
    """What the marks on the board mean, where they do not speak for themselves."""

    def __init__(
        self,
        game: Game[PositionT, MoveT],
        layout: Layout,
        *,
        notation: str,
        reasons: Mapping[str, str],
        guide: Sequence[GuidePart[PositionT, MoveT]],
    ) -> None:
        self.game = game
        self.layout = layout
        self.notation = notation
        self.reasons = reasons
        self.guide = guide

    def scene(self) -> PositionT:
        """A position that shows what the game is like, for a picture of it: by default the start."""
        return self.game.initial_position()

    def path_ids(self, move: MoveT) -> list[str]:
        """The cells that a person touches to play the move by their ids, as they go over the wire."""
        return [self.layout.cells[cell].id for cell in self.game.path(move)]

    def kind(self, move: MoveT) -> str:
        """What sort of action a move is, where several touch the same cells: by default all are a ``move``."""
        return "move"

    def describe_action(self, position: PositionT, move: MoveT) -> str:
        """What an action that is no plain ``move`` does to its piece, in words for a button."""
        return self.kind(move)

    def captured(self, position: PositionT) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The pieces that each side has lost, as ``pieces`` calls them; by default nothing is said of any."""
        return (), ()

    def notices(self, position: PositionT) -> Mapping[str, str]:
        """What the players should be told of a position, such as a check: words by flag; by default nothing."""
        return {}

    def winning_cells(self, position: PositionT) -> tuple[int, ...]:
        """The cells to light up when the game is over; by default none."""
        return ()

    def bead(self, position: PositionT, move: MoveT) -> Bead:
        """The bead of a move in a box: by default coloured and lettered in the order of the moves."""
        index = self.game.legal_moves(position).index(move)
        return Bead(colour=index % 9, mark=chr(ord("A") + index % 26))

    def describe_move(self, move: MoveT) -> str:
        """The move in words: the names of the cells it touches."""
        return " to ".join(self.layout.cells[cell].name for cell in self.game.path(move))

    def tell_move(self, position: PositionT, move: MoveT) -> str:
        """The move in words for who sees it played in this position: by default as :meth:`describe_move`."""
        return self.describe_move(move)

    def mover(self, position: PositionT, move: MoveT) -> str | None:
        """The piece that a move is made with, as ``pieces`` calls it; ``None`` where all of a side are alike."""
        return None


class Game(ABC, Generic[PositionT, MoveT]):
    """The rules of one game; how it is drawn and told is its :attr:`look`. Instances hold no state: share them freely.

    ``legal_moves`` has a fixed order, and it is empty exactly when ``outcome`` is not ``None``.
    Beads are stored in that order, so changing it is a data migration.

    One folder may register several games of one *family*: the same rules on boards of different size, or with
    options. Each is a game of its own, with its own slug, machines and matches.
    """

    slug: str
    name: str
    summary: str
    variant: str = ""
    """What sets it apart within its family, in words; empty for the usual one."""
    symmetries: tuple[Symmetry, ...]
    additions: Mapping[str, Addition] = MappingProxyType({})
    """Rules that may be added to the usual game of its family. Every choice of them is a game of its own."""
    added: tuple[str, ...] = ()
    """Which of the family's additions this game is played with, in their order."""
    enumerable: bool = True
    """Whether its positions can all be listed: then boxes can be laid out, and strength is exact."""

    always_ends: bool = True
    """Whether no position can come again in a game, so that every game ends by itself."""

    has_draws: bool = True
    """Whether a game can end without a winner."""

    takes_boxes: bool = True
    """Whether a machine can have a box for each position it meets: not where a position carries its whole history."""

    @property
    def family(self) -> str:
        """The slug of the usual game of its family, which is its own unless it is a variant."""
        return self.slug

    @property
    def why_unlisted(self) -> str:
        """Why there is no list of its positions, as words that follow its name."""
        return "has too many positions" if self.always_ends else POSITIONS_RETURN

    @property
    def full_name(self) -> str:
        """Its name, with the rules that are added to it: no other game's."""
        return f"{self.name} {self.variant}" if self.added else self.name

    @property
    @abstractmethod
    def look(self) -> Look[PositionT, MoveT]:
        """How the game is drawn and told."""

    @abstractmethod
    def initial_position(self) -> PositionT:
        """The position a game starts from."""

    @abstractmethod
    def side_to_move(self, position: PositionT) -> Side:
        """Whose turn it is; in a terminal position, whose it would be."""

    @abstractmethod
    def ply(self, position: PositionT) -> int:
        """The least number of moves after which the position can arise from the start.

        A game that is not ``enumerable`` may say less. Even so it is 0 for the start alone, the same throughout an
        orbit, odd when the second side is to move of sides that take turns, and one move adds one at most.
        """

    @abstractmethod
    def legal_moves(self, position: PositionT) -> tuple[MoveT, ...]:
        """Every legal move, in the game's fixed order; empty when the game is over."""

    @abstractmethod
    def apply(self, position: PositionT, move: MoveT) -> PositionT:
        """The position after a move that the caller knows to be legal."""

    @abstractmethod
    def outcome(self, position: PositionT) -> Outcome | None:
        """How the game ended here, or ``None`` while it goes on."""

    @abstractmethod
    def transform(self, position: PositionT, symmetry: Symmetry) -> PositionT:
        """The position with every piece carried along by the symmetry."""

    @abstractmethod
    def transform_move(self, move: MoveT, symmetry: Symmetry) -> MoveT:
        """The move carried along by the symmetry."""

    @abstractmethod
    def encode(self, position: PositionT) -> str:
        """The position as text, for the wire and the database."""

    @abstractmethod
    def decode(self, text: str) -> PositionT:
        """The position that a text stands for.

        Raises:
            InvalidPositionError: the text is not a position that this game can reach.
        """

    def decode_as(self, text: str, side: Side) -> PositionT:
        """The position that a text stands for, in which ``side`` is to move if the text leaves that out.

        Raises:
            InvalidPositionError: as for :meth:`decode`.
        """
        return self.decode(text)

    def encode_short(self, position: PositionT) -> str:
        """The shortest text that :meth:`decode_as` reads, as programs write it that know the side."""
        return self.encode(position)

    @abstractmethod
    def format_move(self, move: MoveT) -> str:
        """The move as text, for the wire and the database."""

    @abstractmethod
    def parse_move(self, text: str) -> MoveT:
        """The move that a text stands for.

        Raises:
            InvalidMoveError: the text is not a move of this game.
        """

    @abstractmethod
    def pieces(self, position: PositionT) -> tuple[str | None, ...]:
        """What stands on each cell of the layout, in its order; ``None`` where nothing does."""

    @abstractmethod
    def path(self, move: MoveT) -> tuple[int, ...]:
        """The cells (indices into the layout) that a person touches to play the move."""

    def play(self, position: PositionT, move: MoveT) -> PositionT:
        """The position after a move, checked.

        Raises:
            IllegalMoveError: the move is not legal here.
        """
        if move not in self.legal_moves(position):
            raise IllegalMoveError(f"{self.format_move(move)!r} is not a legal move in {self.encode(position)!r}")
        return self.apply(position, move)

    def is_terminal(self, position: PositionT) -> bool:
        """Whether the game is over here."""
        return self.outcome(position) is not None

    def to_canonical(self, position: PositionT) -> tuple[PositionT, Symmetry]:
        """The least encoding in the orbit, and the first symmetry that carries the position there."""
        canonical: tuple[PositionT, Symmetry] = _to_canonical(self, position)
        return canonical

    def canonical(self, position: PositionT) -> PositionT:
        """The one position that stands for the whole orbit: the least encoding in it."""
        return self.to_canonical(position)[0]

    def placement(self, position: PositionT) -> Symmetry:
        """The symmetry that carries the canonical position to this one: the inverse of the first way there."""
        return self.inverse(self.to_canonical(position)[1])

    def orbit(self, position: PositionT) -> frozenset[PositionT]:
        """Every position that is the same up to symmetry."""
        return frozenset(self.transform(position, symmetry) for symmetry in self.symmetries)

    def stabiliser(self, position: PositionT) -> tuple[Symmetry, ...]:
        """The symmetries that leave the position as it is; never empty, the identity is one."""
        return tuple(s for s in self.symmetries if self.transform(position, s) == position)

    def distinct_moves(self, position: PositionT) -> tuple[tuple[MoveT, ...], ...]:
        """The legal moves in classes that the stabiliser carries into each other.

        Classes are ordered by their first member, members as in ``legal_moves``.
        """
        return _distinct_moves(self, position)

    def inverse(self, symmetry: Symmetry) -> Symmetry:
        """The symmetry that undoes this one."""
        return self._inverses[symmetry]

    @cached_property
    def _inverses(self) -> dict[Symmetry, Symmetry]:
        identity = self.symmetries[0].cells
        return {a: b for a in self.symmetries for b in self.symmetries if a.then(b) == identity}


@lru_cache(maxsize=1 << 15)
def _to_canonical(game: Game[Any, Any], position: Any) -> tuple[Any, Symmetry]:
    images = (
        (game.encode(image), index, image)
        for index, symmetry in enumerate(game.symmetries)
        for image in (game.transform(position, symmetry),)
    )
    _, index, image = min(images, key=lambda candidate: candidate[:2])
    return image, game.symmetries[index]


@lru_cache(maxsize=1 << 15)
def _distinct_moves(game: Game[Any, Any], position: Any) -> tuple[tuple[Any, ...], ...]:
    stabiliser = game.stabiliser(position)
    classes: dict[frozenset[Any], list[Any]] = {}
    for move in game.legal_moves(position):
        images = frozenset(game.transform_move(move, symmetry) for symmetry in stabiliser)
        classes.setdefault(images, []).append(move)
    return tuple(tuple(members) for members in classes.values())


AnyPosition: TypeAlias = Hashable
"""A position of a game that is not known: only that game can look inside."""

AnyMove: TypeAlias = Hashable
"""A move of a game that is not known: only that game can look inside."""

AnyGame: TypeAlias = Game[AnyPosition, AnyMove]
"""A game that is not known. It takes the positions and moves that it gave itself."""

GameT = TypeVar("GameT", bound=Game[Any, Any])
