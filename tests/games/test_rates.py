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
from menace_site import settings as site_settings
from tests import factories
from tests.factories import NC
from tests.sockets import Socket

pytestmark = pytest.mark.django_db
SetRates = Callable[..., None]
DEFAULT_RATES = site_settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"]
wrong_codes = (f"{code:06d}".translate(str.maketrans("0123456789", "abcdefghjk")) for code in count())
"""An endless iterator of codes that no room has."""


@pytest.fixture
def set_rates(monkeypatch: pytest.MonkeyPatch) -> SetRates:
    """Return a function that sets the given rates and removes all others. The clock of the rates stands still."""

    def replace_rates(**rates: str) -> None:
        monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", {**dict.fromkeys(DEFAULT_RATES), **rates})

    monkeypatch.setattr(AddressThrottle, "timer", lambda self: 1_800_000_000.0 + 600)
    return replace_rates


def new_address() -> str:
    """Return an address that has sent no request."""
    return str(IPv6Address(uuid4().int))


@pytest.fixture
def address() -> str:
    return new_address()


@pytest.fixture
def visitor(address: str) -> Client:
    return Client(REMOTE_ADDR=address)


def has_retry_time(answer: Any) -> bool:
    """Whether a refusal says when to try again: in 50 minutes, at the end of the hour."""
    assert answer.status_code == 429
    assert answer["Retry-After"] == "3000"
    return b"50 minutes" in answer.content


