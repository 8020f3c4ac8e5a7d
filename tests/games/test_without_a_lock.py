"""Optimistic locking: a move is stored if its room is unchanged since the read, else the service starts again."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction

from beadbox.rules.outcome import Side
from games import exceptions
from games.live import store
from games.live.play import match_play_move, match_resign
from games.live.rooms import SeatResult, room_state_get, seats_claim
from games.models import Match, Ply, Room, Seat
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Draw, Machine
from tests.factories import guest, house_machines, play, room, user
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def seat() -> SeatResult:
    seat = room("random", guest(), side=Side.FIRST)
    play(seat, guest(), "5")
    return seat


def move_call(seat: SeatResult, **more: Any) -> Callable[[], Any]:
    move = room_state_get(code=seat.room.code)["legal_moves"][0]
    return partial(match_play_move, code=seat.room.code, person=guest(), move=move, **more)


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


@contextmanager
def store_after_block(seat: SeatResult, work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Start work that reads the room before the block and stores after it. Yield a list for its result or error."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            results.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        Room.objects.select_for_update(no_key=True).get(pk=seat.room.pk)
        thread.start()
        assert wait_until(is_waiting_for_a_lock)
        yield results
    thread.join(HANG_S)


def test_a_move_is_stored_if_nothing_has_changed(seat: SeatResult) -> None:
    version = Room.objects.get(pk=seat.room.pk).version
    with store_after_block(seat, move_call(seat)) as results:
        pass
    (state,) = results
    assert (state["ply"], state["version"]) == (4, version + 1)
    assert state == room_state_get(code=seat.room.code)


def test_move_in_a_match_that_was_just_resigned_is_refused(seat: SeatResult) -> None:
    plies = list(Ply.objects.values_list("number", "move"))
    with store_after_block(seat, move_call(seat)) as results:
        version = match_resign(code=seat.room.code, person=guest())["version"]
    assert isinstance(results[0], exceptions.MatchFinishedError)
    assert list(Ply.objects.values_list("number", "move")) == plies
    assert Match.objects.get().status == "finished"
    assert room_state_get(code=seat.room.code)["version"] == version


@pytest.mark.parametrize("action", ["moves", "resigns"])
def test_nothing_is_stored_in_a_room_that_was_just_deleted(seat: SeatResult, action: str) -> None:
    resigns = partial(match_resign, code=seat.room.code, person=guest())
    with store_after_block(seat, move_call(seat) if action == "moves" else resigns) as results:
        Room.objects.get().delete()
    assert isinstance(results[0], exceptions.RoomNotFoundError)
    assert not Ply.objects.exists()


def test_the_second_of_two_concurrent_moves_is_stale(seat: SeatResult) -> None:
    move = move_call(seat, ply=2)
    with store_after_block(seat, move) as results:
        state = move()
    assert isinstance(results[0], exceptions.StalePlyError)
    assert room_state_get(code=seat.room.code) == state
    assert state["ply"] == 4


def test_seat_that_was_just_claimed_is_not_the_guests(seat: SeatResult) -> None:
    account, person, move = user("claimer"), guest(), move_call(seat)
    assert person.guest is not None
    with store_after_block(seat, move) as results:
        seats_claim(user_id=account.pk, name=account.username, guest=person.guest)
    assert isinstance(results[0], exceptions.NotAPlayerError)
    assert Ply.objects.count() == 2


def test_connection_lost_after_the_commit_loses_nothing(seat: SeatResult, monkeypatch: pytest.MonkeyPatch) -> None:
    move = move_call(seat, ply=2)
    count_plies = store.PLIES.inc

    def kill_backend(pid: int) -> None:
        connection.cursor().execute("SELECT pg_terminate_backend(%s)", [pid])
        connection.close()

    def lose_connection(n_plies: int) -> None:
        count_plies(n_plies)
        (pid,) = connection.cursor().execute("SELECT pg_backend_pid()").fetchone()
        with ThreadPoolExecutor(1) as other:
            other.submit(kill_backend, pid).result()

    monkeypatch.setattr(store.PLIES, "inc", lose_connection)  # called after the commit
    state = move()
    connection.close()  # the next request gets a new connection, as in the site
    assert state["ply"] == 4
    assert room_state_get(code=seat.room.code) == state
    monkeypatch.undo()
    with pytest.raises(exceptions.StalePlyError):
        move()
    assert room_state_get(code=seat.room.code) == state
    assert ledger_errors() == []


def test_rows_of_plain_sql_equal_those_of_the_orm() -> None:
    house_machines()
    code = room("menace", guest(), side=Side.SECOND, fresh=True).room.code
    live = store.match_read(code)
    rows = [live.room, live.match, *(seat.row for seat in live.seats), *live.plies]
    rows += [row for _, player in live.automated_seats for row in (player.machine, *player.draws)]
    assert {type(row) for row in rows} == {Room, Match, Seat, Ply, Machine, Draw}
    for row in rows:
        orm_row = type(row)._default_manager.get(pk=row.pk)
        for field in type(row)._meta.concrete_fields:
            assert getattr(row, field.attname) == getattr(orm_row, field.attname), field
