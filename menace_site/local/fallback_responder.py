"""Fallback responder: answers 503 while the web processes of ``make run`` start. In production the proxy does this."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

UNAVAILABLE_TEXT = "The site is starting again. Your matches are kept; it takes some seconds."
PAGE_HTML = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="2"><title>A short pause · Beadbox</title>
<h1>A short pause</h1><p role="status">{UNAVAILABLE_TEXT} This page then loads by itself.</p></html>
"""
REFUSAL_JSON = json.dumps({"detail": UNAVAILABLE_TEXT, "code": "unavailable"})
HEADERS = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "Retry-After": "2",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class _RefusalHandler(BaseHTTPRequestHandler):
    timeout = 1.0

    def do_GET(self) -> None:
        is_page = self.command in {"GET", "HEAD"} and "text/html" in self.headers.get("Accept", "")
        content_type, body = (
            ("text/html; charset=utf-8", PAGE_HTML.encode()) if is_page else ("application/json", REFUSAL_JSON.encode())
        )
        self.send_response(503)
        for name, value in {**HEADERS, "Content-Type": content_type, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        with contextlib.suppress(OSError):  # The client may have closed the connection.
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)
            self.connection.shutdown(socket.SHUT_WR)
            # Closing a connection with unread input resets it, and the client would lose the response.
            while self.rfile.read1():
                pass

    def log_message(self, *args: object) -> None:
        """Log nothing, because the lines would contain network addresses and tokens."""

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815


@contextlib.contextmanager
def serve_fallback(listening_socket: socket.socket) -> Iterator[None]:
    """Listen on a bound socket and answer its requests with 503 until the ``with`` block ends."""
    server = ThreadingHTTPServer(("", 0), _RefusalHandler, bind_and_activate=False)
    server.socket.close()
    server.socket = listening_socket
    listening_socket.setblocking(False)
    listening_socket.listen(1024)
    threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True).start()
    yield
    server.shutdown()
