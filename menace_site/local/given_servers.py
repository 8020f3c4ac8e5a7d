"""Checks that the servers of ``DATABASE_URL`` and ``REDIS_URL`` answer and are new enough.

This module imports only the standard library at module level, as ``servers.py`` does.
"""

from urllib.parse import urlsplit

from menace_site.local.errors import ServerError

MIN_POSTGRES_MAJOR, MIN_REDIS_MAJOR = 15, 7
"""Oldest supported major versions: constraints need NULLS NOT DISTINCT of PostgreSQL 15; tests run no older Redis."""


def redis_answers(url: str) -> bool:
    """Whether the Redis at ``url`` answers a ping within two seconds."""
    import redis

    try:
        with redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2) as client:
            return bool(client.ping())
    except redis.exceptions.RedisError:
        return False


def check_given_redis(url: str) -> None:
    """Raise ``ServerError`` if the Redis of ``REDIS_URL`` is silent or too old; the message omits its password."""
    import redis

    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise ServerError("REDIS_URL names no Redis: it begins with redis://, rediss:// or unix://.")
    if not redis_answers(url):
        parts = urlsplit(url)
        raise ServerError(
            f"REDIS_URL is set, but nothing answers at {parts.hostname or parts.path}"
            f"{f':{parts.port}' if parts.port else ''}: start that server, or unset REDIS_URL to use a private one."
        )
    with redis.Redis.from_url(url, socket_timeout=2) as client:
        version = str(client.info("server").get("redis_version", ""))
    if int(version.partition(".")[0] or 0) < MIN_REDIS_MAJOR:
        raise ServerError(f"REDIS_URL names a Redis {version}: Beadbox needs 7.0 or newer, or Valkey.")


def check_given_database(url: str) -> None:
    """Raise ``ServerError`` if the PostgreSQL of ``DATABASE_URL`` refuses a connection or is too old."""
    import psycopg

    if not url.startswith(("postgres://", "postgresql://")):
        raise ServerError("DATABASE_URL names no PostgreSQL: it begins with postgres://.")
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            version = connection.info.server_version // 10_000
    except psycopg.Error as error:
        raise ServerError(
            f"DATABASE_URL is set, but does not work ({error}): mend it, or unset it to use a private server."
        ) from error
    if version < MIN_POSTGRES_MAJOR:
        raise ServerError(f"DATABASE_URL names a PostgreSQL {version}: Beadbox needs {MIN_POSTGRES_MAJOR} or newer.")
