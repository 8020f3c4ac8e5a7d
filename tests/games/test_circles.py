"""What a request has read goes when it is answered, and does not wait for the garbage collector."""

import gc
from collections import Counter

import pytest

from games import services
from games.models import Match, Ply, Room, Seat
from learning.models import Draw, Machine
from tests.factories import guest, play, room

pytestmark = pytest.mark.django_db

READ = (Match, Seat, Ply, Draw, Machine, Room)


def there() -> Counter[str]:
    """How many objects of what is read there are (asked of their type: a proxy may be dead)."""
    return Counter(type(one).__name__ for one in gc.get_objects() if issubclass(type(one), READ))


def test_nothing_of_a_match_is_left_by_who_enters_plays_resigns_and_plays_again() -> None:
    seated = room()
    code, who = seated.room.code, guest()
    gc.collect()
    before = there()
    gc.disable()
    try:
        for _ in range(2):
            services.room_enter(code=code, person=who)
            play(seated, who, services.room_look(code=code)["legal_moves"][0])
            services.match_resign(code=code, person=who)
            services.room_reset(code=code, person=who)
        assert there() - before == Counter()
    finally:
        gc.enable()
