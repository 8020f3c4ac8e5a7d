"""Optimistic locking: a move is stored if the room is unchanged since the read; otherwise the service starts again."""

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
def seated() -> SeatResult:
    seated = room("random", guest(), side=Side.FIRST)
    play(seated, guest(), "5")
    return seated


def move_call(seated: SeatResult, **more: Any) -> Callable[[], Any]:
    move = room_state_get(code=seated.room.code)["legal_moves"][0]
    return partial(match_play_move, code=seated.room.code, person=guest(), move=move, **more)


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


@contextmanager
def reading_before_the_block(seated: SeatResult, work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Start work that reads the room now and stores after this block. Yield the result or error of this work."""
    came: list[Any] = []

    def run() -> None:
        try:
            came.append(work())
        except Exception as error:
            came.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        Room.objects.select_for_update(no_key=True).get(pk=seated.room.pk)
        thread.start()
        assert wait_until(is_waiting_for_a_lock)
        yield came
    thread.join(HANG_S)


def test_a_move_is_stored_if_nothing_has_changed(seated: SeatResult) -> None:
    version = Room.objects.get(pk=seated.room.pk).version
    with reading_before_the_block(seated, move_call(seated)) as came:
        pass
    (state,) = came
    assert (state["ply"], state["version"]) == (4, version + 1)
    assert state == room_state_get(code=seated.room.code)


def test_move_in_a_match_resigned_meanwhile_is_refused(seated: SeatResult) -> None:
    plies = list(Ply.objects.values_list("number", "move"))
    with reading_before_the_block(seated, move_call(seated)) as came:
        version = match_resign(code=seated.room.code, person=guest())["version"]
    assert isinstance(came[0], exceptions.MatchFinishedError)
    assert list(Ply.objects.values_list("number", "move")) == plies
    assert Match.objects.get().status == "finished"
    assert room_state_get(code=seated.room.code)["version"] == version


@pytest.mark.parametrize("do", ["moves", "resigns"])
def test_nothing_is_stored_in_a_room_deleted_meanwhile(seated: SeatResult, do: str) -> None:
    resigns = partial(match_resign, code=seated.room.code, person=guest())
    with reading_before_the_block(seated, move_call(seated) if do == "moves" else resigns) as came:
        Room.objects.get().delete()
    assert isinstance(came[0], exceptions.RoomNotFoundError)
    assert not Ply.objects.exists()


def test_the_second_of_two_concurrent_moves_is_stale(seated: SeatResult) -> None:
    move = move_call(seated, ply=2)
    with reading_before_the_block(seated, move) as came:
        state = move()
    assert isinstance(came[0], exceptions.StalePlyError)
    assert room_state_get(code=seated.room.code) == state
    assert state["ply"] == 4


def test_seat_claimed_meanwhile_no_longer_belongs_to_the_guest(seated: SeatResult) -> None:
    account, who, move = user("claimer"), guest(), move_call(seated)
    assert who.guest is not None
    with reading_before_the_block(seated, move) as came:
        seats_claim(user_id=account.pk, name=account.username, guest=who.guest)
    assert isinstance(came[0], exceptions.NotAPlayerError)
    assert Ply.objects.count() == 2


def test_connection_lost_after_the_commit_loses_nothing(seated: SeatResult, monkeypatch: pytest.MonkeyPatch) -> None:
    move = move_call(seated, ply=2)
    count = store.PLIES.inc

    def kill(pid: int) -> None:
        connection.cursor().execute("SELECT pg_terminate_backend(%s)", [pid])
        connection.close()

    def lose_connection(n_plies: int) -> None:
        count(n_plies)
        (pid,) = connection.cursor().execute("SELECT pg_backend_pid()").fetchone()
        with ThreadPoolExecutor(1) as other:
            other.submit(kill, pid).result()

    monkeypatch.setattr(store.PLIES, "inc", lose_connection)  # called after the commit
    state = move()
    connection.close()  # the next request gets a new connection, as in the site
    assert state["ply"] == 4
    assert room_state_get(code=seated.room.code) == state
    monkeypatch.undo()
    with pytest.raises(exceptions.StalePlyError):
        move()
    assert room_state_get(code=seated.room.code) == state
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
