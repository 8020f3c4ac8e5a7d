"""Limits of open rooms per guest, account and address, for every way to open a room."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from games.accounts.principal import Principal
from games.exceptions import RoomQuotaError, SiteFullError
from games.limits.quotas import site_counts
from games.live.match_lists import open_room_counts, open_rooms, room_in_play, rooms_of
from games.live.play import match_resign
from games.live.rooms import SeatResult, room_create, room_join, room_reset, room_state_get, seats_claim
from games.models import Match, Room
from learning.services.copies import machine_copy
from learning.services.personal_machines import personal_machine_play
from learning.services.runs import Stage, training_run_request
from learning.services.tournaments import tournament_start
from tests.factories import NC, guest, machine, person, play, play_out, room, run_retention, stranger, user
from tests.threads import at_once

pytestmark = pytest.mark.django_db

BODY = {"game": NC, "opponent": "perfect"}


@pytest.fixture(autouse=True)
def low_limits(settings: Any) -> None:
    settings.OPEN_ROOMS_PER_GUEST = 2
    settings.OPEN_ROOMS_PER_ACCOUNT = 3
    settings.OPEN_ROOMS_PER_ADDRESS = 5


def create_rooms(principal: Principal, n: int, **options: Any) -> list[SeatResult]:
    return [room(person=principal, **options) for _ in range(n)]


def refusal_message(principal: Principal) -> str:
    before = Room.objects.count(), Match.objects.count()
    with pytest.raises(RoomQuotaError) as error:
        room(person=principal)
    assert (Room.objects.count(), Match.objects.count()) == before, "the refused request stores no row"
    return str(error.value)


def test_guests_and_accounts_have_a_limit_of_open_rooms() -> None:
    create_rooms(guest(), 2)
    assert refusal_message(guest()).startswith("You have 2 open matches, the most a guest can have.")
    create_rooms(guest(2), 1)
    account = person(user())
    create_rooms(account, 3)
    assert "3 open matches, the most an account can have" in refusal_message(account)


def test_waiting_rooms_and_exhibitions_count_as_open() -> None:
    """Finished rooms and rooms idle for an hour do not count."""
    waiting = room("human", person=guest())
    room_create(person=guest(), game=NC, first="random", second="random")
    refusal_message(guest())
    room_join(code=waiting.room.code, person=guest(2))
    match_resign(code=waiting.room.code, person=guest())
    playing = room(person=guest())
    refusal_message(guest())
    Room.objects.filter(pk=playing.room.pk).update(changed_at=timezone.now() - timedelta(hours=1, seconds=1))
    room(person=guest())


def test_a_rematch_counts_as_an_open_room() -> None:
    first = room(person=guest())
    match_resign(code=first.room.code, person=guest())
    create_rooms(guest(), 2)
    with pytest.raises(RoomQuotaError):
        room_reset(code=first.room.code, person=guest())
    assert Match.objects.filter(room=first.room).count() == 1
    match_resign(code=Room.objects.latest("pk").code, person=guest())
    assert room_reset(code=first.room.code, person=guest())["number"] == 2


def test_the_fast_count_equals_the_number_of_open_rooms(settings: Any) -> None:
    settings.OPEN_ROOMS_PER_GUEST = settings.OPEN_ROOMS_PER_ACCOUNT = 9
    account, host = person(user()), Principal(guest=guest().guest, address="somewhere")
    create_rooms(account, 2, opponent="human")
    room_join(code=Room.objects.latest("pk").code, person=host)
    room_create(person=host, game=NC, first="random", second="random")
    room_create(person=account, game=NC, first="random", second="random")
    finished, abandoned = create_rooms(host, 1)[0], create_rooms(guest(2), 1)[0]
    match_resign(code=finished.room.code, person=host)
    Room.objects.filter(pk=abandoned.room.pk).update(changed_at=timezone.now() - timedelta(hours=1, seconds=1))
    owners = [
        ("account", account.user_id),
        ("guest", host.guest),
        ("guest", guest(2).guest),
        ("address", "somewhere"),
    ]
    assert open_room_counts(*owners) == [3, 2, 0, 1]
    own_rooms = [rooms_of(user_id=account.user_id, guest=None)]
    own_rooms += [rooms_of(user_id=None, guest=one.guest) for one in (host, guest(2))]
    assert [open_rooms(rooms).count() for rooms in own_rooms] == [3, 2, 0]
    room_reset(code=finished.room.code, person=host)
    assert open_room_counts(*owners) == [3, 3, 0, 2], "a rematch opens the room again"
    seats_claim(user_id=account.user_id, name=account.name, guest=host.guest)
    assert open_room_counts(*owners) == [5, 0, 0, 2], "a room counts once, even if the account has both seats"


def test_the_latest_open_room_of_a_visitor_is_found(settings: Any) -> None:
    settings.OPEN_ROOMS_PER_GUEST = settings.OPEN_ROOMS_PER_ACCOUNT = 9
    account, visitor = person(user()), guest()

    def open_room_of(principal: Principal) -> Room | None:
        assert principal.room_owner is not None
        return room_in_play(principal.room_owner, opponent="perfect", machine="")

    create_rooms(account, 1, opponent="human")
    create_rooms(guest(2), 1)
    assert (open_room_of(account), open_room_of(visitor)) == (None, None)
    for principal in (account, visitor):
        first, second, finished = (seat.room for seat in create_rooms(principal, 3))
        match_resign(code=finished.code, person=principal)
        latest = open_room_of(principal)
        assert latest == second
        assert (latest.host_guest, latest.changed_at, latest.version) == (None, second.changed_at, second.version)
        Room.objects.filter(pk=second.pk).update(changed_at=timezone.now() - timedelta(minutes=5))
        assert open_room_of(principal) == first
        Room.objects.filter(pk__in=[first.pk, second.pk]).update(changed_at=timezone.now() - timedelta(minutes=61))
        assert open_room_of(principal) is None


def test_codes_of_rooms_are_unique(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = iter([*room().room.code, *"zzzzzz"])
    monkeypatch.setattr("games.models.secrets.choice", lambda _: next(letters))
    second = room(person=guest(2)).room
    assert (second.code, second.pk) == ("zzzzzz", Room.objects.get(code="zzzzzz").pk)
    assert room_state_get(code="zzzzzz")["ply"] == 0


def test_references_to_a_new_room_are_checked_at_the_commit() -> None:
    """The host's seat in a new room refers to the room before the room is stored with its match."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text, condeferred FROM pg_constraint"
            " WHERE contype = 'f' AND confrelid = 'games_room'::regclass"
        )
        deferred = dict(cursor.fetchall())
    assert deferred == {"games_match": True, "learning_machine": True}


