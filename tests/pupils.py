"""Simulates a class of pupils with one IP address: the requests and frames that their browsers send during play.

Each pupil loads pages, teaches a machine or plays against a classmate, and requests the progress of the machine. The
browser of a pupil uses a socket, or polls as often as ``static/js/asker.js`` does. Static files are not requested.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.waiting import HANG_S

ASKER_SCRIPT = (Path(__file__).parent.parent / "static" / "js" / "asker.js").read_text()
WAITS_S = [ms / 1000 for ms in json.loads(ASKER_SCRIPT.partition("WAITS_MS = ")[2].partition(";")[0].replace("_", ""))]
"""Seconds before each poll, by the number of polls without news."""
NC = "noughts-and-crosses"
PING_S = 10.0


@dataclass
class Lesson:
    """A lesson of the whole class: its settings, and the counts of all requests and refusals."""

    port: int
    seconds: float
    """Minimum duration of the lesson."""
    thinking_s: tuple[float, float] = (1.0, 4.0)
    """Minimum and maximum time in seconds for which a pupil thinks about a move."""
    statuses: Counter[int] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    n_browsers: int = 0
    n_moves: int = 0
    n_matches: int = 0
    n_polls: int = 0
    begin: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """Whether the time is over and the class has made as many moves as it has pupils.

        The second condition makes a lesson longer on a busy machine.
        """
        return time.monotonic() - self.begin >= self.seconds and self.n_moves >= self.n_browsers

    @property
    def report(self) -> str:
        """The results of the lesson as one line of text."""
        statuses = ", ".join(f"{status}: {n}" for status, n in sorted(self.statuses.items()))
        refused = ", ".join(f"{code}: {n}" for code, n in self.refusals.items()) or "none"
        return (
            f"{self.seconds:.0f} s, {self.n_matches} matches, {self.n_moves} moves,"
            f" {self.n_polls} polls; answers {statuses}; refusals {refused}"
        )


@dataclass
class Answer:
    """A response of the site to a request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json_data(self) -> Any:
        return json.loads(self.body)

    def data(self, name: str) -> Any:
        """Return the data of a ``json_script`` block of a page."""
        block = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', self.body.decode())
        assert block, (self.status, name)
        return json.loads(block[1])


