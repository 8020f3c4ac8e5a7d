"""Opponents that look at most one move ahead."""

from beadbox.policies.opponent import UniformOpponent
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side

MAX_FIRST_MOVES = 12
"""Moves at the start of the largest unlisted game for :class:`WinBlockOpponent`, which examines every reply."""


class RandomOpponent(UniformOpponent):
    """Plays any legal move, all equally likely."""

    slug = "random"
    name = "Random"
    summary = "Chooses its moves at random."

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        return game.legal_moves(position)


class WinBlockOpponent(UniformOpponent):
    """Wins at once if possible; else leaves the other side as few immediate wins as possible.

    A move that loses at once is the last resort. In noughts and crosses the second part is blocking, and "anything"
    where there is nothing to block. Of several moves that are equally good each is equally likely.
    """

    slug = "win-block"
    name = "Win or block"
    summary = "Wins if it can, blocks if it must, otherwise moves at random."

    def plays(self, game: AnyGame) -> bool:
        """Whether the game is listable or starts with at most :data:`MAX_FIRST_MOVES` moves: its rules are fast."""
        return game.listable or len(game.legal_moves(game.initial_position())) <= MAX_FIRST_MOVES

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        legal, side = game.legal_moves(position), game.side_to_move(position)
        winners = {move: _winner(game, position, move) for move in legal}
        winning = tuple(move for move in legal if winners[move] is side)
        if winning:
            return winning
        safe = [move for move in legal if winners[move] is None] or legal
        threats = {move: _n_wins(game, game.apply(position, move)) for move in safe}
        fewest = min(threats.values())
        return tuple(move for move in safe if threats[move] == fewest)


def _winner(game: AnyGame, position: AnyPosition, move: AnyMove) -> Side | None:
    """The side that wins at once by a move, if one does."""
    outcome = game.outcome(game.apply(position, move))
    return None if outcome is None else outcome.winner


def _n_wins(game: AnyGame, position: AnyPosition) -> int:
    """The number of moves that win at once for the side to move."""
    side = game.side_to_move(position)
    return sum(_winner(game, position, move) is side for move in game.legal_moves(position))
