"""WebSocket consumers of machines, training runs and tournaments: they send news; clients send only pings."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from channels.exceptions import StopConsumer

from games.accounts.authentication import user_of_socket
from games.accounts.principal import AnyUser, Principal
from games.exceptions import PlayError, UnavailableError
from games.live.consumers import PRINCIPAL_MAX_AGE_S, FrameConsumer, in_thread
from learning.access import machine_for, may_see, run_for
from learning.events import TELL_EVERY_S, machine_group, news_merge, run_group, tournament_group
from learning.models import AccessList, Machine, Tournament, TrainingRun
from learning.selectors.runs import run_curve, run_progress, run_view
from learning.selectors.tournaments import tournament_change, tournament_for, tournament_redacted, tournament_view
from learning.states import TournamentChange, TournamentState

logger = logging.getLogger("learning.consumers")

CLOSE_FAULT = 1011
MISSED_AFTER_S = 5.0
"""Seconds that a machine's socket waits for a missing lesson after news of a later one; then it counts as lost.

Processes send their news independently, so lessons can arrive out of order.
"""
ASK_WHEN_AWAY_S = 5.0
"""Seconds between two permission checks during a database outage; no news is sent until a check succeeds."""


class WatchConsumer(FrameConsumer, ABC):
    """A socket that shows one object: it sends the object's state, then the news of its channel group.

    Subclasses say which object, what its state is, and how two pieces of news are merged.
    """

    group_of: Callable[[int], str | None]
    """The name of the channel-layer group of an object; ``None`` if news comes without a group."""
    number: int
    """Primary key of the watched object."""
    viewer: Principal
    """The viewer at the last permission check."""

    async def connect(self) -> None:
        """Join the group first, then send the state, so that no news is missed in between."""
        self.number = int(next(iter(self.scope["url_route"]["kwargs"].values())))
        await self.listen(self.group_of(self.number))
        try:
            view = await in_thread(self.joined)
        except PlayError as error:
            await self.refuse(error)
        self.asked_at = time.monotonic()
        self.note(view)
        await self.send_frame("joined", view)

    telling: asyncio.Task[None] | None = None
    """Task that sends pending news; ``None`` if there is none."""
    unsent: dict[str, Any] | None = None
    """News that has not been sent yet, merged."""
    sent_at = -TELL_EVERY_S
    """Time (``time.monotonic``) of the last news."""
    audience: AccessList = None
    """Access list of the machine in the news, from the latest news."""

    async def tell(self, kind: str, data: dict[str, Any], audience: AccessList = None) -> None:
        """Send news as a frame ``kind``, at most once every :data:`TELL_EVERY_S` seconds, if the viewer has access.

        News that arrives meanwhile is merged by :meth:`together`. ``audience`` is the access list in the news.
        """
        self.audience = audience
        self.unsent = data if self.unsent is None else self.together(self.unsent, data)
        if self.telling is None:
            self.telling = asyncio.create_task(self._tell_or_close(kind))

    async def _tell_or_close(self, kind: str) -> None:
        """Send the pending news; after an error, close the socket, so that its page reconnects and gets the state."""
        try:
            await self._tell_in_time(kind)
        except OSError:  # the client has gone, perhaps during ``connect``, and then no disconnection follows
            await self.leave()
        except Exception:  # no code awaits this task, so an error would go unnoticed
            logger.exception("could not tell %s of %s", kind, self.group)
            await self.give_up()

    async def give_up(self) -> None:
        """Close a socket that missed news: its page opens another socket, and gets the current state."""
        if self.telling is not None and self.telling is not asyncio.current_task():
            self.telling.cancel()
        await self.leave()
        await self.close(CLOSE_FAULT)

    async def _tell_in_time(self, kind: str) -> None:
        while self.unsent is not None:
            await asyncio.sleep(self.sent_at + TELL_EVERY_S - time.monotonic())
            if not await self._still_has_access():
                return  # ``telling`` stays set, so that later news does not start another task
            data, self.unsent = self.unsent, None
            self.sent_at = time.monotonic()
            await self.send_frame(kind, self.for_viewer(data))
        self.telling = None

    async def _still_has_access(self) -> bool:
        """Whether the viewer still has access; if not, refuse and close the socket.

        The database is asked every :data:`PRINCIPAL_MAX_AGE_S` seconds, and at once if the news excludes the viewer.
        """
        while time.monotonic() - self.asked_at >= PRINCIPAL_MAX_AGE_S or not may_see(self.viewer, self.audience):
            try:
                await in_thread(self.found)
                self.asked_at = time.monotonic()
                break
            except UnavailableError:
                await asyncio.sleep(ASK_WHEN_AWAY_S)
            except PlayError as error:
                with contextlib.suppress(StopConsumer):  # only the consumer's own task must end by this exception
                    await self.refuse(error)
                return False
        return True

    async def disconnect(self, code: int) -> None:
        """Cancel the task that sends pending news."""
        if self.telling is not None:
            self.telling.cancel()
        await super().disconnect(code)

    def together(self, before: Any, after: Any) -> Any:
        """Merge two pieces of news; by default the later replaces the earlier."""
        return after

    def for_viewer(self, data: dict[str, Any]) -> Mapping[str, Any]:
        """Return the part of the news that this socket's viewer may see."""
        return data

    def user_now(self) -> AnyUser:
        """Read the viewer again from the database, and return it as a user."""
        user = user_of_socket(self.scope)
        self.viewer = Principal.of(user)
        return user

    @abstractmethod
    def found(self) -> Any:
        """Return the watched object if the current viewer may see it; queries the database.

        Raises:
            PlayError: the object does not exist, or the viewer may not see it.
        """

    @abstractmethod
    def joined(self) -> Mapping[str, Any]:
        """Return the state of the watched object; queries the database. Raises as :meth:`found`."""

    def note(self, view: Mapping[str, Any]) -> None:
        """Remember what the client knows after it has received ``view``."""


