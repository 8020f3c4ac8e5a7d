"""Sockets of machine pages: they only listen."""

from __future__ import annotations

from typing import Any

from games.authentication import user_of_scope
from games.consumers import FrameConsumer, in_thread
from games.exceptions import PlayError
from learning.access import machine_for, run_for
from learning.events import machine_group, run_group, tournament_group
from learning.selectors_runs import run_curve, run_view
from learning.selectors_tournaments import tournament_for, tournament_view


class MachineConsumer(FrameConsumer):
    """Tells a machine's page of every bead drawn, added and taken."""

    async def connect(self) -> None:
        """Join the machine's group."""
        machine_id = self.scope["url_route"]["kwargs"]["machine_id"]
        await self.listen(machine_group(machine_id))
        try:
            await in_thread(self._check, machine_id)
        except PlayError as error:
            await self.refuse(error)
            return
        await self.send_frame("joined", {})

    def _check(self, machine_id: str) -> None:
        machine_for(user_of_scope(self.scope), machine_id)

    async def machine_boxes(self, event: dict[str, Any]) -> None:
        """Boxes that changed, from the group."""
        await self.send_frame("boxes", event["data"])


class TournamentConsumer(FrameConsumer):
    """Tells a tournament's page how it stands."""

    async def connect(self) -> None:
        """Join: first the group, then the state, so that nothing falls between them."""
        self.tournament_id = int(self.scope["url_route"]["kwargs"]["tournament_id"])
        await self.listen(tournament_group(self.tournament_id))
        try:
            view = await in_thread(self._joined)
        except PlayError as error:
            await self.refuse(error)
            return
        self.version = view["version"]
        await self.send_frame("joined", view)

    async def tournament_state(self, event: dict[str, Any]) -> None:
        """How the tournament stands, from the group; nothing older than what this socket has seen."""
        if event["data"]["version"] > self.version:
            self.version = event["data"]["version"]
            await self.send_frame("state", event["data"])

    def _joined(self) -> dict[str, Any]:
        return tournament_view(tournament_for(user_of_scope(self.scope), self.tournament_id))


class RunConsumer(FrameConsumer):
    """Tells a training run's page how far it is, and draws its curve."""

    async def connect(self) -> None:
        """Join: first the group, then the run, so that nothing falls between them."""
        self.run_id = int(self.scope["url_route"]["kwargs"]["run_id"])
        await self.listen(run_group(self.run_id))
        try:
            view = await in_thread(self._joined)
        except PlayError as error:
            await self.refuse(error)
            return
        self.reached = _reached(view)
        await self.send_frame("joined", view)

    async def run_state(self, event: dict[str, Any]) -> None:
        """How far the run is, from the group; what this socket has seen already is not said again."""
        if _reached(event["data"]) > self.reached:
            self.reached = _reached(event["data"])
            await self.send_frame("state", event["data"])

    def _joined(self) -> dict[str, Any]:
        run = run_for(user_of_scope(self.scope), self.run_id)
        return {**run_view(run), "curve": run_curve(run)}


def _reached(view: dict[str, Any]) -> tuple[bool, int, bool]:
    """What only grows about a run."""
    return view["finished_at"] is not None, view["games_done"], view["started_at"] is not None
