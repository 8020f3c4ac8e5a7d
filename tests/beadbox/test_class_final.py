"""The final of a class: exact points of every pair, places, and a match that is no fluke."""

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
from beadbox.tournaments.class_final import match_typical, ranking
from beadbox.tournaments.class_final import pairs_chances as pairs_of_players

TEACHERS = ("random", "win-block", "perfect")


def taught(slug: str, side: Side, number: int, n_games: int = 50) -> Memory:
    game = game_get(slug)
    memory = Memory.fresh(boxes_compile(game, side, PRESETS[default_preset(game, side)].rule))
    memory.train(UNIFORM[TEACHERS[number % 3]], n_games, RandomSource(number))
    return memory


def player(memory: Memory) -> ContestPlayer:
    frozen = FrozenBoxes(memory)
    return ContestPlayer(frozen, frozen)


def pairs_chances(game: AnyGame, firsts: list[ContestPlayer], seconds: list[ContestPlayer]) -> Floats:
    found = [*pairs_of_players(game, firsts, seconds)]
    return np.array(found).reshape(len(firsts), len(seconds), 4)


def opponent(slug: str) -> ContestPlayer:
    return ContestPlayer(UNIFORM[slug], UNIFORM[slug])


def shares(strength: object) -> list[float]:
    return [getattr(strength, name) for name in ("win", "draw", "loss", "endless", "endless_points")]


@pytest.mark.parametrize("slug", ["hexapawn", "noughts-and-crosses", "pong-hau-ki", "mu-torere"])
def test_places_have_the_strength_against_the_opponent(slug: str) -> None:
    game = game_get(slug)
    for side in Side:
        machines = [taught(slug, side, number) for number in range(4)]
        players, one = [player(machine) for machine in machines], [opponent("win-block")]
        value = pairs_chances(game, players, one) if side is Side.FIRST else pairs_chances(game, one, players)
        places = ranking(game, side, value, list("abcd"))
        assert sorted(place.index for place in places) == [0, 1, 2, 3]
        for place in places:
            exact = against_opponent(machines[place.index], UNIFORM["win-block"])
            assert shares(place.strength) == pytest.approx(shares(exact), abs=1e-12)
        assert [place.strength.score for place in places] == sorted(
            (place.strength.score for place in places), reverse=True
        )


def test_unequal_halves_get_the_mean_over_all_pairs() -> None:
    game = game_get("hexapawn")
    firsts = [taught("hexapawn", Side.FIRST, number) for number in range(3)]
    seconds = [taught("hexapawn", Side.SECOND, number) for number in range(2)]
    value = pairs_chances(game, [*map(player, firsts)], [*map(player, seconds)])
    rest = list(pairs_of_players(game, [*map(player, firsts)], [*map(player, seconds)], 4))
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


def test_boards_seen_differently_meet_on_the_full_graph() -> None:
    game = game_get("hexapawn")
    rule = PRESETS[default_preset(game, Side.FIRST)].rule
    lying = replace(rule, reduce_symmetry=not rule.reduce_symmetry, merge_symmetric_moves=False)
    first = Memory.fresh(boxes_compile(game, Side.FIRST, lying))
    second = taught("hexapawn", Side.SECOND, 1)
    assert first.table.graph is not second.table.graph
    value = pairs_chances(game, [player(first)], [player(second)])
    assert ranking(game, Side.FIRST, value, ["a"])[0].strength.score == pytest.approx(
        against_machine(first, second).score, abs=1e-12
    )


@pytest.mark.parametrize("slug", ["noughts-and-crosses", "mu-torere"])
def test_sixty_machines_end_in_seconds(slug: str) -> None:
    firsts = [player(taught(slug, Side.FIRST, number, 20)) for number in range(30)]
    seconds = [player(taught(slug, Side.SECOND, number, 20)) for number in range(30)]
    begin = time.process_time()
    value = pairs_chances(game_get(slug), firsts, seconds)
    assert time.process_time() - begin < 20
    assert value.sum(axis=2) == pytest.approx(1, abs=1e-9)


def test_a_class_of_none_has_no_places() -> None:
    game = game_get("hexapawn")
    assert ranking(game, Side.SECOND, pairs_chances(game, [opponent("perfect")], []), []) == []


@pytest.mark.parametrize("slug", ["hexapawn", "noughts-and-crosses", "three-mens-morris"])
def test_shown_match_ends_as_most_do_and_opens_each_box(slug: str) -> None:
    game = game_get(slug)
    first, second = taught(slug, Side.FIRST, 0), taught(slug, Side.SECOND, 1)
    value = pairs_chances(game, [player(first)], [player(second)])[0, 0]
    machines = [readable_machine(memory) for memory in (first, second)]
    for machine in machines:
        machine.learns = False
    shown = match_typical(game, machines[0].choose, machines[1].choose, value)
    assert not shown.game.is_unfinished
    assert shown.game.outcome.winner is (Side.FIRST, Side.SECOND, None)[int(np.argmax(value[:3]))]
    n_moves = len(shown.game.turns)
    for ply, (position, move) in enumerate(shown.game.turns):
        machine = machines[game.side_to_move(position)]
        assert (ply in shown.draws) == machine.cabinet.has_box(position)
        if ply in shown.draws:
            draw = shown.draws[ply]
            assert draw.box == game.encode(machine.cabinet.box_position(position))
            assert draw.slot is not None
            assert move in machine.cabinet.slot_moves(position)[draw.slot]
    assert set(shown.draws) <= set(range(n_moves + 1))
    assert match_typical(game, machines[0].choose, machines[1].choose, value) == shown
