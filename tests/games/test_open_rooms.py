"""Limits of open rooms: per guest, per account and per address, on every way to open one."""

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
from games.live.match_lists import room_going_on, rooms_of, rooms_open, rooms_open_count
from games.live.play import match_resign
from games.live.rooms import Seated, room_create, room_join, room_look, room_reset, seats_claim
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
def bounds(settings: Any) -> None:
    settings.OPEN_ROOMS_PER_GUEST = 2
    settings.OPEN_ROOMS_PER_ACCOUNT = 3
    settings.OPEN_ROOMS_PER_ADDRESS = 5


def opened(who: Principal, n: int, **options: Any) -> list[Seated]:
    return [room(who=who, **options) for _ in range(n)]


def refused(who: Principal) -> str:
    before = Room.objects.count(), Match.objects.count()
    with pytest.raises(RoomQuotaError) as error:
        room(who=who)
    assert (Room.objects.count(), Match.objects.count()) == before, "nothing of it stays"
    return str(error.value)


def test_a_guest_and_an_account_have_so_many_rooms_open() -> None:
    opened(guest(), 2)
    assert refused(guest()).startswith("You have 2 open matches, the most a guest can have.")
    opened(guest(2), 1)
    account = person(user())
    opened(account, 3)
    assert "3 open matches, the most an account can have" in refused(account)


def test_waiting_rooms_and_exhibitions_count_as_open() -> None:
    """Finished rooms and rooms idle for an hour do not count."""
    waiting = room("human", who=guest())
    room_create(person=guest(), game=NC, first="random", second="random")
    refused(guest())
    room_join(code=waiting.room.code, person=guest(2))
    match_resign(code=waiting.room.code, person=guest())
    playing = room(who=guest())
    refused(guest())
    Room.objects.filter(pk=playing.room.pk).update(changed_at=timezone.now() - timedelta(hours=1, seconds=1))
    room(who=guest())


def test_playing_again_opens_a_room_as_well() -> None:
    first = room(who=guest())
    match_resign(code=first.room.code, person=guest())
    opened(guest(), 2)
    with pytest.raises(RoomQuotaError):
        room_reset(code=first.room.code, person=guest())
    assert Match.objects.filter(room=first.room).count() == 1
    match_resign(code=Room.objects.latest("pk").code, person=guest())
    assert room_reset(code=first.room.code, person=guest())["number"] == 2


def test_the_plain_count_is_that_of_the_rooms_that_are_open(settings: Any) -> None:
    settings.OPEN_ROOMS_PER_GUEST = settings.OPEN_ROOMS_PER_ACCOUNT = 9
    account, host = person(user()), Principal(guest=guest().guest, address="somewhere")
    opened(account, 2, opponent="human")
    room_join(code=Room.objects.latest("pk").code, person=host)
    room_create(person=host, game=NC, first="random", second="random")
    room_create(person=account, game=NC, first="random", second="random")
    over, left = opened(host, 1)[0], opened(guest(2), 1)[0]
    match_resign(code=over.room.code, person=host)
    Room.objects.filter(pk=left.room.pk).update(changed_at=timezone.now() - timedelta(hours=1, seconds=1))
    whose = [("account", account.user_id), ("guest", host.guest), ("guest", guest(2).guest), ("address", "somewhere")]
    assert rooms_open_count(*whose) == [3, 2, 0, 1]
    mine = [rooms_of(user_id=account.user_id, guest=None)]
    mine += [rooms_of(user_id=None, guest=one.guest) for one in (host, guest(2))]
    assert [rooms_open(rooms).count() for rooms in mine] == [3, 2, 0]
    room_reset(code=over.room.code, person=host)
    assert rooms_open_count(*whose) == [3, 3, 0, 2], "playing again opens it"
    seats_claim(user_id=account.user_id, name=account.name, guest=host.guest)
    assert rooms_open_count(*whose) == [5, 0, 0, 2], "a room in which both seats are theirs is one"


def test_open_room_found_is_the_visitors_latest(settings: Any) -> None:
    settings.OPEN_ROOMS_PER_GUEST = settings.OPEN_ROOMS_PER_ACCOUNT = 9
    account, visitor = person(user()), guest()

    def going_on(who: Principal) -> Room | None:
        assert who.whose is not None
        return room_going_on(who.whose, opponent="perfect", machine="")

    opened(account, 1, opponent="human")
    opened(guest(2), 1)
    assert (going_on(account), going_on(visitor)) == (None, None)
    for who in (account, visitor):
        first, second, over = (seated.room for seated in opened(who, 3))
        match_resign(code=over.code, person=who)
        found = going_on(who)
        assert found == second
        assert (found.host_guest, found.changed_at, found.version) == (None, second.changed_at, second.version)
        Room.objects.filter(pk=second.pk).update(changed_at=timezone.now() - timedelta(minutes=5))
        assert going_on(who) == first
        Room.objects.filter(pk__in=[first.pk, second.pk]).update(changed_at=timezone.now() - timedelta(minutes=61))
        assert going_on(who) is None


