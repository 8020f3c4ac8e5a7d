"""Romgon as a game: positions with the history that repetition needs, the endings, and the text forms.

Source: ``docs/rules/romgon.md``, which also explains the text of a position.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise, product
from types import MappingProxyType

from beadbox.rules.errors import InvalidMoveError, InvalidPositionError
from beadbox.rules.game import Addition, Game, GuidePart, Presentation, Symmetry
from beadbox.rules.outcome import MOVE_LIMIT, Outcome, Side
from beadbox.rules.romgon.geometry import CELL, IDS, N_CELLS, PLACES
from beadbox.rules.romgon.guide import AIM, OTHER_RULES, PIECES, scene
from beadbox.rules.romgon.layout import LAYOUT, SYMMETRIES
from beadbox.rules.romgon.moves import (
    KEPT,
    Move,
    Options,
    after,
    format_action,
    has_legal_move,
    in_check,
    is_capture,
    is_legal,
    legal_moves,
)
from beadbox.rules.romgon.pieces import (
    BLACK,
    CODE_NAMED,
    FLIPPED_BIT,
    GOALS,
    N_ROTATIONS,
    RHOMBUS,
    START,
    TYPE_BITS,
    TYPE_NAMES,
    WHITE,
    WHITE_BIT,
    Board,
    kind_of,
    piece_name,
    rhombus_cell,
    rotation_of,
    side_of,
)

RHOMBUS_CAPTURED = "rhombus_captured"
BASE_CAPTURED = "base_captured"
DEADLOCK = "deadlock"
DRAGLOCK = "draglock"
THREEFOLD_REPETITION = "threefold_repetition"
SHUTTLE = "shuttle"
MAX_PLIES = 200
MAX_OCCURRENCES = 3
MAX_SHUTTLES = 5

CHECK = "check"
ESCAPE_RACE = "escape_race"


@dataclass(frozen=True, slots=True)
class Position:
    """A board, the side to move, and the history as far as the rules need it."""

    board: Board
    side: Side
    ply: int = 0
    """Actions played since the start."""
    past: tuple[Board, ...] = ()
    """Earlier boards since the last capture (with the shuttle rule since the start), oldest first."""
    moves: tuple[Move, ...] = ()
    """The action played on each board of ``past``."""


def board_outcome(board: Board, side: Side, options: Options) -> Outcome | None:
    """Return the outcome by the board alone (the first four endings), with ``side`` to move; else ``None``."""
    if by_rhombuses := _rhombus_outcome(board, side):
        return by_rhombuses
    if not has_legal_move(board, side, options):
        return Outcome(side.other, DEADLOCK if in_check(board, side) else DRAGLOCK)
    return None


def _rhombus_outcome(board: Board, side: Side) -> Outcome | None:
    """Return the outcome by the cells of the rhombuses alone, else ``None``."""
    cells = {owner: rhombus_cell(board, owner) for owner in (side.other, side)}  # the side that just acted comes first
    alive = [owner for owner, cell in cells.items() if cell is not None]
    if len(alive) == 1:
        return Outcome(alive[0], RHOMBUS_CAPTURED)
    for owner, cell in cells.items():
        if cell == GOALS[owner]:
            return Outcome(owner, BASE_CAPTURED)
    return None


def _is_repeated(position: Position) -> bool:
    """Whether the board occurs for the third time with the same side to move."""
    same_side = position.past[len(position.past) % 2 :: 2]
    return same_side.count(position.board) + 1 >= MAX_OCCURRENCES


def _is_shuttled(position: Position) -> bool:
    """Whether the last action was its player's fifth of this kind of piece between these two cells."""
    if not position.moves:
        return False
    last = _shuttle(position, len(position.moves) - 1)
    own = range(len(position.moves) - 1, -1, -2)
    return last is not None and sum(_shuttle(position, index) == last for index in own) >= MAX_SHUTTLES


def _shuttle(position: Position, index: int) -> tuple[int, frozenset[int]] | None:
    """Return the type of piece and the two cells under which a quiet move is counted; ``None`` for other actions."""
    move, board = position.moves[index], position.past[index]
    if move.origin == move.target or is_capture(board, move):
        return None
    return kind_of(board[move.origin]), frozenset((move.origin, move.target))


