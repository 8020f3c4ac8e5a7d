"""Pages of rooms and accounts without a browser: answers, permissions, and numbers of queries."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.tokens import default_token_generator
from django.core import mail
from django.test import Client
from django.utils import timezone

from games.models import Match, Room, Seat
from tests import factories
from tests.factories import NC
from tests.pages import page_json

pytestmark = pytest.mark.django_db

PASSWORD = "a good password"


def open_room(client: Client, **form: str) -> Any:
    return client.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X", **form})


def test_one_click_opens_a_room_and_leads_to_the_match_page(client: Client) -> None:
    response = open_room(client)
    room = Room.objects.get()
    assert (response.status_code, response.url) == (302, f"/rooms/{room.code}")
    page = client.get(response.url)
    assert page.status_code == 200
    assert page_json(page, "role") == "X"
    assert page_json(page, "state")["legal_moves"] == list("123456789")
    assert page_json(page, "game")["slug"] == NC
    watching = Client().get(response.url)
    assert page_json(watching, "role") is None


def test_a_random_side_is_either_side(client: Client) -> None:
    sides = set()
    for _ in range(40):
        open_room(client, side="random")
        sides.add(Seat.objects.filter(player="human").latest("pk").side)
    assert sides == {0, 1}


@pytest.mark.parametrize("form", [{"game": "chess"}, {"opponent": "nobody"}, {"side": "Z"}, {"opponent": "machine"}])
def test_the_lobby_shows_why_a_room_cannot_be_opened(client: Client, form: dict[str, str]) -> None:
    response = client.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X", **form}, follow=True)
    assert response.redirect_chain[-1][0] == "/"
    assert [str(message) for message in response.context["messages"]]
    assert not Room.objects.exists()


def test_a_room_cannot_be_opened_by_a_link_or_from_another_site() -> None:
    assert Client().get("/rooms").url == "/"  # type: ignore[attr-defined]
    assert not Room.objects.exists()
    forged = Client(enforce_csrf_checks=True).post("/rooms", {"game": NC, "opponent": "perfect"})
    assert forged.status_code == 403
    assert not Room.objects.exists()


def test_friends_join_by_code_in_any_case_and_a_third_watches(client: Client) -> None:
    open_room(client, opponent="human")
    code = Room.objects.get().code
    friend, third = Client(), Client()
    assert friend.post("/rooms/join", {"code": f" {code.upper()} "}).url == f"/rooms/{code}"
    assert Match.objects.get().status == "playing"
    response = third.post("/rooms/join", {"code": code}, follow=True)
    assert page_json(response, "role") is None
    assert "Both seats" in str(next(iter(response.context["messages"])))


def test_an_unknown_room_code_gets_a_helpful_message(client: Client) -> None:
    joined = client.post("/rooms/join", {"code": "zzzzzz"}, follow=True)
    assert "no room" in str(next(iter(joined.context["messages"])))
    page = client.get("/rooms/zzzzzz")
    assert page.status_code == 404
    assert b"no room" in page.content


def test_the_lobby_lists_rooms_to_join_and_matches_to_watch(client: Client) -> None:
    factories.house_machines()
    waiting = factories.room("human").room
    live = factories.room("perfect", factories.guest(2))
    factories.play(live, factories.guest(2), "5")
    page = client.get("/")
    assert [room["code"] for room in page.context["open_rooms"]] == [waiting.code]
    assert [room["code"] for room in page.context["live_rooms"]] == [live.room.code]


def test_the_lobby_hides_abandoned_rooms(client: Client) -> None:
    waiting = factories.room("human").room
    live = factories.room("perfect", factories.guest(2))
    factories.play(live, factories.guest(2), "5")
    Room.objects.update(changed_at=timezone.now() - timedelta(hours=2))
    page = client.get("/")
    assert page.context["open_rooms"] == page.context["live_rooms"] == []
    assert client.get(f"/rooms/{waiting.code}").status_code == 200, "the link goes on working"


def test_lobby_takes_a_fixed_number_of_queries(client: Client, django_assert_num_queries: Any) -> None:
    factories.house_machines()
    factories.room("human")
    factories.play(factories.room("perfect"), factories.guest(), "5")
    client.get("/")  # exact strengths are computed and cached
    with django_assert_num_queries(5):
        client.get("/")
    for number in range(2, 8):
        factories.room("human", factories.guest(number))
        factories.play(factories.room("perfect", factories.guest(number)), factories.guest(number), "5")
    # The queries read trainings, open rooms and matches to watch, each list with its seats.
    with django_assert_num_queries(5):
        client.get("/")


class TestAccounts:
    def test_sign_up_logs_in_and_keeps_the_guests_matches(self, client: Client) -> None:
        open_room(client)
        response = client.post(
            "/signup", {"username": "ada", "email": "", "password1": PASSWORD, "password2": PASSWORD}
        )
        assert (response.status_code, response.url) == (302, "/account")
        seat = Seat.objects.get(player="human")
        assert (seat.user.username, seat.name, seat.guest) == ("ada", "ada", None)
        account = client.get("/account")
        assert [match["code"] for match in account.context["matches"]] == [Room.objects.get().code]
        response = client.post(
            f"/api/rooms/{Room.objects.get().code}/move", {"position": 5}, content_type="application/json"
        )
        assert response.status_code == 200, "the seat is still held"

    def test_log_in_keeps_the_guests_matches(self, client: Client) -> None:
        account = factories.user("ada")
        open_room(client)
        assert client.post("/login", {"username": "ada", "password": PASSWORD}).status_code == 302
        assert Seat.objects.get(player="human").user == account

    def test_two_accounts_in_one_browser_stay_apart(self, client: Client) -> None:
        factories.user("ada")
        factories.user("bob")
        client.post("/login", {"username": "ada", "password": PASSWORD})
        open_room(client)
        client.post("/logout")
        client.post("/login", {"username": "bob", "password": PASSWORD})
        assert client.get("/account").context["matches"] == []
        assert page_json(client.get(f"/rooms/{Room.objects.get().code}"), "role") is None

    def test_guests_copy_moves_to_the_new_account(self, client: Client) -> None:
        factories.house_machines()
        open_room(client, opponent="menace", fresh="on")
        client.post("/signup", {"username": "ada", "email": "", "password1": PASSWORD, "password2": PASSWORD})
        assert [machine["name"] for machine in client.get("/account").context["machines"]] == [
            "MENACE the Second (copy)"
        ]
        client.post("/logout")
        factories.user("bob")
        client.post("/login", {"username": "bob", "password": PASSWORD})
        assert client.get("/account").context["machines"] == []

    def test_the_account_page_needs_a_log_in(self, client: Client) -> None:
        assert client.get("/account").url == "/login?next=/account"

    @pytest.mark.parametrize(
        ("form", "field"),
        [
            ({"username": ""}, "username"),
            ({"username": "ada"}, "username"),
            ({"password2": "another password"}, "password2"),
            ({"password1": "12345", "password2": "12345"}, "password2"),
            ({"email": "nowhere"}, "email"),
        ],
    )
    def test_refusal_of_a_sign_up_names_the_field(self, client: Client, form: dict[str, str], field: str) -> None:
        factories.user("ada")
        valid_form = {"username": "bob", "email": "", "password1": PASSWORD, "password2": PASSWORD}
        response = client.post("/signup", {**valid_form, **form})
        assert response.status_code == 200
        assert field in response.context["form"].errors
        assert get_user_model().objects.count() == 1
        assert client.post("/signup", valid_form).status_code == 302

    @pytest.mark.parametrize("path", ["/account", "/account/tokens"])
    def test_pages_of_an_account_are_not_cached(self, client: Client, path: str) -> None:
        client.force_login(factories.user("ada"))
        answer = client.get(path)
        assert (answer.status_code, "no-store" in answer["Cache-Control"]) == (200, True)

    @pytest.mark.parametrize(
        ("is_staff", "n_characters", "is_accepted"),
        [
            (False, 7, False),
            (False, 8, True),
            (False, 64, True),
            (False, 128, True),
            (False, 129, False),
            (True, 11, False),
            (True, 12, True),
            (True, 129, False),
        ],
    )
    def test_least_length_of_a_password(
        self, client: Client, is_staff: bool, n_characters: int, is_accepted: bool
    ) -> None:
        client.force_login(factories.user("ada", is_staff=is_staff))
        new_password = ("quite another password " * 6)[: n_characters - 1] + "!"
        changed = client.post(
            "/password", {"old_password": PASSWORD, "new_password1": new_password, "new_password2": new_password}
        )
        assert (changed.status_code == 302) is is_accepted
        assert get_user_model().objects.get().check_password(new_password) is is_accepted

    def test_a_password_can_be_changed(self, client: Client) -> None:
        client.force_login(factories.user("ada", email="ada@example.org"))
        new_password = "quite another password"
        client.post(
            "/password", {"old_password": PASSWORD, "new_password1": new_password, "new_password2": new_password}
        )
        assert get_user_model().objects.get().check_password(new_password)
        (letter,) = mail.outbox
        assert letter.to == ["ada@example.org"]
        assert "If you did not change it" in letter.body
        client.force_login(factories.user("bob"))
        client.post(
            "/password", {"old_password": PASSWORD, "new_password1": new_password, "new_password2": new_password}
        )
        assert mail.outbox == [letter], "the account has no e-mail address"

    def test_a_password_is_reset_by_email(self, client: Client) -> None:
        factories.user("ada", email="ada@example.org")
        client.post("/password/reset", {"email": "ada@example.org"})
        (message,) = mail.outbox
        link = re.search(r"http://testserver(/password/reset/\S+)", message.body)
        assert link
        assert "within an hour" in message.body
        form = client.get(link[1], follow=True)
        new_password = "quite another password"
        response = client.post(
            form.request["PATH_INFO"], {"new_password1": new_password, "new_password2": new_password}
        )
        assert response.url == "/password/reset/done"
        assert get_user_model().objects.get().check_password(new_password)
        assert "has changed" in mail.outbox[-1].body
        second_visit = client.get(link[1], follow=True)
        assert second_visit.context["validlink"] is False, "a link works once"

    @pytest.mark.parametrize(
        ("site_url", "expected_start"),
        [
            ("https://beads.example", "https://beads.example/password/reset/"),
            ("http://192.168.1.20:8000", "http://192.168.1.20:8000/password/reset/"),
            ("", "http://testserver:7777/password/reset/"),
        ],
    )
    def test_link_in_a_letter_uses_the_name_of_the_site(
        self, site_url: str, expected_start: str, client: Client, settings: Any
    ) -> None:
        """A letter has the host of the request only if the site has no name."""
        settings.SITE_URL = site_url
        factories.user("ada", email="ada@example.org")
        client.post("/password/reset", {"email": "ada@example.org"}, headers={"host": "testserver:7777"})
        (message,) = mail.outbox
        assert re.findall(r"\S+://\S+/password/", message.body) == [expected_start.removesuffix("reset/")]
        assert expected_start in message.body

    def test_link_in_a_letter_expires_after_an_hour(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        account = factories.user("ada", email="ada@example.org")
        token = default_token_generator.make_token(account)
        now = default_token_generator._now()
        monkeypatch.setattr(default_token_generator, "_now", lambda: now + timedelta(minutes=59))
        assert default_token_generator.check_token(account, token)
        monkeypatch.setattr(default_token_generator, "_now", lambda: now + timedelta(minutes=61))
        assert not default_token_generator.check_token(account, token)

    def test_site_without_email_says_so_and_takes_no_address(self, client: Client, settings: Any) -> None:
        factories.user("ada", email="ada@example.org")
        settings.SENDS_LETTERS = False
        for answer in (client.get("/password/reset"), client.post("/password/reset", {"email": "ada@example.org"})):
            assert answer.status_code == 200
            assert "cannot send e-mail" in answer.content.decode()
            assert 'name="email"' not in answer.content.decode()

    def test_reset_for_an_unknown_address_gives_the_same_answer(self, client: Client) -> None:
        response = client.post("/password/reset", {"email": "nobody@example.org"})
        assert response.url == "/password/reset/sent"
        assert mail.outbox == []

    def test_too_many_wrong_passwords_lock_the_log_in(self, client: Client) -> None:
        factories.user("ada")
        for _ in range(10):
            response = client.post("/login", {"username": "ada", "password": "wrong"})
        assert response.status_code == 429
        valid_form = client.post("/login", {"username": "ada", "password": PASSWORD})
        assert valid_form.status_code == 429
        assert "Too many tries" in valid_form.content.decode(), "the page explains the lock"

    def test_log_out_needs_a_form(self, client: Client) -> None:
        client.force_login(factories.user())
        assert client.get("/logout").url == "/"  # type: ignore[attr-defined]
        assert "_auth_user_id" in client.session
        assert client.post("/logout").status_code == 302


@pytest.mark.parametrize(
    "path", ["/", "/about", "/login", "/signup", "/password/reset", "/rooms/zzzzzz", "/nowhere", "/api/docs"]
)
def test_every_page_has_security_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"


def test_names_are_escaped(client: Client) -> None:
    factories.house_machines()
    evil = factories.machine(name="</script><script>alert(1)</script>", slug="evil")
    for path in ("/", f"/machines/{evil.pk}"):
        assert b"<script>alert(1)" not in client.get(path).content


class TestPlayAgainstYourself:
    """A browser that asks for both seats of its own room has to confirm."""

    def test_a_guest_confirms_and_then_plays_both_sides(self, client: Client) -> None:
        open_room(client, opponent="human")
        code = Room.objects.get().code
        response = client.post("/rooms/join", {"code": code.upper()})
        assert response.status_code == 200
        assert b"You would play against yourself" in response.content
        assert Match.objects.get().status == "waiting", "asking takes no seat"
        assert client.post("/rooms/join", {"code": code, "both": "1"}).url == f"/rooms/{code}"
        assert page_json(client.get(f"/rooms/{code}"), "roles") == ["X", "O"]
        path = f"/api/rooms/{code}"
        for move in ("1", "4", "2", "5", "3"):
            state = client.post(f"{path}/move", {"move": move}, "application/json").json()
        assert state["outcome"]["winner"] == "X"
        assert client.get(f"{path}/joined").json()["roles"] == ["X", "O"]
        # A browser with both seats is not asked again.
        assert client.post("/rooms/join", {"code": code}).status_code == 302

    def test_joining_ones_own_room_needs_confirmation_after_logout(self, client: Client) -> None:
        """An account and its browser after the logout are both asked before they play against themselves."""
        client.force_login(factories.user("ada"))
        open_room(client, opponent="human")
        code = Room.objects.get().code
        assert client.post("/rooms/join", {"code": code}).status_code == 200
        client.post("/logout")
        response = client.post("/rooms/join", {"code": code})
        assert b"You would play against yourself" in response.content
        client.post("/rooms/join", {"code": code, "both": "1"})
        assert Match.objects.get().status == "playing"
        assert page_json(client.get(f"/rooms/{code}"), "roles") == ["O"], "the other seat stays the account's"

    def test_another_account_in_the_same_browser_confirms(self, client: Client) -> None:
        client.force_login(factories.user("ada"))
        open_room(client, opponent="human")
        client.post("/logout")
        factories.user("berta")
        client.post("/login", {"username": "berta", "password": "a good password"})
        assert client.post("/rooms/join", {"code": Room.objects.get().code}).status_code == 200

    def test_friends_and_programs_need_no_confirmation(self, client: Client) -> None:
        """A program that joins its own room again gets the seat that it had before."""
        open_room(client, opponent="human")
        code = Room.objects.get().code
        again = client.post(f"/api/rooms/{code}/join")
        assert (again.status_code, again.json()) == (200, {"code": code, "role": "X"})
        assert Client().post("/rooms/join", {"code": code, "both": "1"}).status_code == 302
        assert page_json(client.get(f"/rooms/{code}"), "roles") == ["X"]
