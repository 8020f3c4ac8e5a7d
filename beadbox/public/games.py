"""Games with their positions and moves as text, and perfect play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from beadbox.errors import UnknownNameError
from beadbox.policies import perfect
from beadbox.policies.perfect import ENDLESS_PLIES, PerfectFastOpponent, PerfectOpponent
from beadbox.public.names import Names
from beadbox.rules.errors import IllegalMoveError, InvalidMoveError, InvalidPositionError
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import graph_compile
from beadbox.strength.loops import ENDLESS, solution_of


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of a position if neither side makes a mistake.

    Attributes:
        winner: the side that wins; ``None`` for a draw.
        plies: the number of moves until the end, if the winner shortens the game and the loser prolongs it. ``None``
            if no side can force an end.
        best_moves: the moves that keep the result. If the side to move wins in a known number of plies, only the moves
            that win fastest.
        is_endless: whether the draw is a game that goes on for ever, and not a draw by the rules.
    """

    winner: Side | None
    plies: int | None
    best_moves: tuple[str, ...]
    is_endless: bool = False


@dataclass(frozen=True, repr=False)
class Game:
    """A game, or one of its variants. ``beadbox.games`` has all of them.

    Positions and moves are text. ``start`` shows the form of a position, and ``legal_moves`` the form of moves. The
    page on the game's rules describes both forms.

    >>> import beadbox as bb
    >>> game = bb.games["noughts-and-crosses"]
    >>> game.legal_moves("XOXO.X.O.")
    ('5', '7', '9')
    >>> game.play(game.start, "5", "1")
    'O...X....'
    >>> game.solve().winner is None
    True
    """

    rules: AnyGame
    """The rules with positions and moves as Python objects. They are faster than the methods of this class."""

    @property
    def slug(self) -> str:
        """The name in ``beadbox.games``, in files and in addresses of the site."""
        return self.rules.slug

    @property
    def name(self) -> str:
        """The name for people, which includes optional rules, such as flips."""
        return self.rules.full_name

    @property
    def start(self) -> str:
        """The position at the start of a game."""
        return self.rules.encode(self.rules.initial_position())

    @property
    def side_names(self) -> tuple[str, str]:
        """The names of the two sides, the first side first."""
        first, second = self.rules.presentation.layout.role_names
        return first, second

    @property
    def is_listable(self) -> bool:
        """Whether the library can list all positions. Such a game can be solved, and strength in it is exact."""
        return self.rules.listable

    @property
    def always_ends(self) -> bool:
        """Whether the rules end every game. If not, positions can recur."""
        return self.rules.always_ends

    def side_to_move(self, position: str) -> Side:
        """Return the side to move in a position.

        Raises:
            InvalidPositionError: the game cannot reach the position.
        """
        return self.rules.side_to_move(position_decode(self, position))

    def legal_moves(self, position: str) -> tuple[str, ...]:
        """Return the legal moves, in the game's fixed order; an empty tuple if the game is over.

        Raises:
            InvalidPositionError: the game cannot reach the position.
        """
        return tuple(map(self.rules.format_move, self.rules.legal_moves(position_decode(self, position))))

    def play(self, position: str, *moves: str) -> str:
        """Return the position after one or more moves.

        Raises:
            InvalidPositionError: the game cannot reach the position.
            IllegalMoveError: a move is not legal where it is played.
        """
        after = position_decode(self, position)
        for move in moves:
            after = self.rules.apply(after, move_parse(self, after, move))
        return self.rules.encode(after)

    def outcome(self, position: str) -> Outcome | None:
        """Return how the game ended in this position, or ``None`` while it goes on.

        Raises:
            InvalidPositionError: the game cannot reach the position.
        """
        return self.rules.outcome(position_decode(self, position))

    def canonical(self, position: str) -> str:
        """Return the canonical position, which represents a position and all its turned and mirrored images.

        It is the position on the front of a box.

        Raises:
            InvalidPositionError: the game cannot reach the position.
        """
        return self.rules.encode(self.rules.canonical(position_decode(self, position)))

    def positions(self) -> tuple[str, ...]:
        """Return every canonical position in which the game is not over.

        Raises:
            UnsupportedError: the game has too many positions to list.
        """
        return tuple(map(self.rules.encode, graph_compile(self.rules, reduced=True).positions))

    def solve(self, position: str | None = None) -> Solution:
        """Solve a position, by default the start.

        Raises:
            InvalidPositionError: the game cannot reach the position.
            UnsupportedError: the game has too many positions to list.
        """
        rules = self.rules
        graph_compile(rules, reduced=True)
        decoded = rules.initial_position() if position is None else position_decode(self, position)
        value, plies = perfect.solve(rules, decoded)
        side = rules.side_to_move(decoded)
        winner = None if value == 0 else side if value > 0 else side.other
        known_plies = None if plies == ENDLESS_PLIES else plies
        if rules.is_terminal(decoded):
            return Solution(winner, known_plies, ())
        player = PerfectFastOpponent() if winner is side else PerfectOpponent()
        best_moves = tuple(map(rules.format_move, player.replies(rules, decoded)))
        return Solution(winner, known_plies, best_moves, self._is_endless(decoded))

    def _is_endless(self, position: AnyPosition) -> bool:
        if self.rules.always_ends:
            return False
        graph, solved = solution_of(self.rules)
        return int(solved.result[graph.node_id[self.rules.canonical(position)]]) == ENDLESS

    def __repr__(self) -> str:
        return f"<Game {self.slug}>"


