"""The heaviest users, with links to close an account or to block an address."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from learning.selectors import usage as selectors

WITHIN = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
NEEDED = ("auth.view_user", "games.view_room")


def usage(request: HttpRequest) -> HttpResponse:
    """Show four tables: machines kept, games trained, matches played, and rooms opened by address."""
    if not request.user.has_perms(NEEDED):
        raise PermissionDenied
    within = request.GET.get("within", "day")
    within = within if within in WITHIN else "day"
    since = timezone.now() - WITHIN[within]
    context = {
        **admin.site.each_context(request),
        "title": "Heaviest users",
        "within": within,
        "choices": list(WITHIN),
        "kept": selectors.heaviest_by_storage(),
        "trained": selectors.heaviest_by_training(since),
        "played": selectors.heaviest_by_matches(since),
        "opened": selectors.heaviest_by_rooms(since),
        "rooms_read": selectors.MAX_ROOMS_READ,
        "may_block": request.user.has_perm("games.add_addressblock"),
    }
    return TemplateResponse(request, "admin/usage.html", context)
