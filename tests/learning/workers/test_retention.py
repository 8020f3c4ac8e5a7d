"""Retention deletes abandoned rows and nothing else: by age and by number, while visitors return."""

import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from axes.models import AccessAttempt, AccessLog
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection, transaction
from django.db.models import DO_NOTHING, QuerySet
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, IntervalSchedule

from beadbox.rules.outcome import Side
from games.accounts.principal import Principal
from games.accounts.tokens import token_make
from games.limits.quotas import site_counts
from games.live.play import match_resign
from games.live.rooms import room_create, room_reset, room_state_get
from games.models import AddressBlock, ApiToken, Match, Ply, Room, Seat
from learning import tasks
from learning.kinds.boxes.memory import ledger_errors
from learning.models import (
    Change,
    Draw,
    JobStatus,
    Lesson,
    Machine,
    MachineSeat,
    RunStage,
    Standing,
    Tournament,
    TrainingRun,
)
from learning.selectors.machines import damaged_ledgers
from learning.services.copies import machine_clone
from learning.services.machines import machine_delete
from learning.services.personal_machines import machines_claim, personal_machine_play
from learning.services.runs import Stage, training_run_request
from learning.services.schedules import Timing, schedule_create, schedule_delete
from learning.services.tournaments import tournament_start
from learning.storage.names import DELETED_MACHINE_NAME
from learning.storage.retention import ROWS_PER_STATEMENT
from learning.workers import retention
from learning.workers.jobs import TurnEnd
from learning.workers.ledger import ledgers_compact
from learning.workers.retention import retention_run
from learning.workers.runs import RUNS, run_execute
from tests.factories import NC, guest, machine, person, play, play_out, room, run_retention, trained_machine, user
from tests.threads import at_once
from tests.waiting import HANG_S

pytestmark = pytest.mark.django_db


