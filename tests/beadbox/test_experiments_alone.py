"""Batched experiments give, number for number, the results of each machine alone."""

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
FIRST_MARK = 20


def fresh_memory(slug: str, preset: str, side: Side) -> Memory:
    return Memory.fresh(boxes_compile(GAMES[slug], side, PRESETS[preset].rule))


def gardner_alone(number: int) -> Any:
    memory, rng, games, losses = fresh_memory("hexapawn", "gardner-her", Side.SECOND), RandomSource(SEED, number), 0, 0
    while worst_case(memory).win < 1 - 1e-9:
        losses += memory.train(RANDOM, 1, rng).losses
        games += 1
    return games, losses


def michie_alone(number: int, n: int, n_games: int) -> Any:
    teacher, number = divmod(number, n)
    memory, rng = fresh_memory("noughts-and-crosses", "michie-1961", Side.FIRST), RandomSource(SEED, number)
    first_box = memory.slots(int(memory.table.node_box[0]))
    drawn, opening = [], [memory.beads[first_box].tolist()]
    for _ in range(n_games):
        drawn.append(memory.train(michie_tournament.TEACHERS[teacher][1], 1, rng).draws)
        opening.append(memory.beads[first_box].tolist())
    return drawn, opening


def rewards_alone(number: int, n: int, marks: list[int]) -> Any:
    scheme, number = divmod(number, n)
    memory = fresh_memory("hexapawn", hexapawn_rewards.SCHEMES[scheme], Side.SECOND)
    rng, losses = RandomSource(SEED, number), 0
    perfect_after = losses_by_then = None
    wins, worst = [], []
    for game in range(marks[-1] + 1):
        if game:
            losses += memory.train(RANDOM, 1, rng).losses
        exact = worst_case(memory).win
        if perfect_after is None and exact > 1 - 1e-9:
            perfect_after, losses_by_then = game, losses
        if game in marks:
            wins.append(against_opponent(memory, RANDOM).win)
            worst.append(exact if perfect_after is None else 1.0)
    return [perfect_after, losses_by_then, wins, worst]


def resignations_alone(number: int, n: int, n_games: int) -> Any:
    preset, number = divmod(number, n)
    slug = ("hexapawn-rl-as-shipped", "hexapawn-rl")[preset]
    first, second = (fresh_memory("hexapawn", slug, side) for side in Side)
    rng, opening = RandomSource(SEED, number), first.slots(int(first.table.node_box[0]))
    empty_after, empties, n_moved, n_moved_after, n_after, wins = None, 0, 0, 0, 0, []
    for game in range(n_games):
        wins.append(first.train_against(second, 1, rng, opponent_learns=True).wins)
        moved = int(first.visits[opening].sum()) > n_moved
        n_moved += moved
        if empty_after is not None:
            n_after += 1
            n_moved_after += moved
        if moved and not first.beads[opening].any():
            empties += 1
            empty_after = empty_after or game + 1
    return [empty_after, empties, n_moved_after, n_after, wins]


def menace_alone(number: int, n: int, marks: list[int]) -> Any:
    lesson, number = divmod(number, FIRST_MARK + len(menace_and_after.LEARNERS) * n)
    slug, side, teacher = menace_and_after.LESSONS[lesson]
    if number < FIRST_MARK:
        memory = fresh_memory(slug, menace_and_after.MENACE, side)
        memory.train(UNIFORM[teacher], menace_and_after.N_GAMES, RandomSource(SEED, number))
        against = [against_opponent(memory, UNIFORM[opponent]).score for opponent in menace_and_after.TEACHERS]
        return [*against, worst_case(memory).score]
    number -= FIRST_MARK
    memory, rng, games = fresh_memory(slug, menace_and_after.MENACE, side), RandomSource(SEED, number), 0
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
    ("michie-tournament", {"tournaments": 10, "games": 40}, lambda at: michie_alone(at, 10, 40), (0, 9, 29)),
    (
        "hexapawn-rewards",
        {"machines": 10, "games": 150},
        lambda at: rewards_alone(at, 10, hexapawn_rewards._marks({"games": 150})),
        (0, 6, 10, 19, 25),
    ),
    ("hexapawn-resigns", {"pairs": 10, "games": 50}, lambda at: resignations_alone(at, 10, 50), (0, 9, 10, 13)),
    (
        "menace-and-after",
        {"machines": 5, "games": 1000, "mark": FIRST_MARK},
        lambda at: menace_alone(at, 5, menace_and_after._marks({"games": 1000})),
        (0, FIRST_MARK - 1, FIRST_MARK, FIRST_MARK + 4, 2 * FIRST_MARK + 25, 7 * FIRST_MARK + 151),
    ),
]


@pytest.mark.parametrize(("slug", "given", "alone", "numbers"), CASES, ids=[case[0] for case in CASES])
def test_each_part_equals_the_training_of_its_machine_alone(slug: str, given: dict[str, int], alone: Any, numbers: Any):
    experiment = EXPERIMENTS[slug]
    settings = experiment.settings(given)
    for number in numbers:
        # An experiment resumed in the middle of a batch finds the same.
        for part in (
            experiment.parts(settings, SEED, number)[0],
            experiment.parts(settings, SEED, number - number % 5)[number % 5],
        ):
            assert list(part) == list(alone(number)), number
