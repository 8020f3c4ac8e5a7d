"""A class at one address: 40 pupils teach a machine each, a projector and 40 tables are open, and the site restarts.

``python -m tests.bench class-lesson`` prints the figures. The rates and quotas of the site are the default ones. After
the lesson, every game that the pupils finished must be in the totals of their machine, and the audit must be clean.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import random
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.bench.figures import Figure
from tests.bench.live_load import set_up_here, wait_for_workers
from tests.bench.live_site import Site, running_site
from tests.pupils import Answer, Browser, Lesson, SocketMatch
from tests.sizes import IS_SMALL, sized
from tests.waiting import HANG_S

N_PUPILS = sized(40, 4)
LESSON_S = sized(300.0, 8.0)
GONE = (ConnectionClosed, InvalidHandshake, OSError, EOFError)
"""Errors of a socket or request while the site restarts."""
AGAIN_S = (0.5, 2.0)
"""Seconds after which a page opens its socket again, as ``static/js/socket.js``."""


@dataclass
class ClassLesson(Lesson):
    """A lesson of a class, with the durations of its moves."""

    milliseconds: list[float] = field(default_factory=list)
    """Time from each move to the state with the answer of the machine."""
    moved_at: dict[str, float] = field(default_factory=dict)
    """Time (``time.monotonic``) of the last answered move, by the code of the room."""
    tables: list[float] = field(default_factory=list)
    """Times at which a page received the table of the class."""


class ClassMatch(SocketMatch):
    """The room of a pupil. The page plays on after the site was away, and has the table of the class open too."""

    lesson: ClassLesson
    table: str

    async def look_at(self, machine: int) -> None:
        """Open no page of a machine: pupils play."""

    async def send(self, kind: str, data: Any) -> None:
        """Send a frame, and wait for the state after it; a page sends a lost move again."""
        if self.socket is None:
            await asyncio.sleep(0.2)
            return
        begin, version = time.monotonic(), self.state["version"]
        with contextlib.suppress(ConnectionClosed):
            await self.socket.send(json.dumps({"type": kind, "data": data}))
        while self.state["version"] == version and time.monotonic() - begin < 5:
            self.has_changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self.has_changed.wait()
        if self.state["version"] != version:
            self.lesson.moved_at[self.path] = time.monotonic()
            if kind == "move":
                self.lesson.milliseconds.append(1000 * (time.monotonic() - begin))

    async def receive(self) -> None:
        """Receive states and tables until cancelled."""
        await asyncio.gather(self._receive_states(), watch_table(self, self.table))

    async def _receive_states(self) -> None:
        while True:
            with contextlib.suppress(*GONE):
                async with self.connected(f"{self.path}/ws") as self.socket:
                    await self._listen(self.socket)
            self.socket = None
            await asyncio.sleep(random.uniform(*AGAIN_S))


async def watch_table(page: SocketMatch, path: str) -> None:
    """Receive the table of the class at a page until cancelled."""
    assert isinstance(page.lesson, ClassLesson)
    while True:
        with contextlib.suppress(*GONE):
            async with page.connected(path) as socket:
                while True:
                    await socket.recv()
                    page.lesson.tables.append(time.monotonic())
        await asyncio.sleep(random.uniform(*AGAIN_S))


async def teach(lesson: ClassLesson, secret: str, table: str) -> None:
    """Let one pupil join by the link, and teach a machine until the lesson is over."""
    browser = Browser(lesson)
    await browser.get(f"/class/join/{secret}")
    words = f"{random.randrange(40)}-{random.randrange(40)}"
    await browser.form(f"/class/join/{secret}", guest=uuid4().hex, words=words)
    page: Answer = await browser.form("/class/play")
    match = ClassMatch(browser, page)
    match.table, match.roles = table, page.data("roles")
    match.starts_again = True
    receiving = asyncio.create_task(match.receive())
    try:
        await match.play()
    finally:
        receiving.cancel()
        browser.close()


@dataclass
class Played:
    """The lesson, and the seconds until all pupils had moved: after they began to join, and after the restart."""

    lesson: ClassLesson
    joined_s: float
    back_s: float


async def hold(site: Site, secret: str, table: str) -> Played:
    """Hold the lesson with all pupils, and restart the site in the middle."""
    lesson = ClassLesson(site.port, LESSON_S, quick_s=sized((2.0, 6.0), (0.3, 0.6)))
    lesson.n_browsers = N_PUPILS
    pupils = [asyncio.create_task(teach(lesson, secret, table)) for _ in range(N_PUPILS)]
    begin = time.monotonic()
    await everyone_moved(lesson, begin, pupils)
    joined_s = time.monotonic() - begin
    await asyncio.sleep(LESSON_S / 2)
    await asyncio.to_thread(site.restart)
    back = time.monotonic()
    await everyone_moved(lesson, back, pupils)
    back_s = time.monotonic() - back
    await asyncio.gather(*pupils)
    return Played(lesson, joined_s, back_s)


async def everyone_moved(lesson: ClassLesson, since: float, pupils: list[asyncio.Task[None]]) -> None:
    """Wait until each pupil has had an answer to a move since a time."""
    end = time.monotonic() + HANG_S
    while sum(at > since for at in lesson.moved_at.values()) < N_PUPILS:
        for pupil in pupils:
            if pupil.done():
                pupil.result()
        assert time.monotonic() < end, (lesson.figures, len(lesson.moved_at))
        await asyncio.sleep(0.1)


def class_lesson() -> Iterator[Figure]:
    """Measure a lesson of a class: moves, joining, the restart, and what the database holds afterwards."""
    with running_site() as site:
        set_up_here(site)
        wait_for_workers()
        from learning.models import Classroom

        classroom = class_open()
        secret, table = classroom.secret, f"/api/classes/{classroom.pk}/ws"
        played = asyncio.run(hold(site, secret, table))
        lesson, wrong = played.lesson, wrong_rows(Classroom.objects.get(pk=classroom.pk))
    cuts = statistics.quantiles(lesson.milliseconds, n=100)
    refused = {code: n for code, n in lesson.refused.items() if not code.startswith("stale_ply")}
    yield Figure(
        f"{N_PUPILS} pupils: a move",
        f"median {cuts[49]:.1f} ms, 95 % {cuts[94]:.1f} ms of {len(lesson.milliseconds)}",
        "95 % <= 50 ms",
        ok=IS_SMALL or cuts[94] <= 50,
    )
    yield Figure(
        f"{N_PUPILS} pupils join and make a move",
        f"{played.joined_s:.1f} s",
        "<= 15 s",
        ok=IS_SMALL or played.joined_s <= 15,
    )
    yield Figure("all play on after a restart", f"{played.back_s:.1f} s", "<= 10 s", ok=IS_SMALL or played.back_s <= 10)
    yield Figure("tables received", f"{len(lesson.tables)}", "> 0", ok=bool(lesson.tables), is_fact=True)
    yield Figure("refused", ", ".join(refused) or "nothing", "nothing", ok=not refused, is_fact=True)
    yield Figure("games that differ", ", ".join(wrong) or "none", "none", ok=not wrong, is_fact=True)


def class_open() -> Any:
    """Open a class for a new account."""
    from django.contrib.auth import get_user_model

    from beadbox.rules.outcome import Side
    from learning.services.classrooms import ClassPlan, classroom_open

    teacher = get_user_model().objects.create_user("teacher")
    plan = ClassPlan("7b", "hexapawn", Side.SECOND, "", N_PUPILS, 30)
    return classroom_open(user=teacher, plan=plan)


def wrong_rows(classroom: Any) -> list[str]:
    """Return, in words, machines without one game for each finished match, and the differences that the audit finds."""
    from django.core.management import CommandError, call_command

    from games.models import Match, MatchStatus

    wrong = []
    for participant in classroom.participants.select_related("machine"):
        matches = Match.objects.filter(seats__guest=participant.guest, status=MatchStatus.FINISHED)
        if participant.machine.n_games != matches.count():
            wrong.append(f"{participant}: {participant.machine.n_games} games, {matches.count()} matches")
    try:
        call_command("audit", stdout=io.StringIO())
    except CommandError as error:
        wrong.append(str(error))
    return wrong
