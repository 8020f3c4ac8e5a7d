"""Every kernel leaves exactly the state of the readable machine: beads, draws, totals, tally and random state."""

from collections import Counter
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.episodes import train_episodes
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule, EmptyOpening, FinalLoss, WhenEmpty
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from tests.beadbox.box_rules import EXAMPLE_RULES, box_rules
from tests.beadbox.cached_games import CACHED_OPPONENTS, with_cached_rules
from tests.beadbox.cached_games import NOUGHTS_AND_CROSSES as GAME

PAWNS = {slug: with_cached_rules(GAMES[slug]) for slug in ("hexapawn", "hexapawn-4x4")}
each_side = pytest.mark.parametrize("side", Side, ids=["first", "second"])


class CountingMenace(BoxMachine):
    """A readable machine that counts how often each slot is played, as the kernels do."""

    def __init__(self, *arguments, **settings):
        super().__init__(*arguments, **settings)
        self.played = Counter()

    def restock(self, draws, result, *, resigned=False, unfinished=False):
        if self.learns:
            self.played.update((draw.box, draw.slot) for draw in draws)
        return super().restock(draws, result, resigned=resigned, unfinished=unfinished)


def assert_same_memory(memory: Memory, machine: CountingMenace) -> None:
    table = memory.table
    for box, key in enumerate(table.keys):
        slots = memory.slots(box)
        beads = machine.boxes.get(key, table.initial[slots].tolist())
        assert memory.beads[slots].tolist() == beads, key
        assert memory.visits[slots].tolist() == [machine.played[key, slot] for slot in range(len(beads))], key
        assert memory.totals[box] == sum(beads), key
    assert set(machine.boxes) <= set(table.keys)
    assert memory.n_removed == machine.n_removed


