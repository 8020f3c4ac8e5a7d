"""Simulated players. Each player has a room, and there repeatedly waits and then plays a random legal move.

The players run in a separate process, so that client and server do not contend for an interpreter lock: ``python -m
tests.bench.live_client < CASE``, with the fields of :class:`Case` as JSON. The program prints ``begin`` and ``end``
when the measured time begins and ends, then its results as JSON: :meth:`LoadTest.results`.

The program implements WebSockets itself, with compression as in browsers. So a move takes only 0.1 ms of the client's
processor time. The server must answer every move exactly once, by a state with this move as the player's last move.
After a break, the player opens a new socket. The state in the frame ``joined`` then tells whether the server had stored
the pending move. Any other behaviour of the server counts as a fault.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import resource
import signal
import ssl
import struct
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.waiting import HANG_S

N_OPENERS = 8
RETRY_AFTER_S = 1.0
"""Seconds before a player repeats a refused request, if the refusal names no time."""
RECONNECT_S, MAX_RECONNECT_S = 0.5, 15.0
"""Seconds before a player opens a broken socket again: after the first failure, and at most."""
DRAIN_S = HANG_S
"""Seconds after the measured time in which an answer may still arrive. Without an answer the move counts as lost."""


@dataclass(frozen=True)
class Case:
    """The settings of a measurement: the opponent, the number of players and the duration."""

    port: int
    n_matches: int
    body: dict[str, Any]
    """The request body that opens a room."""
    think_s: float
    """Mean thinking time in seconds. Each thinking time is between 0.5 and 1.5 times the mean."""
    seconds: float
    """Maximum seconds of measurement, after all players have begun. SIGTERM ends the measurement earlier."""
    host: str = "127.0.0.1"
    site: str = "localhost"
    """The site's host name, sent in requests."""
    authority: str = ""
    """The file with the certificate authority of the site. Without a file, the connections are not encrypted."""
    silent_s: float = 0.0
    """Seconds without an answer to a move after which a socket is closed and opened again; 0 means never."""
    as_program: bool = False
    """Whether players are programs with a seat token; otherwise they are guests in a browser with a session.

    For a seat token, the server reads no session at each move.
    """
    resign: bool = False
    """Whether all players repeatedly play one move and then resign at the same moment, instead of playing on."""
    watched: int = 0
    """Id of the machine on the page that the watchers have open."""
    n_watchers: int = 0
    """Number of visitors with an open page of that machine."""

    @property
    def origin(self) -> str:
        """The ``Origin`` header of the site's own pages."""
        return f"Origin: {'https' if self.authority else 'http'}://{self.site}\r\n"

    @property
    def connection(self) -> dict[str, Any]:
        """The arguments of asyncio's functions that connect."""
        where: dict[str, Any] = {"host": self.host, "port": self.port}
        if self.authority:
            where |= {"ssl": ssl.create_default_context(cafile=self.authority), "server_hostname": self.site}
        return where


