"""A copy shares boxes with its original until they differ, without a visible difference from a full copy."""

import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import OpenBoxes
from beadbox.rules.outcome import Outcome, Side
from games.live.players import DecisionRecord, LiveMatch, LiveSeat
from games.live.rooms import room_create, room_reset
from games.live.store import room_get
from games.models import Match, Room, Seat
from learning.exceptions import MachineNotFoundError
from learning.kinds.boxes.look import boxes_at
from learning.kinds.boxes.memory import boxes_own, ledger_errors
from learning.kinds.boxes.page import box_gallery
from learning.kinds.boxes.training import BoxesTraining
from learning.kinds.live import EndedMatch, KindLive, occupants_fetch
from learning.kinds.machines import machine_export
from learning.kinds.registry import kind_of
from learning.models import Change, Draw, LessonKind, Machine, MachineSeat
from learning.services.copies import machine_clone
from learning.services.machines import machine_create, machine_delete, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.storage.lessons import Cause
from learning.storage.locks import machine_lock
from tests.factories import NC, guest, machine, machine_strength, play, play_out, room, room_view, trained_machine, user
from tests.threads import at_once

N_PAIRS = -(-2000 // 2 // len(PRESETS))
"""Matches of each of two copies for each preset: 2,000 in all."""


def original_of(preset: str) -> Machine:
    """Return a trained machine of a preset, on the side of the preset's author."""
    game = "hexapawn" if preset.startswith(("gardner", "hexapawn")) else NC
    side = Side.FIRST if preset.startswith(("michie-1961", "scroggs")) else Side.SECOND
    return train_unmeasured(machine_create(game=game, side=side, name="Original", preset=preset), 300)


def train_unmeasured(learner: Machine, games: int) -> Machine:
    """Train a machine without measuring the curve, which is slow and has nothing to do with copies."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoxesTraining, "measure_strength", lambda *_: {})
        return trained_machine(learner, games)


def copy_machine(original: Machine, *, full: bool) -> Machine:
    """Return a copy with its own rows for all boxes (``full``) or for none."""
    with transaction.atomic():
        copy = machine_clone(machine_id=original.pk, name="Copy")
        if full:
            boxes_own(copy.pk)
    copy.refresh_from_db()
    assert (copy.shares_id is None) is full
    return copy


def stored_state(learner: Machine) -> list[Any]:
    """Return the boxes, changes and totals of a machine, without ids and times."""
    boxes = learner.boxes.order_by("ply", "position")
    changes = Change.objects.filter(lesson__machine=learner).order_by("pk")
    learner.refresh_from_db()
    return [
        list(boxes.values_list("position", "ply", "move_number", "start", "beads", "visits")),
        list(changes.values_list("box__position", "lesson__number", "lesson__kind", "ply", "deltas", "after")),
        [learner.n_lessons, learner.n_games, learner.n_wins, learner.n_draws, learner.n_losses, learner.n_removed],
    ]


def visible_text(learner: Machine) -> str:
    """Everything that API, files and pages show of a machine, without ids and times."""
    api, answers = APIClient(), list[Any]()
    address = f"/api/machines/{learner.pk}/boxes"
    for query in ("", "ordering=-change,beads", "removed=true", "visited=true", "search=X.", "move_number=2&page=2"):
        answer = api.get(f"{address}?page_size=10&{query}").json()
        answers.append([answer.get("count"), answer.get("results")])
    for position in learner.boxes.order_by("ply", "position").values_list("position", flat=True)[:5]:
        answer = api.get(f"{address}/{position}").json()
        for change in answer["history"]:
            del change["room"], change["training_run"], change["created_at"]
        answers.append(answer)
    parts = [
        stored_state(learner),
        machine_export(learner).text,
        machine_export(learner, "csv").text,
        box_gallery(learner),
        [boxes_at(learner, number) for number in (0, learner.n_lessons // 2, learner.n_lessons)],
        machine_strength(learner),
        sorted(kind_of(learner).training.entry_fields(learner)["beads"].items()),
        kind_of(learner).page.content_phrase(learner),
        answers,
    ]
    return json.dumps(parts).replace(f"/machines/{learner.pk}/", "/machines/#/")


def seats_of_finished_matches(game: str, side: int, n: int) -> list[Seat]:
    """Return the seats on one side of ``n`` finished matches, two for each seed, stored in bulk to be played later."""
    room, now = Room.objects.create(game=game, opponent="random"), timezone.now()
    fields: dict[str, Any] = {"room": room, "status": "finished", "termination": "a-test", "finished_at": now}
    matches = Match.objects.bulk_create(Match(number=k + 1, seed=1 + k // 2, **fields) for k in range(n))
    return Seat.objects.bulk_create(Seat(match=match, side=side, player="machine") for match in matches)


def play_match(row: Seat, learner: Machine) -> list[DecisionRecord]:
    """Play a match of a machine against random play without a room's services, learn from it, and return the draws."""
    match, records = row.match, list[DecisionRecord]()
    seat = LiveSeat(row)
    live = LiveMatch(
        match.room, match, match.room.game_rules, [seat], [], is_room_locked=True
    )  # the room is not shared
    occupants_fetch(live.seats)
    game, rng = learner.game_rules, RandomSource(match.seed)
    player, position = seat.player, game.initial_position()
    assert isinstance(player, KindLive)
    while (outcome := game.outcome(position)) is None:
        if game.side_to_move(position) != learner.side:
            moves = game.legal_moves(position)
            move = moves[rng.below(len(moves))]
        else:
            choice = player.choose(live, position)
            if choice.record is not None:
                records.append((match.n_plies, choice.record))
            if choice.move is None:
                outcome = Outcome(Side(learner.side).other, "empty_box")
                break
            move = choice.move
        position = game.apply(position, move)
        match.n_plies += 1
    player.remember(records)
    (player.machine,) = machine_lock(learner.pk)  # locked again, as after a refill
    player.learn([EndedMatch(live, outcome, [player])])
    return records


@pytest.mark.django_db
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.sampled(3)
def test_a_sharing_copy_equals_a_full_copy(preset: str) -> None:
    root, boss = original_of(preset), user("boss", is_staff=True)
    seats = seats_of_finished_matches(root.game, root.side, 2 * N_PAIRS)
    sharing_copy, full_copy = (copy_machine(root, full=is_full) for is_full in (False, True))
    assert not sharing_copy.own_boxes.exists()

    def play_on(sixth: int) -> None:
        begin, end = ((n * N_PAIRS // 6) * 2 for n in (sixth - 1, sixth))
        with transaction.atomic():
            copies = sharing_copy, full_copy
            MachineSeat.objects.bulk_create(
                MachineSeat(seat=seat, machine=copies[k % 2]) for k, seat in enumerate(seats[begin:end])
            )
            for k in range(begin, end, 2):
                assert play_match(seats[k], copies[0]) == play_match(seats[k + 1], copies[1])
        assert stored_state(sharing_copy) == stored_state(full_copy)

    play_on(1)
    visited = {box.position for box in full_copy.own_boxes.all() if any(box.visits)}
    assert set(sharing_copy.own_boxes.values_list("position", flat=True)) == visited, "only boxes that differ have rows"
    train_unmeasured(root, 100)  # later lessons of the original do not concern the copies
    assert visible_text(sharing_copy) == visible_text(full_copy)
    play_on(2)
    train_unmeasured(sharing_copy, 40)
    train_unmeasured(full_copy, 40)
    play_on(3)
    original, sharing_copy, full_copy = (
        sharing_copy,
        copy_machine(sharing_copy, full=False),
        copy_machine(full_copy, full=True),
    )
    assert sharing_copy.shares == original
    assert Machine.objects.get(pk=original.pk).shares is None, "a machine whose boxes are shared has its own rows"
    play_on(4)
    machine_delete(user=boss, machine_id=root.pk)
    machine_reset(user=boss, machine_id=original.pk)
    assert not Machine.objects.exclude(shares=None).exists()
    assert visible_text(sharing_copy) == visible_text(full_copy)
    play_on(5)
    sharing_copy, full_copy = copy_machine(sharing_copy, full=False), copy_machine(full_copy, full=True)
    play_on(6)
    machine_reset(user=boss, machine_id=sharing_copy.pk)
    machine_reset(user=boss, machine_id=full_copy.pk)
    assert visible_text(sharing_copy) == visible_text(full_copy)
    assert MachineSeat.objects.count() == 2 * N_PAIRS
    assert ledger_errors() == []


@pytest.mark.django_db
@pytest.mark.parametrize("preset", PRESETS)
def test_rooms_of_both_copies_send_the_same(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("games.models.secrets.randbits", lambda bits: 3)  # fixes the seeds of the matches
    root, texts = original_of(preset), []
    options: dict[str, Any] = {"opponent": "machine", "machine": root.slug, "fresh": True}
    for is_full in (False, True):
        code = room_create(person=guest(), game=root.game, side=Side(root.side).other, **options).room.code
        copy = Machine.objects.get(room__code=code)
        if is_full:
            boxes_own(copy.pk)
        states = [room_view(room_get(code)), play_out(code, guest())]
        room_reset(code=code, person=guest())
        text = json.dumps([*states, play_out(code, guest())], default=str)
        texts.append(re.sub(rf"/machines/{copy.pk}\b|{code}|\"id\": {copy.pk}\b", "#", text))
    assert texts[0] == texts[1]
    assert ledger_errors() == []


@pytest.mark.django_db
def test_a_draw_creates_no_row() -> None:
    original = trained_machine(machine())
    seated = room("machine", machine=original.slug, fresh=True)
    copy = Machine.objects.get(room=seated.room)
    play(seated, guest(), "5")
    assert not copy.own_boxes.exists()
    play_out(seated.room.code, guest())
    drawn_positions = set(Draw.objects.filter(machine=copy).values_list("position", flat=True))
    assert set(copy.own_boxes.values_list("position", flat=True)) == drawn_positions
    call_command("audit", verbosity=0)


@pytest.mark.django_db
def test_the_audit_finds_a_row_with_a_wrong_start() -> None:
    original = trained_machine(machine(), 100)
    copy = copy_machine(original, full=False)
    trained_machine(copy, 20)
    trained_machine(original, 100, seed=2)  # later lessons of the original do not concern the copy
    call_command("audit", verbosity=0)
    wrong_box = copy.own_boxes.order_by("pk")[1]
    wrong_box.start, wrong_box.beads = (
        [n + 1 for n in wrong_box.start],
        [n + 1 for n in wrong_box.beads],
    )  # the ledger still agrees
    wrong_box.save()
    assert ledger_errors() == [wrong_box.pk]
    with pytest.raises(CommandError, match=f"1 boxes do not add up, by id: {wrong_box.pk}$"):
        call_command("audit")


@pytest.mark.django_db
def test_boxes_opened_later_are_not_shared() -> None:
    rule = replace(PRESETS["michie-refill"].rule, open_boxes=OpenBoxes.WHEN_MET)
    original = trained_machine(machine(rule=rule), 20, seed=1)
    copy = machine_clone(machine_id=original.pk, name="Copy")
    n_boxes = copy.boxes.count()
    assert trained_machine(original, 200, seed=2).boxes.count() > n_boxes == copy.boxes.count()
    trained_machine(copy, 200, seed=2)
    assert copy.boxes.count() == original.boxes.count()
    assert stored_state(copy)[0] != stored_state(original)[0]
    assert ledger_errors() == []


@pytest.mark.django_db
def test_a_copy_of_an_untrained_machine_shares_its_boxes() -> None:
    original = machine()
    copy, full_copy = copy_machine(original, full=False), copy_machine(original, full=True)
    trained_machine(original, 50)
    assert stored_state(copy) == stored_state(full_copy)
    machine_reset(user=user("boss", is_staff=True), machine_id=original.pk)
    later_copy = copy_machine(original, full=False)  # the number of the last lesson continues without lessons
    assert stored_state(later_copy) == stored_state(copy) == stored_state(full_copy)


@pytest.mark.django_db
@pytest.mark.parametrize("is_analysed", [False, True])
def test_a_move_reads_its_box_by_indexes(is_analysed: bool) -> None:
    originals = [trained_machine(machine(), 100, seed=seed) for seed in range(8)]
    copies = [machine_clone(machine_id=one.pk, name="Copy") for one in originals for _ in range(3)]
    trained_machine(copies[9], 200)
    if is_analysed:
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")
    for copy in copies[8:11]:
        copy.refresh_from_db()
        with CaptureQueriesContext(connection) as queries:
            assert copy.boxes.filter(position=copy.game_rules.canonical("X........")).first() is not None
        (query,) = queries
        plan = "\n".join(line for (line,) in rows(f"EXPLAIN {query['sql']}"))
        assert "box_once" in plan
        assert "change_box_lesson" in plan
        assert not re.search("Seq Scan on (learning_box|learning_change)", plan), plan


def copies_made_during(original: Machine, work: Callable[[], Any]) -> list[Machine]:
    """Return the copies of a machine that are made and taught while ``work`` runs."""

    def copy(number: int) -> None:
        with contextlib.suppress(MachineNotFoundError):
            seated = room("machine", guest(number), machine=original.slug, fresh=True)
            play_out(seated.room.code, guest(number))

    seated = room("machine", guest(9), machine=original.slug, fresh=True)
    assert at_once(lambda: play_out(seated.room.code, guest(9)), partial(copy, 1), work, partial(copy, 2)) == []
    return list(Machine.objects.filter(room__isnull=False).order_by("pk"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("action", ["reset", "deleted"])
@pytest.mark.sampled(1)
def test_copies_made_during_a_deletion_or_reset_are_complete(action: str) -> None:
    boss, end_machine = user("boss", is_staff=True), machine_reset if action == "reset" else machine_delete
    for seed in range(4):
        original = trained_machine(machine(), 100, seed=seed)
        initial_beads = {key: tuple(start) for key, start in original.boxes.values_list("position", "start")}
        beads_before = {key: tuple(beads) for key, beads in original.boxes.values_list("position", "beads")}
        for copy in copies_made_during(original, partial(end_machine, user=boss, machine_id=original.pk)):
            first_beads = {key: tuple(start) for key, start in copy.boxes.values_list("position", "start")}
            assert first_beads in (beads_before, initial_beads)
            assert copy.n_games == 1
            machine_delete(user=boss, machine_id=copy.pk)
        assert ledger_errors() == []


@pytest.mark.django_db(transaction=True)
def test_copying_does_not_wait_for_lessons_of_the_original() -> None:
    original = trained_machine(machine(), 100)
    boxes_before = stored_state(original)[0]
    with transaction.atomic():
        (locked_machine,) = machine_lock(original.pk)
        memory = kind_of(locked_machine).memory.load(locked_machine)
        memory.beads += 1
        memory.n_removed += 1
        run = training_run_start(machine=original.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
        kind_of(locked_machine).memory.lesson_give(locked_machine, memory, LessonKind.TRAINING, Cause(run_id=run.pk))
        assert at_once(lambda: room("machine", machine=original.slug, fresh=True) and None) == []
    copy = Machine.objects.exclude(shares=None).get()
    assert [row[4] for row in stored_state(copy)[0]] == [row[4] for row in boxes_before]
    assert (copy.n_removed, Machine.objects.get(pk=original.pk).n_removed) == (0, 1)


SIZES_SQL = (
    "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r' AND relname ~ '^(games|learning)_'"
)


@pytest.mark.django_db
@pytest.mark.soak
def test_a_thousand_fresh_rooms_take_two_megabytes() -> None:
    original = trained_machine(machine())
    tables = ("games_room", "games_match", "games_seat", "learning_machine", "learning_machineseat")

    def row_counts() -> dict[str, int]:
        return {table: rows(f'SELECT count(*) FROM "{table}"')[0][0] for table in dict(rows(SIZES_SQL))}

    counts_before = row_counts()
    room("machine", machine=original.slug, fresh=True)
    n_added_rows = {table: n - counts_before[table] for table, n in row_counts().items() if n > counts_before[table]}
    assert n_added_rows == {**dict.fromkeys(tables, 1), "games_seat": 2}
    sizes = dict(rows(SIZES_SQL))
    for table in tables:
        _repeat_rows(table, 1000)
    assert Machine.objects.filter(shares=original).count() == 1001
    # In megabytes of the database; the fill of index pages with random keys varies by a few per cent.
    assert sum(size - sizes[table] for table, size in dict(rows(SIZES_SQL)).items()) <= 1.05 * 2 * 1024**2


def rows(sql: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def _repeat_rows(table: str, n: int) -> None:
    """Store the rows of the latest room ``n`` more times under new keys, as for ``n`` rooms."""
    condition = "WHERE room_id IS NOT NULL" if table == "learning_machine" else ""
    rows(
        f"INSERT INTO {table} SELECT (jsonb_populate_record(latest, (SELECT jsonb_object_agg(key, CASE"
        " WHEN value = 'null' THEN value"
        " WHEN key IN ('id', 'room_id', 'match_id', 'seat_id', 'machine_id') THEN to_jsonb(value::bigint + 10 * n)"
        " WHEN key = 'code' THEN to_jsonb(translate(left(md5(n::text), 6), '01', 'gh'))"
        " WHEN key = 'slug' THEN to_jsonb('m-' || translate(left(md5(n::text), 6), '01', 'gh'))"
        " WHEN key IN ('guest', 'host_guest') THEN to_jsonb(md5(n::text)::uuid) ELSE value END)"
        " FROM jsonb_each(to_jsonb(latest))))).*"
        f" FROM {table} latest CROSS JOIN generate_series(1, {n}) AS n {condition} ORDER BY n RETURNING 1"
    )
