"""The final of a class: exact points of every first player against every second one, and a match that is typical."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from beadbox.kernels.random_source import RandomSource
from beadbox.policies.table import ContestPlayer
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side
from beadbox.rules.play import Mover, PlayedGame, game_recorded
from beadbox.strength.exact import Floats, Strength, chances
from beadbox.strength.graph import graph_compile
from beadbox.strength.loops import endless_points
from beadbox.tournaments.contest import contest_by_moves, edge_policy, is_reduced

N_GAMES_OF_PAIR = 1_000
"""Games of each pair in a game whose positions cannot be listed."""
FINAL_SEED = 1961
N_TRIES = 200
"""Matches among which :func:`typical_match` looks for the most probable result."""


@dataclass(frozen=True, slots=True)
class FinalPlace:
    """The place of a player in the ranking of a side; ``index`` counts the players as they were given."""

    place: int
    index: int
    strength: Strength


def pairs_chances(
    game: AnyGame, firsts: Sequence[ContestPlayer], seconds: Sequence[ContestPlayer], n_skipped: int = 0
) -> Iterator[Floats]:
    """Yield the chances of each pair, ``(4,)``: won by either side, drawn, and endless.

    The second player changes first. The chances are exact. Only in a game whose positions cannot be listed are they
    shares of :data:`N_GAMES_OF_PAIR` games, with the same random numbers for each pair.

    Args:
        game: the rules.
        firsts: players of the first side. In a ranking, one of the two lists has the one opponent only.
        seconds: players of the second side.
        n_skipped: pairs to leave out, from the first one on.
    """
    pairs = list(product(range(len(firsts)), range(len(seconds))))[n_skipped:]
    if not game.listable:
        for first, second in pairs:
            one, other = firsts[first].played, seconds[second].played
            played = contest_by_moves(game, one, other, N_GAMES_OF_PAIR, RandomSource(FINAL_SEED))
            assert played is not None, "a contest without a stop condition ends"
            yield np.array([played.first_wins, played.second_wins, played.draws, 0]) / N_GAMES_OF_PAIR
        return
    tables = [[player.table for player in players] for players in (firsts, seconds)]
    graph = graph_compile(
        game, reduced=all(table is not None and is_reduced(table) for both in tables for table in both)
    )
    first_policies, second_policies = ([edge_policy(graph, one) for one in both if one is not None] for both in tables)
    is_first = graph.edge_side == Side.FIRST
    for first, second in pairs:
        yield chances(graph, np.where(is_first, first_policies[first], second_policies[second]))[0]


def ranking(game: AnyGame, side: Side, value: Floats, names: Sequence[str]) -> list[FinalPlace]:
    """Return the players of a side, best first: by points, then fewer losses, then name.

    ``value`` are the chances of the pairs, ``(n_firsts, n_seconds, 4)``. The strength of a player is the mean over all
    opponents. Players with equal points and equal losses share a place.
    """
    points = endless_points(side, game.endless_winner)
    means = value.mean(axis=1 - side)[:, [side, 2, side.other, 3]]
    found = [Strength(win, draw, loss, endless, points) for win, draw, loss, endless in means.tolist()]
    keys = [(-round(one.score, 12), round(one.counted[2], 12)) for one in found]
    order = sorted(range(len(found)), key=lambda index: (keys[index], names[index]))
    return [FinalPlace(1 + sum(other < keys[index] for other in keys), index, found[index]) for index in order]


Chooser = Callable[[AnyPosition, Random], tuple[AnyMove | None, object]]
"""Choose a move, and return it with the draw behind it or ``None``: ``BoxMachine.choose`` of a frozen machine."""


@dataclass(frozen=True, slots=True)
class MatchWithDraws:
    """A match, and the draws behind its moves by ply. Forced moves and moves of an opponent have no draw."""

    game: PlayedGame
    draws: Mapping[int, object]


def typical_match(game: AnyGame, first: Chooser, second: Chooser, value: Floats) -> MatchWithDraws:
    """Return a match that ends with its most probable result, so that it is not a fluke.

    ``value`` are the chances of the pair. Of the matches by the seed of the final, it is the first one with this
    result. Endless play is not counted: a match is shown up to the ply limit only if none of :data:`N_TRIES` matches
    ends with the result.
    """
    likeliest = (Side.FIRST, Side.SECOND, None)[int(np.argmax(value[:3]))]
    for number in range(N_TRIES):
        shown = _play_match(game, first, second, RandomSource(FINAL_SEED, number))
        if shown.game.outcome.winner is likeliest and not shown.game.is_unfinished:
            break
    return shown


def _play_match(game: AnyGame, first: Chooser, second: Chooser, rng: RandomSource) -> MatchWithDraws:
    found: list[object] = []

    def mover(choose: Chooser) -> Mover:
        def move_and_record(position: AnyPosition, source: Random) -> AnyMove | None:
            move, draw = choose(position, source)
            found.append(draw)
            return move

        return move_and_record

    played = game_recorded(game, {Side.FIRST: mover(first), Side.SECOND: mover(second)}, rng)
    return MatchWithDraws(played, {ply: draw for ply, draw in enumerate(found) if draw is not None})
