"""The REST interface of rooms: statuses, bodies, and seats that a session or a token proves."""

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from rest_framework.test import APIClient

from beadbox.rules.outcome import Side
from games.models import Match, Ply, Room, Seat
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> APIClient:
    return APIClient()


def open_room(api: APIClient, **body: Any) -> dict[str, Any]:
    response = api.post("/api/rooms", {"opponent": "perfect", **body})
    assert response.status_code == 201, response.json()
    answer: dict[str, Any] = response.json()
    return answer


def test_a_room_is_opened_with_code_role_and_token(api: APIClient) -> None:
    answer = open_room(api)
    assert set(answer) == {"code", "role", "seat_token"}
    assert answer["role"] == "X"
    assert len(answer["code"]) == 6
    assert not set(answer["code"]) & set("il o01")


def test_a_mistyped_field_opens_no_room(api: APIClient) -> None:
    response = api.post("/api/rooms", {"oponent": "perfect"})
    assert response.status_code == 400
    assert response.json()["detail"].startswith("oponent: There is no such field to set; there are opponent, game,")
    assert not Room.objects.exists()


@pytest.mark.parametrize(("side", "role"), [("O", "O"), ("x", "X"), ("1", "O"), ("noughts", "O"), ("second", "O")])
def test_a_side_can_be_given_in_several_forms(api: APIClient, side: str, role: str) -> None:
    assert open_room(api, side=side)["role"] == role


@pytest.mark.parametrize("place_of_token", ["body", "header"])
def test_a_seat_token_moves_by_text_or_by_square(api: APIClient, place_of_token: str) -> None:
    answer = open_room(api)
    extra = {"seat_token": answer["seat_token"]} if place_of_token == "body" else {}
    headers = {"X-Seat-Token": answer["seat_token"]} if place_of_token == "header" else {}
    url = f"/api/rooms/{answer['code']}/move"
    state = api.post(url, {"position": 5, **extra}, headers=headers).json()
    assert (state["ply"], state["board"][4]) == (2, "X")
    second = api.post(url, {"move": state["legal_moves"][0], "ply": 2, **extra}, headers=headers)
    assert second.status_code == 200
    assert api.get(f"/api/rooms/{answer['code']}").json() == second.json()


def test_a_role_without_a_token_is_refused(api: APIClient) -> None:
    answer = open_room(api)
    response = APIClient().post(f"/api/rooms/{answer['code']}/move", {"position": 5, "role": "X"})
    assert (response.status_code, response.json()["code"]) == (403, "not_a_player")


def test_a_friend_joins_once_and_a_third_player_is_refused(api: APIClient) -> None:
    answer = open_room(api, opponent="human")
    join_response = APIClient().post(f"/api/rooms/{answer['code']}/join")
    assert (join_response.status_code, join_response.json()["role"]) == (200, "O")
    full = APIClient().post(f"/api/rooms/{answer['code']}/join")
    assert (full.status_code, full.json()["code"]) == (409, "room_full")


def test_resign_and_play_again_with_sides_swapped(api: APIClient) -> None:
    answer = open_room(api)
    headers = {"X-Seat-Token": answer["seat_token"]}
    base = f"/api/rooms/{answer['code']}"
    assert api.post(f"{base}/reset", {}, headers=headers).json()["code"] == "match_not_finished"
    resigned = api.post(f"{base}/resign", {}, headers=headers).json()
    assert resigned["outcome"] == {"winner": "O", "termination": "resignation", "reason": "the loser resigned"}
    rematch = api.post(f"{base}/reset", {"swap": True}, headers=headers).json()
    assert (rematch["number"], rematch["ply"], rematch["seats"][1]["kind"]) == (2, 1, "human")


INVALID_CALLS: list[tuple[str, dict[str, Any], int, str]] = [
    ("move", {"position": 10}, 400, "invalid_move"),
    ("move", {"position": -1}, 400, "invalid_move"),
    ("move", {"position": 1.5}, 400, "malformed"),
    ("move", {"move": "9" * 21}, 400, "malformed"),
    ("move", {}, 400, "malformed"),
    ("move", {"move": "5", "ply": 3}, 409, "stale_ply"),
    ("move", {"move": "5", "ply": -1}, 400, "malformed"),
    ("reset", {"swap": "perhaps"}, 400, "malformed"),
]


