"""The answers of the fallback responder while a site starts."""

import socket

from menace_site.local.fallback_responder import _RefusalHandler


def test_refusal_to_a_vanished_client_raises_no_error() -> None:
    client, served = socket.socketpair()
    with client, served:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        client.close()
        _RefusalHandler(served, ("", 0), None)  # type: ignore[arg-type]  # it asks its server for nothing
