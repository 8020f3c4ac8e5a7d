"""Opponents that look at most one move ahead."""

from beadbox.policies.opponent import UniformOpponent
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition

MOST_MOVES = 12
"""Moves at the start of the largest game for :class:`WinBlockOpponent`, which examines every reply to every move."""


class RandomOpponent(UniformOpponent):
    """Plays any legal move, all equally likely."""

    slug = "random"
    name = "Random"
    summary = "Chooses its moves at random."

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        return game.legal_moves(position)


class WinBlockOpponent(UniformOpponent):
    """Wins at once if possible; else leaves the other side as few immediate wins as possible.

    In noughts and crosses the second rule is blocking, or any move where there is nothing to block. Of several
    winning or several blocking moves each is equally likely.
    """

    slug = "win-block"
    name = "Win or block"
    summary = "Wins if it can, blocks if it must, otherwise moves at random."

    def plays(self, game: AnyGame) -> bool:
        """Whether the game starts with at most :data:`MOST_MOVES` moves, so that the readable rules are fast enough."""
        return len(game.legal_moves(game.initial_position())) <= MOST_MOVES

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        legal = game.legal_moves(position)
        winning = tuple(move for move in legal if _wins(game, position, move))
        if winning:
            return winning
        threats = {move: _n_wins(game, game.apply(position, move)) for move in legal}
        fewest = min(threats.values())
        return tuple(move for move in legal if threats[move] == fewest)


def _wins(game: AnyGame, position: AnyPosition, move: AnyMove) -> bool:
    outcome = game.outcome(game.apply(position, move))
    return outcome is not None and outcome.winner is game.side_to_move(position)


def _n_wins(game: AnyGame, position: AnyPosition) -> int:
    """Return the number of moves that win at once for the side to move."""
    return sum(_wins(game, position, move) for move in game.legal_moves(position))