ADDITIONS = MappingProxyType(
    {
        "flip": Addition(
            "flips",
            "Instead of moving, you may flip a piece, or flip it back. A flipped piece steps to any neighbour. "
            "Flipped pieces take only flipped pieces. The others take only pieces that are not flipped.",
        ),
        "turn": Addition("turning pieces", "Triangles and hexgons may turn, on the spot or after a move."),
        "shape": Addition("shape defence", "A rhombus may not enter its goal while an enemy attacks it."),
        "shuttle": Addition(
            "the shuttle rule", "Moving back and forth between the same two hexes five times loses the game."
        ),
    }
)
"""Additions by option, in their order within a slug."""
_TURNS = {1: "Turn right", 2: "Turn right twice", 3: "Turn round", 4: "Turn left twice", 5: "Turn left"}


NOTATION = (
    "text: the rows of a board with dots between (a piece as its letter, large for White, '~' if flipped, "
    "'@n' if turned; a run of empty hexes as its length), '-', the side to move and the ply, and after another '-' "
    "the actions since, each two hexes as letters (A-Z, a-y in their order) and a digit if it turns"
)
REASONS: Mapping[str, str] = MappingProxyType(
    {
        RHOMBUS_CAPTURED: "the other rhombus is gone",
        BASE_CAPTURED: "the rhombus reached the other side's home",
        DEADLOCK: "no move saves the attacked rhombus (deadlock)",
        DRAGLOCK: "the other side cannot move (draglock)",
        THREEFOLD_REPETITION: "the other side repeated a board for the third time",
        SHUTTLE: "the other side moved between the same two hexes for the fifth time",
        MOVE_LIMIT: f"{MAX_PLIES} moves were played",
    }
)


def _guide() -> tuple[GuidePart[Position, Move], ...]:
    title, words, board = AIM
    parts: list[GuidePart[Position, Move]] = [GuidePart(title, words, Position(board, BLACK))]
    for title, words, kind, cell_id in PIECES:
        board, moves = scene(kind, cell_id)
        parts.append(GuidePart(title, words, Position(board, BLACK), moves))
    return (*parts, *(GuidePart(title, words) for title, words in OTHER_RULES))


