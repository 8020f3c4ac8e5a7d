"""A private machine in a live room: its owner sees everything, other viewers with the link see the board."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from channels.testing import WebsocketCommunicator
from django.db import connection
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.accounts.principal import Principal
from games.live import consumers
from games.live.play import match_play_move, match_step
from games.live.room_state import HIDDEN_SEAT_NAME
from games.live.rooms import SeatResult, room_create, room_enter, room_state_get
from games.models import Room
from learning.events import machine_changed
from learning.kinds.insights import redact_joined_insight
from learning.models import Machine, RunStage, Tournament
from learning.selectors.runs import stage_sentence
from learning.selectors.tournaments import tournament_view
from learning.services.copies import machine_clone
from learning.services.machines import machine_create, machine_delete
from learning.services.runs import Stage, training_run_start
from learning.services.schedules import Timing, schedule_create, schedule_fire
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play, tournament_tell
from learning.workers.runs import RUNS, run_execute
from menace_site.asgi import application, websocket_urlpatterns
from tests.factories import NC, guest, machine, person, play_out, room, room_view, run_retention, user
from tests.sockets import PAGE_HEADERS, RunSocket, Socket, session_of, token_of, tournament_after

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_samples")]
in_db = database_sync_to_async

BOARD_FIELDS = (
    "code",
    "version",
    "status",
    "board",
    "position",
    "ply",
    "turn",
    "legal_moves",
    "last_move",
    "outcome",
    "moves",
)


def texts(value: Any) -> Iterable[str]:
    """Yield every text, number and key in a JSON value."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)
    else:
        yield str(value)


def has_secret(state: dict[str, Any], secret: str = "Qxz") -> bool:
    return any(secret in text for text in texts(state))


def secret_room(**options: Any) -> tuple[Any, Machine, SeatResult]:
    owner = user("owner")
    hidden_machine = machine(owner=owner, name="Qxz", is_public=False)
    return (
        owner,
        hidden_machine,
        room(person=person(owner), **(options or {"opponent": "machine", "machine": hidden_machine.slug})),
    )


class ViewerSocket(Socket):
    """A browser's connection to a room, with its session."""

    def __init__(self, code: str, session: str) -> None:
        headers = [*PAGE_HEADERS, (b"cookie", f"sessionid={session}".encode())]
        WebsocketCommunicator.__init__(self, application, f"/api/rooms/{code}/ws", headers)


async def test_guest_sees_the_board_and_nothing_of_the_machine() -> None:
    owner, _hidden, seated = await in_db(secret_room)()
    session, read_token = await in_db(session_of)(owner), await in_db(token_of)(owner, "read")
    other_token = await in_db(token_of)(await in_db(user)("other"), "read", "play", "train")
    code = seated.room.code
    async with (
        ViewerSocket(code, session) as player,
        Socket(code) as stranger,
        Socket(code, bearer=read_token) as program,
        Socket(code, bearer=other_token) as other,
        Socket(code, seated.token) as friend,
    ):
        sockets = (player, stranger, program, other, friend)
        states = [(await socket.expect("joined"))["state"] for socket in sockets]
        while states[0]["status"] == "playing":
            for state, is_permitted in zip(states, (True, False, True, False, False), strict=True):
                assert [state[key] for key in BOARD_FIELDS] == [states[0][key] for key in BOARD_FIELDS]
                seat = state["seats"][1]
                assert has_secret(state) is is_permitted
                assert (seat["name"], seat["hidden"]) == (("Qxz", False) if is_permitted else (HIDDEN_SEAT_NAME, True))
                assert (seat["machine"] is not None, seat["kind"]) == (is_permitted, "machine")
                assert (state["learning"] is not None) == (is_permitted and state["ply"] > 0)
            await player.frame("move", {"move": states[0]["legal_moves"][0], "ply": states[0]["ply"]})
            states = [await socket.expect("state") for socket in sockets]
        assert states[0]["learning"]["lesson"]
        assert [state["learning"] is None for state in states] == [False, True, False, True, True]
        assert [state["outcome"] for state in states] == [states[0]["outcome"]] * 5
        for socket in sockets:
            await socket.frame("ping")
            assert (await socket.expect("pong"))["version"] == states[0]["version"]


