"""A page to set up a board, ask for a move, and see the request and the response of the API."""

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
from learning.advice.registry import DEFAULT_GAME, adviser_of


@require_safe
def advice(request: HttpRequest) -> HttpResponse:
    """Show every game with boards that can be set up by hand; extra rules are check boxes."""
    entries = [_game(game) for game in GAMES.values() if not game.added]
    # A game without ``pieces`` in its entry has no board that can be set up by hand.
    return render(request, "learning/advice.html", {"games": [entry for entry in entries if entry["pieces"]]})


def _game(game: AnyGame) -> dict[str, Any]:
    # The form offers a built-in machine of a game with the same presets, since both games have machines of one kind.
    example_slugs = (built_in.slug for built_in in HOUSE if presets_of(game_get(built_in.game)) == presets_of(game))
    return {
        "slug": game.slug,
        "name": game.full_name,
        "layout": game_view(game)["layout"],
        "start": list(game.pieces(game.initial_position())),
        "unnamed": game.slug == DEFAULT_GAME,
        "machine": next(example_slugs, ""),
        "reasons": dict(game.presentation.reasons),
        **adviser_of(game).form(game),
    }
