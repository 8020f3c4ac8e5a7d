"""Watch it learn: one page on which anybody sees a machine learn (``docs/learn.md``)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from games.answers import sent_back
from games.exceptions import MalformedError, PlayError
from games.identity import address_of, guest_seated, person_of_request
from games.rules.registry import GAMES
from games.selectors import game_view
from games.views import starting
from learning.core.schooling.plan import games_taught
from learning.forms.learn import SPEEDS, LearnForm, form_values
from learning.forms.machines import game_label
from learning.forms.schooling import asked_read
from learning.services.pupils import owner_of
from learning.services.schooling import schooling_keep


@require_GET
def learn_page(request: HttpRequest, slug: str = "") -> HttpResponse:
    """A machine, its teacher and how far it is, as the address says; what makes no sense there is told."""
    query = request.GET.copy()
    if slug:
        query["game"] = slug
    reading = asked_read(query).told
    game = GAMES[reading["game"]]
    form = LearnForm(game, initial=form_values(reading))
    context = {
        "reading": reading,
        "game": game_view(game),
        "games": [{"slug": one.slug, "label": game_label(one)} for one in games_taught().values()],
        "form": form,
        "speeds": SPEEDS.items(),
    }
    return render(request, "learning/learn.html", context)


@require_POST
@starting
def learn_keep(request: HttpRequest) -> HttpResponse:
    """Make the machine of an ``address`` one's own: of the account, or of this browser."""
    asked = asked_read(QueryDict(request.POST.get("address", "")))
    try:
        for problem in asked.problems:
            raise MalformedError(f"{problem.field}: {problem.detail}")
        with guest_seated(request, person_of_request(request)) as person:
            kept = schooling_keep(
                user=owner_of(person),
                schooling=asked.schooling,
                preset=asked.preset,
                games=asked.games,
                who=address_of(request),
            )
    except PlayError as error:
        return sent_back(request, error, f"{reverse('learn')}?{asked.address}")
    return redirect(kept.get_absolute_url())
