"""What is kept is what was measured: snapshots of a learner against fixed opponents, and the choice among them.

For any player whose strength is a sample. Every game begins with random plies, and every opening is played twice, sides
exchanged. The best snapshot is chosen on one set of openings, and what is said of it is measured on another: whoever is
chosen as the best of many looks better there than they are.

Every game has a random source of its own, so a measurement may be cut anywhere, and its parts be added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from beadbox.kernels.random_source import RandomSource
from beadbox.rules.game import AnyGame, AnyMove
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.rules.play import MovePlayer, game_played
from beadbox.strength.sampled import wilson

OPENING_PLIES = 4
CHOSEN_ON, SAID_ON = 13, 14
"""The seeds of two sets of openings, the same for every machine: on one the best is chosen, on the other confirmed."""

Opening = tuple[AnyMove, ...]
"""The moves that a game begins with."""

Meeting = Callable[[Opening, Side, RandomSource], Result]
"""A game between two who are known: its opening, the side of the one who is measured, what it was for that one."""


@dataclass(frozen=True, slots=True)
class Points:
    """What came of so many games: a draw is half a point."""

    wins: int
    draws: int
    losses: int

    @classmethod
    def of(cls, tally: Tally) -> Points:
        """Those of a tally."""
        return cls(tally.wins, tally.draws, tally.losses)

    @property
    def games(self) -> int:
        """All games."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """The share of all points, 0 to 1."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """About 95 %, after Wilson; the two games of an opening are not independent, which it does not know."""
        return wilson(self.wins + self.draws / 2, self.games)


@dataclass(frozen=True, slots=True)
class Kept:
    """Which snapshot plays, and why."""

    best: int
    """By games learnt from."""
    curve: Mapping[int, Mapping[str, Points]]
    """By snapshot and opponent, on the openings of the choice."""
    confirmed: Mapping[str, Points]
    """Of the best, by opponent, on other openings: only this may be said of it."""


def is_snapshot(n_games: int) -> bool:
    """Whether a learner is kept as it is after so many games: 1, 100, 300, 1,000, 3,000, …"""
    while n_games >= 1000 and n_games % 10 == 0:
        n_games //= 10
    return n_games in (1, 100, 300)


def snapshot_after(n_games: int) -> int:
    """The least number of games above this after which a learner is kept as it is."""
    if n_games < 100:
        return 100 if n_games else 1
    power = 100
    while power * 10 <= n_games:
        power *= 10
    return power * 3 if n_games < power * 3 else power * 10


def openings(game: AnyGame, n: int, *, seed: int, n_plies: int = OPENING_PLIES, first: int = 0) -> list[Opening]:
    """``n`` openings of random plies, each with a source of its own; shorter only where the game would be over.

    They are those of the seed's set from number ``first`` on.
    """
    return [_opening(game, n_plies, RandomSource(seed, number)) for number in range(first, first + n)]


def _opening(game: AnyGame, n_plies: int, rng: RandomSource) -> Opening:
    position, moves = game.initial_position(), list[Any]()
    for _ in range(n_plies):
        legal = game.legal_moves(position)
        move = legal[rng.below(len(legal))]
        position = game.apply(position, move)
        if game.outcome(position) is not None:
            break
        moves.append(move)
    return tuple(moves)


def meeting(game: AnyGame, one: MovePlayer, other: MovePlayer) -> Meeting:
    """Games between any two players, move by move."""

    def play(opening: Opening, side: Side, rng: RandomSource) -> Result:
        position = game.initial_position()
        for move in opening:
            position = game.apply(position, move)
        movers = {side: one.mover(game), side.other: other.mover(game)}
        return game_played(game, movers, rng, position)[side]

    return play


def measured(play: Meeting, played: Sequence[Opening], *, seed: int, first: int = 0) -> Tally:
    """What the one who is measured makes of these openings, each from both sides.

    ``first`` is the number of the first of them in its set: the randomness of a game depends on that and on the seed.
    """
    tally = Tally()
    for number, opening in enumerate(played, first):
        for side in Side:
            tally.add(play(opening, side, RandomSource(seed, 2 * number + side)))
    return tally


def best_of(curve: Mapping[int, Mapping[str, Points]]) -> int:
    """The snapshot with the most points on average over its opponents; of equals the one with fewer games."""
    return max(sorted(curve), key=lambda n: sum(points.share for points in curve[n].values()) / len(curve[n]))


def kept(
    meetings: Mapping[int, Mapping[str, Meeting]],
    chosen_on: Sequence[Opening],
    said_on: Sequence[Opening],
    *,
    seed: int,
) -> Kept:
    """Measure every snapshot against every opponent, choose the best, and measure that once more.

    Args:
        meetings: by snapshot and opponent.
        chosen_on: the openings by which the best is chosen.
        said_on: others, by which is told how strong it is.
        seed: for the games; the second measurement takes the next one.

    Raises:
        ValueError: the two sets of openings share more than chance would: one is part of the other.
    """
    if set(said_on) <= set(chosen_on):
        raise ValueError("what was chosen on some openings has to be confirmed on others")
    curve = {
        n: {name: Points.of(measured(play, chosen_on, seed=seed)) for name, play in sorted(opponents.items())}
        for n, opponents in sorted(meetings.items())
    }
    best = best_of(curve)
    confirmed = {
        name: Points.of(measured(play, said_on, seed=seed + 1)) for name, play in sorted(meetings[best].items())
    }
    return Kept(best, curve, confirmed)
