"""Processor time of the solution of each listable game, and of the exact strength of a machine in the game."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import against_opponent, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import graph_compile
from beadbox.strength.loops import solve
from tests.bench.figures import Figure
from tests.sizes import sized

SLUGS = sized(tuple(GAMES), ("pong-hau-ki", "mu-torere"))
LARGE_FAMILIES = ("wild-noughts-and-crosses", "achi")
MAX_SOLVED_S, MAX_LARGE_SOLVED_S = 1, 5
MAX_STRENGTH_MS, MAX_WORST_MS = 20, 200
N_CALLS = sized(15, 1)
N_GAMES = 1_000
PRESET_BY_REDUCED = {True: PRESETS["michie-refill"], False: PRESETS["apl-notebook"]}
"""A preset with boards up to symmetry, and a preset with boards without symmetry."""


def each_game() -> Iterator[Figure]:
    """Yield, for each measurement, the game that takes longest and its time."""
    games = [GAMES[slug] for slug in SLUGS if GAMES[slug].listable]
    large = [game for game in games if game.family in LARGE_FAMILIES]
    usual = [game for game in games if game.family not in LARGE_FAMILIES]
    yield longest("solved from scratch", usual, lambda game: solution_s(game, reduced=True), MAX_SOLVED_S, "s")
    if large:
        yield longest(
            "solved from scratch", large, lambda game: solution_s(game, reduced=True), MAX_LARGE_SOLVED_S, "s"
        )
    yield longest(
        "solved without symmetry", games, lambda game: solution_s(game, reduced=False), MAX_LARGE_SOLVED_S, "s"
    )
    for reduced, boards in ((True, "boards up to symmetry"), (False, "boards without symmetry")):
        memories = {game.slug: trained_memory(game, reduced=reduced) for game in games}
        for slug in ("random", "perfect"):
            strength = against_ms(memories, slug)
            yield longest(f"exact strength against {slug}, {boards}", games, strength, MAX_STRENGTH_MS, "ms")
        yield longest(f"best response, {boards}", games, worst_ms(memories), MAX_WORST_MS, "ms")


def longest(name: str, games: list[AnyGame], measure: Callable[[AnyGame], float], target: float, unit: str) -> Figure:
    """Return the figure of the game that takes longest; ``measure`` returns a time in the unit of the target."""
    times = {game.slug: measure(game) for game in games}
    slug = max(times, key=times.__getitem__)
    text = f"{times[slug]:.2f} {unit}: {slug}, of {len(games)} games"
    return Figure(f"{name}, longest", text, f"< {target} {unit}", times[slug] < target)


def solution_s(game: AnyGame, *, reduced: bool) -> float:
    """Return the processor seconds for the graph and the solution of a game, without caches."""
    begin = time.process_time()
    solve(graph_compile.__wrapped__(game, reduced=reduced).arrays, game.endless_winner)
    return time.process_time() - begin


def trained_memory(game: AnyGame, *, reduced: bool) -> Memory:
    """Return a machine of the first side after some games against a random opponent."""
    memory = Memory.fresh(boxes_compile(game, Side.FIRST, PRESET_BY_REDUCED[reduced].rule))
    memory.train(UNIFORM["random"], N_GAMES, RandomSource(1))
    return memory


def against_ms(memories: dict[str, Memory], opponent: str) -> Callable[[AnyGame], float]:
    """Return a function that measures the exact strength of a game's machine against an opponent."""
    return lambda game: min_ms(lambda: against_opponent(memories[game.slug], UNIFORM[opponent]))


def worst_ms(memories: dict[str, Memory]) -> Callable[[AnyGame], float]:
    """Return a function that measures the worst case of a game's machine."""
    return lambda game: min_ms(lambda: worst_case(memories[game.slug]))


def min_ms(call: Callable[[], object]) -> float:
    """Return the minimum processor time of ``N_CALLS`` calls in ms, without a first call that compiles."""
    call()
    times = []
    for _ in range(N_CALLS):
        begin = time.process_time()
        call()
        times.append(1000 * (time.process_time() - begin))
    return min(times)
