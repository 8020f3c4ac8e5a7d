"""Limits of wrong passwords, room codes, accounts and letters per address; a class that mistypes stays below them."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv6Address
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from axes.models import AccessLog
from channels.db import database_sync_to_async
from django.contrib.sessions.models import Session
from django.core import mail
from django.core.cache import caches
from django.test import Client
from rest_framework.throttling import SimpleRateThrottle

from games.accounts.throttles import AddressThrottle
from games.exceptions import TooManyMatchesError
from games.models import Room
from menace_site import settings as site
from tests import factories
from tests.factories import NC
from tests.sockets import Socket

pytestmark = pytest.mark.django_db
Rates = Callable[..., None]
SCOPES = site.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
WRONG = (f"{code:06d}".translate(str.maketrans("0123456789", "abcdefghjk")) for code in count())
"""Codes that no room has, without end."""


@pytest.fixture
def rates(monkeypatch: pytest.MonkeyPatch) -> Rates:
    """Set these rates and no others; the hour begins now, so that no count spans two hours."""

    def set_them(**wanted: str) -> None:
        monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {**dict.fromkeys(SCOPES), **wanted})

    monkeypatch.setattr(AddressThrottle, "timer", lambda self: 1_800_000_000.0 + 600)
    return set_them


def elsewhere() -> str:
    """A new address, with no requests so far."""
    return str(IPv6Address(uuid4().int))


@pytest.fixture
def address() -> str:
    return elsewhere()


@pytest.fixture
def visitor(address: str) -> Client:
    return Client(REMOTE_ADDR=address)


def says_when(answer: Any) -> bool:
    """Whether a refusal says when to try again: in 50 minutes, at the rest of the hour."""
    assert answer.status_code == 429
    assert answer["Retry-After"] == "3000"
    return b"50 minutes" in answer.content


class TestLogIn:
    def test_wrong_passwords_count_over_all_names(self, visitor: Client, rates: Rates) -> None:
        rates(guess="3/hour")
        factories.user("ada")
        right = {"username": "ada", "password": "a good password"}
        for name in ("ada", "berta", "clara"):
            assert visitor.post("/login", right).status_code == 302  # a successful log-in is not counted
            visitor.post("/logout")
            assert visitor.post("/login", {"username": name, "password": "wrong"}).status_code == 200
        assert visitor.get("/login").status_code == 200
        assert says_when(visitor.post("/login", {"username": "dora", "password": "wrong"}))
        assert says_when(visitor.post("/login", right))
        assert says_when(visitor.post("/admin/login/", right))
        assert Client(REMOTE_ADDR=elsewhere()).post("/login", right).status_code == 302

    def test_the_door_of_the_admin_counts_too(self, visitor: Client, rates: Rates) -> None:
        rates(guess="2/hour")
        for name in ("ada", "berta"):
            assert visitor.post("/admin/login/", {"username": name, "password": "wrong"}).status_code == 200
        assert says_when(visitor.post("/login", {"username": "clara", "password": "wrong"}))

    def test_a_locked_out_visitor_gets_the_waiting_time(self, visitor: Client) -> None:
        for _ in range(10):
            answer = visitor.post("/login", {"username": "ada", "password": "wrong"})
        assert (answer.status_code, answer["Retry-After"]) == (429, "900")
        assert b"Try again in 15 minutes" in answer.content

    def test_password_attempts_per_account_count_over_addresses(self, rates: Rates) -> None:
        """An address from which the owner has logged in before is not locked out."""
        rates(account="3/hour")
        factories.user("ada")
        right = {"username": "ada", "password": "a good password"}
        home, stranger = elsewhere(), elsewhere()
        assert Client(REMOTE_ADDR=home).post("/login", right).status_code == 302
        wrong = [Client(REMOTE_ADDR=elsewhere()).post("/login", {**right, "password": "wrong"}) for _ in range(4)]
        assert [answer.status_code for answer in wrong] == [200, 200, 200, 429]
        assert says_when(Client(REMOTE_ADDR=stranger).post("/login", right)), "else the answer would tell the password"
        assert says_when(Client(REMOTE_ADDR=stranger).post("/admin/login/", right))
        assert Client(REMOTE_ADDR=home).post("/login", right).status_code == 302, (
            "where the owner has been, they are not"
        )
        nobody = {"username": "nobody", "password": "wrong"}
        assert {Client(REMOTE_ADDR=elsewhere()).post("/login", nobody).status_code for _ in range(4)} == {200}

    def test_a_letter_lets_the_owner_in_whatever_strangers_try(self, rates: Rates) -> None:
        rates(account="2/hour")
        factories.user("ada", email="ada@example.org")
        owner = Client(REMOTE_ADDR=elsewhere())
        for _ in range(2):
            Client(REMOTE_ADDR=elsewhere()).post("/login", {"username": "ada", "password": "wrong"})
        assert owner.post("/login", {"username": "ada", "password": "a good password"}).status_code == 429
        owner.post("/password/reset", {"email": "ada@example.org"})
        link = re.search(r"http://testserver(/password/reset/\S+)", mail.outbox[0].body)
        assert link
        form = owner.get(link[1], follow=True)
        new = {"new_password1": "quite another password", "new_password2": "quite another password"}
        done = owner.post(form.request["PATH_INFO"], new, follow=True)
        assert "you are logged in" in done.content.decode()
        owner.post("/logout")
        assert owner.post("/login", {"username": "ada", "password": "quite another password"}).status_code == 302

    def test_a_password_that_the_staff_has_given_works_at_once(self, rates: Rates) -> None:
        rates(account="1/day")
        ada, new = factories.user("ada"), "quite another password"
        owner = Client(REMOTE_ADDR=elsewhere())
        for one in (owner, Client(REMOTE_ADDR=elsewhere())):
            for _ in range(10):
                refused = one.post("/login", {"username": "ada", "password": "wrong"})
        assert refused.status_code == 429
        staff = Client()
        staff.force_login(factories.user("staff", is_staff=True, is_superuser=True))
        given = {"password1": new, "password2": new, "usable_password": "true", "set-password": "x"}
        assert staff.post(f"/admin/auth/user/{ada.pk}/password/", given).status_code == 302
        assert owner.post("/login", {"username": "ada", "password": new}).status_code == 302
        owner.post("/logout")
        assert owner.post("/login", {"username": "ada", "password": new}).status_code == 429, "they were one a day"
        assert staff.post(f"/admin/auth/user/{ada.pk}/password/", given).status_code == 302
        assert owner.post("/login", {"username": "ada", "password": new}).status_code == 302

    def test_an_account_logs_in_so_often_a_day(self, rates: Rates) -> None:
        rates(account="2/day")
        factories.user("ada")
        factories.user("berta")
        right = {"username": "ada", "password": "a good password"}
        answers = [Client(REMOTE_ADDR=elsewhere()).post("/login", right) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [302, 302, 429]
        assert int(answers[-1]["Retry-After"]) > 3600
        assert (Session.objects.count(), AccessLog.objects.count()) == (2, 2)
        berta = Client()
        for _ in range(3):  # naming another account does not avoid the limit of the account logged in
            assert berta.post("/login", {**right, "username": "berta"}).status_code == 302


class TestAccounts:
    def form(self, name: str, password: str = "a good password") -> dict[str, str]:
        return {"username": name, "email": "", "password1": password, "password2": password}

    def test_so_many_accounts_are_made_from_an_address(self, address: str, rates: Rates) -> None:
        rates(guess="2/hour")
        for name in ("ada", "berta"):
            assert Client(REMOTE_ADDR=address).post("/signup", self.form(name, "short")).status_code == 200
            assert Client(REMOTE_ADDR=address).post("/signup", self.form(name)).status_code == 302
        assert says_when(Client(REMOTE_ADDR=address).post("/signup", self.form("clara")))
        assert Client(REMOTE_ADDR=elsewhere()).post("/signup", self.form("clara")).status_code == 302


class TestLetters:
    def test_so_many_are_asked_for_from_an_address(self, visitor: Client, rates: Rates) -> None:
        rates(guess="2/hour")
        assert visitor.post("/password/reset", {"email": "no address"}).status_code == 200
        for name in ("a", "b"):
            assert visitor.post("/password/reset", {"email": f"{name}@example.org"}).status_code == 302
        assert says_when(visitor.post("/password/reset", {"email": "c@example.org"}))

    def test_so_many_go_to_one_mailbox_wherever_they_are_asked_for(self, rates: Rates) -> None:
        rates(mailbox="2/hour")
        box = f"Ada-{uuid4()}@example.org"
        factories.user("ada", email=box)
        ways = [box, box.lower(), box.upper(), box.replace("example", "ｅxample")]
        answers = [Client(REMOTE_ADDR=elsewhere()).post("/password/reset", {"email": way}) for way in ways]
        assert [answer.status_code for answer in answers] == [302, 302, 429, 429]
        assert len(mail.outbox) == 2
        assert says_when(answers[-1])

    def test_a_reset_does_not_reveal_whether_an_account_exists(self, visitor: Client, rates: Rates) -> None:
        rates(mailbox="1/hour")
        email = {"email": f"{uuid4()}@example.org"}
        assert [visitor.post("/password/reset", email).status_code for _ in range(2)] == [302, 429]


def by_page(client: Client, code: str) -> Any:
    return client.get(f"/rooms/{code}")


def by_form(client: Client, code: str) -> Any:
    return client.post("/rooms/join", {"code": code})


def by_state(client: Client, code: str) -> Any:
    return client.get(f"/api/rooms/{code}")


def by_boards(client: Client, code: str) -> Any:
    return client.get(f"/api/rooms/{code}/positions")


def by_advice(client: Client, code: str) -> Any:
    return client.get(f"/api/rooms/{code}/advice")


def by_join(client: Client, code: str) -> Any:
    return client.post(f"/api/rooms/{code}/join")


def by_move(client: Client, code: str) -> Any:
    return client.post(f"/api/rooms/{code}/move", {"move": "5"}, "application/json")


DOORS = [by_page, by_form, by_state, by_boards, by_advice, by_join, by_move]


class TestCodes:
    @pytest.mark.parametrize("door", DOORS)
    def test_a_wrong_code_counts_and_a_right_one_costs_nothing(
        self, door: Callable[[Client, str], Any], address: str, visitor: Client, rates: Rates
    ) -> None:
        rates(guess="3/hour")
        code = factories.room("human").room.code
        for _ in range(3):
            assert door(visitor, code).status_code != 429
            assert door(visitor, next(WRONG)).status_code in (302, 404)
        for other in DOORS:
            assert other(Client(REMOTE_ADDR=address), next(WRONG)).status_code == 429
            # A correct code is refused too, since a different answer would reveal it.
            assert other(Client(REMOTE_ADDR=address), code).status_code == 429
        assert says_when(by_page(Client(REMOTE_ADDR=address), code))
        assert door(Client(REMOTE_ADDR=elsewhere()), code).status_code != 429

    @pytest.mark.parametrize("door", DOORS)
    def test_guests_who_guess_stop_nobody_who_is_signed_in(
        self, door: Callable[[Client, str], Any], address: str, visitor: Client, rates: Rates
    ) -> None:
        rates(guess="1/hour", account="2/hour")
        code = factories.room("human").room.code
        by_state(visitor, next(WRONG))
        browser, other = Client(REMOTE_ADDR=address), Client(REMOTE_ADDR=address)
        browser.force_login(factories.user("ada"))
        other.force_login(factories.user("berta"))
        for _ in range(2):
            assert door(browser, code).status_code != 429
            assert door(browser, next(WRONG)).status_code in (302, 404)
        browser.defaults["REMOTE_ADDR"] = elsewhere()  # an account is limited on every address
        assert door(browser, next(WRONG)).status_code == door(Client(REMOTE_ADDR=address), code).status_code == 429
        assert door(other, code).status_code != 429

    def test_who_is_signed_in_uses_nothing_up_for_guests(self, address: str, visitor: Client, rates: Rates) -> None:
        rates(guess="1/hour", account="1/hour")
        code = factories.room("human").room.code
        browser = Client(REMOTE_ADDR=address)
        browser.force_login(factories.user("ada"))
        assert [by_state(browser, next(WRONG)).status_code for _ in range(2)] == [404, 429]
        assert by_state(visitor, code).status_code == 200

    def test_a_program_is_refused_as_by_every_other_rate(self, visitor: Client, rates: Rates) -> None:
        rates(guess="1/hour")
        by_state(visitor, next(WRONG))
        refused = by_state(visitor, next(WRONG))
        assert (refused.json()["code"], refused["Retry-After"]) == ("throttled", "3000")

    def test_who_guesses_stops_nobodys_match(self, address: str, visitor: Client, rates: Rates) -> None:
        rates(guess="1/hour")
        player = Client(REMOTE_ADDR=address)
        player.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X"})
        code = Room.objects.get().code
        program = Client(REMOTE_ADDR=address)
        made = program.post("/api/rooms", {"opponent": "perfect"}, "application/json").json()
        by_state(visitor, next(WRONG))
        assert by_page(visitor, code).status_code == 429
        assert by_page(player, code).status_code == 200
        token = {"move": "5", "seat_token": made["seat_token"]}
        url = f"/api/rooms/{made['code']}/move"
        assert program.post(url, token, "application/json").status_code == 200
        stranger = Client(REMOTE_ADDR=address)
        assert stranger.post(url, {**token, "seat_token": "no"}, "application/json").status_code == 429


@pytest.mark.django_db(transaction=True)
async def test_a_wrong_code_counts_at_a_socket_too(address: str, rates: Rates) -> None:
    rates(guess="2/hour")
    room = (await database_sync_to_async(factories.room)("human")).room

    async def first_words(code: str, host: str = address) -> tuple[dict[str, Any], int]:
        socket = Socket(code)
        socket.scope["client"] = [host, 5000]
        async with socket:
            said = await socket.receive_json_from()
            closed = await socket.receive_output() if said["type"] == "error" else {}
        return said, closed.get("code", 0)

    for _ in range(2):
        assert (await first_words(room.code))[0]["type"] == "joined"
        said, closed = await first_words(next(WRONG))
        assert (said["data"]["code"], closed) == ("room_not_found", 4404)
    for code in (next(WRONG), room.code):
        said, closed = await first_words(code)
        assert (said["data"]["code"], closed) == ("throttled", 4429)
    assert (await first_words(room.code, elsewhere()))[0]["type"] == "joined"
    page = await database_sync_to_async(by_page)(Client(REMOTE_ADDR=address), room.code)
    assert page.status_code == 429


UNTIL_TOMORROW = "57600"
"""Seconds from the frozen time of the tests to midnight."""


def test_matches_per_address_count_over_all_visitors_and_ways(visitor: Client, address: str, rates: Rates) -> None:
    rates(match="3/day")
    form = {"game": NC, "opponent": "perfect", "side": "X"}
    api = {"content_type": "application/json"}
    opened = visitor.post("/api/rooms", form, **api, REMOTE_ADDR=elsewhere()).json()
    path, seat = f"/api/rooms/{opened['code']}", {"seat_token": opened["seat_token"]}
    assert visitor.post(f"{path}/reset", seat, **api).status_code == 409, "what begins nothing is not counted"
    for _ in range(2):
        assert visitor.post(f"{path}/resign", seat, **api).status_code == 200
        assert visitor.post(f"{path}/reset", seat, **api).status_code == 200
    assert Client(REMOTE_ADDR=address).post("/rooms", form).status_code == 302
    for refused in (
        visitor.post("/api/rooms", form, **api),
        Client(REMOTE_ADDR=address).post("/api/rooms", form, **api),
    ):
        assert (refused.status_code, refused.json()["code"], refused["Retry-After"]) == (
            429,
            "throttled",
            UNTIL_TOMORROW,
        )
    assert visitor.post(f"{path}/resign", seat, **api).status_code == 200, "what is there goes on"
    refused = visitor.post(f"{path}/reset", seat, **api)
    assert (refused.status_code, refused["Retry-After"]) == (429, UNTIL_TOMORROW)
    n_rooms = Room.objects.count()
    for page in ("/rooms", "/teach"):
        refused = Client(REMOTE_ADDR=address).post(page, form)
        assert (refused.status_code, refused["Retry-After"]) == (429, UNTIL_TOMORROW)
        assert TooManyMatchesError.message.encode() in refused.content
        assert b"Try again in 16 hours" in refused.content
    assert Room.objects.count() == n_rooms
    assert Client(REMOTE_ADDR=elsewhere()).post("/rooms", form).status_code == 302


@pytest.mark.django_db(transaction=True)
async def test_a_match_begun_at_a_socket_is_counted_too(address: str, rates: Rates) -> None:
    rates(match="1/day")
    seated = await database_sync_to_async(factories.room)()
    socket = Socket(seated.room.code, seated.token)
    socket.scope["client"] = [address, 5000]
    async with socket:
        await socket.expect("joined")
        for wanted in ("state", "error"):
            await socket.frame("resign")
            await socket.expect("state")
            await socket.frame("reset")
            error = await socket.expect(wanted)
    assert (error["code"], error["retry_after_s"]) == ("throttled", int(UNTIL_TOMORROW))


def test_matches_begin_while_nobody_counts(visitor: Client, rates: Rates, monkeypatch: pytest.MonkeyPatch) -> None:
    rates(match="0/day")
    monkeypatch.setattr(caches["default"], "asked_again_at", {caches["default"].server: float("inf")})
    assert visitor.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X"}).status_code == 302


@pytest.mark.soak
def test_a_class_of_120_behind_one_address_meets_none_of_them(address: str, rates: Rates) -> None:
    rates(**{scope: SCOPES[scope] for scope in SCOPES})
    code = factories.room("human").room.code
    for number in range(120):
        browser, name = Client(REMOTE_ADDR=address), f"pupil{number}"
        form = {"username": name, "email": f"{name}@example.org", "password1": "a good password"}
        answers = [browser.post("/signup", {**form, "password2": "a god password"})]
        answers += [browser.post("/signup", {**form, "password2": form["password1"]}), browser.post("/logout")]
        answers += [browser.post("/login", {"username": name, "password": wrong}) for wrong in ("a", "b", "c")]
        answers += [browser.post("/login", {"username": name, "password": form["password1"]})]
        answers += [by_form(browser, wrong) for wrong in ("", code[:-1], next(WRONG))]
        answers += [by_page(browser, code), browser.post("/password/reset", {"email": form["email"]})]
        assert [answer.status_code for answer in answers] == [
            200,
            302,
            302,
            200,
            200,
            200,
            302,
            302,
            302,
            302,
            200,
            302,
        ]


def test_class_of_120_may_mistype_passwords_five_times_each(rates: Rates) -> None:
    rates(guess=SCOPES["guess"])
    assert (AddressThrottle("guess").num_requests or 0) >= 120 * 5


def test_class_of_120_may_begin_a_match_every_25_seconds(rates: Rates) -> None:
    """The limit of a day is enough for three lessons of 45 minutes."""
    rates(match=SCOPES["match"])
    assert (AddressThrottle("match").num_requests or 0) >= 120 * 3 * 45 * 60 / 25


def test_the_settings_name_every_rate() -> None:
    assert all(re.fullmatch(r"\d+/(min|hour|day)", rate) for rate in SCOPES.values())
