"""An experiment trains machines in batches. Its results equal those of each machine trained alone.

Every ``…_alone`` function computes a part of an experiment from one machine. ``part_index`` is the number of the part.
"""

from __future__ import annotations

from typing import Any

import pytest

from beadbox.experiments import hexapawn_rewards, menace_and_after, michie_tournament
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import against_opponent, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS, UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES

SEED, RANDOM = 5, OPPONENTS["random"]
N_MENACES = 20
"""The first parts of each lesson of ``menace-and-after``: the MENACEs with which learners are compared."""


def fresh_memory(game_slug: str, preset: str, side: Side) -> Memory:
    return Memory.fresh(boxes_compile(GAMES[game_slug], side, PRESETS[preset].rule))


def gardner_alone(part_index: int) -> Any:
    memory, rng = fresh_memory("hexapawn", "gardner-her", Side.SECOND), RandomSource(SEED, part_index)
    games = losses = 0
    while worst_case(memory).win < 1 - 1e-9:
        losses += memory.train(RANDOM, 1, rng).losses
        games += 1
    return games, losses


def michie_alone(part_index: int, n_tournaments: int, n_games: int) -> Any:
    teacher, stream = divmod(part_index, n_tournaments)
    memory, rng = fresh_memory("noughts-and-crosses", "michie-1961", Side.FIRST), RandomSource(SEED, stream)
    first_box = memory.slots(int(memory.table.node_box[0]))
    draws, opening = [], [memory.beads[first_box].tolist()]
    for _ in range(n_games):
        draws.append(memory.train(michie_tournament.TEACHERS[teacher][1], 1, rng).draws)
        opening.append(memory.beads[first_box].tolist())
    return draws, opening


def rewards_alone(part_index: int, n_machines: int, marks: list[int]) -> Any:
    scheme, stream = divmod(part_index, n_machines)
    memory = fresh_memory("hexapawn", hexapawn_rewards.SCHEMES[scheme], Side.SECOND)
    rng, losses = RandomSource(SEED, stream), 0
    perfect_after = losses_by_then = None
    wins, worst = [], []
    for game in range(marks[-1] + 1):
        if game:
            losses += memory.train(RANDOM, 1, rng).losses
        worst_win = worst_case(memory).win
        if perfect_after is None and worst_win > 1 - 1e-9:
            perfect_after, losses_by_then = game, losses
        if game in marks:
            wins.append(against_opponent(memory, RANDOM).win)
            worst.append(worst_win if perfect_after is None else 1.0)
    return [perfect_after, losses_by_then, wins, worst]


def resignations_alone(part_index: int, n_pairs: int, n_games: int) -> Any:
    preset_index, stream = divmod(part_index, n_pairs)
    preset = ("hexapawn-rl-as-shipped", "hexapawn-rl")[preset_index]
    first, second = (fresh_memory("hexapawn", preset, side) for side in Side)
    rng, first_box = RandomSource(SEED, stream), first.slots(int(first.table.node_box[0]))
    empty_after, n_times_emptied, n_moved, n_moved_after_empty, n_games_after_empty, wins = None, 0, 0, 0, 0, []
    for game in range(n_games):
        wins.append(first.train_against(second, 1, rng, opponent_learns=True).wins)
        has_moved = int(first.visits[first_box].sum()) > n_moved
        n_moved += has_moved
        if empty_after is not None:
            n_games_after_empty += 1
            n_moved_after_empty += has_moved
        if has_moved and not first.beads[first_box].any():
            n_times_emptied += 1
            empty_after = empty_after or game + 1
    return [empty_after, n_times_emptied, n_moved_after_empty, n_games_after_empty, wins]


def menace_alone(part_index: int, n_machines: int, marks: list[int]) -> Any:
    lesson, stream = divmod(part_index, N_MENACES + len(menace_and_after.LEARNERS) * n_machines)
    game_slug, side, teacher = menace_and_after.LESSONS[lesson]
    if stream < N_MENACES:
        memory = fresh_memory(game_slug, menace_and_after.MENACE, side)
        memory.train(UNIFORM[teacher], menace_and_after.N_GAMES, RandomSource(SEED, stream))
        against = [against_opponent(memory, UNIFORM[opponent]).score for opponent in menace_and_after.TEACHERS]
        return [*against, worst_case(memory).score]
    stream -= N_MENACES
    memory, rng, games = fresh_memory(game_slug, menace_and_after.MENACE, side), RandomSource(SEED, stream), 0
    points, worst = [], None
    for mark in marks:
        memory.train(UNIFORM[teacher], mark - games, rng)
        games = mark
        points.append([against_opponent(memory, UNIFORM[opponent]).score for opponent in menace_and_after.TEACHERS])
        if games == menace_and_after.N_GAMES:
            worst = worst_case(memory).score
    return [points, worst]


CASES: list[tuple[str, dict[str, int], Any, tuple[int, ...]]] = [
    ("gardner", {"machines": 60}, gardner_alone, (0, 7, 49, 50, 59)),
    (
        "michie-tournament",
        {"tournaments": 10, "games": 40},
        lambda part_index: michie_alone(part_index, 10, 40),
        (0, 9, 29),
    ),
    (
        "hexapawn-rewards",
        {"machines": 10, "games": 150},
        lambda part_index: rewards_alone(part_index, 10, hexapawn_rewards._marks({"games": 150})),
        (0, 6, 10, 19, 25),
    ),
    (
        "hexapawn-resigns",
        {"pairs": 10, "games": 50},
        lambda part_index: resignations_alone(part_index, 10, 50),
        (0, 9, 10, 13),
    ),
    (
        "menace-and-after",
        {"machines": 5, "games": 1000, "mark": N_MENACES},
        lambda part_index: menace_alone(part_index, 5, menace_and_after._marks({"games": 1000})),
        (0, N_MENACES - 1, N_MENACES, N_MENACES + 4, 2 * N_MENACES + 25, 7 * N_MENACES + 151),
    ),
]


@pytest.mark.parametrize(("slug", "parameters", "alone", "part_indices"), CASES, ids=[case[0] for case in CASES])
def test_each_part_equals_the_training_of_its_machine_alone(
    slug: str, parameters: dict[str, int], alone: Any, part_indices: Any
):
    experiment = EXPERIMENTS[slug]
    settings = experiment.settings(parameters)
    for part_index in part_indices:
        # An experiment that is resumed in the middle of a batch gives the same results.
        for part in (
            experiment.parts(settings, SEED, part_index)[0],
            experiment.parts(settings, SEED, part_index - part_index % 5)[part_index % 5],
        ):
            assert list(part) == list(alone(part_index)), part_index
