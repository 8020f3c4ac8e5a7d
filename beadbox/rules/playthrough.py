"""Recorded golden games as text: each line a position and what the rules say of it.

The format is line-based so that a difference reads well in review. Idea: OpenSpiel's playthroughs.
"""

import random
from collections.abc import Iterator, Sequence

from beadbox.rules.game import AnyGame


def playthrough_lines(game: AnyGame, moves: Sequence[str]) -> Iterator[str]:
    """The golden text of the game that these moves play, line by line.

    Raises:
        InvalidMoveError, IllegalMoveError: the moves are not a game.
    """
    yield f"game: {game.slug}"
    position = game.initial_position()
    for text in (*moves, None):
        outcome = game.outcome(position)
        yield ""
        yield f"position: {game.encode(position)}"
        yield f"side to move: {game.side_to_move(position).name.lower()}"
        yield f"legal moves: {' '.join(map(game.format_move, game.legal_moves(position)))}".rstrip()
        if len(game.symmetries) > 1:
            classes = (",".join(map(game.format_move, c)) for c in game.distinct_moves(position))
            canonical, symmetry = game.to_canonical(position)
            yield f"distinct moves: {' '.join(classes)}".rstrip()
            yield f"canonical: {game.encode(canonical)} ({symmetry.name})"
        if outcome is not None:
            winner = "nobody" if outcome.winner is None else outcome.winner.name.lower()
            yield f"outcome: {winner} ({outcome.termination})"
        if text is not None:
            yield f"move: {text}"
            position = game.play(position, game.parse_move(text))


def random_game(game: AnyGame, seed: int) -> list[str]:
    """The moves of one game of uniformly random play."""
    rng = random.Random(seed)
    position, moves = game.initial_position(), []
    while legal := game.legal_moves(position):
        move = rng.choice(legal)
        moves.append(game.format_move(move))
        position = game.apply(position, move)
    return moves
