"""A machine as it stands, for a question about one position: nothing is locked and nothing is written."""

from __future__ import annotations

from typing import Any

from learning.machines.menace import Menace
from learning.models import Box, Machine


def machine_as_it_stands(machine: Machine, position: Any) -> Menace:
    """The machine with the one box that this position opens, frozen: it can be asked, and forgets what it was asked."""
    mind = Menace(machine.rules, machine.cabinet.side, machine.learning_rule, n_removed=machine.n_removed, learns=False)
    if mind.cabinet.has_box(position):
        key = machine.rules.encode(mind.cabinet.box_position(position))
        beads = Box.objects.filter(machine=machine, position=key).values_list("beads", flat=True).first()
        if beads is not None:
            mind.boxes[key] = list(beads)
    return mind
