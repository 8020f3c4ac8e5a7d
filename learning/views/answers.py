"""What pages of every subject answer with."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from games.exceptions import PlayError
from learning.exceptions import BoxNotFoundError, MachineNotFoundError, NotYourMachineError, RunNotFoundError


def not_found(request: HttpRequest, error: Exception) -> HttpResponse:
    """There is no such thing, or none for this visitor."""
    return render(request, "404.html", {"reason": str(error)}, status=404)


def refused(request: HttpRequest, error: PlayError, to: str) -> HttpResponse:
    """What may not be seen is not there; anything else is said on a page that one can go on from."""
    if isinstance(error, MachineNotFoundError | RunNotFoundError | BoxNotFoundError):
        return not_found(request, error)
    if isinstance(error, NotYourMachineError):
        return render(request, "403.html", {"reason": str(error)}, status=403)
    messages.error(request, str(error))
    return redirect(to)
