"""A Redis cache that tolerates outages: calls return defaults instead of raising errors, and only one caller waits."""

import functools
import inspect
import logging
import time
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import redis
from asgiref.sync import sync_to_async
from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger("menace_site.cache")

AnswerT = TypeVar("AnswerT")
NOT_ASKED_S = 2.0
"""Seconds without calls after a time-out of Redis, so that one request waits for the next time-out instead of all."""


def _forgiving(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a version of the method ``name`` that returns ``answer(*args, **kwargs)`` in an outage."""

    @functools.wraps(getattr(RedisCache, name))
    def method(self: "ForgivingRedisCache", *args: Any, **kwargs: Any) -> Any:
        ask = functools.partial(getattr(super(ForgivingRedisCache, self), name), *args, **kwargs)
        return self.tried(ask, answer(*args, **kwargs))

    return method


class ForgivingRedisCache(RedisCache):
    """A cache in Redis that seems empty in an outage: throttles admit every request, and figures are recomputed."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.server = server
        self.client: Any = redis.Redis.from_url(server, **params.get("OPTIONS", {}))
        """A Redis client, for operations that Django's cache lacks. It connects at its first use."""

    asked_again_at: ClassVar[dict[str, float]] = {}
    """Monotonic time of the next attempt for each silent server, by URL; shared by all threads of a process."""

    get = _forgiving("get", lambda key, default=None, version=None: default)
    set = _forgiving("set", lambda *_, **__: None)
    add = _forgiving("add", lambda *_, **__: False)
    delete = _forgiving("delete", lambda *_, **__: False)
    touch = _forgiving("touch", lambda *_, **__: False)
    has_key = _forgiving("has_key", lambda *_, **__: False)
    incr = _forgiving("incr", lambda key, delta=1, version=None: delta)
    get_many = _forgiving("get_many", lambda *_, **__: {})
    set_many = _forgiving("set_many", lambda data, *_, **__: list(data))
    delete_many = _forgiving("delete_many", lambda *_, **__: None)

    def incr_version(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Move a value to a later version of its key, and return that version, even in an outage."""
        try:
            return super().incr_version(key, delta, version)
        except ValueError:  # Django raises it for a missing key, and every key is missing in an outage.
            if self.server not in self.asked_again_at:
                raise
            return (self.version if version is None else version) + delta

    def tried(self, ask: Callable[[], AnswerT], otherwise: AnswerT) -> AnswerT:
        """Call ``ask`` and return its result; return ``otherwise`` on an outage and for ``NOT_ASKED_S`` after it."""
        now = time.monotonic()
        retry_at = self.asked_again_at.get(self.server)
        if retry_at is not None:
            if now < retry_at:
                return otherwise
            self.asked_again_at[self.server] = now + NOT_ASKED_S  # Only this thread tries; others get the default.
        try:
            answer = ask()
        except (RedisError, OSError) as error:
            if retry_at is None:
                logger.warning("the cache does not answer: %s", error)
            self.asked_again_at[self.server] = time.monotonic() + NOT_ASKED_S
            return otherwise
        if retry_at is not None:
            self.asked_again_at.pop(self.server, None)
            logger.warning("the cache answers again")
        return answer

    def clear(self) -> bool:  # type: ignore[override]  # Django's stubs say None
        """Delete the keys of this cache. Django's version would empty the whole Redis, the workers' queues included."""

        def delete_keys() -> bool:
            for key in self.client.scan_iter(match=self.make_key("*"), count=1000):
                self.client.delete(key)
            return True

        return self.tried(delete_keys, otherwise=False)

    def length(self, key: str) -> int:
        """Return the length of the Redis list ``key``, which has no cache prefix; 0 in an outage."""
        return int(self.tried(lambda: self.client.llen(key), otherwise=0))

    def count(self, key: str, timeout_s: int) -> int:
        """Increment the counter ``key`` and return its new value; 0 in an outage.

        The counter starts again at 1 when ``timeout_s`` has passed since its first increment. One Redis transaction
        keeps simultaneous increments of several processes apart.
        """
        name = self.make_and_validate_key(key)

        def incremented() -> int:
            with self.client.pipeline() as pipeline:
                pipeline.set(name, 0, ex=timeout_s, nx=True)
                pipeline.incr(name)
                return int(pipeline.execute()[1])

        return self.tried(incremented, otherwise=0)


def _in_thread(name: str) -> Callable[..., Any]:
    """Return an asynchronous method that calls the method ``name`` in a thread."""

    async def method(self: ForgivingRedisCache, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(getattr(self, name))(*args, **kwargs)

    return method


# Replace Django's asynchronous methods: they fetch keys one by one, and in an outage they raise for a missing key.
for _name, _ in inspect.getmembers(BaseCache, inspect.iscoroutinefunction):
    setattr(ForgivingRedisCache, _name, _in_thread(_name.removeprefix("a")))
