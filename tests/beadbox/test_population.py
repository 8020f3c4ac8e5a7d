"""A machine of a population has exactly the beads and the strength of the same machine trained alone."""

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.population import Population
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import against_opponent, worst_case
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from tests.beadbox.box_rules import EXAMPLE_RULES
from tests.beadbox.cached_games import CACHED_OPPONENTS, with_cached_rules

GAME, HEXAPAWN = GAMES["noughts-and-crosses"], with_cached_rules(GAMES["hexapawn"])
MARKS = [0, 1, 30, 300]
RULES = {"scroggs": PRESETS["scroggs"].rule, "apl-notebook": PRESETS["apl-notebook"].rule, **EXAMPLE_RULES}


def assert_equals_machine_alone(population: Population, row: int, memory: Memory) -> None:
    for name in ("beads", "visits", "totals"):
        assert np.array_equal(getattr(population, name)[row], getattr(memory, name)), name
    assert population.memory(row).n_removed == memory.n_removed


@pytest.mark.parametrize("side", Side, ids=["first", "second"])
@pytest.mark.parametrize("name", RULES)
def test_each_machine_equals_the_same_machine_alone(name, side):
    table = boxes_compile(HEXAPAWN, side, RULES[name])
    sources = [RandomSource(7, number) for number in range(11)]
    population = Population.fresh(table, sources)
    snapshots = population.train(CACHED_OPPONENTS["random"], MARKS, [CACHED_OPPONENTS["perfect"]], worst=True)
    opening = Memory.fresh(table).slots(int(table.node_box[0])) if side is Side.FIRST else slice(0)
    for row in range(len(population)):
        memory, rng = Memory.fresh(table), RandomSource(7, row)
        n_games_done = 0
        tally = np.zeros(3, np.int64)
        for mark_index, mark in enumerate(MARKS):
            chunk_tally = memory.train(CACHED_OPPONENTS["random"], mark - n_games_done, rng)
            tally += (chunk_tally.wins, chunk_tally.draws, chunk_tally.losses)
            n_games_done = mark
            for found, alone in zip(
                snapshots.strength[row, mark_index],
                (against_opponent(memory, CACHED_OPPONENTS["perfect"]), worst_case(memory)),
                strict=True,
            ):
                assert found == pytest.approx((alone.win, alone.draw, alone.loss, 0), abs=1e-12)
            assert snapshots.tallies[row, mark_index].tolist() == [*tally, memory.n_removed]
            assert snapshots.openings[row, mark_index].T.tolist() == [
                memory.beads[opening].tolist(),
                memory.visits[opening].tolist(),
            ]
        assert_equals_machine_alone(population, row, memory)
        assert population.source(row).words == rng.words
        played = population.played(row)
        assert (played.wins, played.draws, played.losses) == tuple(tally)


@pytest.mark.parametrize("side", Side, ids=["first", "second"])
@pytest.mark.parametrize("slug", ["michie-refill", "gardner-her", "matchbox-ai"])
def test_each_pair_equals_the_same_pair_alone(slug, side):
    rule = PRESETS[slug].rule
    tables = [boxes_compile(GAME, one_side, rule) for one_side in (side, side.other)]
    sources = [RandomSource(number) for number in range(3)]
    learners, partners = (Population.fresh(table, sources) for table in tables)
    snapshots = learners.train_against(partners, [100, 400], [UNIFORM["win-block"]])
    for row in range(3):
        ours, theirs = (Memory.fresh(table) for table in tables)
        rng = RandomSource(row)
        tally = ours.train_against(theirs, 400, rng, opponent_learns=True)
        assert_equals_machine_alone(learners, row, ours)
        assert_equals_machine_alone(partners, row, theirs)
        assert learners.source(row).words == rng.words
        alone = against_opponent(ours, UNIFORM["win-block"])
        assert snapshots.strength[row, 1, 0] == pytest.approx((alone.win, alone.draw, alone.loss, 0), abs=1e-12)
        assert snapshots.tallies[row, 1].tolist() == [tally.wins, tally.draws, tally.losses, ours.n_removed]


def test_partners_that_cannot_play_each_other_are_refused():
    rule, sources = PRESETS["michie-1961"].rule, [RandomSource(1)]
    first = Population.fresh(boxes_compile(GAME, Side.FIRST, rule), sources)
    second = boxes_compile(GAME, Side.SECOND, rule)
    raw = boxes_compile(GAME, Side.SECOND, PRESETS["apl-notebook"].rule)
    with pytest.raises(ValueError, match="same side"):
        first.train_against(first.copy(), [1])
    with pytest.raises(ValueError, match="every machine needs a partner"):
        first.train_against(Population.fresh(second, sources * 2), [1])
    with pytest.raises(ValueError, match="see boards"):
        first.train_against(Population.fresh(raw, sources), [1])
