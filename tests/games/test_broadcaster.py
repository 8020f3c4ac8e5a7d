"""Broadcasts to groups: sent by the loop for any thread, without waiting, and only to groups with subscribers."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.layers import InMemoryChannelLayer, get_channel_layer
from channels_redis.pubsub import RedisPubSubChannelLayer

from games.live.play import match_resign
from games.live.room_state import UnredactedState
from games.transport import broadcaster
from games.transport.broadcaster import (
    Broadcast,
    Broadcaster,
    broadcaster_close,
    broadcaster_open,
    count_listeners,
    deliver,
    group_write,
)
from menace_site.asgi import application
from tests.factories import guest, room
from tests.sockets import Socket

in_db = database_sync_to_async


@pytest.fixture
def sent_messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The messages sent to the broker: group and message."""
    layer, messages = get_channel_layer(), []
    send = layer.group_send

    async def record_message(group: str, message: Any) -> None:
        messages.append((group, message))
        await send(group, message)

    monkeypatch.setattr(layer, "group_send", record_message)
    return messages


class Listener:
    """A channel of this process that has joined groups."""

    def __init__(self, *groups: str) -> None:
        self.groups, self.layer = groups, get_channel_layer()

    async def __aenter__(self) -> "Listener":
        self.channel = await self.layer.new_channel()
        for group in self.groups:
            await self.layer.group_add(group, self.channel)
        return self

    async def __aexit__(self, *_: object) -> None:
        for group in self.groups:
            await self.layer.group_discard(group, self.channel)

    async def next_number(self) -> Any:
        return (await self.layer.receive(self.channel))["n"]


async def wait_until_sent() -> None:
    """Wait until no broadcast is left to send."""
    await broadcaster_close()
    Broadcaster.current = None


def numbered_message(n: int) -> dict[str, Any]:
    return {"type": "any", "n": n}


async def test_messages_without_subscribers_are_not_sent(sent_messages: list[Any]) -> None:
    broadcaster_open()
    async with Listener("heard") as listener:
        for group in ("heard", "unheard"):
            assert group_write(group, Broadcast(numbered_message(1)))
        assert await listener.next_number() == 1
        await wait_until_sent()
    assert [group for group, _ in sent_messages] == ["heard"]


async def test_superseded_messages_are_not_sent(sent_messages: list[Any]) -> None:
    broadcaster_open()
    async with Listener("heard") as listener:
        for n in (1, 2, 3):
            group_write("heard", Broadcast(numbered_message(n)))
        assert await listener.next_number() == 3
        await wait_until_sent()
    assert len(sent_messages) == 1


def state_json(version: int) -> Any:
    return {"code": "x", "version": version}


@pytest.mark.parametrize(
    ("states", "n_sent"),
    [([("mover", 1)], 0), ([("mover", 1), ("", 2)], 1), ([("mover", 2), ("", 1)], 0), ([("", 2), ("mover", 1)], 1)],
)
async def test_an_answered_socket_gets_newer_states_only(
    states: list[tuple[str, int]], n_sent: int, sent_messages: list[Any]
) -> None:
    """Threads may hand over two states in the wrong order. A socket with the newer state gets no older state."""
    broadcaster_open()
    async with Listener("room.x") as mover:
        for sender, version in states:
            UnredactedState(state_json(version), []).broadcast(mover.channel if sender else "")
        await wait_until_sent()
    assert [message["whole"]["version"] for _, message in sent_messages] == [2] * n_sent


