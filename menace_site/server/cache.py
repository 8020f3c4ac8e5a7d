"""The cache, which may go away or hang: then nothing is remembered, nothing breaks, and almost nobody waits."""

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
"""A Redis that did not answer is left alone for so long: one request waits for it, and not each of them."""


def _forgiving(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """The method of this name, which with Redis away gives ``answer(*its arguments)`` instead of raising."""

    @functools.wraps(getattr(RedisCache, name))
    def method(self: "ForgivingRedisCache", *args: Any, **kwargs: Any) -> Any:
        ask = functools.partial(getattr(super(ForgivingRedisCache, self), name), *args, **kwargs)
        return self.tried(ask, answer(*args, **kwargs))

    return method


class ForgivingRedisCache(RedisCache):
    """Redis as a cache that forgets while Redis is away: throttles let through, figures are worked out again."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self.server, self.options = server, params.get("OPTIONS", {})

    @functools.cached_property
    def client(self) -> Any:
        """For what Django's cache has no method for."""
        return redis.Redis.from_url(self.server, **self.options)

    asked_again_at: ClassVar[dict[str, float]] = {}
    """When those servers are asked again that did not answer, by where they are: of all threads of a process."""

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
        """Move a value to a later version of its key; with Redis away, say which that would be."""
        try:
            return super().incr_version(key, delta, version)
        except ValueError:  # Django's answer to a key that is not there
            if self.server not in self.asked_again_at:
                raise
            return (self.version if version is None else version) + delta

    def tried(self, ask: Callable[[], AnswerT], otherwise: AnswerT) -> AnswerT:
        """What Redis answers; ``otherwise`` if it does not, and while it is left alone for that."""
        now = time.monotonic()
        again_at = self.asked_again_at.get(self.server)
        if again_at is not None:
            if now < again_at:
                return otherwise
            self.asked_again_at[self.server] = now + NOT_ASKED_S  # one thread finds out, and the others go on
        try:
            answer = ask()
        except (RedisError, OSError) as error:
            if again_at is None:
                logger.warning("the cache does not answer: %s", error)
            self.asked_again_at[self.server] = time.monotonic() + NOT_ASKED_S
            return otherwise
        if again_at is not None:
            self.asked_again_at.pop(self.server, None)
            logger.warning("the cache answers again")
        return answer

    def clear(self) -> bool:  # type: ignore[override]  # Django's stubs forget the answer
        """Forget everything that is ours. Django would empty the database, and with it the queues of the workers."""

        def forget() -> bool:
            for key in self.client.scan_iter(match=self.make_key("*"), count=1000):
                self.client.delete(key)
            return True

        return self.tried(forget, otherwise=False)

    def length(self, key: str) -> int:
        """How long a list of the server's is, which need not be the cache's. 0 while Redis is away."""
        return int(self.tried(lambda: self.client.llen(key), otherwise=0))

    def count(self, key: str, timeout_s: int) -> int:
        """How often the key has been counted, this time included, since the first time in ``timeout_s`` seconds.

        One step in Redis, so no count is lost between processes. 0 while Redis is away.
        """
        name = self.make_and_validate_key(key)

        def counted() -> int:
            with self.client.pipeline() as steps:
                steps.set(name, 0, ex=timeout_s, nx=True)
                steps.incr(name)
                return int(steps.execute()[1])

        return self.tried(counted, otherwise=0)


def _in_thread(name: str) -> Callable[..., Any]:
    """The asynchronous twin of the method of this name: the same, in a thread."""

    async def method(self: ForgivingRedisCache, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(getattr(self, name))(*args, **kwargs)

    return method


# Django's own ask for one key after another, and raise for a key that is not there where Redis is away.
for _name, _ in inspect.getmembers(BaseCache, inspect.iscoroutinefunction):
    setattr(ForgivingRedisCache, _name, _in_thread(_name.removeprefix("a")))
