"""Requests of a visitor read a few rows, however many rows others have: each query plan is executed and checked."""

import re
from collections.abc import Callable
from itertools import islice, product
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from games.accounts.principal import Principal
from games.codes import CODE_ALPHABET, CODE_LENGTH
from games.live.match_lists import match_list_of
from games.live.play import match_resign
from games.live.rooms import room_reset, seats_claim
from games.models import Match, Room, Seat
from learning.models import JobStatus, Machine, MachineSeat, RunStage, TrainingRun
from learning.selectors.machines import machine_list_of
from learning.services.machines import machine_create, machine_delete, machine_reset
from learning.services.personal_machines import personal_machine_play
from learning.services.runs import Stage, training_run_request, training_run_stop
from tests.factories import NC, guest, machine, person, play_out, room, user
from tests.plans import rows_read

N_ROOMS = 3_000
"""Rooms of other visitors, each with a match in play and a copy of a machine; half of the copies are in use."""
MAX_ROWS_READ = 60
LARGE_TABLES = (
    *("games_room", "games_match", "games_seat", "learning_machine", "learning_machineseat"),
    *("learning_trainingrun", "learning_runstage"),
)


@pytest.fixture
def popular_machine() -> Machine:
    one = machine()
    fields = {name: getattr(one, name) for name in ("game", "side", "rule_json")}
    room_fields = {"game": NC, "opponent": "machine", "machine": one.slug}
    # Random codes would collide once in 200 fixtures.
    codes = ("".join(letters) for letters in islice(product(CODE_ALPHABET, repeat=CODE_LENGTH), N_ROOMS))
    rooms = Room.objects.bulk_create(
        Room(**room_fields, code=code, host_guest=UUID(int=1000 + n), opened_from=f"address {n % 99}")
        for n, code in enumerate(codes)
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
    finished_fields = {
        "status": JobStatus.FINISHED,
        "finished_at": timezone.now(),
        "n_games": 1,
        "games_done": 1,
        "n_wins": 1,
    }
    runs = TrainingRun.objects.bulk_create(TrainingRun(machine=copy, seed=1, **finished_fields) for copy in copies)
    RunStage.objects.bulk_create(
        RunStage(run=run, number=0, opponent="machine", opponent_machine=one, n_games=1) for run in runs
    )
    return one


def open_room(visitor: Principal, popular_machine: Machine) -> None:
    room("machine", visitor, machine=popular_machine.slug)


def open_room_with_copy(visitor: Principal, popular_machine: Machine) -> None:
    room("machine", visitor, machine=popular_machine.slug, fresh=True)


def open_room_with_table(visitor: Principal, popular_machine: Machine) -> None:
    own_machine = machine_create(game=NC, side=None, name="Own", preset="q-table")
    room("machine", visitor, machine=own_machine.slug, fresh=True)


def teach(visitor: Principal, popular_machine: Machine) -> None:
    first_seated = personal_machine_play(person=visitor, game=NC)
    assert personal_machine_play(person=visitor, game=NC).room == first_seated.room


def view_account(visitor: Principal, popular_machine: Machine) -> None:
    list(match_list_of(viewer=Principal(user_id=visitor.user_id), guest=visitor.guest)[:50])
    list(machine_list_of(visitor.user_id or 0))


def claim_machines(visitor: Principal, popular_machine: Machine) -> None:
    account = person(user("claimer"))
    seats_claim(user_id=account.user_id, name=account.name, guest=visitor.guest or guest().guest)


def train(visitor: Principal, popular_machine: Machine) -> None:
    own_machine = machine(owner=user("trainer"), name="Own")
    run = training_run_request(user=own_machine.owner, machine=own_machine.slug, stages=[Stage("random", 10)])
    training_run_stop(user=own_machine.owner, run_id=run.pk)
    machine_reset(user=own_machine.owner, machine_id=own_machine.pk)
    machine_delete(user=own_machine.owner, machine_id=own_machine.pk)


def play_again(visitor: Principal, popular_machine: Machine) -> None:
    code = Room.objects.filter(machine=popular_machine.slug).latest("pk").code
    match_resign(code=code, person=visitor)
    room_reset(code=code, person=visitor)


def play_move(visitor: Principal, popular_machine: Machine) -> None:
    play_out(Room.objects.filter(machine=popular_machine.slug).latest("pk").code, visitor)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "act",
    [
        open_room,
        open_room_with_copy,
        open_room_with_table,
        teach,
        view_account,
        claim_machines,
        train,
        play_again,
        play_move,
    ],
)
@pytest.mark.parametrize("visitor_kind", ["guest", "account"])
@pytest.mark.sampled(6)
def test_number_of_rows_read_does_not_depend_on_other_rows(
    visitor_kind: str,
    act: Callable[[Principal, Machine], Any],
    popular_machine: Machine,
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.COPIES_PER_GUEST = settings.COPIES_PER_ACCOUNT = 2
    visitor = guest() if visitor_kind == "guest" else person(user())
    for _ in range(3):  # the first of three copies exceeds the limit and is deleted
        seated = room("machine", visitor, machine=popular_machine.slug, fresh=True)
        match_resign(code=seated.room.code, person=visitor)
    room("machine", visitor, machine=popular_machine.slug)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    with CaptureQueriesContext(connection) as queries, django_capture_on_commit_callbacks(execute=True):
        act(visitor, popular_machine)
    # INSERT statements cannot be repeated, but changed or deleted rows are found by the same plan.
    statements = [query["sql"] for query in queries if re.match(r"\s*(SELECT|UPDATE|DELETE)", query["sql"])]
    assert statements
    for statement in statements:
        assert max(rows_read(statement, *LARGE_TABLES).values()) <= MAX_ROWS_READ, statement
