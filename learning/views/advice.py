"""A page to set a board up by hand, ask for a move and see what goes over the wire."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from games.rules.base import Game
from games.rules.registry import GAMES
from games.rules.romgon.pieces import LETTERS, N_ROTATIONS, TYPE_NAMES
from games.rules.romgon.rules import Romgon
from games.selectors import game_view
from learning.core.advice.any_game import alphabet
from learning.core.engines.romgon.answers import LEVELS as ENGINE_LEVELS
from learning.core.opponents.registry import LEVELS


@require_GET
def advice(request: HttpRequest) -> HttpResponse:
    """Every game that can be asked about; what may be added to one is a box to tick."""
    games = [_game(game) for game in GAMES.values() if not game.added]
    games = [game for game in games if game["types"] or game["pieces"]]  # of others no board can be set up by hand
    return render(request, "learning/advice.html", {"games": games})


def _game(game: Game[Any, Any]) -> dict[str, Any]:
    is_romgon = isinstance(game, Romgon)
    levels = list(ENGINE_LEVELS) if is_romgon else [slug for slug, level in LEVELS.items() if level.plays(game)]
    return {
        "slug": game.slug,
        "name": f"{game.name} {game.variant}".strip() if game.variant not in game.name else game.name,
        "layout": game_view(game)["layout"],
        "start": list(game.pieces(game.initial_position())),
        "first": game.side_to_move(game.initial_position()),
        "pieces": [] if is_romgon else [piece for piece in alphabet(game) if piece is not None],
        # Romgon's pieces have a type, a colour, a face and a rotation; the page spells them as the rules do.
        "types": [_type(kind) for kind in range(1, 6)] if is_romgon else [],
        "levels": levels,
        "reasons": dict(game.reasons),
    }


def _type(kind: int) -> dict[str, Any]:
    return {"letter": LETTERS[kind], "name": TYPE_NAMES[kind], "rotations": N_ROTATIONS[kind]}
