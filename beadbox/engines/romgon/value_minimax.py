"""Plain minimax with a learnt value, in readable Python. Tests check that the compiled search gives equal scores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.position_values import LearntPlayer, PartGroup, SearchResult, Valuer, WeightSheet
from beadbox.engines.romgon.features import FEATURE_SETS, feature_text, features, refusal
from beadbox.engines.romgon.minimax import is_won_by
from beadbox.engines.romgon.parts import parts, sheet
from beadbox.kernels.exact_floats import WIN, rounded_weight
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.moves import Move, Options, after, legal_moves
from beadbox.rules.romgon.pieces import Board, kind_of
from beadbox.rules.romgon.rules import Position, Romgon


class ReadableValuer(Valuer[Romgon, Position, Move]):
    """Features and search for Romgon in plain Python, which is readable but slow."""

    feature_set_sizes = FEATURE_SETS
    describe_feature: Callable[..., str] = staticmethod(feature_text)

    def refusal(self, game: Romgon) -> str:
        return refusal(game.options)

    def features(self, position: Position, feature_set: str) -> dict[int, float]:
        return features(position.board, position.side.other, feature_set)

    def parts(self, position: Position, weights: NDArray[np.float64], feature_set: str) -> tuple[PartGroup, ...]:
        return parts(position.board, position.side.other, self.features(position, feature_set), weights)

    def sheet(self, game: Romgon, feature_set: str) -> WeightSheet:
        return sheet(feature_set, flips=game.options.flip)

    def search(
        self,
        game: Romgon,
        position: Position,
        player: LearntPlayer,
        *,
        whole: bool = False,
        time_limit_s: float | None = None,
    ) -> SearchResult[Move]:
        """Return the scores as the base class specifies, but always exact and without a time limit."""
        board, side, options, weights = position.board, position.side, game.options, player.weights
        moves = legal_moves(board, side, options)
        barred = [loses_by_history(game, position, move) for move in moves]
        near = [_value(board, move, side, options, weights, 1, 1) for move in moves]
        deep = [_value(board, move, side, options, weights, player.depth, 1) for move in moves]
        for index, move in enumerate(moves):
            if barred[index]:
                near[index] = deep[index] = 1 - WIN
            elif abs(deep[index]) < WIN / 2:
                deep[index] -= rounded_weight(player.restlessness) * n_visits(position, move)
        return SearchResult(moves, tuple(near), tuple(deep), max(range(len(moves)), key=deep.__getitem__), player.depth)


def loses_by_history(game: Romgon, position: Position, move: Move) -> bool:
    """Return whether an action loses the game at once by repetition or shuttling."""
    if not game.options.shuttle and after(position.board, move) not in position.past:
        return False
    outcome = game.outcome(game.apply(position, move))
    return outcome is not None and outcome.winner is position.side.other


def n_visits(position: Position, move: Move) -> int:
    """Return the number of earlier actions of the side to move by the same kind of piece on the same target cell.

    Moves are counted for a move, and flips for a flip.
    """
    kind = kind_of(position.board[move.origin])
    own_plies = range(len(position.moves) - 2, -1, -2)
    return sum(
        position.moves[ply].target == move.target
        and position.moves[ply].is_flip == move.is_flip
        and kind_of(position.past[ply][position.moves[ply].origin]) == kind
        for ply in own_plies
    )


def _value(
    board: Board, move: Move, side: Side, options: Options, weights: NDArray[np.float64], depth: int, k: int
) -> float:
    """Return the value of the ``k``-th action of a line for the side that makes it, at search depth ``depth``."""
    next_board = after(board, move)
    replies = legal_moves(next_board, side.other, options)
    if is_won_by(board, move, side) or not replies:
        return WIN - k
    if depth > 1:
        return -max(_value(next_board, reply, side.other, options, weights, depth - 1, k + 1) for reply in replies)
    return board_score(next_board, side, weights)


def board_score(board: Board, me: Side, weights: NDArray[np.float64]) -> float:
    """Return the weighted sum of the features of a board on which ``me`` has just acted."""
    feature_set = next(name for name, n_weights in FEATURE_SETS.items() if n_weights == len(weights))
    return float(sum(weights[index] * amount for index, amount in features(board, me, feature_set).items()))
