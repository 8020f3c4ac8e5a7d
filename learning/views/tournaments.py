"""Pages of tournaments: hold one, watch it live, call it off."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from games.answers import not_found, refused
from games.exceptions import PlayError
from games.players import Viewer
from games.rules.registry import GAMES
from games.views import starting
from learning.access import staff_may
from learning.forms.machines import game_label
from learning.forms.tournaments import TournamentForm
from learning.kinds.machines import who_meets
from learning.selectors import tournaments as selectors
from learning.services import tournaments as services

PAGE = 30


@require_GET
def tournament_list(request: HttpRequest) -> HttpResponse:
    """Every tournament there is to see, newest first."""
    tournaments = selectors.tournaments_counted(selectors.tournaments_visible(request.user))
    page = Paginator(tournaments, PAGE).get_page(request.GET.get("page"))
    return render(
        request,
        "learning/tournaments.html",
        {"page_obj": page, "tournaments": [selectors.tournament_line(t) for t in page]},
    )


@login_required
@require_http_methods(["GET", "POST"])
@starting
def tournament_new(request: HttpRequest) -> HttpResponse:
    """Choose who takes part, and begin."""
    game = request.GET.get("game", "")
    games = selectors.tournament_games(request.user)
    game = game if game in {known.slug for known in games} else games[0].slug
    machines = selectors.tournament_machines(request.user, game)
    form = TournamentForm(request.POST or None, game=GAMES[game], machines=machines)
    if request.method == "POST" and form.is_valid():
        wanted = {key: form.cleaned_data[key] for key in ("entries", "games", "name", "format", "rounds", "seed")}
        try:
            return redirect(services.tournament_start(user=request.user, **wanted))
        except PlayError as error:
            form.add_error(None, str(error).removeprefix("entries: ").removeprefix("rounds: ").removeprefix("games: "))
    context = {
        "form": form,
        "games": [{"slug": known.slug, "name": game_label(known)} for known in games],
        "chosen": game,
        "who_meets": who_meets(GAMES[game], machines),
    }
    return render(request, "learning/tournament_new.html", context)


@require_GET
def tournament_page(request: HttpRequest, tournament_id: int) -> HttpResponse:
    """Standings, crosstable and pairings; live over the socket."""
    try:
        tournament = selectors.tournament_for(request.user, tournament_id)
    except PlayError as error:
        return not_found(request, error)
    is_own = request.user.is_authenticated and tournament.owner_id == request.user.pk
    context = {
        "tournament": {**selectors.tournament_line(tournament), "seed": tournament.seed, "games": tournament.n_games},
        "view": selectors.tournament_view(tournament, Viewer.of(request.user)),
        "roles": tournament.game_rules.look.layout.role_names,
        "may_change": is_own or staff_may(request.user, "change_tournament"),
        "may_delete": is_own or staff_may(request.user, "delete_tournament"),
    }
    return render(request, "learning/tournament.html", context)


@login_required
@require_POST
def tournament_cancel(request: HttpRequest, tournament_id: int) -> HttpResponse:
    """Call a tournament off."""
    try:
        return redirect(services.tournament_cancel(user=request.user, tournament_id=tournament_id))
    except PlayError as error:
        return refused(request, error, "tournaments")


@login_required
@require_http_methods(["GET", "POST"])
def tournament_delete(request: HttpRequest, tournament_id: int) -> HttpResponse:
    """Delete a tournament; what would be lost is said first."""
    try:
        if request.method == "POST":
            services.tournament_delete(user=request.user, tournament_id=tournament_id)
            messages.success(request, "The tournament is gone.")
            return redirect("tournaments")
        tournament = selectors.tournament_for(request.user, tournament_id)
    except PlayError as error:
        return refused(request, error, "tournaments")
    context = {
        "title": f"Delete {tournament.name}?",
        "words": "Its standings and results will be lost. The machines lose nothing.",
        "act": "Delete it",
        "back": tournament.get_absolute_url(),
    }
    return render(request, "learning/ask.html", context)
