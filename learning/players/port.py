"""The port of live play (:class:`games.live.players.MachinePort`), implemented by the app that keeps machines."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from psycopg.sql import Composable

from beadbox.policies.registry import LEVELS, OPPONENTS
from games.accounts.claims import Claimed
from games.live.players import LiveMatch, SeatPlayer
from learning.access import (
    SEE_MACHINES,
)
from learning.kinds import occupants
from learning.kinds.registry import KINDS
from learning.players.machines import HousePlayer, MachinePlayer
from learning.players.opponents import OpponentPlayer
from learning.services.personal_machines import machines_claim


class Machines:
    """The app that keeps machines, as live play uses it (:class:`games.live.players.MachinePort`)."""

    sees_all = tuple(f"learning.{one}" for one in SEE_MACHINES)

    def __init__(self) -> None:
        """Make every player; the kinds of machine must have been registered."""
        self.players: list[SeatPlayer] = [
            HousePlayer(),
            *map(MachinePlayer, {kind.live.player: kind for kind in KINDS.values()}),
            *map(OpponentPlayer, {**OPPONENTS, **LEVELS}),
        ]

    def occupants_query(self) -> Composable:
        return occupants.occupants_query()

    def occupants_keep(self, live: LiveMatch, found: Sequence[Sequence[object]] | None) -> None:
        occupants.occupants_keep(live.seats, found)

    def occupants_fetch(self, live: LiveMatch) -> None:
        occupants.occupants_fetch(live.seats)

    def guest_claim(self, user_id: int, guest: UUID) -> Claimed:
        return machines_claim(user_id, guest)
