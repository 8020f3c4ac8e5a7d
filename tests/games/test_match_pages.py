"""The address of a finished match always shows that match, even after later matches in its room."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from beadbox.rules.outcome import Side
from games.live.rooms import room_reset
from learning.models import Machine
from tests.factories import guest, machine, person, play, play_out, room, user
from tests.learning.services.test_personal_machines import guest_of, press_teach

pytestmark = pytest.mark.django_db


def room_with_two_matches() -> tuple[str, Any]:
    """Return the code of a room with a finished match and a match in play, and the account of the player."""
    account = user()
    seat = room("machine", person(account), Side.SECOND, machine=machine(Side.FIRST).slug)
    play_out(seat.room.code, person(account))
    room_reset(code=seat.room.code, person=person(account))
    return seat.room.code, account


def test_page_shows_the_match_with_boxes_and_replay(client: Client) -> None:
    code, account = room_with_two_matches()
    client.force_login(account)
    page = client.get(f"/rooms/{code}/matches/1")
    state = page.context["state"]
    assert (page.status_code, state["number"], state["status"], page.context["role"]) == (200, 1, "finished", "O")
    assert state["learning"]["lessons"], "the page shows the machine's lesson of the match"
    assert page.context["share_url"] == f"http://testserver/rooms/{code}/matches/1"
    assert f"/api/rooms/{code}/positions?match=1".encode() in page.content
    boards = client.get(f"/api/rooms/{code}/positions?match=1").json()
    assert (boards["number"], len(boards["positions"])) == (1, state["ply"] + 1)
    assert client.get(f"/api/rooms/{code}/positions").json()["number"] == 2
    rest = client.get(f"/api/rooms/{code}/positions?match=1&after=1").json()
    assert rest["positions"] == boards["positions"][2:]
    assert APIClient().get(f"/api/rooms/{code}/matches/1").json()["moves"] == state["moves"]


def test_a_match_in_progress_redirects_to_its_room(client: Client) -> None:
    code, _ = room_with_two_matches()
    assert client.get(f"/rooms/{code}/matches/2").url == f"/rooms/{code}"  # type: ignore[attr-defined]
    assert client.get(f"/rooms/{code.upper()}/matches/1").url == f"/rooms/{code}/matches/1"  # type: ignore[attr-defined]


def test_links_lead_to_the_match_that_they_name(client: Client) -> None:
    code, account = room_with_two_matches()
    client.force_login(account)
    lines = client.get("/account").context["matches"]
    assert [(line["number"], line["url"]) for line in lines] == [
        (2, f"/rooms/{code}/matches/2"),
        (1, f"/rooms/{code}/matches/1"),
    ]
    own_machine = Machine.objects.get()
    (line,) = client.get(f"/machines/{own_machine.pk}").context["recent"]
    assert line["url"] == f"/rooms/{code}/matches/1"


@pytest.mark.parametrize("number", ["0", "7", "999999999", "9" * 20, "x", "1 ä"])
def test_a_missing_match_is_not_found(client: Client, number: str) -> None:
    code, _ = room_with_two_matches()
    page = client.get(f"/rooms/{code}/matches/{number}")
    assert page.status_code == 404
    assert f"Room {code} has no game {number}." in page.content.decode()
    assert f'href="/rooms/{code}"' in page.content.decode()
    if len(number) < 10 and number.isdigit():
        answer = client.get(f"/api/rooms/{code}/matches/{number}")
        assert (answer.status_code, answer.json()["code"]) == (404, "match_not_found")


def test_only_a_wrong_code_counts_as_a_guess(client: Client, settings: Any) -> None:
    code, _ = room_with_two_matches()
    assert client.get("/rooms/zzzzzz/matches/1").status_code == 404
    assert b"no room with this code" in client.get("/rooms/zzzzzz/matches/1").content
    for number in range(3, 60):
        assert client.get(f"/rooms/{code}/matches/{number}").status_code == 404


def test_the_page_hides_a_private_machine() -> None:
    owner = Client()
    press_teach(owner)
    own_machine = Machine.objects.get(guest=guest_of(owner).guest)
    code = guest_of(owner) and owner.post("/teach", {"game": "noughts-and-crosses"}).url.rsplit("/", 1)[-1]  # type: ignore[attr-defined]
    play_out(code, guest_of(owner))
    own_seat, other_seat = (
        one.get(f"/rooms/{code}/matches/1").context["state"]["seats"][0] for one in (owner, Client())
    )
    assert (own_seat["machine"]["id"], own_seat["hidden"]) == (own_machine.pk, False)
    assert (other_seat["machine"], other_seat["hidden"]) == (None, True)


def test_page_and_room_take_equally_many_queries(client: Client, django_assert_max_num_queries: Any) -> None:
    seat = room("perfect", guest())
    play(seat, guest(), "5")
    play_out(seat.room.code, guest())
    with django_assert_max_num_queries(12):
        client.get(f"/rooms/{seat.room.code}/matches/1")
