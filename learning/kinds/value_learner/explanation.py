"""Sentences and numbers that explain the learnt value of a board and of a move."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from beadbox.kernels.exact_floats import WIN, squash, value_of_score
from beadbox.learners.value_learner.learner import Thought, ValueLearner
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import AnyPosition
from games.live.states import MoveWorth, PartsState, PartsThought
from games.models import Seat
from learning.exceptions import BoxNotFoundError

MAX_MOVES_SHOWN = 6
"""Maximum number of moves shown in a thought, best first; the move played is always among them."""


def board(machine: ValueLearner, position: AnyPosition) -> PartsState:
    """Return a position after a move as a sum of named parts, for the side that moved."""
    groups = machine.parts(position)
    total = sum(group.value for group in groups)
    return {
        "sum": total,
        "value": squash(total),
        "groups": [
            {
                "name": group.name,
                "value": group.value,
                "parts": [
                    {"name": part.name, "value": part.value, "weight": part.weight, "amount": part.amount}
                    for part in group.parts
                ],
            }
            for group in groups
        ],
    }


def thought(
    row: Seat,
    ply: int,
    machine: ValueLearner,
    position: AnyPosition,
    scores: Thought,
    url: str,
    *,
    anything: bool = False,
) -> PartsThought:
    """Return the evaluation ("thought") behind the move ``scores.chosen``, which was played in its seat at this ply.

    ``position`` is the position before the move, ``url`` the address of the machine's weights. ``anything`` says that
    the move was drawn at random.
    """
    game = machine.game
    moves = move_values(machine, position, scores)
    played_move = next(move for move in moves if move["chosen"])
    subject = f"{row.name} played {played_move['name']} for it" if row.is_human else f"It played {played_move['name']}"
    shown_moves = (
        moves[:MAX_MOVES_SHOWN]
        if played_move in moves[:MAX_MOVES_SHOWN]
        else [*moves[: MAX_MOVES_SHOWN - 1], played_move]
    )
    reason = "It left this move to chance." if anything else search_sentence(scores, machine)
    return {
        **board(machine, game.apply(position, game.parse_move(played_move["move"]))),
        "words": f"{subject}, out of {len(moves)} moves. {reason}",
        "ply": ply,
        "role": game.presentation.layout.roles[row.side],
        "depth": scores.depth,
        "n_moves": len(moves),
        "moves": shown_moves,
        "url": url,
    }


def move_values(machine: ValueLearner, position: AnyPosition, scores: Thought) -> list[MoveWorth]:
    """Return every legal move with its value, best first.

    Moves are sorted by their search results; if some are missing, by the values of the boards after the moves.
    """
    game, discount, moves = machine.game, machine.rule.value_discount, machine.game.legal_moves(position)
    sort_scores = scores.near if None in scores.deep else scores.deep
    return [
        {
            "move": game.format_move(moves[index]),
            "name": game.presentation.tell_move(position, moves[index]),
            "path": game.presentation.path_ids(moves[index]),
            "board": value_of_score(scores.near[index], discount),
            "found": None if (deep := scores.deep[index]) is None else value_of_score(deep, discount),
            "chosen": index == scores.chosen,
        }
        for index in sorted(range(len(moves)), key=lambda index: -(sort_scores[index] or 0.0))
    ]


def position_view(machine: ValueLearner, text: str) -> dict[str, object]:
    """Return the value of a position for the side that moved last, and of every move of the side to move.

    Raises:
        BoxNotFoundError: the text is no position of the game.
    """
    game = machine.game
    try:
        position = game.decode(text)
    except InvalidPositionError as error:
        raise BoxNotFoundError(error.sentence) from None
    roles, side, outcome = game.presentation.layout.roles, game.side_to_move(position), game.outcome(position)
    moves, choice, depth = list[dict[str, Any]](), None, machine.rule.play_depth
    if outcome is None:
        best, scores = machine.think(position, whole=True, time_limit_s=settings.AI_TIME_BUDGET_S)
        depth = scores.depth
        choice = board(machine, game.apply(position, best))
        moves = [
            {
                **{field: move[field] for field in ("move", "name", "board", "found")},
                "best": move["chosen"],
                "next": game.encode(game.apply(position, game.parse_move(move["move"]))),
            }
            for move in move_values(machine, position, scores)
        ]
    return {
        "position": text,
        "role": roles[side],
        "moved": roles[side.other],
        "over": None if outcome is None else game.presentation.reasons[outcome.termination],
        "depth": depth,
        "play_depth": machine.rule.play_depth,
        "here": board(machine, position) if game.ply(position) else None,
        "choice": choice,
        "moves": moves,
    }


def search_sentence(scores: Thought, machine: ValueLearner) -> str:
    """Return a sentence on the search result of the chosen move, and a second one if time ended the search early."""
    score, depth, full_depth = scores.deep[scores.chosen], scores.depth, machine.rule.play_depth
    too_late = f" For {full_depth} moves there was no time." if depth < full_depth else ""
    return f"{_result_words(score, depth, machine.rule.value_discount)}{too_late}"


def _result_words(score: float | None, depth: int, discount: float) -> str:
    ahead = "one move" if depth == 1 else f"{depth} moves"
    if score is None:
        return f"It looked {ahead} ahead."
    if abs(score) < WIN / 2:
        return f"Looking {ahead} ahead, it found {signed(value_of_score(score, discount))}."
    n_moves = round(WIN - abs(score))
    if score < 0:
        return "It saw nothing but a loss." if n_moves > 1 else "It loses with that."
    return "It wins with that." if n_moves == 1 else f"It saw a win, {n_moves} moves away."


def signed(number: float) -> str:
    """Return a number with its sign and two decimals."""
    return f"{'−' if number < 0 else '+'}{abs(number):.2f}"
