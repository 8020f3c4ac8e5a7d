"""The socket of a room, through the real ASGI application: two sockets in one match, and unreadable frames."""

import asyncio
import json
import threading
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.db import OperationalError, connections
from django.utils import timezone

from games.exceptions import RoomNotFoundError, UnavailableError
from games.live import consumers
from games.live.consumers import frame_text, in_thread
from games.live.rooms import SeatResult, room_create, room_join
from games.models import ApiToken, Ply, Room
from tests.factories import NC, guest, house_machines, person, room, room_view, user
from tests.sockets import Socket, token_of

# Close the thread's connection after each call, as the consumers do.
in_db = database_sync_to_async

pytestmark = pytest.mark.django_db(transaction=True)


async def open_room(opponent: str = "human", **options: Any) -> SeatResult:
    return await in_db(room)(opponent, **options)


async def test_two_sockets_play_one_match_and_a_third_watches() -> None:
    seat = await open_room()
    joined = await in_db(room_join)(code=seat.room.code, person=guest(2))
    async with (
        Socket(seat.room.code, seat.token) as crosses,
        Socket(seat.room.code, joined.token) as noughts,
        Socket(seat.room.code) as watcher,
    ):
        assert [(await s.expect("joined"))["role"] for s in (crosses, noughts, watcher)] == ["X", "O", None]
        for socket, move in ((crosses, "1"), (noughts, "4"), (crosses, "2"), (noughts, "5"), (crosses, "3")):
            await socket.frame("move", {"move": move})
            states = [await s.expect("state") for s in (crosses, noughts, watcher)]
            assert states[0] == states[1] == states[2]
        assert states[0]["outcome"]["winner"] == "X"
        await noughts.frame("reset", {"swap": True})
        states = [await s.expect("state") for s in (crosses, noughts, watcher)]
        assert [s["number"] for s in states] == [2, 2, 2]
        await noughts.frame("move", {"position": 9, "ply": 0})
        assert (await crosses.expect("state"))["position"] == "........X"


async def test_a_token_of_another_room_watches_and_gets_an_error() -> None:
    seat, other = await open_room(), await open_room()
    async with Socket(seat.room.code, other.token) as stranger:
        assert (await stranger.expect("joined"))["role"] is None
        error = await stranger.expect("error")
        assert error == {"code": "not_a_player", "detail": consumers.UNKNOWN_SEAT_TEXT}


async def test_a_move_sent_twice_is_played_once_and_refused_once() -> None:
    seat = await open_room("perfect")
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        for _ in range(2):
            await socket.frame("move", {"move": "5", "ply": 0})
        # The state arrives through the group and the error directly, in either order.
        frames = [await socket.receive_json_from() for _ in range(2)]
        answers = {frame["type"]: frame["data"] for frame in frames}
        assert (answers["state"]["ply"], answers["error"]["code"]) == (2, "stale_ply")
    assert await in_db(Ply.objects.count)() == 2


async def test_machine_answers_show_boxes_and_beads_change_at_the_end() -> None:
    await in_db(house_machines)()
    seat = await open_room("menace")
    async with Socket(seat.room.code, seat.token) as socket:
        state = (await socket.expect("joined"))["state"]
        assert state["learning"] is None
        while state["status"] == "playing":
            await socket.frame("move", {"move": state["legal_moves"][0], "ply": state["ply"]})
            state = await socket.expect("state")
    learning = state["learning"]
    assert [draw["ply"] for draw in learning["draws"]] == list(range(1, state["ply"], 2))[: len(learning["draws"])]
    for draw in learning["draws"]:
        assert sum(slot["probability"] for slot in draw["slots"]) == pytest.approx(1)
        assert draw["move"] in draw["slots"][draw["slot"]]["moves"]
    assert learning["changes"], "every game against MENACE changes beads"
    assert all(c["after"] - c["before"] == c["delta"] for c in learning["changes"])


async def test_a_returning_player_continues_the_match() -> None:
    seat = await open_room("perfect")
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        await socket.frame("move", {"move": "5"})
        state = await socket.expect("state")
    async with Socket(seat.room.code, seat.token) as socket:
        joined = await socket.expect("joined")
        assert (joined["role"], joined["state"]) == ("X", state)
        await socket.frame("move", {"move": state["legal_moves"][0], "ply": 2})
        assert (await socket.expect("state"))["ply"] == 4


