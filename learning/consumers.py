"""Sockets of machines, training runs and tournaments: they only listen."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from channels.exceptions import StopConsumer

from games.accounts.authentication import user_of_scope
from games.accounts.principal import AnyUser, Principal
from games.exceptions import PlayError, UnavailableError
from games.live.consumers import ASK_AGAIN_S, FrameConsumer, in_thread
from learning.access import machine_for, may_see, run_for
from learning.events import TELL_EVERY_S, machine_group, news_merge, run_group, tournament_group
from learning.models import AccessList, Machine, Tournament, TrainingRun
from learning.selectors.runs import run_curve, run_progress, run_view
from learning.selectors.tournaments import tournament_change, tournament_for, tournament_told, tournament_view
from learning.states import TournamentChange, TournamentState

logger = logging.getLogger("learning.consumers")

CLOSE_FAULT = 1011
MISSED_AFTER_S = 5.0
"""A lesson that a machine's socket has not heard of by then, though it has of a later one, is lost.

Processes tell what they have gathered in their own time: another's may come before it.
"""
ASK_WHEN_AWAY_S = 5.0
"""While the database is away nobody knows whether they still may look: nothing is told, and asked again after this."""


class WatchConsumer(FrameConsumer, ABC):
    """Joins the group of what it watches, says how that stands, then what the group is told."""

    number: int
    """What is watched."""
    viewer: Principal
    """Who watches, as far as was last asked."""

    async def connect(self) -> None:
        """Join: first the group, then the state, so that nothing falls between them."""
        self.number = int(next(iter(self.scope["url_route"]["kwargs"].values())))
        await self.listen(self.watched())
        try:
            view = await in_thread(self.joined)
        except PlayError as error:
            await self.refuse(error)
        self.asked_at = time.monotonic()
        self.note(view)
        await self.send_frame("joined", view)

    telling: asyncio.Task[None] | None = None
    untold: dict[str, Any] | None = None
    told_at = -TELL_EVERY_S
    audience: AccessList = None
    """Of the machine that the news is about, as the latest said."""

    async def tell(self, kind: str, data: dict[str, Any], audience: AccessList = None) -> None:
        """Send what the group was told, as soon as it is time, to whoever may still look by then."""
        self.audience = audience
        self.untold = data if self.untold is None else self.together(self.untold, data)
        if self.telling is None:
            self.telling = asyncio.create_task(self._tell_or_close(kind))

    async def _tell_or_close(self, kind: str) -> None:
        """Tell in time; a socket that cannot be told ends, so that its page opens another and knows how it stands."""
        try:
            await self._tell_in_time(kind)
        except Exception:  # nobody awaits this task: an error of any kind would be seen by nobody
            logger.exception("could not tell %s of %s", kind, self.group)
            await self.give_up()

    async def give_up(self) -> None:
        """End a socket that was not told everything: its page opens another, and asks how things stand."""
        if self.telling is not None and self.telling is not asyncio.current_task():
            self.telling.cancel()
        await self.leave()
        await self.close(CLOSE_FAULT)

    async def _tell_in_time(self, kind: str) -> None:
        while self.untold is not None:
            await asyncio.sleep(self.told_at + TELL_EVERY_S - time.monotonic())
            if not await self._may_look():
                return  # and what is still to come finds a task that is there, and waits for ever
            data, self.untold = self.untold, None
            self.told_at = time.monotonic()
            await self.send_frame(kind, self.told(data))
        self.telling = None

    async def _may_look(self) -> bool:
        """Whether they still may; refused if not. Asked at once when the news says that they may not."""
        while time.monotonic() - self.asked_at >= ASK_AGAIN_S or not may_see(self.viewer, self.audience):
            try:
                await in_thread(self.found)
                self.asked_at = time.monotonic()
                break
            except UnavailableError:
                await asyncio.sleep(ASK_WHEN_AWAY_S)
            except PlayError as error:
                with contextlib.suppress(StopConsumer):  # this is not the consumer's own task: it ends with the socket
                    await self.refuse(error)
                return False
        return True

    async def disconnect(self, code: int) -> None:
        """Tell nothing more."""
        if self.telling is not None:
            self.telling.cancel()
        await super().disconnect(code)

    def together(self, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        """Two things to tell as one: the later, where that says everything."""
        return after

    def told(self, data: dict[str, Any]) -> Mapping[str, Any]:
        """What this socket's user may know of the news."""
        return data

    def user_now(self) -> AnyUser:
        """Who watches, asked again; touches the database."""
        user = user_of_scope(self.scope)
        self.viewer = Principal.of(user)
        return user

    @abstractmethod
    def watched(self) -> str:
        """The group."""

    @abstractmethod
    def found(self) -> Any:
        """What is watched, if whoever this is now may see it; touches the database.

        Raises:
            PlayError: there is none, or none that may be seen.
        """

    @abstractmethod
    def joined(self) -> Mapping[str, Any]:
        """How it stands; touches the database. Raises as :meth:`found`."""

    def note(self, view: Mapping[str, Any]) -> None:
        """Keep how far this socket has been told."""


