"""Lists of the API: ``{count, next, previous, results}`` by ``limit`` and ``offset``."""

from __future__ import annotations

from rest_framework.pagination import LimitOffsetPagination
from rest_framework.request import Request


class Page(LimitOffsetPagination):
    """At most 200 entries at once, 50 if nobody says."""

    max_limit = 200
    MAX_OFFSET = 1 << 31

    def get_offset(self, request: Request) -> int:
        """Beyond this there is nothing, and the database could not count so far."""
        return min(super().get_offset(request), self.MAX_OFFSET)
