"""Every bead has a cause, and sums always agree: live matches, training, and both at once."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection

from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.rule import BoxRule, OpenBoxes, WhenEmpty
from beadbox.rules.outcome import Result, Side
from games.live import rooms
from games.live.play import match_resign
from games.live.rooms import SeatResult, room_reset
from games.live.store import room_get
from games.models import Match
from learning.kinds.boxes.memory import MEMORY, ledger_errors
from learning.models import Box, Change, Draw, Lesson, Machine, TrainingRun
from learning.services.copies import machine_clone
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.workers.runs import RUNS, run_execute
from tests.factories import (
    NC,
    guest,
    house_machines,
    machine,
    person,
    play,
    play_out,
    room,
    room_view,
    trained_machine,
    trained_memory,
    user,
)
from tests.waiting import HANG_S


def open_match(learner: Machine, **options: Any) -> SeatResult:
    """Return a guest's match against a machine, on the side that the machine does not play."""
    return room("machine", side=Side(learner.side).other, machine=learner.slug, **options)


@pytest.mark.django_db
class TestMatch:
    def test_a_match_teaches_what_the_readable_machine_learns(self) -> None:
        for seed in range(20):
            learner = machine()
            seated = open_match(learner)
            Match.objects.filter(room=seated.room).update(seed=seed)
            state = play_out(seated.room.code, guest())

            draws = [
                BeadDraw(d.position, tuple(d.beads), d.slot)
                for d in Draw.objects.filter(machine=learner).order_by("ply")
            ]
            readable = BoxMachine(learner.game_rules, Side(learner.side), learner.box_rule)
            for draw in draws:
                readable.open_box(readable.game.decode(draw.box))
            winner = state["outcome"]["winner"]
            result = Result.DRAW if winner is None else Result.WIN if winner == "O" else Result.LOSS
            readable.restock(draws, result)
            stored_beads = dict(learner.boxes.values_list("position", "beads"))
            assert {key: stored_beads[key] for key in readable.boxes} == readable.boxes
        assert ledger_errors() == []

    def test_the_lesson_lists_every_change_with_its_match(self) -> None:
        learner = machine()
        seated = open_match(learner)
        play_out(seated.room.code, guest())
        lesson = Lesson.objects.get()
        assert (lesson.number, lesson.kind, lesson.match, lesson.run) == (1, "match", Match.objects.get(), None)
        learner.refresh_from_db()
        assert learner.n_games == learner.n_wins + learner.n_draws + learner.n_losses == 1
        for change in lesson.changes.select_related("box"):
            assert change.after == change.box.beads
            draw = Draw.objects.get(machine=learner, ply=change.ply)
            assert change.deltas[draw.slot] != 0, "only the slot played changes"
            assert sum(map(bool, change.deltas)) == 1

    def test_draws_are_counted_by_slot(self) -> None:
        learner = machine()
        for _ in range(3):
            play_out(open_match(learner).room.code, guest())
        n_drawn = Draw.objects.filter(machine=learner, slot__isnull=False).count()
        assert sum(sum(box.visits) for box in learner.boxes.all()) == n_drawn

    def test_boxes_are_opened_when_met(self) -> None:
        learner = machine_create(game=NC, side=Side.FIRST, name="HER", rule=BoxRule(open_boxes=OpenBoxes.WHEN_MET))
        assert learner.boxes.count() == 0
        open_match(learner)
        (box,) = learner.boxes.all()
        assert (box.position, box.start, box.move_number) == (".........", [4, 4, 4], 1)

    def test_a_refill_has_the_match_as_its_cause(self) -> None:
        learner = machine_create(game=NC, side=Side.FIRST, name="M", rule=BoxRule(when_empty=WhenEmpty.REFILL))
        Box.objects.filter(machine=learner, position=".........").update(beads=[0, 0, 0], start=[0, 0, 0])
        seated = open_match(learner)
        lesson = Lesson.objects.get()
        assert (lesson.kind, lesson.match.room_id) == ("refill", seated.room.pk)
        assert Change.objects.get().deltas == [4, 4, 4]
        assert ledger_errors() == []
        state = play_out(seated.room.code, guest())
        assert state["learning"]["draws"][0]["refilled"] is True
        assert [change["refill"] for change in state["learning"]["changes"]][:3] == [True] * 3
        assert ledger_errors() == []

    def test_empty_box_resigns_and_earlier_boxes_learn_the_loss(self) -> None:
        learner = machine(Side.FIRST)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE learning_box SET beads = array_fill(0, ARRAY[cardinality(beads)]),"
                " start = array_fill(0, ARRAY[cardinality(beads)]) WHERE machine_id = %s AND move_number = 2",
                [learner.pk],
            )
        seated = open_match(learner)
        state = room_view(room_get(seated.room.code))
        state = play(seated, guest(), state["legal_moves"][0])
        assert state["outcome"] == {
            "winner": "O",
            "termination": "empty_box",
            "reason": "the machine found no bead in its box and resigned",
        }
        assert state["learning"]["draws"][-1]["resigned"] is True
        assert [change["delta"] for change in state["learning"]["changes"]] == [-1]

    def test_a_frozen_machine_plays_and_does_not_learn(self) -> None:
        learner = machine()
        Machine.objects.update(learns=False)
        beads_before = list(learner.boxes.values_list("beads", flat=True))
        state = play_out(open_match(learner).room.code, guest())
        assert list(learner.boxes.values_list("beads", flat=True)) == beads_before
        assert not Lesson.objects.exists()
        assert "frozen" in state["learning"]["lesson"]["sentence"]
        assert [one["deed"] for one in state["learning"]["lessons"]] == [
            "The machine is frozen, so its beads do not change."
        ]

    def test_change_of_a_box_is_separate_from_the_result(self) -> None:
        """The sentence is split correctly even if the machine's name looks like a part of it."""
        learner = machine(Side.FIRST, name="I lost: twice")
        seated = open_match(learner)
        match_resign(code=seated.room.code, person=guest())
        (lesson,) = room_view(room_get(seated.room.code))["learning"]["lessons"]
        assert lesson["sentence"] == "I lost: twice won: the box that it used gains 3 beads of the colour played."
        assert lesson["deed"] == "The box that it used gains 3 beads of the colour played."

    def test_a_fresh_copy_learns_and_the_original_does_not(self) -> None:
        original = trained_machine(machine())
        beads_before = list(original.boxes.order_by("pk").values_list("beads", flat=True))
        seated = open_match(original, fresh=True)
        copy = Machine.objects.get(room=seated.room)
        assert list(copy.boxes.order_by("position").values_list("position", "beads")) == list(
            original.boxes.order_by("position").values_list("position", "beads")
        )
        play_out(seated.room.code, guest())
        room_reset(code=seated.room.code, person=guest())
        play_out(seated.room.code, guest())
        assert Machine.objects.filter(room=seated.room).count() == 1, "a rematch keeps the copy"
        assert copy.lessons.filter(kind="match").count() == 2
        assert list(original.boxes.order_by("pk").values_list("beads", flat=True)) == beads_before
        assert ledger_errors() == []

    def test_a_fresh_copy_belongs_to_the_requesting_account(self) -> None:
        original, account = machine(), user()
        assert original.owner is None
        room("machine", person(account), machine=original.slug, fresh=True)
        assert [copy.copied_from for copy in account.machines.all()] == [original]

    def test_house_machines_swap_sides_and_a_single_one_does_not(self) -> None:
        house_machines()
        seated = room("menace")
        play_out(seated.room.code, guest())
        state = room_reset(code=seated.room.code, person=guest(), swap=True)
        assert [seat["kind"] for seat in state["seats"]] == ["machine", "human"]
        assert state["ply"] == 1
        other_match = open_match(machine())
        state = play_out(other_match.room.code, guest())
        assert state["can_swap"] is False
        with pytest.raises(rooms.exceptions.CannotSwapError):
            room_reset(code=other_match.room.code, person=guest(), swap=True)

    def test_a_resignation_of_the_opponent_is_a_win(self) -> None:
        learner = machine()
        seated = open_match(learner)
        play(seated, guest(), "5")
        match_resign(code=seated.room.code, person=guest())
        assert Lesson.objects.get().n_wins == 1
        assert [c.deltas[Draw.objects.get().slot] for c in Change.objects.all()] == [3]