def ago(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def age_rows(days: float) -> None:
    """Move all times of the stored rows into the past."""
    shift = timedelta(days=days)
    time_columns = {
        Room: ["created_at", "changed_at"],
        Match: ["created_at", "finished_at"],
        Lesson: ["created_at"],
        Machine: ["created_at"],
        TrainingRun: ["created_at", "started_at", "finished_at"],
    }
    with connection.cursor() as cursor:
        for model, columns in time_columns.items():
            changes = ", ".join(f"{column} = {column} - %(shift)s" for column in columns)
            cursor.execute(f"UPDATE {model._meta.db_table} SET {changes}", {"shift": shift})


def machine_after_match(number: int = 1) -> Machine:
    """Return the personal machine of a guest after a match with it."""
    play_out(personal_machine_play(person=guest(number), game=NC).room.code, guest(number))
    return Machine.objects.get(guest=guest(number).guest)


def test_matches_of_guests_last_a_month_and_of_accounts_a_year() -> None:
    ann = person(user("ann"))
    guest_for_seat, ann_seated = room(), room(person=ann)
    for seated, player in ((guest_for_seat, guest()), (ann_seated, ann)):
        play_out(seated.room.code, player)
        room_reset(code=seated.room.code, person=player)
    run_retention()
    assert Match.objects.count() == 4
    age_rows(31)
    run_retention()
    assert set(Room.objects.all()) == {ann_seated.room}, "an unfinished match is deleted with its room"
    assert set(Seat.objects.values_list("match__room", flat=True)) == {ann_seated.room.pk}
    assert set(Ply.objects.values_list("match__room", flat=True)) == {ann_seated.room.pk}
    age_rows(335)
    run_retention()
    assert not Room.objects.exists()


def test_only_old_matches_of_an_active_room_are_deleted() -> None:
    seated = room()
    play_out(seated.room.code, guest())
    age_rows(31)
    room_reset(code=seated.room.code, person=guest())
    run_retention()
    assert list(Match.objects.values_list("number", flat=True)) == [2]
    assert room_state_get(code=seated.room.code)["number"] == 2
    play_out(seated.room.code, guest())


def test_a_match_stays_while_a_lesson_refers_to_it() -> None:
    learner = machine()
    play_out(room("machine", machine=learner.slug).room.code, guest())
    age_rows(32)
    run_retention()
    assert Match.objects.get().lessons.exists()
    ledgers_compact(TurnEnd())
    run_retention()
    assert [model for model in (Room, Seat, Ply, Draw, MachineSeat) if model._default_manager.exists()] == []
    assert list(Machine.objects.all()) == [learner]
    assert ledger_errors() == []


def test_the_latest_matches_of_a_busy_player_stay(settings: Any) -> None:
    settings.MATCHES_PER_GUEST = settings.MATCHES_PER_ACCOUNT = 2
    ann = person(user("ann"))
    for player in (guest(), ann):
        code = room(person=player).room.code
        for _ in range(3):
            play_out(code, player)
            room_reset(code=code, person=player)
    run_retention()
    assert sorted(Match.objects.values_list("number", flat=True)) == [3, 3, 4, 4]


def resigned_room(host: Principal, **options: Any) -> Room:
    """Return a room with one match, which its host has resigned."""
    new_room = room(person=host, **options).room
    match_resign(code=new_room.code, person=host)
    return new_room


@pytest.mark.parametrize("has_account", [False, True])
def test_latest_matches_in_rooms_of_their_own_stay(settings: Any, has_account: bool) -> None:
    settings.MATCHES_PER_GUEST = settings.MATCHES_PER_ACCOUNT = 2
    player = person(user("ann")) if has_account else guest()
    open_room, rooms = room(person=player).room, [resigned_room(player) for _ in range(30)]
    other_room = resigned_room(guest(2))
    run_retention()
    assert set(Room.objects.all()) == {open_room, *rooms[-2:], other_room}
    assert {match.room for match in Match.objects.all()} == {open_room, *rooms[-2:], other_room}


def test_a_crowded_site_deletes_matches_of_guests_sooner(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """New guests make room for others, even with trained machines, and accounts lose nothing."""
    settings.MATCHES_MOST = 100
    ann, personal_rooms = person(user("ann")), [personal_machine_play(person=guest(n), game=NC).room for n in (1, 2)]
    for number, personal_room in enumerate(personal_rooms, 1):
        play_out(personal_room.code, guest(number))
    account_room, guest_rooms = resigned_room(ann), [resigned_room(guest(3)), room(person=guest(4)).room]
    age_rows(10)
    for n_matches, remaining_rooms in ((80, {account_room, *guest_rooms, *personal_rooms}), (95, {account_room})):
        monkeypatch.setattr(site_counts, "_counts", {"games_match": n_matches})
        ledgers_compact(TurnEnd())
        run_retention()
        assert set(Room.objects.all()) == remaining_rooms, n_matches
    new_guest_room = resigned_room(guest(5))
    monkeypatch.setattr(site_counts, "_counts", {"games_match": 300})
    run_retention()
    assert set(Room.objects.all()) == {account_room, new_guest_room}, "matches of guests stay for at least a day"


@pytest.mark.parametrize("has_account", [False, True])
def test_latest_abandoned_matches_and_open_ones_stay(settings: Any, has_account: bool) -> None:
    settings.MATCHES_PER_GUEST = settings.MATCHES_PER_ACCOUNT = 2
    player = person(user("ann")) if has_account else guest()
    seated = [room(person=player) for _ in range(6)]
    rooms = [one.room for one in seated]
    run_retention()
    assert set(Room.objects.all()) == set(rooms), "their players may come back"
    age_rows(2)
    play(seated[0], player, "5")
    run_retention()
    assert set(Room.objects.all()) == {rooms[0], *rooms[-2:]}
    assert {match.room for match in Match.objects.all()} == {rooms[0], *rooms[-2:]}


def test_matches_beyond_the_limit_go_despite_protected_ones(settings: Any) -> None:
    """Matches named by a lesson and rooms with a copy stay; they do not keep other matches."""
    settings.MATCHES_PER_GUEST = 2
    learner = machine()
    room_of_many_matches = room().room
    resigned_room(guest())
    for _ in range(3):
        match_resign(code=room_of_many_matches.code, person=guest())
        room_reset(code=room_of_many_matches.code, person=guest())
    match_resign(code=room_of_many_matches.code, person=guest())
    room_with_copy = resigned_room(guest(), opponent="machine", machine=learner.slug, fresh=True)
    rooms_with_lesson = []
    for _ in range(22):
        rooms_with_lesson.append(room("machine", machine=learner.slug).room)
        play_out(rooms_with_lesson[-1].code, guest())
    last_rooms = [resigned_room(guest()) for _ in range(2)]
    run_retention()
    assert set(Room.objects.all()) == {room_with_copy, *rooms_with_lesson, *last_rooms}
    assert Match.objects.count() == 25


def test_interrupted_room_goes_with_its_last_match(settings: Any) -> None:
    settings.MATCHES_PER_GUEST = 1
    code = room().room.code
    for _ in range(25):
        match_resign(code=code, person=guest())
        room_reset(code=code, person=guest())
    other_room = room().room
    place: retention.Place | None = None
    while (place := retention_run(TurnEnd(0), place)) is not None:
        assert all(one.matches.exists() for one in Room.objects.all())
    assert list(Match.objects.filter(room__code=code).values_list("number", flat=True)) == [26], (
        "the last match is not over"
    )
    match_resign(code=code, person=guest())
    run_retention()
    assert list(Room.objects.all()) == [other_room]


def test_frozen_machine_of_a_guest_keeps_only_its_last_match(settings: Any) -> None:
    settings.MATCHES_PER_GUEST = 1
    personal_machine = machine_after_match()
    Machine.objects.filter(pk=personal_machine.pk).update(learns=False)
    for _ in range(3):
        frozen_room = personal_machine_play(person=guest(), game=NC).room
        match_resign(code=frozen_room.code, person=guest())
    last_room = resigned_room(guest())
    ledgers_compact(TurnEnd())
    run_retention()
    rooms_with_lesson = {match.room for match in Match.objects.filter(lessons__isnull=False)}
    assert set(Room.objects.all()) == {*rooms_with_lesson, frozen_room, last_room}


def test_guests_machine_lasts_90_days_after_its_last_lesson() -> None:
    """The deletion of its matches before that makes no difference."""
    personal_machine = machine_after_match()
    age_rows(60)
    assert machine_after_match() == personal_machine
    age_rows(60)
    ledgers_compact(TurnEnd())
    run_retention()
    assert not Room.objects.exists()
    assert Machine.objects.filter(guest=guest().guest).exists()
    age_rows(31)
    run_retention()
    assert all(one.slug.startswith("blank-") for one in Machine.objects.all())
    assert [model for model in (Change, Lesson, Draw) if model._default_manager.exists()] == []
    assert ledger_errors() == []


def test_a_frozen_machine_of_a_guest_is_as_old_as_its_last_match() -> None:
    personal_machine = machine_after_match()
    Machine.objects.filter(pk=personal_machine.pk).update(learns=False)
    age_rows(89)
    assert machine_after_match() == personal_machine
    age_rows(60)
    ledgers_compact(TurnEnd())
    run_retention()
    assert Machine.objects.filter(pk=personal_machine.pk).exists()
    age_rows(31)
    run_retention()
    assert not Machine.objects.filter(pk=personal_machine.pk).exists()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_interrupted_deletion_leaves_an_ownerless_machine(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """After every transaction the rest of the machine adds up, and no visitor can reach it."""
    monkeypatch.setattr(retention, "MAX_MACHINE_ROWS", size)
    personal_machine = machine_after_match()
    age_rows(91)
    ledgers_compact(TurnEnd())
    place, n_steps = None, 0
    while (place := retention_run(TurnEnd(0), place)) is not None:
        assert ledger_errors() + damaged_ledgers() == []
        n_steps += Machine.objects.filter(pk=personal_machine.pk, owner=None, guest=None, is_public=False).exists()
    assert n_steps >= 2, "several transactions delete its parts, the last one its row"
    assert not Machine.objects.filter(pk=personal_machine.pk).exists()


def test_rows_of_a_small_machine_go_in_one_transaction() -> None:
    machine_after_match()
    age_rows(91)
    ledgers_compact(TurnEnd())
    batches: retention.BatchTimes = []
    assert retention_run(TurnEnd(), batch_times=batches) is None
    assert not Machine.objects.filter(is_pupil=True).exists()
    assert sum(name == "rows of machines" for name, _ in batches) == 3, (
        "one for its rows, one for itself, one that finds none"
    )


def test_every_cascading_foreign_key_leads_an_index() -> None:
    """Without the index a batch would read the whole table that refers to its rows."""
    missing = []
    for model in apps.get_models():
        table = model._meta.db_table
        keys = [field for field in model._meta.local_fields if field.remote_field and model._meta.managed]
        with connection.cursor() as cursor:
            constraints = connection.introspection.get_constraints(cursor, table).values()
        indexed_columns = {
            one["columns"][0] for one in constraints if one["columns"] and (one["index"] or one["unique"])
        }
        on_delete = {field.column: field.remote_field.on_delete for field in keys}
        missing += [
            (table, column)
            for column, action in on_delete.items()
            if action is not DO_NOTHING and column not in indexed_columns
        ]
    assert missing == []


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("by_its_owner", [False, True])
def test_a_large_machine_is_deleted_while_others_play(by_its_owner: bool) -> None:
    ann, large_machine = user("ann"), machine_after_match()
    if by_its_owner:
        Machine.objects.filter(pk=large_machine.pk).update(owner=ann, guest=None, is_pupil=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO learning_lesson (machine_id, number, kind, n_wins, n_draws, n_losses, created_at)"
            " SELECT %s, n, 'training', 1, 0, 0, now() FROM generate_series(2, 4000) AS n",
            [large_machine.pk],
        )
        cursor.execute(
            "INSERT INTO learning_box (machine_id, position, ply, move_number, start, beads, visits)"
            " SELECT %s, 'more' || n, 1, 1, '{1}', '{1}', '{0}' FROM generate_series(1, 300) AS n",
            [large_machine.pk],
        )
        cursor.execute(
            "INSERT INTO learning_change (lesson_id, box_id, deltas, after)"
            " SELECT lesson.id, box.id, array_fill(0, ARRAY[cardinality(beads)]), beads FROM learning_lesson lesson"
            " JOIN learning_box box USING (machine_id) WHERE machine_id = %s",
            [large_machine.pk],
        )
        cursor.execute("ANALYZE")
    assert Change.objects.count() > 1_000_000
    age_rows(91)
    is_gone, final_states, batch_sizes = Event(), list[Any](), list[int]()

    def count_deleted_rows(execute: Callable[..., Any], statement: str, values: Any, many: bool, context: Any) -> Any:
        try:
            return execute(statement, values, many, context)
        finally:
            if statement.startswith("DELETE"):
                batch_sizes.append(context["cursor"].rowcount)

    def delete() -> None:
        try:
            with connection.execute_wrapper(count_deleted_rows):
                machine_delete(user=ann, machine_id=large_machine.pk) if by_its_owner else run_retention()
        finally:
            is_gone.set()

    def others_play() -> None:
        while not is_gone.is_set():
            final_states.append(play_out(room(person=guest(2)).room.code, guest(2)))

    assert at_once(delete, others_play) == []
    assert not Machine.objects.filter(pk=large_machine.pk).exists()
    assert not Change.objects.exists()
    assert sum(batch_sizes) > 1_000_000
    assert max(batch_sizes) <= ROWS_PER_STATEMENT, "a statement takes 0.1 s for any machine (docs/decisions/0096)"
    assert len(final_states) > 10


@pytest.mark.parametrize("has_trained", [False, True])
def test_rows_that_refer_to_a_deleted_machine_stay(has_trained: bool) -> None:
    personal_machine, other = machine_after_match(), machine(Side.FIRST)
    if has_trained:
        trained_machine(personal_machine, 10)
    copy = machine_clone(machine_id=personal_machine.pk, name="Copy", is_public=True)
    trained_machine(other, 10)
    RunStage.objects.filter(run__machine=other).update(
        opponent="machine", opponent_machine=personal_machine, opponent_name=personal_machine.name
    )
    entries = [other.slug, machine().slug]
    tournament = tournament_start(user=user("boss", is_staff=True), entries=entries, games=1, enqueue=False)
    tournament.entries.filter(number=1).update(machine=personal_machine, name=personal_machine.name)
    Tournament.objects.update(status=JobStatus.FINISHED, finished_at=ago(1))
    assert Standing.objects.filter(machine=personal_machine).exists()
    age_rows(91)
    ledgers_compact(TurnEnd())
    run_retention()
    assert not Machine.objects.filter(pk=personal_machine.pk).exists()
    assert not Standing.objects.filter(machine_id=personal_machine.pk).exists()
    copy.refresh_from_db()
    assert (copy.name, copy.copied_from) == ("Copy", None)
    assert list(RunStage.objects.values_list("opponent_machine", "opponent_name")) == [(None, "")]
    assert set(tournament.entries.values_list("machine", "name")) == {
        (other.pk, other.name),
        (None, DELETED_MACHINE_NAME),
    }
    assert ledger_errors() + damaged_ledgers() == []


@pytest.mark.parametrize("has_account", [False, True])
def test_copy_in_a_training_or_tournament_stays_until_its_end(has_account: bool) -> None:
    ann, original = user("ann"), machine(is_public=True)
    player = person(ann) if has_account else guest()
    copies = [Machine.objects.get(room=resigned_room(player, opponent="machine", machine=original.slug, fresh=True))]
    copies.append(
        Machine.objects.get(room=resigned_room(player, opponent="machine", machine=original.slug, fresh=True))
    )
    Machine.objects.filter(room__isnull=False).update(is_public=True)
    learner = machine(Side.FIRST, owner=ann)
    stage = Stage(copies[0].slug, 10)
    run = training_run_request(user=ann, machine=learner.slug, stages=[stage])
    entries = [learner.slug, copies[1].slug]
    tournament = tournament_start(user=ann, entries=entries, games=1, enqueue=False)
    age_rows(366)
    TrainingRun.objects.update(created_at=ago(1))
    run_retention()
    assert set(Machine.objects.filter(room__isnull=False)) == set(copies)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    assert run_execute(claimed_run).status == JobStatus.FINISHED
    Tournament.objects.filter(pk=tournament.pk).update(status=JobStatus.FINISHED, finished_at=ago(1))
    run_retention()
    assert not Machine.objects.filter(pk__in=[copy.pk for copy in copies]).exists()


def test_machines_beyond_one_transaction_go_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    unused_machines = next(replace(rule, batch=2) for rule in retention.RULES if rule.name == "unused machines")
    monkeypatch.setattr(retention, "RULES", [unused_machines])
    personal_machines = [machine_after_match(number) for number in range(1, 6)]
    age_rows(91)
    place, n_remaining = (unused_machines.name, None), []
    while place is not None:
        place = retention_run(TurnEnd(0), place)
        n_remaining.append(Machine.objects.filter(slug__in=[one.slug for one in personal_machines]).count())
    assert n_remaining[:3] == [3, 1, 0]


def test_retention_continues_with_the_next_wake_up(monkeypatch: pytest.MonkeyPatch) -> None:
    wake_ups: list[Any] = []
    monkeypatch.setattr(tasks.expired_delete, "apply_async", lambda args, **_: wake_ups.append(args))
    monkeypatch.setattr(tasks, "RETENTION_S", 0.0)
    for n in range(3):
        room(person=guest(n))
    age_rows(31)
    tasks.expired_delete()
    while wake_ups:
        tasks.expired_delete(*wake_ups.pop())
    assert not Room.objects.exists()


def test_an_unknown_saved_position_restarts_retention() -> None:
    assert len({rule.name for rule in retention.RULES}) == len(retention.RULES)
    for place in ((3, "some-key"), ("things of yesterday", 7)):
        old_room = room(person=guest()).room
        age_rows(31)
        tasks.expired_delete(*place)
        assert not Room.objects.filter(pk=old_room.pk).exists()


def test_a_row_that_always_fails_is_skipped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    rooms = [room(person=guest(n)).room for n in range(1, 11)]
    age_rows(31)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE holds (room_id bigint REFERENCES games_room)")
        cursor.execute("INSERT INTO holds VALUES (%s), (%s)", [rooms[3].pk, rooms[4].pk])
    run_retention()
    assert set(Room.objects.all()) == set(rooms[3:5])
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == [f"retention: old rooms: {one.pk} is skipped" for one in rooms[3:5]]


def test_a_surplus_match_that_always_fails_is_skipped(settings: Any) -> None:
    settings.MATCHES_PER_GUEST = 1
    rooms = [resigned_room(guest()) for _ in range(5)]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE holds (match_id bigint REFERENCES games_match)")
        cursor.execute("INSERT INTO holds SELECT id FROM games_match WHERE room_id = %s", [rooms[1].pk])
    run_retention()
    assert set(Room.objects.all()) == {rooms[1], rooms[4]}


@pytest.fixture
def retain_only_sessions(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], Any]], None]:
    """Replace the rules of retention by one for 40 expired sessions, with an action of the test."""

    def run_with_action(act: Callable[[Any], Any]) -> None:
        sessions = next(rule for rule in retention.RULES if rule.name == "sessions")
        monkeypatch.setattr(retention, "RULES", [replace(sessions, act=act, batch=16)])

    Session.objects.bulk_create(Session(session_key=f"{n:02}", session_data="", expire_date=ago(1)) for n in range(40))
    return run_with_action


