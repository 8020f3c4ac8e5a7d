"""A machine as it stands, for a question about one position: nothing is locked and nothing is written."""

from __future__ import annotations

from typing import Any

from games.exceptions import MatchFinishedError
from games.rules.romgon.rules import Romgon
from games.selectors import match_latest, room_get, snapshot
from learning.core.advice.live import advice
from learning.core.machines.box_machine import BoxMachine
from learning.exceptions import NoEngineError
from learning.models import Box, Machine


def machine_as_it_stands(machine: Machine, position: Any) -> BoxMachine:
    """The machine with the one box that this position opens, frozen: it can be asked, and forgets what it was asked."""
    mind = BoxMachine(
        machine.game_rules, machine.cabinet.side, machine.box_rule, n_removed=machine.n_removed, learns=False
    )
    if mind.cabinet.has_box(position):
        key = machine.game_rules.encode(mind.cabinet.box_position(position))
        beads = Box.objects.filter(machine=machine, position=key).values_list("beads", flat=True).first()
        if beads is not None:
            mind.boxes[key] = list(beads)
    return mind


def room_advice(code: str) -> dict[str, Any]:
    """What the engine thinks of the position in a room (docs/protocol.md).

    Raises:
        RoomNotFoundError, NoEngineError, MatchFinishedError.
    """
    with snapshot():
        room = room_get(code)
        match = match_latest(room)
    game = room.game_rules
    if not isinstance(game, Romgon):
        raise NoEngineError
    if match.is_over:
        raise MatchFinishedError
    return advice(game, game.decode(match.position))
