"""*Watch it learn*: a page that trains a machine in the browser (``docs/learn.md``)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from beadbox.learners.boxes.training_address import ADDRESS_PARAMETERS, address_parse
from beadbox.learners.boxes.training_config import MEASURES, teachable_games
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.registry import GAMES, game_get
from games.accounts.identity import guest_for_seat, principal_of_request
from games.exceptions import MalformedError, PlayError
from games.live.game_view import game_view
from games.templatetags.modules import inline
from games.transport.error_responses import form_only, not_found_response, redirect_back
from learning.exceptions import PageTooLargeError
from learning.forms.learn import SPEEDS, learn_form
from learning.forms.machines import game_label
from learning.kinds.code import Code
from learning.selectors.code import training_address_view
from learning.selectors.graphs import graph_view
from learning.services.learn import trained_machine_create
from learning.services.personal_machines import owner_of

SAVED_MAX_BYTES = 500_000
"""Maximum size of a saved page; larger pages are refused."""
STYLES = (
    "css/site.css",
    "css/objects.css",
    "vendor/uplot-1.6.32/uPlot.min.css",
    "css/wall.css",
    "css/lab.css",
    "css/learn.css",
)


@require_safe
def learn_page(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Show the machine, teacher and progress given by the URL; invalid parts of the query are listed."""
    query = _known_parameters(request)
    if slug:
        if slug not in teachable_games():
            return _not_taught(request, slug)
        query["game"] = slug
    reading = training_address_view(address_parse(query).to_json())
    return render(request, "learning/learn.html", {**_context(reading), "graph_url": graph_url(reading)})


def _not_taught(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the 404 page for a game that the browser cannot train, with the reason."""
    try:
        game = game_get(slug)
    except UnknownGameError as error:
        return not_found_response(request, error, reverse("learn_game", args=[error.near]) if error.near else "")
    reason = f"{game.name} {game.why_unlisted}, so this page cannot show how a machine learns it."
    return not_found_response(request, MalformedError(reason))


@require_safe
def learn_save(request: HttpRequest) -> HttpResponse:
    """Send the page as a single file that works offline."""
    parsed_address = address_parse(_known_parameters(request))
    plan = parsed_address.config
    graph = graph_view(plan.game, reduced=plan.rule.reduce_symmetry)
    opponents = {plan.teacher, *MEASURES}
    context = {
        **_context(training_address_view(parsed_address.to_json())),
        "saved": True,
        "styles": STYLES,
        "graph": graph | {"replies": {slug: text for slug, text in graph["replies"].items() if slug in opponents}},
        "worker": "".join(inline(f"js/{name}.js") for name in ("learn_kernel", "learn_worker")),
    }
    page = render(request, "learning/learn_saved.html", context)
    if len(page.content) > SAVED_MAX_BYTES:
        return redirect_back(request, PageTooLargeError(), f"{reverse('learn')}?{parsed_address.address}")
    page["Content-Disposition"] = f'attachment; filename="beadbox-{plan.game.slug}.html"'
    return page


def _known_parameters(request: HttpRequest) -> QueryDict:
    """Return the query without parameters that the page does not know, such as ``utm_source``."""
    query = request.GET.copy()
    for name in set(query) - set(ADDRESS_PARAMETERS):
        del query[name]
    return query


def _context(reading: dict[str, Any]) -> dict[str, Any]:
    game = GAMES[reading["game"]]
    return {
        "reading": reading,
        "code": Code(str(reading["code"])),
        "game": game_view(game),
        "limit": None if game.always_ends else game.ply_limit,
        "games": [{"slug": choice.slug, "label": game_label(choice)} for choice in teachable_games().values()],
        "form": learn_form(game, reading),
        "speeds": SPEEDS.items(),
    }


def graph_url(reading: dict[str, Any]) -> str:
    """Return the URL of the game's graph. The page's head contains the URL, so that the browser loads it early."""
    query = {"game": reading["game"], "reduce_symmetry": str(reading["rule"]["reduce_symmetry"]).lower()}
    return f"{reverse('api-learn-graph')}?{urlencode(query)}"


@form_only("learn")
def learn_keep(request: HttpRequest) -> HttpResponse:
    """Store the machine of an ``address`` for the account, or for this guest."""
    parsed_address = address_parse(QueryDict(request.POST.get("address", "")))
    try:
        for problem in parsed_address.problems:
            raise MalformedError(f"In this address, {problem.field} is wrong. {problem.detail}")
        with guest_for_seat(request, principal_of_request(request)) as person:
            machine, run = trained_machine_create(
                user=owner_of(person),
                config=parsed_address.config,
                preset=parsed_address.preset,
                games=parsed_address.games,
            )
    except PlayError as error:
        return redirect_back(request, error, f"{reverse('learn')}?{parsed_address.address}")
    if run is not None and run.finished_at is None:
        return redirect("run", run.pk)
    return redirect(machine.get_absolute_url())
