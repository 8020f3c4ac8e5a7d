"""The page that says what can be done with machines besides playing."""

from __future__ import annotations

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from learning.selectors.machines import houses_seen


@require_GET
def lab(request: HttpRequest) -> HttpResponse:
    """What each page of the lab is for. What needs machines is shown with those of the house, where there are any."""
    houses = list(houses_seen(request.user).values())[:2]
    printed = reverse("machine_print", args=[houses[0].pk]) if houses else reverse("machines")
    compared = f"?{urlencode([('machine', house.slug) for house in houses])}" if houses else ""
    return render(request, "learning/lab.html", {"printed": printed, "compared": compared})
