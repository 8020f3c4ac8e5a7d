"""Every way to play one game: against somebody, in a machine's seat, or watching two players."""

from __future__ import annotations

from collections.abc import Iterable
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
    chosen = request.GET.get("machine", "")
    sides = [
        {
            "name": game.look.layout.role_names[side],
            "machines": list(_options((machine for machine in machines if machine.side == side), chosen)),
        }
        for side in Side
    ]
    context = {
        "game": {**game_view(game), "rivals": selectors.rivals(game, selectors.houses_seen(request.user))},
        "copied": next((one["name"] for one in player_list(game) if game.takes_boxes and one["slug"] == "menace"), ""),
        "players": [player for player in player_list(game) if player["slug"] != "menace"],
        "sides": sides,
        "own": list(_options((m for m in machines if is_master(request.user, m)), chosen)),
        "others": list(_options((m for m in machines if not is_master(request.user, m)), chosen)),
    }
    return render(request, "games/play.html", context)


def _options(machines: Iterable[Machine], chosen: str) -> Iterable[dict[str, Any]]:
    for machine in machines:
        brief = selectors.machine_brief(machine)
        yield {**brief, "side_name": machine.get_side_display(), "chosen": str(machine.pk) == chosen}
