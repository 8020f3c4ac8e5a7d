"""Opponents that look at most one move ahead."""

from beadbox.policies.opponent import UniformOpponent
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition

MOST_MOVES = 12
"""At the start of a game in which looking at all answers to all moves takes no time worth naming."""


class RandomOpponent(UniformOpponent):
    """Any legal move, each equally likely."""

    slug = "random"
    name = "Random"
    summary = "Chooses its moves at random."

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        return game.legal_moves(position)


class WinBlockOpponent(UniformOpponent):
    """Wins at once if it can; else leaves the other side as few ways to win at once as it can.

    In noughts and crosses the second part is blocking, and "anything" where there is nothing to block; of
    several winning or several blocking moves each is equally likely.
    """

    slug = "win-block"
    name = "Win or block"
    summary = "Wins if it can, blocks if it must, otherwise moves at random."

    def plays(self, game: AnyGame) -> bool:
        """Not where moves are many: it looks at every answer to every move, by the readable rules."""
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
    """How many moves win at once for the side to move."""
    return sum(_wins(game, position, move) for move in game.legal_moves(position))
