"""Measures the strength of an engine's levels in games between every two of them.

Each opening is played twice, with sides exchanged (``beadbox.strength.snapshots``). Every pair of levels has different
openings. Time limits of levels are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from beadbox.engines.engine import AnyEngine
from beadbox.engines.ladder import Pair
from beadbox.engines.level import Level
from beadbox.learners.value_learner.memory import compiled_meeting
from beadbox.policies.engine import EngineOpponent
from beadbox.rules.game import AnyGame
from beadbox.strength.elo import Elo, Score, elos
from beadbox.strength.sampled import wilson
from beadbox.strength.snapshots import OPENING_PLIES, Meeting, Points, measure_openings, meeting, openings

SEED = 2026
N_NEIGHBOURS = 400
"""Number of games between two neighbours on a ladder."""
N_OTHERS = 20
"""Number of games between any other two levels."""
MIN_SHARE_OF_POINTS = 0.65
"""Minimum share of points that a level must score against the level below it on a ladder."""


def neighbours(engine: AnyEngine, game: AnyGame) -> list[tuple[str, str]]:
    """Return each level of the ladder, except the lowest, as a pair with the level below it; weakest first."""
    slugs = [entry.level.slug for entry in engine.ladder(game)]
    return list(zip(slugs[1:], slugs, strict=False))


def all_pairs(engine: AnyEngine, game: AnyGame) -> list[tuple[str, str]]:
    """Return all pairs of levels at which the engine plays a game. In a pair, the later level of its list is first."""
    slugs = [slug for slug, level in engine.levels.items() if engine.supports_level(game, level)]
    return [(strong, weak) for weak, strong in combinations(slugs, 2)]


def measure_pairs(
    engine: AnyEngine,
    game: AnyGame,
    pairs: Iterable[tuple[str, str]],
    *,
    near: int,
    far: int,
    seed: int = SEED,
) -> Iterator[Pair]:
    """Play games between the levels of each pair and yield the results.

    ``near`` is the number of games between neighbours on the ladder, and ``far`` that between other levels. Both must
    be even, because every opening is played twice.
    """
    adjacent, slugs = neighbours(engine, game), list(engine.levels)
    for strong, weak in pairs:
        n_games = near if (strong, weak) in adjacent else far
        pair_seed = seed + len(slugs) * slugs.index(strong) + slugs.index(weak)
        meet = _meeting(engine, game, engine.levels[strong], engine.levels[weak])
        points = Points.of(measure_openings(meet, openings(game, n_games // 2, seed=pair_seed), seed=pair_seed))
        yield Pair(strong, weak, points.wins, points.draws, points.losses)


def rate_levels(names: Sequence[str], pairs: Iterable[Pair]) -> dict[str, Elo]:
    """Return the Elo rating of each level. The first has the rating 0."""
    return elos(names, [Score(pair.strong, pair.weak, pair.points, pair.games) for pair in pairs])


def pair_text(pair: Pair) -> str:
    """Return the result of a pair as text, with the 95 % interval of the share of points."""
    low, high = wilson(pair.points, pair.games)
    tally = f"{pair.wins} won, {pair.draws} drawn, {pair.losses} lost"
    return f"{pair.points / pair.games:.3f} ({low:.3f} to {high:.3f}) of {pair.games} games: {tally}"


def conditions(engine: AnyEngine, game: AnyGame, *, near: int, far: int, seed: int = SEED) -> dict[str, object]:
    """Return the conditions of a measurement, in the form that its file contains."""
    return {
        "random_plies": OPENING_PLIES,
        "games_of_neighbours": near,
        "games_of_others": far,
        "seed": seed,
        "learnt": engine.learnt_fingerprint(game),
    }


def _meeting(engine: AnyEngine, game: AnyGame, one: Level, other: Level) -> Meeting:
    if engine.valuer is not None:
        return compiled_meeting(game, one, other)
    return meeting(game, EngineOpponent(one.slug), EngineOpponent(other.slug))
