"""Objects that a request reads are freed after its response, without the garbage collector."""

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from beadbox.rules.outcome import Side
from games.live.play import match_resign, match_step
from games.live.rooms import (
    SeatResult,
    is_person_in_room,
    room_create,
    room_enter,
    room_join,
    room_reset,
    room_state_get,
    room_whole_state_get,
)
from games.models import Match, Ply, Room, Seat
from learning.models import Draw, Machine
from learning.selectors.advice import room_advice
from learning.services.machines import machine_create
from tests.factories import NC, guest, house_machines, play, room, stranger

pytestmark = pytest.mark.django_db(transaction=True)

MODELS = (Match, Seat, Ply, Draw, Machine, Room)


def count_live_objects() -> Counter[str]:
    """Count the live objects of these models by class. ``type`` is safe even for a dead weak proxy."""
    return Counter(type(one).__name__ for one in gc.get_objects() if issubclass(type(one), MODELS))


@contextmanager
def assert_all_freed() -> Iterator[None]:
    """Assert that all objects created in the block are freed without the garbage collector."""
    gc.collect()
    before = count_live_objects()
    gc.disable()
    try:
        yield
        assert count_live_objects() - before == Counter()
    finally:
        gc.enable()


def room_against_perfect() -> SeatResult:
    return room()


def room_against_menace() -> SeatResult:
    return room("menace", side=Side.SECOND)


def room_against_a_copy_of_values() -> SeatResult:
    return room("machine", machine="table", fresh=True)


def room_against_a_person() -> SeatResult:
    seat = room("human")
    room_join(code=seat.room.code, person=stranger())
    return seat


@pytest.mark.parametrize(
    "open_room", [room_against_perfect, room_against_menace, room_against_a_copy_of_values, room_against_a_person]
)
@pytest.mark.sampled(1)
def test_match_leaves_no_reference_cycles(open_room: Callable[[], SeatResult]) -> None:
    """A guest enters a room, plays, resigns and plays again; no object waits for the garbage collector."""
    house_machines()
    machine_create(game=NC, side=None, name="Table", preset="q-table", slug="table")
    open_room()  # caches are filled by now
    with assert_all_freed():
        seat = open_room()
        code, player = seat.room.code, guest()
        for _ in range(2):
            room_enter(code=code, person=player)
            play(seat, player, room_state_get(code=code)["legal_moves"][0])
            assert is_person_in_room(code=code, person=player)
            match_resign(code=code, person=player)
            room_reset(code=code, person=player)
        del seat


@pytest.mark.soak
def test_exhibition_and_advice_leave_no_reference_cycles() -> None:
    house_machines()
    with assert_all_freed():
        code = room_create(person=guest(), game=NC, first="menace", second="random").room.code
        while match_step(code=code, person=guest(), max_plies=2)["status"] == "playing":
            room_whole_state_get(code=code)
    code = room_create(person=guest(), game="romgon", opponent="random", side=Side.FIRST).room.code
    room_advice(code)
    with assert_all_freed():
        room_advice(code)