def position_decode(game: Game, text: str, side: Side | None = None) -> AnyPosition:
    """Return the position that a text describes. If the text omits the side to move, ``side`` is to move.

    Raises:
        InvalidPositionError: the game cannot reach the position.
    """
    if not isinstance(text, str):
        raise InvalidPositionError(f"{text!r} is not a position: positions are text, such as {game.start!r}.")
    return game.rules.decode(text) if side is None else game.rules.decode_as(text, side)


def move_parse(game: Game, position: AnyPosition, text: str) -> AnyMove:
    """Return the legal move that a text describes.

    Raises:
        IllegalMoveError: the move is not legal in the position; the message has the legal moves.
    """
    rules, legal = game.rules, game.rules.legal_moves(position)
    try:
        move = rules.parse_move(text) if isinstance(text, str) else None
    except InvalidMoveError:
        move = None
    if move in legal:
        return move
    legal_text = ", ".join(map(rules.format_move, legal)) or "none, because the game is over"
    raise IllegalMoveError(f"{text!r} is not legal in {rules.encode(position)!r}. The legal moves: {legal_text}.")


games: Mapping[str, Game] = Names("game", {slug: Game(rules) for slug, rules in GAMES.items()})
"""All games and their variants by name."""


def game_of(game: Game | str) -> Game:
    """Return a game by its name; an argument that is a game already is returned unchanged.

    Raises:
        UnknownNameError: there is no such game.
    """
    return game if isinstance(game, Game) else games[game]


def side_of(side: Side | str | int, game: Game) -> Side:
    """Return a side by its number, by "first" or "second", or by its name in the game.

    Raises:
        UnknownNameError: the game has no such side.
    """
    names = {"first": Side.FIRST, "second": Side.SECOND}
    names |= {name: Side(number) for number, name in enumerate(game.side_names)}
    if isinstance(side, str) and side in names:
        return names[side]
    if isinstance(side, int) and not isinstance(side, bool) and side in (0, 1):
        return Side(side)
    raise UnknownNameError(f"{side!r} is no side of {game.name}. There are: {', '.join(names)}.")


def solve(game: Game | str, position: str | None = None) -> Solution:
    """Solve a game from a position, by default from the start.

    >>> import beadbox as bb
    >>> bb.solve("hexapawn").winner
    <Side.SECOND: 1>
    """
    return game_of(game).solve(position)
