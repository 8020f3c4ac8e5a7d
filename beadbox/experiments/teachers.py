"""Perfect players of a temper: they never make a mistake, and choose among the good moves as a person might.

"Good play" does not say which of several good moves is played, and what a machine learns depends on it.
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

    The choice changes when the board is turned, so games against it are played on the board as it lies.
    """

    slug = "habit"
    name = "Perfect, by habit"
    summary = "Never makes a mistake, and always answers the same way."

    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """The move to play; takes no random word."""
        return _first_good(game, position)


class TrapsOpponent(UniformOpponent):
    """Of the moves that keep the best result those after which somebody who plays at random loses most often."""

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
    """How often the trapper wins from here if the other side plays at random."""
    outcome = game.outcome(position)
    if outcome is not None:
        return float(outcome.winner is trapper)
    after = {move: game.canonical(game.apply(position, move)) for move in game.legal_moves(position)}
    if game.side_to_move(position) is trapper:
        return max(_chance(game, after[move], trapper) for move in PERFECT.replies(game, position))
    return sum(_chance(game, position, trapper) for position in after.values()) / len(after)


HABIT = HabitOpponent()
TRAPS = TrapsOpponent()
