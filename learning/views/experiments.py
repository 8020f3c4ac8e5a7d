"""Pages of experiments: what is asked, what came of it beside what was published, and run it again."""

from __future__ import annotations

import csv
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from games.answers import not_found, refused
from games.exceptions import PlayError
from games.identity import guest_seated, person_of_request
from games.rules.registry import game_get
from games.views import limited
from learning.access import row_id
from learning.core.experiments.base import Experiment, Unit
from learning.core.experiments.registry import EXPERIMENTS
from learning.core.machines.presets import PRESETS
from learning.exceptions import ExperimentNotFoundError
from learning.forms.experiments import ExperimentForm
from learning.models import ExperimentRun
from learning.selectors import experiments as selectors
from learning.services import experiments as services

RESULTS_LISTED = 10


@require_GET
def experiment_list(request: HttpRequest) -> HttpResponse:
    """Every experiment with its question and, where it has been run, its figures."""
    experiments = []
    for experiment in EXPERIMENTS.values():
        run = selectors.experiment_run_latest(experiment)
        figures = _figures(run)
        shown = [figure for figure in figures if figure["published"]] or figures
        experiments.append({**_head(experiment), "figures": shown})
    return render(request, "learning/experiments.html", {"experiments": experiments})


@limited
@require_http_methods(["GET", "POST"])
def experiment_page(request: HttpRequest, slug: str) -> HttpResponse:
    """An experiment with one run of it: the one asked for, else the one that finished last. POST runs it."""
    try:
        experiment = selectors.experiment_get(slug)
        run = _run_shown(request, experiment)
    except PlayError as error:
        return not_found(request, error)
    form = ExperimentForm(
        request.POST or None,
        experiment=experiment,
        initial={"seed": run.seed, **run.parameters} if run is not None else None,
    )
    if request.method == "POST" and form.is_valid():
        try:
            with guest_seated(request, person_of_request(request)) as person:
                asked = services.experiment_request(person=person, experiment=slug, **form.chosen())
        except PlayError as error:
            messages.error(request, str(error))
            return redirect("experiment", slug)
        return redirect(asked)
    person = person_of_request(request)
    context = {
        "experiment": {
            **_head(experiment),
            "story": experiment.story.strip().split("\n\n"),
            "finding": experiment.finding.strip(),
            "science": experiment.science.strip().split("\n\n"),
            "presets": [PRESETS[preset].name for preset in experiment.presets],
        },
        "form": form,
        "run": _line(run, experiment) if run is not None else None,
        "may_cancel": run is not None and (request.user.is_staff or services.began(person, run)),
        "figures": _figures(run),
        "charts": _charts(run),
        "tables": run.result["tables"] if run is not None and run.result else [],
        "others": [_line(other, experiment) for other in selectors.experiment_finished(experiment)[:RESULTS_LISTED]],
    }
    return render(request, "learning/experiment.html", context)


@require_POST
def experiment_cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop a run that this visitor began."""
    try:
        run = services.experiment_cancel(
            person=person_of_request(request), run_id=run_id, is_staff=request.user.is_staff
        )
    except PlayError as error:
        return refused(request, error, "experiments")
    return redirect(run)


@require_GET
def experiment_csv(request: HttpRequest, run_id: int) -> HttpResponse:
    """Everything that a run came to, with full precision: a line for each figure and for each point of a chart."""
    try:
        run = selectors.experiment_run_for(run_id)
    except PlayError as error:
        return not_found(request, error)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{run.experiment}-seed-{run.seed}.csv"'
    writer = csv.writer(response)
    writer.writerow(["part", "line", "x", "value", "low", "high", "published", "source"])
    result: dict[str, Any] = run.result or {"figures": [], "charts": []}
    for figure in result["figures"]:
        published = figure["published"] or {"words": "", "source": ""}
        known = (figure["value"], figure["low"], figure["high"])
        writer.writerow(["figure", figure["label"], "", *known, published["words"], published["source"]])
    for chart in result["charts"]:
        for line in chart["lines"]:
            lows, highs = (line[edge] or [None] * len(chart["xs"]) for edge in ("low", "high"))
            for x, *numbers in zip(chart["xs"], line["values"], lows, highs, strict=True):
                writer.writerow([chart["slug"], line["name"], x, *numbers])
    return response


def _run_shown(request: HttpRequest, experiment: Experiment) -> ExperimentRun | None:
    """The run that the address names, else the one that finished last.

    Raises:
        ExperimentNotFoundError: there is no such run of this experiment.
    """
    wanted = request.GET.get("run", "")
    if not wanted:
        return selectors.experiment_run_latest(experiment)
    pk = row_id(wanted)
    run = None if pk is None else selectors.experiment_run_for(pk)
    if run is None or run.experiment != experiment.slug:
        raise ExperimentNotFoundError(f"There is no run {wanted!r} of this experiment.")
    return run


def _head(experiment: Experiment) -> dict[str, Any]:
    return {
        "slug": experiment.slug,
        "name": experiment.name,
        "question": experiment.question,
        "game": game_get(experiment.game).name,
    }


def _line(run: ExperimentRun, experiment: Experiment) -> dict[str, Any]:
    """A run as a line of a list and as the head of its result."""
    chosen = [(p.label, run.parameters[p.name]) for p in experiment.parameters if p.name in run.parameters]
    return {
        "id": run.pk,
        "url": run.get_absolute_url(),
        "seed": run.seed,
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


def _figures(run: ExperimentRun | None) -> list[dict[str, Any]]:
    """Headline figures in words, each with its interval and the published one."""
    if run is None or run.result is None:
        return []
    return [
        {
            "label": figure["label"],
            "value": _words(figure["unit"], figure["value"]),
            "interval": _interval(figure),
            "published": (figure["published"] or {}).get("words", ""),
            "source": (figure["published"] or {}).get("source", ""),
            "agrees": figure["agrees"],
        }
        for figure in run.result["figures"]
    ]


def _words(unit: str, value: float | None) -> str:
    if value is None:
        return "not yet"
    if unit == Unit.SHARE:
        return _share(value)
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _interval(figure: dict[str, Any]) -> str:
    if figure["low"] is None and figure["high"] is None:
        return ""
    low, high = (_words(figure["unit"], figure[edge]) for edge in ("low", "high"))
    return f"{low} or more" if figure["high"] is None else f"{low} to {high}"


def _share(value: float) -> str:
    return f"{100 * value:.1f}\u00a0%"


def _charts(run: ExperimentRun | None) -> list[dict[str, Any]]:
    """The charts, each with the rows of its table."""
    if run is None or run.result is None:
        return []
    return [{"chart": chart, "rows": _rows(chart)} for chart in run.result["charts"]]


def _rows(chart: dict[str, Any]) -> list[tuple[int, list[str]]]:
    columns = [
        [
            _share(value) if line["low"] is None else f"{_share(value)} ({_share(low)} to {_share(high)})"
            for value, low, high in zip(
                line["values"], line["low"] or line["values"], line["high"] or line["values"], strict=True
            )
        ]
        for line in chart["lines"]
    ]
    return [(x, [column[row] for column in columns]) for row, x in enumerate(chart["xs"])]