@pytest.mark.parametrize(("action", "body", "status", "code"), INVALID_CALLS)
def test_bad_input_has_a_status_a_code_and_no_effect(
    api: APIClient, action: str, body: dict[str, Any], status: int, code: str
) -> None:
    answer = open_room(api)
    response = api.post(f"/api/rooms/{answer['code']}/{action}", body, headers={"X-Seat-Token": answer["seat_token"]})
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.json()["detail"]
    assert not Ply.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"opponent": "nobody"}, "opponent"),
        ({}, "opponent"),
        ({"opponent": "human", "game": "chess"}, "game"),
        ({"opponent": "human", "side": "Z"}, "side"),
        ({"opponent": "machine"}, "machine"),
    ],
)
def test_refusal_to_open_a_room_names_the_field(api: APIClient, body: dict[str, Any], field: str) -> None:
    response = api.post("/api/rooms", body)
    assert response.status_code == 400
    assert response.json()["detail"].startswith(field)
    assert not Room.objects.exists()
    assert not Seat.objects.exists()


def test_missing_and_wrong_side_machines_are_refused(api: APIClient) -> None:
    learner = factories.machine()
    missing = api.post("/api/rooms", {"opponent": "machine", "machine": "nowhere"})
    assert (missing.status_code, missing.json()["code"]) == (404, "machine_not_found")
    wrong_side = api.post("/api/rooms", {"opponent": "machine", "machine": str(learner.pk), "side": "O"})
    assert (wrong_side.status_code, wrong_side.json()["code"]) == (409, "machine_wrong_side")
    assert not Room.objects.exists()
    assert open_room(api, opponent="machine", machine=learner.slug)["role"] == "X"


@pytest.mark.parametrize("path", ["zzzzzz", "zzzzzz/join", "zzzzzz/move", "zzzzzz/resign", "zzzzzz/reset"])
def test_an_unknown_code_is_not_found(api: APIClient, path: str) -> None:
    method = api.get if "/" not in path else api.post
    response = method(f"/api/rooms/{path}", {"move": "5"})
    assert (response.status_code, response.json()["code"]) == (404, "room_not_found")


def test_bodies_that_are_not_json_or_too_large_are_refused(api: APIClient) -> None:
    broken = api.post("/api/rooms", "{", content_type="application/json")
    assert (broken.status_code, broken.json()["code"]) == (400, "malformed")
    form = api.post("/api/rooms", "opponent=human", content_type="application/x-www-form-urlencoded")
    assert (form.status_code, form.json()["code"]) == (415, "unsupported_media_type")
    large = api.post("/api/rooms", {"opponent": "x" * 100_000})
    assert large.status_code == 413
    assert large.json()["code"]


def test_a_trailing_slash_is_served_too(api: APIClient) -> None:
    answer = open_room(api)
    assert api.get(f"/api/rooms/{answer['code']}/").status_code == 200
    assert api.get("/api/games/").json()["results"][0]["slug"] == "noughts-and-crosses"


def test_games_have_their_layout_and_opponents(api: APIClient) -> None:
    game = api.get("/api/games/noughts-and-crosses").json()
    assert game["start"] == "........."
    assert [cell["id"] for cell in game["layout"]["cells"]] == list("123456789")
    assert {o["slug"] for o in game["opponents"]} == {
        "human",
        "menace",
        "random",
        "win-block",
        "perfect",
        "perfect-fast",
    }
    assert api.get("/api/games/chess").json()["code"] == "unknown_game"


def test_the_schema_describes_every_endpoint(api: APIClient) -> None:
    schema = api.get("/api/schema", headers={"Accept": "application/vnd.oai.openapi+json"})
    assert schema.status_code == 200
    assert b"/api/rooms/{code}/move" in schema.content


