"""The page with all ways to play a game: against a player or a machine, or watching two of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from beadbox.rules.errors import UnknownGameError
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get, game_with
from games.accounts.identity import guest_seated, principal_of_request
from games.exceptions import PlayError
from games.live.game_view import game_view, player_list
from games.live.serializers import parse_side
from games.transport.error_responses import form_only, not_found, sent_back
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
            return redirect("play", game_with(game.family, [one for one in request.GET.getlist("with") if one]).slug)
    except UnknownGameError as error:
        return not_found(request, error, reverse("play", args=[error.near]) if error.near else "")
    machines = selectors.machine_list_seen(request.user, slug)
    houses = selectors.houses_seen(request.user)
    # The site's machines are the default selection; otherwise the first by name would be preselected.
    wanted = [request.GET.get("machine", ""), *(str(houses[at].pk) for at in houses if at[0] == slug)]
    sides = [
        {
            "name": game.look.layout.role_names[side],
            "machines": _options([machine for machine in machines if machine.side == side], wanted),
        }
        for side in Side
    ]
    seats = _options(machines, wanted)
    masters = {machine.pk for machine in machines if can_edit(request.user, machine)}
    usual, own = personal_machine_side(game), selectors.personal_machines_of(request.user)
    view = game_view(game)
    context = {
        "game": {**view, "rivals": selectors.rivals(game, houses)},
        "guide": {"layout": view["layout"], "guide": view["guide"]},
        "teach": [personal_machine_offer(game, side, own) for side in (usual, usual.other)] if game.takes_boxes else [],
        "players": [player for player in player_list(game) if player["slug"] != "menace"],
        "sides": sides,
        "own": [one for one in seats if one["id"] in masters],
        "others": [one for one in seats if one["id"] not in masters],
    }
    return render(request, "games/play.html", context)


@form_only("lobby")
def teach(request: HttpRequest) -> HttpResponse:
    """Seat the visitor against their personal machine of ``game``, created if missing; ``side`` is the visitor's."""
    try:
        game = game_get(request.POST.get("game", ""))
        mine = parse_side(game, request.POST.get("side", ""), personal_machine_side(game).other)
        with guest_seated(request, principal_of_request(request)) as person:
            seated = personal_machine_play(person=person, game=game.slug, side=None if mine is None else mine.other)
    except (PlayError, UnknownGameError, ValueError) as error:
        return sent_back(request, error)
    return redirect(seated.room)


def _options(machines: Sequence[Machine], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Return the machines as options; the first id in ``wanted`` that is among them is preselected."""
    by_ref = {str(machine.pk): machine for machine in machines}
    chosen = next((by_ref[ref] for ref in wanted if ref in by_ref), None)
    return [
        {
            **selectors.machine_brief(machine),
            "side_name": machine.get_side_display(),
            "chosen": machine is chosen,
        }
        for machine in machines
    ]
