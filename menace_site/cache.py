"""The cache, which may go away or hang: then nothing is remembered, nothing breaks, and almost nobody waits."""

import functools
import logging
import time
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

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

    asked_again_at: ClassVar[dict[str, float]] = {}
    """When those servers are asked again that did not answer, by where they are: of all threads of a process."""

    get = _forgiving("get", lambda key, default=None, version=None: default)
    set = _forgiving("set", lambda *_, **__: None)
    add = _forgiving("add", lambda *_, **__: False)
    delete = _forgiving("delete", lambda *_, **__: False)

    def tried(self, ask: Callable[[], AnswerT], otherwise: AnswerT) -> AnswerT:
        """What Redis answers; ``otherwise`` if it does not, and while it is left alone for that."""
        where = str(self._servers)  # type: ignore[attr-defined]  # Django's stubs have none
        now = time.monotonic()
        again_at = self.asked_again_at.get(where)
        if again_at is not None:
            if now < again_at:
                return otherwise
            self.asked_again_at[where] = now + NOT_ASKED_S  # one thread finds out, and the others go on
        try:
            answer = ask()
        except (RedisError, OSError) as error:
            if again_at is None:
                logger.warning("the cache does not answer: %s", error)
            self.asked_again_at[where] = time.monotonic() + NOT_ASKED_S
            return otherwise
        if again_at is not None:
            self.asked_again_at.pop(where, None)
            logger.warning("the cache answers again")
        return answer

    def clear(self) -> bool:  # type: ignore[override]  # Django's stubs forget the answer
        """Forget everything that is ours. Django would empty the database, and with it the queues of the workers."""

        def forget() -> bool:
            client: Any = self._cache.get_client(None, write=True)
            for key in client.scan_iter(match=self.make_key("*"), count=1000):
                client.delete(key)
            return True

        return self.tried(forget, otherwise=False)

    def length(self, key: str) -> int:
        """How long a list of the server's is, which need not be the cache's. 0 while Redis is away."""
        client: Any = self._cache.get_client(key)
        return int(self.tried(lambda: client.llen(key), otherwise=0))

    def count(self, key: str, timeout_s: int) -> int:
        """How often the key has been counted, this time included, since the first time in ``timeout_s`` seconds.

        One step in Redis, so no count is lost between processes. 0 while Redis is away.
        """
        name = self.make_and_validate_key(key)

        def counted() -> int:
            client: Any = self._cache.get_client(name, write=True)
            with client.pipeline() as steps:
                steps.set(name, 0, ex=timeout_s, nx=True)
                steps.incr(name)
                return int(steps.execute()[1])

        return self.tried(counted, otherwise=0)
