"""Reads of experiments: what there is to run, and what came of it, as pages and the API show them."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from learning.core.experiments.base import Experiment
from learning.core.experiments.registry import EXPERIMENTS
from learning.exceptions import ExperimentNotFoundError
from learning.models import ExperimentRun, JobStatus


def experiment_get(slug: str) -> Experiment:
    """The experiment with this name.

    Raises:
        ExperimentNotFoundError.
    """
    try:
        return EXPERIMENTS[slug]
    except KeyError:
        raise ExperimentNotFoundError(f"There is no experiment {slug!r}; there are {', '.join(EXPERIMENTS)}.") from None


def experiments_about(preset: str) -> list[Experiment]:
    """The experiments in which machines of this preset take part."""
    return [experiment for experiment in EXPERIMENTS.values() if preset in experiment.presets]


def experiment_runs() -> QuerySet[ExperimentRun]:
    """Every run, newest first; everybody may see them."""
    return ExperimentRun.objects.select_related("user").order_by("-pk")


def experiment_run_for(run_id: int) -> ExperimentRun:
    """The run with this id.

    Raises:
        ExperimentNotFoundError.
    """
    run = experiment_runs().filter(pk=run_id).first()
    if run is None:
        raise ExperimentNotFoundError("There is no such run of an experiment.")
    return run


def experiment_run_latest(experiment: Experiment) -> ExperimentRun | None:
    """The run of this experiment that finished last, if there is one."""
    return experiment_finished(experiment).first()


def experiment_finished(experiment: Experiment) -> QuerySet[ExperimentRun]:
    """The runs of this experiment that have a result, the newest first."""
    finished = ExperimentRun.objects.filter(
        experiment=experiment.slug, edition=experiment.edition, status=JobStatus.FINISHED
    )
    return finished.order_by("-finished_at", "-pk")


def experiment_view(experiment: Experiment) -> dict[str, Any]:
    """What an experiment asks, and what can be chosen."""
    return {
        "slug": experiment.slug,
        "name": experiment.name,
        "question": experiment.question,
        "game": experiment.game,
        "presets": list(experiment.presets),
        "edition": experiment.edition,
        "seed": experiment.default_seed,
        "parameters": [
            {
                "name": parameter.name,
                "label": parameter.label,
                "default": parameter.default,
                "low": parameter.low,
                "high": parameter.high,
            }
            for parameter in experiment.parameters
        ],
    }


def experiment_run_brief(run: ExperimentRun) -> dict[str, Any]:
    """A run without what came of it."""
    return {
        "id": run.pk,
        "experiment": run.experiment,
        "edition": run.edition,
        "parameters": run.parameters,
        "seed": run.seed,
        "status": run.status,
        "progress": run.progress,
        "error": run.error,
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def experiment_run_view(run: ExperimentRun) -> dict[str, Any]:
    """A run with what came of it, if it is finished."""
    return {**experiment_run_brief(run), "result": run.result}
