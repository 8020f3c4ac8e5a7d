"""The account: its machines, matches and tokens."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from games.accounts.principal import Principal
from games.accounts.views import account_required
from games.live.match_lists import match_list_of
from learning.selectors import machines as selectors
from learning.selectors import matches as selectors_matches

MAX_MATCHES = 50


@account_required(
    "Log in to see all your matches and machines.",
    "Without an account your matches and your machine are kept in this browser.",
)
@never_cache
@require_safe
def account(request: HttpRequest) -> HttpResponse:
    """Show the viewer's latest matches and machines."""
    assert request.user.pk is not None
    matches = match_list_of(viewer=Principal.of(request.user), guest=None)[:MAX_MATCHES]
    context = {
        "matches": [selectors_matches.match_line(match) for match in matches],
        "machines": [selectors.machine_card(machine) for machine in selectors.machine_list_of(request.user.pk)],
    }
    return render(request, "games/account.html", context)
