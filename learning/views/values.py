"""Pages of learnt values: of a machine in a position, and of the levels of a game."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from beadbox.rules.errors import UnknownGameError
from beadbox.rules.registry import game_get
from games.exceptions import PlayError
from games.live.game_view import game_view
from games.transport.error_responses import not_found_response, refusal_json_response
from learning.access import machine_for
from learning.exceptions import BoxNotFoundError
from learning.kinds.page import format_percent
from learning.kinds.registry import KINDS, kind_of


def _walk(game: Any, view: dict[str, Any]) -> dict[str, Any]:
    """Return the data with which a visitor can play on the board: pieces, and path and next position of each move.

    Only plain moves have paths. Romgon's flips and turns can be chosen only in the table of moves.
    """
    position = game.decode(view["position"])
    moves = {row["move"]: game.parse_move(row["move"]) for row in view["moves"]}
    plain_moves = {text: move for text, move in moves.items() if game.presentation.kind(move) == "move"}
    return {
        "board": list(game.pieces(position)),
        "role": view["role"],
        "paths": {text: game.presentation.path_ids(move) for text, move in plain_moves.items()},
        "next": {row["move"]: row["next"] for row in view["moves"]},
    }


@require_safe
def values_page(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Show every action with its value in a position that the visitor plays or types."""
    try:
        machine = machine_for(request.user, machine_id)
        game, kind_page = machine.game_rules, kind_of(machine).page
        start = game.encode(game.initial_position())
        text, error_text = request.GET.get("position", "").strip() or start, ""
        try:
            page = kind_page.position_page(machine, text)
        except BoxNotFoundError as error:
            if request.headers.get("Accept", "").startswith("application/json"):
                return refusal_json_response(error)
            error_text, page = str(error), kind_page.position_page(machine, start)
    except PlayError as error:
        return not_found_response(request, error)
    view = page.context
    context = {
        "machine": machine.brief,
        "view": view,
        "tries": format_percent(view.get("epsilon", 0.0)),
        "asked": text,
        "problem": error_text,
        "is_start": view["position"] == start,
        "layout": game_view(game)["layout"],
        "walk": _walk(game, view),
    }
    return render(request, page.template, context, status=404 if error_text else 200)


@require_safe
def learnt_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the learnt values of a game's levels, which are part of the program; the database is not queried."""
    try:
        game = game_get(slug)
        page = next((page for kind in KINDS.values() if (page := kind.page.level_page(game)) is not None), None)
        if page is None:
            raise UnknownGameError(f"No level of {game.name} plays by anything learnt.")
    except UnknownGameError as error:
        return not_found_response(request, error)
    return render(request, page.template, {"game": game_view(game), **page.context}, status=page.status)
