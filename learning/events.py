"""What is told to open machine pages, after the transaction has committed."""

from __future__ import annotations

from typing import Any

from games.events import group_tell
from learning.models import Box, Machine


def machine_group(machine_id: int) -> str:
    """The group of everybody who looks at a machine."""
    return f"machine.{machine_id}"


def run_group(run_id: int) -> str:
    """The group of everybody who watches a training run."""
    return f"run.{run_id}"


def run_changed(run_id: int, view: dict[str, Any], points: list[dict[str, Any]]) -> None:
    """Tell a run's page how far it is, and the points that its curve has got."""
    group_tell(run_group(run_id), {"type": "run.state", "data": {**view, "points": points}})


def tournament_group(tournament_id: int) -> str:
    """The group of everybody who watches a tournament."""
    return f"tournament.{tournament_id}"


def tournament_changed(tournament_id: int, view: dict[str, Any]) -> None:
    """Tell a tournament's page how it stands."""
    group_tell(tournament_group(tournament_id), {"type": "tournament.state", "data": view})


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