UNREADABLE_FRAMES = {
    "malformed_frame": [" ", "{", "[]", '"move"', '{"data": {}}', '{"type": 5}', '{"type": "move", "data": []}'],
    "unknown_frame": ['{"type": "castle"}', '{"type": ""}'],
    "frame_too_large": [json.dumps({"type": "move", "data": {"move": "5" * 16_384}})],
}


@pytest.mark.parametrize(
    ("code", "text"), [(code, text) for code, texts in UNREADABLE_FRAMES.items() for text in texts]
)
async def test_unreadable_frame_gets_a_typed_error(code: str, text: str) -> None:
    seat = await open_room("perfect")
    before = await in_db(room_view)(seat.room)
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        await socket.send_to(text_data=text)
        error = await socket.expect("error")
        assert error["code"] == code
        assert error["detail"]
        assert code != "unknown_frame" or "There are these: move, step, resign, draw, reset, ping." in error["detail"]
        await socket.frame("ping")
        await socket.expect("pong")
    assert await in_db(room_view)(await in_db(Room.objects.get)()) == before


async def test_bytes_get_a_typed_error() -> None:
    seat = await open_room("perfect")
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        await socket.send_to(bytes_data=b'{"type": "resign"}')
        assert (await socket.expect("error"))["code"] == "binary_frame"
    assert (await in_db(room_view)(seat.room))["status"] == "playing"


@pytest.mark.parametrize(
    "data",
    [{}, {"move": 5}, {"move": ""}, {"move": "5" * 21}, {"position": True}, {"move": "5", "ply": "0"}, {"move": None}],
)
async def test_refusal_of_an_unreadable_move_names_the_field(data: dict[str, Any]) -> None:
    seat = await open_room("perfect")
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        await socket.frame("move", data)
        error = await socket.expect("error")
    assert error["code"] == "malformed_frame"
    assert error["detail"].split(":")[0] in ("move", "ply")
    assert await in_db(Ply.objects.count)() == 0


@pytest.mark.parametrize("frame", [("move", {"move": "5"}), ("resign", None), ("reset", {"swap": False})])
async def test_a_spectator_may_only_watch(frame: tuple[str, Any]) -> None:
    seat = await open_room("perfect")
    async with Socket(seat.room.code) as watcher:
        await watcher.expect("joined")
        await watcher.frame(*frame)
        assert (await watcher.expect("error"))["code"] == "not_a_player"


async def test_unknown_room_is_reported_and_the_socket_closed() -> None:
    async with Socket("zzzzzz", "some-token") as socket:
        assert (await socket.expect("error"))["code"] == "room_not_found"
        assert (await socket.receive_output())["code"] == 4404


async def test_too_many_frames_are_slowed_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "FRAMES_PER_SECOND", 0.0)  # The test may send slowly on a busy machine.
    seat = await open_room("perfect")
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        for _ in range(60):
            await socket.frame("ping")
        kinds = [await socket.receive_json_from() for _ in range(60)]
    refused = [frame for frame in kinds if frame["type"] == "error"]
    assert len(refused) == 60 - consumers.FRAME_BURST
    assert {frame["data"]["code"] for frame in refused} == {"too_many_frames"}


async def test_a_program_plays_for_its_account_with_a_token() -> None:
    account = await in_db(user)()
    seat = await open_room("human", person=person(account))
    await in_db(room_join)(code=seat.room.code, person=guest(2))
    token = await in_db(token_of)(account, "read", "play")
    async with Socket(seat.room.code, bearer=token) as robot:
        assert (await robot.expect("joined"))["role"] == "X"
        await robot.frame("move", {"move": "5"})
        assert (await robot.expect("state"))["ply"] == 1
        await in_db(ApiToken.objects.update)(revoked_at=timezone.now())
        await robot.frame("resign")
        assert (await robot.expect("error"))["code"] == "token_revoked"
    assert (await in_db(room_view)(seat.room))["status"] == "playing"


@pytest.mark.parametrize(("scopes", "code"), [(["play"], "scope_missing"), ([], "token_invalid")])
async def test_a_token_without_the_read_scope_sees_no_room(scopes: list[str], code: str) -> None:
    account = await in_db(user)()
    seat = await open_room("human", person=person(account))
    token = await in_db(token_of)(account, *scopes) if scopes else "nonsense"
    async with Socket(seat.room.code, bearer=token) as robot:
        assert (await robot.expect("error"))["code"] == code
        assert (await robot.receive_output())["type"] == "websocket.close"


