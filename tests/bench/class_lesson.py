"""A class at one address: 40 pupils teach a machine each, 40 tables are open, and all servers die at once.

``python -m tests.bench class-lesson`` prints the figures. The rates and quotas of the site are the default ones. After
the lesson, every game that the pupils finished must be in the totals of their machine, and the audit must be clean.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import random
import re
import statistics
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from playwright.sync_api import sync_playwright
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from tests.bench.figures import Figure
from tests.bench.first_seconds import new_visitor
from tests.bench.live_load import KILLABLE_GROUPS, set_up_here, wait_for_workers
from tests.bench.live_site import OF_TRANSACTIONS, Site, answers_at, kill_at_once, running_site, statements
from tests.environment import chromium
from tests.pupils import BUSY_CLOSE_CODE, Browser, Lesson, SocketMatch, frames
from tests.sizes import sized
from tests.waiting import HANG_S, POLL_S, wait_until

N_PUPILS = sized(40, 4)
JOIN_S = sized(10.0, 1.0)
"""Seconds within which all pupils begin to join."""
LESSON_S = sized(300.0, 6.0)
"""Duration of the lesson; all servers die in its middle."""
THINK_S, HURRY_S = sized((2.0, 6.0), (0.2, 0.4)), (0.2, 1.0)
"""Minimum and maximum seconds for which a pupil thinks about a move: usually, and after the servers died."""
N_RESTING, REST_S = sized(30, 3), sized(60.0, 2.0)
"""Number of pupils of a class that makes no move, and the seconds for which the queries of this class are counted."""
RECONNECT_S = (0.5, 2.0)
"""Minimum and maximum seconds after which a page opens a lost socket again, about as in ``static/js/socket.js``."""
LIMITS = re.compile(rf"throttled|quota|full|many|busy|429|{BUSY_CLOSE_CODE}")
"""Words and numbers of refusals by a limit."""
FIRST_PAGE_BYTES = 150_000


@dataclass
class ClassPages:
    """The addresses of a class: its number, the secret of its link, and the secret of its projector."""

    number: int
    secret: str
    screen: str

    @property
    def table(self) -> str:
        """The path of the socket with the table."""
        return f"/api/classes/{self.number}/ws"


@dataclass
class ClassLesson(Lesson):
    """A lesson of a class, with a record of the frames that its pages received."""

    is_resting: bool = False
    """Whether the pupils make no move, so that only their open pages cause queries."""
    is_ended: bool = False
    seated_s: list[float] = field(default_factory=list)
    """Seconds from the first request of each pupil to the first frame at the board."""
    milliseconds: list[float] = field(default_factory=list)
    """Time from each move to the state with the answer of the machine."""
    moved_at: dict[str, float] = field(default_factory=dict)
    """Time (``time.monotonic``) of the last answered move, by the address of the room."""
    finished: set[tuple[str, int]] = field(default_factory=set)
    """Matches that have ended on a pupil's page: the code of the room, and the number of the match in the room."""
    n_tables: int = 0
    """Number of frames with a table of the class."""

    @property
    def is_over(self) -> bool:
        return self.is_ended

    @property
    def refused_by_limits(self) -> list[str]:
        """Refusals by a limit, in words."""
        return [f"{what}: {n}" for what, n in self.refusals.items() if LIMITS.search(what)]


class ClassMatch(SocketMatch):
    """The board of a pupil. A second page of the same browser shows the table of the class."""

    lesson: ClassLesson

    async def look_at(self, machine: int) -> None:
        """Do nothing: the pupils of a class do not open the page of a machine."""

    def store_if_newer(self, state: Any) -> None:
        super().store_if_newer(state)
        if state["status"] == "finished":
            self.lesson.finished.add((state["code"], state["number"]))

    async def send(self, kind: str, data: Any) -> None:
        """Send a frame and wait for the state after it."""
        begin, version = time.monotonic(), self.state["version"]
        await super().send(kind, data)
        if self.state["version"] != version:
            self.lesson.moved_at[self.path] = time.monotonic()
            if kind == "move":
                self.lesson.milliseconds.append(1000 * (time.monotonic() - begin))

    async def receive(self) -> None:
        """Receive states until the lesson is over."""
        async for socket, frame in received_frames(self.browser, f"{self.path}/ws"):
            self.socket = socket
            if frame.get("type") in {"joined", "state"}:
                self.store_if_newer(frame["data"].get("state", frame["data"]))
            else:
                self.has_changed.set()  # The pupil repeats a refused or lost move.