class MachineConsumer(WatchConsumer):
    """Socket of a machine's page: sends every bead that is drawn, added or removed."""

    group_of = staticmethod(machine_group)

    def found(self) -> Machine:
        return machine_for(self.user_now(), self.number)

    reached: int
    """Number up to which this socket has received all lessons; ``beyond`` has the later lessons received."""

    def joined(self) -> dict[str, Any]:
        return {"lesson": self.found().n_lessons}

    def note(self, view: Mapping[str, Any]) -> None:
        self.reached, self.beyond = view["lesson"], set[int]()

    async def handle(self, kind: str, data: dict[str, Any]) -> None:
        """On a ping, check for lost lessons. A page pings when it receives nothing, perhaps because news was lost."""
        if kind == "ping":
            self.expect((await in_thread(self.found)).n_lessons)
        await super().handle(kind, data)

    async def machine_boxes(self, event: dict[str, Any]) -> None:
        """Handle changed boxes from the group, and look for missing lessons."""
        self.beyond.update(lesson for lesson in event["lessons"] if lesson > self.reached)
        while self.reached + 1 in self.beyond:
            self.reached += 1
            self.beyond.discard(self.reached)
        self.expect(max(self.beyond, default=self.reached))
        await self.tell("boxes", event["data"], event["audience"])

    waiting: asyncio.Task[None] | None = None
    """Task that waits for missing lessons."""

    def expect(self, lesson: int) -> None:
        """Start to wait until this socket has received all lessons up to this one; close it if a lesson is lost."""
        if lesson > self.reached and self.waiting is None:
            self.waiting = asyncio.create_task(self._wait_for(lesson))

    async def _wait_for(self, lesson: int) -> None:
        await asyncio.sleep(MISSED_AFTER_S)
        self.waiting = None
        if self.reached < lesson:
            logger.info("%s was told of lesson %d and not of %d", self.group, lesson, self.reached + 1)
            await self.give_up()
        else:
            self.expect(max(self.beyond, default=lesson))

    async def disconnect(self, code: int) -> None:
        """Cancel the wait for missing lessons."""
        if self.waiting is not None:
            self.waiting.cancel()
        await super().disconnect(code)

    together = staticmethod(news_merge)

    def for_viewer(self, data: dict[str, Any]) -> Mapping[str, Any]:
        return {**data, "lesson": self.reached}


class TournamentConsumer(WatchConsumer):
    """Socket of a tournament's page: sends its state, and then the changes."""

    version: int
    """The newest version received from the group."""
    shown: TournamentState
    """The state last sent to this socket; the next change is relative to this state."""

    group_of = staticmethod(tournament_group)

    def found(self) -> Tournament:
        return tournament_for(self.user_now(), self.number)

    def joined(self) -> TournamentState:
        tournament = self.found()
        return tournament_view(tournament, self.viewer)

    def note(self, view: Any) -> None:
        self.version, self.shown = view["version"], view

    async def tournament_state(self, event: dict[str, Any]) -> None:
        """Handle a state from the group; ignore states older than the one already received."""
        if event["whole"]["version"] > self.version:
            self.version = event["whole"]["version"]
            await self.tell("state", {"whole": event["whole"], "private": event["private"]})

    def for_viewer(self, data: dict[str, Any]) -> TournamentChange:
        before, self.shown = self.shown, tournament_redacted(data["whole"], data["private"], self.viewer)
        return tournament_change(before, self.shown)


class RunConsumer(WatchConsumer):
    """Socket of a training run's page: sends its progress and the points of its curve."""

    group_of = staticmethod(run_group)

    def found(self) -> TrainingRun:
        return run_for(self.user_now(), self.number)

    def joined(self) -> dict[str, Any]:
        run = self.found()
        return {**run_view(run, self.viewer), "curve": run_curve(run)}

    async def handle(self, kind: str, data: dict[str, Any]) -> None:
        """On a ping, send the state if the run has begun or stopped waiting for database space or kernels."""
        if kind == "ping":
            with contextlib.suppress(PlayError):
                progress = await in_thread(lambda: run_progress(self.found()))
                if _waits(progress) != self.waits and _reached(progress) >= self.reached:
                    self.waits = _waits(progress)
                    await self.send_frame("state", {**progress, "points": []})
        await super().handle(kind, data)

    def note(self, view: Mapping[str, Any]) -> None:
        self.reached, self.waits = _reached(view), _waits(view)
        points = view.get("curve") or view.get("points") or [{"games": self.drawn_to}]
        self.drawn_to = points[-1]["games"]

    waits = (False, False)
    """Whether the run waits for database space and for compiled kernels, as last sent to this socket."""
    drawn_to = -1
    """Number of games at the last point of the curve that was sent to this socket; -1 before the first."""

    async def run_state(self, event: dict[str, Any]) -> None:
        """Handle progress from the group; skip stale progress and points of the curve already sent."""
        data = event["data"]
        if _reached(data) > self.reached:
            data = {**data, "points": [point for point in data["points"] if point["games"] > self.drawn_to]}
            self.note(data)
            await self.tell("state", data, event.get("audience"))

    def together(self, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        return {**after, "points": [*before["points"], *after["points"]]}


def _waits(view: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return whether a run waits for database space, and for kernels; older workers do not send these fields."""
    return view.get("waits_for_room", False), view.get("waits_for_kernels", False)


def _reached(view: Mapping[str, Any]) -> tuple[bool, int, bool]:
    """Return the fields of a run that never decrease, by which stale news is detected."""
    return view["finished_at"] is not None, view["games_done"], view["started_at"] is not None