class TestLogIn:
    def test_wrong_passwords_count_over_all_names(self, visitor: Client, set_rates: SetRates) -> None:
        set_rates(guess="3/hour")
        factories.user("ada")
        valid_form = {"username": "ada", "password": "a good password"}
        for name in ("ada", "berta", "clara"):
            assert visitor.post("/login", valid_form).status_code == 302  # a successful log-in is not counted
            visitor.post("/logout")
            assert visitor.post("/login", {"username": name, "password": "wrong"}).status_code == 200
        assert visitor.get("/login").status_code == 200
        assert has_retry_time(visitor.post("/login", {"username": "dora", "password": "wrong"}))
        assert has_retry_time(visitor.post("/login", valid_form))
        assert has_retry_time(visitor.post("/admin/login/", valid_form))
        assert Client(REMOTE_ADDR=new_address()).post("/login", valid_form).status_code == 302

    def test_log_ins_to_the_admin_count(self, visitor: Client, set_rates: SetRates) -> None:
        set_rates(guess="2/hour")
        for name in ("ada", "berta"):
            assert visitor.post("/admin/login/", {"username": name, "password": "wrong"}).status_code == 200
        assert has_retry_time(visitor.post("/login", {"username": "clara", "password": "wrong"}))

    def test_a_locked_out_visitor_gets_the_waiting_time(self, visitor: Client) -> None:
        for _ in range(10):
            answer = visitor.post("/login", {"username": "ada", "password": "wrong"})
        assert (answer.status_code, answer["Retry-After"]) == (429, "900")
        assert b"Try again in 15 minutes" in answer.content

    def test_password_attempts_per_account_count_over_addresses(self, set_rates: SetRates) -> None:
        """An address from which the owner has logged in before is not locked out."""
        set_rates(account="3/hour")
        factories.user("ada")
        valid_form = {"username": "ada", "password": "a good password"}
        home, stranger = new_address(), new_address()
        assert Client(REMOTE_ADDR=home).post("/login", valid_form).status_code == 302
        wrong = [
            Client(REMOTE_ADDR=new_address()).post("/login", {**valid_form, "password": "wrong"}) for _ in range(4)
        ]
        assert [answer.status_code for answer in wrong] == [200, 200, 200, 429]
        assert has_retry_time(Client(REMOTE_ADDR=stranger).post("/login", valid_form)), (
            "another answer would reveal that the password is right"
        )
        assert has_retry_time(Client(REMOTE_ADDR=stranger).post("/admin/login/", valid_form))
        assert Client(REMOTE_ADDR=home).post("/login", valid_form).status_code == 302, (
            "an address with an earlier log-in of the owner is not limited"
        )
        nobody = {"username": "nobody", "password": "wrong"}
        assert {Client(REMOTE_ADDR=new_address()).post("/login", nobody).status_code for _ in range(4)} == {200}

    def test_the_owner_gets_in_by_email_despite_the_lock(self, set_rates: SetRates) -> None:
        set_rates(account="2/hour")
        factories.user("ada", email="ada@example.org")
        owner = Client(REMOTE_ADDR=new_address())
        for _ in range(2):
            Client(REMOTE_ADDR=new_address()).post("/login", {"username": "ada", "password": "wrong"})
        assert owner.post("/login", {"username": "ada", "password": "a good password"}).status_code == 429
        owner.post("/password/reset", {"email": "ada@example.org"})
        link = re.search(r"http://testserver(/password/reset/\S+)", mail.outbox[0].body)
        assert link
        form = owner.get(link[1], follow=True)
        new_password = {"new_password1": "quite another password", "new_password2": "quite another password"}
        response = owner.post(form.request["PATH_INFO"], new_password, follow=True)
        assert "you are logged in" in response.content.decode()
        owner.post("/logout")
        assert owner.post("/login", {"username": "ada", "password": "quite another password"}).status_code == 302

    def test_a_password_set_by_staff_ends_the_lock(self, set_rates: SetRates) -> None:
        set_rates(account="1/day")
        ada, new_password = factories.user("ada"), "quite another password"
        owner = Client(REMOTE_ADDR=new_address())
        for one in (owner, Client(REMOTE_ADDR=new_address())):
            for _ in range(10):
                refused = one.post("/login", {"username": "ada", "password": "wrong"})
        assert refused.status_code == 429
        staff = Client()
        staff.force_login(factories.user("staff", is_staff=True, is_superuser=True))
        form = {"password1": new_password, "password2": new_password, "usable_password": "true", "set-password": "x"}
        assert staff.post(f"/admin/auth/user/{ada.pk}/password/", form).status_code == 302
        assert owner.post("/login", {"username": "ada", "password": new_password}).status_code == 302
        owner.post("/logout")
        assert owner.post("/login", {"username": "ada", "password": new_password}).status_code == 429, (
            "the limit is one log-in a day"
        )
        assert staff.post(f"/admin/auth/user/{ada.pk}/password/", form).status_code == 302
        assert owner.post("/login", {"username": "ada", "password": new_password}).status_code == 302

    def test_log_ins_of_an_account_have_a_daily_limit(self, set_rates: SetRates) -> None:
        set_rates(account="2/day")
        factories.user("ada")
        factories.user("berta")
        valid_form = {"username": "ada", "password": "a good password"}
        answers = [Client(REMOTE_ADDR=new_address()).post("/login", valid_form) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [302, 302, 429]
        assert int(answers[-1]["Retry-After"]) > 3600
        assert (Session.objects.count(), AccessLog.objects.count()) == (2, 2)
        berta = Client()
        for _ in range(3):  # naming another account does not avoid the limit of the account logged in
            assert berta.post("/login", {**valid_form, "username": "berta"}).status_code == 302


class TestAccounts:
    def form(self, name: str, password: str = "a good password") -> dict[str, str]:
        return {"username": name, "email": "", "password1": password, "password2": password}

    def test_new_accounts_have_a_limit_per_address(self, address: str, set_rates: SetRates) -> None:
        set_rates(guess="2/hour")
        for name in ("ada", "berta"):
            assert Client(REMOTE_ADDR=address).post("/signup", self.form(name, "short")).status_code == 200
            assert Client(REMOTE_ADDR=address).post("/signup", self.form(name)).status_code == 302
        assert has_retry_time(Client(REMOTE_ADDR=address).post("/signup", self.form("clara")))
        assert Client(REMOTE_ADDR=new_address()).post("/signup", self.form("clara")).status_code == 302


class TestEmails:
    def test_requested_emails_have_a_limit_per_address(self, visitor: Client, set_rates: SetRates) -> None:
        set_rates(guess="2/hour")
        assert visitor.post("/password/reset", {"email": "no address"}).status_code == 200
        for name in ("a", "b"):
            assert visitor.post("/password/reset", {"email": f"{name}@example.org"}).status_code == 302
        assert has_retry_time(visitor.post("/password/reset", {"email": "c@example.org"}))

    def test_emails_to_a_mailbox_have_a_limit(self, set_rates: SetRates) -> None:
        set_rates(mailbox="2/hour")
        mailbox = f"Ada-{uuid4()}@example.org"
        factories.user("ada", email=mailbox)
        spellings = [mailbox, mailbox.lower(), mailbox.upper(), mailbox.replace("example", "ｅxample")]
        answers = [
            Client(REMOTE_ADDR=new_address()).post("/password/reset", {"email": spelling}) for spelling in spellings
        ]
        assert [answer.status_code for answer in answers] == [302, 302, 429, 429]
        assert len(mail.outbox) == 2
        assert has_retry_time(answers[-1])

    def test_a_reset_does_not_reveal_whether_an_account_exists(self, visitor: Client, set_rates: SetRates) -> None:
        set_rates(mailbox="1/hour")
        email = {"email": f"{uuid4()}@example.org"}
        assert [visitor.post("/password/reset", email).status_code for _ in range(2)] == [302, 429]


def give_code_to_page(client: Client, code: str) -> Any:
    return client.get(f"/rooms/{code}")


def give_code_to_form(client: Client, code: str) -> Any:
    return client.post("/rooms/join", {"code": code})


def give_code_to_state(client: Client, code: str) -> Any:
    return client.get(f"/api/rooms/{code}")


def give_code_to_boards(client: Client, code: str) -> Any:
    return client.get(f"/api/rooms/{code}/positions")


def give_code_to_advice(client: Client, code: str) -> Any:
    return client.get(f"/api/rooms/{code}/advice")


def give_code_to_join(client: Client, code: str) -> Any:
    return client.post(f"/api/rooms/{code}/join")


def give_code_to_move(client: Client, code: str) -> Any:
    return client.post(f"/api/rooms/{code}/move", {"move": "5"}, "application/json")


REQUESTS_WITH_A_CODE = [
    give_code_to_page,
    give_code_to_form,
    give_code_to_state,
    give_code_to_boards,
    give_code_to_advice,
    give_code_to_join,
    give_code_to_move,
]


class TestCodes:
    @pytest.mark.parametrize("give_code", REQUESTS_WITH_A_CODE)
    def test_only_wrong_codes_count(
        self, give_code: Callable[[Client, str], Any], address: str, visitor: Client, set_rates: SetRates
    ) -> None:
        set_rates(guess="3/hour")
        code = factories.room("human").room.code
        for _ in range(3):
            assert give_code(visitor, code).status_code != 429
            assert give_code(visitor, next(wrong_codes)).status_code in (302, 404)
        for other in REQUESTS_WITH_A_CODE:
            assert other(Client(REMOTE_ADDR=address), next(wrong_codes)).status_code == 429
            # A correct code is refused too, since a different answer would reveal it.
            assert other(Client(REMOTE_ADDR=address), code).status_code == 429
        assert has_retry_time(give_code_to_page(Client(REMOTE_ADDR=address), code))
        assert give_code(Client(REMOTE_ADDR=new_address()), code).status_code != 429

    @pytest.mark.parametrize("give_code", REQUESTS_WITH_A_CODE)
    def test_guesses_of_guests_do_not_limit_accounts(
        self, give_code: Callable[[Client, str], Any], address: str, visitor: Client, set_rates: SetRates
    ) -> None:
        set_rates(guess="1/hour", account="2/hour")
        code = factories.room("human").room.code
        give_code_to_state(visitor, next(wrong_codes))
        browser, other = Client(REMOTE_ADDR=address), Client(REMOTE_ADDR=address)
        browser.force_login(factories.user("ada"))
        other.force_login(factories.user("berta"))
        for _ in range(2):
            assert give_code(browser, code).status_code != 429
            assert give_code(browser, next(wrong_codes)).status_code in (302, 404)
        browser.defaults["REMOTE_ADDR"] = new_address()  # an account is limited on every address
        assert (
            give_code(browser, next(wrong_codes)).status_code
            == give_code(Client(REMOTE_ADDR=address), code).status_code
            == 429
        )
        assert give_code(other, code).status_code != 429

    def test_guesses_of_accounts_do_not_limit_guests(self, address: str, visitor: Client, set_rates: SetRates) -> None:
        set_rates(guess="1/hour", account="1/hour")
        code = factories.room("human").room.code
        browser = Client(REMOTE_ADDR=address)
        browser.force_login(factories.user("ada"))
        assert [give_code_to_state(browser, next(wrong_codes)).status_code for _ in range(2)] == [404, 429]
        assert give_code_to_state(visitor, code).status_code == 200

    def test_a_limited_program_gets_the_usual_refusal(self, visitor: Client, set_rates: SetRates) -> None:
        set_rates(guess="1/hour")
        give_code_to_state(visitor, next(wrong_codes))
        refused = give_code_to_state(visitor, next(wrong_codes))
        assert (refused.json()["code"], refused["Retry-After"]) == ("throttled", "3000")

    def test_guesses_do_not_stop_matches(self, address: str, visitor: Client, set_rates: SetRates) -> None:
        set_rates(guess="1/hour")
        player = Client(REMOTE_ADDR=address)
        player.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X"})
        code = Room.objects.get().code
        program = Client(REMOTE_ADDR=address)
        program_room = program.post("/api/rooms", {"opponent": "perfect"}, "application/json").json()
        give_code_to_state(visitor, next(wrong_codes))
        assert give_code_to_page(visitor, code).status_code == 429
        assert give_code_to_page(player, code).status_code == 200
        token = {"move": "5", "seat_token": program_room["seat_token"]}
        url = f"/api/rooms/{program_room['code']}/move"
        assert program.post(url, token, "application/json").status_code == 200
        stranger = Client(REMOTE_ADDR=address)
        assert stranger.post(url, {**token, "seat_token": "no"}, "application/json").status_code == 429


@pytest.mark.django_db(transaction=True)
async def test_wrong_codes_at_a_socket_count(address: str, set_rates: SetRates) -> None:
    set_rates(guess="2/hour")
    room = (await database_sync_to_async(factories.room)("human")).room

    async def first_frame(code: str, host: str = address) -> tuple[dict[str, Any], int]:
        socket = Socket(code)
        socket.scope["client"] = [host, 5000]
        async with socket:
            frame = await socket.receive_json_from()
            close_event = await socket.receive_output() if frame["type"] == "error" else {}
        return frame, close_event.get("code", 0)

    for _ in range(2):
        assert (await first_frame(room.code))[0]["type"] == "joined"
        frame, close_code = await first_frame(next(wrong_codes))
        assert (frame["data"]["code"], close_code) == ("room_not_found", 4404)
    for code in (next(wrong_codes), room.code):
        frame, close_code = await first_frame(code)
        assert (frame["data"]["code"], close_code) == ("throttled", 4429)
    assert (await first_frame(room.code, new_address()))[0]["type"] == "joined"
    page = await database_sync_to_async(give_code_to_page)(Client(REMOTE_ADDR=address), room.code)
    assert page.status_code == 429


UNTIL_MIDNIGHT_S = "57600"
"""Seconds from the fixed time of the tests to midnight, as in a header."""


def test_new_matches_have_a_limit_per_address(visitor: Client, address: str, set_rates: SetRates) -> None:
    set_rates(match="3/day")
    form = {"game": NC, "opponent": "perfect", "side": "X"}
    api = {"content_type": "application/json"}
    room = visitor.post("/api/rooms", form, **api, REMOTE_ADDR=new_address()).json()
    path, seat = f"/api/rooms/{room['code']}", {"seat_token": room["seat_token"]}
    assert visitor.post(f"{path}/reset", seat, **api).status_code == 409, "a refused rematch does not count"
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
            UNTIL_MIDNIGHT_S,
        )
    assert visitor.post(f"{path}/resign", seat, **api).status_code == 200, "an existing match goes on"
    refused = visitor.post(f"{path}/reset", seat, **api)
    assert (refused.status_code, refused["Retry-After"]) == (429, UNTIL_MIDNIGHT_S)
    n_rooms = Room.objects.count()
    for page in ("/rooms", "/teach"):
        refused = Client(REMOTE_ADDR=address).post(page, form)
        assert (refused.status_code, refused["Retry-After"]) == (429, UNTIL_MIDNIGHT_S)
        assert TooManyMatchesError.message.encode() in refused.content
        assert b"Try again in 16 hours" in refused.content
    assert Room.objects.count() == n_rooms
    assert Client(REMOTE_ADDR=new_address()).post("/rooms", form).status_code == 302


