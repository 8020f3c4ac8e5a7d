"""Reads of training runs and their curves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from django.db.models import Q, QuerySet
from django.urls import reverse

from beadbox.learners.readiness import MAX_PLAIN_GAMES, games_compiling, kernels_compiling
from beadbox.policies.registry import OPPONENTS
from beadbox.seeds import seed_to_json
from beadbox.strength.sampled import wilson
from games.accounts.principal import UNKNOWN_PRINCIPAL, AnyUser, Principal
from games.limits.quotas import site_is_full
from games.live.room_state import HIDDEN_MACHINE_TEXT
from learning.access import machines_visible, may_see
from learning.models import CurvePoint, JobStatus, Machine, RunStage, TrainingRun
from learning.states import PointState, RunProgress, RunState, ShareState

STAGES_PREFETCH = "stages__opponent_machine"
"""Relation to prefetch with the runs that :func:`run_view` or :func:`run_line` shows."""


def point_view(point: CurvePoint, before: CurvePoint | None) -> PointState:
    """Return a point of a run's curve.

    With the point ``before``, ``in_training`` has the shares of the results of the games between the two points.
    """
    state: PointState = {
        "games": point.games_done,
        "wins": point.n_wins,
        "draws": point.n_draws,
        "losses": point.n_losses,
        "strength": point.strength,
    }
    if before is not None:
        n_games = point.games_done - before.games_done
        state["in_training"] = {
            "win": _share(point.n_wins - before.n_wins, n_games),
            "draw": _share(point.n_draws - before.n_draws, n_games),
            "loss": _share(point.n_losses - before.n_losses, n_games),
        }
    return state


def _share(n_results: int, n_games: int) -> ShareState:
    """Return ``n_results / n_games`` with its 95 % interval."""
    low, high = wilson(n_results, n_games)
    return {"value": n_results / n_games, "low": low, "high": high}


def run_progress(run: TrainingRun) -> RunProgress:
    """Return the progress of a training run, the same for all viewers that may see its machine."""
    return {
        "id": run.pk,
        "machine": run.machine_id,
        "status": run.status,
        "waits_for_room": run.finished_at is None and site_is_full(),
        "waits_for_kernels": run.finished_at is None and _waits_for_kernels(run),
        "games": run.n_games,
        "games_done": run.games_done,
        "wins": run.n_wins,
        "draws": run.n_draws,
        "losses": run.n_losses,
        "most_values": run.most_values,
        "values_left_out": run.n_left_out,
        "measured": run.n_measured,
        "seed": seed_to_json(run.seed),
        "error": run.error,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at.isoformat() if run.started_at else None,
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def _waits_for_kernels(run: TrainingRun) -> bool:
    """Whether the run cannot start because the kernels that it needs are being compiled (``workers.runs``)."""
    if run.n_games > MAX_PLAIN_GAMES and kernels_compiling():
        return True
    games = games_compiling()  # usually empty; then the machine is not read
    return bool(games) and run.machine.game in games


def run_view(run: TrainingRun, viewer: Principal = UNKNOWN_PRINCIPAL) -> RunState:
    """Return a training run, without its curve, redacted for this viewer (by default a guest)."""
    return {
        **run_progress(run),
        "opponents": [
            {
                "opponent": stage.opponent,
                "machine": None if stage_is_hidden(stage, viewer) else stage.opponent_machine_id,
                "learns": stage.opponent_learns,
                "games": stage.n_games,
            }
            for stage in run.stages.all()
        ],
    }


def run_detail(run: TrainingRun, viewer: Principal = UNKNOWN_PRINCIPAL) -> dict[str, object]:
    """Return a training run with its curve, redacted for this viewer."""
    return {**run_view(run, viewer), "curve": run_curve(run)}


def stage_is_hidden(stage: RunStage, viewer: Principal) -> bool:
    """Whether the opponent is a machine that the viewer may not see."""
    return stage.opponent_machine is not None and not may_see(viewer, stage.opponent_machine.audience)


def run_curve(run: TrainingRun, *, after: int = -1) -> list[PointState]:
    """Return the points of a run's curve with more than ``after`` games, in ascending order of games."""
    points = list(run.curve.filter(games_done__gt=after).order_by("games_done"))
    last = run.curve.filter(games_done__lte=after).order_by("games_done").last() if points else None
    return [point_view(point, before) for before, point in pairwise([last, *points]) if point is not None]


def stage_sentence(stage: RunStage, viewer: Principal = UNKNOWN_PRINCIPAL) -> str:
    """Return a stage in words: the games and the opponent. A machine that the viewer may not see is not named."""
    machine = stage.opponent_machine
    if stage_is_hidden(stage, viewer):
        return f"{stage.n_games:,} games against {HIDDEN_MACHINE_TEXT}"
    fixed = OPPONENTS.get(stage.opponent)
    opponent = (
        machine.name if machine else stage.opponent_name or (fixed.name.lower() if fixed else "a deleted machine")
    )
    learns = ", which learns too" if stage.opponent_learns else ""
    return f"{stage.n_games:,} games against {opponent}{learns}"


def run_line(run: TrainingRun, viewer: Principal) -> dict[str, object]:
    """Return a run as a line of a list and as the head of its own page, for this viewer."""
    return {
        "id": run.pk,
        "url": reverse("run", args=[run.pk]),
        "status": run.status,
        "status_words": run.get_status_display(),
        "games": run.n_games,
        "games_done": run.games_done,
        "seed": seed_to_json(run.seed),
        "when": run.created_at,
        "is_over": run.finished_at is not None,
        "opponents": [stage_sentence(stage, viewer) for stage in run.stages.all()],
    }


def run_list_running(user: AnyUser, limit: int = 5) -> list[TrainingRun]:
    """Return the running training runs of machines that a list may show to this user, newest first."""
    runs = TrainingRun.objects.filter(status=JobStatus.RUNNING, machine__in=machines_visible(user))
    return list(runs.select_related("machine").order_by("-pk")[:limit])


def running_run_line(run: TrainingRun) -> dict[str, object]:
    """Return a run as a line of the list of running trainings."""
    return {
        "url": reverse("run", args=[run.pk]),
        "machine": run.machine.name,
        "games": run.n_games,
        "games_done": run.games_done,
    }


def run_list_of(machine: Machine, limit: int = 20) -> list[TrainingRun]:
    """Return the machine's latest training runs, at most ``limit``, newest first, with their stages."""
    return list(machine.runs.prefetch_related(STAGES_PREFETCH).order_by("-pk")[:limit])


def run_list_open(machine: Machine) -> list[TrainingRun]:
    """Return the machine's training runs that are waiting or running."""
    return list(machine.runs.filter(finished_at__isnull=True).order_by("pk"))


def runs_teaching(machine: Machine) -> QuerySet[TrainingRun]:
    """Return the unfinished training runs in which the machine learns, as the trainee or as the opponent."""
    teaches = Q(machine=machine) | Q(stages__opponent_machine=machine, stages__opponent_learns=True)
    return TrainingRun.objects.filter(teaches, finished_at__isnull=True)


def machine_curves(machines: Sequence[Machine]) -> dict[int, list[PointState]]:
    """Return the curve of each machine, by id: the curves of its training runs, one after the other; two queries.

    ``games``, ``wins``, ``draws`` and ``losses`` include the training games of earlier runs, but no matches.
    """
    runs = TrainingRun.objects.filter(machine__in=machines, started_at__isnull=False).prefetch_related("curve")
    curves: dict[int, list[PointState]] = {machine.pk: [] for machine in machines}
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
