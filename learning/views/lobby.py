"""The front page with games, current matches and training runs, and the page on which a visitor chooses a game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from beadbox.rules.game import AnyGame
from games.accounts.identity import principal_of_request
from games.accounts.principal import Principal
from games.live.game_view import game_picture
from games.live.match_lists import match_list_live, match_list_own, match_list_waiting
from learning.forms.games import GameChoiceForm, game_tags, usual_games
from learning.models import Machine
from learning.selectors import machines as selectors
from learning.selectors.matches import match_live, match_own, match_waiting
from learning.selectors.runs import run_list_running, running_run_line
from learning.services.personal_machines import personal_machine_offer, personal_machine_side

MAX_CARDS = 8
"""Games on the front page; the page for choosing a game has all of them."""
MAX_OWN_MACHINES = 3
"""Maximum number of the viewer's own machines on the front page; the list of machines shows all of them."""


@require_safe
def lobby(request: HttpRequest) -> HttpResponse:
    """Show games to start with one click, open and live matches, and machines in training."""
    viewer = Principal.of(request.user)
    personal_machines = selectors.personal_machines_of(request.user)
    own_matches, person = match_list_own(viewer), principal_of_request(request)
    context = {
        "own_matches": [match_own(match, person.holds) for match in own_matches],
        "own_machines": [
            selectors.machine_card(machine) for machine in selectors.machine_list_own(viewer, MAX_OWN_MACHINES)
        ],
        "games": [_card(game, personal_machines) for game in usual_games()[:MAX_CARDS]],
        "n_games": len(usual_games()),
        "open_rooms": [room for match in match_list_waiting(viewer) if (room := match_waiting(match))],
        "live_rooms": [match_live(match) for match in match_list_live(viewer) if match not in own_matches],
        "runs": [running_run_line(run) for run in run_list_running(request.user)],
    }
    return render(request, "games/lobby.html", context)


@require_safe
def choose(request: HttpRequest) -> HttpResponse:
    """Show all games as cards; ``?boxes=``, ``?minutes=`` and ``?circles=`` narrow them down."""
    form = GameChoiceForm(request.GET)
    personal_machines = selectors.personal_machines_of(request.user)
    cards = [_card(game, personal_machines) for game in form.games()]
    context = {"form": form, "games": cards, "is_narrowed": bool(form.chosen_ranges), "n_games": len(usual_games())}
    return render(request, "games/choose.html", context)


def _card(game: AnyGame, personal_machines: Sequence[Machine]) -> dict[str, Any]:
    """Return a game with its picture, and the button that starts a match.

    The opponent is the visitor's personal machine, or another opponent if no machine can learn the game.
    """
    side = personal_machine_side(game)
    return {
        "slug": game.slug,
        "name": game.name,
        "summary": game.summary,
        "picture": game_picture(game),
        "tags": game_tags(game),
        "teach": personal_machine_offer(game, side, personal_machines) if game.supports_boxes else None,
        "rival": None if game.supports_boxes else selectors.rivals(game, {})[0],
    }
