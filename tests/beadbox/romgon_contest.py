"""Games between two levels of the Romgon engine."""

from beadbox.engines.romgon.answers import LEVELS, answer_in_game
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.rules import Romgon

N_OPENING_PLIES = 2
"""Random plies at the start of a game. Without them, levels without randomness would repeat one game."""


def level_contest(game: Romgon, one: str, other: str, n: int) -> tuple[int, int, int]:
    """Return wins of ``one``, draws, and wins of ``other`` in ``n`` games; two games share an opening."""
    counts = [0, 0, 0]
    for number in range(n):
        side = Side(number % 2)
        winner = _winner_of_game(game, {side: one, side.other: other}, seed=number // 2)
        counts[1 if winner is None else 0 if winner is side else 2] += 1
    wins, draws, losses = counts
    return wins, draws, losses


def _winner_of_game(game: Romgon, levels: dict[Side, str], seed: int) -> Side | None:
    rng, position = RandomSource(seed), game.initial_position()
    for _ in range(N_OPENING_PLIES):
        legal = game.legal_moves(position)
        position = game.apply(position, legal[rng.below(len(legal))])
    while (outcome := game.outcome(position)) is None:
        answer = answer_in_game(game, position, level=LEVELS[levels[position.side]], rng=rng)
        assert answer.chosen is not None
        position = game.apply(position, answer.chosen.move)
    return outcome.winner
