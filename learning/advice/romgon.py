"""Advice on Romgon (docs/ai.md). A question lists the piece on each hex; an answer lists actions with their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from beadbox.engines.engine import Candidate
from beadbox.engines.romgon.answers import terms
from beadbox.engines.romgon.levels import LEVELS, answer, ladder_measurements, supports_level
from beadbox.learners import choice
from beadbox.learners.choice import Chosen
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.geometry import CELL, IDS
from beadbox.rules.romgon.moves import KEPT, Move, Options, in_check, is_capture, legal_moves
from beadbox.rules.romgon.pieces import (
    BLACK,
    HEXGON,
    LETTERS,
    N_ROTATIONS,
    RHOMBUS,
    SQUARE,
    START,
    TYPE_NAMES,
    WHITE,
    Board,
    Piece,
    board_of,
    kind_of,
)
from beadbox.rules.romgon.rules import Position, Romgon, board_outcome
from learning.advice.adviser import Adviser
from learning.advice.question import AdviceError, abbreviated, read_flip_mode, read_level, read_side, require

SIDES = {"white": WHITE, "black": BLACK}
PIECE_KINDS = {name: kind for kind, name in enumerate(TYPE_NAMES) if name} | {"hexagon": TYPE_NAMES.index("hexgon")}
"""Kinds of piece by the names that clients may send: the name "hexgon" is the game's, "hexagon" a common variant."""
_EXAMPLE = 'such as {"3-0": {"color": "white", "type": "rhombus"}}'
_COLOURS = {side: colour for colour, side in SIDES.items()}


@dataclass(frozen=True, slots=True)
class Question:
    """A parsed question: a board, the side that asks, the options of the game, and the level, a key of ``LEVELS``."""

    board: Board
    side: Side
    options: Options
    level: str


def levels_of(game: Romgon) -> list[str]:
    """Return the slugs of all levels that can be requested for the game, even those outside its ladder."""
    return [slug for slug, level in LEVELS.items() if supports_level(game, level)]


class ValuingPolicy(Protocol):
    """A machine with learnt values that neither explores nor learns."""

    def best(self, position: Position) -> Chosen | None:
        """Return the machine's choice with the value of every legal action; ``None`` if the game is over."""


def _machine_view(board: Board, chosen: Chosen, candidate: choice.Candidate) -> dict[str, Any]:
    """Return an action of a machine as JSON. Machines and engines have different classes ``Candidate``."""
    return {
        **_candidate_view(board, Candidate(cast("Move", candidate.move), candidate.total)),
        "probability": int(candidate.move == chosen.move),
        "value": candidate.value,
        "outlook": candidate.evaluation / choice.OUTLOOK,
    }


def _read_pieces(board: Any) -> dict[int, Piece]:
    """Parse the pieces of a board; return a dictionary from cells to pieces.

    Raises:
        AdviceError: the board is invalid.
    """
    if not isinstance(board, dict):
        raise AdviceError(
            "Invalid board", f"board is an object with a piece by hex, {_EXAMPLE}, not {abbreviated(board)}."
        )
    unknown = next((hex_id for hex_id in board if hex_id not in CELL), None)
    if unknown is not None:
        raise AdviceError(
            "Invalid board", f"There is no hex {abbreviated(unknown)}. Hexes are named row-column, such as 3-0."
        )
    pieces = {CELL[hex_id]: _read_piece(hex_id, piece) for hex_id, piece in board.items() if piece is not None}
    rhombuses = [piece.side for piece in pieces.values() if piece.kind == RHOMBUS]
    if len(rhombuses) > len(set(rhombuses)):
        raise AdviceError("Invalid board", "A side has at most one rhombus.")
    return pieces


def _read_piece(hex_id: str, fields: Any) -> Piece:
    if not isinstance(fields, dict):
        raise AdviceError(
            "Invalid board", f"The piece on {hex_id} is an object, {_EXAMPLE}, not {abbreviated(fields)}."
        )
    colour, kind = fields.get("color"), fields.get("type")
    flipped, rotation = fields.get("flipped"), fields.get("rotation")
    if not (isinstance(colour, str) and colour in SIDES):
        raise _wrong(hex_id, "color", colour, " or ".join(SIDES))
    if not (isinstance(kind, str) and kind in PIECE_KINDS):
        raise _wrong(hex_id, "type", kind, f"one of {', '.join(PIECE_KINDS)}")
    if not (flipped is None or isinstance(flipped, bool)):
        raise _wrong(hex_id, "flipped", flipped, "true or false")
    if not (rotation is None or type(rotation) is int):  # a Boolean is an int in Python, but no valid rotation
        raise _wrong(hex_id, "rotation", rotation, "a whole number")
    return Piece(SIDES[colour], PIECE_KINDS[kind], flipped is True, rotation or 0)


def _wrong(hex_id: str, field: str, value: Any, right: str) -> AdviceError:
    return AdviceError("Invalid board", f"The {field} of the piece on {hex_id} is {right}, not {abbreviated(value)}.")


def _candidate_view(board: Board, candidate: Candidate[Move]) -> dict[str, Any]:
    move = candidate.move
    kind_suffix = " F" if move.is_flip else " C" if is_capture(board, move) else ""
    rotation_suffix = "" if move.turn == KEPT else f"@{move.turn}"
    return {
        **_action_view(board, move),
        "evaluation": _number(candidate.value),
        "notation": f"{IDS[move.origin]}→{IDS[move.target]}{kind_suffix}{rotation_suffix}",
    }


