"""The front page: the visitor's own rooms first, and only matches that are really being played."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.models import Ply, Room
from learning.models import Machine
from tests.factories import NC, guest, machine, person, play, room, user
from tests.learning.services.test_personal_machines import guest_of, press_teach

pytestmark = pytest.mark.django_db


def test_guests_see_their_machine_and_match(client: Client) -> None:
    assert b'id="yours-title"' not in client.get("/").content
    own_room, own_machine = press_teach(client)
    page = client.get("/")
    assert [one["url"] for one in page.context["own_matches"]] == [f"/rooms/{own_room.code}"]
    assert page.context["own_matches"][0]["names"] == [own_machine.name, "you"]
    assert [one["url"] for one in page.context["own_machines"]] == [f"/machines/{own_machine.pk}"]
    text = page.content.decode()
    assert text.index("yours-title") < text.index("game-board")
    assert client.get(f"/machines/{own_machine.pk}").status_code == 200
    assert b'id="yours-title"' not in Client().get("/").content


def test_accounts_see_their_three_most_trained_machines(client: Client) -> None:
    client.force_login(ada := user("ada"))
    for k in range(5):
        machine(name=f"Mine {k}", owner=ada, is_public=False)
    seated = room("human", person(ada))
    page = client.get("/")
    assert len(page.context["own_machines"]) == 3
    (match,) = page.context["own_matches"]
    assert (match["url"], match["is_waiting"]) == (f"/rooms/{seated.room.code}", True)
    assert match["names"] == ["You", "a free seat"]
    account = client.get("/account").content.decode()
    assert "Waiting for an opponent" in account
    assert "against" not in account


def test_own_machines_are_kept_by_account_or_browser(client: Client) -> None:
    assert "Make an account</a> to keep it longer." in client.get(f"/play/{NC}").content.decode()
    client.force_login(user("ada"))
    page = client.get(f"/play/{NC}").content.decode()
    assert "It is kept in your account." in page
    assert "in this browser" not in page


def open_live_rooms(n: int = 1) -> list[str]:
    codes = []
    for k in range(n):
        seated = room("perfect", guest(k + 1))
        play(seated, guest(k + 1), "5")
        codes.append(seated.room.code)
    return codes


def listed_room_codes(client: Client) -> set[str]:
    return {one["code"] for one in client.get("/").context["live_rooms"]}


def test_at_most_five_matches_are_offered_for_watching(client: Client) -> None:
    codes = open_live_rooms(7)
    assert len(listed_room_codes(client)) == 5
    assert listed_room_codes(client) <= set(codes)


def test_ones_own_match_is_not_offered_for_watching(client: Client) -> None:
    client.force_login(ada := user("ada"))
    seated = room("perfect", person(ada))
    play(seated, person(ada), "5")
    assert listed_room_codes(client) == set()
    assert listed_room_codes(Client()) == {seated.room.code}


def test_match_idle_for_ten_minutes_is_not_offered(client: Client) -> None:
    (code,) = open_live_rooms()
    assert listed_room_codes(client) == {code}
    Ply.objects.update(played_at=timezone.now() - timedelta(minutes=10, seconds=1))
    assert listed_room_codes(client) == set(), "later changes of the room make no difference"
    assert Room.objects.get().changed_at > timezone.now() - timedelta(minutes=5)


def test_number_of_queries_does_not_depend_on_own_rows(client: Client) -> None:
    press_teach(client)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        counts.append(len(queries))
        number = guest_of(client).guest
        for k in range(3):
            machine(Side.FIRST, name=f"Mine {k}", guest=number, is_public=False)
            seated = room("perfect", guest_of(client))
            play(seated, guest_of(client), "5")
    assert counts[0] == counts[1]
    assert Machine.objects.filter(game=NC).count() > 3
