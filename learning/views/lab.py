"""Overview pages: the lab, with uses of machines besides playing, and a page for teachers."""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from learning.selectors.machines import houses_seen


@require_safe
def lab(request: HttpRequest) -> HttpResponse:
    """Show the purpose of each page of the lab. Links that need a machine lead to the site's machines, if any."""
    houses = list(houses_seen(request.user).values())[:2]
    print_url = reverse("machine_print", args=[houses[0].pk]) if houses else reverse("machines")
    compare_query = f"?{urlencode([('machine', house.slug) for house in houses])}" if houses else ""
    return render(request, "learning/lab.html", {"printed": print_url, "compared": compare_query})


@require_safe
def teachers(request: HttpRequest) -> HttpResponse:
    """Show what a class can do in a lesson, what to print, what is stored, and how to run the site for a classroom."""
    print_urls = {house.slug: reverse("machine_print", args=[house.pk]) for house in houses_seen(request.user).values()}
    retention_settings = (
        "KEEP_GUEST_MATCHES_DAYS",
        "KEEP_GUEST_MACHINES_DAYS",
        "KEEP_MATCHES_DAYS",
        "KEEP_LOG_INS_DAYS",
    )
    context = {
        "her": print_urls.get("her"),
        "menace": print_urls.get("menace-first"),
        **{name.lower(): getattr(settings, name) for name in retention_settings},
    }
    return render(request, "learning/teachers.html", context)
