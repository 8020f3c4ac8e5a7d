"""Counts of move sequences: the field's proof that move generation is right."""

from beadbox.rules.game import AnyGame, AnyPosition


def perft(game: AnyGame, position: AnyPosition, depth: int) -> int:
    """The number of sequences of exactly ``depth`` legal moves from the position."""
    if depth == 0:
        return 1
    return sum(perft(game, game.apply(position, move), depth - 1) for move in game.legal_moves(position))