def test_a_code_that_a_room_has_is_given_to_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter([*room().room.code, *"zzzzzz"])
    monkeypatch.setattr("games.models.secrets.choice", lambda _: next(drawn))
    second = room(who=guest(2)).room
    assert (second.code, second.pk) == ("zzzzzz", Room.objects.get(code="zzzzzz").pk)
    assert room_look(code="zzzzzz")["ply"] == 0


def test_what_refers_to_a_room_is_asked_for_it_at_the_commit() -> None:
    """The host's seat in a new room refers to the room before the room is stored with its match."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conrelid::regclass::text, condeferred FROM pg_constraint"
            " WHERE contype = 'f' AND confrelid = 'games_room'::regclass"
        )
        found = dict(cursor.fetchall())
    assert found == {"games_match": True, "learning_machine": True}


def test_everybody_behind_an_address_counts_together() -> None:
    assert [APIClient().post("/api/rooms", BODY).status_code for _ in range(5)] == [201] * 5
    answer = APIClient().post("/api/rooms", BODY)
    assert (answer.status_code, answer.json()["code"]) == (409, "room_quota")
    assert "Your network has 5 open matches" in answer.json()["detail"]
    assert APIClient(REMOTE_ADDR="10.0.0.9").post("/api/rooms", BODY).status_code == 201
    api = APIClient()
    api.force_login(user())
    assert [api.post("/api/rooms", BODY).status_code for _ in range(4)] == [201] * 3 + [409], "its own bound holds"
    assert Room.objects.count() == 9


def test_who_has_one_address_of_ipv6_has_the_network() -> None:
    for n in range(5):
        assert APIClient(REMOTE_ADDR=f"2001:db8:1:2::{n}").post("/api/rooms", BODY).status_code == 201
    assert APIClient(REMOTE_ADDR="2001:db8:1:2:ffff::1").post("/api/rooms", BODY).status_code == 409
    assert APIClient(REMOTE_ADDR="2001:db8:1:3::1").post("/api/rooms", BODY).status_code == 201


def test_a_page_says_so_in_the_lobby() -> None:
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
def test_a_site_that_is_full_begins_nothing_new_and_goes_on(bound: str, settings: Any, monkeypatch: Any) -> None:
    seated, ann = room(), user("ann")
    learner = machine(owner=ann)
    monkeypatch.setattr(site_counts, "again_at", 0.0)
    setattr(settings, bound, 0)
    answer = APIClient().post("/api/rooms", BODY)
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "site_full", "3600")
    page = Client().post("/rooms", {**BODY, "side": "X"}, follow=True)
    assert [str(one) for one in page.context["messages"]] == [SiteFullError.message]
    play_out(seated.room.code, guest())
    with pytest.raises(SiteFullError):
        room_reset(code=seated.room.code, person=guest())
    for name in ("MACHINES_MOST", "ACCOUNTS_MOST", "RUNS_MOST", "TOURNAMENTS_MOST"):
        setattr(settings, name, 0)
    asks: list[Callable[[], Any]] = [
        lambda: machine_copy(user=ann, machine_id=learner.pk),
        lambda: personal_machine_play(person=guest(), game=NC),
        lambda: training_run_request(user=ann, machine=learner.slug, stages=[Stage("random", 10)]),
        lambda: tournament_start(user=ann, entries=["random", "perfect"], game=NC, games=2),
    ]
    for asked in asks:
        with pytest.raises(SiteFullError):
            asked()
    form = {"username": "newcomer", "password1": "x8-pLum-tree", "password2": "x8-pLum-tree"}
    assert SiteFullError.message in Client().post("/signup", form).content.decode()
    assert list(get_user_model().objects.all()) == [ann]


def test_only_a_hash_of_the_address_is_kept_for_a_day() -> None:
    APIClient(REMOTE_ADDR="192.0.2.7").post("/api/rooms", BODY)
    seated = Room.objects.get()
    assert len(seated.opened_from) == 32
    assert "192.0.2.7" not in seated.opened_from
    APIClient(REMOTE_ADDR="192.0.2.7").post("/api/rooms", {**BODY, "opponent": "random"})
    assert len(set(Room.objects.values_list("opened_from", flat=True))) == 1
    Room.objects.filter(pk=seated.pk).update(changed_at=timezone.now() - timedelta(days=1, seconds=1))
    run_retention()
    seated.refresh_from_db()
    assert seated.opened_from == ""
    assert Room.objects.exclude(opened_from="").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_are_opened_than_may_be() -> None:
    for whose in (guest(), Principal(address="somewhere")):
        failed = at_once(*[lambda whose=whose: room(who=whose) for _ in range(8)])
        assert {type(error) for error in failed} == {RoomQuotaError}
    assert Room.objects.filter(opened_from="").count() == 2
    assert Room.objects.filter(opened_from="somewhere").count() == 5


def test_a_game_goes_on_whatever_is_open() -> None:
    (first, _) = opened(guest(), 2)
    assert play(first, guest(), "5")["ply"] == 2
    learner = machine()
    with pytest.raises(RoomQuotaError):
        room("machine", machine=learner.slug, fresh=True, who=guest())
    assert [one.pk for one in type(learner).objects.all()] == [learner.pk], "no copy was made in vain"
    room(who=stranger())
