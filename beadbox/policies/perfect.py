"""Perfect play by exhaustive search, for games with a list of their positions.

Games that always end are searched to the end. Games in which positions can return are solved by retrograde analysis.
"""

from functools import cache

from beadbox.policies.opponent import UniformOpponent
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.strength import loops
from beadbox.strength.graph import DRAWN

ENDLESS_PLIES = 1 << 30
"""The plies to the end of a game that no side can bring to an end."""


@cache
def _solve_canonical(game: AnyGame, position: AnyPosition) -> tuple[int, int]:
    outcome = game.outcome(position)
    if outcome is not None:
        return _value(outcome.winner, game.side_to_move(position)), 0
    replies = [solve(game, game.apply(position, move)) for move in game.legal_moves(position)]
    value = max(-reply for reply, _ in replies)
    distances = [distance + 1 for reply, distance in replies if -reply == value]
    return value, max(distances) if value < 0 else min(distances)


def solve(game: AnyGame, position: AnyPosition) -> tuple[int, int]:
    """Return the value for the side to move (+1 win, 0 draw, −1 loss) and the plies to the end.

    The winner takes the shortest win and the loser the longest loss; a draw is reached in the fewest plies. The plies
    are :data:`ENDLESS_PLIES` if positions can return and no side can force an end.
    """
    if game.always_ends:
        return _solve_canonical(game, game.canonical(position))
    outcome = game.outcome(position)
    if outcome is not None:
        return _value(outcome.winner, game.side_to_move(position)), 0
    graph, solved = loops.solution_of(game)
    node = graph.node_id[game.canonical(position)]
    result, plies = int(solved.result[node]), int(solved.plies[node])
    winner = None if result in (DRAWN, loops.ENDLESS) else Side(-1 - result)
    return _value(winner, game.side_to_move(position)), ENDLESS_PLIES if plies == loops.NO_PLIES else plies


def _value(winner: Side | None, side: Side) -> int:
    return 0 if winner is None else 1 if winner is side else -1


def move_values(game: AnyGame, position: AnyPosition) -> dict[AnyMove, tuple[int, int]]:
    """Map each legal move to its value for the side that plays it (+1, 0 or −1) and the plies to the end after it."""
    values = {}
    for move in game.legal_moves(position):
        value, distance = solve(game, game.apply(position, move))
        values[move] = (-value, distance)
    return values


class PerfectOpponent(UniformOpponent):
    """Uniform among the moves that keep the best result, however long a win takes.

    If positions can return, a player that takes any winning move could go round in circles. There it takes the moves of
    the shortest win, where a win in a known number of plies exists.
    """

    slug = "perfect"
    name = "Perfect"
    summary = "Never makes a mistake."

    def plays(self, game: AnyGame) -> bool:
        return game.listable

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        values = move_values(game, position)
        best = max(value for value, _ in values.values())
        if best > 0 and not game.always_ends:
            shortest = min(plies for value, plies in values.values() if value == best)
            return tuple(move for move, found in values.items() if found == (best, shortest))
        return tuple(move for move, (value, _) in values.items() if value == best)


class PerfectFastOpponent(UniformOpponent):
    """Uniform among the best moves with the shortest win or the longest loss, or among all that keep a draw."""

    slug = "perfect-fast"
    name = "Perfect and quick"
    summary = "Never makes a mistake, and wins as quickly as it can."

    def plays(self, game: AnyGame) -> bool:
        return game.listable

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        values = move_values(game, position)
        best = max(value for value, _ in values.values())
        distances = {move: distance for move, (value, distance) in values.items() if value == best}
        if best == 0:
            return tuple(distances)
        best_distance = min(distances.values()) if best > 0 else max(distances.values())
        return tuple(move for move, distance in distances.items() if distance == best_distance)
