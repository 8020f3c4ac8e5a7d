"""Hostile input and races: nothing breaks, nothing is lost, and no seat changes hands."""

import threading
from dataclasses import replace
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.test import Client
from redis.exceptions import ConnectionError as RedisConnectionError
from rest_framework.test import APIClient

from games.accounts.principal import Principal
from games.accounts.throttles import WriteThrottle
from games.live import rooms
from games.live.play import match_resign
from games.live.rooms import room_join, room_reset, room_state_get, seats_claim
from games.models import Room
from learning.models import Machine
from tests import factories
from tests.factories import NC, guest, machine, play_out, room
from tests.sockets import Socket
from tests.threads import at_once

in_db = database_sync_to_async


@pytest.mark.django_db
class TestInput:
    @pytest.mark.parametrize("code", ["%00", "a%00b", "ABCDEFG", "ilo011", "é" * 6, "a" * 400])
    def test_impossible_codes_have_no_room(self, client: Client, code: str) -> None:
        assert client.get(f"/rooms/{code}").status_code == 404
        assert client.get(f"/api/rooms/{code}").json()["code"] == "room_not_found"
        assert client.post(f"/api/rooms/{code}/move", {"move": "5"}, "application/json").status_code == 404

    @pytest.mark.parametrize("form", [{"machine": "\0"}, {"opponent": "\0"}, {"side": "\0"}, {"machine": "x" * 999}])
    def test_forms_refuse_values_that_the_database_would_refuse(self, client: Client, form: dict[str, str]) -> None:
        valid_form = {"game": NC, "opponent": "machine", "machine": "1", "side": "X"}
        response = client.post("/rooms", {**valid_form, **form}, follow=True)
        assert response.status_code == 200
        assert [str(message) for message in response.context["messages"]]
        assert client.post("/rooms/join", {"code": "\0"}, follow=True).status_code == 200

    def test_deeply_nested_json_is_malformed(self) -> None:
        response = APIClient().post("/api/rooms", "[" * 60_000, content_type="application/json")
        assert (response.status_code, response.json()["code"]) == (400, "malformed")

    @pytest.mark.parametrize(
        ("additions", "field"),
        [
            (["flip", ""], "additions.1"),
            ([None], "additions.0"),
            ([{}], "additions.0"),
            ([["flip"]], "additions.0"),
            ([7.5, "flip", "é"], "additions.0"),
            ("flip", "additions"),
            ({"0": "flip"}, "additions"),
        ],
    )
    def test_refusal_of_an_invalid_rule_option_names_the_field(self, additions: Any, field: str) -> None:
        answer = APIClient().post("/api/rooms", {"opponent": "human", "game": "romgon", "additions": additions})
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
        assert answer.json()["detail"].startswith(f"{field}: ")
        assert "ErrorDetail(" not in answer.text

    def test_a_page_names_an_invalid_rule_option(self, client: Client) -> None:
        form = {"opponent": "human", "game": "romgon", "additions": ["flip", ""]}
        answer = client.post("/rooms", form, follow=True)
        (message,) = answer.context["messages"]
        assert str(message).startswith("additions.1: ")
        assert "ErrorDetail(" not in answer.text

    @pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
    def test_too_long_or_strange_log_ins_are_refused(self, client: Client, name: str) -> None:
        assert client.post("/login", {"username": name, "password": "x"}).status_code == 200

    @pytest.mark.parametrize("name", ["MENACE", "menace2", "Guest", "ALICE"])
    def test_a_taken_name_cannot_be_used_again(self, client: Client, name: str) -> None:
        factories.user("alice")
        form = {"username": name, "email": "", "password1": "a good password", "password2": "a good password"}
        assert "username" in client.post("/signup", form).context["form"].errors

    def test_the_database_compares_names_without_case(self) -> None:
        accounts = get_user_model().objects
        factories.user("alice")
        with pytest.raises(ValidationError, match="taken"), transaction.atomic():
            factories.user("Alice")
        with pytest.raises(IntegrityError, match="auth_user_username_any_case"):
            accounts.bulk_create([accounts.model(username="Alice")])

    def test_fault_is_json_for_programs_and_a_page_for_people(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def raise_error(*_: Any, **__: Any) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("games.live.api.room_state_get", raise_error)
        monkeypatch.setattr("learning.views.lobby.match_list_live", raise_error)
        client.raise_request_exception = False
        program = client.get("/api/rooms/abcdef")
        assert (program.status_code, program.json()["code"]) == (500, "error")
        person = client.get("/")
        assert person.status_code == 500
        assert b"Something broke on our side" in person.content

    def test_limited_pages_explain_the_limit(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(WriteThrottle, "THROTTLE_RATES", {"write": "3/min"})
        form = {"game": NC, "opponent": "perfect", "side": "X"}
        assert [client.post("/rooms", form).status_code for _ in range(4)] == [302, 302, 302, 429]
        assert Room.objects.count() == 3


@pytest.mark.django_db
class TestPrivacy:
    def test_the_about_page_states_the_configured_retention(self, client: Client, settings: Any) -> None:
        settings.KEEP_GUEST_MATCHES_DAYS, settings.KEEP_MATCHES_DAYS, settings.KEEP_LOG_INS_DAYS = 17, 170, 71
        page = client.get("/about").content.decode()
        assert "Matches of guests are stored for 17 days, and matches of accounts for 170 days." in page
        assert "after 71 days." in page

    def test_private_machine_exists_only_for_owner_and_staff(self, client: Client) -> None:
        owner = factories.user("owner")
        private_machine = machine(owner=owner, is_public=False)
        body = {"opponent": "machine", "machine": private_machine.slug}
        assert client.get(f"/machines/{private_machine.pk}").status_code == 404
        assert client.get(f"/machines/{private_machine.pk}/boxes/....X....").status_code == 404
        refused = client.post("/api/rooms", body, "application/json")
        assert (refused.status_code, refused.json()["code"]) == (404, "machine_not_found")
        client.force_login(owner)
        assert client.get(f"/machines/{private_machine.pk}").status_code == 200
        assert client.post("/api/rooms", body, "application/json").status_code == 201
        client.force_login(factories.user("staff", is_staff=True))
        assert client.get(f"/machines/{private_machine.pk}").status_code == 200

    def test_a_copy_made_for_a_room_plays_in_that_room_only(self) -> None:
        seat = room("machine", machine=machine().slug, fresh=True)
        copy = Machine.objects.get(room=seat.room)
        with pytest.raises(rooms.exceptions.PlayError, match="its own room"):
            room("machine", guest(2), machine=copy.slug)

    def test_a_socket_loses_its_rights_with_the_session(self, client: Client) -> None:
        from games.accounts.identity import principal_of_scope

        client.post("/rooms", {"game": NC, "opponent": "perfect", "side": "X"})
        cookie = f"sessionid={client.session.session_key}".encode()
        scope = {"headers": [(b"cookie", cookie)], "query_string": b""}
        assert principal_of_scope(scope, "play").guest is not None
        client.session.flush()
        assert replace(principal_of_scope(scope, "play"), address="") == Principal()

    def test_another_site_cannot_use_a_guests_session(self) -> None:
        browser = Client(enforce_csrf_checks=True)
        page = browser.get("/login")
        form = {"game": NC, "opponent": "perfect", "side": "X"}
        csrf_field = {"csrfmiddlewaretoken": str(page.context["csrf_token"])}
        assert browser.post("/rooms", {**form, **csrf_field}).status_code == 302
        url = f"/api/rooms/{Room.objects.get().code}/resign"
        forged = browser.post(url, "{}", "application/json")
        assert (forged.status_code, forged.json()["code"]) == (403, "permission_denied")
        honest = browser.post(url, "{}", "application/json", headers={"X-CSRFToken": str(page.context["csrf_token"])})
        assert honest.status_code == 200


@pytest.mark.django_db
class TestDeletedMachines:
    def test_room_of_a_deleted_machine_can_be_read_and_ended(self) -> None:
        seat = room("machine", machine=machine().slug)
        factories.play(seat, guest(), "5")
        Machine.objects.all().delete()
        state = room_state_get(code=seat.room.code)
        assert (state["status"], state["learning"]) == ("playing", None)
        state = factories.play(seat, guest(), state["legal_moves"][0])
        assert state["status"] == "finished"

    def test_a_machine_deleted_before_a_resignation(self) -> None:
        seat = room("machine", machine=machine().slug)
        Machine.objects.all().delete()
        assert match_resign(code=seat.room.code, person=guest())["status"] == "finished"


@pytest.mark.django_db(transaction=True)
class TestBrokerOutage:
    @pytest.fixture
    def broker_outage(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make every connection to Redis fail as in an outage."""

        def refuse_connection(*_: Any, **__: Any) -> Any:
            raise RedisConnectionError("Error 111 connecting")

        monkeypatch.setattr("redis.connection.AbstractConnection.connect", refuse_connection)
        monkeypatch.setattr("redis.connection.AbstractConnection.send_packed_command", refuse_connection)

    def test_pages_and_api_work_without_the_broker(self, client: Client, broker_outage: None) -> None:
        factories.house_machines()
        assert cache.get("anything", "nothing") == "nothing"
        assert client.get("/").status_code == 200
        room_response = client.post("/api/rooms", {"opponent": "menace"}, "application/json")
        assert room_response.status_code == 201
        move_response = client.post(
            f"/api/rooms/{room_response.json()['code']}/move",
            {"move": "5", "seat_token": room_response.json()["seat_token"]},
            "application/json",
        )
        assert (move_response.status_code, move_response.json()["ply"]) == (200, 2)

    async def test_the_other_player_gets_the_move_with_the_next_ping(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The broker is away, so the other player's page learns of the move from the answer to its ping."""
        seat = await in_db(room)("human")
        joined = await in_db(room_join)(code=seat.room.code, person=guest(2))

        async def refuse_connection(*_: Any) -> None:
            raise RedisConnectionError("Error 111 connecting")

        monkeypatch.setattr(get_channel_layer(), "group_send", refuse_connection)
        async with Socket(seat.room.code, seat.token) as crosses, Socket(seat.room.code, joined.token) as noughts:
            await crosses.expect("joined")
            await noughts.expect("joined")
            await crosses.frame("move", {"move": "5"})
            state = await crosses.expect("state")
            await noughts.frame("ping")
            assert await noughts.expect("state") == state
            assert (await noughts.expect("pong"))["version"] == state["version"]


@pytest.mark.django_db(transaction=True)
def test_a_room_read_during_play_is_consistent() -> None:
    learner = machine()
    seat = room("machine", machine=learner.slug)
    is_over = threading.Event()

    def play_moves() -> None:
        try:
            for _ in range(8):
                play_out(seat.room.code, guest())
                room_reset(code=seat.room.code, person=guest())
        finally:
            is_over.set()

    def read_states() -> None:
        while not is_over.is_set():
            state = room_state_get(code=seat.room.code)
            assert len(state["moves"]) == state["ply"]
            draw_plies = [draw["ply"] for draw in (state["learning"] or {"draws": []})["draws"]]
            assert all(ply < state["ply"] for ply in draw_plies)

    assert at_once(play_moves, read_states, read_states, read_states) == []


@pytest.mark.django_db(transaction=True)
def test_concurrent_signup_and_rematch_keep_every_seat() -> None:
    account = factories.user("ada")
    for number in range(6):
        seat = room("perfect", guest(number + 10))
        match_resign(code=seat.room.code, person=guest(number + 10))
        faults = at_once(
            lambda code=seat.room.code, n=number: room_reset(code=code, person=guest(n + 10)),
            lambda n=number: seats_claim(user_id=account.pk, name="ada", guest=guest(n + 10).guest),
        )
        # If the account has claimed the seat first, the rematch of the guest is refused.
        assert all(isinstance(fault, rooms.exceptions.NotAPlayerError) for fault in faults)
        with transaction.atomic():
            human_seats = [s for m in seat.room.matches.all() for s in m.seats.all() if s.player == "human"]
        assert all(seat.user_id == account.pk for seat in human_seats)
