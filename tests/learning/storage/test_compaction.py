"""Compaction of a ledger: history after the place stays unchanged, beads add up, and no request waits."""

from datetime import timedelta
from random import Random
from threading import Event
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.live.store import room_get
from games.models import Match
from learning.exceptions import HistoryCompactedError
from learning.kinds.boxes.look import boxes_at
from learning.kinds.boxes.memory import BoxesMemory, boxes_own
from learning.kinds.boxes.training import BoxesTraining
from learning.kinds.keyed_values.memory import values_fetch_at
from learning.models import Box, Change, Lesson, Machine, Tournament
from learning.services.copies import machine_copy
from learning.services.machines import machine_delete, machine_reset
from learning.services.tournaments import tournament_start
from learning.storage import compaction
from learning.storage.compaction import compactions_due
from learning.storage.lessons import has_ledger_since
from learning.workers.jobs import TurnEnd
from learning.workers.ledger import RESUME_KEY, ledgers_compact
from learning.workers.pairings import tournament_play
from tests.compaction import compact, compact_to
from tests.factories import guest, machine, play_out, room, room_view, trained_machine, trained_memory, user
from tests.learning.kinds.test_table_learner import learner as create_table_learner
from tests.threads import at_once
from tests.waiting import HANG_S


def train_unmeasured(learner: Machine, games: int, seed: int = 1) -> Machine:
    """Train a machine without measuring the curve, which takes most of the time of a short run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoxesTraining, "measure_strength", lambda *_: {})
        patch.setattr("learning.kinds.machines.FIRST_CHUNK_GAMES", 20)
        return trained_machine(learner, games, seed)


def played_machine(n_matches: int = 6) -> Machine:
    """Return a machine that was trained, played, and was trained again, in about twenty lessons."""
    learner = train_unmeasured(machine(), 200)
    for _ in range(n_matches):
        play_out(room("machine", side=Side(learner.side).other, machine=learner.slug).room.code, guest())
    return train_unmeasured(learner, 200, seed=2)


def history(learner: Machine, first: int = 0) -> dict[int, dict[str, list[int]]]:
    return {number: boxes_at(learner, number) for number in range(first, learner.n_lessons + 1)}


def uncompacted_lessons(learner: Machine) -> list[Any]:
    """Return the uncompacted lessons of a machine, with their changes."""
    lessons = Lesson.objects.filter(machine=learner, number__gt=learner.n_folded).order_by("number")
    names = ("number", "kind", "match", "run", "n_wins", "n_draws", "n_losses", "changes__box", "changes__deltas")
    return list(lessons.order_by("number", "changes__pk").values_list(*names))


@pytest.mark.django_db
class TestBoxes:
    def test_compacted_ledger_gives_the_same_history_and_totals(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The ledger adds up after each step of compaction, wherever it begins."""
        monkeypatch.setattr(compaction, "MAX_CHANGES_PER_TRANSACTION", 150)
        learner = played_machine()
        history_before, beads = history(learner), dict(learner.boxes.values_list("position", "beads"))
        totals = Lesson.objects.filter(machine=learner).values_list("n_wins", "n_draws", "n_losses")
        tally = [sum(column) for column in zip(*totals, strict=True)]
        draw = Random(15)
        for place in sorted(draw.sample(range(2, learner.n_lessons + 1), 4)):
            later_lessons = [line for line in uncompacted_lessons(learner) if line[0] > place]
            for _ in compact_to(learner, place):  # after each step, as after a death in the next one
                assert history(learner, place) == {n: history_before[n] for n in history_before if n >= place}
                call_command("audit", verbosity=0)
            learner.refresh_from_db()
            assert (learner.n_folded, learner.is_folding) == (place, False)
            assert uncompacted_lessons(learner) == later_lessons
            with pytest.raises(HistoryCompactedError):
                boxes_at(learner, place - 1)
            (one,) = Lesson.objects.filter(machine=learner, number__lte=place)
            assert (one.number, one.last, one.kind) == (1, place, "folded")
            assert Change.objects.filter(lesson=one).count() == len(set(one.changes.values_list("box", flat=True)))
        assert dict(learner.boxes.values_list("position", "beads")) == beads
        totals = Lesson.objects.filter(machine=learner).values_list("n_wins", "n_draws", "n_losses")
        assert [sum(column) for column in zip(*totals, strict=True)] == tally
        play_out(room("machine", side=Side(learner.side).other, machine=learner.slug).room.code, guest())
        train_unmeasured(learner, 50, seed=3)
        call_command("audit", verbosity=0)

    def test_shared_boxes_are_deleted_with_their_last_copy(self) -> None:
        learner, owner = train_unmeasured(machine(), 100), user()
        copies = []
        for seed in range(3):
            train_unmeasured(learner, 60, seed=seed)
            copies.append(machine_copy(user=owner, machine_id=learner.pk))
        beads_by_copy = {copy.pk: dict(copy.boxes.values_list("position", "beads")) for copy in copies}
        train_unmeasured(learner, 100, seed=9)
        compact(learner, learner.n_lessons)
        assert Lesson.objects.filter(machine=learner).count() == 4, "one behind each copy, and one for the rest"
        late_copy = machine_copy(user=owner, machine_id=learner.pk)
        assert dict(late_copy.boxes.values_list("position", "beads")) == dict(
            learner.boxes.values_list("position", "beads")
        )
        train_unmeasured(copies[0], 60)
        for copy in copies[1:]:
            assert dict(copy.boxes.values_list("position", "beads")) == beads_by_copy[copy.pk]
        call_command("audit", verbosity=0)
        boxes_own(*(copy.pk for copy in copies))
        trained_learner = train_unmeasured(learner, 20, seed=4)
        compact(trained_learner, trained_learner.n_lessons)
        assert Lesson.objects.filter(machine=learner).count() == 2, "the copy made last is behind the place"
        call_command("audit", verbosity=0)

    def test_compacted_matches_can_be_deleted(self) -> None:
        learner = played_machine(3)
        assert Match.objects.count() == Lesson.objects.exclude(match=None).count() == 3
        compact(learner, learner.n_lessons)
        assert not Lesson.objects.exclude(match=None).exists()
        Match.objects.all().delete()
        call_command("audit", verbosity=0)

    def test_a_reset_deletes_compacted_lessons(self) -> None:
        owner = user()
        learner = train_unmeasured(machine(owner=owner), 100)
        steps = compact_to(learner, learner.n_lessons)
        next(steps)
        machine_reset(user=owner, machine_id=learner.pk)
        assert list(steps) == [], "the lessons of this compaction are gone"
        learner = train_unmeasured(Machine.objects.get(pk=learner.pk), 60)
        assert learner.n_folded == 0
        compact(learner, learner.n_lessons)
        call_command("audit", verbosity=0)


