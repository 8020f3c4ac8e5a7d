"""The time machine, the explanation of a move, and visit chances of boxes: figures equal the readable machine's."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from beadbox.learners.boxes.machine import BoxMachine
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from games.exceptions import MalformedError
from learning.exceptions import BoxNotFoundError
from learning.kinds.boxes.look import boxes_at
from learning.kinds.boxes.training import box_visits
from learning.kinds.boxes.why import why_view
from learning.models import Box, Machine
from learning.services.copies import machine_clone
from tests import factories
from tests.factories import guest, machine, play_out, trained_machine

PRESETS = ["michie-1961", "matchbox-ai", "apl-notebook"]


def current_beads(learner: Machine) -> dict[str, list[int]]:
    return dict(learner.boxes.order_by("ply", "position").values_list("position", "beads"))


def readable_machine(learner: Machine) -> BoxMachine:
    return BoxMachine(learner.game_rules, Side(learner.side), learner.box_rule, current_beads(learner))


def positions_to_move(learner: Machine) -> list[Any]:
    """Return every position with the machine to move, in every orientation."""
    game = learner.game_rules
    positions = frontier = {game.initial_position()}
    while frontier:
        frontier = {game.apply(p, move) for p in frontier for move in game.legal_moves(p)} - positions
        positions = positions | frontier
    return [p for p in sorted(positions) if not game.is_terminal(p) and game.side_to_move(p) == learner.side]


@pytest.mark.django_db
class TestBoxesAt:
    def test_beads_are_those_after_each_lesson(self) -> None:
        learner = machine(Side.SECOND)
        beads_by_lesson: list[dict[str, list[int]] | None] = [current_beads(learner)]
        for seed in range(3):
            beads_by_lesson += [
                None,
                current_beads(trained_machine(learner, games=60, seed=seed)),
            ]  # one step after the first game
            play_out(factories.room("machine", machine=learner.slug).room.code, guest())
            learner.refresh_from_db()
            beads_by_lesson += (
                [current_beads(learner)]
                if learner.n_lessons == len(beads_by_lesson)
                else [None, current_beads(learner)]
            )
        assert learner.n_lessons == len(beads_by_lesson) - 1 >= 6
        for number, boxes in enumerate(beads_by_lesson):
            if boxes is not None:
                assert boxes_at(learner, number) == boxes
        assert boxes_at(learner, learner.n_lessons + 99) == current_beads(learner)

    def test_boxes_take_one_query_and_are_in_order_of_play(self) -> None:
        learner = trained_machine(machine(Side.FIRST))
        with CaptureQueriesContext(connection) as queries:
            boxes = boxes_at(learner, 0)
        assert len(queries) == 1
        assert list(boxes) == list(learner.boxes.order_by("ply", "position").values_list("position", flat=True))

    def test_a_copy_begins_with_the_beads_of_its_original(self) -> None:
        learner = trained_machine(machine())
        copy = machine_clone(machine_id=learner.pk, name="Copy")
        assert boxes_at(copy, 0) == current_beads(learner)


@pytest.mark.django_db
class TestExplanation:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_every_move_agrees_with_the_readable_machine(self, preset: str) -> None:
        learner = trained_machine(machine(Side.SECOND, preset), games=3000)
        menace, game = readable_machine(learner), learner.game_rules
        # All orientations of a sample across the whole game.
        for position in positions_to_move(learner)[::37]:
            view = why_view(learner, game.encode(position))
            policy = menace.policy(position)
            assert {m["move"]: m["probability"] for m in view["moves"]} == pytest.approx(
                {game.format_move(move): chance for move, chance in policy.items()}
            )
            if view["box"] is None:
                assert view["forced"]
                assert [m["slot"] for m in view["moves"]] == [None]
            else:
                for line in view["moves"]:
                    assert line["beads"] == view["box"]["beads"][line["slot"]]

    def test_a_turned_position_turns_its_moves(self) -> None:
        learner = trained_machine(machine(Side.SECOND))
        game = learner.game_rules
        position = game.decode("X........")
        lines = {m["move"]: m for m in why_view(learner, game.encode(position))["moves"]}
        for symmetry in game.symmetries:
            turned_view = why_view(learner, game.encode(game.transform(position, symmetry)))
            assert turned_view["box_position"] == game.encode(game.canonical(position))
            for move in game.legal_moves(position):
                image = game.format_move(game.transform_move(move, symmetry))
                line = next(m for m in turned_view["moves"] if m["move"] == image)
                assert line["probability"] == lines[game.format_move(move)]["probability"]
                assert line["beads"] == lines[game.format_move(move)]["beads"]

    def test_an_empty_box_is_explained_as_a_resignation(self) -> None:
        learner = machine(Side.SECOND, "michie-1961")
        box = Box.objects.get(machine=learner, position=learner.game_rules.canonical("XOX......"))
        Box.objects.filter(pk=box.pk).update(beads=[0] * len(box.beads))
        view = why_view(learner, "X..O..X..")
        assert view["resigns"]
        assert {m["probability"] for m in view["moves"]} == {0.0}

    def test_an_unopened_box_shows_its_initial_beads(self) -> None:
        learner = machine(Side.SECOND)
        learner.boxes.all().delete()
        view = why_view(learner, "X........")
        assert view["box"] is None
        assert not view["forced"]
        assert {m["beads"] for m in view["moves"]} == {4}
        assert sum(m["probability"] for m in view["moves"]) == pytest.approx(1)

    @pytest.mark.parametrize("text", ["", "XXXXXXXXX", "nonsense", "X.X.O.O..", "XXXOO....", "."])
    def test_positions_without_a_box_are_refused(self, text: str) -> None:
        with pytest.raises(BoxNotFoundError):
            why_view(machine(Side.SECOND), text)


@pytest.mark.django_db
class TestVisits:
    @pytest.mark.parametrize("opponent", ["random", "perfect"])
    def test_visit_chances_equal_those_of_the_readable_machine(self, opponent: str) -> None:
        learner = trained_machine(machine(Side.SECOND))
        menace, game = readable_machine(learner), learner.game_rules
        chance: dict[Any, float] = {game.initial_position(): 1.0}
        visits = dict.fromkeys(current_beads(learner), 0.0)
        while chance:
            next_chance: dict[Any, float] = {}
            for position, p in chance.items():
                if game.side_to_move(position) == learner.side:
                    policy = menace.policy(position)
                    if menace.cabinet.has_box(position):
                        visits[game.encode(game.canonical(position))] += p
                else:
                    replies = OPPONENTS[opponent].replies(game, position)
                    policy = dict.fromkeys(replies, 1 / len(replies))
                for move, q in policy.items():
                    next_position = game.apply(position, move)
                    if q and not game.is_terminal(next_position):
                        next_chance[next_position] = next_chance.get(next_position, 0.0) + p * q
            chance = next_chance
        box_chances = box_visits(learner, opponent)
        assert {position: one.chance for position, one in box_chances.items()} == pytest.approx(visits, abs=1e-12)
        assert all(one.openings == one.chance for one in box_chances.values())

    def test_visit_chances_follow_the_beads(self) -> None:
        learner = machine(Side.FIRST)
        initial_visits = box_visits(learner)
        assert initial_visits["........."] == (1, 1)
        assert box_visits(trained_machine(learner)) != initial_visits

    def test_an_unknown_opponent_is_refused(self) -> None:
        with pytest.raises(MalformedError):
            box_visits(machine(), "nobody")
