"""A page to set a board up by hand, ask for a move and see what goes over the wire."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from beadbox.learners.built_in import HOUSE
from beadbox.learners.presets import presets_of
from beadbox.rules.game import AnyGame
from beadbox.rules.registry import GAMES, game_get
from games.live.game_view import game_view
from learning.advice.registry import UNNAMED, adviser_of


@require_safe
def advice(request: HttpRequest) -> HttpResponse:
    """Every game of which a board can be set up by hand; what may be added to one is a box to tick."""
    games = [_game(game) for game in GAMES.values() if not game.added]
    return render(request, "learning/advice.html", {"games": [game for game in games if game["pieces"]]})


def _game(game: AnyGame) -> dict[str, Any]:
    # Such as they are called that play by rules of the same kind.
    examples = (house.slug for house in HOUSE if presets_of(game_get(house.game)) == presets_of(game))
    return {
        "slug": game.slug,
        "name": game.full_name,
        "layout": game_view(game)["layout"],
        "start": list(game.pieces(game.initial_position())),
        "unnamed": game.slug == UNNAMED,
        "machine": next(examples, ""),
        "reasons": dict(game.look.reasons),
        **adviser_of(game).form(game),
    }