@pytest.mark.django_db
class TestValues:
    def test_earlier_values_stay_readable_where_needed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compaction, "MAX_CHANGES_PER_TRANSACTION", 3)
        learner, other = create_table_learner(), create_table_learner()
        for n in range(8):
            play_out(room("machine", side=Side(n % 2), machine=learner.slug).room.code, guest())
            if n == 2:
                tournament_start(user=None, entries=[learner.slug, other.slug], games=1, enqueue=False)
        keys = list(learner.values.values_list("key", flat=True))
        values_before = {place: values_fetch_at(learner.pk, place)(keys) for place in range(9)}
        for _ in compact_to(learner, 6):
            for place in (3, 6, 7, 8):
                assert values_fetch_at(learner.pk, place)(keys) == values_before[place]
            call_command("audit", verbosity=0)
        numbers = Lesson.objects.filter(machine=learner).order_by("number").values_list("number", "stands_for")
        assert list(numbers) == [(1, 3), (4, 3), (7, 1), (8, 1)]
        assert [has_ledger_since(learner.pk, place) for place in (2, 3, 6)] == [False, True, True]
        tournament_play(Tournament.objects.get().pk)
        compact(learner)
        assert Lesson.objects.get(machine=learner).last == 8, "the tournament is over"
        call_command("audit", verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_compaction_runs_during_all_other_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two compactions, a training, matches, copies, a reset and a deletion run at the same time."""
    monkeypatch.setattr(compaction, "MAX_CHANGES_PER_TRANSACTION", 40)
    monkeypatch.setattr(compaction, "LOCK_TIMEOUT_S", HANG_S)
    owner = user()
    trainee, match_machine, reset_machine, deleted_machine = (
        machine(),
        machine(),
        machine(owner=owner),
        machine(owner=owner),
    )
    for one in (match_machine, reset_machine, deleted_machine):
        train_unmeasured(one, 60)
    is_over = Event()

    def compact_all() -> None:
        while not is_over.is_set():
            for pk, n_lessons in Machine.objects.filter(room=None).order_by("?").values_list("pk", "n_lessons"):
                compaction.compaction_point_set(pk, n_lessons - 1)
                for learner in Machine.objects.filter(pk=pk):
                    list(compaction.compaction_steps(learner, BoxesMemory.ledger))

    def use_machines() -> None:
        try:
            train_unmeasured(trainee, 1500)
            for n in range(6):
                seated = room(
                    "machine",
                    guest(n),
                    side=Side(match_machine.side).other,
                    machine=match_machine.slug,
                    fresh=n % 2 == 1,
                )
                play_out(seated.room.code, guest(n))
            machine_reset(user=owner, machine_id=reset_machine.pk)
            train_unmeasured(reset_machine, 60)
            machine_delete(user=owner, machine_id=deleted_machine.pk)
        finally:
            is_over.set()

    assert at_once(compact_all, compact_all, use_machines) == []
    call_command("audit", verbosity=0)
    assert dict(trainee.boxes.values_list("position", "beads")) == {
        box.position: list(box.beads)
        for box in trained_memory(trainee, 1500).boxes(range(trained_memory(trainee, 1).table.n_boxes))
    }
    assert Lesson.objects.filter(kind="folded", machine=trainee).exists()
    assert Machine.objects.exclude(shares=None).count() == 3


@pytest.mark.django_db
class TestRetention:
    def test_only_old_lessons_are_compacted(self) -> None:
        old_machine, new_machine = played_machine(), train_unmeasured(machine(), 100)
        place = old_machine.n_lessons - 3
        long_ago = timezone.now() - timedelta(days=40)
        Lesson.objects.filter(machine=old_machine, number__lte=place).update(created_at=long_ago)
        assert ledgers_compact(TurnEnd()) is False
        old_machine.refresh_from_db()
        new_machine.refresh_from_db()
        assert (old_machine.n_folded, old_machine.folded_at, new_machine.n_folded) == (place, long_ago, 0)

    def test_changes_beyond_the_limit_are_compacted(self, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("learning.workers.ledger.MIN_LESSONS_TO_EXAMINE", 1)
        settings.KEEP_LEDGER_CHANGES = 200
        learner = played_machine()
        ledgers_compact(TurnEnd())
        learner.refresh_from_db()
        n_kept = Change.objects.filter(lesson__machine=learner, lesson__number__gt=learner.n_folded).count()
        assert n_kept <= 200 < n_kept + Box.objects.filter(machine=learner).count()

    def test_an_interrupted_compaction_is_continued(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compaction, "MAX_CHANGES_PER_TRANSACTION", 50)
        learner = played_machine()
        steps = compact_to(learner, learner.n_lessons)
        next(steps)
        learner.refresh_from_db()
        assert learner.is_folding
        assert ledgers_compact(TurnEnd(0.0)) is True, "its turn was over"
        ledgers_compact(TurnEnd())
        learner.refresh_from_db()
        assert not learner.is_folding
        assert Lesson.objects.filter(machine=learner).count() == 1
        call_command("audit", verbosity=0)

    def test_due_compactions_are_found_in_batches_and_urgent_first(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compaction, "MACHINES_PER_PASS", 2)
        old_machine, long_machine, new_machine, older_machine, busy_machine, interrupted_machine = (
            machine(name=f"Machine {n}") for n in range(6)
        )
        long_ago = timezone.now() - timedelta(days=40)
        for learner, n, created_at in (
            (old_machine, 1, long_ago),
            (long_machine, 4, None),
            (new_machine, 2, None),
            (older_machine, 2, long_ago),
            (busy_machine, 9, None),
        ):
            Lesson.objects.bulk_create(
                Lesson(machine=learner, number=number + 1, kind="training", created_at=created_at or timezone.now())
                for number in range(n)
            )
            Machine.objects.filter(pk=learner.pk).update(n_lessons=n)
        Machine.objects.filter(pk=interrupted_machine.pk).update(
            n_lessons=1, n_folded=1, folded_at=long_ago, is_folding=True
        )
        monkeypatch.setattr(compaction, "N_LATEST_LESSONS", 1)
        place, found_ids = 0, []
        for _ in range(4):
            ids, place = compactions_due(long_ago + timedelta(days=1), 3, place)
            assert ids[0] == interrupted_machine.pk, "an interrupted compaction is found at once and first"
            assert ids.count(interrupted_machine.pk) == ids.count(busy_machine.pk) == 1, (
                "a machine with too many changes is found at once too"
            )
            found_ids.append({*ids} - {interrupted_machine.pk, busy_machine.pk})
        assert found_ids == [{old_machine.pk, long_machine.pk}, {older_machine.pk}, set(), set()]
        assert place == 0, "the next search begins with the first machine"

    def test_each_search_continues_after_the_previous_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compaction, "MACHINES_PER_PASS", 2)
        for n in range(5):
            train_unmeasured(machine(name=f"Machine {n}"), 20)
        Lesson.objects.update(created_at=timezone.now() - timedelta(days=40))
        cache.delete(RESUME_KEY)
        for n_folded in (2, 4, 5):
            ledgers_compact(TurnEnd())
            assert Machine.objects.filter(n_folded__gt=0, is_folding=False).count() == n_folded
        assert cache.get(RESUME_KEY) == 0, "the next search begins with the first machine"


@pytest.mark.django_db
class TestViews:
    def test_pages_and_api_show_the_start_of_the_history(self, client: Any) -> None:
        learner = played_machine(2)
        play_out(room("machine", side=Side(learner.side).other, machine=learner.slug).room.code, guest())
        learner.refresh_from_db()
        first_match, n_lessons = Match.objects.order_by("pk")[0], learner.n_lessons
        Lesson.objects.filter(machine=learner).update(created_at=timezone.now())
        compact(learner, n_lessons)
        since = f"{learner.folded_at:%-d %B %Y}"
        machine_json = client.get(f"/api/machines/{learner.pk}").json()
        assert (machine_json["lessons"], machine_json["lessons_folded"]) == (n_lessons, n_lessons)
        assert machine_json["folded_at"].startswith(f"{learner.folded_at:%Y-%m-%d}")
        answer = client.get(f"/machines/{learner.pk}/boxes-at/{n_lessons - 1}")
        assert (answer.status_code, answer.json()["code"]) == (410, "history_folded")
        assert client.get(f"/machines/{learner.pk}/boxes-at/{n_lessons}").status_code == 200
        box = Change.objects.filter(lesson__machine=learner, lesson__kind="folded").first().box
        page = client.get(box.get_absolute_url()).content.decode()
        assert f"Changes before {since} are no longer kept one by one." in page
        assert f"in {n_lessons} lessons of 403 games until then" in page
        box_history = client.get(f"/api/machines/{learner.pk}/boxes/{box.position}").json()["history"]
        assert [box_history[-1][name] for name in ("kind", "room", "training_run")] == ["folded", None, None]
        assert f'data-since="{since}"' in client.get(f"/machines/{learner.pk}/boxes").content.decode()
        assert f"from {since} on" in client.get(learner.get_absolute_url()).content.decode()
        (lesson,) = room_view(room_get(first_match.room.code))["learning"]["lessons"]
        assert (
            lesson["deed"] == "This match was long ago. Its lesson is in the beads, but no longer listed game by game."
        )