class MachineConsumer(WatchConsumer):
    """Tells a machine's page of every bead drawn, added and taken."""

    def watched(self) -> str:
        return machine_group(self.number)

    def found(self) -> Machine:
        return machine_for(self.user_now(), self.number)

    reached: int
    """The machine's lesson up to which this socket has heard of all."""

    def joined(self) -> dict[str, Any]:
        return {"lesson": self.found().n_lessons}

    def note(self, view: Mapping[str, Any]) -> None:
        self.reached, self.beyond = view["lesson"], set[int]()

    async def handle(self, kind: str, data: dict[str, Any]) -> None:
        """A page that hears nothing pings: what got lost was perhaps the last that there was to tell."""
        if kind == "ping":
            self.expect((await in_thread(self.found)).n_lessons)
        await super().handle(kind, data)

    async def machine_boxes(self, event: dict[str, Any]) -> None:
        """Boxes that changed, from the group."""
        self.beyond.update(lesson for lesson in event["lessons"] if lesson > self.reached)
        while self.reached + 1 in self.beyond:
            self.reached += 1
            self.beyond.discard(self.reached)
        self.expect(max(self.beyond, default=self.reached))
        await self.tell("boxes", event["data"], event["audience"])

    waiting: asyncio.Task[None] | None = None

    def expect(self, lesson: int) -> None:
        """See to it that this socket hears of all lessons up to this one: soon, or from the machine's page."""
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
        """Wait for nothing more."""
        if self.waiting is not None:
            self.waiting.cancel()
        await super().disconnect(code)

    def together(self, before: Any, after: Any) -> Any:
        return news_merge(before, after)

    def told(self, data: dict[str, Any]) -> Mapping[str, Any]:
        return {**data, "lesson": self.reached}


class TournamentConsumer(WatchConsumer):
    """Tells a tournament's page how it stands, and then what has changed about that."""

    version: int
    """The newest that was heard of."""
    shown: TournamentState
    """How the tournament stands as far as this socket has been told: what is told next is told against it."""

    def watched(self) -> str:
        return tournament_group(self.number)

    def found(self) -> Tournament:
        return tournament_for(self.user_now(), self.number)

    def joined(self) -> TournamentState:
        found = self.found()
        return tournament_view(found, self.viewer)

    def note(self, view: Any) -> None:
        self.version, self.shown = view["version"], view

    async def tournament_state(self, event: dict[str, Any]) -> None:
        """How the tournament stands, from the group; nothing older than what this socket has seen."""
        if event["whole"]["version"] > self.version:
            self.version = event["whole"]["version"]
            await self.tell("state", {"whole": event["whole"], "private": event["private"]})

    def told(self, data: dict[str, Any]) -> TournamentChange:
        before, self.shown = self.shown, tournament_told(data["whole"], data["private"], self.viewer)
        return tournament_change(before, self.shown)


class RunConsumer(WatchConsumer):
    """Tells a training run's page how far it is, and draws its curve."""

    def watched(self) -> str:
        return run_group(self.number)

    def found(self) -> TrainingRun:
        return run_for(self.user_now(), self.number)

    def joined(self) -> dict[str, Any]:
        run = self.found()
        return {**run_view(run, self.viewer), "curve": run_curve(run)}

    async def handle(self, kind: str, data: dict[str, Any]) -> None:
        """A page that hears nothing pings: perhaps its run waits for room, or does so no more."""
        if kind == "ping":
            with contextlib.suppress(PlayError):
                now = await in_thread(lambda: run_progress(self.found()))
                if _waits(now) != self.waits and _reached(now) >= self.reached:
                    self.waits = _waits(now)
                    await self.send_frame("state", {**now, "points": []})
        await super().handle(kind, data)

    def note(self, view: Mapping[str, Any]) -> None:
        self.reached, self.waits = _reached(view), _waits(view)
        points = view.get("curve") or view.get("points") or [{"games": self.drawn_to}]
        self.drawn_to = points[-1]["games"]

    waits = (False, False)
    """Whether the run waits for room and for compiled kernels, as last told to this socket."""
    drawn_to = -1
    """The games of the last point of the curve that this socket has."""

    async def run_state(self, event: dict[str, Any]) -> None:
        """How far the run is, from the group; what this socket has seen already is not said again."""
        data = event["data"]
        if _reached(data) > self.reached:
            data = {**data, "points": [point for point in data["points"] if point["games"] > self.drawn_to]}
            self.note(data)
            await self.tell("state", data, event.get("audience"))

    def together(self, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
        return {**after, "points": [*before["points"], *after["points"]]}


def _waits(view: Mapping[str, Any]) -> tuple[bool, bool]:
    """What a run waits for. Workers of the release before this one do not say it."""
    return view.get("waits_for_room", False), view.get("waits_for_kernels", False)


def _reached(view: Mapping[str, Any]) -> tuple[bool, int, bool]:
    """What only grows about a run."""
    return view["finished_at"] is not None, view["games_done"], view["started_at"] is not None
