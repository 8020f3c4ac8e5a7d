"""Two overview pages: the lab lists the uses of machines besides playing, and one page is for teachers."""

from __future__ import annotations

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from learning.selectors.machines import house_machines_visible


@require_safe
def lab(request: HttpRequest) -> HttpResponse:
    """Show the purpose of each page of the lab.

    The link to printing leads to the site's first machine, and the link to comparisons to its first two. If the site
    has no machines, the links lead to the list of machines and to an empty comparison.
    """
    machines = list(house_machines_visible(request.user).values())[:2]
    print_url = reverse("machine_print", args=[machines[0].pk]) if machines else reverse("machines")
    compare_query = f"?{urlencode([('machine', machine.slug) for machine in machines])}" if machines else ""
    return render(request, "learning/lab.html", {"print_url": print_url, "compare_query": compare_query})


@require_safe
def teachers(request: HttpRequest) -> HttpResponse:
    """Show what a class can do in a lesson, what to print, what is stored, and how to run the site for a classroom."""
    machines = house_machines_visible(request.user).values()
    print_urls = {machine.slug: reverse("machine_print", args=[machine.pk]) for machine in machines}
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
