"""Perfect players with a style: they never make a mistake, and choose among good moves as a person might.

"Good play" leaves open which of several good moves is played, and a machine's learning depends on that choice.
"""

from __future__ import annotations

from functools import cache

from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.policies.perfect import PerfectOpponent
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side

PERFECT = PerfectOpponent()


class HabitOpponent(Opponent):
    """Plays the first of the moves that keep the best result, in the order of the squares of the board.

    The choice is not symmetric under turns of the board, so games against it are played without canonical boards.
    """

    slug = "habit"
    name = "Perfect, by habit"
    summary = "Never makes a mistake, and always answers the same way."

    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """Return the move to play; draws nothing from ``rng``."""
        return _first_good(game, position)


class TrapsOpponent(UniformOpponent):
    """Plays those of the moves that keep the best result after which random play loses most often."""

    slug = "traps"
    name = "Perfect, with traps"
    summary = "Never makes a mistake, and leaves as many chances as it can to make one."

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        mover = game.side_to_move(position)
        good = PERFECT.replies(game, position)
        chances = [_chance(game, game.canonical(game.apply(position, move)), mover) for move in good]
        return tuple(move for move, chance in zip(good, chances, strict=True) if chance > max(chances) - 1e-12)


@cache
def _first_good(game: AnyGame, position: AnyPosition) -> AnyMove:
    return PERFECT.replies(game, position)[0]


@cache
def _chance(game: AnyGame, position: AnyPosition, trapper: Side) -> float:
    """Return the probability that ``trapper`` wins from here if the other side plays at random."""
    outcome = game.outcome(position)
    if outcome is not None:
        return float(outcome.winner is trapper)
    after = {move: game.canonical(game.apply(position, move)) for move in game.legal_moves(position)}
    if game.side_to_move(position) is trapper:
        return max(_chance(game, after[move], trapper) for move in PERFECT.replies(game, position))
    return sum(_chance(game, position, trapper) for position in after.values()) / len(after)


HABIT = HabitOpponent()
TRAPS = TrapsOpponent()