def test_only_the_owner_sees_that_a_hidden_machine_resigned() -> None:
    owner = user("owner")
    hidden_machine = machine(Side.FIRST, owner=owner, is_public=False)
    for box in hidden_machine.boxes.filter(move_number=2):
        box.beads = box.start = [0] * len(box.beads)
        box.save()
    code = room("machine", person(owner), Side.SECOND, machine=hidden_machine.slug).room.code
    move = room_state_get(code=code)["legal_moves"][0]
    outcome_for_owner = match_play_move(code=code, person=person(owner), move=move)["outcome"]
    assert outcome_for_owner["termination"] == "empty_box"
    outcome = room_state_get(code=code)["outcome"]
    assert outcome == {
        "winner": outcome_for_owner["winner"],
        "termination": "resignation",
        "reason": "the loser resigned",
    }


async def test_view_follows_a_machine_hidden_or_shown_during_a_match() -> None:
    owner, hidden_machine, seated = await in_db(secret_room)()
    machines = Machine.objects.filter(pk=hidden_machine.pk)
    async with Socket(seated.room.code) as stranger:
        state = (await stranger.expect("joined"))["state"]
        for is_public in (True, False, True):
            await in_db(machines.update)(is_public=is_public)
            state = await in_db(match_play_move)(
                code=seated.room.code, person=person(owner), move=state["legal_moves"][0]
            )
            view = await stranger.expect("state")
            assert (has_secret(view), view["seats"][1]["hidden"], view["learning"] is not None) == (
                is_public,
                not is_public,
                is_public,
            )


async def test_a_logged_out_viewer_soon_gets_no_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "PRINCIPAL_MAX_AGE_S", 0.0)
    owner, _, seated = await in_db(secret_room)()
    session, read_token = await in_db(session_of)(owner), await in_db(token_of)(owner, "read")
    async with (
        ViewerSocket(seated.room.code, session) as browser,
        Socket(seated.room.code, bearer=read_token) as program,
    ):
        for socket in (browser, program):
            assert has_secret((await socket.expect("joined"))["state"])
        await in_db(owner.api_tokens.all().delete)()
        await in_db(_log_out)(session)
        await in_db(match_play_move)(code=seated.room.code, person=person(owner), move="5")
        for socket in (browser, program):
            assert not has_secret(await socket.expect("state"))


def _log_out(session: str) -> None:
    from games.accounts.authentication import SessionStore

    SessionStore(session).flush()


def open_exhibition(**fields: Any) -> tuple[Any, SeatResult]:
    """Return a public machine against a private one, hosted by their owner."""
    owner = user("owner")
    first = machine(Side.FIRST, owner=owner, name="Open", **fields)
    second = machine(Side.SECOND, owner=owner, name="Qxz", is_public=False)
    seated = room_create(person=person(owner), game=NC, first=first.slug, second=second.slug)
    return owner, seated


async def test_only_the_visible_machine_of_two_is_shown() -> None:
    owner, seated = await in_db(open_exhibition)()
    code = seated.room.code
    async with Socket(code) as stranger:
        assert not has_secret((await stranger.expect("joined"))["state"])
        whole_state: dict[str, Any] = {"status": "playing"}
        while whole_state["status"] == "playing":
            whole_state = await in_db(match_step)(code=code, person=person(owner))
            view = await stranger.expect("state")
            assert has_secret(whole_state)
            assert not has_secret(view)
            own_draws = [draw for draw in whole_state["learning"]["draws"] if draw["role"] == "X"]
            learning = view["learning"]
            assert learning["draws"] == own_draws
            assert (learning["role"], learning["machine"]["name"]) == ("X", "Open")
            assert (learning["box"], learning["slot"]) == (own_draws[-1]["box"]["position"], own_draws[-1]["slot"])
            assert learning["beads_before"] == [slot["beads"] for slot in own_draws[-1]["slots"]]
        assert [one["role"] for one in learning["lessons"]] == ["X"]
        assert learning["lesson"]["sentence"].startswith("Open")
        assert learning["changes"] == [one for one in whole_state["learning"]["changes"] if one["role"] == "X"]


async def test_a_taken_over_seat_shows_only_the_person() -> None:
    def take_over() -> tuple[Any, str]:
        owner = user("owner")
        hidden_machine = machine(Side.SECOND, owner=owner, name="Qxz", is_public=False)
        return owner, room("random", person(owner), takes_over=hidden_machine.slug).room.code

    owner, code = await in_db(take_over)()
    async with Socket(code) as stranger:
        await stranger.expect("joined")
        await in_db(play_out)(code, person(owner))
        view = {"status": "playing"}
        while view["status"] != "finished":  # states in quick succession are merged
            view = await stranger.expect("state")
            seat = view["seats"][1]
            assert (seat["name"], seat["takes_over"], seat["hidden"], seat["machine"]) == ("owner", True, True, None)
            assert (has_secret(view), view["learning"]) == (False, None)


