"""A visitor at another computer: opens a site at its printed address, signs up, and plays by a socket.

python -m tests.site.visitor_by_address http://192.168.1.20:8000
"""

import json
import re
import sys
from typing import Any

import requests
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.waiting import PAGE_HANG_S

PASSWORD = "nine little matchboxes"


def visit(url: str, name: str) -> None:
    """Raise unless a page, a form with its cookies, the API and a socket all answer at this address."""
    browser = requests.Session()
    browser.trust_env = False  # no proxy
    page = browser.get(f"{url}/signup", timeout=PAGE_HANG_S)
    page.raise_for_status()
    (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text))
    form = {"username": name, "password1": PASSWORD, "password2": PASSWORD, "csrfmiddlewaretoken": token}
    sent = browser.post(f"{url}/signup", form, headers={"Origin": url}, timeout=PAGE_HANG_S, allow_redirects=False)
    assert sent.status_code == 302, sent.text
    account = browser.get(f"{url}/account", timeout=PAGE_HANG_S, allow_redirects=False)
    assert account.status_code == 200, "the session did not come back"

    headers = {"X-CSRFToken": browser.cookies["csrftoken"], "Origin": url}
    body = {"game": "noughts-and-crosses", "opponent": "random"}
    response = browser.post(f"{url}/api/rooms", json=body, headers=headers, timeout=PAGE_HANG_S)
    response.raise_for_status()
    address = f"{url.replace('http', 'ws', 1)}/api/rooms/{response.json()['code']}/ws"
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    options: dict[str, Any] = {"additional_headers": {"Cookie": cookies}, "proxy": None, "open_timeout": PAGE_HANG_S}
    with connect(address, origin=Origin(url), **options) as room:
        joined = _heard(room, "joined")
        assert joined["role"], "the socket does not know the seat"
        room.send(json.dumps({"type": "move", "data": {"move": joined["state"]["legal_moves"][0]}}))
        assert _heard(room, "state")["ply"]


def _heard(room: Any, kind: str) -> Any:
    while True:
        frame = json.loads(room.recv(timeout=PAGE_HANG_S))
        assert frame["type"] != "error", frame
        if frame["type"] == kind:
            return frame["data"]


if __name__ == "__main__":
    visit(*sys.argv[1:])
