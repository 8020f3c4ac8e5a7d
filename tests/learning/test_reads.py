"""What a visitor begins and plays reads a few rows, however much others have: each plan is carried out and read."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from games import services
from games.models import Match, Room, Seat
from games.services import Person
from learning.models import Machine, MachineSeat
from learning.services.machines import machine_create
from learning.services.pupils import pupil_teach
from tests.factories import NC, guest, machine, person, play_out, room, user
from tests.plans import rows_read

N = 3_000
"""Rooms of others, each with a match that goes on and a copy of a machine that is played by half of them."""
MOST = 60
TABLES = ("games_room", "games_match", "games_seat", "learning_machine", "learning_machineseat")


@pytest.fixture
def popular() -> Machine:
    one = machine()
    fields = {name: getattr(one, name) for name in ("game", "side", "rule_json")}
    asked = {"game": NC, "opponent": "machine", "machine": one.slug}
    rooms = Room.objects.bulk_create(
        Room(**asked, host_guest=UUID(int=1000 + n), opened_from=f"address {n % 99}") for n in range(N)
    )
    copies = Machine.objects.bulk_create(
        Machine(**fields, name=f"M{n}", room=room, copied_from=one) for n, room in enumerate(rooms)
    )
    matches = Match.objects.bulk_create(
        Match(room=room, number=1, status="playing", position=".........") for room in rooms
    )
    Seat.objects.bulk_create(
        Seat(match=match, side=0, guest=UUID(int=1000 + n), name="x") for n, match in enumerate(matches)
    )
    seats = Seat.objects.bulk_create(Seat(match=match, side=1, player="menace", name="m") for match in matches)
    MachineSeat.objects.bulk_create(
        MachineSeat(seat=seat, machine=one if n % 2 else copies[n]) for n, seat in enumerate(seats)
    )
    return one


def opens(who: Person, popular: Machine) -> None:
    room("machine", who, machine=popular.slug)


def opens_with_a_copy(who: Person, popular: Machine) -> None:
    room("machine", who, machine=popular.slug, fresh=True)


def opens_with_a_table(who: Person, popular: Machine) -> None:
    own = machine_create(game=NC, side=None, name="Own", preset="q-table")
    room("machine", who, machine=own.slug, fresh=True)


def teaches(who: Person, popular: Machine) -> None:
    pupil_teach(person=who, game=NC)


def plays(who: Person, popular: Machine) -> None:
    play_out(Room.objects.filter(machine=popular.slug).latest("pk").code, who)


@pytest.mark.django_db
@pytest.mark.parametrize("do", [opens, opens_with_a_copy, opens_with_a_table, teaches, plays])
@pytest.mark.parametrize("who", ["guest", "account"])
def test_few_rows_are_read_however_many_there_are(
    who: str,
    do: Callable[[Person, Machine], Any],
    popular: Machine,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.COPIES_PER_GUEST = settings.COPIES_PER_ACCOUNT = 2
    one = guest() if who == "guest" else person(user())
    for _ in range(3):  # with a copy beyond the bound, which goes
        seated = room("machine", one, machine=popular.slug, fresh=True)
        services.match_resign(code=seated.room.code, person=one)
    room("machine", one, machine=popular.slug)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as queries, django_capture_on_commit_callbacks(execute=True):
        do(one, popular)
    asked = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    assert asked
    for statement in asked:
        assert max(rows_read(statement, *TABLES).values()) <= MOST, statement
