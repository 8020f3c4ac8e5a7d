"""The page with all ways to play a game: against a player or a machine, or watching two machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from beadbox.rules.errors import UnknownGameError
from beadbox.rules.outcome import Side
from beadbox.rules.registry import family_games, game_get, game_with
from games.accounts.identity import guest_for_seat, principal_of_request
from games.exceptions import PlayError
from games.live.game_view import game_view, player_list
from games.live.serializers import parse_side
from games.transport.error_responses import form_only, not_found_response, redirect_back
from learning.access import can_edit
from learning.models import Machine
from learning.selectors import machines as selectors
from learning.services.personal_machines import personal_machine_offer, personal_machine_play, personal_machine_side


@require_safe
def play_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the ways to play a game; ``?machine=`` preselects a machine, ``?with=`` adds extra rules."""
    try:
        game = game_get(slug)
        if "with" in request.GET:
            return redirect("play", game_with(game.family, [rule for rule in request.GET.getlist("with") if rule]).slug)
    except UnknownGameError as error:
        return not_found_response(request, error, reverse("play", args=[error.near]) if error.near else "")
    machines = selectors.machine_list_visible(request.user, slug)
    houses = selectors.house_machines_visible(request.user)
    # The site's machines are the default selection, rather than the first machine by name.
    preselection = [request.GET.get("machine", ""), *(str(houses[key].pk) for key in houses if key[0] == slug)]
    sides = [
        {
            "name": game.presentation.layout.role_names[side],
            "machines": _options([machine for machine in machines if machine.side == side], preselection),
        }
        for side in Side
    ]
    options = _options(machines, preselection)
    editable_ids = {machine.pk for machine in machines if can_edit(request.user, machine)}
    usual_side, own_machines = personal_machine_side(game), selectors.personal_machines_of(request.user)
    view = game_view(game)
    context = {
        "game": {**view, "rivals": selectors.rivals(game, houses)},
        "guide": {"layout": view["layout"], "guide": view["guide"]},
        "family": family_games(game.family),
        "teach": [personal_machine_offer(game, side, own_machines) for side in (usual_side, usual_side.other)]
        if game.supports_boxes
        else [],
        "players": [player for player in player_list(game) if player["slug"] != "menace"],
        "sides": sides,
        "own": [option for option in options if option["id"] in editable_ids],
        "others": [option for option in options if option["id"] not in editable_ids],
    }
    return render(request, "games/play.html", context)


@form_only("lobby")
def teach(request: HttpRequest) -> HttpResponse:
    """Start a match of ``game`` between the visitor, on ``side``, and their personal machine, created if missing."""
    try:
        game = game_get(request.POST.get("game", ""))
        visitor_side = parse_side(game, request.POST.get("side", ""), personal_machine_side(game).other)
        with guest_for_seat(request, principal_of_request(request)) as person:
            seating = personal_machine_play(
                person=person, game=game.slug, side=None if visitor_side is None else visitor_side.other
            )
    except (PlayError, UnknownGameError, ValueError) as error:
        return redirect_back(request, error)
    return redirect(seating.room)


def _options(machines: Sequence[Machine], preselection: Sequence[str]) -> list[dict[str, Any]]:
    """Return the machines as options; the first id of ``preselection`` that is among them is preselected."""
    by_ref = {str(machine.pk): machine for machine in machines}
    preselected = next((by_ref[ref] for ref in preselection if ref in by_ref), None)
    return [
        {
            **machine.brief,
            "side_name": machine.get_side_display(),
            "chosen": machine is preselected,
        }
        for machine in machines
    ]
