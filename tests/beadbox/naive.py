"""Strength by plain recursion over boards, without a graph, symmetry or arrays."""

from functools import cache

from beadbox.rules.outcome import Side

POINTS = (1.0, 0.5, 0.0)
"""The points of a win, a draw and a loss."""


def chances(game, side, policy_of, reply_chances):
    """Win, draw and loss of ``side``, which plays ``policy_of(position)`` against ``reply_chances(position)``.

    A policy without any chance is a resignation of the side to move.
    """

    @cache
    def of(position):
        ended = result_chances(game, side, position)
        if ended is not None:
            return ended
        ours = game.side_to_move(position) is side
        policy = (policy_of if ours else reply_chances)(position)
        if not any(policy.values()):
            return (0.0, 0.0, 1.0) if ours else (1.0, 0.0, 0.0)
        after = [(chance, of(game.apply(position, move))) for move, chance in policy.items() if chance]
        return tuple(sum(chance * value[result] for chance, value in after) for result in range(3))

    return of(game.initial_position())


def worst_points(game, side, policy_of):
    """The fewest points of ``side`` against an opponent that knows its policy."""

    @cache
    def of(position):
        ended = result_chances(game, side, position)
        if ended is not None:
            return sum(p * chance for p, chance in zip(POINTS, ended, strict=True))
        after = {move: game.apply(position, move) for move in game.legal_moves(position)}
        if game.side_to_move(position) is not side:
            return min(map(of, after.values()))
        return sum(chance * of(after[move]) for move, chance in policy_of(position).items() if chance)

    return of(game.initial_position())


def result_chances(game, side, position):
    """The result as chances where the game is over, else ``None``."""
    outcome = game.outcome(position)
    if outcome is None:
        return None
    if outcome.winner is None:
        return (0.0, 1.0, 0.0)
    return (1.0, 0.0, 0.0) if outcome.winner is side else (0.0, 0.0, 1.0)


def uniform(game, opponent):
    """The reply chances of a fixed opponent."""

    def chances_at(position):
        replies = opponent.replies(game, position)
        return dict.fromkeys(replies, 1 / len(replies))

    return chances_at


def minimax(game):
    """The value of a position for the first side (1, 0 or −1), by plain search."""

    @cache
    def of(position):
        ended = result_chances(game, Side.FIRST, position)
        if ended is not None:
            return int(ended[0] - ended[2])
        values = [of(game.apply(position, move)) for move in game.legal_moves(position)]
        return max(values) if game.side_to_move(position) is Side.FIRST else min(values)

    return of