@pytest.mark.django_db(transaction=True)
async def test_matches_begun_at_a_socket_count(address: str, set_rates: SetRates) -> None:
    set_rates(match="1/day")
    seat = await database_sync_to_async(factories.room)()
    socket = Socket(seat.room.code, seat.token)
    socket.scope["client"] = [address, 5000]
    async with socket:
        await socket.expect("joined")
        for frame_type in ("state", "error"):
            await socket.frame("resign")
            await socket.expect("state")
            await socket.frame("reset")
            error = await socket.expect(frame_type)
    assert (error["code"], error["retry_after_s"]) == ("throttled", int(UNTIL_MIDNIGHT_S))


def test_matches_begin_while_the_counter_is_unavailable(
    visitor: Client, set_rates: SetRates, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_rates(match="0/day")
    monkeypatch.setattr(caches["default"], "retry_time_by_server", {caches["default"].server: float("inf")})
    assert visitor.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X"}).status_code == 302


@pytest.mark.soak
def test_a_class_of_120_at_one_address_meets_no_limit(address: str, set_rates: SetRates) -> None:
    set_rates(**{scope: DEFAULT_RATES[scope] for scope in DEFAULT_RATES})
    code = factories.room("human").room.code
    for number in range(120):
        browser, name = Client(REMOTE_ADDR=address), f"pupil{number}"
        form = {"username": name, "email": f"{name}@example.org", "password1": "a good password"}
        answers = [browser.post("/signup", {**form, "password2": "a god password"})]
        answers += [browser.post("/signup", {**form, "password2": form["password1"]}), browser.post("/logout")]
        answers += [browser.post("/login", {"username": name, "password": wrong}) for wrong in ("a", "b", "c")]
        answers += [browser.post("/login", {"username": name, "password": form["password1"]})]
        answers += [give_code_to_form(browser, wrong) for wrong in ("", code[:-1], next(wrong_codes))]
        answers += [give_code_to_page(browser, code), browser.post("/password/reset", {"email": form["email"]})]
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


def test_class_of_120_may_mistype_passwords_five_times_each(set_rates: SetRates) -> None:
    set_rates(guess=DEFAULT_RATES["guess"])
    assert (AddressThrottle("guess").num_requests or 0) >= 120 * 5


def test_class_of_120_may_begin_a_match_every_25_seconds(set_rates: SetRates) -> None:
    """The limit of a day is enough for three lessons of 45 minutes."""
    set_rates(match=DEFAULT_RATES["match"])
    assert (AddressThrottle("match").num_requests or 0) >= 120 * 3 * 45 * 60 / 25


def test_every_rate_is_a_setting() -> None:
    assert all(re.fullmatch(r"\d+/(min|hour|day)", rate) for rate in DEFAULT_RATES.values())
