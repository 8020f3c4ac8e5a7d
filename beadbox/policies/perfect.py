"""Perfect play by exhaustive search, for games small enough to enumerate."""

from functools import cache

from beadbox.policies.opponent import UniformOpponent
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition


@cache
def _solve_canonical(game: AnyGame, position: AnyPosition) -> tuple[int, int]:
    outcome = game.outcome(position)
    if outcome is not None:
        if outcome.winner is None:
            return 0, 0
        return (1 if outcome.winner is game.side_to_move(position) else -1), 0
    replies = [solve(game, game.apply(position, move)) for move in game.legal_moves(position)]
    value = max(-reply for reply, _ in replies)
    distances = [distance + 1 for reply, distance in replies if -reply == value]
    return value, max(distances) if value < 0 else min(distances)


def solve(game: AnyGame, position: AnyPosition) -> tuple[int, int]:
    """Return the value for the side to move (+1 win, 0 draw, −1 loss) and the plies to the end.

    The winner takes the shortest win and the loser the longest loss; a draw is reached in the fewest plies.
    """
    return _solve_canonical(game, game.canonical(position))


def move_values(game: AnyGame, position: AnyPosition) -> dict[AnyMove, tuple[int, int]]:
    """Map each legal move to its value for the side that plays it (+1, 0 or −1) and the plies to the end after it."""
    values = {}
    for move in game.legal_moves(position):
        value, distance = solve(game, game.apply(position, move))
        values[move] = (-value, distance)
    return values


class PerfectOpponent(UniformOpponent):
    """Uniform among the moves that keep the best result, however long a win takes."""

    slug = "perfect"
    name = "Perfect"
    summary = "Never makes a mistake."

    def plays(self, game: AnyGame) -> bool:
        return game.listable

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        values = move_values(game, position)
        best = max(value for value, _ in values.values())
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
        wanted = min(distances.values()) if best > 0 else max(distances.values())
        return tuple(move for move, distance in distances.items() if distance == wanted)
