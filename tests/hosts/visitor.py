"""A visitor with a browser and a program at a site behind TLS."""

from __future__ import annotations

import json
import re
import socket
import ssl
from typing import Any
from urllib.parse import urlencode

import requests
from requests.adapters import HTTPAdapter
from websockets.sync.client import ClientConnection, connect

from tests.waiting import HANG_S, wait_until

PASSWORD = "nine little matchboxes"
HALF_REQUEST = b"GET / HTTP/1.1\r\nHost: half"


class NameCheckingAdapter(HTTPAdapter):
    """Connects to an address and demands a certificate for the site's name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, server_hostname=self.name, assert_hostname=self.name, **options)


class Visitor:
    """A browser session; ``token`` is the visitor's API token after signing up."""

    def __init__(self, cluster: Any) -> None:
        self.cluster, self.token = cluster, ""
        self.host, self.port = cluster.endpoint
        self.at = f"https://{self.host}:{self.port}"
        self.browser = requests.Session()
        self.browser.trust_env = False  # the machine's certificate authorities do not know the site's
        self.browser.mount("https://", NameCheckingAdapter(cluster.site))
        self.browser.verify = str(cluster.authority)
        self.browser.headers.update({"Host": cluster.site, "Referer": f"https://{cluster.site}/"})

    def submit(self, path: str, fields: dict[str, Any]) -> requests.Response:
        """Fill in the form of a page and submit it."""
        page = self.browser.get(self.at + path, timeout=HANG_S)
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[0]
        return self.browser.post(
            self.at + path, {**fields, "csrfmiddlewaretoken": token}, timeout=HANG_S, allow_redirects=False
        )

    def sign_up(self, name: str) -> None:
        """Create an account, sign out and in, and create a token with all scopes."""
        made = self.submit("/signup", {"username": name, "password1": PASSWORD, "password2": PASSWORD})
        assert made.status_code == 302, made.text
        self.browser.cookies.clear()
        known = self.submit("/login", {"username": name, "password": PASSWORD})
        assert known.status_code == 302, known.text
        shown = self.submit("/account/tokens", {"name": "hosts", "scopes": ["read", "play", "train"], "days": "30"})
        self.token = re.findall(r'id="made"[^>]* value="([^"]+)"', shown.text)[0]

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """Return the API's answer; retry while no web process answers."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        answers: list[requests.Response] = []

        def is_answered() -> bool:
            try:
                answers.append(
                    self.browser.request(
                        method, f"{self.at}/api/{path}", json=body or None, headers=headers, timeout=HANG_S
                    )
                )
            except requests.ConnectionError:
                return False
            return answers[-1].status_code not in {502, 503}

        assert wait_until(is_answered), path
        assert answers[-1].ok, answers[-1].text
        return answers[-1].json()

    def connect_without_tls(self) -> socket.socket:
        """Return a connection that has not begun TLS."""
        return socket.create_connection((self.host, self.port))

    def send_half_request(self) -> socket.socket:
        """Return a TLS connection that has sent half of a request's headers."""
        return self.send_part(HALF_REQUEST)

    def send_part(self, sent: bytes) -> ssl.SSLSocket:
        """Return a TLS connection that has sent part of a request."""
        trust = ssl.create_default_context(cafile=self.cluster.authority)
        came = trust.wrap_socket(self.connect_without_tls(), server_hostname=self.cluster.site)
        came.sendall(sent)
        return came

    def send_half_request_without_tls(self) -> socket.socket:
        """Return a connection that has sent half of a request's headers without TLS."""
        came = socket.create_connection((self.host, 80))
        came.sendall(HALF_REQUEST)
        return came

    def room(self, code: str, **query: str) -> ClientConnection:
        """Open a room's WebSocket, compressed and encrypted, as a browser does."""
        trust = ssl.create_default_context(cafile=self.cluster.authority)
        cookies = "; ".join(f"{name}={value}" for name, value in self.browser.cookies.items())
        return connect(
            f"wss://{self.cluster.site}/api/rooms/{code}/ws?{urlencode(query)}",
            sock=socket.create_connection((self.host, self.port)),
            ssl=trust,
            server_hostname=self.cluster.site,
            origin=f"https://{self.cluster.site}",  # type: ignore[arg-type]
            additional_headers={"Cookie": cookies},
            open_timeout=HANG_S,
        )


def hear(room: ClientConnection, kind: str) -> dict[str, Any]:
    """Return the data of the next frame of a kind."""
    while True:
        frame = json.loads(room.recv(timeout=HANG_S))
        if frame["type"] == kind:
            data: dict[str, Any] = frame["data"]
            return data