class RomgonPresentation(Presentation[Position, Move]):
    """The presentation of Romgon: actions that flip and turn, checks, captured pieces, and goals."""

    plain_words = "This match has no additional rules: pieces do not flip or turn."
    legend = "A dashed outline marks a goal: each rhombus wants to reach the home of the other."

    def __init__(self, game: Romgon) -> None:
        super().__init__(game, LAYOUT, notation=NOTATION, reasons=REASONS, guide=_guide())
        self.has_actions: bool = game.options.flip or game.options.turn

    def winning_cells(self, position: Position) -> tuple[int, ...]:
        """Return the entered goal, or the rhombus of the side without a legal move."""
        outcome = self.game.outcome(position)
        if outcome is None or outcome.winner is None:
            return ()
        if outcome.termination == BASE_CAPTURED:
            return (GOALS[outcome.winner],)
        cell = rhombus_cell(position.board, outcome.winner.other)
        return (cell,) if cell is not None and outcome.termination in (DEADLOCK, DRAGLOCK) else ()

    def kind(self, move: Move) -> str:
        if move.is_flip:
            return "flip"
        return "move" if move.turn == KEPT else "turn"

    def describe_action(self, position: Position, move: Move) -> str:
        if move.turn == KEPT:
            return "Flip" if move.is_flip else "Just move"
        code = position.board[move.origin]
        n_turns = N_ROTATIONS[kind_of(code)]
        right = (move.turn - rotation_of(code)) % n_turns
        return _TURNS[right if 2 * right <= n_turns else 6 - n_turns + right]

    def captured(self, position: Position) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the pieces that each side has lost since the start."""
        lost = Counter(code & (TYPE_BITS | WHITE_BIT) for code in START if code)
        lost -= Counter(code & (TYPE_BITS | WHITE_BIT) for code in position.board if code)
        gone = {side: [code for code in lost.elements() if side_of(code) == side] for side in Side}
        return tuple(map(piece_name, gone[BLACK])), tuple(map(piece_name, gone[WHITE]))

    def describe_move(self, move: Move) -> str:
        """Describe the action by its hexes, with a flip or the rotation after a turn."""
        words = " to ".join(IDS[cell] for cell in self.game.path(move))
        if move.is_flip:
            return f"{words} flipped"
        return words if move.turn == KEPT else f"{words}, turned to {move.turn}"

    def tell_move(self, position: Position, move: Move) -> str:
        """Describe the action with the names of its piece and of a captured one; turns are relative to the piece."""
        code, origin, target = position.board[move.origin], IDS[move.origin], IDS[move.target]
        words = f"{TYPE_NAMES[kind_of(code)]} {origin}"
        if move.is_flip:
            return f"{words} flips {'back' if code & FLIPPED_BIT else 'over'}"
        if is_capture(position.board, move):
            return f"{words} takes {TYPE_NAMES[kind_of(position.board[move.target])]} {target}"
        if move.origin != move.target:
            words += f" to {target}"
        if move.turn == KEPT:
            return words
        turns = self.describe_action(position, move).replace("Turn", "turns", 1)
        return f"{words} {turns}" if move.origin == move.target else f"{words}, {turns}"

    def mover(self, position: Position, move: Move) -> str:
        return piece_name(position.board[move.origin])

    def notices(self, position: Position) -> Mapping[str, str]:
        """Return notices of a check, and of the moment when only the two rhombuses are left."""
        found = {}
        if in_check(position.board, position.side):
            found[CHECK] = f"{self.layout.roles[position.side]} is in check"
        left = [code for code in position.board if code]
        if len(left) == 2 and all(kind_of(code) == RHOMBUS for code in left):
            found[ESCAPE_RACE] = "Only the two rhombuses are left: an escape race"
        return found


class Romgon(Game[Position, Move]):
    """The rules of Romgon with the given options."""

    name = "Romgon"
    summary = "Get your rhombus to the other side's home, or leave them unable to move."
    symmetries: tuple[Symmetry, ...] = SYMMETRIES
    additions: Mapping[str, Addition] = ADDITIONS
    listable = False
    supports_boxes = False
    format_move: Callable[..., str] = staticmethod(format_action)

    def __init__(self, options: Options) -> None:
        self.options = options
        self.added: tuple[str, ...] = tuple(option for option in ADDITIONS if getattr(options, option))
        self.slug: str = "-".join(["romgon", *self.added])
        names = [ADDITIONS[option].name for option in self.added]
        self.variant: str = f"with {' and '.join(filter(None, [', '.join(names[:-1]), *names[-1:]]))}" if names else ""

    @cached_property
    def presentation(self) -> Presentation[Position, Move]:
        return RomgonPresentation(self)

    @property
    def family(self) -> str:
        return "romgon"

    def initial_position(self) -> Position:
        return Position(START, BLACK)

    def side_to_move(self, position: Position) -> Side:
        return position.side

    def ply(self, position: Position) -> int:
        return position.ply

    def legal_moves(self, position: Position) -> tuple[Move, ...]:
        if self.outcome(position) is not None:
            return ()
        return legal_moves(position.board, position.side, self.options)

    def apply(self, position: Position, move: Move) -> Position:
        board = position.board
        forgets = is_capture(board, move) and not self.options.shuttle
        past, moves = ((), ()) if forgets else ((*position.past, board), (*position.moves, move))
        return Position(after(board, move), position.side.other, position.ply + 1, past, moves)

    @lru_cache(maxsize=1 << 12)  # noqa: B019 - games live as long as the process
    def outcome(self, position: Position) -> Outcome | None:
        if by_board := board_outcome(position.board, position.side, self.options):
            return by_board
        if _is_repeated(position):
            return Outcome(position.side, THREEFOLD_REPETITION)
        if self.options.shuttle and _is_shuttled(position):
            return Outcome(position.side, SHUTTLE)
        return Outcome(None, MOVE_LIMIT) if position.ply >= MAX_PLIES else None

    def transform(self, position: Position, symmetry: Symmetry) -> Position:
        return position

    def transform_move(self, move: Move, symmetry: Symmetry) -> Move:
        return move

    def encode(self, position: Position) -> str:
        base = position.past[0] if position.past else position.board
        n_moves = len(position.moves)
        side = position.side if n_moves % 2 == 0 else position.side.other
        text = f"{_encode_board(base)}-{_SIDE_LETTERS[side]}{position.ply - n_moves}"
        return f"{text}-{''.join(map(_encode_move, position.moves))}" if n_moves else text

    def decode(self, text: str) -> Position:
        match = _POSITION.fullmatch(text)
        if match is None:
            raise InvalidPositionError(f"{text!r} is not a board, the side to move with the ply, and moves")
        board_text, side, ply, moves = match.groups()
        position = Position(_decode_board(board_text, text), Side(_SIDE_LETTERS.index(side)), int(ply))
        if not self.options.flip and any(code & FLIPPED_BIT for code in position.board):
            raise InvalidPositionError(f"{text!r} has flipped pieces, but this game has no flips")
        move_texts = _MOVE.findall(moves or "")
        if position.ply + len(move_texts) > MAX_PLIES:  # checked first, since each move takes longer than the last
            raise InvalidPositionError(
                f"{text!r} is not how this game writes any position of {MAX_PLIES} plies at most"
            )
        for move_text in move_texts:
            move = _decode_move(move_text)
            if not self._goes_on(position) or not is_legal(position.board, position.side, move, self.options):
                raise InvalidPositionError(f"{text!r} cannot go on with {format_action(move)!r}")
            position = self.apply(position, move)
        if self.encode(position) != text:
            raise InvalidPositionError(f"{text!r} is not how this game writes any position it can reach")
        return position

    def _goes_on(self, position: Position) -> bool:
        """Whether the game is not over, given that a legal move exists; cheaper than :meth:`outcome`."""
        return (
            _rhombus_outcome(position.board, position.side) is None
            and not _is_repeated(position)
            and not (self.options.shuttle and _is_shuttled(position))
        )

    def parse_move(self, text: str) -> Move:
        match = _ACTION.fullmatch(text)
        origin, target, turn = match.groups() if match else (None, None, None)
        if origin in CELL and (target or origin) in CELL:
            move = Move(CELL[origin], CELL[target or origin], KEPT if turn is None else int(turn))
            if format_action(move) == text:
                return move
        raise InvalidMoveError(f"{text!r} is not an action; actions are like '3-0>3-2', '3-4~' and '3-4@2'")

    def pieces(self, position: Position) -> tuple[str | None, ...]:
        return tuple(piece_name(code) if code else None for code in position.board)

    def path(self, move: Move) -> tuple[int, ...]:
        return (move.origin,) if move.origin == move.target else (move.origin, move.target)


_SIDE_LETTERS = "bw"
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxy"
"""One character for each cell, which keeps the text of a long game short."""
_POSITION = re.compile(r"([A-Za-z0-9~@.]+)-([bw])([0-9]{1,3})(?:-((?:[A-Za-y]{2}[0-5]?)+))?", re.ASCII)
_MOVE = re.compile(r"[A-Za-y]{2}[0-5]?", re.ASCII)
_SQUARE = re.compile(r"([1-9])|([A-Za-z]~?(?:@[1-5])?)", re.ASCII)
_ROW_STARTS = [PLACES.index((row, 0)) for row in range(PLACES[-1][0] + 1)] + [N_CELLS]
_ACTION = re.compile(r"([0-9]-[0-9])(?:>([0-9]-[0-9]))?(?:~|@([0-5]))?", re.ASCII)


def _encode_board(board: Board) -> str:
    """Encode the rows from the top, joined by ``.``; pieces by :func:`piece_name`, runs of empty cells by length."""
    rows = []
    for first, end in pairwise(_ROW_STARTS):
        row, n_empty = "", 0
        for code in [*board[first:end], None]:
            if code == 0:
                n_empty += 1
                continue
            row += str(n_empty) if n_empty else ""
            row += piece_name(code) if code is not None else ""
            n_empty = 0
        rows.append(row)
    return ".".join(rows)


def _decode_board(board_text: str, text: str) -> Board:
    """Decode a board. The caller checks that the text is canonical, by encoding the position again."""
    cells = bytearray()
    for row in board_text.split("."):
        for n_empty, name in _SQUARE.findall(row):
            cells += bytes(int(n_empty)) if n_empty else bytes([CODE_NAMED.get(name, 255)])
    if len(cells) != N_CELLS or 255 in cells:
        raise InvalidPositionError(f"{text!r} does not have a board of {N_CELLS} cells with known pieces")
    rhombuses = [side_of(code) for code in cells if kind_of(code) == RHOMBUS]
    if len(rhombuses) > len(set(rhombuses)):
        raise InvalidPositionError(f"{text!r} has two rhombuses of one colour")
    return Board(bytes(cells))


def _encode_move(move: Move) -> str:
    return _ALPHABET[move.origin] + _ALPHABET[move.target] + ("" if move.turn == KEPT else str(move.turn))


def _decode_move(text: str) -> Move:
    return Move(_ALPHABET.index(text[0]), _ALPHABET.index(text[1]), int(text[2]) if len(text) == 3 else KEPT)


ROMGONS = tuple(
    Romgon(Options(flip=flip, turn=turn, shape=shape, shuttle=shuttle))
    for flip, turn, shape, shuttle in sorted(product((False, True), repeat=4), key=lambda chosen: (sum(chosen), chosen))
)
"""The usual game and one game for every combination of options, 16 in all, with fewer options first."""
