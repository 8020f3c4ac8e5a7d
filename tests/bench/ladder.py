"""The levels of each engine against each other: whether each level is clearly stronger than the one below it."""

from __future__ import annotations

from collections.abc import Iterator

from beadbox.engines.ladder import Pair, ladders_read
from beadbox.engines.registry import ENGINES
from beadbox.rules.registry import game_get
from beadbox.strength.sampled import wilson
from beadbox.tournaments import ladder
from tests.bench.figures import Figure
from tests.sizes import sized

OTHER_SEED = ladder.SEED + 1_000_000
"""Seed of other openings than those of the file. The results should hold for these openings too."""
N_SHORT = sized(60, 2)


def whole_ladder() -> Iterator[Figure]:
    """Measure every pair of levels of every mode, with as many games as the file, and the ratings. Takes minutes."""
    for engine in ENGINES.values():
        for mode, slug in engine.ladder_games.items():
            game = game_get(slug)
            close, found = ladder.neighbours(engine, game), list[Pair]()
            pairs = ladder.all_pairs(engine, game)[: sized(None, 6)]
            games = {"near": sized(ladder.N_NEIGHBOURS, 2), "far": sized(ladder.N_OTHERS, 2), "seed": OTHER_SEED}
            for pair in ladder.measure_pairs(engine, game, pairs, **games):
                found.append(pair)
                is_near = (pair.strong, pair.weak) in close
                share = pair.points / pair.games
                yield _figure(
                    mode,
                    pair,
                    f">= {ladder.MIN_SHARE_OF_POINTS}" if is_near else "",
                    not is_near or share >= ladder.MIN_SHARE_OF_POINTS,
                )
            names = [slug for slug, level in engine.levels.items() if engine.supports_level(game, level)]
            for name, rating in sorted(ladder.rate_levels(names, found).items(), key=lambda one: one[1]):
                yield Figure(f"{mode}: {name}", rating.words, "", ok=True)


def short_ladder() -> Iterator[Figure]:
    """Measure each level against the one below it in few games: the 95 % interval should reach 0.65."""
    for engine in ENGINES.values():
        written = ladders_read(engine.ladder_file) if engine.ladder_file else {}
        for mode, slug in engine.ladder_games.items():
            game = game_get(slug)
            mark, measured = engine.learnt_fingerprint(game), written[mode].conditions["learnt"]
            yield Figure(f"{mode}: learnt value of the ratings", measured, mark, measured == mark, is_fact=True)
            pairs, games = ladder.neighbours(engine, game), {"near": N_SHORT, "far": 0, "seed": OTHER_SEED}
            for pair in ladder.measure_pairs(engine, game, pairs, **games):
                reaches = wilson(pair.points, pair.games)[1] >= ladder.MIN_SHARE_OF_POINTS
                yield _figure(mode, pair, f"up to {ladder.MIN_SHARE_OF_POINTS} or more", reaches)


def _figure(mode: str, pair: Pair, target: str, ok: bool) -> Figure:
    return Figure(f"{mode}: {pair.strong} against {pair.weak}", ladder.pair_text(pair), target, ok)
