"""Every way to play one game: against somebody, in a machine's seat, or watching two players."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from games.answers import not_found
from games.rules.base import Side
from games.rules.errors import UnknownGameError
from games.rules.registry import game_get, game_with
from games.selectors import game_view, player_list
from learning.access import is_master
from learning.models import Machine
from learning.selectors import machines as selectors


@require_GET
def play_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The ways to play a game; ``?machine=`` chooses one beforehand, ``?with=`` the rules that are added to it."""
    try:
        game = game_get(slug)
        if "with" in request.GET:
            return redirect("play", game_with(game.family, [one for one in request.GET.getlist("with") if one]).slug)
    except UnknownGameError as error:
        return not_found(request, error)
    machines = selectors.machine_list_seen(request.user, slug)
    houses = selectors.houses_seen(request.user)
    # Who chooses nobody finds those of the house, not whoever is the first by name.
    wanted = [request.GET.get("machine", ""), *(str(houses[at].pk) for at in houses if at[0] == slug)]
    sides = [
        {
            "name": game.look.layout.role_names[side],
            "machines": _options([machine for machine in machines if machine.side == side], wanted),
        }
        for side in Side
    ]
    seats = _options(machines, wanted)
    masters = {machine.pk for machine in machines if is_master(request.user, machine)}
    context = {
        "game": {**game_view(game), "rivals": selectors.rivals(game, houses)},
        "copied": next((one["name"] for one in player_list(game) if game.takes_boxes and one["slug"] == "menace"), ""),
        "players": [player for player in player_list(game) if player["slug"] != "menace"],
        "sides": sides,
        "own": [one for one in seats if one["id"] in masters],
        "others": [one for one in seats if one["id"] not in masters],
    }
    return render(request, "games/play.html", context)


def _options(machines: Sequence[Machine], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Machines to choose from; chosen is whoever of them is wanted first."""
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
