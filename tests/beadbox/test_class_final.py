"""The final of a class: exact points of every pair, places, and a typical match."""

import time
from dataclasses import replace

import numpy as np
import pytest

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS, default_preset
from beadbox.learners.boxes.strength import against_machine, against_opponent, readable_machine
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import UNIFORM
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.strength.exact import Floats
from beadbox.tournaments.class_final import pairs_chances, ranking, typical_match

TEACHERS = ("random", "win-block", "perfect")


def train_memory(slug: str, side: Side, number: int, n_games: int = 50) -> Memory:
    game = game_get(slug)
    memory = Memory.fresh(boxes_compile(game, side, PRESETS[default_preset(game, side)].rule))
    memory.train(UNIFORM[TEACHERS[number % 3]], n_games, RandomSource(number))
    return memory


def contest_player(memory: Memory) -> ContestPlayer:
    frozen = FrozenBoxes(memory)
    return ContestPlayer(frozen, frozen)


def pairs_array(game: AnyGame, firsts: list[ContestPlayer], seconds: list[ContestPlayer]) -> Floats:
    found = [*pairs_chances(game, firsts, seconds)]
    return np.array(found).reshape(len(firsts), len(seconds), 4)


def contest_opponent(slug: str) -> ContestPlayer:
    return ContestPlayer(UNIFORM[slug], UNIFORM[slug])


def shares_of(strength: object) -> list[float]:
    return [getattr(strength, name) for name in ("win", "draw", "loss", "endless", "endless_points")]


@pytest.mark.parametrize("slug", ["hexapawn", "noughts-and-crosses", "pong-hau-ki", "mu-torere"])
def test_places_have_the_strength_against_the_opponent(slug: str) -> None:
    game = game_get(slug)
    for side in Side:
        machines = [train_memory(slug, side, number) for number in range(4)]
        players, one = [contest_player(machine) for machine in machines], [contest_opponent("win-block")]
        value = pairs_array(game, players, one) if side is Side.FIRST else pairs_array(game, one, players)
        places = ranking(game, side, value, list("abcd"))
        assert sorted(place.index for place in places) == [0, 1, 2, 3]
        for place in places:
            exact = against_opponent(machines[place.index], UNIFORM["win-block"])
            assert shares_of(place.strength) == pytest.approx(shares_of(exact), abs=1e-12)
        assert [place.strength.score for place in places] == sorted(
            (place.strength.score for place in places), reverse=True
        )


def test_unequal_halves_get_the_mean_over_all_pairs() -> None:
    game = game_get("hexapawn")
    firsts = [train_memory("hexapawn", Side.FIRST, number) for number in range(3)]
    seconds = [train_memory("hexapawn", Side.SECOND, number) for number in range(2)]
    value = pairs_array(game, [*map(contest_player, firsts)], [*map(contest_player, seconds)])
    rest = list(pairs_chances(game, [*map(contest_player, firsts)], [*map(contest_player, seconds)], 4))
    assert np.array_equal(rest, value.reshape(6, 4)[4:])
    for place in ranking(game, Side.FIRST, value, list("abc")):
        exact = [against_machine(firsts[place.index], other) for other in seconds]
        assert place.strength.score == pytest.approx(np.mean([one.score for one in exact]), abs=1e-12)
    for place in ranking(game, Side.SECOND, value, list("ab")):
        exact = [against_machine(seconds[place.index], other) for other in firsts]
        assert place.strength.score == pytest.approx(np.mean([one.score for one in exact]), abs=1e-12)


def test_equal_points_go_to_fewer_losses_then_to_the_name() -> None:
    game = game_get("noughts-and-crosses")
    value = np.array([[[0.5, 0.5, 0, 0]], [[0, 0, 1, 0]], [[0, 0, 1, 0]], [[1, 0, 0, 0]]], float)
    found = ranking(game, Side.FIRST, value, ["Zoe", "Bea", "Ann", "Max"])
    assert [(place.place, place.index) for place in found] == [(1, 3), (2, 2), (2, 1), (4, 0)]


def test_rules_with_and_without_symmetry_meet() -> None:
    game = game_get("hexapawn")
    rule = PRESETS[default_preset(game, Side.FIRST)].rule
    unreduced_rule = replace(rule, reduce_symmetry=not rule.reduce_symmetry, merge_symmetric_moves=False)
    first = Memory.fresh(boxes_compile(game, Side.FIRST, unreduced_rule))
    second = train_memory("hexapawn", Side.SECOND, 1)
    assert first.table.graph is not second.table.graph
    value = pairs_array(game, [contest_player(first)], [contest_player(second)])
    assert ranking(game, Side.FIRST, value, ["a"])[0].strength.score == pytest.approx(
        against_machine(first, second).score, abs=1e-12
    )


@pytest.mark.parametrize("slug", ["noughts-and-crosses", "mu-torere"])
def test_pairs_of_sixty_machines_take_seconds(slug: str) -> None:
    firsts = [contest_player(train_memory(slug, Side.FIRST, number, 20)) for number in range(30)]
    seconds = [contest_player(train_memory(slug, Side.SECOND, number, 20)) for number in range(30)]
    begin = time.process_time()
    value = pairs_array(game_get(slug), firsts, seconds)
    assert time.process_time() - begin < 20
    assert value.sum(axis=2) == pytest.approx(1, abs=1e-9)


def test_a_class_without_machines_has_no_places() -> None:
    game = game_get("hexapawn")
    assert ranking(game, Side.SECOND, pairs_array(game, [contest_opponent("perfect")], []), []) == []


@pytest.mark.parametrize("slug", ["hexapawn", "noughts-and-crosses", "three-mens-morris"])
def test_typical_match_has_the_likeliest_result_and_all_boxes(slug: str) -> None:
    game = game_get(slug)
    first, second = train_memory(slug, Side.FIRST, 0), train_memory(slug, Side.SECOND, 1)
    value = pairs_array(game, [contest_player(first)], [contest_player(second)])[0, 0]
    machines = [readable_machine(memory) for memory in (first, second)]
    for machine in machines:
        machine.learns = False
    match = typical_match(game, machines[0].choose, machines[1].choose, value)
    assert not match.game.is_unfinished
    assert match.game.outcome.winner is (Side.FIRST, Side.SECOND, None)[int(np.argmax(value[:3]))]
    n_moves = len(match.game.turns)
    for ply, (position, move) in enumerate(match.game.turns):
        machine = machines[game.side_to_move(position)]
        assert (ply in match.draws) == machine.cabinet.has_box(position)
        if ply in match.draws:
            draw = match.draws[ply]
            assert draw.box == game.encode(machine.cabinet.box_position(position))
            assert draw.slot is not None
            assert move in machine.cabinet.slot_moves(position)[draw.slot]
    assert set(match.draws) <= set(range(n_moves + 1))
    assert typical_match(game, machines[0].choose, machines[1].choose, value) == match
