"""The cache while its server is down or hangs: every method of Django's interface returns quickly without an error."""

from __future__ import annotations

import inspect
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.core.cache.backends.base import BaseCache
from django.test import Client

from menace_site.server.cache import ForgivingRedisCache
from tests.factories import machine

DEFAULT_ANSWERS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "__contains__": (("bead",), False),
    "add": (("bead", 1), False),
    "clear": ((), False),
    "close": ((), None),
    "decr": (("bead", 2), -2),
    "decr_version": (("bead", 1, 3), 2),
    "delete": (("bead",), False),
    "delete_many": ((["bead", "box"],), None),
    "get": (("bead", "forgotten"), "forgotten"),
    "get_many": ((["bead", "box"],), {}),
    "get_or_set": (("bead", lambda: 4), 4),
    "has_key": (("bead",), False),
    "incr": (("bead", 2), 2),
    "incr_version": (("bead",), 2),
    "set": (("bead", 1), None),
    "set_many": (({"bead": 1, "box": 2},), ["bead", "box"]),
    "touch": (("bead",), False),
}
"""Arguments of each method here, and its result while the cache is empty."""
METHODS_WITHOUT_CONNECTION = {"get_backend_timeout", "make_and_validate_key", "make_key", "validate_key"}
"""Methods that do not connect to the server."""
OUR_ANSWERS = {"count": (("bead", 60), 0), "length": (("bead",), 0)}


@pytest.fixture
def n_connections() -> list[int]:
    """A list with the number of connections that the hanging server has accepted."""
    return [0]


@pytest.fixture(params=["dead", "hanging"])
def unreachable_cache(
    request: pytest.FixtureRequest, n_connections: list[int], tmp_path: Path, settings: Any, monkeypatch: Any
) -> Iterator[ForgivingRedisCache]:
    """Yield the site's cache, with production time limits, and a server that is down or never answers."""
    path = tmp_path / "redis.sock"
    connections: list[socket.socket] = []

    def take() -> None:
        while True:
            try:
                connections.append(server.accept()[0])
            except OSError:
                return
            n_connections[0] += 1

    server = socket.socket(socket.AF_UNIX)
    if request.param == "hanging":
        server.bind(str(path))
        server.listen()
        threading.Thread(target=take, daemon=True).start()
    own = {**settings.CACHES["default"], "LOCATION": f"unix://{path}"}
    own["OPTIONS"] = {**own["OPTIONS"], "socket_connect_timeout": 0.1, "socket_timeout": 0.1}
    monkeypatch.setattr(ForgivingRedisCache, "retry_time_by_server", {})
    settings.CACHES = {"default": own}
    cache = caches["default"]
    assert isinstance(cache, ForgivingRedisCache)
    yield cache
    server.close()
    for one in connections:
        one.close()


def test_answers_cover_every_cache_method() -> None:
    methods = {name for name, _ in inspect.getmembers(BaseCache, inspect.isfunction) if not name.startswith("_")}
    twins = {f"a{name}" for name in DEFAULT_ANSWERS if not name.startswith("_")}
    assert methods | {"__contains__"} == set(DEFAULT_ANSWERS) | twins | METHODS_WITHOUT_CONNECTION
    asynchronous = {name for name, _ in inspect.getmembers(ForgivingRedisCache, inspect.iscoroutinefunction)}
    assert asynchronous == twins


@pytest.mark.parametrize("name", [*DEFAULT_ANSWERS, *OUR_ANSWERS])
def test_cache_method_gives_up_after_one_connection(
    name: str, unreachable_cache: ForgivingRedisCache, n_connections: list[int]
) -> None:
    args, answer = (DEFAULT_ANSWERS | OUR_ANSWERS)[name]
    for _ in range(3):
        assert getattr(unreachable_cache, name)(*args) == answer
    assert n_connections[0] <= 1


@pytest.mark.parametrize("name", [name for name in DEFAULT_ANSWERS if name != "__contains__"])
async def test_async_cache_method_gives_up_after_one_connection(
    name: str, unreachable_cache: ForgivingRedisCache, n_connections: list[int]
) -> None:
    args, answer = DEFAULT_ANSWERS[name]
    for _ in range(3):
        assert await getattr(unreachable_cache, f"a{name}")(*args) == answer
    assert n_connections[0] <= 1


@pytest.mark.django_db
def test_progress_of_a_machine_works_without_the_cache(unreachable_cache: ForgivingRedisCache, client: Client) -> None:
    response = client.get(f"/api/machines/{machine().pk}/progress")
    assert response.status_code == 200
    assert response.json()["games"] == 0


async def test_cache_behaves_like_djangos_with_a_server() -> None:
    cache = caches["default"]
    cache.clear()
    assert cache.set_many({"bead": 1, "box": 2}) == []
    assert cache.get_many(["bead", "box", "drawer"]) == {"bead": 1, "box": 2}
    assert (cache.incr("bead"), await cache.aincr("bead", 3), await cache.adecr("bead")) == (2, 5, 4)
    assert (cache.touch("bead"), cache.touch("drawer"), cache.has_key("box"), "drawer" in cache) == (
        True,
        False,
        True,
        False,
    )
    assert (cache.incr_version("bead"), await cache.adecr_version("bead", version=2)) == (2, 1)
    assert await cache.aget_many(["bead", "box"]) == {"bead": 4, "box": 2}
    await cache.adelete_many(["bead", "box"])
    for missing in (cache.incr, cache.incr_version):
        with pytest.raises(ValueError, match="not found"):
            missing("bead")
    assert cache.get_or_set("bead", 7) == await cache.aget_or_set("bead", 8) == 7
