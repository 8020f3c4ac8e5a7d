"""Fresh copies: guests, accounts and addresses keep the latest few; the copy idle for longest goes first."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Max
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from games.accounts.principal import Principal
from games.live.play import match_resign
from games.live.rooms import SeatResult, room_reset
from games.live.store import room_get
from games.models import Room
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Machine
from learning.services.runs import Stage, training_run_start
from learning.workers.runs import RUNS, run_execute
from tests.factories import NC, guest, machine, person, play, room, room_view, user
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def low_limits(settings: Any) -> None:
    settings.COPIES_PER_GUEST = 2
    settings.COPIES_PER_ACCOUNT = 3
    settings.COPIES_PER_ADDRESS = 4


def copy_of(learner: Machine, player: Principal, *, is_over: bool = True) -> Machine:
    """Make a copy of a machine in a new room, and end its match unless ``is_over`` is false. Return the copy."""
    seated = room("machine", machine=learner.slug, fresh=True, person=player)
    copy = Machine.objects.get(room=seated.room)
    if is_over:
        match_resign(code=seated.room.code, person=player)
    return copy


def which_exist(*copies: Machine) -> list[bool]:
    """Return for each copy whether it is in the database."""
    ids = set(Machine.objects.values_list("pk", flat=True))
    return [copy.pk in ids for copy in copies]


@pytest.mark.parametrize(("account_kind", "n_kept"), [("guest", 2), ("account", 3)])
def test_the_latest_copies_are_kept(account_kind: str, n_kept: int) -> None:
    learner, other_guest = machine(), guest(2)
    player = guest() if account_kind == "guest" else person(user())
    other_copy = copy_of(learner, other_guest)
    copies = [copy_of(learner, player) for _ in range(n_kept + 2)]
    assert which_exist(other_copy, *copies) == [True, False, False] + [True] * n_kept
    assert ledger_errors() == []
    state = room_view(room_get(Room.objects.order_by("pk")[1].code))
    assert [seat["machine"] for seat in state["seats"]] == [None, None], "the room stays without its machine"


def test_the_longest_idle_copy_is_deleted_first() -> None:
    learner = machine()
    first, second = copy_of(learner, guest()), copy_of(learner, guest())
    assert first.room is not None
    room_reset(code=first.room.code, person=guest())
    match_resign(code=first.room.code, person=guest())
    third = copy_of(learner, guest())
    assert which_exist(first, second, third) == [True, False, True]


def test_copy_in_use_stays_and_an_abandoned_one_goes() -> None:
    """A copy that is played or trained is in use."""
    learner = machine()
    played_copy, abandoned_copy, trained_copy = (copy_of(learner, guest(), is_over=False) for _ in range(3))
    assert trained_copy.room is not None
    match_resign(code=trained_copy.room.code, person=guest())
    run = training_run_start(machine=str(trained_copy.pk), stages=[Stage("random", 10)], seed=1, enqueue=False)
    Room.objects.filter(fresh_machines=abandoned_copy).update(changed_at=timezone.now() - timedelta(hours=2))
    new_copies = [copy_of(learner, guest()) for _ in range(3)]
    assert which_exist(played_copy, abandoned_copy, trained_copy, *new_copies) == [True, False, True, False, True, True]
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    run_execute(claimed_run)
    copy_of(learner, guest())
    assert which_exist(trained_copy) == [False]


def test_number_of_queries_does_not_depend_on_copies_in_use() -> None:
    learner = machine()
    n_queries = []
    for _ in range(6):
        with CaptureQueriesContext(connection) as queries:
            copy_of(learner, guest(), is_over=False)
        n_queries.append(len(queries))
    assert n_queries[3] == n_queries[-1], "three and five copies beyond the limit"


def test_guests_without_cookies_share_the_limit_of_an_address() -> None:
    learner, body = machine(), {"game": NC, "opponent": "machine", "fresh": True}
    for _ in range(6):
        api = APIClient()
        seated = api.post("/api/rooms", {**body, "machine": learner.slug, "side": "X"}).json()
        api.post(f"/api/rooms/{seated['code']}/resign", {"seat_token": seated["seat_token"]})
    assert Machine.objects.filter(copied_from=learner).count() == 4
    assert Machine.objects.aggregate(Max("room__pk"))["room__pk__max"] == Room.objects.latest("pk").pk


def test_copies_of_an_account_do_not_count_for_its_address() -> None:
    learner, principal = machine(), replace(person(user()), address="school")
    own_copy = copy_of(learner, principal)
    guest_copies = [copy_of(learner, replace(guest(number), address="school")) for number in range(1, 6)]
    assert which_exist(own_copy, *guest_copies) == [True, False, True, True, True, True]
    further_copies = [copy_of(learner, principal) for _ in range(4)]
    assert which_exist(own_copy, *guest_copies[1:], *further_copies) == [False] + [True] * 4 + [False] + [True] * 3


@pytest.mark.soak
def test_concurrent_copies_leave_the_limit() -> None:
    learner = machine()
    assert at_once(*[lambda: [copy_of(learner, guest()) and None for _ in range(3)] for _ in range(4)]) == []
    copy_of(learner, guest())
    assert Machine.objects.filter(copied_from=learner).count() == 2
    assert ledger_errors() == []


def test_rematch_in_a_room_without_its_copy_makes_another() -> None:
    learner = machine()
    first = copy_of(learner, guest())
    code = Room.objects.latest("pk").code
    for _ in range(2):
        copy_of(learner, guest())
    assert which_exist(first) == [False]
    state = room_reset(code=code, person=guest())
    assert state["seats"][1]["machine"]["id"] not in (None, first.pk, learner.pk)
    assert play(SeatResult(room_get(code), None, ""), guest(), "5")["ply"] == 2
