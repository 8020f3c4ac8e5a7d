"""Advice on any game: from a fixed opponent, from exact values, or from a machine's beads.

Answers have the fields of Romgon's answers, with the game's own texts for moves. Values are for the side to move:
1 for a win, 0 for a draw, -1 for a loss, and ``None`` if the game is too large to solve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from beadbox.policies.perfect import move_values, solve
from beadbox.policies.registry import LEVELS
from beadbox.rules.chance import Random
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Outcome, Side
from learning.advice.adviser import Adviser
from learning.advice.question import COLOURS, AdviceError, read_flip_mode, read_level, read_side, require

WIN, DRAW, LOSS = 1, 0, -1
"""Values of a position for the side to move."""


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question. ``level`` is the key in ``LEVELS`` of the opponent that answers; machines ignore it."""

    game: AnyGame
    position: AnyPosition
    flip_mode: bool
    level: str


def sides_of(game: AnyGame) -> dict[str, Side]:
    """Return the sides by their accepted names: the colour of a side, and its role in the game."""
    return COLOURS | {role: Side(index) for index, role in enumerate(game.presentation.layout.roles)}


@cache
def alphabet(game: AnyGame) -> dict[str | None, str]:
    """Return the character for each piece, and for an empty cell (``None``), in the texts of positions.

    The characters are inferred from three positions at the beginning of a game. The text of a position must begin with
    one character for each cell, in the order of the layout. For games with another notation the result is empty, and
    boards cannot be set up cell by cell.
    """
    pairs: dict[tuple[str | None, str], None] = {}  # a dictionary keeps the order in which the pairs were seen
    position = game.initial_position()
    for _ in range(3):
        if game.is_terminal(position):
            break
        pairs |= dict.fromkeys(zip(game.pieces(position), game.encode(position), strict=False))
        position = game.apply(position, game.legal_moves(position)[0])
    characters: dict[str | None, str] = dict(pairs.keys())
    return characters if len(characters) == len(pairs) == len(set(characters.values())) else {}


class OpenedBox(Protocol):
    """A box that a machine opened: its beads by slot, the drawn slot, and whether the box was refilled."""

    @property
    def box(self) -> str: ...
    @property
    def beads(self) -> Sequence[int]: ...
    @property
    def slot(self) -> int | None: ...
    @property
    def refilled(self) -> bool: ...


class FrozenPolicy(Protocol):
    """A machine with boxes that does not learn."""

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        """Return the probability of every legal move."""

    def choose(self, position: AnyPosition, rng: Random) -> tuple[AnyMove | None, OpenedBox | None]:
        """Return the move (``None`` to resign) and the opened box (``None`` if the machine opens none)."""


def _result(game: AnyGame, position: AnyPosition, outcome: Outcome) -> int:
    """Return the value of a finished position for the side to move."""
    if outcome.winner is None:
        return DRAW
    return WIN if outcome.winner is game.side_to_move(position) else LOSS


def _read_position(game: AnyGame, board: Any, side: Side | None) -> Any:
    if isinstance(board, list):
        board = _text_of(game, board)
    if not isinstance(board, str):
        raise AdviceError("Invalid board", "The board is a text, or a list with an entry for each cell.")
    try:
        position = game.decode(board) if side is None else game.decode_as(board, side)
    except InvalidPositionError as error:
        raise AdviceError("Invalid board", error.sentence) from None
    if side is not None and game.side_to_move(position) is not side:
        names = game.presentation.layout.role_names
        raise AdviceError("Invalid board", f"In {board!r} it is the turn of {names[side.other]}, not of {names[side]}.")
    return position


def _text_of(game: AnyGame, cells: list[Any]) -> str:
    """Return the text of a board from a list with a piece (name or character) or ``None`` for each cell."""
    characters = alphabet(game)
    if not characters:
        raise AdviceError("Invalid board", f"A board of {game.name} is a text, as its positions are written.")
    names: dict[str | None, str] = {character: character for character in characters.values()}
    names |= characters
    if len(cells) != len(game.presentation.layout.cells) or not all(
        (cell is None or isinstance(cell, str)) and cell in names for cell in cells
    ):
        accepted = ", ".join(repr(name) for name in names if name is not None)
        raise AdviceError(
            "Invalid board", f"A list has {len(game.presentation.layout.cells)} entries: null, {accepted}."
        )
    return "".join(names[cell] for cell in cells)


def _moves_view(game: AnyGame, position: AnyPosition) -> dict[Any, dict[str, Any]]:
    """Return the JSON of each legal move, by move, in the order of the rules."""
    values = move_values(game, position) if game.listable else {}
    return {
        move: {
            "move": game.format_move(move),
            "name": game.presentation.describe_move(move),
            "evaluation": values[move][0] if values else None,
            "notation": game.format_move(move),
        }
        for move in game.legal_moves(position)
    }


def _paths(game: AnyGame, position: AnyPosition) -> dict[str, list[str]]:
    """Return the ids of the cells on the path of each legal move, by the text of the move."""
    return {game.format_move(move): game.presentation.path_ids(move) for move in game.legal_moves(position)}


