"""Strength of the value learner of Romgon by number of games, and its speed of learning and searching.

Points are counted as in ``docs/value-learner.md``: over 400 games, from openings of four random plies, with each
opening played from both sides. Seconds are processor time, because other programs on the machine disturb it least.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping

import numpy as np

from beadbox.engines.position_values import LearntPlayer
from beadbox.engines.romgon.answers import LEVELS, board_array, option_flags
from beadbox.engines.romgon.boards import generate_legal, load_board
from beadbox.engines.romgon.shipped import shipped_value
from beadbox.engines.romgon.value_search import allocate_scratch, search_root
from beadbox.kernels.jit import kernel
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.learner import Weights, zero_weights
from beadbox.learners.value_learner.memory import ValueMemory, compiled_meeting
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.rules.registry import game_get
from beadbox.rules.romgon.rules import Romgon
from beadbox.strength.snapshots import Meeting, Points, choose_best, measure_openings, openings
from tests.bench.figures import Figure, spread
from tests.sizes import sized

SEEDS = sized((1, 2, 3), (1,))
N_OPENINGS = sized(200, 2)
CHOICE_SEED, CONFIRM_SEED = 101, 102
"""Seeds of two sets of openings: one chooses the best snapshot, the other measures the chosen snapshot."""
SEARCH_DEPTH = sized(4, 2)
N_SEARCH_POSITIONS = sized(60, 5)
N_ROUNDS = sized(5, 1)
N_GAMES = sized(300, 3)
N_SHORT, N_MIDDLE, N_LONG = sized((100, 3_000, 10_000), (2, 4, 6))
MODES = {"plain": "romgon", "flips": "romgon-flip"}


def learnt_speed() -> Iterator[Figure]:
    """Measure boards searched and games learnt per second. Each kernel runs once before the clock starts."""
    for name, slug in MODES.items():
        game = _romgon(slug)
        rates = [
            n / seconds / 1e6
            for n, seconds in (_search_speed(game, shipped_value(name).weights) for _ in range(N_ROUNDS))
        ]
        yield _rate_figure(f"{slug}: search with the learnt value, depth {SEARCH_DEPTH}", rates, "M nodes/s", 1.0)
    for slug, preset, target in (("romgon", "td-search", 150.0), ("romgon-flip", "td-search-flips", 0.0)):
        rates = []
        for seed in range(N_ROUNDS):
            memory = _memory(slug, preset)
            _train_s(memory, 1, RandomSource(seed))
            rates.append(N_GAMES / _train_s(memory, N_GAMES, RandomSource(seed)))
        yield _rate_figure(f"{slug}: {preset}, training alone", rates, "games/s", target)


def learnt_plain() -> Iterator[Figure]:
    """Measure training without flips: 100 games and 3,000 games on three seeds, 10,000 games on the first seed."""
    gains, seconds, shares = [], [], dict[str, list[float]]()
    for seed in SEEDS:
        memory, rng = _memory("romgon", "td-search"), RandomSource(seed)
        before = _points_share(memory, "easy", 1)
        short_s = _train_s(memory, N_SHORT, rng)
        gains.append(_points_share(memory, "easy", 1) - before)
        seconds.append((short_s, short_s + _train_s(memory, N_MIDDLE - N_SHORT, rng)))
        for level, depth in (("medium", 1), ("hard", 2), ("expert", 3)):
            shares.setdefault(f"V{depth}–{level}", []).append(_points_share(memory, level, depth))
        if seed == SEEDS[0]:
            _train_s(memory, N_LONG - N_MIDDLE, rng)
            long = {"V2–hard": _points_share(memory, "hard", 2), "V3–master": _points_share(memory, "master", 3)}
    yield _points_figure(f"V1–easy, points gained by {N_SHORT} games", gains, 0.2)
    yield _time_figure(f"{N_SHORT} games", [first for first, _ in seconds], 3)
    for (name, points), target in zip(shares.items(), (0.9, 0.92, 0.92), strict=True):
        yield _points_figure(f"{name} after {N_MIDDLE:,} games", points, target)
    yield _time_figure(f"{N_MIDDLE:,} games", [last for _, last in seconds], 60)
    for (name, one), target in zip(long.items(), (0.95, 0.85), strict=True):
        yield _points_figure(f"{name} after {N_LONG:,} games", [one], target)


def learnt_flips() -> Iterator[Figure]:
    """Measure training with flips: the best snapshot of each seed, and the result of three times as many games."""
    shares, seconds = dict[str, list[tuple[float, float]]](), []
    for seed in SEEDS:
        memory, rng = _memory("romgon-flip", "td-search-flips"), RandomSource(seed)
        begin = time.process_time()
        _train_s(memory, N_MIDDLE, rng)
        chosen_on, confirmed_on = (
            openings(memory.machine.game, N_OPENINGS, seed=one) for one in (CHOICE_SEED, CONFIRM_SEED)
        )
        meetings = {n: _meetings(memory, weights) for n, weights in memory.snapshots.items() if n >= N_MIDDLE // 10}
        best = choose_best(meetings, chosen_on, confirmed_on, seed=seed)
        seconds.append(time.process_time() - begin)
        _train_s(memory, 2 * N_MIDDLE, rng)
        for name, play in _meetings(memory, memory.machine.played).items():
            later = Points.of(measure_openings(play, confirmed_on, seed=seed + 1)).share
            shares.setdefault(name, []).append((best.confirmed[name].share, later))
    for name, pairs in shares.items():
        yield _points_figure(
            f"with flips, {name}, best snapshot of {N_MIDDLE:,} games", [first for first, _ in pairs], 0.9
        )
        yield _points_figure(
            f"with flips, {name}, points gained by {3 * N_MIDDLE:,} games",
            [later - first for first, later in pairs],
            -0.05,
        )
    yield _time_figure(f"{N_MIDDLE:,} games with flips, with the choice of a snapshot", seconds, 300)


def _romgon(slug: str) -> Romgon:
    game = game_get(slug)
    assert isinstance(game, Romgon)
    return game


def _memory(slug: str, preset: str) -> ValueMemory:
    game, rule = game_get(slug), VALUE_PRESETS[preset].rule
    return ValueMemory.load(game, rule, zero_weights(game, rule))


def _train_s(memory: ValueMemory, n_games: int, rng: RandomSource) -> float:
    """Train a machine against itself; return the processor time in seconds."""
    begin = time.process_time()
    memory.train_against(memory, n_games, rng, opponent_learns=True)
    return time.process_time() - begin


def _points_share(memory: ValueMemory, level: str, depth: int) -> float:
    machine = memory.machine
    play = compiled_meeting(machine.game, machine.player._replace(depth=depth), LEVELS[level])
    return Points.of(
        measure_openings(play, openings(machine.game, N_OPENINGS, seed=CONFIRM_SEED), seed=CONFIRM_SEED)
    ).share


def _meetings(memory: ValueMemory, weights: Weights) -> Mapping[str, Meeting]:
    game, restlessness = memory.machine.game, memory.machine.rule.restlessness
    return {
        f"V{depth}–{level}": compiled_meeting(game, LearntPlayer(weights, depth, restlessness), LEVELS[level])
        for level, depth in (("medium", 1), ("hard", 2))
    }


@kernel
def _n_nodes(board, side, options, depth, weights):
    scratch = allocate_scratch(depth, len(board), np.zeros(1, np.uint8))
    load_board(board, scratch.accumulator.cells, scratch.accumulator.sets)
    n = generate_legal(scratch.accumulator.cells, scratch.accumulator.sets, side, options, scratch.actions[0])
    search_root(scratch, n, side, options, depth, False, weights)
    return scratch.n_nodes[0]


def _search_speed(game: Romgon, weights: Weights) -> tuple[int, float]:
    """Return the number of boards searched from the positions of a random game, and the seconds taken."""
    position, rng, n = game.initial_position(), RandomSource(5), 0
    boards = []
    while game.outcome(position) is None and len(boards) < N_SEARCH_POSITIONS:
        boards.append((board_array(position.board), int(position.side)))
        legal = game.legal_moves(position)
        position = game.apply(position, legal[rng.below(len(legal))])
    flags = option_flags(game.options)
    _n_nodes(*boards[0], flags, 1, weights)
    begin = time.process_time()
    for board, side in boards:
        n += _n_nodes(board, side, flags, SEARCH_DEPTH, weights)
    return n, time.process_time() - begin


def _rate_figure(name: str, rates: list[float], unit: str, target: float) -> Figure:
    target_text = f">= {target:g} {unit}" if target else ""
    return Figure(name, f"{spread(rates)} {unit}", target_text, statistics.median(rates) >= target)


def _points_figure(name: str, points: list[float], target: float) -> Figure:
    """Return a figure with the median and the points of each seed. The points of every seed must reach the target."""
    each = ", ".join(f"{one:.3f}" for one in points)
    return Figure(name, f"{statistics.median(points):.3f} ({each})", f">= {target:g} on each", min(points) >= target)


def _time_figure(name: str, seconds: list[float], max_s: float) -> Figure:
    return Figure(name, f"{spread(seconds, '{:.1f}')} s", f"< {max_s:g} s", max(seconds) < max_s)
