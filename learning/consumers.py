"""Sockets of machines, training runs and tournaments: they only listen."""

from __future__ import annotations

import time
from typing import Any

from games.authentication import user_of_scope
from games.consumers import FrameConsumer, in_thread
from games.exceptions import PlayError
from learning.access import machine_for, run_for
from learning.events import machine_group, run_group, tournament_group
from learning.models import Machine, Tournament, TrainingRun
from learning.selectors_runs import run_curve, run_view
from learning.selectors_tournaments import tournament_for, tournament_view

ASK_AGAIN_S = 30.0
"""For so long a socket is told without asking again whether it may still look: a machine may have been hidden, a
session ended, a token revoked."""


class WatchConsumer(FrameConsumer):
    """Joins the group of what it watches, says how that stands, then what the group is told."""

    number: int
    """What is watched."""

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

    async def tell(self, kind: str, data: dict[str, Any]) -> None:
        """Send what the group was told, to whoever may still look."""
        if time.monotonic() - self.asked_at >= ASK_AGAIN_S:
            try:
                await in_thread(self.found)
            except PlayError as error:
                await self.refuse(error)
            self.asked_at = time.monotonic()
        await self.send_frame(kind, data)

    def watched(self) -> str:
        """The group."""
        raise NotImplementedError

    def found(self) -> Any:
        """What is watched, if whoever this is now may see it; touches the database.

        Raises:
            PlayError: there is none, or none that may be seen.
        """
        raise NotImplementedError

    def joined(self) -> dict[str, Any]:
        """How it stands; touches the database. Raises as :meth:`found`."""
        raise NotImplementedError

    def note(self, view: dict[str, Any]) -> None:
        """Keep how far this socket has been told."""


class MachineConsumer(WatchConsumer):
    """Tells a machine's page of every bead drawn, added and taken."""

    def watched(self) -> str:
        return machine_group(self.number)

    def found(self) -> Machine:
        return machine_for(user_of_scope(self.scope), self.number)

    def joined(self) -> dict[str, Any]:
        self.found()
        return {}

    async def machine_boxes(self, event: dict[str, Any]) -> None:
        """Boxes that changed, from the group."""
        await self.tell("boxes", event["data"])


class TournamentConsumer(WatchConsumer):
    """Tells a tournament's page how it stands."""

    def watched(self) -> str:
        return tournament_group(self.number)

    def found(self) -> Tournament:
        return tournament_for(user_of_scope(self.scope), self.number)

    def joined(self) -> dict[str, Any]:
        return tournament_view(self.found())

    def note(self, view: dict[str, Any]) -> None:
        self.version = view["version"]

    async def tournament_state(self, event: dict[str, Any]) -> None:
        """How the tournament stands, from the group; nothing older than what this socket has seen."""
        if event["data"]["version"] > self.version:
            self.note(event["data"])
            await self.tell("state", event["data"])


class RunConsumer(WatchConsumer):
    """Tells a training run's page how far it is, and draws its curve."""

    def watched(self) -> str:
        return run_group(self.number)

    def found(self) -> TrainingRun:
        return run_for(user_of_scope(self.scope), self.number)

    def joined(self) -> dict[str, Any]:
        run = self.found()
        return {**run_view(run), "curve": run_curve(run)}

    def note(self, view: dict[str, Any]) -> None:
        self.reached = _reached(view)

    async def run_state(self, event: dict[str, Any]) -> None:
        """How far the run is, from the group; what this socket has seen already is not said again."""
        if _reached(event["data"]) > self.reached:
            self.note(event["data"])
            await self.tell("state", event["data"])


def _reached(view: dict[str, Any]) -> tuple[bool, int, bool]:
    """What only grows about a run."""
    return view["finished_at"] is not None, view["games_done"], view["started_at"] is not None
