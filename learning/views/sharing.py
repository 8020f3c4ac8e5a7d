"""Pages of a machine's secret link: create it, revoke it, and open it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from games.accounts.authentication import LINKS_KEY
from games.accounts.throttles import Guesses
from games.exceptions import PlayError, TooManyGuessesError
from games.transport.error_responses import not_found_response, refusal_response, too_many_response
from learning.access import is_seen, machine_for
from learning.exceptions import LinkNotFoundError
from learning.selectors.sharing import machine_shared
from learning.services import sharing as services
from learning.views.machines import account_or_guest_required

MAX_LINKS = 20
"""Maximum number of links remembered in a session; the oldest link is dropped first."""


@account_or_guest_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def machine_share(request: HttpRequest, machine_id: int) -> HttpResponse:
    """Show a machine's secret link to its owner; create or revoke it."""
    try:
        if request.method == "POST" and "end" in request.POST:
            services.machine_unshare(user=request.user, machine_id=machine_id)
            messages.success(request, "The link is taken back. It shows nothing any more.")
            return redirect("machine_share", machine_id)
        if request.method == "POST":
            services.machine_share(user=request.user, machine_id=machine_id)
            return redirect("machine_share", machine_id)
        machine = machine_for(request.user, machine_id, to="share")
    except PlayError as error:
        return refusal_response(request, error, reverse("machine", args=[machine_id]))
    address = machine.get_absolute_url() if machine.is_public else machine.share and machine.share.get_absolute_url()
    context = {
        "machine": machine.brief,
        "is_public": machine.is_public,
        "share_url": address and request.build_absolute_uri(address),
    }
    return render(request, "learning/share.html", context)


@never_cache
@require_safe
def shared(request: HttpRequest, secret: str) -> HttpResponse:
    """Remember the opened link in the session, and redirect to its machine."""
    try:
        with Guesses(request, request.user.pk).guard(wrong_guess=LinkNotFoundError):
            machine = machine_shared(secret)
    except TooManyGuessesError as error:
        return too_many_response(request, error.retry_after_s)
    except PlayError as error:
        response = not_found_response(request, error)
    else:
        if not is_seen(request.user, machine):
            assert machine.share_id is not None, "the link shows a machine"
            link_open(request, machine.share_id)
        response = redirect(machine)
    # The URL contains the secret: hide it from linked pages (Referer) and from search engines.
    response["Referrer-Policy"] = "no-referrer"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def link_open(request: HttpRequest, link_id: int) -> None:
    """Store an opened link in the session, as the latest."""
    links = request.session.get(LINKS_KEY, [])
    if links[-1:] != [link_id]:
        request.session[LINKS_KEY] = [*(link for link in links if link != link_id), link_id][-MAX_LINKS:]
