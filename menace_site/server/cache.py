"""A Redis cache that tolerates outages: calls return defaults instead of raising errors.

While Redis does not answer, only one caller at a time waits for its time-out.
"""

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
PAUSE_AFTER_OUTAGE_S = 2.0
"""Seconds without calls after a time-out of Redis. Then one request calls Redis, and the others do not wait for it."""


def _with_default(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a version of the method ``name`` that returns ``answer(*args, **kwargs)`` in an outage."""

    @functools.wraps(getattr(RedisCache, name))
    def method(self: "ForgivingRedisCache", *args: Any, **kwargs: Any) -> Any:
        call = functools.partial(getattr(super(ForgivingRedisCache, self), name), *args, **kwargs)
        return self.call_or_default(call, answer(*args, **kwargs))

    return method


class ForgivingRedisCache(RedisCache):
    """A cache in Redis that seems empty in an outage.

    Throttles then admit every request, and pages compute their figures again.
    """

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.server = server
        self.client: Any = redis.Redis.from_url(server, **params.get("OPTIONS", {}))
        """A Redis client, for operations that Django's cache lacks. It connects at its first use."""

    retry_time_by_server: ClassVar[dict[str, float]] = {}
    """Monotonic time of the next attempt for each silent server, by URL; shared by all threads of a process."""

    get = _with_default("get", lambda key, default=None, version=None: default)
    set = _with_default("set", lambda *_, **__: None)
    add = _with_default("add", lambda *_, **__: False)
    delete = _with_default("delete", lambda *_, **__: False)
    touch = _with_default("touch", lambda *_, **__: False)
    has_key = _with_default("has_key", lambda *_, **__: False)
    incr = _with_default("incr", lambda key, delta=1, version=None: delta)
    get_many = _with_default("get_many", lambda *_, **__: {})
    set_many = _with_default("set_many", lambda data, *_, **__: list(data))
    delete_many = _with_default("delete_many", lambda *_, **__: None)

    def incr_version(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Move a value to a later version of its key, and return that version, even in an outage."""
        try:
            return super().incr_version(key, delta, version)
        except ValueError:  # Django raises it for a missing key, and every key is missing in an outage.
            if self.server not in self.retry_time_by_server:
                raise
            return (self.version if version is None else version) + delta

    def call_or_default(self, call: Callable[[], AnswerT], default: AnswerT) -> AnswerT:
        """Return the result of ``call``, a function that calls Redis, or ``default`` in an outage.

        For ``PAUSE_AFTER_OUTAGE_S`` after a failed call, return ``default`` without a call.
        """
        now = time.monotonic()
        retry_at = self.retry_time_by_server.get(self.server)
        if retry_at is not None:
            if now < retry_at:
                return default
            # Only this thread calls the server; the other threads get the default.
            self.retry_time_by_server[self.server] = now + PAUSE_AFTER_OUTAGE_S
        try:
            answer = call()
        except (RedisError, OSError) as error:
            if retry_at is None:
                logger.warning("the cache does not answer: %s", error)
            self.retry_time_by_server[self.server] = time.monotonic() + PAUSE_AFTER_OUTAGE_S
            return default
        if retry_at is not None:
            self.retry_time_by_server.pop(self.server, None)
            logger.warning("the cache answers again")
        return answer

    def clear(self) -> bool:  # type: ignore[override]  # Django's stubs say None
        """Delete the keys of this cache. Django's version would empty the whole Redis, the workers' queues included."""

        def delete_keys() -> bool:
            for key in self.client.scan_iter(match=self.make_key("*"), count=1000):
                self.client.delete(key)
            return True

        return self.call_or_default(delete_keys, default=False)

    def length(self, key: str) -> int:
        """Return the length of the Redis list ``key``, which has no cache prefix; 0 in an outage."""
        return int(self.call_or_default(lambda: self.client.llen(key), default=0))

    def count(self, key: str, timeout_s: int) -> int:
        """Increment the counter ``key`` and return its new value; 0 in an outage.

        The counter starts again at 1 when ``timeout_s`` has passed since its first increment. One Redis transaction
        keeps simultaneous increments of several processes apart.
        """
        name = self.make_and_validate_key(key)

        def increment() -> int:
            with self.client.pipeline() as pipeline:
                pipeline.set(name, 0, ex=timeout_s, nx=True)
                pipeline.incr(name)
                return int(pipeline.execute()[1])

        return self.call_or_default(increment, default=0)


def _thread_method(name: str) -> Callable[..., Any]:
    """Return an asynchronous method that calls the method ``name`` in a thread."""

    async def method(self: ForgivingRedisCache, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(getattr(self, name))(*args, **kwargs)

    return method


# Replace Django's asynchronous methods: they fetch keys one by one, and in an outage they raise for a missing key.
for _name, _ in inspect.getmembers(BaseCache, inspect.iscoroutinefunction):
    setattr(ForgivingRedisCache, _name, _thread_method(_name.removeprefix("a")))