@pytest.mark.parametrize("interface", ["api", "page"])
def test_a_refused_seat_creates_no_session(interface: str) -> None:
    full = factories.room("human").room.code
    open_url, join_response = {"api": ("/api/rooms", f"/api/rooms/{full}/join"), "page": ("/rooms", "/rooms/join")}[
        interface
    ]
    make_client = APIClient if interface == "api" else Client
    assert make_client().post(join_response, {} if interface == "api" else {"code": full}).status_code in (200, 302)
    assert Session.objects.count() == 1, "only the visitor that has taken the seat has a session"
    for url, body in (
        (join_response, {} if interface == "api" else {"code": full}),
        (open_url, {"opponent": "machine", "machine": "nobody"}),
    ):
        assert make_client().post(url, body).status_code in (302, 404, 409)
    assert Session.objects.count() == 1


def test_a_session_holds_its_seat_without_a_token(client: Any) -> None:
    client.post("/rooms", {"game": "noughts-and-crosses", "opponent": "perfect", "side": "X"})
    code = Room.objects.get().code
    response = client.post(f"/api/rooms/{code}/move", {"position": 5}, content_type="application/json")
    assert response.status_code == 200
    stranger = APIClient().post(f"/api/rooms/{code}/move", {"position": 1})
    assert stranger.status_code == 403


class TestExhibition:
    """Two automated players meet, and only the host lets them move."""

    def test_an_exhibition_is_opened_stepped_and_finished(self, api: APIClient) -> None:
        first, second = factories.machine(Side.FIRST), factories.machine(Side.SECOND)
        answer = api.post("/api/rooms", {"first": first.pk, "second": second.slug}).json()
        assert set(answer) == {"code", "role", "seat_token"}
        assert answer["role"] is None
        url = f"/api/rooms/{answer['code']}"
        assert api.get(url).json()["ply"] == 0
        state = api.post(f"{url}/step", {"ply": 0}, headers={"X-Seat-Token": answer["seat_token"]}).json()
        assert (state["ply"], state["turn"], state["exhibition"]) == (1, "O", True)
        stale = api.post(f"{url}/step", {"ply": 0, "seat_token": answer["seat_token"]})
        assert (stale.status_code, stale.json()["code"]) == (409, "stale_ply")
        state = api.post(f"{url}/step", {"plies": 100, "seat_token": answer["seat_token"]}).json()
        assert state["status"] == "finished"
        assert [lesson["machine"]["id"] for lesson in state["learning"]["lessons"]] == [first.pk, second.pk]
        refusal = api.post(f"{url}/step", {"seat_token": answer["seat_token"]})
        assert (refusal.status_code, refusal.json()["code"]) == (409, "match_finished")
        assert api.post(f"{url}/reset", {"seat_token": answer["seat_token"]}).json()["number"] == 2

    @pytest.mark.parametrize("headers", [{}, {"X-Seat-Token": "guessed"}])
    def test_only_the_host_steps_or_restarts(self, api: APIClient, headers: dict[str, str]) -> None:
        answer = api.post("/api/rooms", {"first": "random", "second": "perfect"}).json()
        for action in ("step", "reset"):
            response = APIClient().post(f"/api/rooms/{answer['code']}/{action}", headers=headers)
            assert (response.status_code, response.json()["code"]) == (403, "not_the_host")

    def test_a_match_with_a_person_cannot_be_stepped(self, api: APIClient) -> None:
        answer = open_room(api)
        response = api.post(f"/api/rooms/{answer['code']}/step", {"seat_token": answer["seat_token"]})
        assert (response.status_code, response.json()["code"]) == (409, "not_an_exhibition")

    @pytest.mark.parametrize("body", [{"plies": 0}, {"plies": 101}, {"plies": "all"}, {"ply": -1}])
    def test_refusal_of_an_invalid_step_names_the_field(self, api: APIClient, body: dict[str, Any]) -> None:
        answer = api.post("/api/rooms", {"first": "random", "second": "perfect"}).json()
        response = api.post(f"/api/rooms/{answer['code']}/step", {**body, "seat_token": answer["seat_token"]})
        assert response.status_code == 400
        assert response.json()["detail"].startswith(next(iter(body)))
        assert not Ply.objects.exists()

    def test_a_read_token_opens_no_exhibition(self) -> None:
        api = factories.api_with(factories.user(), "read")
        response = api.post("/api/rooms", {"first": "random", "second": "perfect"})
        assert (response.status_code, response.json()["code"]) == (403, "scope_missing")