def test_an_address_has_one_limit_for_all_visitors() -> None:
    assert [APIClient().post("/api/rooms", BODY).status_code for _ in range(5)] == [201] * 5
    answer = APIClient().post("/api/rooms", BODY)
    assert (answer.status_code, answer.json()["code"]) == (409, "room_quota")
    assert "Your network has 5 open matches" in answer.json()["detail"]
    assert APIClient(REMOTE_ADDR="10.0.0.9").post("/api/rooms", BODY).status_code == 201
    api = APIClient()
    api.force_login(user())
    assert [api.post("/api/rooms", BODY).status_code for _ in range(4)] == [201] * 3 + [409], (
        "an account has its own limit"
    )
    assert Room.objects.count() == 9


def test_the_limit_of_an_ipv6_address_is_for_its_network() -> None:
    for n in range(5):
        assert APIClient(REMOTE_ADDR=f"2001:db8:1:2::{n}").post("/api/rooms", BODY).status_code == 201
    assert APIClient(REMOTE_ADDR="2001:db8:1:2:ffff::1").post("/api/rooms", BODY).status_code == 409
    assert APIClient(REMOTE_ADDR="2001:db8:1:3::1").post("/api/rooms", BODY).status_code == 201


def test_the_lobby_shows_the_refusal() -> None:
    browser = Client()
    for _ in range(2):
        assert browser.post("/rooms", {**BODY, "side": "X"}).url.startswith("/rooms/")
    answer = browser.post("/rooms", {**BODY, "side": "X"}, follow=True)
    assert answer.redirect_chain[-1][0] == "/"
    (message,) = answer.context["messages"]
    assert str(message) == (
        "You have 2 open matches, the most a guest can have. Finish a match or give it up first."
        " A match without a move for an hour does not count."
    )


