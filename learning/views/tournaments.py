"""Pages of tournaments: start, watch, cancel or delete a tournament, and download its tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from beadbox.rules.registry import GAMES
from games.accounts.forms import refusal_add
from games.accounts.principal import Principal
from games.accounts.views import account_required
from games.exceptions import PlayError
from games.transport.error_responses import form_only, not_found_response, refusal_response
from learning.access import machine_require, machines_visible, may_use, row_id, staff_may
from learning.exceptions import MachineNotFoundError
from learning.filters import EntrantFilter
from learning.forms.machines import game_label
from learning.forms.runs import seed_new
from learning.forms.tournaments import TournamentForm
from learning.kinds.code import tournament_code
from learning.kinds.machines import entry_file, pairing_sentences
from learning.models import Machine
from learning.selectors import tournaments as selectors
from learning.services import tournaments as services
from learning.services.tournaments import MAX_ENTRIES
from learning.views.tables import csv_download, json_download, machine_file_download

TOURNAMENTS_PER_PAGE = 30
MAX_UNTICKED = 100
"""Maximum number of unticked machines on the form."""


@require_safe
def tournament_list(request: HttpRequest) -> HttpResponse:
    """Show the visible tournaments, newest first."""
    tournaments = selectors.tournaments_with_counts(selectors.tournaments_visible(request.user))
    page = Paginator(tournaments, TOURNAMENTS_PER_PAGE).get_page(request.GET.get("page"))
    return render(
        request,
        "learning/tournaments.html",
        {"page_obj": page, "tournaments": [selectors.tournament_line(t) for t in page]},
    )


@account_required("Log in to start a tournament.", "Without an account you can watch every public tournament.")
@require_http_methods(["GET", "HEAD", "POST"])
def tournament_new(request: HttpRequest) -> HttpResponse:
    """Show the form for the entrants and settings, and start the tournament."""
    game = request.GET.get("game", "")
    games = selectors.tournament_games(request.user)
    game = game if game in {choice.slug for choice in games} else games[0].slug
    visible = machines_visible(request.user).filter(game=game)
    entrant_filter = EntrantFilter(request.POST, visible, request=request, prefix="list", game=GAMES[game])
    ticked = _ticked(request, visible)
    unticked = [machine for machine in entrant_filter.qs[: MAX_UNTICKED + 1] if machine not in ticked]
    if "tick" in request.POST:
        ticked += unticked[: max(0, MAX_ENTRIES - len(ticked))]
        unticked = [machine for machine in unticked if machine not in ticked]
    machines = [*ticked, *unticked[:MAX_UNTICKED]]
    only_filters = bool({"show", "tick"} & set(request.POST))
    if only_filters:  # only the list of machines changes: keep the rest of the form and start nothing
        form = TournamentForm(initial=_submitted_values(request, ticked), game=GAMES[game], machines=machines)
    else:
        form = TournamentForm(request.POST or None, initial={"seed": seed_new()}, game=GAMES[game], machines=machines)
    if request.method == "POST" and not only_filters and form.is_valid():
        values = {key: form.cleaned_data[key] for key in ("entries", "games", "name", "format", "rounds", "seed")}
        try:
            return redirect(services.tournament_start(user=request.user, game=game, **values))
        except PlayError as error:
            refusal_add(form, error)
    context = {
        "form": form,
        "found": entrant_filter.form,
        "is_narrowed": any(entrant_filter.form.cleaned_data.values()),
        "not_all": len(unticked) > MAX_UNTICKED,
        "n_ticked": len(ticked),
        "max_entries": MAX_ENTRIES,
        "games": [{"slug": choice.slug, "name": game_label(choice)} for choice in games],
        "chosen": game,
        "pairing_sentences": pairing_sentences(GAMES[game], machines),
    }
    return render(request, "learning/tournament_new.html", context)


def _ticked(request: HttpRequest, visible: QuerySet[Machine]) -> list[Machine]:
    """Return the machines that are ticked in the submitted form, even if the filter excludes them."""
    ids = [row_id(pk) for pk in request.POST.getlist("machines")[: MAX_UNTICKED + MAX_ENTRIES]]
    return list(visible.filter(pk__in=[pk for pk in ids if pk is not None]).order_by("name", "pk"))


def _submitted_values(request: HttpRequest, ticked: Sequence[Machine]) -> dict[str, Any]:
    """Return the submitted values as initial values of a new form."""
    return {
        **request.POST.dict(),
        "machines": [str(machine.pk) for machine in ticked],
        "opponents": request.POST.getlist("opponents"),
    }


@require_safe
def tournament_page(request: HttpRequest, tournament_id: int) -> HttpResponse:
    """Show standings, crosstable and pairings, updated over the socket."""
    try:
        tournament = selectors.tournament_for(request.user, tournament_id)
    except PlayError as error:
        return not_found_response(request, error)
    is_own = request.user.is_authenticated and tournament.owner_id == request.user.pk
    context = {
        "tournament": {**selectors.tournament_line(tournament), "seed": tournament.seed, "games": tournament.n_games},
        "view": selectors.tournament_view(tournament, Principal.of(request.user)),
        "code": tournament_code(tournament, partial(may_use, request.user, to="export")),
        "roles": tournament.game_rules.presentation.layout.role_names,
        "may_change": is_own or staff_may(request.user, "change_tournament"),
        "may_delete": is_own or staff_may(request.user, "delete_tournament"),
    }
    return render(request, "learning/tournament.html", context)


@require_safe
def tournament_csv(request: HttpRequest, tournament_id: int, table: str) -> HttpResponse:
    """Send the ``standings`` or the ``pairings`` as CSV."""
    try:
        view = selectors.tournament_view(
            selectors.tournament_for(request.user, tournament_id), Principal.of(request.user)
        )
    except PlayError as error:
        return not_found_response(request, error)
    rows = selectors.standings_rows(view) if table == "standings" else selectors.pairing_rows(view)
    return csv_download(f"tournament-{tournament_id}-{table}.csv", rows)


@require_safe
def tournament_json(request: HttpRequest, tournament_id: int) -> HttpResponse:
    """Send the current state of the tournament as JSON, in the shape of the API."""
    try:
        tournament = selectors.tournament_for(request.user, tournament_id)
    except PlayError as error:
        return not_found_response(request, error)
    view: Any = selectors.tournament_view(tournament, Principal.of(request.user))
    return json_download(f"tournament-{tournament_id}.json", view)


@require_safe
def tournament_entry(request: HttpRequest, tournament_id: int, number: int) -> HttpResponse:
    """Send the file of a machine as it entered the tournament."""
    try:
        tournament = selectors.tournament_for(request.user, tournament_id)
        entry = tournament.entries.filter(number=number).first()
        if entry is None or entry.machine is None:
            raise MachineNotFoundError
        machine = entry.machine
        machine_require(request.user, machine, to="export")
        text = entry_file(machine, entry)
    except PlayError as error:
        return not_found_response(request, error)
    return machine_file_download(f"{machine.slug}-entry.json", text)


@form_only("tournament", "tournament_id")
@account_required("Log in to stop a tournament of yours.", "Without an account you can watch every public tournament.")
def tournament_cancel(request: HttpRequest, tournament_id: int) -> HttpResponse:
    """Cancel a tournament; the games already played are kept."""
    try:
        return redirect(services.tournament_cancel(user=request.user, tournament_id=tournament_id))
    except PlayError as error:
        return refusal_response(request, error, "tournaments")


@account_required(
    "Log in to delete a tournament of yours.", "Without an account you can watch every public tournament."
)
@require_http_methods(["GET", "HEAD", "POST"])
def tournament_delete(request: HttpRequest, tournament_id: int) -> HttpResponse:
    """Delete a tournament, after a page that shows what would be lost."""
    try:
        if request.method == "POST":
            services.tournament_delete(user=request.user, tournament_id=tournament_id)
            messages.success(request, "The tournament was deleted.")
            return redirect("tournaments")
        tournament = selectors.tournament_for(request.user, tournament_id)
    except PlayError as error:
        return refusal_response(request, error, "tournaments")
    context = {
        "title": f"Delete {tournament.name}?",
        "words": "Its standings and results will be lost. The machines stay as they are.",
        "act": "Delete it",
        "back": tournament.get_absolute_url(),
    }
    return render(request, "learning/ask.html", context)
