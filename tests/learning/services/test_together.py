"""Group commit of matches that end at once with the same machine: one thread stores all, and each is stored once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from beadbox.rules.outcome import Side
from games import exceptions
from games.live.play import match_resign
from games.live.players import PLAYERS, LiveMatch
from games.live.rooms import SeatResult, room_create, room_state_get, seats_claim
from games.live.store import ENDED_MATCH_COMMIT, match_read
from games.models import Match, Room
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.live import occupants_fetch
from learning.models import Lesson, Machine
from learning.services.machines import machine_create, machine_delete, machine_update
from learning.storage.locks import machine_hold, machine_lock
from tests import factories
from tests.factories import NC, guest, play, room
from tests.threads import at_once
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
N_MATCHES = 6


@pytest.fixture
def learner() -> Machine:
    return factories.machine(Side.SECOND)


@pytest.fixture
def rooms(learner: Machine) -> list[SeatResult]:
    """Matches in which the machine has opened a box."""
    seats = [room("machine", guest(number), machine=str(learner.pk)) for number in range(N_MATCHES)]
    for number, seated in enumerate(seats):
        play(seated, guest(number), "5")
    return seats


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


def n_waiting() -> int:
    """Return the number of matches that have released their locks and wait to be stored."""
    return sum(map(len, ENDED_MATCH_COMMIT._waiting.values()))


def n_connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND backend_type = 'client backend'"
        )
        return int(cursor.fetchone()[0])


def resign_call(seated: SeatResult, number: int) -> Callable[[], Any]:
    return partial(match_resign, code=seated.room.code, person=guest(number))


@contextmanager
def calls_waiting_for_lock(learner: Machine, *calls: Callable[[], Any]) -> Iterator[list[Any]]:
    """Start the calls, which wait for the machine's lock until the block ends; yield the list of their results."""
    results: list[Any] = [None] * len(calls)

    def run(index: int) -> None:
        try:
            results[index] = calls[index]()
        except Exception as error:
            results[index] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(calls))]
    with transaction.atomic():
        machine_lock(learner.pk)
        threads[0].start()
        assert wait_until(is_waiting_for_a_lock)  # the first call stores its own match
        for n_before, thread in enumerate(threads[1:]):
            thread.start()
            assert wait_until(lambda: n_waiting() > n_before)  # noqa: B023 - called at once
        yield results
    for thread in threads:
        thread.join(HANG_S)
    assert not ENDED_MATCH_COMMIT._waiting


def test_one_transaction_stores_all_matches_with_lessons(learner: Machine, rooms: list[SeatResult]) -> None:
    calls = [resign_call(seated, number) for number, seated in enumerate(rooms)]
    with calls_waiting_for_lock(learner, *calls) as results:
        pass
    learner.refresh_from_db()
    lessons = list(learner.lessons.order_by("number"))
    assert [lesson.number for lesson in lessons] == list(range(1, N_MATCHES + 1))
    assert (learner.n_lessons, learner.n_games, learner.n_wins) == (N_MATCHES, N_MATCHES, N_MATCHES)
    assert len({lesson.created_at for lesson in lessons}) == 2, "the first by itself, and all the others together"
    for state, seated in zip(results, rooms, strict=True):
        assert state["learning"]["lessons"][0]["sentence"].startswith(f"{learner.name} won")
        (change,) = state["learning"]["changes"]
        assert change["after"] == change["before"] + change["delta"]
        state_now = room_state_get(code=seated.room.code)
        assert [state[name] for name in ("version", "outcome", "moves")] == [
            state_now[name] for name in ("version", "outcome", "moves")
        ]
        assert state["learning"]["changes"] == state_now["learning"]["changes"]
    assert ledger_errors() == []


def test_waiting_requests_hold_no_connection(learner: Machine, rooms: list[SeatResult]) -> None:
    """Connections are few: if all of them waited, no other request could be served."""
    with calls_waiting_for_lock(learner, *(resign_call(seated, number) for number, seated in enumerate(rooms))):
        assert n_waiting() == N_MATCHES - 1
        assert wait_until(lambda: n_connections() == 2), "the test and the first request have one each"


def test_lessons_follow_each_other_in_the_order_of_the_ledger(learner: Machine, rooms: list[SeatResult]) -> None:
    """For each box, a change begins with the beads left by the change before."""
    with calls_waiting_for_lock(learner, *(resign_call(seated, number) for number, seated in enumerate(rooms))):
        pass
    beads_by_position: dict[str, list[int]] = {}
    for lesson in Lesson.objects.filter(machine=learner).order_by("number"):
        for change in lesson.changes.select_related("box"):
            before = beads_by_position.get(change.box.position, change.box.start)
            assert change.after == [n + delta for n, delta in zip(before, change.deltas, strict=True)]
            beads_by_position[change.box.position] = change.after
    assert beads_by_position
    assert all(learner.boxes.get(position=position).beads == beads for position, beads in beads_by_position.items())