async def test_a_group_gets_messages_no_faster_than_their_interval(sent_messages: list[Any]) -> None:
    broadcaster_open()

    def merge(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        return {**after, "n": before["n"] + after["n"]}

    async with Listener("slow", "fast") as listener:
        for n in (1, 10, 100):
            group_write("slow", Broadcast(numbered_message(n), merge=merge, min_interval_s=endless_s()))
            if n == 1:
                assert await listener.next_number() == 1, "the first message is sent at once"
        group_write("fast", Broadcast(numbered_message(5)))
        assert await listener.next_number() == 5, "other groups do not wait for the slow group"
        assert [group for group, _ in sent_messages] == ["slow", "fast"]
        await wait_until_sent()
        assert await listener.next_number() == 110, "the remaining messages are sent at the end"


def endless_s() -> float:
    """A timeout longer than any test, in seconds."""
    return 1e6


async def test_remaining_messages_go_out_when_the_server_stops() -> None:
    async with Listener("slow") as listener:
        server = ApplicationCommunicator(application, {"type": "lifespan"})
        await server.send_input({"type": "lifespan.startup"})
        assert (await server.receive_output())["type"] == "lifespan.startup.complete"
        for n in (1, 2):
            group_write("slow", Broadcast(numbered_message(n), min_interval_s=endless_s()))
            if n == 1:
                await listener.next_number()
        await server.send_input({"type": "lifespan.shutdown"})
        assert (await server.receive_output())["type"] == "lifespan.shutdown.complete"
        assert await listener.next_number() == 2
    Broadcaster.current = None


async def test_broadcaster_ends_with_its_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broadcaster ends even if the broker's client swallows the cancellation."""
    is_called = asyncio.Event()

    async def swallow_cancellation(*_: Any) -> dict[str, int]:
        is_called.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return {}

    monkeypatch.setattr(broadcaster, "count_listeners", swallow_cancellation)
    broadcaster_open()
    current, Broadcaster.current = Broadcaster.current, None
    assert current is not None
    current.put("heard", Broadcast(numbered_message(1)))
    await is_called.wait()
    current.task.cancel()
    await asyncio.wait([current.task])


async def test_the_loop_sends_the_messages_of_threads() -> None:
    broadcaster_open()
    threads = [threading.Thread(target=group_write, args=(f"g{n}", Broadcast(numbered_message(n)))) for n in range(20)]
    async with Listener(*(f"g{n}" for n in range(20))) as listener:
        for thread in threads:
            thread.start()
        assert {await listener.next_number() for _ in threads} == set(range(20))
        await wait_until_sent()


async def test_a_process_without_a_loop_sends_at_once() -> None:
    Broadcaster.current = None
    async with Listener("heard") as listener:
        assert await asyncio.to_thread(group_write, "heard", Broadcast(numbered_message(1)))
        assert await asyncio.to_thread(group_write, "unheard", Broadcast(numbered_message(1)))
        assert await listener.next_number() == 1


async def test_the_broker_reports_subscribers() -> None:
    """The subscriber count depends on the channel names of channels_redis. This test fails if these names change."""
    groups = [f"group{n}" for n in range(30)]
    async with Listener(*groups[::2]) as listener:

        async def wait_for_number(n: int) -> None:
            while await listener.next_number() != n:
                pass

        for n, group in enumerate(groups[::2]):
            joined = asyncio.create_task(wait_for_number(n))
            while not joined.done():  # messages sent before the subscription is complete are lost
                await listener.layer.group_send(group, numbered_message(n))
        assert await count_listeners(listener.layer, groups) == {group: 1 - n % 2 for n, group in enumerate(groups)}


async def test_a_layer_without_subscriber_counts_gets_all_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = InMemoryChannelLayer()
    monkeypatch.setattr(broadcaster, "get_channel_layer", lambda: layer)
    channel = await layer.new_channel()
    await layer.group_add("group", channel)
    assert await deliver({"group": Broadcast(numbered_message(1)), "other": Broadcast(numbered_message(2))})
    assert await layer.receive(channel) == numbered_message(1)


@pytest.fixture
def silent_broker(tmp_path: Path) -> Iterator[str]:
    """The address of a broker that accepts all messages and never answers."""
    path = tmp_path / "silent.sock"
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as server_socket:
        server_socket.bind(str(path))
        server_socket.listen()
        yield f"unix://{path}"


async def test_hanging_broker_delays_no_sender(
    silent_broker: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Messages beyond the limit are dropped while the broker hangs."""
    layer = RedisPubSubChannelLayer(hosts=[silent_broker])
    monkeypatch.setattr(broadcaster, "get_channel_layer", lambda: layer)
    monkeypatch.setattr(broadcaster, "MAX_PENDING_GROUPS", 10)
    monkeypatch.setattr(broadcaster.BROKER, "is_away", False)
    monkeypatch.setattr(broadcaster, "SEND_TIMEOUT_S", endless_s())
    broadcaster_open()
    current = Broadcaster.current
    assert current is not None
    group_write("first", Broadcast(numbered_message(0)))
    while current.broadcasts:  # until the first message is being sent
        await asyncio.sleep(0)
    for n in range(1000):
        assert group_write(f"group{n}", Broadcast(numbered_message(n)))
        assert group_write("group0", Broadcast(numbered_message(n)))
    assert (len(current.broadcasts), current.broadcasts["group0"].message["n"]) == (10, 999)
    monkeypatch.setattr(broadcaster, "SEND_TIMEOUT_S", 0)
    monkeypatch.setattr(broadcaster, "CLOSE_WITHIN_S", 0)
    assert not await deliver({"group": Broadcast(numbered_message(1))})
    await wait_until_sent()
    assert "could not tell 1 of 1 groups" in caplog.text
    current.is_closing = False
    current._take()
    assert "990 messages were dropped" in caplog.text
    await layer.flush()


async def test_only_socket_in_a_room_gets_its_answer_unbroadcast(
    sent_messages: list[Any], transactional_db: None
) -> None:
    """If a room has only one socket, this socket gets the answer directly, and the broker gets no message."""
    seat = await in_db(room)("perfect")
    async with Socket(seat.room.code, seat.token) as mover:
        await mover.expect("joined")
        await mover.frame("move", {"move": "5"})
        assert (await mover.expect("state"))["ply"] == 2
        await mover.frame("ping")
        await mover.expect("pong")
        await wait_until_sent()
        assert sent_messages == []
        async with Socket(seat.room.code) as watcher:
            state_json = (await watcher.expect("joined"))["state"]
            await mover.frame("move", {"move": state_json["legal_moves"][0]})
            assert await mover.expect("state") == await watcher.expect("state")
        assert await in_db(match_resign)(code=seat.room.code, person=guest())
        assert (await mover.expect("state"))["status"] == "finished", "a change outside the socket reaches the socket"


@pytest.mark.parametrize("blocked_function", ["group_send", "count_listeners"])
async def test_a_move_waits_for_no_broker(
    blocked_function: str, monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    may_answer = asyncio.Event()

    async def hang(*_: Any) -> Any:
        await may_answer.wait()

    monkeypatch.setattr(broadcaster, "SEND_TIMEOUT_S", endless_s())
    function: tuple[Any, str] = (
        (get_channel_layer(), blocked_function) if blocked_function == "group_send" else (broadcaster, blocked_function)
    )
    seat = await in_db(room)("perfect")
    async with Socket(seat.room.code, seat.token) as mover, Socket(seat.room.code) as watcher:
        for each in (mover, watcher):
            await each.expect("joined")
        monkeypatch.setattr(*function, hang)
        await mover.frame("move", {"move": "5"})
        state_json = await mover.expect("state")
        await mover.frame("move", {"move": state_json["legal_moves"][0]})
        state_json = await mover.expect("state")
        await watcher.frame("ping")
        assert await watcher.expect("state") == state_json
        may_answer.set()
