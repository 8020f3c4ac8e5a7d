"""Perfect play and best responses on any graph, which the tests compare with exact strength."""

import numpy as np

from beadbox.kernels.best_response import best_response_loops
from beadbox.kernels.graph_arrays import GraphArrays
from beadbox.kernels.loops import evaluate_loops
from beadbox.rules.outcome import Side
from beadbox.strength.exact import Floats
from beadbox.strength.graph import DRAWN
from beadbox.strength.loops import ENDLESS, NO_PLIES, Solution, endless_points


def perfect_policy(graph: GraphArrays, solution: Solution) -> Floats:
    """Return the uniform policy over the moves of perfect play, ``(n_edges,)``.

    In a position that is won in a known number of plies these are the moves of the shortest wins: with any other
    winning move a player could go round in circles. Elsewhere they are all moves that keep the value.
    """
    policy = np.zeros(len(graph.successor))
    for node in range(len(graph.side)):
        edges = range(graph.indptr[node], graph.indptr[node + 1])
        is_won = solution.result[node] == -1 - graph.side[node] and solution.plies[node] != NO_PLIES
        perfect_edges = [
            edge for edge in edges if _is_perfect_move(graph, solution, node, int(graph.successor[edge]), is_won)
        ]
        policy[perfect_edges] = 1 / len(perfect_edges)
    return policy


def _is_perfect_move(graph: GraphArrays, solution: Solution, node: int, after: int, is_won: bool) -> bool:
    """Whether a move to ``after`` keeps the value of a node and, in a won node, belongs to a shortest win."""
    result = after if after < 0 else solution.result[after]
    if is_won:
        plies = 0 if after < 0 else solution.plies[after]
        return bool(result == solution.result[node] and plies == solution.plies[node] - 1)
    drawn = (DRAWN, ENDLESS)
    return bool(result == solution.result[node] or (result in drawn and solution.result[node] in drawn))


def points_of(value: Floats, side: Side, endless_winner: Side | None = None) -> Floats:
    """Return the points of ``side`` for chances ``(…, 4)``: 1 for a win, ½ for a draw; endless play by its winner."""
    points: Floats = value[..., side] + value[..., 2] / 2 + value[..., 3] * endless_points(side, endless_winner)
    return points


def best_response(
    graph: GraphArrays, side: Side, policy: Floats, endless_winner: Side | None = None
) -> tuple[Floats, Floats]:
    """Return the points of ``side`` at every node against a best response, and the response, ``(n_edges,)``.

    ``policy`` has the chances of the moves of ``side``. Several responses may earn these points; one is returned.
    """
    both = best_response_loops(*graph, policy, int(side), endless_points(side, endless_winner))
    ours = np.repeat(graph.side, np.diff(graph.indptr)) == side
    return points_of(evaluate_loops(*graph, both), side, endless_winner), np.where(ours, 0.0, both)