def test_a_match_with_a_changed_room_is_tried_again(learner: Machine, rooms: list[SeatResult]) -> None:
    account = factories.user("claimer")
    with calls_waiting_for_lock(
        learner, *(resign_call(seated, number) for number, seated in enumerate(rooms))
    ) as results:
        seats_claim(user_id=account.pk, name="claimer", guest=guest(2).guest)
    assert isinstance(results[2], exceptions.NotAPlayerError), "the seat belongs to the account"
    assert sum(isinstance(one, dict) for one in results) == N_MATCHES - 1
    assert Match.objects.get(room=rooms[2].room).status == "playing"
    learner.refresh_from_db()
    assert (learner.n_games, learner.lessons.count()) == (N_MATCHES - 1, N_MATCHES - 1)
    assert ledger_errors() == []


def test_a_move_sent_twice_is_played_once(learner: Machine, rooms: list[SeatResult]) -> None:
    calls = [resign_call(rooms[0], 0), resign_call(rooms[1], 1), resign_call(rooms[1], 1), resign_call(rooms[2], 2)]
    with calls_waiting_for_lock(learner, *calls) as results:
        pass
    assert [type(one) for one in results].count(exceptions.MatchFinishedError) == 1
    assert learner.lessons.count() == 3
    assert Room.objects.get(pk=rooms[1].room.pk).version == room_state_get(code=rooms[1].room.code)["version"]
    assert ledger_errors() == []


def test_a_failing_match_does_not_stop_the_others(
    learner: Machine, rooms: list[SeatResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    player, failing_room_id = PLAYERS["machine"], rooms[3].room.pk
    finish = player.finish

    def finish_or_fail(matches: list[LiveMatch]) -> None:
        if any(live.room.pk == failing_room_id for live in matches):
            raise ValueError("this match cannot be finished")
        finish(matches)

    monkeypatch.setattr(player, "finish", finish_or_fail)
    with calls_waiting_for_lock(
        learner, *(resign_call(seated, number) for number, seated in enumerate(rooms))
    ) as results:
        pass
    assert [index for index, one in enumerate(results) if isinstance(one, ValueError)] == [3]
    assert learner.lessons.count() == N_MATCHES - 1
    assert Match.objects.filter(status="finished").count() == N_MATCHES - 1
    assert ledger_errors() == []


def test_a_machine_frozen_meanwhile_learns_nothing(learner: Machine, rooms: list[SeatResult]) -> None:
    with calls_waiting_for_lock(
        learner, *(resign_call(seated, number) for number, seated in enumerate(rooms))
    ) as results:
        machine_update(user=factories.user("staff", is_staff=True), machine_id=learner.pk, learns=False)
    assert learner.lessons.count() == 0
    assert {state["learning"]["lessons"][0]["deed"] for state in results} == {
        "The machine is frozen, so its beads do not change."
    }
    assert Match.objects.filter(status="finished").count() == N_MATCHES


def test_matches_of_a_machine_deleted_meanwhile_still_end(learner: Machine, rooms: list[SeatResult]) -> None:
    with calls_waiting_for_lock(
        learner, *(resign_call(seated, number) for number, seated in enumerate(rooms))
    ) as results:
        machine_delete(user=factories.user("staff", is_staff=True), machine_id=learner.pk)
    assert [state["outcome"]["winner"] for state in results] == ["O"] * N_MATCHES
    assert Match.objects.filter(status="finished").count() == N_MATCHES


def test_lessons_of_a_machine_in_two_seats_do_not_deadlock() -> None:
    """With one lock per seat, PostgreSQL detected a deadlock in one of two test runs."""
    learner = machine_create(game=NC, side=None, name="Own", preset="q-table")
    options = {"game": NC, "first": str(learner.pk), "second": str(learner.pk)}
    codes = [room_create(person=guest(number), **options).room.code for number in range(5)]

    def teach(code: str) -> None:
        seats = [seat for seat, _ in match_read(code).automated_seats]
        for number in range(80):
            with transaction.atomic():
                occupants_fetch(seats, lock=True)
                Machine.objects.filter(pk=learner.pk).update(description=f"{code} {number}")

    def hold() -> None:
        for _ in range(160):
            with transaction.atomic():
                machine_hold(learner)

    assert at_once(*(partial(teach, code) for code in codes), hold, hold) == []