async def received_frames(browser: Browser, path: str) -> AsyncIterator[tuple[ClientConnection | None, Any]]:
    """Yield each frame of a page with its socket, until the lesson is over.

    When the socket is lost, yield ``None`` and an empty frame, and then open the socket again. A socket that breaks
    while it closes can hide a cancellation. So each turn of the loop checks whether the lesson is over.
    """
    lesson = browser.lesson
    while not lesson.is_over:
        try:
            async with browser.open_socket(path) as socket:
                async for frame in frames(socket):
                    if frame["type"] == "error":
                        lesson.refusals[f"{frame['data']['code']} at a socket"] += 1
                    yield socket, frame
        except ConnectionClosed as closed:
            if closed.rcvd is not None:
                lesson.refusals[f"a socket closed with {closed.rcvd.code}"] += 1
        except InvalidStatus as refused:
            lesson.refusals[f"a socket refused with {refused.response.status_code}"] += 1
        except (InvalidHandshake, OSError, EOFError):
            pass  # The site does not answer at the moment.
        yield None, {}
        await asyncio.sleep(random.uniform(*RECONNECT_S))


async def show_table(browser: Browser, path: str) -> None:
    """Show the table of the class on a page."""
    lesson = browser.lesson
    assert isinstance(lesson, ClassLesson)
    async for _, frame in received_frames(browser, path):
        lesson.n_tables += "rows" in frame.get("data", {})


async def teach(lesson: ClassLesson, pages: ClassPages, after_s: float) -> None:
    """Let one pupil join by the link, and then teach a machine until the lesson is over."""
    await asyncio.sleep(after_s)
    begin, browser = time.monotonic(), Browser(lesson)
    join = f"/class/join/{pages.secret}"
    await browser.get(join)
    words = f"{random.randrange(40)}-{random.randrange(40)}"
    await browser.form(join, guest=uuid4().hex, words=words)
    match = ClassMatch(browser, await browser.form("/class/play"))
    sockets = [match.receive(), show_table(browser, f"{pages.table}?only=status"), show_table(browser, pages.table)]
    open_pages = [asyncio.create_task(socket) for socket in sockets]
    while match.socket is None:
        await asyncio.sleep(POLL_S / 10)
    lesson.seated_s.append(time.monotonic() - begin)
    await (until_over(lesson) if lesson.is_resting else match.play())
    await close(browser, open_pages)


async def show_screen(lesson: ClassLesson, pages: ClassPages) -> None:
    """Show the class on a projector until the lesson is over."""
    browser = Browser(lesson)
    await browser.get(f"/class/screen/{pages.screen}")
    showing = asyncio.create_task(show_table(browser, pages.table))
    await until_over(lesson)
    await close(browser, [showing])


async def until_over(lesson: Lesson) -> None:
    while not lesson.is_over:
        await asyncio.sleep(POLL_S)


async def close(browser: Browser, open_pages: list[asyncio.Task[None]]) -> None:
    """Close the pages of a browser."""
    for page in open_pages:
        page.cancel()
    await asyncio.wait(open_pages)
    browser.close()


@contextlib.asynccontextmanager
async def class_present(lesson: ClassLesson, pages: ClassPages, n_pupils: int) -> AsyncIterator[list[Any]]:
    """Let all pupils join within ``JOIN_S``, yield when they sit at their boards, and end the lesson afterwards."""
    lesson.n_browsers = n_pupils
    pupils = [teach(lesson, pages, JOIN_S * number / n_pupils) for number in range(n_pupils)]
    tasks = [asyncio.create_task(one) for one in (show_screen(lesson, pages), *pupils)]
    await until(lambda: len(lesson.seated_s) == n_pupils, tasks)
    yield tasks
    lesson.is_ended = True
    async with asyncio.timeout(HANG_S):
        await asyncio.gather(*tasks)


async def until(condition: Any, tasks: list[asyncio.Task[None]]) -> None:
    """Wait until a condition holds. If one of the tasks fails before, raise its error."""
    async with asyncio.timeout(HANG_S):
        while not condition():
            for task in tasks:
                if task.done():
                    task.result()
            await asyncio.sleep(POLL_S / 10)


async def rest(site: Site, lesson: ClassLesson, pages: ClassPages) -> float:
    """Return the queries a second while a class with all its pages open makes no move."""
    async with class_present(lesson, pages, N_RESTING):
        return await asyncio.to_thread(queries_per_s, site)


async def hold(site: Site, lesson: ClassLesson, pages: ClassPages) -> float:
    """Hold the lesson, and kill all servers in its middle.

    Return the seconds from the return of the servers until every pupil has made a move.
    """
    async with class_present(lesson, pages, N_PUPILS) as tasks:
        await asyncio.sleep(LESSON_S / 2 - JOIN_S)
        kill_at_once(KILLABLE_GROUPS)
        lesson.thinking_s = HURRY_S
        assert await asyncio.to_thread(wait_until, lambda: answers_at("localhost", site.port)), "the site is not back"
        back = time.monotonic()
        await until(lambda: sum(at > back for at in lesson.moved_at.values()) == N_PUPILS, tasks)
        back_s = time.monotonic() - back
        lesson.thinking_s = THINK_S
        await asyncio.sleep(LESSON_S / 2 - back_s)
    return back_s


