"""What is told to open pages of machines, training runs and tournaments, after the transaction has committed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from games.events import group_tell
from learning.models import Machine
from learning.states import HoldsBeads, PointState, PrivateEntry, RunProgress, TournamentState, box_state


def machine_group(machine_id: int) -> str:
    """The group of everybody who looks at a machine."""
    return f"machine.{machine_id}"


def run_group(run_id: int) -> str:
    """The group of everybody who watches a training run."""
    return f"run.{run_id}"


def run_changed(run_id: int, view: RunProgress, points: list[PointState], audience: list[int] | None) -> None:
    """Tell a run's page how far it is, and the points that its curve has got; ``audience`` is that of its machine."""
    group_tell(run_group(run_id), {"type": "run.state", "data": {**view, "points": points}, "audience": audience})


def tournament_group(tournament_id: int) -> str:
    """The group of everybody who watches a tournament."""
    return f"tournament.{tournament_id}"


def tournament_changed(tournament_id: int, whole: TournamentState, private: list[PrivateEntry]) -> None:
    """Tell a tournament's page how it stands: each socket tells its reader what they may know of it."""
    group_tell(tournament_group(tournament_id), {"type": "tournament.state", "whole": whole, "private": private})


def bead_drawn(machine: Machine, drawn: dict[str, Any]) -> None:
    """Tell a machine's page which bead was drawn in a live match."""
    _machine_tell(machine, {"boxes": [], "drawn": drawn, "totals": None})


def boxes_changed(machine: Machine, boxes: Iterable[HoldsBeads]) -> bool:
    """Tell a machine's page what these boxes hold now, and its totals after a lesson.

    Whether it could be told: who gathers changes tells them again with the next ones.
    """
    totals = {
        "games": machine.n_games,
        "wins": machine.n_wins,
        "draws": machine.n_draws,
        "losses": machine.n_losses,
        "level": machine.level,
    }
    told = [box_state(box) for box in boxes]
    return _machine_tell(machine, {"boxes": told, "drawn": None, "totals": totals})


def _machine_tell(machine: Machine, data: dict[str, Any]) -> bool:
    return group_tell(machine_group(machine.pk), {"type": "machine.boxes", "data": data, "audience": machine.audience})