@pytest.mark.parametrize("bound", ["MATCHES_MOST", "DATABASE_BYTES_MOST"])
def test_a_full_site_refuses_new_rooms_but_continues_matches(bound: str, settings: Any, monkeypatch: Any) -> None:
    seat, ann = room(), user("ann")
    learner = machine(owner=ann)
    monkeypatch.setattr(site_counts, "recount_at", 0.0)
    setattr(settings, bound, 0)
    answer = APIClient().post("/api/rooms", BODY)
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "site_full", "3600")
    page = Client().post("/rooms", {**BODY, "side": "X"}, follow=True)
    assert [str(one) for one in page.context["messages"]] == [SiteFullError.message]
    play_out(seat.room.code, guest())
    with pytest.raises(SiteFullError):
        room_reset(code=seat.room.code, person=guest())
    for name in ("MACHINES_MOST", "ACCOUNTS_MOST", "RUNS_MOST", "TOURNAMENTS_MOST"):
        setattr(settings, name, 0)
    requests: list[Callable[[], Any]] = [
        lambda: machine_copy(user=ann, machine_id=learner.pk),
        lambda: personal_machine_play(person=guest(), game=NC),
        lambda: training_run_request(user=ann, machine=learner.slug, stages=[Stage("random", 10)]),
        lambda: tournament_start(user=ann, entries=["random", "perfect"], game=NC, games=2),
    ]
    for request in requests:
        with pytest.raises(SiteFullError):
            request()
    form = {"username": "newcomer", "password1": "x8-pLum-tree", "password2": "x8-pLum-tree"}
    assert SiteFullError.message in Client().post("/signup", form).content.decode()
    assert list(get_user_model().objects.all()) == [ann]


def test_a_hash_of_the_address_is_stored_for_a_day() -> None:
    APIClient(REMOTE_ADDR="192.0.2.7").post("/api/rooms", BODY)
    seat = Room.objects.get()
    assert len(seat.opened_from) == 32
    assert "192.0.2.7" not in seat.opened_from
    APIClient(REMOTE_ADDR="192.0.2.7").post("/api/rooms", {**BODY, "opponent": "random"})
    assert len(set(Room.objects.values_list("opened_from", flat=True))) == 1
    Room.objects.filter(pk=seat.pk).update(changed_at=timezone.now() - timedelta(days=1, seconds=1))
    run_retention()
    seat.refresh_from_db()
    assert seat.opened_from == ""
    assert Room.objects.exclude(opened_from="").count() == 1


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_do_not_exceed_the_limit() -> None:
    for owners in (guest(), Principal(address="somewhere")):
        errors = at_once(*[lambda owners=owners: room(person=owners) for _ in range(8)])
        assert {type(error) for error in errors} == {RoomQuotaError}
    assert Room.objects.filter(opened_from="").count() == 2
    assert Room.objects.filter(opened_from="somewhere").count() == 5


def test_a_match_continues_beyond_the_limit() -> None:
    (first, _) = create_rooms(guest(), 2)
    assert play(first, guest(), "5")["ply"] == 2
    learner = machine()
    with pytest.raises(RoomQuotaError):
        room("machine", machine=learner.slug, fresh=True, person=guest())
    assert [one.pk for one in type(learner).objects.all()] == [learner.pk], "the refused request makes no copy"
    room(person=stranger())