def assert_kernel_equals_readable(rule, side, opponent, n_games, seed=1, chunks=1, game=GAME):
    machine, source = CountingMenace(game, side, rule), RandomSource(seed)
    tally = train_episodes(machine, CACHED_OPPONENTS[opponent], n_games, source)

    memory, kernel_source = Memory.fresh(boxes_compile(game, side, rule)), RandomSource(seed)
    counted = np.zeros(3, np.int64)
    for _ in range(chunks):
        counted += astuple(memory.train(CACHED_OPPONENTS[opponent], n_games // chunks, kernel_source))
    assert tuple(counted) == astuple(tally)
    assert kernel_source.words == source.words
    assert_same_memory(memory, machine)


@pytest.mark.parametrize("opponent", ["random", "perfect"])
@each_side
@pytest.mark.parametrize("slug", PRESETS)
@pytest.mark.sampled(6)
def test_presets_equal_the_readable_machine_over_5000_games(slug, side, opponent):
    assert_kernel_equals_readable(PRESETS[slug].rule, side, opponent, 5_000)


@pytest.mark.parametrize("opponent", ["win-block", "perfect-fast"])
@each_side
@pytest.mark.parametrize("slug", PRESETS)
@pytest.mark.sampled(6)
def test_presets_equal_the_readable_machine_with_other_teachers(slug, side, opponent):
    assert_kernel_equals_readable(PRESETS[slug].rule, side, opponent, 500)


@pytest.mark.parametrize("opponent", ["random", "perfect"])
@each_side
@pytest.mark.parametrize("slug", PRESETS)
@pytest.mark.parametrize(("game", "n_games"), [("hexapawn", 1_000), ("hexapawn-4x4", 60)])
@pytest.mark.sampled(6)
def test_presets_equal_the_readable_machine_in_hexapawn(game, n_games, slug, side, opponent):
    assert_kernel_equals_readable(PRESETS[slug].rule, side, opponent, n_games, game=PAWNS[game])


@pytest.mark.parametrize("opponent", ["random", "perfect"])
@each_side
@pytest.mark.parametrize("name", EXAMPLE_RULES)
@pytest.mark.sampled(8)
def test_example_rules_equal_the_readable_machine(name, side, opponent):
    assert_kernel_equals_readable(EXAMPLE_RULES[name], side, opponent, 1_000, seed=2)


@given(box_rules(), st.sampled_from(Side), st.sampled_from(list(UNIFORM)), st.integers(0, 2**64))
@settings(max_examples=50)
def test_any_rule_equals_the_readable_machine(rule, side, opponent, seed):
    assert_kernel_equals_readable(rule, side, opponent, 60, seed)


def test_sample_games_exercise_every_field_of_the_rules():
    """The example rules are useful only if machines resign, refill, remove slots and run empty under them."""
    machine = CountingMenace(GAME, Side.FIRST, EXAMPLE_RULES["hexapawn-like"])
    tally = train_episodes(machine, CACHED_OPPONENTS["random"], 1_000, RandomSource(2))
    assert machine.n_removed > 100
    assert tally.wins > 0 < tally.losses
    assert any(sum(beads) == 100 for beads in machine.boxes.values())
    emptied = CountingMenace(GAME, Side.FIRST, EXAMPLE_RULES["plays anything, merged"])
    train_episodes(emptied, CACHED_OPPONENTS["perfect"], 1_000, RandomSource(2))
    assert any(not any(beads) for beads in emptied.boxes.values())


def test_training_in_chunks_is_training_at_once():
    assert_kernel_equals_readable(BoxRule(), Side.FIRST, "random", 1_000, chunks=10)


def test_training_on_the_game_with_caches_changes_nothing():
    memories = []
    for game in (GAMES["noughts-and-crosses"], GAME):
        memory = Memory.fresh(boxes_compile(game, Side.SECOND, PRESETS["michie-refill"].rule))
        memory.train(UNIFORM["perfect"], 2_000, RandomSource(8))
        memories.append(memory)
    assert np.array_equal(memories[0].beads, memories[1].beads)
    assert np.array_equal(memories[0].visits, memories[1].visits)


def test_the_seed_determines_the_training():
    def train_with_seed(seed):
        memory = Memory.fresh(boxes_compile(GAME, Side.FIRST, BoxRule()))
        tally = memory.train(UNIFORM["random"], 1_000, RandomSource(seed))
        return astuple(tally), memory.beads.tolist()

    assert train_with_seed(1) == train_with_seed(1) != train_with_seed(2)


def test_beads_stop_at_the_greatest_number():
    table = boxes_compile(GAME, Side.FIRST, BoxRule())
    memory = Memory.fresh(table)
    memory.beads[:] = (1 << 27) - 2
    memory.__post_init__()
    memory.train(UNIFORM["random"], 2_000, RandomSource(1))
    assert memory.beads.max() == 1 << 27
    assert np.array_equal(memory.totals, np.add.reduceat(memory.beads, table.slot_indptr[:-1], dtype=np.int64))


def assert_pair_equals_readable(rule, other_rule, side, n_games, *, opponent_learns, seed=3, game=GAME):
    learner = CountingMenace(game, side, rule)
    other = CountingMenace(game, side.other, other_rule)
    memories = [Memory.fresh(boxes_compile(game, m.side, m.rule)) for m in (learner, other)]
    source, kernel_source = RandomSource(seed), RandomSource(seed)
    # Both machines have learnt before they meet.
    for machine, memory in zip((learner, other), memories, strict=True):
        train_episodes(machine, CACHED_OPPONENTS["random"], 100, source)
        memory.train(CACHED_OPPONENTS["random"], 100, kernel_source)
    other.learns = opponent_learns

    tally = train_episodes(learner, other, n_games, source)
    counted = memories[0].train_against(memories[1], n_games, kernel_source, opponent_learns=opponent_learns)
    assert astuple(counted) == astuple(tally)
    assert kernel_source.words == source.words
    assert_same_memory(memories[0], learner)
    assert_same_memory(memories[1], other)


@pytest.mark.parametrize("opponent_learns", [True, False], ids=["both learn", "the other is frozen"])
@each_side
@pytest.mark.parametrize("slug", PRESETS)
@pytest.mark.sampled(6)
def test_pairs_of_presets_equal_readable_pairs(slug, side, opponent_learns):
    # The APL notebook does not merge symmetric boards, so its opponent has the same preset.
    other = PRESETS[slug if slug == "apl-notebook" else "scroggs"].rule
    assert_pair_equals_readable(PRESETS[slug].rule, other, side, 1_000, opponent_learns=opponent_learns)


@pytest.mark.parametrize(("game", "n_games"), [("hexapawn", 300), ("hexapawn-4x4", 60)])
@pytest.mark.parametrize("slug", [slug for slug in PRESETS if slug.startswith(("gardner", "hexapawn"))])
@pytest.mark.sampled(3)
def test_pairs_of_presets_equal_readable_pairs_in_hexapawn(game, n_games, slug):
    rule = PRESETS[slug].rule
    assert_pair_equals_readable(rule, rule, Side.FIRST, n_games, opponent_learns=True, game=PAWNS[game])


@pytest.mark.parametrize("opponent_learns", [True, False], ids=["both learn", "the other is frozen"])
@pytest.mark.parametrize("name", EXAMPLE_RULES)
@pytest.mark.sampled(6)
def test_pairs_with_example_rules_equal_readable_pairs(name, opponent_learns):
    rule = EXAMPLE_RULES[name]
    others = {
        True: [
            BoxRule(initial=(1,), empty_opening=EmptyOpening.STOP),
            BoxRule(initial=(1,), when_empty=WhenEmpty.UNIFORM),
        ],
        False: [EXAMPLE_RULES["as it lies, removes"], PRESETS["apl-notebook"].rule],
    }
    for other, side in zip(others[rule.reduce_symmetry], Side, strict=True):
        assert_pair_equals_readable(rule, other, side, 400, opponent_learns=opponent_learns)


@given(box_rules(), box_rules(), st.sampled_from(Side), st.booleans(), st.integers(0, 2**64))
@settings(max_examples=40)
def test_any_pair_equals_its_readable_pair(rule, other, side, opponent_learns, seed):
    if rule.reduce_symmetry == other.reduce_symmetry:
        assert_pair_equals_readable(rule, other, side, 50, opponent_learns=opponent_learns, seed=seed)


def test_training_against_a_frozen_machine_leaves_it_unchanged():
    rule = BoxRule(initial=(1,), final_loss=FinalLoss.REMOVE, when_empty=WhenEmpty.REFILL)
    learner = Memory.fresh(boxes_compile(GAME, Side.FIRST, BoxRule()))
    frozen = Memory.fresh(boxes_compile(GAME, Side.SECOND, rule))
    frozen.beads[::2] = 0
    frozen.beads[:40] = 0
    frozen.__post_init__()
    before = frozen.copy()
    learner.train_against(frozen, 1_000, RandomSource(1), opponent_learns=False)
    assert frozen.touched() == []
    assert frozen.n_removed == before.n_removed
    assert np.array_equal(frozen.totals, before.totals)
    assert learner.visits.sum() > 1_000


def test_machines_of_one_side_or_unlike_boxes_are_refused():
    """Opponents need different sides and the same treatment of symmetric positions."""
    first, second, raw = (
        Memory.fresh(boxes_compile(GAME, side, PRESETS[slug].rule))
        for side, slug in ((0, "michie-1961"), (1, "michie-1961"), (1, "apl-notebook"))
        for side in (Side(side),)
    )
    with pytest.raises(ValueError, match="same side"):
        first.train_against(first.copy(), 1, RandomSource(1), opponent_learns=True)
    with pytest.raises(ValueError, match="as they lie"):
        first.train_against(raw, 1, RandomSource(1), opponent_learns=True)
    with pytest.raises(ValueError, match="as they lie"):
        train_episodes(
            BoxMachine(GAME, Side.FIRST, first.table.cabinet.rule),
            BoxMachine(GAME, Side.SECOND, raw.table.cabinet.rule),
            1,
            RandomSource(1),
        )
    assert first.train_against(second, 10, RandomSource(1), opponent_learns=True).games == 10