class Socket(asyncio.Protocol):
    """A WebSocket. Its mask is zero, so that the program need not change any byte of a frame."""

    def __init__(self, load_test: LoadTest, url: str, headers: str) -> None:
        self.load_test, self.url, self.headers = load_test, url, headers

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.buffer = bytearray()
        self.is_open = False
        self.inflate = zlib.decompressobj(-15)
        transport.write(
            f"GET {self.url} HTTP/1.1\r\nHost: {self.load_test.case.site}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\n{self.headers}"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self.is_open:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self.buffer.startswith(b"HTTP/1.1 101"):
                self.handle_refusal(bytes(self.buffer[:end]).decode())
                self.transport.close()
                return
            del self.buffer[: end + 4]
            self.is_open = True
        while (frame_parts := self._frame()) is not None:
            first, payload = frame_parts
            opcode = first & 15
            if opcode == 9:
                self._write(0x8A, payload)
            elif opcode == 8:
                self.transport.close()
            elif opcode == 1:
                if first & 0x40:
                    payload = self.inflate.decompress(payload + b"\x00\x00\xff\xff")
                frame = json.loads(payload)
                self.handle_frame(frame["type"], frame["data"])

    def _frame(self) -> tuple[int, bytes] | None:
        """Return the first byte and the payload of the next frame, or ``None``. Servers do not mask."""
        buffer = self.buffer
        if len(buffer) < 2:
            return None
        size, start = buffer[1], 2
        if size >= 126:
            start = 4 if size == 126 else 10
            if len(buffer) < start:
                return None
            size = int.from_bytes(buffer[2:start], "big")
        if len(buffer) < start + size:
            return None
        frame = buffer[0], bytes(buffer[start : start + size])
        del buffer[: start + size]
        return frame

    def send_frame(self, kind: str, data: dict[str, Any]) -> None:
        self._write(0x81, json.dumps({"type": kind, "data": data}).encode())

    def _write(self, first: int, payload: bytes) -> None:
        size = len(payload)
        head = struct.pack("!BB", first, 0x80 | size) if size < 126 else struct.pack("!BBH", first, 0xFE, size)
        self.transport.write(head + b"\0\0\0\0" + payload)

    def handle_frame(self, kind: str, data: Any) -> None:
        """Handle a frame from the server."""

    def handle_refusal(self, head: str) -> None:
        """Handle a response that refuses the WebSocket."""


class Watcher(Socket):
    """A visitor with a machine's page open; records the times of its frames."""

    def __init__(self, load_test: LoadTest) -> None:
        super().__init__(load_test, f"/api/machines/{load_test.case.watched}/ws", load_test.case.origin)
        self.frame_times: list[float] = []
        self.database_statuses: list[tuple[float, str]] = []
        """The time of each frame ``site``, and the status of the database in the frame."""
        self.n_bytes = 0

    def data_received(self, data: bytes) -> None:
        self.n_bytes += len(data)
        super().data_received(data)

    def handle_frame(self, kind: str, data: Any) -> None:
        if kind == "site":
            self.database_statuses.append((time.perf_counter(), data["database"]))
        elif kind != "joined":
            self.frame_times.append(time.perf_counter())


class Player(Socket):
    """A player in a room of their own."""

    def __init__(self, load_test: LoadTest, code: str, token: str, session: str) -> None:
        if load_test.case.as_program:
            super().__init__(load_test, f"/api/rooms/{code}/ws?seat_token={token}", "")
        else:
            super().__init__(
                load_test, f"/api/rooms/{code}/ws", f"{load_test.case.origin}Cookie: sessionid={session}\r\n"
            )
        self.code = code
        self.role = load_test.case.body.get("side", "X")
        self.matches: dict[int, list[str]] = {}
        """The player's answered moves, by the number of the match."""
        self.finished: set[int] = set()
        self.state: dict[str, Any] = {}
        self.pending: tuple[str, dict[str, Any]] | None = None
        """The kind and data of the request that has no answer yet."""
        self.n_repeats = 0
        """Number of requests that this socket has sent again. The server may have stored the first copy already."""
        self.resend_timer: asyncio.TimerHandle | None = None
        self.n_failures = 0
        self.lost_at: float | None = None
        """The time at which the room's socket broke; ``None`` while the player is joined."""

    # Frames from the server

    def handle_frame(self, kind: str, data: Any) -> None:
        self.n_failures = 0
        if kind == "state":
            self._handle_state(data)
        elif kind == "joined":
            self._handle_joined(data["state"])
        elif kind == "error":
            self._handle_error(data)

    def _handle_joined(self, state: dict[str, Any]) -> None:
        """Handle a join. After a break, either the state answers the pending request, or the player sends it again."""
        if self.lost_at is not None:
            self.load_test.away_s.append(time.perf_counter() - self.lost_at)
            self.lost_at = None
        if not self.state:
            self._record_state(state)
            self.load_test.player_joined(self)
        elif self.pending is not None:
            if self._is_answer(state):
                self._handle_answer(state)
            else:
                self.n_repeats += 1
                self._send_pending()

    def _is_answer(self, state: dict[str, Any]) -> bool:
        """Whether a state shows the effect of the pending request, exactly once, and of no other request."""
        assert self.pending is not None
        kind, data = self.pending
        if kind == "reset":
            return bool(state["number"] == self.number + 1)
        if state["number"] != self.number:
            return False
        if kind == "resign":
            return bool(state["status"] == "finished")
        own = [ply["move"] for ply in state["moves"] if ply["role"] == self.role]
        # The move itself is one ply. The answer of the machine is the second, unless the move has ended the match.
        n_plies = {1, 2} if state["status"] == "finished" else {2}
        return own == [*self.matches[self.number], data["move"]] and state["ply"] - data["ply"] in n_plies

    def _handle_state(self, state: dict[str, Any]) -> None:
        """Handle a state from the group. An old state may come again after a break; pages ignore such a state too."""
        if self.pending is None and state["version"] <= self.state["version"]:
            return
        if self.pending is None:
            self.load_test.add_fault(self, f"state {state['version']} without a request")
        elif not self._is_answer(state):
            self.load_test.add_fault(
                self, f"{self.pending} was answered by {state['number']}.{state['ply']} {state['moves']}"
            )
        else:
            self._handle_answer(state)

    def _handle_answer(self, state: dict[str, Any]) -> None:
        """Record the answer to the pending request, then think and go on."""
        assert self.pending is not None
        if self.pending[0] == "move":
            self.load_test.record_answer(self.sent_at, time.perf_counter())
        self.pending = None
        if self.resend_timer is not None:
            self.resend_timer.cancel()
        self._record_state(state)
        self._continue()

    def _record_state(self, state: dict[str, Any]) -> None:
        """Record the state, the player's moves in it, and whether the match has ended."""
        self.state, self.number = state, state["number"]
        self.matches[self.number] = [ply["move"] for ply in state["moves"] if ply["role"] == self.role]
        if state["status"] == "finished" and self.number not in self.finished:
            self.finished.add(self.number)
            self.load_test.record_end(time.perf_counter())

    def _handle_error(self, data: dict[str, Any]) -> None:
        """Handle a refusal: repeat the request after a while, unless the refusal is final.

        After a broken socket or a failure of the database, the server may have stored the request already. It then
        refuses the repeated request. A state that came before the refusal, or that answers a ping, shows the effect.
        """
        self.load_test.errors[data["code"]] += 1
        if self.resend_timer is not None:
            self.resend_timer.cancel()
        if self.pending is not None and data["code"] in {"busy", "unavailable", "too_many_frames"}:
            self.load_test.refused_ms.append(1000 * (time.perf_counter() - self.sent_last_at))
            self.n_repeats += data["code"] == "unavailable"
            self.resend_timer = self.load_test.loop.call_later(
                data.get("retry_after_s", RETRY_AFTER_S), self._send_pending
            )
        elif self.n_repeats:
            self.n_repeats -= 1
            self.send_frame("ping", {})
        else:
            self.load_test.add_fault(self, f"{self.pending} was refused: {data}")

    # Requests to the server

    def begin(self) -> None:
        """Begin after a random delay, so that players do not all move at once."""
        self._call_later(random.random() * self.load_test.case.think_s, self.act)

    def _continue(self) -> None:
        if self.load_test.case.resign:
            self.load_test.add_waiting(self)
            return
        think_s = self.load_test.case.think_s * (0.5 + random.random())
        self.load_test.record_thinking(think_s)
        self._call_later(think_s, self.act)

    def _call_later(self, seconds: float, call: Callable[[], None]) -> None:
        if self.load_test.is_ended:
            return
        if seconds:
            self.load_test.loop.call_later(seconds, call)
        else:
            self.load_test.loop.call_soon(call)

    def act(self) -> None:
        if self.load_test.is_ended or self.pending is not None:
            return
        if self.state["status"] == "finished":
            self._send("reset", {})
        else:
            self._send("move", {"move": random.choice(self.state["legal_moves"]), "ply": self.state["ply"]})

    def resign(self) -> None:
        self._send("resign", {})

    def _send(self, kind: str, data: dict[str, Any]) -> None:
        self.pending, self.sent_at = (kind, data), time.perf_counter()
        self._send_pending()

    def _send_pending(self) -> None:
        """Send the pending request. If this socket is broken, the next socket sends it."""
        self.sent_last_at = time.perf_counter()
        if self.pending is not None and self.is_open:
            self.send_frame(*self.pending)
            if self.load_test.case.silent_s:
                self.resend_timer = self.load_test.loop.call_later(self.load_test.case.silent_s, self.transport.abort)

    def handle_refusal(self, head: str) -> None:
        self.load_test.errors[f"socket: {head.splitlines()[0]}"] += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open, self.n_repeats = False, 0
        if not self.load_test.is_closing:
            self.load_test.errors["socket broke"] += 1
            if self.resend_timer is not None:
                self.resend_timer.cancel()
            self.reconnect()

    def reconnect(self) -> None:
        """Connect again after a delay that grows with each failure, as a page does."""
        self.lost_at = self.lost_at or time.perf_counter()
        growth = max(1.0, (self.n_failures + 1) / 2, 2.0 ** (self.n_failures - 3))
        wait_s = min(MAX_RECONNECT_S, RECONNECT_S * growth) * (0.8 + 0.4 * random.random())
        self.n_failures += 1
        self.load_test.loop.call_later(wait_s, self.load_test.connect_soon, self)


class LoadTest:
    """All players and watchers, and a record of their requests, answers and errors."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.loop = asyncio.get_running_loop()
        self.players: list[Player] = []
        self.watchers: list[Watcher] = []
        self.latencies: list[tuple[float, float]] = []
        """For each answered move: the time at which it was sent, and the milliseconds until its answer."""
        self.refused_ms: list[float] = []
        self.away_s: list[float] = []
        """For each break of a socket: the seconds until the player had joined again."""
        self.thinking_times: list[tuple[float, float]] = []
        """For each thinking time: the time at which it began, and its seconds."""
        self.match_ends: list[float] = []
        """Times at which matches ended."""
        self.errors: Counter[str] = Counter()
        self.faults: list[str] = []
        self.is_ended = False
        """Whether the measured time is over, so that players begin no new request."""
        self.is_closing = False
        """Whether the program is about to end, so that players do not open lost sockets again."""
        self.n_joined = 0
        self.all_joined, self.all_waiting = asyncio.Event(), asyncio.Event()
        self.waiting: set[Player] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self.rates: list[float] = []
        """With ``Case.resign``: resignations per second, for each round of resignations."""
        self.n_to_open = case.n_matches
        """Number of rooms that are not open yet."""

    # Records of players

    def add_fault(self, player: Player, what: str) -> None:
        self.faults.append(f"{player.code}: {what}")

    def player_joined(self, player: Player) -> None:
        self.n_joined += 1
        if self.n_joined == len(self.players):
            self.all_joined.set()

    def record_answer(self, sent_at: float, now: float) -> None:
        self.latencies.append((sent_at, 1000 * (now - sent_at)))

    def record_thinking(self, seconds: float) -> None:
        self.thinking_times.append((time.perf_counter(), seconds))

    def record_end(self, now: float) -> None:
        self.match_ends.append(now)

    def add_waiting(self, player: Player) -> None:
        """Record that a player has an answer and waits for the others."""
        self.waiting.add(player)
        if len(self.waiting) == len(self.players):
            self.all_waiting.set()

    # Phases

    def connect_soon(self, player: Player) -> None:
        task = self.loop.create_task(self._connect(player))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _connect(self, socket: Socket) -> None:
        try:
            await self.loop.create_connection(lambda: socket, **self.case.connection)
        except OSError as error:
            self.errors[f"no connection: {type(error).__name__}"] += 1
            if isinstance(socket, Player) and not self.is_closing:
                socket.reconnect()

    async def play(self) -> None:
        """Open the rooms, begin, measure, and wait for the last answers."""
        case = self.case
        await asyncio.gather(*(self._open_rooms() for _ in range(N_OPENERS)))
        for player in self.players:
            await self._connect(player)
        await self.all_joined.wait()
        self.watchers = [Watcher(self) for _ in range(case.n_watchers)]
        for watcher in self.watchers:
            await self._connect(watcher)
        if case.resign:
            await self._resign_together()
            return
        for player in self.players:
            player.begin()
        await asyncio.sleep(max(1.0, 2 * case.think_s))
        self._begin()
        stop_requested = asyncio.Event()
        self.loop.add_signal_handler(signal.SIGTERM, stop_requested.set)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop_requested.wait(), case.seconds)
        self._end()
        drain_until = time.perf_counter() + DRAIN_S
        while any(player.pending for player in self.players) and time.perf_counter() < drain_until:
            await asyncio.sleep(0.05)
        self.is_closing = True

    def _begin(self) -> None:
        self.begin_at, self.cpu_s = time.perf_counter(), _cpu_s()
        print("begin", flush=True)  # noqa: T201

    def _end(self) -> None:
        self.is_ended, self.end_at, self.cpu_s = True, time.perf_counter(), _cpu_s() - self.cpu_s
        print("end", flush=True)  # noqa: T201

    async def _resign_together(self) -> None:
        """For the time of the case, repeat: all players move, then all resign. Record the resignations per second."""
        self._begin()
        while not self.rates or time.perf_counter() < self.begin_at + self.case.seconds:
            await self._all_players(Player.act)
            begin = time.perf_counter()
            await self._all_players(Player.resign)
            self.rates.append(len(self.players) / (time.perf_counter() - begin))
            await self._all_players(Player.act)
        self._end()
        self.is_closing = True

    async def _all_players(self, act: Callable[[Player], None]) -> None:
        """Let all players act, and wait until all have their answers."""
        self.waiting.clear()
        self.all_waiting.clear()
        for player in self.players:
            act(player)
        await self.all_waiting.wait()

    async def _open_rooms(self) -> None:
        """Open rooms over one connection until all rooms are open. Several connections do so at the same time."""
        case, body = self.case, json.dumps(self.case.body).encode()
        head = f"POST /api/rooms HTTP/1.1\r\nHost: {case.site}\r\nContent-Type: application/json\r\nContent-Length: "
        reader, writer = await asyncio.open_connection(**case.connection)
        while self.n_to_open:
            self.n_to_open -= 1
            writer.write(f"{head}{len(body)}\r\n\r\n".encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(re.findall(r"(?i)\r\ncontent-length: (\d+)", answer)[0])
            content = await reader.readexactly(length)
            if re.match(r"HTTP/1.1 50[234]", answer):  # from the site, or from a proxy that reaches no web process
                self.errors[f"no room: {answer.splitlines()[0]} {content.decode()}"] += 1
                self.n_to_open += 1
                await asyncio.sleep(RETRY_AFTER_S)
                continue
            assert answer.startswith("HTTP/1.1 201"), (answer, content)
            room = json.loads(content)
            session = re.findall(r"sessionid=(\w+)", answer)[0]
            self.players.append(Player(self, room["code"], room["seat_token"], session))
        writer.close()

    # Results

    def results(self) -> dict[str, Any]:
        """Return the results as a dictionary for JSON.

        ``milliseconds``: the latency of each move that was sent in the measured time. ``sent``: the times of these
        moves, by the clock that all processes of the machine share. ``away_s``: for each break of a socket, the seconds
        until the player had joined again. ``news``: for each watcher, each status of the database with its time.
        ``ideal``: moves per second if only the players' thinking took time. ``frames``: for each watcher, the maximum
        number of frames in a second. ``watched_bytes``: bytes received by each watcher. ``rooms``: by code, the numbers
        of the ended matches and the answered moves of each match.
        """
        sent, latencies_ms = [], []
        for sent_at, ms in self.latencies:
            if self.begin_at <= sent_at < self.end_at:
                sent.append(sent_at)
                latencies_ms.append(ms)
        thinking_s = sum(seconds for at, seconds in self.thinking_times if self.begin_at <= at < self.end_at)
        seconds = self.end_at - self.begin_at
        unanswered = [player.code for player in self.players if player.pending]
        return {
            "seconds": seconds,
            "milliseconds": latencies_ms,
            "sent": sent,
            "ideal": len(self.players) * len(latencies_ms) / thinking_s if thinking_s else None,
            "n_answered": len(self.latencies),
            "n_ended": sum(self.begin_at <= at < self.end_at for at in self.match_ends),
            "rates": self.rates,
            "refused_ms": self.refused_ms,
            "away_s": self.away_s,
            "cpu_s": self.cpu_s,
            "errors": self.errors,
            "faults": [*self.faults, *(f"{code}: a move was never answered" for code in unanswered)],
            "frames": [_max_frames_per_second(watcher.frame_times) for watcher in self.watchers],
            "news": [watcher.database_statuses for watcher in self.watchers],
            "watched_bytes": [watcher.n_bytes for watcher in self.watchers],
            "rooms": {player.code: [sorted(player.finished), player.matches] for player in self.players},
        }


def _max_frames_per_second(frame_times: list[float]) -> int:
    """Return the maximum rate of frames: the largest number of intervals between frames within one second.

    Frames at a constant rate of one a second give 1, although two of them fit into a closed interval of one second.
    """
    max_frames = start = 0
    for end, at in enumerate(frame_times):
        while at - frame_times[start] > 1:
            start += 1
        max_frames = max(max_frames, end - start)
    return max_frames


def _cpu_s() -> float:
    """Return the processor seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def _main() -> None:
    load_test = LoadTest(Case(**json.load(sys.stdin)))
    await load_test.play()
    json.dump(load_test.results(), sys.stdout)


if __name__ == "__main__":
    try:
        import uvloop
    except ImportError:
        asyncio.run(_main())
    else:
        uvloop.run(_main())
