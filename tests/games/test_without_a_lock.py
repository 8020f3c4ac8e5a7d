"""A move is worked out from what was read, and stored if the room is as it was then; else it begins anew."""

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
from games.live import services
from games.live.services import Seated
from games.models import Match, Ply, Room
from tests.factories import guest, play, room, user
from tests.waiting import HANG_S, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def seated() -> Seated:
    seated = room("random", guest(), side=Side.FIRST)
    play(seated, guest(), "5")
    return seated


def moved(seated: Seated, **more: Any) -> Callable[[], Any]:
    move = services.room_look(code=seated.room.code)["legal_moves"][0]
    return partial(services.match_play_move, code=seated.room.code, person=guest(), move=move, **more)


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


@contextmanager
def after_it_was_read(seated: Seated, work: Callable[[], Any]) -> Iterator[list[Any]]:
    """Begin something that reads the room now, and stores what comes of it after this block; what it came to."""
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


def test_it_is_stored_where_nothing_has_changed(seated: Seated) -> None:
    version = Room.objects.get(pk=seated.room.pk).version
    with after_it_was_read(seated, moved(seated)) as came:
        pass
    (state,) = came
    assert (state["ply"], state["version"]) == (4, version + 1)
    assert state == services.room_look(code=seated.room.code)


def test_a_move_in_a_match_that_was_given_up_meanwhile_is_refused(seated: Seated) -> None:
    plies = list(Ply.objects.values_list("number", "move"))
    with after_it_was_read(seated, moved(seated)) as came:
        version = services.match_resign(code=seated.room.code, person=guest())["version"]
    assert isinstance(came[0], exceptions.MatchFinishedError)
    assert list(Ply.objects.values_list("number", "move")) == plies
    assert Match.objects.get().status == "finished"
    assert services.room_look(code=seated.room.code)["version"] == version


@pytest.mark.parametrize("do", ["moves", "resigns"])
def test_in_a_room_that_has_gone_meanwhile_nothing_is_stored(seated: Seated, do: str) -> None:
    resigns = partial(services.match_resign, code=seated.room.code, person=guest())
    with after_it_was_read(seated, moved(seated) if do == "moves" else resigns) as came:
        Room.objects.get().delete()
    assert isinstance(came[0], exceptions.RoomNotFoundError)
    assert not Ply.objects.exists()


def test_of_two_moves_at_once_the_second_is_stale(seated: Seated) -> None:
    move = moved(seated, ply=2)
    with after_it_was_read(seated, move) as came:
        state = move()
    assert isinstance(came[0], exceptions.StalePlyError)
    assert services.room_look(code=seated.room.code) == state
    assert state["ply"] == 4


def test_a_seat_that_was_claimed_meanwhile_is_not_the_guests_any_more(seated: Seated) -> None:
    account, who, move = user("claimer"), guest(), moved(seated)
    assert who.guest is not None
    with after_it_was_read(seated, move) as came:
        services.seats_claim(user_id=account.pk, name=account.username, guest=who.guest)
    assert isinstance(came[0], exceptions.NotAPlayerError)
    assert Ply.objects.count() == 2