async def test_a_token_with_only_the_read_scope_cannot_move() -> None:
    account = await in_db(user)()
    seat = await open_room("perfect", person=person(account))
    async with Socket(seat.room.code, bearer=await in_db(token_of)(account, "read")) as robot:
        await robot.expect("joined")
        await robot.frame("move", {"move": "5"})
        assert (await robot.expect("error"))["code"] == "scope_missing"
    assert not await in_db(Ply.objects.exists)()


async def test_a_step_of_the_host_reaches_every_socket() -> None:
    seat = await in_db(room_create)(person=guest(), game=NC, first="random", second="win-block")
    async with Socket(seat.room.code, seat.token) as host, Socket(seat.room.code) as watcher:
        joined = [await socket.expect("joined") for socket in (host, watcher)]
        assert [(one["role"], one["host"]) for one in joined] == [(None, True), (None, False)]
        await host.frame("step", {"ply": 0})
        states = [await socket.expect("state") for socket in (host, watcher)]
        assert [state["ply"] for state in states] == [1, 1]
        await watcher.frame("step", {"ply": 1})
        assert (await watcher.expect("error"))["code"] == "not_the_host"
        await host.frame("step", {"ply": 1, "plies": 100})
        states = [await socket.expect("state") for socket in (host, watcher)]
        assert [state["status"] for state in states] == ["finished", "finished"]
        await host.frame("reset")
        assert [(await socket.expect("state"))["number"] for socket in (host, watcher)] == [2, 2]


@pytest.mark.parametrize("data", [{"plies": 0}, {"plies": 101}, {"plies": True}, {"plies": "9"}, {"ply": "1"}])
async def test_unreadable_steps_are_refused(data: dict[str, Any]) -> None:
    seat = await in_db(room_create)(person=guest(), game=NC, first="random", second="random")
    async with Socket(seat.room.code, seat.token) as host:
        await host.expect("joined")
        await host.frame("step", data)
        error = await host.expect("error")
        assert (error["code"], error["detail"].split(":")[0]) == ("malformed_frame", next(iter(data)))
    assert not await in_db(Ply.objects.exists)()


@pytest.mark.parametrize("fault", [None, ValueError, RoomNotFoundError, OperationalError])
async def test_a_thread_always_returns_its_connection(fault: type[Exception] | None) -> None:
    wrappers = []

    def work() -> None:
        Room.objects.exists()
        wrappers.append(connections["default"])
        assert wrappers[0].connection is not None
        if fault is not None:
            raise fault

    if fault is None:
        await in_thread(work)
    else:
        with pytest.raises(UnavailableError if fault is OperationalError else fault):
            await in_thread(work)
    assert wrappers[0].connection is None


async def test_a_state_is_read_and_encoded_once_for_all_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    seat, kinds = await open_room("perfect"), []

    def count_frames(kind: str, data: Any) -> str:
        kinds.append(kind)
        return frame_text(kind, data)

    monkeypatch.setattr(consumers, "frame_text", count_frames)
    async with (
        Socket(seat.room.code, seat.token) as mover,
        Socket(seat.room.code) as first,
        Socket(seat.room.code) as second,
    ):
        for each in (mover, first, second):
            await each.expect("joined")
        await mover.frame("move", {"move": "5"})
        states = [await each.expect("state") for each in (mover, first, second)]
        assert states[0] == states[1] == states[2]
        assert kinds.count("state") == 2, "one text is the answer to the mover, one is the broadcast to the others"


def test_only_the_last_few_states_are_cached() -> None:
    texts = consumers.StateTexts()
    for version in range(100):
        state: Any = {"version": version}
        assert json.loads(texts.text(state)) == {"type": "state", "data": {"version": version}}
        assert texts.text(state) is texts.text(state)


async def test_frames_do_not_wait_for_the_shared_thread() -> None:
    seat, may_end = await open_room("perfect"), threading.Event()
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        shared_thread_work = asyncio.create_task(sync_to_async(may_end.wait)())
        try:
            await socket.frame("move", {"move": "5"})
            assert (await socket.expect("state"))["ply"] == 2
        finally:
            may_end.set()
            await shared_thread_work