class Browser:
    """A browser: its cookies, and a connection that stays open for all its requests."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.cookies: dict[str, str] = {}
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self.request_lock = asyncio.Lock()

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    async def get(self, path: str, **headers: str) -> Answer:
        return await self._ask_until_not_busy("GET", path, headers)

    async def form(self, path: str, **fields: str) -> Answer:
        """Post a form of a page; return the response, or that of the redirect."""
        body = urlencode({"csrfmiddlewaretoken": self.cookies["csrftoken"], **fields})
        answer = await self._ask_until_not_busy(
            "POST", path, {"Content-Type": "application/x-www-form-urlencoded"}, body
        )
        return await self.get(answer.headers["location"]) if answer.status == 302 else answer

    async def post(self, path: str, data: Any) -> Answer:
        """Post JSON with the CSRF token, as the script of a page does."""
        headers = {"Content-Type": "application/json", "X-CSRFToken": self.cookies["csrftoken"]}
        return await self._ask("POST", path, headers, json.dumps(data))

    async def _ask_until_not_busy(self, method: str, path: str, headers: dict[str, str], body: str = "") -> Answer:
        while (answer := await self._ask(method, path, headers, body)).status == 503:
            await asyncio.sleep(float(answer.headers.get("retry-after", 2)))
        return answer

    async def _ask(self, method: str, path: str, headers: dict[str, str], body: str = "") -> Answer:
        lines = [f"{method} {path} HTTP/1.1", f"Host: localhost:{self.lesson.port}", f"Cookie: {self.cookie}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if method == "POST":
            lines += [f"Origin: http://localhost:{self.lesson.port}", f"Content-Length: {len(body)}"]
        request = "\r\n".join([*lines, "", body]).encode()
        async with self.request_lock:
            try:
                answer = await self._exchange(request)
            except (asyncio.IncompleteReadError, ConnectionError):  # the server closes idle connections
                self.streams = None
                answer = await self._exchange(request)
        self.lesson.statuses[answer.status] += 1
        if answer.status >= 400:
            code = re.search(rb'"code":\s*"(\w+)"', answer.body)
            address = re.sub(r"/(\d+|[a-z0-9]{6})(?=/|$)", "/…", path)
            self.lesson.refusals[f"{code[1].decode() if code else answer.status} at {address}"] += 1
        return answer

    async def _exchange(self, request: bytes) -> Answer:
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.lesson.port)
        reader, writer = self.streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1").split("\r\n")
        headers = {}
        for line in filter(None, head[1:]):
            name, _, value = line.partition(": ")
            if name.lower() == "set-cookie":
                cookie, _, content = value.partition(";")[0].partition("=")
                self.cookies[cookie] = content
            headers[name.lower()] = value
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            writer.close()
            self.streams = None
        return Answer(int(head[0].split()[1]), headers, body)

    def open_socket(self, path: str) -> connect:
        """Return a connection for a socket with the cookies of this browser."""
        url, origin = f"ws://localhost:{self.lesson.port}{path}", f"http://localhost:{self.lesson.port}"
        headers = {"Cookie": self.cookie}
        return connect(
            url,
            origin=origin,  # type: ignore[arg-type]
            additional_headers=headers,
            ping_interval=None,
            open_timeout=HANG_S,
        )

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()


class Match:
    """The page of a match, on which a pupil plays. Subclasses send and receive by polling or by a socket."""

    def __init__(self, browser: Browser, page: Answer) -> None:
        self.browser, self.lesson = browser, browser.lesson
        self.state, self.roles = page.data("state"), page.data("roles")
        self.path = f"/api/rooms/{self.state['code']}"
        self.has_changed = asyncio.Event()

    @property
    def is_my_turn(self) -> bool:
        return self.state["status"] == "playing" and self.state["turn"] in self.roles

    @property
    def begins_next(self) -> bool:
        """Whether this pupil, and not the other one at the board, begins the next match."""
        first = next(seat for seat in self.state["seats"] if seat["kind"] == "human")
        return first["role"] in self.roles

    def store_if_newer(self, state: Any) -> None:
        """Store a state of the match if it is newer than the last one."""
        if state["version"] > self.state["version"]:
            self.state = state
            self.has_changed.set()

    async def play(self) -> None:
        """Make moves, open the pages of the machines after each match, and play again until the lesson is over."""
        shown_number = 0
        while not self.lesson.is_over:
            if self.is_my_turn:
                await asyncio.sleep(random.uniform(*self.lesson.thinking_s))
                if not self.is_my_turn:  # After a reconnection, the state already shows the move.
                    continue
                move = random.choice(self.state["legal_moves"])
                self.lesson.n_moves += 1
                await self.send("move", {"move": move, "ply": self.state["ply"]})
            elif self.state["status"] == "finished" and shown_number != self.state["number"]:
                shown_number = self.state["number"]
                self.lesson.n_matches += 1
                for seat in self.state["seats"]:
                    if seat["machine"]:
                        await self.look_at(seat["machine"]["id"])
            elif self.state["status"] == "finished" and self.begins_next:
                await asyncio.sleep(random.uniform(*self.lesson.thinking_s))
                if self.state["number"] == shown_number and self.state["status"] == "finished":
                    await self.send("reset", {"swap": False})  # once more if the site was away
            else:
                self.has_changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        await self.has_changed.wait()

    async def look_at(self, machine: int) -> None:
        """Open the page of a machine and request its progress."""
        await self.browser.get(f"/machines/{machine}")
        await self.browser.get(f"/api/machines/{machine}/progress")

    async def send(self, kind: str, data: Any) -> None:
        raise NotImplementedError

    async def receive(self) -> None:
        """Receive states until cancelled."""
        raise NotImplementedError


class PollingMatch(Match):
    """A match page on a network that blocks sockets: it polls, like ``static/js/asker.js``."""

    etag = ""
    n_idle = 0

    def __init__(self, browser: Browser, page: Answer) -> None:
        super().__init__(browser, page)
        self.has_acted = asyncio.Event()

    async def send(self, kind: str, data: Any) -> None:
        answer = await self.browser.post(f"{self.path}/{kind}", data)
        if answer.status == 200:
            self.store_if_newer(answer.json_data)
        elif answer.status == 503:
            await asyncio.sleep(float(answer.headers["retry-after"]))
        self.n_idle = 0
        self.has_acted.set()

    async def receive(self) -> None:
        while True:
            headers = {"If-None-Match": self.etag} if self.etag else {}
            answer = await self.browser.get(f"{self.path}/joined", **headers)
            self.lesson.n_polls += 1
            if answer.status == 200:
                self.etag, self.n_idle = answer.headers["etag"], 0
                self.roles = answer.json_data["roles"]
                self.store_if_newer(answer.json_data["state"])
            self.n_idle += 1
            while True:
                self.has_acted.clear()
                wait = WAITS_S[min(self.n_idle, len(WAITS_S) - 1)] * random.uniform(0.8, 1.2)
                try:
                    async with asyncio.timeout(wait):
                        await self.has_acted.wait()
                except TimeoutError:
                    break


BUSY_CLOSE_CODE = 1013
"""The close code of sockets that a busy site closes."""


async def frames(socket: ClientConnection) -> AsyncIterator[Any]:
    """Yield the frames of a socket, and ping after each silence, like ``static/js/socket.js``."""
    while True:
        try:
            async with asyncio.timeout(PING_S):
                frame = json.loads(await socket.recv())
        except TimeoutError:
            await socket.send(json.dumps({"type": "ping"}))
        else:
            yield frame


class SocketMatch(Match):
    """A match page that uses a socket."""

    socket: ClientConnection | None = None

    async def send(self, kind: str, data: Any) -> None:
        if self.socket is not None:
            version = self.state["version"]
            with suppress(ConnectionClosed):  # the next socket brings the current state
                await self.socket.send(json.dumps({"type": kind, "data": data}))
            while self.state["version"] == version and not self.lesson.is_over:
                self.has_changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(1):
                        await self.has_changed.wait()
                    return

    async def look_at(self, machine: int) -> None:
        """Open the page of a machine, and the socket that reports the machine's games."""
        await super().look_at(machine)
        async with self.browser.open_socket(f"/api/machines/{machine}/ws") as page:
            await page.ping()

    async def receive(self) -> None:
        """Receive frames until cancelled, and connect again if a busy site closes the socket."""
        async for socket in self.browser.open_socket(f"{self.path}/ws"):
            self.socket = socket
            try:
                await self._listen(socket)
            except ConnectionClosed as closed:
                if closed.rcvd is None or closed.rcvd.code != BUSY_CLOSE_CODE:
                    raise
                self.lesson.refusals["busy closed a socket"] += 1

    async def _listen(self, socket: ClientConnection) -> None:
        async for frame in frames(socket):
            if frame["type"] == "joined":
                self.store_if_newer(frame["data"]["state"])
            elif frame["type"] == "state":
                self.store_if_newer(frame["data"])
            elif frame["type"] == "error":
                self.lesson.refusals[f"{frame['data']['code']} at a socket"] += 1
                await asyncio.sleep(frame["data"].get("retry_after_s", 0))
                self.has_changed.set()


