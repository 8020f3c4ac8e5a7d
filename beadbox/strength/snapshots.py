"""Measurements of a learner's snapshots against fixed opponents, and the choice of the best snapshot.

The module suits every player with a sampled strength. Every game begins with random plies, and every opening is played
twice, with the sides exchanged. The best snapshot is chosen by the results of one set of openings, and its strength is
measured with another set. In the first set, the best of many snapshots would look stronger than it is.

Every game has its own random source. So a measurement can be split into parts, and the tallies of the parts added.
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
CHOICE_SEED, CONFIRMATION_SEED = 13, 14
"""Seeds of two sets of openings, the same for every machine: to choose the best snapshot, and to confirm it."""

Opening = tuple[AnyMove, ...]
"""The first moves of a game, in order of play."""

Meeting = Callable[[Opening, Side, RandomSource], Result]
"""Plays a game from an opening, with the measured player on a given side; returns the result for that player."""


@dataclass(frozen=True, slots=True)
class Points:
    """The numbers of games won, drawn and lost; a draw is half a point."""

    wins: int
    draws: int
    losses: int

    @classmethod
    def of(cls, tally: Tally) -> Points:
        """Convert a tally to an immutable value."""
        return cls(tally.wins, tally.draws, tally.losses)

    @property
    def games(self) -> int:
        """The number of games played, with any result."""
        return self.wins + self.draws + self.losses

    @property
    def share(self) -> float:
        """The share of all points, 0 to 1; needs at least one game."""
        return (self.wins + self.draws / 2) / self.games

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the share; approximate, since the two games of an opening are not independent."""
        return wilson(self.wins + self.draws / 2, self.games)


@dataclass(frozen=True, slots=True)
class BestSnapshot:
    """The best snapshot, and the measurements by which it was chosen."""

    best: int
    """Games that the best snapshot has learnt from."""
    curve: Mapping[int, Mapping[str, Points]]
    """Points in the openings of the choice, by the snapshot's number of games and by opponent."""
    confirmed: Mapping[str, Points]
    """Points of the best snapshot in other openings, by opponent; only these are reported as its strength."""


def is_snapshot(n_games: int) -> bool:
    """Whether a snapshot of a learner is kept after ``n_games``: 1, 100, 300, 1,000, 3,000, …"""
    while n_games >= 1000 and n_games % 10 == 0:
        n_games //= 10
    return n_games in (1, 100, 300)


def snapshot_after(n_games: int) -> int:
    """Return the least number of games above ``n_games`` after which a snapshot is kept."""
    if n_games < 100:
        return 100 if n_games else 1
    power = 100
    while power * 10 <= n_games:
        power *= 10
    return power * 3 if n_games < power * 3 else power * 10


def openings(game: AnyGame, n: int, *, seed: int, n_plies: int = OPENING_PLIES, first: int = 0) -> list[Opening]:
    """Return ``n`` openings of ``n_plies`` random plies. An opening is shorter if another ply would end the game.

    They are numbers ``first`` to ``first + n - 1`` of the seed's set; each number has its own random source.
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
    """Return a function that plays games between any two players, move by move; the first is measured."""

    def play(opening: Opening, side: Side, rng: RandomSource) -> Result:
        position = game.initial_position()
        for move in opening:
            position = game.apply(position, move)
        movers = {side: one.mover(game), side.other: other.mover(game)}
        return game_played(game, movers, rng, position)[side]

    return play


def measure_openings(play: Meeting, opening_list: Sequence[Opening], *, seed: int, first: int = 0) -> Tally:
    """Play every opening from both sides and return the tally of the measured player.

    ``first`` is the number of the first opening in its set. The random source of a game depends on its opening's
    number, the side and the seed.
    """
    tally = Tally()
    for number, opening in enumerate(opening_list, first):
        for side in Side:
            tally.add(play(opening, side, RandomSource(seed, 2 * number + side)))
    return tally


def best_of(curve: Mapping[int, Mapping[str, Points]]) -> int:
    """Return the snapshot with the most points on average over its opponents; of equals the one with fewer games."""
    return max(sorted(curve), key=lambda n: sum(points.share for points in curve[n].values()) / len(curve[n]))


def choose_best(
    meetings: Mapping[int, Mapping[str, Meeting]],
    choice_openings: Sequence[Opening],
    confirmation_openings: Sequence[Opening],
    *,
    seed: int,
) -> BestSnapshot:
    """Measure every snapshot against every opponent, choose the best, and measure the best again.

    Args:
        meetings: functions that play a game, by snapshot and opponent.
        choice_openings: the openings by which the best snapshot is chosen.
        confirmation_openings: other openings, by which its reported strength is measured.
        seed: seed of the games; the second measurement uses ``seed + 1``.

    Raises:
        ValueError: every opening of ``confirmation_openings`` is also in ``choice_openings``.
    """
    if set(confirmation_openings) <= set(choice_openings):
        raise ValueError("what was chosen on some openings has to be confirmed on others")
    curve = {
        n: {
            name: Points.of(measure_openings(play, choice_openings, seed=seed))
            for name, play in sorted(opponents.items())
        }
        for n, opponents in sorted(meetings.items())
    }
    best = best_of(curve)
    confirmed = {
        name: Points.of(measure_openings(play, confirmation_openings, seed=seed + 1))
        for name, play in sorted(meetings[best].items())
    }
    return BestSnapshot(best, curve, confirmed)