def queries_per_s(site: Site) -> float:
    """Return the statements per second, without statements that begin or end a transaction."""
    site.log_statements(True)
    time.sleep(1)  # Now all sessions have read the setting.
    begin = site.log.stat().st_size
    time.sleep(REST_S)
    with site.log.open() as log:
        log.seek(begin)
        by_kind = statements(log.read())
    site.log_statements(False)
    for kind, (n, _) in sorted(by_kind.items(), key=lambda one: -one[1][0])[:12]:
        sys.stderr.write(f"  {n / REST_S:6.2f} {kind}\n")
    return sum(n for kind, (n, _) in by_kind.items() if kind not in OF_TRANSACTIONS) / REST_S


def page_bytes(site: Site, pages: ClassPages) -> list[float]:
    """Return the bytes that a new pupil has received after three pages: of the link, of the class, and of the board."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        page, sent = new_visitor(browser, site)
        page.goto(f"/class/join/{pages.secret}", wait_until="networkidle")
        sums = [sum(sent)]
        page.locator("label.choice").first.click()
        for button in ("Join", "Play"):
            page.get_by_role("button", name=button, exact=True).click()
            page.wait_for_load_state("networkidle")
            sums.append(sum(sent))
        browser.close()
    return sums


def class_lesson() -> Iterator[Figure]:
    """Measure a lesson of a class: moves, joining, the restart, and what the database holds afterwards."""
    with running_site() as site:
        set_up_here(site)
        wait_for_workers()
        from django.db import connection

        first, *more = page_bytes(site, class_open("pages"))
        yield Figure(
            "first page of a pupil, compressed",
            f"{first / 1000:.0f} kB; {' and '.join(f'{sent / 1000:.0f}' for sent in more)} kB up to class and board",
            f"<= {FIRST_PAGE_BYTES / 1000:.0f} kB",
            first <= FIRST_PAGE_BYTES,
            is_fact=True,
        )
        idle = queries_per_s(site)
        resting = ClassLesson(site.port, REST_S, is_resting=True)
        busy = asyncio.run(rest(site, resting, class_open("resting")))
        yield Figure(
            f"queries of a class of {N_RESTING} without a move",
            f"{busy - idle:.1f} a second ({idle:.1f} of the idle site)",
            "<= 20",
            busy - idle <= 20,
        )
        pages, lesson = class_open("lesson"), ClassLesson(site.port, LESSON_S, thinking_s=THINK_S)
        back_s = asyncio.run(hold(site, lesson, pages))
        connection.close()  # The connection is from before the death of the servers.
        wrong = wrong_rows(pages, lesson)
    sys.stderr.write(f"  {lesson.report}; {lesson.n_tables} tables\n")
    cuts = statistics.quantiles(lesson.milliseconds, n=100)
    yield Figure(
        f"{N_PUPILS} pupils: a move",
        f"median {cuts[49]:.1f} ms, 95 % {cuts[94]:.1f} ms of {len(lesson.milliseconds)}",
        "95 % <= 50 ms",
        cuts[94] <= 50,
    )
    seated_s = max(lesson.seated_s)
    yield Figure(
        f"{N_PUPILS} join within {JOIN_S:.0f} s and sit at a board", f"{seated_s:.1f} s later", "<= 5 s", seated_s <= 5
    )
    yield Figure(
        "all play on after all servers were killed", f"{back_s:.1f} s after their return", "<= 10 s", back_s <= 10
    )
    limited = lesson.refused_by_limits + resting.refused_by_limits
    yield Figure("refused by a limit", ", ".join(limited) or "nothing", "nothing", not limited, is_fact=True)
    yield Figure(
        "games that differ", ", ".join(wrong) or "none", f"none of {len(lesson.finished)}", not wrong, is_fact=True
    )


def class_open(name: str) -> ClassPages:
    """Open a class for a new account."""
    from django.contrib.auth import get_user_model

    from beadbox.rules.outcome import Side
    from learning.services.classrooms import ClassPlan, classroom_open

    teacher = get_user_model().objects.create_user(name)
    plan = ClassPlan(name, "hexapawn", Side.SECOND, "", N_PUPILS, 30)
    classroom = classroom_open(user=teacher, plan=plan)
    return ClassPages(classroom.pk, classroom.secret, classroom.link.secret)


def wrong_rows(pages: ClassPages, lesson: ClassLesson) -> list[str]:
    """Return, in words, the games of the lesson that the database has lost or doubled, and the errors of the audit."""
    from django.core.management import CommandError, call_command

    from games.models import Match, MatchStatus
    from learning.models import Participant

    wrong, stored_matches = [], set()
    for participant in Participant.objects.filter(classroom=pages.number).select_related("machine"):
        matches = Match.objects.filter(seats__guest=participant.guest, status=MatchStatus.FINISHED)
        ended = list(matches.values_list("room__code", "number"))
        stored_matches |= set(ended)
        assert participant.machine is not None
        if participant.machine.n_games != len(ended):
            wrong.append(f"{participant}: {participant.machine.n_games} games, {len(ended)} matches")
    wrong += [f"{code}.{number} is not stored" for code, number in lesson.finished - stored_matches]
    try:
        call_command("audit", stdout=io.StringIO())
    except CommandError as error:
        wrong.append(str(error))
    return wrong
