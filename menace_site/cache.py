"""The cache, which may go away: then nothing is remembered, and nothing breaks."""

import functools
import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)


def _forgiving(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """The method of this name, which with Redis away gives ``answer(*its arguments)`` instead of raising."""

    @functools.wraps(getattr(RedisCache, name))
    def method(self: RedisCache, *args: Any, **kwargs: Any) -> Any:
        try:
            return getattr(super(ForgivingRedisCache, self), name)(*args, **kwargs)
        except (RedisError, OSError) as error:
            logger.warning("the cache does not answer: %s", error)
            return answer(*args, **kwargs)

    return method


class ForgivingRedisCache(RedisCache):
    """Redis as a cache that forgets while Redis is away: throttles let through, figures are worked out again."""

    get = _forgiving("get", lambda key, default=None, version=None: default)
    set = _forgiving("set", lambda *_, **__: None)
    add = _forgiving("add", lambda *_, **__: False)
    delete = _forgiving("delete", lambda *_, **__: False)

    def clear(self) -> bool:  # type: ignore[override]  # Django's stubs forget the answer
        """Forget everything that is ours. Django would empty the database, and with it the queues of the workers."""
        try:
            client: Any = self._cache.get_client(None, write=True)
            for key in client.scan_iter(match=self.make_key("*"), count=1000):
                client.delete(key)
        except (RedisError, OSError) as error:
            logger.warning("the cache does not answer: %s", error)
            return False
        return True

    def count(self, key: str, timeout_s: int) -> int:
        """How often the key has been counted, this time included, since the first time in ``timeout_s`` seconds.

        One step in Redis, so no count is lost between processes. 0 while Redis is away.
        """
        name = self.make_and_validate_key(key)
        try:
            client: Any = self._cache.get_client(name, write=True)
            with client.pipeline() as steps:
                steps.set(name, 0, ex=timeout_s, nx=True)
                steps.incr(name)
                return int(steps.execute()[1])
        except (RedisError, OSError) as error:
            logger.warning("the cache does not answer: %s", error)
            return 0
