"""Plain minimax in readable Python. Tests check that the compiled search returns exactly the same values.

Source: ``docs/rules/romgon.md``, section on the search.
"""

from __future__ import annotations

from collections.abc import Callable

from beadbox.engines.romgon.evaluation import Terms, evaluate
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.moves import CORE, Move, Options, after, legal_moves
from beadbox.rules.romgon.pieces import GOALS, RHOMBUS, Board, kind_of

WIN = 1_000_000
"""A win with the ``k``-th action has the value ``WIN - k``."""


def full_value(terms: Terms) -> float:
    """Return the value of a leaf at levels that use all six terms."""
    return sum(terms)


def plain_value(terms: Terms) -> float:
    """Return the value of a leaf at plain levels such as ``medium``: material and advancement."""
    return terms.material + terms.advancement


def ranking(
    board: Board, side: Side, options: Options = CORE, *, depth: int, leaf: Callable[[Terms], float] = full_value
) -> list[tuple[Move, float]]:
    """Return all legal actions with their values, best first, ties in canonical order."""
    values = [
        (move, _value(board, move, side, side, options, depth, 1, leaf)) for move in legal_moves(board, side, options)
    ]
    return sorted(values, key=lambda pair: -pair[1])


def is_won_by(board: Board, move: Move, side: Side) -> bool:
    """Return whether the action captures a rhombus or moves the rhombus of ``side`` to its goal."""
    if move.origin == move.target:
        return False
    return RHOMBUS in (
        kind_of(board[move.target]),
        kind_of(board[move.origin]) if move.target == GOALS[side] else None,
    )


def _value(
    board: Board,
    move: Move,
    side: Side,
    root: Side,
    options: Options,
    depth: int,
    k: int,
    leaf: Callable[[Terms], float],
) -> float:
    """Return the value for ``root`` of the ``k``-th action of a line, made by ``side``, at search depth ``depth``."""
    next_board = after(board, move)
    replies = legal_moves(next_board, side.other, options)
    if is_won_by(board, move, side) or not replies:
        return (WIN - k) * (1 if side == root else -1)
    if depth == 1:
        return leaf(evaluate(next_board, root, options))
    values = (_value(next_board, reply, side.other, root, options, depth - 1, k + 1, leaf) for reply in replies)
    return min(values) if side == root else max(values)
