"""What is told to open machine pages, after the transaction has committed."""

from __future__ import annotations

from typing import Any

from games.events import group_tell
from learning.models import Box, Machine


def machine_group(machine_id: int) -> str:
    """The group of everybody who looks at a machine."""
    return f"machine.{machine_id}"


def bead_drawn(machine_id: int, drawn: dict[str, Any]) -> None:
    """Tell a machine's page which bead was drawn in a live match."""
    _machine_tell(machine_id, {"boxes": [], "drawn": drawn, "totals": None})


def box_changed(machine: Machine, boxes: list[Box]) -> None:
    """Tell a machine's page what these boxes hold now."""
    boxes_changed(machine, [{"position": box.position, "beads": box.beads, "draws": box.draws} for box in boxes])


def boxes_changed(machine: Machine, boxes: list[dict[str, Any]]) -> None:
    """Tell a machine's page what these boxes (position, beads, draws) hold now, and its totals after a lesson."""
    totals = {
        "games": machine.n_games,
        "wins": machine.n_wins,
        "draws": machine.n_draws,
        "losses": machine.n_losses,
        "level": machine.level,
    }
    _machine_tell(machine.pk, {"boxes": boxes, "drawn": None, "totals": totals})


def _machine_tell(machine_id: int, data: dict[str, Any]) -> None:
    group_tell(machine_group(machine_id), {"type": "machine.boxes", "data": data})
