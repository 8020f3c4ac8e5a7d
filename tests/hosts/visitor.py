"""Somebody with a browser, and a program of theirs, at a site behind TLS."""

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
HALF = b"GET / HTTP/1.1\r\nHost: half"


class Named(HTTPAdapter):
    """Connections to an address that has to prove that it is the site's."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, server_hostname=self.name, assert_hostname=self.name, **options)


class Visitor:
    """A browser with its session; ``token`` is a program's, once there is one."""

    def __init__(self, cluster: Any) -> None:
        self.cluster, self.token = cluster, ""
        self.host, self.port = cluster.endpoint
        self.at = f"https://{self.host}:{self.port}"
        self.browser = requests.Session()
        self.browser.trust_env = False  # whom this machine trusts is of no use here
        self.browser.mount("https://", Named(cluster.site))
        self.browser.verify = str(cluster.authority)
        self.browser.headers.update({"Host": cluster.site, "Referer": f"https://{cluster.site}/"})

    def submit(self, path: str, fields: dict[str, Any]) -> requests.Response:
        """Fill in the form of a page and send it."""
        page = self.browser.get(self.at + path, timeout=HANG_S)
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)[0]
        return self.browser.post(
            self.at + path, {**fields, "csrfmiddlewaretoken": token}, timeout=HANG_S, allow_redirects=False
        )

    def sign_up(self, name: str) -> None:
        """Make an account, sign out and in again, and make a token that may do everything."""
        made = self.submit("/signup", {"username": name, "password1": PASSWORD, "password2": PASSWORD})
        assert made.status_code == 302, made.text
        self.browser.cookies.clear()
        known = self.submit("/login", {"username": name, "password": PASSWORD})
        assert known.status_code == 302, known.text
        shown = self.submit("/account/tokens", {"name": "hosts", "scopes": ["read", "play", "train"], "days": "30"})
        self.token = re.findall(r'id="made"[^>]* value="([^"]+)"', shown.text)[0]

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """What the API answers; with no site behind the proxy it is asked again."""
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

    def half_shaken(self) -> socket.socket:
        """A connection that has not begun TLS."""
        return socket.create_connection((self.host, self.port))

    def half_asked(self) -> socket.socket:
        """One that has sent half of a head."""
        return self.asked(HALF)

    def asked(self, sent: bytes) -> ssl.SSLSocket:
        """A connection that has sent a part of a request."""
        trust = ssl.create_default_context(cafile=self.cluster.authority)
        came = trust.wrap_socket(self.half_shaken(), server_hostname=self.cluster.site)
        came.sendall(sent)
        return came

    def half_asked_plainly(self) -> socket.socket:
        """One that has sent half of a head without TLS."""
        came = socket.create_connection((self.host, 80))
        came.sendall(HALF)
        return came

    def room(self, code: str, **query: str) -> ClientConnection:
        """A socket of a room, compressed and encrypted; as a browser opens it."""
        trust = ssl.create_default_context(cafile=self.cluster.authority)
        cookies = "; ".join(f"{name}={value}" for name, value in self.browser.cookies.items())
        return connect(
            f"wss://{self.cluster.site}/api/rooms/{code}/ws?{urlencode(query)}",
            sock=socket.create_connection((self.host, self.port)),
            ssl=trust,
            server_hostname=self.cluster.site,
            origin=f"https://{self.cluster.site}",  # type: ignore[arg-type]
            additional_headers={"Cookie": cookies},
        )


def hear(room: ClientConnection, kind: str) -> dict[str, Any]:
    """The next frame of a kind."""
    while True:
        frame = json.loads(room.recv(timeout=HANG_S))
        if frame["type"] == kind:
            data: dict[str, Any] = frame["data"]
            return data
