"""Reads of experiments and their results, as pages and the API show them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from beadbox.experiments.experiment import AnyExperiment, Unit
from beadbox.experiments.findings import share_of_hundred, tolerance_text
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.names import did_you_mean
from beadbox.rules.registry import game_get
from beadbox.seeds import seed_to_json
from learning.exceptions import ExperimentNotFoundError
from learning.models import ExperimentRun, JobStatus


def experiment_get(slug: str) -> AnyExperiment:
    """Return the experiment with this slug.

    Raises:
        ExperimentNotFoundError.
    """
    try:
        return EXPERIMENTS[slug]
    except KeyError:
        raise ExperimentNotFoundError(f"There is no experiment {slug!r}. {did_you_mean(slug, EXPERIMENTS)}") from None


def experiments_about(preset: str) -> list[AnyExperiment]:
    """Return the experiments in which machines of this preset take part."""
    return [experiment for experiment in EXPERIMENTS.values() if preset in experiment.presets]


def experiment_runs() -> QuerySet[ExperimentRun]:
    """Return all runs of experiments, newest first; they are public."""
    return ExperimentRun.objects.select_related("user").order_by("-pk")


def experiment_run_for(run_id: int) -> ExperimentRun:
    """Return the run of an experiment with this id.

    Raises:
        ExperimentNotFoundError.
    """
    run = experiment_runs().filter(pk=run_id).first()
    if run is None:
        raise ExperimentNotFoundError("There is no such run of an experiment.")
    return run


def experiment_run_latest(experiment: AnyExperiment) -> ExperimentRun | None:
    """Return the newest finished run of this experiment's present edition; ``None`` if there is none."""
    return experiment_runs_finished(experiment).first()


def experiment_runs_finished(experiment: AnyExperiment) -> QuerySet[ExperimentRun]:
    """Return the runs of this experiment's present edition that have a result, newest first."""
    finished = ExperimentRun.objects.filter(
        experiment=experiment.slug, edition=experiment.edition, status=JobStatus.FINISHED
    )
    return finished.order_by("-finished_at", "-pk")


def experiment_view(experiment: AnyExperiment) -> dict[str, object]:
    """Return the question of an experiment and its parameters, as the API shows them."""
    return {
        "slug": experiment.slug,
        "name": experiment.name,
        "question": experiment.question,
        "game": experiment.game,
        "presets": list(experiment.presets),
        "edition": experiment.edition,
        "seed": seed_to_json(experiment.default_seed),
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


def experiment_run_brief(run: ExperimentRun) -> dict[str, object]:
    """Return a run of an experiment without its result."""
    return {
        "id": run.pk,
        "experiment": run.experiment,
        "edition": run.edition,
        "parameters": run.parameters,
        "seed": seed_to_json(run.seed),
        "status": run.status,
        "progress": run.progress,
        "error": run.error,
        "created_at": run.created_at.isoformat(),
        "finished_at": run.finished_at.isoformat() if run.finished_at else None,
    }


def experiment_run_view(run: ExperimentRun) -> dict[str, object]:
    """Return a run of an experiment with its result, if it is finished."""
    return {**experiment_run_brief(run), "result": run.result}


def experiment_head(experiment: AnyExperiment) -> dict[str, object]:
    """Return an experiment as a line of a list and as the head of its page."""
    return {
        "slug": experiment.slug,
        "name": experiment.name,
        "question": experiment.question,
        "game": game_get(experiment.game).name,
    }


def experiment_run_line(run: ExperimentRun, experiment: AnyExperiment) -> dict[str, object]:
    """Return a run as a line of a list and as the head of its result."""
    chosen = [
        (parameter.label, run.parameters[parameter.name])
        for parameter in experiment.parameters
        if parameter.name in run.parameters
    ]
    return {
        "id": run.pk,
        "url": run.get_absolute_url(),
        "seed": seed_to_json(run.seed),
        "settings": [f"{label}: {value:,}" for label, value in chosen],
        "status": run.status,
        "status_words": run.get_status_display(),
        "percent": int(100 * run.progress),
        "is_over": run.is_over,
        "is_old": run.edition != experiment.edition,
        "has_result": run.result is not None,
        "error": run.error,
        "when": run.finished_at or run.created_at,
    }


def experiment_figures(run: ExperimentRun | None) -> list[dict[str, object]]:
    """Return the headline figures of a run as text, each with its interval and the published figure.

    The list is empty without a result.
    """
    if run is None or run.result is None:
        return []
    return [
        {
            "label": figure["label"],
            "value": _value_text(figure["unit"], figure["value"]),
            "interval": _interval_text(figure),
            "published": _published_text(figure),
            "source": (figure["published"] or {}).get("source", ""),
            "agrees": figure["agrees"],
        }
        for figure in run.result["figures"]
    ]


def _published_text(figure: dict[str, Any]) -> str:
    """Return the published figure and the range that counts as agreement; empty if nothing was published."""
    if (published := figure["published"]) is None:
        return ""
    range_text = tolerance_text(figure["unit"], published["low"], published["high"])
    return f"{published['words']}{range_text and f' ({range_text})'}"


def _value_text(unit: str, value: float | None) -> str:
    if value is None:
        return "not yet"
    if unit == Unit.SHARE:
        return _share_text(value)
    if unit == Unit.ELO:
        return f"{value:.0f}".replace("-", "−")
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _interval_text(figure: dict[str, Any]) -> str:
    if figure["low"] is None and figure["high"] is None:
        return ""
    low, high = (_value_text(figure["unit"], figure[edge]) for edge in ("low", "high"))
    return f"{low} or more" if figure["high"] is None else f"{low} to {high}"


def _share_text(value: float) -> str:
    return f"{_of_hundred(value)}\u00a0%"


def _of_hundred(value: float) -> str:
    """Return a share from 0 to 1 as a number out of 100 with one decimal, as on the axis of the chart."""
    return f"{share_of_hundred(value):z.1f}".replace("-", "−")


def experiment_charts(run: ExperimentRun | None) -> list[dict[str, object]]:
    """Return the charts of a run, each with the rows of its table; empty without a result."""
    if run is None or run.result is None:
        return []
    return [{"chart": chart, "rows": _chart_rows(chart)} for chart in run.result["charts"]]


def _chart_rows(chart: dict[str, Any]) -> list[tuple[int, list[str]]]:
    columns = [
        [
            _of_hundred(value)
            if line["low"] is None
            else f"{_of_hundred(value)} ({_of_hundred(low)} to {_of_hundred(high)})"
            for value, low, high in zip(
                line["values"], line["low"] or line["values"], line["high"] or line["values"], strict=True
            )
        ]
        for line in chart["lines"]
    ]
    return [(x, [column[row] for column in columns]) for row, x in enumerate(chart["xs"])]


def experiment_rows(run: ExperimentRun) -> Iterator[list[object]]:
    """Yield all results of a run with full precision: a header, then a row for each figure and each chart point."""
    yield ["part", "line", "x", "value", "low", "high", "published", "source"]
    result: dict[str, Any] = run.result or {"figures": [], "charts": []}
    for figure in result["figures"]:
        published = figure["published"] or {"words": "", "source": ""}
        numbers = (figure["value"], figure["low"], figure["high"])
        yield ["figure", figure["label"], "", *numbers, published["words"], published["source"]]
    for chart in result["charts"]:
        for line in chart["lines"]:
            lows, highs = (line[edge] or [None] * len(chart["xs"]) for edge in ("low", "high"))
            for x, *point in zip(chart["xs"], line["values"], lows, highs, strict=True):
                yield [chart["slug"], line["name"], x, *point]
