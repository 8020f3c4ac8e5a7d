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
from games.live.rooms import room_reset, room_state_get
from games.models import Room
from learning.services.personal_machines import personal_machine_play
from tests import factories
from tests.factories import guest, play, room

pytestmark = pytest.mark.django_db

# Upper limits, never to be raised. Live play may need 6 for a move with a machine's answer, and 4 more at the end.
MAX_MOVE_STATEMENTS = 3
MAX_FURTHER_END_STATEMENTS = 4
MAX_NEW_MATCH_STATEMENTS = 3
MAX_NEW_ROOM_STATEMENTS = 4
MAX_FURTHER_COPY_STATEMENTS = 6
MAX_PERSONAL_MACHINE_STATEMENTS = 2
TRANSACTION_STATEMENTS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")


def statements_of(call: Any) -> list[str]:
    """Return the statements of a call, without those that begin or end a transaction."""
    return [sql for sql in all_statements_of(call) if not sql.startswith(TRANSACTION_STATEMENTS)]


def all_statements_of(call: Any) -> list[str]:
    """Return all SQL statements of a call, in order."""
    with CaptureQueriesContext(connection) as queries:
        call()
    return [one["sql"] for one in queries]


def test_a_move_that_a_machine_answers_takes_few_statements() -> None:
    machine = factories.machine(Side.SECOND)
    seated = room("machine", machine=str(machine.pk))
    play(seated, guest(), "5")  # fills the caches for the next move
    state = room_state_get(code=seated.room.code)
    move, ply = state["legal_moves"][0], state["ply"]
    statements = all_statements_of(lambda: match_play_move(code=seated.room.code, person=guest(), move=move, ply=ply))
    assert room_state_get(code=seated.room.code)["ply"] == ply + 2, "the machine has answered"
    assert len(statements) <= MAX_MOVE_STATEMENTS, "\n".join(
        statements
    )  # one statement stores everything, in its own transaction


def test_a_guest_at_a_socket_takes_one_more_statement() -> None:
    session = SessionStore()
    session["guest"] = str(guest().guest)
    session.save()
    scope = {"headers": [(b"cookie", f"sessionid={session.session_key}".encode())]}
    statements = statements_of(lambda: principal_of_scope(scope, "play"))
    assert replace(principal_of_scope(scope, "play"), address="") == guest()
    assert len(statements) == 1, "\n".join(statements)


def test_session_and_room_are_read_together() -> None:
    session = SessionStore()
    session["guest"] = str(guest().guest)
    session.save()
    scope = {"headers": [(b"cookie", f"sessionid={session.session_key}".encode())]}
    player, seated = principal_of_scope(scope, "play"), room("random")
    play(seated, player, "5")
    statements = all_statements_of(
        lambda: play(seated, player, room_state_get(code=seated.room.code)["legal_moves"][0])
    )
    assert sum("django_session" in sql for sql in statements) == 1
    assert len([sql for sql in statements if not sql.startswith("SET")]) <= MAX_MOVE_STATEMENTS, "\n".join(statements)
    session["more"] = "of it"
    session.save()
    for call in (match_resign, room_reset, match_step):
        with pytest.raises(SessionChangedError):
            call(code=seated.room.code, person=player)


def test_the_last_move_takes_few_more_statements() -> None:
    roles_left = {"X", "O"}
    while roles_left:  # both sides have to end a match; the machine's moves are random
        machine = factories.machine(Side.SECOND)  # without empty boxes that would be refilled
        seated = room("machine", machine=str(machine.pk))
        state = room_state_get(code=seated.room.code)
        while state["status"] == "playing":
            move = state["legal_moves"][0]
            statements = statements_of(lambda: play(seated, guest(), move))  # noqa: B023 - called at once
            state = room_state_get(code=seated.room.code)
        roles_left.discard(state["moves"][-1]["role"])
        assert machine.lessons.count() == 1
        assert len(statements) <= MAX_MOVE_STATEMENTS + MAX_FURTHER_END_STATEMENTS, "\n".join(statements)


def test_a_rematch_takes_few_statements() -> None:
    factories.house_machines()
    seated = room("menace")
    factories.play_out(seated.room.code, guest())
    statements = statements_of(lambda: room_reset(code=seated.room.code, person=guest()))
    assert len(statements) <= MAX_NEW_MATCH_STATEMENTS, "\n".join(statements)


def test_a_new_room_takes_few_statements() -> None:
    factories.house_machines()
    statements = statements_of(lambda: room("menace", person=replace(guest(), address="somewhere")))
    assert len(statements) <= MAX_NEW_ROOM_STATEMENTS, "\n".join(statements)


def test_a_copy_for_a_room_takes_few_more_statements() -> None:
    factories.house_machines()
    statements = statements_of(lambda: room("menace", person=replace(guest(), address="somewhere"), fresh=True))
    assert len(statements) <= MAX_NEW_ROOM_STATEMENTS + MAX_FURTHER_COPY_STATEMENTS, "\n".join(statements)


def test_an_existing_personal_machine_takes_few_statements() -> None:
    first_seated = personal_machine_play(person=guest(), game=factories.NC)
    statements = statements_of(lambda: personal_machine_play(person=guest(), game=factories.NC))
    assert len(statements) <= MAX_PERSONAL_MACHINE_STATEMENTS, "\n".join(statements)
    match_resign(code=first_seated.room.code, person=guest())
    statements = statements_of(
        lambda: personal_machine_play(person=replace(guest(), address="somewhere"), game=factories.NC)
    )
    assert Room.objects.count() == 2
    # The machine plays the first move, and opens a box.
    assert len(statements) <= MAX_PERSONAL_MACHINE_STATEMENTS + MAX_NEW_ROOM_STATEMENTS + 2, "\n".join(statements)
