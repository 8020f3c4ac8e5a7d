"""The interface of a game: positions and moves as frozen values, symmetries, and their text forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

from beadbox.rules.errors import IllegalMoveError
from beadbox.rules.layout import Bead, Layout
from beadbox.rules.outcome import MOVE_LIMIT, Outcome, Side
from beadbox.rules.published import Published


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A permutation of the cells that leaves the rules unchanged.

    ``cells[i]`` is the image of cell ``i``. If the picture is mirrored left to right (if ``mirrored``) and then turned
    clockwise by ``quarter_turns``, its cells lie there; an eighth turn is half a quarter turn. No turn does that where
    cells are exchanged otherwise: then ``exchanged`` is true, and a box is drawn as it is printed.
    """

    name: str
    cells: tuple[int, ...]
    quarter_turns: float = 0
    mirrored: bool = False
    exchanged: bool = False

    def then(self, other: Symmetry) -> tuple[int, ...]:
        """Return the cell permutation of this symmetry followed by ``other``."""
        return tuple(other.cells[cell] for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Addition:
    """An optional rule of a game: its name, and the rule in a sentence."""

    name: str
    summary: str


PositionT = TypeVar("PositionT", bound=Hashable)

MoveT = TypeVar("MoveT", bound=Hashable)


@dataclass(frozen=True)
class GuidePart(Generic[PositionT, MoveT]):
    """A part of a game's guide: a heading, a sentence or two, and optionally a picture.

    The picture shows the board of ``position``, with a dot on the end of each of ``moves``.
    """

    title: str
    words: str
    position: PositionT | None = None
    moves: tuple[MoveT, ...] = ()


class Presentation(Generic[PositionT, MoveT]):
    """The presentation of a game in pictures and words. The defaults suit every game; a game may override them.

    Args:
        game: the rules.
        layout: the board.
        notation: the text format of ``encode``, explained to programmers.
        reasons: why a game ended, in words a child understands, by termination.
        guide: how to play, for a player who has never seen the board.
    """

    has_actions: bool = False
    """Whether pieces have actions besides moves, which :meth:`kind` and :meth:`describe_action` then describe."""
    plain_words: str = ""
    """A sentence on a match without any of the additions."""
    legend: str = ""
    """The meaning of marks on the board that need an explanation."""

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
        """Return a typical position for a picture of the game: by default the start."""
        return self.game.initial_position()

    def path_ids(self, move: MoveT) -> list[str]:
        """Return the ids of the cells that a player touches to play the move, as used by API and sockets."""
        return [self.layout.cells[cell].id for cell in self.game.path(move)]

    def kind(self, move: MoveT) -> str:
        """Return a label that tells apart moves with the same path: by default ``move`` for all."""
        return "move"

    def describe_action(self, position: PositionT, move: MoveT) -> str:
        """Describe the effect of an action on its piece, in words for a button."""
        return self.kind(move)

    def captured(self, position: PositionT) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the pieces that each side has lost, in the names of ``pieces``; by default none."""
        return (), ()

    def notices(self, position: PositionT) -> Mapping[str, str]:
        """Return notices for the players, such as a check, as words by flag; by default none."""
        return {}

    def winning_cells(self, position: PositionT) -> tuple[int, ...]:
        """Return the cells to highlight when the game is over; by default none."""
        return ()

    def bead(self, position: PositionT, move: MoveT) -> Bead:
        """Return the bead of a move in a box: by default coloured and lettered in the order of the moves."""
        index = self.game.legal_moves(position).index(move)
        return Bead(colour=index % 9, mark=chr(ord("A") + index % 26))

    def describe_move(self, move: MoveT) -> str:
        """Describe the move by the names of the cells it touches."""
        return " to ".join(self.layout.cells[cell].name for cell in self.game.path(move))

    def tell_move(self, position: PositionT, move: MoveT) -> str:
        """Describe the move for a spectator of this position: by default as :meth:`describe_move`."""
        return self.describe_move(move)

    def mover(self, position: PositionT, move: MoveT) -> str | None:
        """Return the moved piece, in the names of ``pieces``; ``None`` if all pieces of a side are alike."""
        return None


class Game(ABC, Generic[PositionT, MoveT]):
    """The rules of one game. :attr:`presentation` describes it. Instances have no state, so threads can share them.

    ``legal_moves`` has a fixed order, and it is empty exactly when ``outcome`` is not ``None``.
    Beads are stored in that order, so a change of the order is a data migration.

    One folder may register several games of one *family*: the same rules on boards of different sizes, or with
    options. Each is a separate game with its own slug, machines and matches.
    """

    slug: str
    name: str
    summary: str
    variant: str = ""
    """The difference from the usual game of the family, in words; empty for the usual game."""
    choice: str = ""
    """The label of this game in a list of its family, if the family has several games without additions."""
    symmetries: tuple[Symmetry, ...]
    additions: Mapping[str, Addition] = MappingProxyType({})
    """Optional rules of the family by option. Every combination of them is a separate game."""
    added: tuple[str, ...] = ()
    """The family's additions that this game is played with, in their order."""
    listable: bool = True
    """Whether the program can list all positions, so that boxes can be laid out and strength is exact.

    A position of such a game has no history: two games that reach it go on alike.
    """

    always_ends: bool = True
    """Whether no position can repeat within a game, so that every game ends by itself."""

    endless_winner: Side | None = None
    """The side that wins a game without an end; ``None`` if such a game is a draw."""

    ply_limit: int = 200
    """Plies after which a game stops and counts as a game without an end; forced moves and passes count too."""

    has_draws: bool = True
    """Whether the rules can end a game without a winner."""

    published: tuple[Published, ...] = ()
    """Numbers of other sources that the page of facts compares with ours."""

    supports_boxes: bool = True
    """Whether a machine can have a box for each position; impossible if a position includes its whole history."""

    @property
    def ply_limit_outcome(self) -> Outcome:
        """The outcome of a game that stopped at the ply limit: that of a game that never ends."""
        return Outcome(self.endless_winner, MOVE_LIMIT)

    @cached_property
    def has_endless_draws(self) -> bool:
        """Whether a game can go on for ever, and is then a draw."""
        return not self.always_ends and self.endless_winner is None

    @property
    def family(self) -> str:
        """The slug of the usual game of the family: this game's own slug unless it is a variant."""
        return self.slug

    @property
    def why_unlisted(self) -> str:
        """Reason why the game has no list of its positions; follows the game's name in a sentence."""
        return "has too many positions"

    @property
    def full_name(self) -> str:
        """The name with the added rules, unique among all games."""
        return f"{self.name} {self.variant}" if self.added else self.name

    def winners_by_size(self) -> Mapping[tuple[int, int], Side]:
        """Return the winner under perfect play by columns and rows, for boards of the family; by default for none."""
        return {}

    @property
    @abstractmethod
    def presentation(self) -> Presentation[PositionT, MoveT]:
        """The presentation of the game in pictures and words."""

    @abstractmethod
    def initial_position(self) -> PositionT:
        """Return the position at the start of a game."""

    @abstractmethod
    def side_to_move(self, position: PositionT) -> Side:
        """Return the side to move; in a terminal position, the side that would move."""

    @abstractmethod
    def ply(self, position: PositionT) -> int:
        """Return the least number of moves after which the position, or an image of it, can arise from the start.

        A game that is not ``listable`` may return a lower bound. The bound must be 0 only at the start and its images,
        and equal within an orbit. It grows by at most 1 in a move. If sides alternate, it is odd when the second side
        is to move.
        """

    @abstractmethod
    def legal_moves(self, position: PositionT) -> tuple[MoveT, ...]:
        """Return every legal move, in the game's fixed order; empty when the game is over."""

    @abstractmethod
    def apply(self, position: PositionT, move: MoveT) -> PositionT:
        """Return the position after a move without checking it; the caller guarantees that it is legal."""

    @abstractmethod
    def outcome(self, position: PositionT) -> Outcome | None:
        """Return how the game ended in this position, or ``None`` while it goes on."""

    @abstractmethod
    def transform(self, position: PositionT, symmetry: Symmetry) -> PositionT:
        """Return the image of the position under the symmetry."""

    @abstractmethod
    def transform_move(self, move: MoveT, symmetry: Symmetry) -> MoveT:
        """Return the image of the move under the symmetry."""

    @abstractmethod
    def encode(self, position: PositionT) -> str:
        """Return the position as text, for API, sockets and database."""

    @abstractmethod
    def decode(self, text: str) -> PositionT:
        """Return the position that ``encode`` wrote as this text.

        Raises:
            InvalidPositionError: the text is not a position that this game can reach.
        """

    def decode_as(self, text: str, side: Side) -> PositionT:
        """Return the position of a text; if the text omits the side to move, ``side`` is to move.

        Raises:
            InvalidPositionError: as for :meth:`decode`.
        """
        return self.decode(text)

    def encode_short(self, position: PositionT) -> str:
        """Return the shortest text that :meth:`decode_as` reads, which may omit the side to move."""
        return self.encode(position)

    @abstractmethod
    def format_move(self, move: MoveT) -> str:
        """Return the move as text, for API, sockets and database."""

    @abstractmethod
    def parse_move(self, text: str) -> MoveT:
        """Return the move that ``format_move`` wrote as this text.

        Raises:
            InvalidMoveError: the text is not a move of this game.
        """

    @abstractmethod
    def pieces(self, position: PositionT) -> tuple[str | None, ...]:
        """Return the piece on each cell of the layout, in its order; ``None`` for an empty cell."""

    @abstractmethod
    def path(self, move: MoveT) -> tuple[int, ...]:
        """Return the cells (indices into the layout) that a player touches to play the move."""

    def play(self, position: PositionT, move: MoveT) -> PositionT:
        """Return the position after a move, with a check that it is legal.

        Raises:
            IllegalMoveError: the move is not legal here.
        """
        if move not in self.legal_moves(position):
            raise IllegalMoveError(f"{self.format_move(move)!r} is not a legal move in {self.encode(position)!r}")
        return self.apply(position, move)

    def is_terminal(self, position: PositionT) -> bool:
        """Whether the game is over in this position."""
        return self.outcome(position) is not None

    @lru_cache(maxsize=1 << 15)  # noqa: B019 - games live as long as the process
    def to_canonical(self, position: PositionT) -> tuple[PositionT, Symmetry]:
        """Return the position of the orbit with the least encoding, and the first symmetry that leads to it."""
        images = [(self.transform(position, symmetry), symmetry) for symmetry in self.symmetries]
        return min(images, key=lambda image: self.encode(image[0]))  # of equal ones the first

    def canonical(self, position: PositionT) -> PositionT:
        """Return the representative of the orbit: its position with the least encoding."""
        return self.to_canonical(position)[0]

    def placement(self, position: PositionT) -> Symmetry:
        """Return the symmetry from the canonical position to this one: the inverse of ``to_canonical``'s."""
        return self.inverses[self.to_canonical(position)[1]]

    def orbit(self, position: PositionT) -> frozenset[PositionT]:
        """Return all images of the position under the symmetries."""
        return frozenset(self.transform(position, symmetry) for symmetry in self.symmetries)

    def stabiliser(self, position: PositionT) -> tuple[Symmetry, ...]:
        """Return the symmetries that leave the position unchanged; the identity is always one."""
        return tuple(s for s in self.symmetries if self.transform(position, s) == position)

    @lru_cache(maxsize=1 << 15)  # noqa: B019 - games live as long as the process
    def distinct_moves(self, position: PositionT) -> tuple[tuple[MoveT, ...], ...]:
        """Return the legal moves in classes of moves that are equivalent under the position's stabiliser.

        Classes are ordered by their first members, and members as in ``legal_moves``.
        """
        stabiliser = self.stabiliser(position)
        classes: dict[frozenset[MoveT], list[MoveT]] = {}
        for move in self.legal_moves(position):
            images = frozenset(self.transform_move(move, symmetry) for symmetry in stabiliser)
            classes.setdefault(images, []).append(move)
        return tuple(tuple(members) for members in classes.values())

    @cached_property
    def inverses(self) -> dict[Symmetry, Symmetry]:
        """The inverse of each symmetry."""
        identity = self.symmetries[0].cells
        return {a: b for a in self.symmetries for b in self.symmetries if a.then(b) == identity}

    @cached_property
    def least_plies_by_position(self) -> dict[PositionT, int]:
        """All positions of a ``listable`` game, each with the least number of moves after which it can arise.

        Images of the start have 0 too, so that all images of a position have the same number.
        """
        found = {self.transform(self.initial_position(), symmetry): 0 for symmetry in self.symmetries}
        frontier = list(found)
        for n_moves in count(1):
            after = (self.apply(position, move) for position in frontier for move in self.legal_moves(position))
            frontier = [position for position in dict.fromkeys(after) if position not in found]
            if not frontier:
                break
            found |= dict.fromkeys(frontier, n_moves)
        return found


AnyPosition: TypeAlias = Hashable
"""A position of an unknown type of game; only its game can use it."""

AnyMove: TypeAlias = Hashable
"""A move of an unknown type of game; only its game can use it."""

AnyGame: TypeAlias = Game[AnyPosition, AnyMove]
"""A game of unknown type; it takes only positions and moves that it produced itself."""

GameT = TypeVar("GameT", bound=Game[Any, Any])
