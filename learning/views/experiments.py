"""Pages of experiments: the question, the results beside the published ones, and a form for new runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from beadbox.experiments.experiment import AnyExperiment
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.learners.presets import ALL_PRESETS
from beadbox.names import name_near
from games.accounts.identity import guest_for_seat, principal_of_request
from games.exceptions import PlayError
from games.transport.error_responses import not_found_response, redirect_back, refusal_response
from learning.access import row_id, staff_may
from learning.exceptions import ExperimentNotFoundError
from learning.forms.experiments import ExperimentForm
from learning.kinds.code import Code
from learning.models import ExperimentRun
from learning.selectors import experiments as selectors
from learning.selectors.code import experiment_code
from learning.services import experiments as services
from learning.views.tables import csv_download, json_download

RESULTS_LISTED = 10


@require_safe
def experiment_list(request: HttpRequest) -> HttpResponse:
    """Show every experiment with its question and the figures of its latest run, if any."""
    experiments = []
    for experiment in EXPERIMENTS.values():
        run = selectors.experiment_run_latest(experiment)
        figures = selectors.experiment_figures(run)
        shown_figures = [figure for figure in figures if figure["published"]] or figures
        experiments.append({**selectors.experiment_head(experiment), "figures": shown_figures})
    return render(request, "learning/experiments.html", {"experiments": experiments})


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an experiment with the run in the URL, by default the latest finished run. POST requests a new run."""
    try:
        experiment = selectors.experiment_get(slug)
        run = _requested_run(request, experiment)
    except PlayError as error:
        similar_slug = name_near(slug, EXPERIMENTS)
        return not_found_response(
            request, error, reverse("experiment", args=[similar_slug]) if similar_slug and similar_slug != slug else ""
        )
    form = ExperimentForm(
        request.POST or None,
        experiment=experiment,
        initial={"seed": run.seed, **run.parameters} if run is not None else None,
    )
    if request.method == "POST" and form.is_valid():
        try:
            with guest_for_seat(request, principal_of_request(request)) as person:
                requested_run = services.experiment_request(person=person, experiment=slug, **form.chosen())
        except PlayError as error:
            return redirect_back(request, error, request.path)
        return redirect(requested_run)
    person = principal_of_request(request)
    other_runs = selectors.experiment_runs_finished(experiment)[:RESULTS_LISTED]
    context = {
        "experiment": {
            **selectors.experiment_head(experiment),
            "story": experiment.story.strip().split("\n\n"),
            "science": experiment.science.strip().split("\n\n"),
            "presets": [ALL_PRESETS[preset].name for preset in experiment.presets],
        },
        "form": form,
        "run": selectors.experiment_run_line(run, experiment) if run is not None else None,
        "may_cancel": run is not None
        and (services.is_requester(person, run) or staff_may(request.user, "change_experimentrun")),
        "code": Code(lines) if run is not None and (lines := experiment_code(run)) else None,
        "findings": run.result.get("findings", []) if run is not None and run.result else [],
        "figures": selectors.experiment_figures(run),
        "charts": selectors.experiment_charts(run),
        "tables": run.result["tables"] if run is not None and run.result else [],
        "others": [selectors.experiment_run_line(other, experiment) for other in other_runs],
    }
    return render(request, "learning/experiment.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop a run that this visitor requested. GET redirects to the run."""
    try:
        if request.method != "POST":
            return redirect(selectors.experiment_run_for(run_id))
        run = services.experiment_cancel(
            person=principal_of_request(request),
            run_id=run_id,
            is_staff=staff_may(request.user, "change_experimentrun"),
        )
    except PlayError as error:
        return refusal_response(request, error, "experiments")
    return redirect(run)


@require_safe
def experiment_csv(request: HttpRequest, run_id: int) -> HttpResponse:
    """Send all results of a run as CSV with full precision: a line for each figure and each point of a chart."""
    try:
        run = selectors.experiment_run_for(run_id)
    except PlayError as error:
        return not_found_response(request, error)
    return csv_download(f"{run.experiment}-seed-{run.seed}.csv", selectors.experiment_rows(run))


@require_safe
def experiment_json(request: HttpRequest, run_id: int) -> HttpResponse:
    """Send a run with all its results as JSON, in the shape of the API."""
    try:
        run = selectors.experiment_run_for(run_id)
    except PlayError as error:
        return not_found_response(request, error)
    return json_download(f"{run.experiment}-seed-{run.seed}.json", selectors.experiment_run_view(run))


def _requested_run(request: HttpRequest, experiment: AnyExperiment) -> ExperimentRun | None:
    """Return the run named in the URL, by default the latest finished run.

    Raises:
        ExperimentNotFoundError: there is no such run of this experiment.
    """
    run_id = request.GET.get("run", "")
    if not run_id:
        return selectors.experiment_run_latest(experiment)
    pk = row_id(run_id)
    run = None if pk is None else selectors.experiment_run_for(pk)
    if run is None or run.experiment != experiment.slug:
        raise ExperimentNotFoundError(f"There is no run {run_id!r} of this experiment.")
    return run