def _box_view(frozen_policy: Any, position: AnyPosition, draw: OpenedBox) -> dict[str, Any]:
    game = frozen_policy.game
    return {
        "position": draw.box,
        "beads": list(draw.beads),
        "moves": [[game.format_move(move) for move in moves] for moves in frozen_policy.cabinet.slot_moves(position)],
        "slot": draw.slot,
        "refilled": draw.refilled,
    }


def _status(game: AnyGame, outcome: Outcome | None) -> dict[str, Any]:
    winner = None if outcome is None or outcome.winner is None else game.presentation.layout.roles[outcome.winner]
    reason = None if outcome is None else outcome.termination
    return {"over": outcome is not None, "winner": winner, "reason": reason, "inCheck": False}


class AnyGameAdviser(Adviser[Question, FrozenPolicy]):
    """Adviser for every game without an adviser of its family."""

    def read(self, game: AnyGame, fields: Mapping[str, object]) -> Question:
        require(fields, colour=False)
        side = read_side(fields, sides_of(game))
        position = _read_position(game, fields["board"], side)
        flip_mode = read_flip_mode(fields)
        levels = [level for level, opponent in LEVELS.items() if opponent.plays(game)]
        if fields.get("difficulty") is None and "hard" not in levels:
            fields = {**fields, "difficulty": levels[-1]}
        return Question(game, position, flip_mode, read_level(fields, levels))

    def game_and_position(self, question: Question) -> tuple[AnyGame, AnyPosition]:
        return question.game, question.position

    def start(self, game: AnyGame) -> Question:
        return Question(game, game.initial_position(), flip_mode=False, level="easy")

    def move(self, question: Question, rng: Random, *, time_limit_s: float) -> dict[str, object]:
        """Return the move of the opponent at this level, and every legal move with its exact value, best first.

        ``rng`` breaks ties of the opponent.
        """
        game, position = question.game, question.position
        common_fields = {
            "difficulty": question.level,
            "flipModeEnabled": question.flip_mode,
            "paths": _paths(game, position),
        }
        if (outcome := game.outcome(position)) is not None:
            return {"move": None, "evaluation": _result(game, position, outcome), "candidateMoves": [], **common_fields}
        chosen = LEVELS[question.level].choose(game, position, rng)
        views = _moves_view(game, position)
        return {
            "move": views[chosen],
            "evaluation": views[chosen]["evaluation"],
            "candidateMoves": sorted(views.values(), key=lambda view: -(view["evaluation"] or 0)),
            **common_fields,
        }

    def machine(self, question: Question, frozen_policy: FrozenPolicy, rng: Random) -> dict[str, object]:
        """Return the machine's move, the opened box, and every legal move with its probability, likeliest first.

        ``move`` is ``None`` if the box is empty: the machine resigns, which is a loss. ``box`` is ``None`` if the
        machine opens no box. The machine does not learn.
        """
        game, position = question.game, question.position
        common_fields = {"difficulty": None, "flipModeEnabled": question.flip_mode, "paths": _paths(game, position)}
        if (outcome := game.outcome(position)) is not None:
            value = _result(game, position, outcome)
            return {"move": None, "evaluation": value, "candidateMoves": [], **common_fields, "box": None}
        chances = frozen_policy.policy(position)
        chosen, draw = frozen_policy.choose(position, rng)
        views = {move: {**view, "probability": chances[move]} for move, view in _moves_view(game, position).items()}
        return {
            "move": None if chosen is None else views[chosen],
            "evaluation": LOSS if chosen is None else views[chosen]["evaluation"],
            "candidateMoves": sorted(views.values(), key=lambda view: -view["probability"]),
            **common_fields,
            "box": None if draw is None else _box_view(frozen_policy, position, draw),
        }

    def evaluation(self, question: Question) -> dict[str, object]:
        """Return the value for the side to move, the legal moves with their values, and the status of the game."""
        game, position = question.game, question.position
        outcome = game.outcome(position)
        evaluation, terms = None if outcome is None else _result(game, position, outcome), {}
        if game.listable:
            evaluation, plies = solve(game, position)
            terms = {"pliesToEnd": plies}
        return {
            "evaluation": evaluation,
            "flipModeEnabled": question.flip_mode,
            "legalMoves": list(_moves_view(game, position).values()),
            "paths": _paths(game, position),
            "terms": terms,
            "status": _status(game, outcome),
        }

    def form(self, game: AnyGame) -> dict[str, object]:
        side_names = {side: name for name, side in reversed(sides_of(game).items())}
        return {
            "pieces": [(piece, piece) for piece in alphabet(game) if piece is not None],
            "types": [],
            "sides": [
                (side_names[side], name) for side, name in zip(Side, game.presentation.layout.role_names, strict=True)
            ],
            "levels": [[(level, level) for level, opponent in LEVELS.items() if opponent.plays(game)]],
            "flips": False,
            "in_points": False,
        }
