"""Whose request is it? The address behind the proxies that we know of, never one that a client claims."""

from django.conf import settings
from django.http import HttpRequest


def client_ip(request: HttpRequest) -> str:
    """The client's address: with ``NUM_PROXIES`` = n, the n-th from the right of X-Forwarded-For.

    The same rule as REST framework's throttles, so that log-in limits and API limits count the same client.
    """
    peer: str = request.META.get("REMOTE_ADDR", "")
    forwarded: str = request.META.get("HTTP_X_FORWARDED_FOR", "")
    n_proxies: int = settings.NUM_PROXIES
    if not n_proxies or not forwarded:
        return peer
    addresses = [address.strip() for address in forwarded.split(",")]
    return addresses[-min(n_proxies, len(addresses))]