async def _follow(match: Match) -> None:
    """Play on the page of a match until the lesson is over, while it receives states."""
    receive_task = asyncio.create_task(match.receive())
    try:
        await match.play()
    finally:
        receive_task.cancel()
        with suppress(asyncio.CancelledError):
            await receive_task
        match.browser.close()


async def _teach(lesson: Lesson, kind: type[Match]) -> None:
    """Let a pupil teach a new machine."""
    browser = Browser(lesson)
    front = await browser.get("/")
    side = re.search(rf'value="{NC}"><input type="hidden" name="side" value="(\w*)"', unescape(front.body.decode()))
    assert side
    match = kind(browser, await browser.form("/teach", game=NC, side="X"))
    for seat in match.state["seats"]:
        if seat["machine"]:
            await match.look_at(seat["machine"]["id"])
    await _follow(match)


async def _play_in_pairs(lesson: Lesson, kind: type[Match]) -> None:
    """Let two pupils play each other by the code of a room while a third pupil watches."""
    host, guest, spectator = Browser(lesson), Browser(lesson), Browser(lesson)
    for browser in (host, guest):
        await browser.get("/")
    host_page = kind(host, await host.form("/rooms", game=NC, opponent="human", side="X"))
    code = host_page.state["code"]
    guest_page = kind(guest, await guest.form("/rooms/join", code=code.upper()))
    spectator_page = kind(spectator, await spectator.get(f"/rooms/{code}"))
    await asyncio.gather(*(_follow(match) for match in (host_page, guest_page, spectator_page)))


async def run_lesson(lesson: Lesson, *, blocked: int, sockets: int = 0) -> None:
    """Run a lesson with ``blocked`` pupils that poll and ``sockets`` pupils that use sockets.

    About half of the pupils of each sort play in groups of three: two players and a spectator. The other half teaches
    machines.
    """
    lesson.n_browsers = blocked + sockets
    groups = []
    for kind, n_browsers in ((PollingMatch, blocked), (SocketMatch, sockets)):
        n_threes = n_browsers // 6
        groups += [_play_in_pairs(lesson, kind) for _ in range(n_threes)]
        groups += [_teach(lesson, kind) for _ in range(n_browsers - 3 * n_threes)]
    async with asyncio.TaskGroup() as task_group:
        for group in groups:
            task_group.create_task(group)