RetainOnlySessions = Callable[[Callable[[Any], Any]], None]


@pytest.mark.parametrize(
    ("error", "expected_sizes"),
    [(psycopg.errors.LockNotAvailable, [16, 8, 4, 2, 1, 1, 2, 1, 1, 4, 2, 1, 1]), (psycopg.OperationalError, [16])],
)
def test_locked_rows_are_not_all_tried(
    retain_only_sessions: RetainOnlySessions, error: type[psycopg.Error], expected_sizes: list[int]
) -> None:
    """No row is tried alone while the database is away."""
    batch_sizes: list[int] = []

    def fail(rows: Any) -> None:
        batch_sizes.append(rows.count())
        raise OperationalError from error()

    retain_only_sessions(fail)
    run_retention()
    assert batch_sizes == expected_sizes
    assert Session.objects.count() == 40


def test_a_slow_batch_is_repeated_with_fewer_rows(
    retain_only_sessions: RetainOnlySessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "STATEMENT_TIMEOUT_MS", 2_000)

    def delete_slowly(rows: Any) -> None:
        if rows.count() > 4:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(%s)", [HANG_S])
        rows.delete()

    retain_only_sessions(delete_slowly)
    Session.objects.filter(session_key__gte="08").delete()
    run_retention()
    assert not Session.objects.exists()


