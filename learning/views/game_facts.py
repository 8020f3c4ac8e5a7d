"""The page with the facts of a game, and the same as a JSON file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from beadbox.rules.errors import UnknownGameError
from beadbox.rules.registry import game_get
from games.live.game_view import game_picture
from games.transport.error_responses import not_found_response
from learning.selectors.game_facts import game_facts_json, game_facts_view
from learning.views.tables import json_download


@require_safe
def facts_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the recorded facts of a game, each with the program that proves it."""
    try:
        game = game_get(slug)
    except UnknownGameError as error:
        return not_found_response(request, error, reverse("game_facts", args=[error.near]) if error.near else "")
    shown = {"slug": game.slug, "name": game.full_name, "variant": game.variant, "picture": game_picture(game)}
    return render(request, "learning/game_facts.html", {"game": shown, "facts": game_facts_view(game)})


@require_safe
def facts_json(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the recorded facts as a JSON file."""
    try:
        game = game_get(slug)
    except UnknownGameError as error:
        return not_found_response(request, error)
    return json_download(f"facts-{game.slug}.json", game_facts_json(game))