def test_machines_with_values_are_hidden_likewise() -> None:
    owner = user("owner")
    for name, is_public in (("Qxz", False), ("Open", True)):
        machine_create(game="romgon", side=None, name=name, slug=name.lower(), owner=owner, is_public=is_public)
    code = room_create(person=person(owner), game="romgon", first="open", second="qxz").room.code
    for plies in (1, 1, 2):
        whole_state = match_step(code=code, person=person(owner), max_plies=plies)
        view = room_state_get(code=code)
        assert has_secret(whole_state)
        assert not has_secret(view)
        values, own_values = whole_state["learning"]["values"], view["learning"]["values"]
        role = view["seats"][0]["role"]
        assert own_values["plies"] == [one for one in values["plies"] if one["role"] == role]
        assert own_values["thought"] == (values["thought"] if values["thought"]["role"] == role else None)
        assert (view["learning"]["machine"]["name"], view["learning"]["role"]) == ("Open", role)
    code = room_create(person=person(owner), game="romgon", first="qxz", second="qxz").room.code
    match_step(code=code, person=person(owner), max_plies=2)
    assert room_state_get(code=code)["learning"] is None


def test_room_copies_are_hidden_like_their_originals() -> None:
    owner, hidden_machine, _seated = secret_room()
    for is_public, is_visible in ((False, False), (True, True)):
        Machine.objects.filter(pk=hidden_machine.pk).update(is_public=is_public)
        options = {"opponent": "machine", "machine": hidden_machine.slug, "fresh": True}
        code = room(person=person(owner), **options).room.code
        assert has_secret(room_state_get(code=code)) is is_visible
        assert has_secret(room_state_get(code=code, person=person(owner)))
    assert Machine.objects.filter(room__isnull=False, is_public=True).count() == 1


def test_a_private_house_machine_cannot_be_played() -> None:
    from learning.exceptions import MachineNotFoundError
    from tests.factories import house_machines

    machines = house_machines()
    Machine.objects.filter(pk=machines[Side.SECOND].pk).update(is_public=False)
    with pytest.raises(MachineNotFoundError):
        room("menace", guest())
    staff = user("staff", is_staff=True)
    assert room("menace", person(staff)).side == Side.FIRST


async def test_sockets_of_a_hidden_machine_and_run_end_with_next_news() -> None:
    def start_run() -> tuple[Machine, Any]:
        learner = machine(owner=user("owner"))
        return learner, training_run_start(machine=learner.slug, stages=[Stage("random", 10)], seed=1, enqueue=False)

    def hide_and_train(learner: Machine, run: Any) -> None:
        Machine.objects.filter(pk=learner.pk).update(is_public=False)
        machine_changed(Machine.objects.get(pk=learner.pk))
        claimed_run = RUNS.claim(run.pk)
        assert claimed_run is not None
        run_execute(claimed_run)

    learner, run = await in_db(start_run)()
    async with (
        RunSocket(f"/api/machines/{learner.pk}/ws") as machine_socket,
        RunSocket(f"/api/training-runs/{run.pk}/ws") as run_socket,
    ):
        for socket in (machine_socket, run_socket):
            await socket.expect("joined")
        await in_db(hide_and_train)(learner, run)
        for socket, code in ((machine_socket, "machine_not_found"), (run_socket, "run_not_found")):
            assert (await socket.expect("error"))["code"] == code


async def test_the_socket_of_a_run_hides_a_hidden_opponent() -> None:
    def start_run() -> tuple[Machine, Any, Any]:
        owner = user("owner")
        hidden_machine = machine(Side.FIRST, owner=owner, is_public=False)
        learner = machine(Side.SECOND, owner=owner)
        stages = [Stage(hidden_machine.slug, 10)]
        return hidden_machine, owner, training_run_start(machine=learner.slug, stages=stages, seed=1, enqueue=False)

    def train(run: Any) -> None:
        claimed_run = RUNS.claim(run.pk)
        assert claimed_run is not None
        run_execute(claimed_run)

    hidden_machine, owner, run = await in_db(start_run)()
    session = await in_db(session_of)(owner)
    path = f"/api/training-runs/{run.pk}/ws"
    async with RunSocket(path) as stranger, RunSocket(path, session=session) as editor:
        assert (await stranger.expect("joined"))["opponents"][0]["machine"] is None
        assert (await editor.expect("joined"))["opponents"][0]["machine"] == hidden_machine.pk
        await in_db(train)(run)
        for socket in (stranger, editor):
            state = await socket.expect("state")
            while state["status"] != "finished":
                state = await socket.expect("state")
            assert "opponents" not in state, "only the first frame names the opponents"


