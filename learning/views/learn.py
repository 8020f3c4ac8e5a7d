"""Watch it learn: one page on which anybody sees a machine learn (``docs/learn.md``)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from games.rules.registry import GAMES
from games.selectors import game_view
from learning.core.schooling.plan import games_taught
from learning.forms.learn import SPEEDS, LearnForm, form_values
from learning.forms.machines import game_label
from learning.forms.schooling import asked_read


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
