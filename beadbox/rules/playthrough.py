"""Playthroughs: golden games as text, with the facts of the rules about each position.

The format has one fact per line, so that differences are readable in a review. Idea: OpenSpiel's playthroughs.
"""

import random
from collections.abc import Iterator, Sequence

from beadbox.rules.game import AnyGame


def playthrough_lines(game: AnyGame, moves: Sequence[str]) -> Iterator[str]:
    """Yield the golden text of the game with these moves, line by line.

    Raises:
        InvalidMoveError: a text is no move of the game.
        IllegalMoveError: a move is not legal in its position.
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
    """Return the moves of one uniformly random game, as text. Equal seeds give equal games."""
    rng = random.Random(seed)
    position, moves = game.initial_position(), []
    while legal := game.legal_moves(position):
        move = rng.choice(legal)
        moves.append(game.format_move(move))
        position = game.apply(position, move)
    return moves
