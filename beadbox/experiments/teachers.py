"""Perfect players with different styles. They never make a mistake, and choose among good moves as a person might.

The learning of a machine depends on which of several good moves its teacher prefers.
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
    """Plays the first of the moves that keep the best result, in the order of the board's squares.

    The choice is not symmetric under rotations of the board. So games against this opponent cannot be played on
    canonical boards.
    """

    slug = "habit"
    name = "Perfect, by habit"
    summary = "Never makes a mistake, and always answers the same way."

    def choose(self, game: AnyGame, position: AnyPosition, rng: Random) -> AnyMove:
        """Return the opponent's move. Draws nothing from ``rng``."""
        return _first_good_move(game, position)


class TrapsOpponent(UniformOpponent):
    """Plays, of the moves that keep the best result, those after which random play loses most often."""

    slug = "traps"
    name = "Perfect, with traps"
    summary = "Never makes a mistake, and leaves as many chances as it can to make one."

    def plays(self, game: AnyGame) -> bool:
        return super().plays(game) and game.always_ends

    def replies(self, game: AnyGame, position: AnyPosition) -> tuple[AnyMove, ...]:
        mover = game.side_to_move(position)
        good = PERFECT.replies(game, position)
        chances = [_win_chance(game, game.canonical(game.apply(position, move)), mover) for move in good]
        return tuple(move for move, chance in zip(good, chances, strict=True) if chance > max(chances) - 1e-12)


@cache
def _first_good_move(game: AnyGame, position: AnyPosition) -> AnyMove:
    return PERFECT.replies(game, position)[0]


@cache
def _win_chance(game: AnyGame, position: AnyPosition, trapper: Side) -> float:
    """Return the probability that the side ``trapper`` wins from a position if the other side plays at random."""
    outcome = game.outcome(position)
    if outcome is not None:
        return float(outcome.winner is trapper)
    successors = {move: game.canonical(game.apply(position, move)) for move in game.legal_moves(position)}
    if game.side_to_move(position) is trapper:
        return max(_win_chance(game, successors[move], trapper) for move in PERFECT.replies(game, position))
    return sum(_win_chance(game, position, trapper) for position in successors.values()) / len(successors)


HABIT = HabitOpponent()
TRAPS = TrapsOpponent()
