"""Compiled games of machines that keep values equal those of the readable loop to the last bit."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.learner import QLearner, Values
from beadbox.learners.q_learning.memory import QMemory, play_games
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Tally
from beadbox.rules.registry import GAMES
from beadbox.rules.romgon.rules import Romgon

CAREFUL_RULE = Q_PRESETS["romgon-q-careful"].rule


class ValueStore:
    """A store of values that can be read by key or by board."""

    def __init__(self, stored: dict[str, float]) -> None:
        self.stored = stored

    def values_by_key(self, keys: Sequence[str]) -> dict[str, float]:
        return {key: self.stored[key] for key in keys if key in self.stored}

    def values_of_boards(self, boards: Sequence[str]) -> dict[str, float]:
        return {key: value for key, value in self.stored.items() if key.partition("#")[2] in boards}


def make_learner(
    slug: str, rule: QRule, stored: dict[str, float], max_new_values: int | None, *, by_board: bool = True
) -> QLearner:
    game, store = GAMES[slug], ValueStore(stored)
    assert isinstance(game, Romgon)
    return QLearner(
        game, rule, Values(store.values_by_key, max_new_values, store.values_of_boards if by_board else None)
    )


def full_state(machine: QLearner, tally: Tally, rng: RandomSource) -> tuple[object, ...]:
    """Return the complete state of a machine after games: values, exploration rate, tally and random state."""
    values = machine.values
    after = {key: (*before, values[key]) for key, before in values.touched.items()}
    return after, values.n_new, values.n_left_out, machine.epsilon, tally, rng.words


def stored_values(machine: QLearner) -> dict[str, float]:
    return {key: machine.values[key] for key in machine.values.touched}


@pytest.mark.parametrize(
    ("slug", "rule", "opponent", "max_new_values"),
    [
        ("romgon", QRule(), "easy", None),
        ("romgon-flip", QRule(), "skilled", None),
        ("romgon", CAREFUL_RULE, "random", 150),
        ("romgon", replace(CAREFUL_RULE, epsilon=1.0, epsilon_floor=0.0, epsilon_decay=0.5), "medium", None),
        ("romgon-flip", CAREFUL_RULE, "beginner", None),
        ("romgon-flip-turn-shape-shuttle", replace(QRule(), avoid_repetition=True), "easy", 40),
    ],
)
def test_training_equals_the_readable_loop(slug: str, rule: QRule, opponent: str, max_new_values: int | None) -> None:
    stored = dict[str, float]()
    for seed in range(2):  # in the second round the values of many keys are already stored
        readable, rng = make_learner(slug, rule, stored, max_new_values), RandomSource(seed)
        expected = full_state(readable, play_games(readable, OPPONENTS[opponent], 3, rng), rng)
        for by_board in (False, True):
            memory, rng = (
                QMemory(make_learner(slug, rule, stored, max_new_values, by_board=by_board)),
                RandomSource(seed),
            )
            # The second call continues with the values of the first.
            tally = memory.train(OPPONENTS[opponent], 1, rng)
            tally += memory.train(OPPONENTS[opponent], 2, rng)
            assert full_state(memory.machine, tally, rng) == expected
        stored |= stored_values(readable)


@pytest.mark.parametrize("opponent_learns", [False, True])
def test_training_against_machines_equals_the_readable_loop(opponent_learns: bool) -> None:
    rules = CAREFUL_RULE, replace(QRule(), learning_rate=0.5, step_reward=-0.1, discount=1.0)
    stored = {}, {}
    for seed in range(2):
        readable, rng = (
            [make_learner("romgon", *pair, None) for pair in zip(rules, stored, strict=True)],
            RandomSource(seed),
        )
        tally = play_games(readable[0], readable[1], 2, rng, other_learns=opponent_learns)
        tally += play_games(readable[0], readable[0], 2, rng, other_learns=opponent_learns)
        expected = [full_state(one, tally, rng) for one in readable]
        one, other = (QMemory(make_learner("romgon", *pair, None)) for pair in zip(rules, stored, strict=True))
        rng = RandomSource(seed)
        tally = one.train_against(other, 2, rng, opponent_learns=opponent_learns)
        tally += one.train_against(one, 2, rng, opponent_learns=opponent_learns)
        assert [full_state(memory.machine, tally, rng) for memory in (one, other)] == expected
        for values, machine in zip(stored, readable, strict=True):
            values.update(stored_values(machine))


def test_sample_equals_the_readable_loop_and_teaches_nothing() -> None:
    memory, rng = QMemory(make_learner("romgon", QRule(), {}, None)), RandomSource(4)
    memory.train(OPPONENTS["easy"], 5, rng)
    before, readable_rng = full_state(memory.machine, Tally(), rng), RandomSource(4)
    found = memory.sample(OPPONENTS["medium"], 9, RandomSource(9))
    assert full_state(memory.machine, Tally(), rng) == before
    readable = make_learner("romgon", QRule(), {}, None)
    play_games(readable, OPPONENTS["easy"], 5, readable_rng)
    frozen = QLearner(readable.game, readable.rule, readable.values, readable.epsilon, learns=False)
    tally = play_games(frozen, OPPONENTS["medium"], 9, RandomSource(9), alternate_sides=True)
    assert (found.win, found.draw, found.loss) == (tally.wins / 9, tally.draws / 9, tally.losses / 9)
    frozen.epsilon = 0.0
    tally = play_games(frozen, OPPONENTS["hard"], 5, RandomSource(9), alternate_sides=True, n_random=4)
    assert memory.contest(OPPONENTS["hard"], 5, RandomSource(9), n_random=4) == tally


def test_opponents_without_compiled_games_are_supported() -> None:
    memory, readable = (
        QMemory(make_learner("romgon", CAREFUL_RULE, {}, None)),
        make_learner("romgon", CAREFUL_RULE, {}, None),
    )
    rng, readable_rng = RandomSource(1), RandomSource(1)
    tally = memory.train(OPPONENTS["win-block"], 1, rng)
    expected = play_games(readable, OPPONENTS["win-block"], 1, readable_rng)
    assert full_state(memory.machine, tally, rng) == full_state(readable, expected, readable_rng)


def test_the_hash_table_grows_as_needed() -> None:
    memory, rng = QMemory(make_learner("romgon", CAREFUL_RULE, {}, None)), RandomSource(1)
    tally = memory.train(OPPONENTS["easy"], 120, rng)
    assert tally.games == 120
    assert memory.n_new == len(memory.machine.values.touched) > 2048