def start_tournament() -> tuple[Any, Tournament]:
    """Return a public tournament of another account; one of its machines was hidden after the start."""
    owner = user("owner")
    hidden_machine = machine(Side.SECOND, owner=owner, name="Qxz")
    open_machine = machine(Side.FIRST, name="Open")
    entries = [open_machine.slug, hidden_machine.slug, "random"]
    tournament = tournament_start(user=user("other"), entries=entries, games=2, seed=1, enqueue=False)
    tournament_play(tournament.pk)
    Machine.objects.filter(pk=hidden_machine.pk).update(is_public=False)
    tournament.refresh_from_db()
    return owner, tournament


def test_unknown_additions_of_a_kind_stay_hidden() -> None:
    """Additions to a kind's explanation that the audience check does not know are not sent."""
    seated = room("machine", machine=str(machine().pk))
    play_out(seated.room.code, guest())
    whole_insight = room_view(seated.room)["learning"]
    assert whole_insight is not None
    extended: Any = {**whole_insight, "beside": "what another kind thinks of itself"}
    assert redact_joined_insight(extended, {whole_insight["role"]: whole_insight["machine"]}) == whole_insight


async def test_tournament_hides_private_machines_and_their_beads() -> None:
    owner, tournament = await in_db(start_tournament)()
    session = await in_db(session_of)(owner)
    path = f"/api/tournaments/{tournament.pk}/ws"
    async with RunSocket(path) as stranger, RunSocket(path, session=session) as editor:
        states = [await socket.expect("joined") for socket in (stranger, editor)]
        for is_repeated in (False, True):
            public_view, whole_view = states
            assert (has_secret(public_view), has_secret(whole_view)) == (False, True)
            assert [entry["machine"] is None for entry in public_view["entries"]] == [False, True, True]
            for pairing, full in zip(public_view["pairings"], whole_view["pairings"], strict=True):
                meets = 1 in (pairing["first"], pairing["second"])
                assert pairing == ({**full, "expected": None} if meets else full)
            for line, full in zip(public_view["standings"], whole_view["standings"], strict=True):
                assert line == {**full, "expected": None}, "every player has met the hidden machine"
            for row, full in zip(public_view["crosstable"], whole_view["crosstable"], strict=True):
                for cell, full_cell in zip(row["against"], full["against"], strict=True):
                    meets = 1 in (row["entry"], cell["entry"])
                    assert cell == ({**full_cell, "expected": None} if meets else full_cell)
            if not is_repeated:
                await in_db(_send_state_again)(tournament)
                changes = [await socket.expect("state") for socket in (stranger, editor)]
                assert not any(has_secret(change) for change in changes), "the first frame has named it already"
                states = list(map(tournament_after, states, changes))


def _send_state_again(tournament: Tournament) -> None:
    tournament.version += 1
    tournament.save()
    tournament_tell(tournament)


def test_a_deleted_private_machine_leaves_no_name() -> None:
    owner, hidden_machine, seated = secret_room()
    exhibition = room_create(person=person(owner), game=NC, first="random", second=hidden_machine.slug)
    learner = machine(Side.FIRST, owner=owner)
    run = training_run_start(machine=learner.slug, stages=[Stage(hidden_machine.slug, 10)], seed=1, enqueue=False)
    Machine.objects.update(is_public=True)
    tournament = tournament_start(
        user=owner, entries=[learner.slug, hidden_machine.slug], games=2, seed=1, enqueue=False
    )
    Machine.objects.filter(pk=hidden_machine.pk).update(is_public=False)
    machine_delete(user=owner, machine_id=hidden_machine.pk)
    for code in (seated.room.code, exhibition.room.code):
        assert not has_secret(room_state_get(code=code))
        assert room_state_get(code=code)["seats"][1]["name"] == "A deleted machine"
    assert stage_sentence(RunStage.objects.get()) == "10 games against a deleted machine"
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    assert run_execute(claimed_run).error == "Its opponent was deleted, so training against it stopped."
    assert not has_secret(tournament_view(tournament))


