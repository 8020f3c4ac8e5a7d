"""Reads of training runs and their curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from learning.core.opponents.registry import OPPONENTS
from learning.models import CurvePoint, Machine, RunStage, TrainingRun


def point_view(point: CurvePoint) -> dict[str, Any]:
    """A point of a run's curve."""
    return {
        "games": point.games_done,
        "wins": point.n_wins,
        "draws": point.n_draws,
        "losses": point.n_losses,
        "strength": point.strength,
    }


def run_view(run: TrainingRun) -> dict[str, Any]:
    """How far a training run is (``curve`` apart: :func:`run_curve`)."""
    return {
        "id": run.pk,
        "machine": run.machine_id,
        "opponents": [
            {
                "opponent": stage.opponent,
                "machine": stage.opponent_machine_id,
                "learns": stage.opponent_learns,
                "games": stage.n_games,
            }
            for stage in run.stages.all()
        ],
        "status": run.status,
        "games": run.n_games,
        "games_done": run.games_done,
        "wins": run.n_wins,
        "draws": run.n_draws,
        "losses": run.n_losses,
        "seed": run.seed,
        "error": run.error,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at and run.started_at.isoformat(),
        "finished_at": run.finished_at and run.finished_at.isoformat(),
    }


def run_curve(run: TrainingRun, *, after: int = -1) -> list[dict[str, Any]]:
    """The points of a run's curve so far, in order, those beyond so many games."""
    return [point_view(point) for point in run.curve.filter(games_done__gt=after).order_by("games_done")]


def stage_sentence(stage: RunStage, *, hidden: bool = False) -> str:
    """So many games against whom; a machine that whoever asks may not see stays without a name."""
    other = stage.opponent_machine
    if hidden:
        return f"{stage.n_games:,} games against a machine that is not public"
    who = other.name if other else stage.opponent_name or OPPONENTS[stage.opponent].name.lower()
    learns = ", which learns too" if stage.opponent_learns else ""
    return f"{stage.n_games:,} games against {who}{learns}"


def run_list_of(machine: Machine, limit: int = 20) -> list[TrainingRun]:
    """The machine's training runs, newest first, with their stages."""
    return list(machine.runs.prefetch_related("stages__opponent_machine").order_by("-pk")[:limit])


def run_list_open(machine: Machine) -> list[TrainingRun]:
    """The machine's training runs that wait or go on."""
    return list(machine.runs.filter(finished_at__isnull=True).order_by("pk"))


def machine_curves(machines: Sequence[Machine]) -> dict[int, list[dict[str, Any]]]:
    """The curve of each machine over all its training runs, one after the other; two queries.

    ``games`` counts the training games of the runs before as well; matches, which are few, are left out.
    """
    runs = TrainingRun.objects.filter(machine__in=machines, started_at__isnull=False).prefetch_related("curve")
    curves: dict[int, list[dict[str, Any]]] = {machine.pk: [] for machine in machines}
    before = dict.fromkeys(curves, (0, 0, 0, 0))
    for run in runs.order_by("started_at", "pk"):
        games, wins, draws, losses = before[run.machine_id]
        curves[run.machine_id] += [
            {
                "games": games + point.games_done,
                "wins": wins + point.n_wins,
                "draws": draws + point.n_draws,
                "losses": losses + point.n_losses,
                "strength": point.strength,
            }
            for point in run.curve.all()
        ]
        before[run.machine_id] = (
            games + run.games_done,
            wins + run.n_wins,
            draws + run.n_draws,
            losses + run.n_losses,
        )
    return curves
