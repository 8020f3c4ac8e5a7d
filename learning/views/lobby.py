"""The front page: games to play, rooms to join, matches to watch."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from games.players import Viewer
from games.rules.base import Game
from games.rules.registry import GAMES, family_games
from games.selectors import (
    game_view,
    match_list_live,
    match_list_waiting,
    opponent_list,
)
from learning.kinds.machines import strength_at_hand
from learning.models import Machine
from learning.selectors import machines as selectors
from learning.selectors.matches import match_live, match_waiting
from learning.selectors.strength import CURVE_AGAINST

LOBBY_MACHINES = 12


@require_GET
def lobby(request: HttpRequest) -> HttpResponse:
    """Start a game in one click, join one, watch one, look at machines."""
    families = [game for game in GAMES.values() if game.slug == game.family]
    houses, viewer = selectors.houses_seen(request.user), Viewer.of(request.user)
    context = {
        "games": [
            {**game_view(game), "rivals": selectors.rivals(game, houses), "offers": _offers(game)} for game in families
        ],
        "opponents": opponent_list(families[0]),
        "open_rooms": [room for match in match_list_waiting(viewer) if (room := match_waiting(match))],
        "live_rooms": [match_live(match) for match in match_list_live(viewer)],
        "machines": [_card(machine) for machine in selectors.machine_list_public()[:LOBBY_MACHINES]],
    }
    return render(request, "games/lobby.html", context)


def _offers(game: Game[Any, Any]) -> list[dict[str, Any]]:
    """Who is offered with which additions (as lists of their slugs), and whom somebody meets who does not choose."""
    found: list[dict[str, Any]] = []
    for variant in family_games(game.family) if game.additions else []:
        offer = {"opponents": opponent_list(variant), "usual": selectors.rivals(variant, {})[0]["opponent"]}
        same = next((one for one in found if one["offer"] == offer), None)
        if same is None:
            found.append(same := {"offer": offer, "with": []})
        same["with"].append(" ".join(slug for slug in variant.additions if slug in variant.added))
    return found


def _card(machine: Machine) -> dict[str, Any]:
    strength = strength_at_hand(machine)
    return {
        **selectors.card_facts(machine),
        "strength": [(CURVE_AGAINST[slug], found) for slug, found in strength.items()],
    }
