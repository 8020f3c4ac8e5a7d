"""Group commit: one thread stores for all that wait for the same key.

While a thread stores, later callers for the same key queue; the first in the queue then stores for all of them. So a
process waits once for what its threads all need, and not once for each.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

logger = logging.getLogger("games.together")

ItemT = TypeVar("ItemT")


class GroupCommit(Generic[ItemT]):
    """Those who store, and those who wait for them, by what for."""

    def __init__(self, before_waiting: Callable[[], None] = lambda: None) -> None:
        """Args: before_waiting: what whoever has to wait does first."""
        self._lock = threading.Lock()
        self._before_waiting = before_waiting
        self._waiting: dict[Hashable, list[_Waiting[ItemT]]] = {}

    def store(self, key: Hashable, item: ItemT, store: Callable[[Sequence[ItemT]], Sequence[ItemT]]) -> bool:
        """Have something stored, at once or once those before have been; whether it has been stored.

        Args:
            key: what for.
            item: what is to be stored.
            store: stores many, all of those that it returns or, where it raises, none. What it raises over one alone
                is raised here; of several none is stored then.
        """
        own = _Waiting(item)
        with self._lock:
            queue = self._waiting.get(key)
            if queue is not None:
                queue.append(own)
            else:
                self._waiting[key] = []
        if queue is None:
            together = [own]
        else:
            self._before_waiting()
            together = own.turn.result()
        if together:
            self._store_for(together, key, store)
        return own.is_stored

    def _store_for(
        self, together: list[_Waiting[ItemT]], key: Hashable, store: Callable[[Sequence[ItemT]], Sequence[ItemT]]
    ) -> None:
        stored: Sequence[ItemT] = ()
        try:
            stored = store([one.item for one in together])
        except Exception:
            if len(together) == 1:
                raise
            # Whatever it was, each tries by itself next and is told its own.
            logger.warning("%d could not be stored together", len(together), exc_info=True)
        finally:
            for one in together:
                one.is_stored = any(one.item is item for item in stored)
            self._next(key)
            for one in together[1:]:
                one.turn.set_result([])

    def _next(self, key: Hashable) -> None:
        """One has stored, or failed to: the first of those who wait stores for all of them, if anybody does."""
        with self._lock:
            waiting = self._waiting.pop(key)
            if waiting:
                self._waiting[key] = []
        if waiting:
            waiting[0].turn.set_result(waiting)


class _Waiting(Generic[ItemT]):
    """One who waits for ``turn``: those for whom to store next, itself among them, or nobody once it is all over."""

    def __init__(self, item: ItemT) -> None:
        self.item = item
        self.turn: Future[list[_Waiting[ItemT]]] = Future()
        self.is_stored = False
