"""Perft: counts of move sequences, the usual test of a move generator in game programming."""

from beadbox.rules.game import AnyGame, AnyPosition


def perft(game: AnyGame, position: AnyPosition, depth: int) -> int:
    """Count the sequences of exactly ``depth`` legal moves from the position."""
    if depth == 0:
        return 1
    return sum(perft(game, game.apply(position, move), depth - 1) for move in game.legal_moves(position))
