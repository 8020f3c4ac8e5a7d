"""The pool that web processes borrow connections from: one that its server has ended is never lent."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.utils import load_backend

from menace_site.pooled.base import DatabaseWrapper

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pooled() -> Iterator[DatabaseWrapper]:
    """Two connections, as a web process has them."""
    settings = connection.settings_dict
    options = {**settings["OPTIONS"], "pool": {"min_size": 2, "max_size": 2}}
    wrapper = load_backend("menace_site.pooled").DatabaseWrapper({**settings, "OPTIONS": options}, alias="pooled")
    try:
        yield wrapper
    finally:
        wrapper.close()
        wrapper.close_pool()


def backend_of(wrapper: DatabaseWrapper) -> int:
    """The server process that answers over the connection that is lent next."""
    with wrapper.cursor() as cursor:
        pid = int(cursor.execute("SELECT pg_backend_pid()").fetchone()[0])
    wrapper.close()
    return pid


def test_connections_are_lent_again(pooled: DatabaseWrapper) -> None:
    assert len({backend_of(pooled) for _ in range(10)}) <= 2


def test_one_that_its_server_has_ended_is_not_lent(pooled: DatabaseWrapper) -> None:
    before = {backend_of(pooled) for _ in range(10)}
    with connection.cursor() as cursor:
        for pid in before:
            cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])
    after = {backend_of(pooled) for _ in range(10)}
    assert after
    assert not after & before
