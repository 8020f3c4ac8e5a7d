"""Strength by plain recursion over boards, without a graph, symmetry or arrays."""

from functools import cache

from beadbox.rules.outcome import Side

POINTS = (1.0, 0.5, 0.0)
"""The points of a win, a draw and a loss."""


def chances(game, side, policy_of, reply_chances):
    """Return the chances of a win, a draw and a loss of ``side``.

    The side plays ``policy_of(position)`` and the other side ``reply_chances(position)``. A side without any chance
    of a move resigns.
    """

    @cache
    def chances_from(position):
        final = final_chances(game, side, position)
        if final is not None:
            return final
        ours = game.side_to_move(position) is side
        policy = (policy_of if ours else reply_chances)(position)
        if not any(policy.values()):
            return (0.0, 0.0, 1.0) if ours else (1.0, 0.0, 0.0)
        after = [(chance, chances_from(game.apply(position, move))) for move, chance in policy.items() if chance]
        return tuple(sum(chance * value[result] for chance, value in after) for result in range(3))

    return chances_from(game.initial_position())


def worst_points(game, side, policy_of):
    """Return the fewest points of ``side`` against an opponent that knows the policy of ``side``."""

    @cache
    def points_from(position):
        final = final_chances(game, side, position)
        if final is not None:
            return sum(p * chance for p, chance in zip(POINTS, final, strict=True))
        after = {move: game.apply(position, move) for move in game.legal_moves(position)}
        if game.side_to_move(position) is not side:
            return min(map(points_from, after.values()))
        return sum(chance * points_from(after[move]) for move, chance in policy_of(position).items() if chance)

    return points_from(game.initial_position())


def final_chances(game, side, position):
    """Return the result of ``side`` as chances if the game is over, else ``None``."""
    outcome = game.outcome(position)
    if outcome is None:
        return None
    if outcome.winner is None:
        return (0.0, 1.0, 0.0)
    return (1.0, 0.0, 0.0) if outcome.winner is side else (0.0, 0.0, 1.0)


def uniform_reply_chances(game, opponent):
    """Return a function of the position: the moves of a fixed opponent with equal chances."""

    def chances_at(position):
        replies = opponent.replies(game, position)
        return dict.fromkeys(replies, 1 / len(replies))

    return chances_at


def minimax(game):
    """Return a function of the position: its value for the first side (1, 0 or −1), by plain search."""

    @cache
    def value_of(position):
        final = final_chances(game, Side.FIRST, position)
        if final is not None:
            return int(final[0] - final[2])
        values = [value_of(game.apply(position, move)) for move in game.legal_moves(position)]
        return max(values) if game.side_to_move(position) is Side.FIRST else min(values)

    return value_of
