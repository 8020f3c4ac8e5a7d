"""The SQL statements of a move: each is a round trip while the room is locked."""

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection
from django.test.utils import CaptureQueriesContext

from beadbox.rules.outcome import Side
from games.accounts.identity import principal_of_scope
from games.exceptions import SessionChangedError
from games.live.play import match_play_move, match_resign, match_step
from games.live.rooms import room_look, room_reset
from games.models import Room
from learning.services.personal_machines import personal_machine_play
from tests import factories
from tests.factories import guest, play, room

pytestmark = pytest.mark.django_db

# Upper limits, never to be raised. Live play may need 6 for a move with a machine's answer, and 4 more at the end.
OF_A_MOVE = 3
MORE_AT_THE_END = 4
OF_A_NEW_MATCH = 3
OF_A_NEW_ROOM = 4
OF_A_COPY = 6
OF_A_READY_PERSONAL_MACHINE = 2
OF_TRANSACTIONS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")


def asked(call: Any) -> list[str]:
    """The statements of a call, without those that begin or end a transaction."""
    return [sql for sql in sent(call) if not sql.startswith(OF_TRANSACTIONS)]


def sent(call: Any) -> list[str]:
    """All SQL statements of a call, in order."""
    with CaptureQueriesContext(connection) as queries:
        call()
    return [one["sql"] for one in queries]


def test_a_move_that_a_machine_answers_takes_few_statements() -> None:
    machine = factories.machine(Side.SECOND)
    seated = room("machine", machine=str(machine.pk))
    play(seated, guest(), "5")  # fills the caches for the next move
    state = room_look(code=seated.room.code)
    move, ply = state["legal_moves"][0], state["ply"]
    found = sent(lambda: match_play_move(code=seated.room.code, person=guest(), move=move, ply=ply))
    assert room_look(code=seated.room.code)["ply"] == ply + 2, "the machine has answered"
    assert len(found) <= OF_A_MOVE, "\n".join(found)  # one statement stores everything, in its own transaction


def test_a_guest_at_a_socket_is_known_by_one_more() -> None:
    session = SessionStore()
    session["guest"] = str(guest().guest)
    session.save()
    scope = {"headers": [(b"cookie", f"sessionid={session.session_key}".encode())]}
    found = asked(lambda: principal_of_scope(scope, "play"))
    assert replace(principal_of_scope(scope, "play"), address="") == guest()
    assert len(found) == 1, "\n".join(found)


def test_whether_the_session_stands_is_asked_with_the_room() -> None:
    session = SessionStore()
    session["guest"] = str(guest().guest)
    session.save()
    scope = {"headers": [(b"cookie", f"sessionid={session.session_key}".encode())]}
    who, seated = principal_of_scope(scope, "play"), room("random")
    play(seated, who, "5")
    found = sent(lambda: play(seated, who, room_look(code=seated.room.code)["legal_moves"][0]))
    assert sum("django_session" in sql for sql in found) == 1
    assert len([sql for sql in found if not sql.startswith("SET")]) <= OF_A_MOVE, "\n".join(found)
    session["more"] = "of it"
    session.save()
    for call in (match_resign, room_reset, match_step):
        with pytest.raises(SessionChangedError):
            call(code=seated.room.code, person=who)


def test_the_move_that_ends_a_match_takes_few_more() -> None:
    unseen = {"X", "O"}
    while unseen:  # both sides have to end a match; the machine's moves are random
        machine = factories.machine(Side.SECOND)  # without empty boxes that would be refilled
        seated = room("machine", machine=str(machine.pk))
        state = room_look(code=seated.room.code)
        while state["status"] == "playing":
            move = state["legal_moves"][0]
            found = asked(lambda: play(seated, guest(), move))  # noqa: B023 - called at once
            state = room_look(code=seated.room.code)
        unseen.discard(state["moves"][-1]["role"])
        assert machine.lessons.count() == 1
        assert len(found) <= OF_A_MOVE + MORE_AT_THE_END, "\n".join(found)


def test_playing_again_takes_few() -> None:
    factories.house()
    seated = room("menace")
    factories.play_out(seated.room.code, guest())
    found = asked(lambda: room_reset(code=seated.room.code, person=guest()))
    assert len(found) <= OF_A_NEW_MATCH, "\n".join(found)


def test_a_room_for_a_guest_behind_an_address_takes_few() -> None:
    factories.house()
    found = asked(lambda: room("menace", who=replace(guest(), address="somewhere")))
    assert len(found) <= OF_A_NEW_ROOM, "\n".join(found)


def test_a_copy_for_it_takes_few_more() -> None:
    factories.house()
    found = asked(lambda: room("menace", who=replace(guest(), address="somewhere"), fresh=True))
    assert len(found) <= OF_A_NEW_ROOM + OF_A_COPY, "\n".join(found)


def test_back_to_ones_own_machine_takes_few() -> None:
    first = personal_machine_play(person=guest(), game=factories.NC)
    found = asked(lambda: personal_machine_play(person=guest(), game=factories.NC))
    assert len(found) <= OF_A_READY_PERSONAL_MACHINE, "\n".join(found)
    match_resign(code=first.room.code, person=guest())
    found = asked(lambda: personal_machine_play(person=replace(guest(), address="somewhere"), game=factories.NC))
    assert Room.objects.count() == 2
    # The machine begins, and opens a box.
    assert len(found) <= OF_A_READY_PERSONAL_MACHINE + OF_A_NEW_ROOM + 2, "\n".join(found)
