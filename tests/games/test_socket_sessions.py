"""Sockets read session and account for every frame that writes, since both can end while a socket is open."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.auth import get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from games.accounts.authentication import user_and_session_of_socket
from games.accounts.identity import principal_of_scope
from tests.factories import NC, guest, person, room, user
from tests.sockets import RunSocket, session_of

in_db = database_sync_to_async

pytestmark = pytest.mark.django_db(transaction=True)


def end_session(key: str) -> None:
    Session.objects.filter(pk=key).delete()


def expire_session(key: str) -> None:
    Session.objects.filter(pk=key).update(expire_date=timezone.now() - timedelta(seconds=1))


def tamper_with_session(key: str) -> None:
    session = Session.objects.get(pk=key)
    Session.objects.filter(pk=key).update(session_data=session.session_data[:-1] + "?")


def change_password(key: str) -> None:
    account = get_user_model().objects.get()
    account.set_password("another")
    account.save()


def close_account(key: str) -> None:
    get_user_model().objects.update(is_active=False)


def change_guest(key: str) -> None:
    session = SessionStore(key)
    session["guest"] = str(guest(2).guest)
    session.save()


def open_room_as_guest() -> tuple[str, str]:
    """Open a room as a guest, and return its code and the session key."""
    browser = Client()
    form = {"game": NC, "opponent": "perfect", "side": "X"}
    room = browser.post("/api/rooms", form, content_type="application/json")
    return room.json()["code"], browser.cookies["sessionid"].value


def open_room_as_account() -> tuple[str, str]:
    """Open a room with an account, and return its code and the session key."""
    account = user()
    return room("perfect", person(account)).room.code, session_of(account)


@pytest.mark.parametrize(
    ("take_seat", "change"),
    [
        *((open_room_as_guest, change) for change in (end_session, expire_session, tamper_with_session, change_guest)),
        *((open_room_as_account, change) for change in (end_session, expire_session, change_password, close_account)),
    ],
)
async def test_a_changed_session_loses_its_seat_at_once(
    take_seat: Callable[[], tuple[str, str]], change: Callable[[str], None]
) -> None:
    code, key = await in_db(take_seat)()
    async with RunSocket(f"/api/rooms/{code}/ws", session=key) as socket:
        state = (await socket.expect("joined"))["state"]
        await socket.send_json_to({"type": "move", "data": {"move": "5"}})
        state = await socket.expect("state")
        await in_db(change)(key)
        await socket.send_json_to({"type": "move", "data": {"move": state["legal_moves"][0]}})
        assert (await socket.expect("error"))["code"] == "not_a_player"


def socket_scope(**headers: str) -> dict[str, Any]:
    return {"headers": [(name.encode(), value.encode()) for name, value in headers.items()]}


@pytest.mark.parametrize(("take_seat", "n_statements"), [(open_room_as_guest, 1), (open_room_as_account, 2)])
def test_the_principal_is_read_in_few_statements(take_seat: Callable[[], tuple[str, str]], n_statements: int) -> None:
    scope = socket_scope(cookie=f"other=1; sessionid={take_seat()[1]}")
    with CaptureQueriesContext(connection) as queries:
        principal = principal_of_scope(scope, "play")
    assert len(queries) == n_statements
    assert (principal.guest is None) == (principal.user_id is not None)


def test_without_a_session_nothing_is_read() -> None:
    with CaptureQueriesContext(connection) as queries:
        visitor, session = user_and_session_of_socket(socket_scope(cookie="other=1"), "play")
    assert (visitor.is_anonymous, session, len(queries)) == (True, None, 0)
