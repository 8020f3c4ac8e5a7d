"""The heaviest users, with links to close an account or to block an address."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from learning.selectors import usage as selectors

PERIODS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
REQUIRED_PERMISSIONS = ("auth.view_user", "games.view_room")


def usage(request: HttpRequest) -> HttpResponse:
    """Show four tables: stored machines, training games, matches, and rooms by the address that opened them."""
    if not request.user.has_perms(REQUIRED_PERMISSIONS):
        raise PermissionDenied
    within = request.GET.get("within", "day")
    within = within if within in PERIODS else "day"
    since = timezone.now() - PERIODS[within]
    context = {
        **admin.site.each_context(request),
        "title": "Heaviest users",
        "within": within,
        "choices": list(PERIODS),
        "by_storage": selectors.heaviest_by_storage(),
        "by_training": selectors.heaviest_by_training(since),
        "by_matches": selectors.heaviest_by_matches(since),
        "by_rooms": selectors.heaviest_by_rooms(since),
        "rooms_read": selectors.MAX_ROOMS_READ,
        "may_block": request.user.has_perm("games.add_addressblock"),
    }
    return TemplateResponse(request, "admin/usage.html", context)
