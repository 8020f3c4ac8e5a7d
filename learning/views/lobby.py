"""The front page: a picture and a button for each game, and current matches and training runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from beadbox.rules.registry import GAMES
from games.accounts.identity import principal_of_request
from games.accounts.principal import Principal
from games.live.game_view import game_picture
from games.live.match_lists import match_list_live, match_list_own, match_list_waiting
from learning.selectors import machines as selectors
from learning.selectors.matches import match_live, match_own, match_waiting
from learning.selectors.runs import run_going_on, run_list_going_on
from learning.services.personal_machines import personal_machine_offer, personal_machine_side

OWN_MOST = 3
"""Maximum number of the viewer's own machines on the front page; the list of machines shows all of them."""


@require_safe
def lobby(request: HttpRequest) -> HttpResponse:
    """Show games to start with one click, open and live matches, and machines in training."""
    viewer = Principal.of(request.user)
    personal_machines = selectors.personal_machines_of(request.user)
    own_matches, person = match_list_own(viewer), principal_of_request(request)
    context = {
        "own_matches": [match_own(match, person.holds) for match in own_matches],
        "own_machines": [selectors.card_facts(machine) for machine in selectors.machine_list_own(viewer, OWN_MOST)],
        "games": [
            {
                "slug": game.slug,
                "name": game.name,
                "summary": game.summary,
                "picture": game_picture(game),
                "teach": personal_machine_offer(game, personal_machine_side(game), personal_machines)
                if game.takes_boxes
                else None,
                "rival": None if game.takes_boxes else selectors.rivals(game, {})[0],
            }
            for game in GAMES.values()
            if game.slug == game.family
        ],
        "open_rooms": [room for match in match_list_waiting(viewer) if (room := match_waiting(match))],
        "live_rooms": [match_live(match) for match in match_list_live(viewer) if match not in own_matches],
        "runs": [run_going_on(run) for run in run_list_going_on(request.user)],
    }
    return render(request, "games/lobby.html", context)