class TestTakingOver:
    def test_the_owner_plays_on_the_side_of_the_machine(self) -> None:
        owner = factories.user()
        own = factories.machine(Side.SECOND, owner=owner)
        api = factories.api_with(owner, "play", "read", "train")
        answer = open_room(api, opponent="random", takes_over=own.slug)
        assert answer["role"] == "O"
        state = api.get(f"/api/rooms/{answer['code']}").json()
        assert (state["seats"][1]["kind"], state["seats"][1]["takes_over"]) == ("human", True)
        assert state["seats"][1]["machine"]["win_rate"] is None
        move = {"move": state["legal_moves"][0], "seat_token": answer["seat_token"]}
        state = api.post(f"/api/rooms/{answer['code']}/move", move).json()
        assert state["learning"]["draws"][0]["by_hand"] is True

    def test_a_play_token_cannot_take_over_a_machine(self) -> None:
        owner = factories.user()
        own = factories.machine(Side.SECOND, owner=owner)
        api = factories.api_with(owner, "play")
        response = api.post("/api/rooms", {"opponent": "random", "takes_over": own.slug})
        assert (response.status_code, response.json()["code"]) == (403, "scope_missing")
        assert not Room.objects.exists()
        assert open_room(api, opponent="random", takes_over=own.slug, fresh=True)["role"] == "O"

    def test_only_the_owner_takes_over_a_machine(self, api: APIClient) -> None:
        own = factories.machine(Side.SECOND, owner=factories.user())
        response = api.post("/api/rooms", {"opponent": "random", "takes_over": own.slug})
        assert (response.status_code, response.json()["code"]) == (403, "not_your_machine")
        answer = open_room(api, opponent="random", takes_over=own.slug, fresh=True)
        assert answer["role"] == "O", "any visitor may play a copy"


def test_an_opponent_can_be_the_id_of_a_machine(api: APIClient) -> None:
    answer = open_room(api, opponent=str(factories.machine(Side.SECOND).pk))
    assert api.get(f"/api/rooms/{answer['code']}").json()["seats"][1]["kind"] == "machine"
    missing = api.post("/api/rooms", {"opponent": "999999"})
    assert (missing.status_code, missing.json()["code"]) == (404, "machine_not_found")


def test_games_are_grouped_by_family_with_their_sizes(api: APIClient) -> None:
    games_by_slug = {game["slug"]: game for game in api.get("/api/games").json()["results"]}
    assert all(game["family"] == slug for slug, game in games_by_slug.items())
    hexapawn = games_by_slug["hexapawn"]
    sizes = [(one["columns"], one["rows"]) for one in hexapawn["variants"]]
    assert sizes[0] == (3, 3), "the usual board first"
    assert sorted(sizes) == [(3, 3), (3, 4), (4, 3), (4, 4), (5, 3), (5, 4)]
    for one in hexapawn["variants"]:
        game = api.get(f"/api/games/{one['slug']}").json()
        assert (game["family"], game["variant"]) == ("hexapawn", one["variant"])
    assert "perfect" not in {one["slug"] for one in api.get("/api/games/hexapawn-5x4").json()["opponents"]}
    refused = api.post("/api/rooms", {"game": "hexapawn-5x4", "opponent": "perfect"})
    assert (refused.status_code, refused.json()["code"]) == (400, "malformed")