def test_rows_beyond_a_query_are_read_next(
    retain_only_sessions: RetainOnlySessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("learning.storage.retention.ROWS_PER_WINDOW", 7)
    Session.objects.filter(session_key__in=["00", "20", "39"]).update(expire_date=ago(-1))
    retain_only_sessions(QuerySet.delete)
    run_retention()
    assert [one.session_key for one in Session.objects.order_by("pk")] == ["00", "20", "39"]


@pytest.mark.django_db(transaction=True)
def test_only_commits_of_retention_do_not_wait_for_the_disk(retain_only_sessions: RetainOnlySessions) -> None:
    commit_settings: list[str] = []

    def record_setting(_: Any = None) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SHOW synchronous_commit")
            commit_settings.extend(cursor.fetchone())

    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")  # as on a live site
    record_setting()
    retain_only_sessions(lambda rows: (record_setting(), rows.delete()))
    run_retention()
    record_setting()
    assert commit_settings == ["on", "off", "off", "off", "on"]


@pytest.mark.django_db(transaction=True)
def test_claim_during_retention_keeps_the_machine_or_finds_none() -> None:
    ann = user("ann")
    personal_machines = [machine_after_match(n) for n in range(1, 5)]
    age_rows(91)
    ledgers_compact(TurnEnd())
    faults = at_once(
        run_retention, run_retention, *[lambda n=n: machines_claim(ann.pk, guest(n).guest) for n in range(1, 5)]
    )
    assert faults == []
    run_retention()  # deletes machines that were locked in the first two passes
    for personal_machine in Machine.objects.filter(pk__in=[one.pk for one in personal_machines]):
        assert (personal_machine.owner, personal_machine.learns, personal_machine.n_lessons) == (ann, True, 1)
        assert personal_machine.lessons.count() == 1
    assert ledger_errors() == []
    assert damaged_ledgers() == []


@pytest.mark.django_db(transaction=True)
def test_a_machine_with_a_returning_guest_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A returning guest has locked the machine, with nothing committed yet, when retention looks at it."""
    personal_machine = machine_after_match()
    age_rows(91)
    ledgers_compact(TurnEnd())
    Room.objects.all().delete()
    with transaction.atomic():
        room_create(person=guest(), game=NC, opponent="machine", machine=str(personal_machine.pk), side=Side.SECOND)
        assert at_once(run_retention) == []
    personal_machine.refresh_from_db()
    assert personal_machine.guest == guest().guest
    run_retention()
    assert Machine.objects.filter(pk=personal_machine.pk, guest=guest().guest).exists()


@pytest.mark.django_db(transaction=True)
def test_moves_and_retention_do_not_wait_for_each_other() -> None:
    seated, old_seated = room(), room(person=guest(2))
    play(old_seated, guest(2), "1")
    age_rows(31)
    with transaction.atomic():
        Room.objects.select_for_update().get(pk=old_seated.room.pk)  # as a move does before it is stored
        play(seated, guest(), "1")
        assert at_once(run_retention, run_retention) == []
    assert set(Room.objects.all()) == {seated.room, old_seated.room}
    assert play(old_seated, guest(2), room_state_get(code=old_seated.room.code)["legal_moves"][0])["ply"] == 4
    run_retention()
    assert set(Room.objects.all()) == {seated.room, old_seated.room}


def test_old_and_surplus_runs_go_unless_a_ledger_names_them(settings: Any) -> None:
    ann = user("ann")
    learner = trained_machine(machine(owner=ann), games=10)
    runs = [training_run_request(user=ann, machine=learner.slug, stages=[Stage("random", 10)]) for _ in range(4)]
    for run in runs:
        claimed_run = RUNS.claim(run.pk)
        assert claimed_run is not None
        run_execute(claimed_run)
    settings.RUNS_PER_MACHINE = 2
    run_retention()
    assert TrainingRun.objects.count() == 5
    age_rows(40)
    ledgers_compact(TurnEnd())
    run_retention()
    assert set(TrainingRun.objects.all()) == set(runs[2:])
    age_rows(366)
    run_retention()
    assert not TrainingRun.objects.exists()
    assert ledger_errors() == []


def test_a_very_old_run_is_stopped_with_a_reason() -> None:
    ann = user("ann")
    learner = machine(owner=ann)
    run = training_run_request(user=ann, machine=learner.slug, stages=[Stage("random", 1_000_000_000)])
    age_rows(31)
    run_retention()
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    stopped_run = run_execute(claimed_run)
    assert (stopped_run.status, stopped_run.games_done) == (JobStatus.CANCELLED, 0)
    assert stopped_run.error.startswith("It was stopped")


def test_log_ins_sessions_tokens_and_unused_times_go() -> None:
    ann = user("ann")
    token_make(user=ann, name="new", scopes=["read"], lifetime=timedelta(days=1))
    revoked_token = token_make(user=ann, name="old", scopes=["read"], lifetime=None)[0]
    ApiToken.objects.filter(pk=revoked_token.pk).update(revoked_at=ago(91))
    for days in (0, 31):
        attempt_fields = {"username": f"ann{days}", "ip_address": "192.0.2.1", "user_agent": "", "path_info": "/"}
        attempt, log = (
            AccessAttempt.objects.create(failures_since_start=1, **attempt_fields),
            AccessLog.objects.create(**attempt_fields),
        )
        for model, pk in ((AccessAttempt, attempt.pk), (AccessLog, log.pk)):
            model._default_manager.filter(pk=pk).update(attempt_time=ago(days))
        AddressBlock.objects.create(network=f"192.0.2.{days}", reason="spam", expires_at=ago(days))
    Session.objects.create(session_key="old", session_data="", expire_date=ago(1))
    Session.objects.create(session_key="new", session_data="", expire_date=ago(-1))
    learner = machine(owner=ann)
    for timing in (Timing(crontab="0 3 * * *"), Timing(every=7)):
        schedule = schedule_create(user=ann, machine=learner.slug, stages=[Stage("random", 10)], timing=timing)
    CrontabSchedule.objects.create(minute="9")
    schedule_delete(user=ann, schedule_id=schedule.pk)
    run_retention()
    assert [one.name for one in ApiToken.objects.all()] == ["new"]
    assert [one.username for one in AccessAttempt.objects.all()] == ["ann0"]
    assert [one.username for one in AccessLog.objects.all()] == ["ann0"]
    assert [one.network for one in AddressBlock.objects.all()] == ["192.0.2.0"]
    assert [one.session_key for one in Session.objects.all()] == ["new"]
    assert [one.minute for one in CrontabSchedule.objects.all()] == ["0"]
    assert not IntervalSchedule.objects.filter(every=7).exists()


def test_surplus_tournaments_are_deleted_with_their_rows(settings: Any) -> None:
    settings.TOURNAMENTS_PER_ACCOUNT = 1
    ann = user("ann")
    for name in ("first", "second", "third"):
        tournament = tournament_start(user=ann, entries=["random", "perfect"], game=NC, games=2, name=name)
        Tournament.objects.filter(pk=tournament.pk).update(
            status=JobStatus.FINISHED, finished_at=None if name == "first" else ago(1)
        )
    run_retention()
    assert sorted(Tournament.objects.values_list("name", flat=True)) == ["first", "third"]


def test_files_of_killed_processes_go_and_those_in_use_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    abandoned_folder, used_folder, new_folder, other_folder = (
        tmp_path / name for name in ("pymp-left", "pymp-held", "pymp-young", "somebody")
    )
    for folder in (abandoned_folder, used_folder, new_folder, other_folder):
        folder.mkdir()
        if folder is not new_folder:
            os.utime(folder, (0, 0))
    upload = tmp_path / "tmpabc.upload.json"
    upload.touch()
    os.utime(upload, (0, 0))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(used_folder / "listener"))
        os.utime(used_folder, (0, 0))
        retention.leftover_files_delete()
        assert set(tmp_path.iterdir()) == {used_folder, new_folder, other_folder}
    retention.leftover_files_delete()
    assert set(tmp_path.iterdir()) == {new_folder, other_folder}
