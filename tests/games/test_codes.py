"""Room codes as people write them: in the form, in an address, over the API, at a socket, in the admin."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv6Address
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from rest_framework.throttling import SimpleRateThrottle

from games.codes import parse_code
from games.exceptions import NotACodeError
from games.models import Room
from tests import factories
from tests.sockets import Socket

CODE_SPELLINGS = [
    "k7m2pq",
    "K7M2PQ",
    " k7m 2pq ",
    "k 7 m 2 p q",
    "k7m-2pq",
    "K7M\u20132PQ",  # an en dash
    "k7m_2pq",
    "k7m\u00ad2pq\u200b\u00a0",  # a soft hyphen, a zero-width blank, a no-break space
    "\uff4b\uff17\uff4d\uff12\uff50\uff51",  # full width
    "\uff2b\uff17\uff2d\u3000\uff12\uff30\uff31",
    "k7m2pq.",
    '"k7m2pq"',
    "\u201eK7M2PQ\u201c",
    "\u00abk7m2pq\u00bb",
    "(k7m2pq)",
    "k7m2pq\r\n",
    "k7m%202pq",
]
CODE_LINKS = [
    "https://beadbox.example/rooms/k7m2pq",
    "HTTP://BEADBOX.EXAMPLE:8000/ROOMS/K7M2PQ",
    "beadbox.example/rooms/k7m2pq/",
    "/rooms/k7m2pq",
    "rooms/k7m2pq",
    "<https://beadbox.example/rooms/k7m2pq?utm_source=mail&x=1#board>.",
    "Play me: https://beadbox.example/rooms/k7m2pq !",
    "http://192.168.1.20:8000/rooms/k7m2pq",
    "https://beadbox.example/api/rooms/k7m2pq/ws",
    "https\uff1a\uff0f\uff0fbeadbox.example\uff0frooms\uff0fk7m2pq",
    "https://beadbox.example/login?next=/rooms/k7m2pq",
    "https%3A%2F%2Fbeadbox.example%2Frooms%2Fk7m2pq",
    "https://beadbox.example/rooms/k7m2pq Come and play!",
    "https://beadbox.example/rooms/k7m2pq, see you\nhttps://beadbox.example/rooms/a2b3c4",
    "https://beadbox.example/rooms/k7m2pq&utm_source=mail",
    "Code: k7m2pq",
    "Room code \u2013 K7M-2PQ",
]
INVALID_CODES = [
    "",
    " - ",
    "k7m2p",
    "k7m2pqq",
    "k7m2p0",
    "k7m2pO",
    "k7m2p1",
    "k7m2pl",
    "k7m2pi",
    "k7m2p\u0441",  # a Cyrillic letter
    "k7m2p\u00e4",
    "https://beadbox.example/",
    "https://beadbox.example/rooms/",
    "k7m2pq k7m2pr",
    "k7m2pq" * 10_000,
    "\x00",
]


@pytest.mark.parametrize("text", [*CODE_SPELLINGS, *CODE_LINKS])
def test_every_spelling_gives_the_code(text: str) -> None:
    assert parse_code(text) == "k7m2pq"


@pytest.mark.parametrize("text", INVALID_CODES, ids=range(len(INVALID_CODES)))
def test_texts_that_cannot_be_codes_are_refused(text: str) -> None:
    with pytest.raises(NotACodeError, match="six letters or digits"):
        parse_code(text)


@pytest.fixture
def code(db: None) -> str:
    room = factories.room("human").room
    Room.objects.filter(pk=room.pk).update(code="k7m2pq")
    return "k7m2pq"


@pytest.mark.parametrize("text", [*CODE_SPELLINGS, *CODE_LINKS])
def test_the_form_accepts_every_spelling(code: str, client: Client, text: str) -> None:
    assert client.post("/rooms/join", {"code": text}).url == f"/rooms/{code}"


@pytest.mark.parametrize(
    "text", ["K7M2PQ", "k7m-2pq", "k7m2pq/", "k7m 2pq.", "\uff4b\uff17\uff4d\uff12\uff50\uff51", CODE_LINKS[0]]
)
def test_room_code_in_other_spelling_redirects_to_the_room(code: str, client: Client, text: str) -> None:
    answer = client.get(f"/rooms/{quote(text)}")
    assert (answer.status_code, answer["Location"]) == (302, f"/rooms/{code}")
    assert client.get(f"/rooms/{quote(text)}?fbclid=1", follow=True).status_code == 200


@pytest.mark.parametrize("text", ["K7M2PQ", "k7m-2pq", "k7m 2pq.", "\uff4b\uff17\uff4d\uff12\uff50\uff51"])
def test_the_api_accepts_every_spelling(code: str, client: Client, text: str) -> None:
    url = f"/api/rooms/{quote(text)}"
    for path in ("", "/", "/positions"):
        assert client.get(f"{url}{path}").status_code == 200
    joined = client.post(f"{url}/join").json()
    assert joined["code"] == code
    seat = {"seat_token": joined["seat_token"]}
    for path in ("move", "resign", "reset"):
        answer = Client().post(f"{url}/{path}", {**seat, "move": "5"}, "application/json")
        assert answer.status_code in (200, 409), answer.json()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("text", ["K7M2PQ", "k7m-2pq", quote("\uff4b\uff17\uff4d\uff12\uff50\uff51")])
async def test_a_socket_accepts_every_spelling(text: str) -> None:
    room = (await database_sync_to_async(factories.room)("human")).room
    await Room.objects.filter(pk=room.pk).aupdate(code="k7m2pq")
    async with Socket(text) as socket:
        assert (await socket.expect("joined"))["state"]["code"] == "k7m2pq"


def test_the_admin_search_accepts_every_spelling(code: str, admin_client: Client) -> None:
    for page in ("room", "match"):
        for text, n_found in (("K7M-2PQ", 1), ("nothing", 0)):
            answer = admin_client.get(f"/admin/games/{page}/", {"q": text})
            assert answer.context["cl"].result_count == n_found


REQUESTS_WITH_A_CODE: list[Callable[[Client, str], Any]] = [
    lambda client, text: client.get(f"/rooms/{quote(text)}"),
    lambda client, text: client.get(f"/api/rooms/{quote(text)}"),
    lambda client, text: client.post(f"/api/rooms/{quote(text)}/join"),
    lambda client, text: client.post("/rooms/join", {"code": text}, follow=True),
]


@pytest.mark.parametrize("request_with_code", REQUESTS_WITH_A_CODE)
@pytest.mark.parametrize("text", ["k7m2p", "k7m2p0", "nothing like it"])
def test_text_that_cannot_be_a_code_counts_as_no_guess(
    code: str, monkeypatch: pytest.MonkeyPatch, request_with_code: Callable[[Client, str], Any], text: str
) -> None:
    """The refusal describes the form of a code, and does not count as a guess."""
    rates = {**dict.fromkeys(SimpleRateThrottle.THROTTLE_RATES), "guess": "1/hour"}
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    client = Client(REMOTE_ADDR=str(IPv6Address(uuid4().int)))
    for _ in range(3):
        answer = request_with_code(client, text)
        assert answer.status_code in (200, 404)
        assert "six letters or digits" in answer.content.decode()
    assert client.get(f"/api/rooms/{code}").status_code == 200
