"""How strong the levels of an engine are: every two of them against each other.

Each opening is played twice, sides exchanged (``measuring``), and every pair has openings of its own. What thinks by
the clock is given all the time it wants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from beadbox.engines.engine import AnyEngine
from beadbox.engines.ladder import Pair
from beadbox.engines.level import Level
from beadbox.learners.value_learner.memory import value_meeting
from beadbox.policies.engine import EngineOpponent
from beadbox.rules.game import AnyGame
from beadbox.strength.elo import Elo, Score, elos
from beadbox.strength.sampled import wilson
from beadbox.strength.snapshots import OPENING_PLIES, Meeting, Points, measured, meeting, openings

SEED = 2026
N_NEIGHBOURS = 400
"""Games between two levels that follow each other on a ladder."""
N_OTHERS = 20
"""Games between any two others."""
LEAST = 0.65
"""The share of points that a level takes from the one below it on a ladder."""


def neighbours(engine: AnyEngine, game: AnyGame) -> list[tuple[str, str]]:
    """Each level of a ladder and the one below it, from the weakest up."""
    slugs = [rung.level.slug for rung in engine.ladder(game)]
    return list(zip(slugs[1:], slugs, strict=False))


def pairs_all(engine: AnyEngine, game: AnyGame) -> list[tuple[str, str]]:
    """Every two levels at which the engine plays a game, the later one in its list first."""
    slugs = [slug for slug, level in engine.levels.items() if engine.plays_at(game, level)]
    return [(strong, weak) for weak, strong in combinations(slugs, 2)]


def pairs_measured(
    engine: AnyEngine,
    game: AnyGame,
    pairs: Iterable[tuple[str, str]],
    *,
    near: int,
    far: int,
    seed: int = SEED,
) -> Iterator[Pair]:
    """What comes of games between levels: ``near`` of them where these are neighbours on the ladder, else ``far``."""
    close, slugs = neighbours(engine, game), list(engine.levels)
    for strong, weak in pairs:
        n_games = near if (strong, weak) in close else far
        own_seed = seed + len(slugs) * slugs.index(strong) + slugs.index(weak)
        meet = _meeting(engine, game, engine.levels[strong], engine.levels[weak])
        points = Points.of(measured(meet, openings(game, n_games // 2, seed=own_seed), seed=own_seed))
        yield Pair(strong, weak, points.wins, points.draws, points.losses)


def rated(names: Sequence[str], pairs: Iterable[Pair]) -> dict[str, Elo]:
    """The rating of each level; the first of them is 0."""
    return elos(names, [Score(pair.strong, pair.weak, pair.points, pair.games) for pair in pairs])


def pair_words(pair: Pair) -> str:
    """What came of a pair, with the interval of its points."""
    low, high = wilson(pair.points, pair.games)
    tally = f"{pair.wins} won, {pair.draws} drawn, {pair.losses} lost"
    return f"{pair.points / pair.games:.3f} ({low:.3f} to {high:.3f}) of {pair.games} games: {tally}"


def conditions(engine: AnyEngine, game: AnyGame, *, near: int, far: int, seed: int = SEED) -> dict[str, object]:
    """How it was measured, as a file says it."""
    return {
        "random_plies": OPENING_PLIES,
        "games_of_neighbours": near,
        "games_of_others": far,
        "seed": seed,
        "learnt": engine.learnt_mark(game),
    }


def _meeting(engine: AnyEngine, game: AnyGame, one: Level, other: Level) -> Meeting:
    if engine.valuer is not None:
        return value_meeting(game, one, other)
    return meeting(game, EngineOpponent(one.slug), EngineOpponent(other.slug))