class TestGuestWithCookies:
    """The session of a host or guest holds the seat, and a seat token removes none of its CSRF protection."""

    @pytest.fixture
    def browser(self) -> APIClient:
        return APIClient(enforce_csrf_checks=True)

    def csrf_headers(self, browser: APIClient) -> dict[str, str]:
        return {"X-CSRFToken": browser.cookies["csrftoken"].value}

    def test_the_session_that_opens_a_room_has_its_seat(self, browser: APIClient) -> None:
        answer = open_room(browser)
        url = f"/api/rooms/{answer['code']}"
        response = browser.post(f"{url}/move", {"position": 5}, headers=self.csrf_headers(browser))
        assert (response.status_code, response.json()["ply"]) == (200, 2)
        page = browser.get(f"/rooms/{answer['code']}")
        assert page.context["role"] == "X"
        assert browser.post(f"{url}/resign", headers=self.csrf_headers(browser)).json()["status"] == "finished"
        rematch = open_room_with_headers(browser, self.csrf_headers(browser))
        assert browser.get(f"/rooms/{rematch['code']}").context["role"] == "X", (
            "the session has a seat in another room too"
        )

    def test_refusal_of_a_session_names_the_csrf_header(self, browser: APIClient) -> None:
        open_room(browser)
        body = {"opponent": "perfect"}
        refused = browser.post("/api/rooms", body)
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
        for words in ("X-CSRFToken", "cookie csrftoken", "Referer", "send no cookies"):
            assert words in refused.json()["detail"]
        assert browser.post("/api/rooms", body, headers=self.csrf_headers(browser)).status_code == 201
        https_response = browser.post("/api/rooms", body, headers=self.csrf_headers(browser), secure=True)
        assert "Referer" in https_response.json()["detail"]
        headers = {**self.csrf_headers(browser), "Referer": "https://testserver/"}
        assert browser.post("/api/rooms", body, headers=headers, secure=True).status_code == 201
        browser.cookies.clear()
        assert browser.post("/api/rooms", body).status_code == 201

    def test_sessions_that_join_or_host_have_their_seats(self, browser: APIClient) -> None:
        answer = open_room(APIClient(), opponent="human")
        assert browser.post(f"/api/rooms/{answer['code']}/join").json()["role"] == "O"
        assert browser.get(f"/rooms/{answer['code']}").context["role"] == "O"
        exhibition = browser.post(
            "/api/rooms", {"first": "random", "second": "perfect"}, headers=self.csrf_headers(browser)
        ).json()
        stepped = browser.post(f"/api/rooms/{exhibition['code']}/step", headers=self.csrf_headers(browser))
        assert (stepped.status_code, stepped.json()["ply"]) == (200, 1)

    @pytest.mark.parametrize("token", ["unknown", "of another room", "empty", "none"])
    @pytest.mark.parametrize("place_of_token", ["header", "body"])
    def test_an_invalid_seat_token_keeps_the_csrf_check(
        self, browser: APIClient, token: str, place_of_token: str
    ) -> None:
        answer, other = open_room(browser), open_room(APIClient())
        text = {"unknown": "guessed", "of another room": other["seat_token"], "empty": "", "none": None}[token]
        if (text, place_of_token) == ("", "body"):
            text = " "  # blank, since an empty token is refused before any other check
        headers = {"X-Seat-Token": text} if place_of_token == "header" and text is not None else {}
        body = {"seat_token": text} if place_of_token == "body" and text is not None else {}
        for action, more in (("move", {"position": 5}), ("resign", {}), ("reset", {})):
            forged = browser.post(f"/api/rooms/{answer['code']}/{action}", {**body, **more}, headers=headers)
            assert forged.status_code in (400, 403)
            if forged.status_code == 403:
                assert forged.json()["code"] == "permission_denied"
        waiting_room = open_room(APIClient(), opponent="human")
        for url in ("/api/rooms", f"/api/rooms/{waiting_room['code']}/join"):
            assert browser.post(url, {"opponent": "perfect"}, headers=headers).status_code == 403
        assert not Ply.objects.exists()
        assert Match.objects.filter(status="playing").count() == 2

    def test_a_seat_token_takes_precedence_over_the_session(self, browser: APIClient) -> None:
        """A request with the opponent's token acts for the opponent, so it cannot use our session without CSRF."""
        answer = open_room(browser, opponent="human")
        url = f"/api/rooms/{answer['code']}"
        opponent = APIClient().post(f"{url}/join").json()
        forged = browser.post(f"{url}/move", {"position": 5, "seat_token": opponent["seat_token"]})
        assert (forged.status_code, forged.json()["code"]) == (409, "not_your_turn")
        own = browser.post(f"{url}/move", {"position": 5}, headers={"X-Seat-Token": answer["seat_token"]})
        assert (own.status_code, own.json()["ply"]) == (200, 1), (
            "our seat token proves our seat, and needs no CSRF token"
        )


def open_room_with_headers(api: APIClient, headers: dict[str, str]) -> dict[str, Any]:
    answer: dict[str, Any] = api.post("/api/rooms", {"opponent": "perfect"}, headers=headers).json()
    return answer
