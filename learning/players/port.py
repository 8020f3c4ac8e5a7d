"""The port of live play (:class:`games.live.players.MachinePort`), implemented by the app that keeps machines."""

from __future__ import annotations

from beadbox.policies.registry import LEVELS, OPPONENTS
from games.live.players import Automaton
from learning.access import SEE_MACHINES
from learning.kinds.live import occupants_fetch, occupants_query, occupants_seat
from learning.kinds.registry import KINDS
from learning.players.machines import HousePlayer, MachinePlayer
from learning.players.opponents import OpponentPlayer
from learning.services.personal_machines import machines_claim


class Machines:
    """The app that keeps machines, as live play uses it (:class:`games.live.players.MachinePort`)."""

    see_all_permissions = tuple(f"learning.{one}" for one in SEE_MACHINES)
    occupants_query = staticmethod(occupants_query)
    occupants_seat = staticmethod(occupants_seat)
    occupants_fetch = staticmethod(occupants_fetch)
    guest_claim = staticmethod(machines_claim)

    def __init__(self) -> None:
        """Make every player; the kinds of machine must have been registered."""
        self.players: list[Automaton] = [
            HousePlayer(),
            *map(MachinePlayer, {kind.occupant_class.slug: kind for kind in KINDS.values()}),
            *map(OpponentPlayer, {**OPPONENTS, **LEVELS}),
        ]