@pytest.mark.django_db
class TestDatabase:
    def assert_refused(self, name: str, write: Callable[[], Any]) -> None:
        with pytest.raises(IntegrityError, match=name):
            write()

    def test_beads_are_not_negative(self) -> None:
        learner = machine()
        self.assert_refused("box_beads_not_negative", lambda: learner.boxes.filter(ply=1).update(beads=[-1] * 5))

    def test_beads_stay_aligned(self) -> None:
        learner = machine()
        self.assert_refused("box_beads_aligned", lambda: learner.boxes.update(beads=[1]))

    def test_a_position_has_one_box(self) -> None:
        box = machine().boxes.all()[0]
        box.pk = None
        self.assert_refused("box_once", box.save)

    def test_a_lesson_has_exactly_one_cause(self) -> None:
        learner = machine()
        self.assert_refused(
            "lesson_has_one_cause", lambda: Lesson.objects.create(machine=learner, number=1, kind="match")
        )

    def test_a_match_teaches_once(self) -> None:
        learner = machine()
        play_out(open_match(learner).room.code, guest())
        second_lesson = Lesson.objects.get()
        second_lesson.pk, second_lesson.number = None, 2
        self.assert_refused("lesson_match_once", second_lesson.save)

    def test_games_add_up(self) -> None:
        learner = machine()
        self.assert_refused("machine_games_add_up", lambda: Machine.objects.filter(pk=learner.pk).update(n_wins=1))

    def test_a_run_has_no_more_games_than_requested(self) -> None:
        run = training_run_start(machine=machine().slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
        self.assert_refused(
            "run_not_overdone", lambda: TrainingRun.objects.filter(pk=run.pk).update(games_done=11, n_wins=11)
        )


@pytest.mark.django_db
def test_the_audit_finds_a_bead_without_a_cause(capsys: pytest.CaptureFixture[str]) -> None:
    learner = trained_machine(machine())
    call_command("audit")
    assert "289 boxes add up, and 0 values" in capsys.readouterr().out
    box = learner.boxes.all()[0]
    box.beads[0] += 1
    box.save()
    with pytest.raises(CommandError, match=f"1 boxes do not add up, by id: {box.pk}"):
        call_command("audit")


@pytest.mark.django_db
def test_a_copy_begins_a_ledger_of_its_own() -> None:
    original = trained_machine(machine())
    copy = machine_clone(machine_id=original.pk, name="copy")
    trained_machine(copy, games=500, seed=2)
    assert [lesson.number for lesson in copy.lessons.order_by("number")] == [1, 2, 3, 4]
    assert ledger_errors() == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_matches_and_runs_lose_nothing() -> None:
    learner = machine()
    runs = [
        training_run_start(machine=learner.slug, stages=[Stage(opponent, 200_000)], seed=seed, enqueue=False)
        for seed, opponent in ((1, "random"), (2, "perfect"))
    ]
    faults: list[BaseException] = []
    start = threading.Barrier(22)

    def guarded_thread(work: Callable[[], Any]) -> threading.Thread:
        def run() -> None:
            try:
                start.wait(HANG_S)
                work()
            except BaseException as error:
                faults.append(error)
            finally:
                connection.close()

        return threading.Thread(target=run)

    def match_work(number: int) -> Callable[[], Any]:
        def work() -> None:
            seated = room("machine", guest(number), machine=learner.slug)
            play_out(seated.room.code, guest(number))

        return work

    def training_work(run: TrainingRun) -> Callable[[], Any]:
        def work() -> None:
            claimed_run = RUNS.claim(run.pk)
            assert claimed_run is not None
            run_execute(claimed_run)

        return work

    threads = [guarded_thread(match_work(n)) for n in range(20)] + [guarded_thread(training_work(run)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    learner.refresh_from_db()
    assert learner.n_games == 400_000 + 20
    assert Lesson.objects.filter(machine=learner, kind="match").count() == 20
    assert list(learner.lessons.order_by("number").values_list("number", flat=True)) == list(
        range(1, learner.n_lessons + 1)
    )
    assert ledger_errors() == []


@pytest.mark.django_db
def test_training_stores_the_arrays_of_the_kernel() -> None:
    learner = trained_machine(machine(), games=2000, seed=5, opponent="perfect")
    memory, expected = MEMORY.load(learner), trained_memory(learner, 2000, 5, "perfect")
    assert (memory.beads == expected.beads).all()
    assert (memory.visits == expected.visits).all()
    assert ledger_errors() == []