def _action_view(board: Board, move: Move) -> dict[str, Any]:
    captures = is_capture(board, move)
    view = {"from": IDS[move.origin], "to": IDS[move.target], "isCapture": captures, "isFlip": move.is_flip}
    if captures:
        view["captured"] = TYPE_NAMES[kind_of(board[move.target])]
    if move.turn != KEPT:
        view["rotation"] = move.turn
    return view


def _number(value: float) -> float:
    """Convert a whole number to an integer, so that JSON has 0 for 0.0 and for -0.0."""
    return int(value) if value == int(value) else value


def _levels_described(mode: str) -> list[tuple[str, str]]:
    """Return the slug and the description of each rated level, weakest first.

    ``mode`` is ``plain`` for games without flips, or ``flips``.
    """
    ratings = sorted(ladder_measurements()[mode].ratings.items(), key=lambda item: item[1])
    return [
        (slug, ", ".join(filter(None, (slug, LEVELS[slug].suitable_for, rating.words)))) for slug, rating in ratings
    ]


class RomgonAdviser(Adviser[Question, ValuingPolicy]):
    """Adviser for games of the Romgon family; ``flipModeEnabled`` adds flip mode to the game."""

    def read(self, game: Romgon, fields: Mapping[str, object]) -> Question:  # type: ignore[override]  # only games of Romgon's family
        """Parse a question about this game; ``flipModeEnabled`` adds flip mode to its options."""
        require(fields, colour=True)
        side = read_side(fields, SIDES)
        assert side is not None, "a colour was required"
        pieces = _read_pieces(fields["board"])
        options = replace(game.options, flip=read_flip_mode(fields) or game.options.flip)
        level = read_level(fields, levels_of(Romgon(options)))
        return Question(board_of(pieces, flips=options.flip), side, options, level)

    def game_and_position(self, question: Question) -> tuple[AnyGame, Position]:
        return cast("AnyGame", Romgon(question.options)), Position(question.board, question.side)

    def start(self, game: Romgon) -> Question:  # type: ignore[override]  # only games of Romgon's family
        return Question(START, BLACK, game.options, "hard")

    def move(self, question: Question, rng: Random, *, time_limit_s: float) -> dict[str, object]:
        """Return the engine's action at this level, and the best five actions, best first.

        A deep search that exceeds ``time_limit_s`` answers from the last completed depth, which is ``depth`` in the
        answer. Other levels need no time limit: they look at most two actions ahead, which takes a few milliseconds.
        """
        board, level = question.board, LEVELS[question.level]
        limit = time_limit_s if level.is_deep else None
        search_answer = answer(board, question.side, question.options, level=level, rng=rng, time_limit_s=limit)
        chosen = None if search_answer.chosen is None else _candidate_view(board, search_answer.chosen)
        return {
            "move": chosen,
            "evaluation": 0 if chosen is None else chosen["evaluation"],
            "candidateMoves": [_candidate_view(board, candidate) for candidate in search_answer.candidates],
            "difficulty": question.level,
            "flipModeEnabled": question.options.flip,
            "depth": search_answer.depth,
        }

    def machine(self, question: Question, frozen_policy: ValuingPolicy, rng: Random) -> dict[str, object]:
        """Return the best action of a machine with learnt values, and every legal action, best first.

        The machine neither explores nor learns. It chooses by ``evaluation``, which is Q + E/100: Q is the learnt value
        of the action, and E is the engine's evaluation of the board after the action.
        """
        board = question.board
        chosen = frozen_policy.best(Position(board, question.side))
        views = [] if chosen is None else [_machine_view(board, chosen, candidate) for candidate in chosen.candidates]
        move = None if chosen is None else views[chosen.index]
        return {
            "move": move,
            "evaluation": 0 if move is None else move["evaluation"],
            "candidateMoves": sorted(views, key=lambda view: -view["evaluation"]),
            "difficulty": None,
            "flipModeEnabled": question.options.flip,
            "depth": 0 if chosen is None else chosen.depth,
            "box": None,
        }

    def evaluation(self, question: Question) -> dict[str, object]:
        """Return the value for the side that asks, term by term, its legal actions, and the status of the game."""
        board, side, options = question.board, question.side, question.options
        evaluation_terms = terms(board, side, options)
        outcome = board_outcome(board, side, options)
        return {
            "evaluation": _number(sum(evaluation_terms)),
            "flipModeEnabled": options.flip,
            "legalMoves": [_action_view(board, move) for move in legal_moves(board, side, options)],
            "terms": {name: _number(value) for name, value in evaluation_terms._asdict().items()},
            "status": {
                "over": outcome is not None,
                "winner": None if outcome is None or outcome.winner is None else _COLOURS[outcome.winner],
                "reason": None if outcome is None else outcome.termination,
                "inCheck": in_check(board, side),
            },
        }

    def form(self, game: AnyGame) -> dict[str, object]:
        kinds = range(SQUARE, HEXGON + 1)
        return {
            "pieces": [
                (LETTERS[kind] if colour == "white" else LETTERS[kind].lower(), f"{colour} {TYPE_NAMES[kind]}")
                for colour in SIDES
                for kind in kinds
            ],
            "types": [
                {"letter": LETTERS[kind], "name": TYPE_NAMES[kind], "rotations": N_ROTATIONS[kind]} for kind in kinds
            ],
            "sides": [
                (_COLOURS[side], name) for side, name in zip(Side, game.presentation.layout.role_names, strict=True)
            ],
            "levels": [_levels_described(mode) for mode in ("plain", "flips")],
            "flips": True,
            "in_points": True,
        }
