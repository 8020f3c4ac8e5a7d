"""Pages of training runs: start, watch and cancel one, download its curve, and compare machines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from beadbox.rules.registry import GAMES
from games.accounts.principal import Principal
from games.accounts.views import account_required
from games.exceptions import PlayError
from games.live.game_view import game_picture
from games.transport.error_responses import form_only, not_found_response, refusal_response
from learning.access import MachineUse, can_edit, machine_for, machines_visible, owned_by, run_for
from learning.filters import MachineListFilter
from learning.forms.runs import SeedForm, StageFormSet
from learning.kinds.machines import opponent_machines
from learning.kinds.registry import kind_of
from learning.models import Machine, TrainingRun
from learning.selectors import machines as selectors
from learning.selectors import runs as selectors_runs
from learning.selectors.strength import CURVE_OPPONENTS
from learning.services import runs as services_runs
from learning.states import PointState
from learning.views.tables import csv_download, json_download

MAX_COMPARED_MACHINES = 6
"""Maximum number of machines compared in one chart; more curves are hard to tell apart."""
MACHINES_PER_PAGE = 12
"""Number of machines on a page of the list."""
MAX_OWN_MACHINES = 5
"""Maximum number of the viewer's own machines shown at the top of the list."""


@account_required(
    "Log in to train a machine over many games.",
    "Without an account you can play a machine, and it learns from each game.",
)
@require_http_methods(["GET", "HEAD", "POST"])
def run_start(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Show the form for opponents and games, and start the run."""
    try:
        machine = machine_for(request.user, machine_id, to="train")
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    partners = opponent_machines(machine, machines_visible(request.user))
    stages = StageFormSet(
        request.POST or None, form_kwargs={"game": machine.game_rules, "machines": partners}, prefix="stage"
    )
    seed = SeedForm(request.POST or None, machine=machine)
    error_text, status = "", 200
    if request.method == "POST" and stages.is_valid() and seed.is_valid():
        try:
            run = services_runs.training_run_request(
                user=request.user,
                machine=str(machine.pk),
                stages=[services_runs.Stage(**stage) for stage in stages.cleaned_data],
                **seed.cleaned_data,
            )
            return redirect("run", run.pk)
        except PlayError as error:
            error_text, status = str(error), error.status
    context = {
        "machine": {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url()},
        "learns": machine.learns,
        "stages": stages,
        "seed": seed,
        "runs": [
            selectors_runs.run_line(run, Principal.of(request.user)) for run in selectors_runs.run_list_of(machine)
        ],
        "problem": error_text,
    }
    return render(request, "learning/run_start.html", context, status=status)


@form_only("machine", "machine_id")
@account_required(
    "Log in to train two machines against each other.",
    "Without an account you can play a machine, and it learns from each game.",
)
def run_together(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Train a machine against another machine, which learns too if the account may train it."""
    try:
        machine = machine_for(request.user, machine_id, to="train")
        opponent = machine_for(request.user, request.POST.get("opponent", ""), to="play")
        learns = opponent.learns and can_edit(request.user, opponent)
        stage = services_runs.Stage(str(opponent.pk), _number(request.POST.get("games", ""), 0), learns=learns)
        seed = request.POST.get("seed", "")
        run = services_runs.training_run_request(
            user=request.user, machine=str(machine.pk), stages=[stage], seed=_number(seed, -1) if seed else None
        )
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    return redirect("run", run.pk)


def _number(text: str, default: int) -> int:
    """Parse a whole number; for other text return ``default``, a number that the service refuses."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else default


@require_safe
def run_page(request: HttpRequest, run_id: int) -> HttpResponse:
    """Show the progress, speed, remaining time and curve of a run, updated over its socket."""
    try:
        run = run_for(request.user, run_id)
    except PlayError as error:
        return not_found_response(request, error)
    kind = kind_of(run.machine)
    context = {
        "machine": {"id": run.machine_id, "name": run.machine.name, "url": run.machine.get_absolute_url()},
        "run": selectors_runs.run_line(run, Principal.of(request.user)),
        "run_json": selectors_runs.run_view(run, Principal.of(request.user)),
        "curve": selectors_runs.run_curve(run),
        "against": _opponents(run.machine),
        "exact": kind.training.has_table(run.machine),
        "kind": kind,
        "plays_either_side": kind.occupant_class.either_side,
        "why_unlisted": "" if run.machine.game_rules.listable else run.machine.game_rules.why_unlisted,
        "against_first": _first_opponent(run),
        "may_train": can_edit(request.user, run.machine),
    }
    return render(request, "learning/run.html", context)


@form_only("run", "run_id")
@account_required(
    "Log in to stop a training of yours.", "Without an account you can watch every training of a public machine."
)
def run_cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    """Stop a run; the machine keeps what it has learnt."""
    try:
        services_runs.training_run_stop(user=request.user, run_id=run_id)
    except PlayError as error:
        return refusal_response(request, error, reverse("run", args=[run_id]))
    return redirect("run", run_id)


@require_safe
def run_csv(request: HttpRequest, run_id: int) -> HttpResponse:
    """Send the curve of a run as CSV."""
    try:
        run = run_for(request.user, run_id)
    except PlayError as error:
        return not_found_response(request, error)
    return _csv(f"training-run-{run.pk}.csv", [], ((), selectors_runs.run_curve(run)))


@require_safe
def run_json(request: HttpRequest, run_id: int) -> HttpResponse:
    """Send a run with its curve as JSON, in the shape of the API."""
    try:
        run = run_for(request.user, run_id)
    except PlayError as error:
        return not_found_response(request, error)
    return json_download(f"training-run-{run.pk}.json", selectors_runs.run_detail(run, Principal.of(request.user)))


@require_safe
def machine_list(request: HttpRequest) -> HttpResponse:
    """Show the visible machines, sorted and filtered; several can be selected for comparison."""
    filters = {name: value for name, value in request.GET.dict().items() if name in MachineListFilter.base_filters}
    # The order is given explicitly, because links to further pages repeat only the given parameters.
    machine_filter = MachineListFilter(filters or {"sort": "name"}, machines_visible(request.user), request=request)
    other_machines, viewer = machine_filter.qs.select_related("owner", "standing"), Principal.of(request.user)
    own_machines = [] if filters else selectors.machine_list_own(viewer, MAX_OWN_MACHINES + 1)
    if own_machines:
        other_machines = other_machines.exclude(owned_by(viewer))
    page = Paginator(other_machines, MACHINES_PER_PAGE).get_page(request.GET.get("page"))
    if page.number > 1:
        own_machines = []
    own_rows, machines = selectors.machine_rows(own_machines[:MAX_OWN_MACHINES]), selectors.machine_rows(list(page))
    context = {
        "form": machine_filter.form,
        "page_obj": page,
        "own": own_rows,
        "has_more_of_own": len(own_machines) > MAX_OWN_MACHINES,
        "machines": machines,
        "boards": {
            slug: game_picture(GAMES[slug]) for slug in sorted({machine["board"] for machine in (*own_rows, *machines)})
        },
        "is_narrowed": any(value for name, value in filters.items() if name != "sort"),
        "compared_most": MAX_COMPARED_MACHINES,
    }
    return render(request, "learning/machines.html", context)


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Show the curves of several machines in one chart."""
    try:
        machines = _compared_machines(request)
    except PlayError as error:
        return not_found_response(request, error)
    if len({machine.game for machine in machines}) > 1:
        messages.info(request, "These machines play different games. Compare their curves with care.")
    curves = selectors_runs.machine_curves(machines)
    opponents = {slug for points in curves.values() for point in points for slug in point["strength"]}
    search_text = request.GET.get("search", "").strip()[:80]
    matches = selectors.machine_list_search(request.user, search_text, machines) if search_text else []
    context = {
        "sought": search_text,
        "found": [{**selectors.machine_card(m), "query": _query([*machines, m])} for m in matches],
        "is_full": len(machines) == MAX_COMPARED_MACHINES,
        "machines": [
            {**selectors.machine_card(m), "without": _query([other for other in machines if other != m])}
            for m in machines
        ],
        "curves": [{"id": m.pk, "name": m.name, "points": curves[m.pk]} for m in machines],
        "without": [m.name for m in machines if not curves[m.pk]],
        "against": {slug: name for slug, name in CURVE_OPPONENTS.items() if slug in opponents} or CURVE_OPPONENTS,
        "query": _query(machines),
    }
    return render(request, "learning/compare.html", context)


@require_safe
def compare_csv(request: HttpRequest) -> HttpResponse:
    """Send the curves of several machines as one CSV table."""
    try:
        machines = _compared_machines(request, to="export")
    except PlayError as error:
        return refusal_response(request, error, reverse("compare"))
    curves = selectors_runs.machine_curves(machines)
    return _csv("compare.csv", ["machine", "name"], *(((m.pk, m.name), curves[m.pk]) for m in machines))


@require_safe
def compare_json(request: HttpRequest) -> HttpResponse:
    """Send the curves of several machines as JSON, with points in the shape of the API."""
    try:
        machines = _compared_machines(request, to="export")
    except PlayError as error:
        return not_found_response(request, error)
    curves = selectors_runs.machine_curves(machines)
    rows = [
        {"id": m.pk, "slug": m.slug, "name": m.name, "game": m.game, "side": m.side, "curve": curves[m.pk]}
        for m in machines
    ]
    return json_download("compare.json", {"machines": rows})


def _compared_machines(request: HttpRequest, to: MachineUse = "see") -> list[Machine]:
    refs = dict.fromkeys(ref for ref in request.GET.getlist("machine") if ref.strip())
    return [machine_for(request.user, ref, to=to) for ref in list(refs)[:MAX_COMPARED_MACHINES]]


def _query(machines: Sequence[Machine]) -> str:
    """Return the query string of the page that compares these machines."""
    return urlencode([("machine", machine.pk) for machine in machines])


def _first_opponent(run: TrainingRun) -> str:
    """Return the opponent shown first on the curve: a training opponent if the curve has one, else random play."""
    slugs = [stage.opponent.replace("-", "_") for stage in run.stages.all()]
    return next((slug for slug in slugs if slug in _opponents(run.machine)), "random")


def _opponents(machine: Machine) -> dict[str, str]:
    """Return the names of the opponents against which a machine's curve is measured, by slug."""
    return {slug: CURVE_OPPONENTS[slug] for slug in kind_of(machine).training.strength_keys(machine)}


def _csv(name: str, leading_columns: list[str], *parts: tuple[Iterable[Any], list[PointState]]) -> HttpResponse:
    """Return curves as CSV with full precision.

    Args:
        name: name of the file.
        leading_columns: names of the columns that identify a curve.
        parts: for each curve, the values of these columns and the points.
    """
    result_columns = [(against, result) for against in CURVE_OPPONENTS for result in ("win", "draw", "loss")]
    rows: list[list[Any]] = [
        [
            *leading_columns,
            "games",
            "wins",
            "draws",
            "losses",
            *(f"{against}_{result}" for against, result in result_columns),
        ]
    ]
    for leading_cells, points in parts:
        for point in points:
            numbers = (point["strength"].get(against, {}).get(result, "") for against, result in result_columns)
            rows.append([*leading_cells, point["games"], point["wins"], point["draws"], point["losses"], *numbers])
    return csv_download(name, rows)