def test_the_reason_of_a_stop_names_no_hidden_machine() -> None:
    owner, tournament = start_tournament()
    Tournament.objects.filter(pk=tournament.pk).update(error="EntryGoneError: Qxz was deleted or made to forget")
    tournament.refresh_from_db()
    assert tournament_view(tournament)["error"] == "It had to stop, and a machine that is not public takes part in it."
    assert has_secret(tournament_view(tournament, Principal.of(owner)))
    machine_delete(user=owner, machine_id=Machine.objects.get(name="Qxz").pk)
    tournament.refresh_from_db()
    assert tournament_view(tournament)["error"] == "It had to stop, and a deleted machine took part in it."


def test_a_private_copy_deleted_by_retention_leaves_no_name() -> None:
    owner, hidden_machine, _ = secret_room()
    code = room(person=person(owner), opponent="machine", machine=hidden_machine.slug, fresh=True).room.code
    owner.delete()
    Room.objects.update(changed_at=timezone.now() - timedelta(days=400))
    run_retention()
    assert list(Machine.objects.all()) == [hidden_machine]
    assert room_state_get(code=code)["seats"][1]["name"] == "A deleted machine"


def test_schedule_does_not_name_an_opponent_hidden_since() -> None:
    owner, other = user("owner"), user("other")
    hidden_machine, learner = machine(Side.FIRST, owner=owner, name="Qxz"), machine(Side.SECOND, owner=other)
    schedule = schedule_create(
        user=other, machine=learner.slug, stages=[Stage(hidden_machine.slug, 10)], timing=Timing(crontab="0 3 * * *")
    )
    Machine.objects.filter(pk=hidden_machine.pk).update(is_public=False)
    type(schedule).objects.update(next_at=schedule.created_at)
    assert schedule_fire(schedule_id=schedule.pk) is None
    schedule.refresh_from_db()
    assert schedule.note == "An opponent is now private. Choose another opponent."


def test_every_socket_is_tested_here() -> None:
    paths = {str(pattern.pattern) for pattern in websocket_urlpatterns} - {""}
    assert paths == {
        "^api/rooms/(?P<code>[^/]{1,200})/ws$",
        "^api/site/ws$",  # the same for every client, without data of others
        r"^api/machines/(?P<machine_id>\d{1,18})/ws$",
        r"^api/training-runs/(?P<run_id>\d{1,18})/ws$",
        r"^api/classes/(?P<classroom_id>\d{1,18})/ws$",  # tests/learning/test_class_table.py
        r"^api/tournaments/(?P<tournament_id>\d{1,18})/ws$",
    }


def test_a_seat_token_gives_no_rights_of_an_account() -> None:
    owner, _, seated = secret_room()
    holder = Principal(token=seated.token)
    assert not has_secret(room_enter(code=seated.room.code, person=holder).view)
    assert not has_secret(match_play_move(code=seated.room.code, person=holder, move="5"))
    assert has_secret(room_enter(code=seated.room.code, person=person(owner)).view)


def test_credentials_added_to_an_account_change_no_view() -> None:
    owner, _, seated = secret_room()
    owner_person, other_person = person(owner), person(user("other"))
    view = room_state_get(code=seated.room.code, person=owner_person)
    assert has_secret(view)
    credentials: dict[str, Any] = {"guest": uuid4(), "address": "somewhere", "token": seated.token, "name": "Ada"}
    for key, value in credentials.items():
        assert room_state_get(code=seated.room.code, person=replace(owner_person, **{key: value})) == view, key
        assert not has_secret(room_state_get(code=seated.room.code, person=replace(other_person, **{key: value}))), key


def test_older_copies_have_the_visibility_of_their_originals() -> None:
    migration = import_module("learning.migrations.0010_copies_as_public").Migration
    owner, hidden_machine, _ = secret_room()
    open_machine = machine(owner=owner)
    is_public_by_pk = {}
    for original in (open_machine, hidden_machine):
        copy = machine(room=room().room, copied_from=original)
        is_public_by_pk[copy.pk] = original.is_public
    orphan = machine(room=room().room)
    own_copy = machine_clone(machine_id=open_machine.pk, name="own")
    Machine.objects.filter(pk__in=[*is_public_by_pk, orphan.pk, own_copy.pk]).update(is_public=False)
    with connection.cursor() as cursor:
        cursor.execute(migration.operations[0].sql)
    is_public_by_pk |= {open_machine.pk: True, hidden_machine.pk: False, orphan.pk: False, own_copy.pk: False}
    assert dict(Machine.objects.values_list("pk", "is_public")) == is_public_by_pk
