"""Background moves: a few threads compute the moves of players that think for seconds.

Each job computes one move. The database records that the move is due (``Match.answer_by``). If a thread dies or the
queue is full, only time is lost: the next viewer of the match queues the job again. A thread computes without a
transaction or a connection, and its move counts only if the match is still at the same ply.

Addresses take turns, and so do the players at one address. So a player with sixty matches does not delay a player with
one match.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable
from contextvars import copy_context
from functools import partial

from django.conf import settings
from django.db import close_old_connections

from beadbox.engines.compiled import EngineCompilingError
from games.exceptions import BusyError
from games.transport.database_errors import is_database_outage, unavailable_error

logger = logging.getLogger("games.thinking")

MAX_WAITING_JOBS = 64
NICENESS = 10

PlayerAtAddress = tuple[str, Hashable]
"""A client address, empty if unknown, and a player at it."""


class MoveQueue:
    """Waiting jobs, by address and player. Thread-safe."""

    def __init__(self, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self.n_unfinished = 0
        """Number of jobs that wait or run."""
        self._waiting: dict[PlayerAtAddress, deque[Callable[[], None]]] = {}
        self._turns: dict[str | PlayerAtAddress, int] = {}
        """Number of the last turn, by address and by player, as long as it matters for the order of turns."""
        self._n_turns = 0
        self._condition = threading.Condition()

    def put(self, player: PlayerAtAddress, job: Callable[[], None]) -> bool:
        """Queue a job. If the queue is full, drop the newest job of the busiest player, and return false."""
        with self._condition:
            self._waiting.setdefault(player, deque()).append(job)
            for key in (player[0], player):
                # A new key has its turn before the key with the latest turn, and after all other keys.
                self._turns.setdefault(key, self._n_turns - 1)
            self.n_unfinished += 1
            self._condition.notify()
            if sum(map(len, self._waiting.values())) <= self.max_waiting:
                return True
            n_jobs = Counter(address for (address, _), jobs in self._waiting.items() for _ in jobs)
            self._pop(max(self._waiting, key=lambda one: (n_jobs[one[0]], len(self._waiting[one]))), newest=True)
            self.n_unfinished -= 1
            return False

    def get(self) -> Callable[[], None]:
        """Return the next job. This method blocks until there is a job."""
        with self._condition:
            self._condition.wait_for(lambda: self._waiting)
            player = min(self._waiting, key=lambda one: (self._turns[one[0]], self._turns[one]))
            self._n_turns += 1
            self._turns[player[0]] = self._turns[player] = self._n_turns
            job = self._pop(player)
            waiting_keys = {key for one in self._waiting for key in (one[0], one)}
            oldest_turn = self._n_turns - self.max_waiting
            self._turns = {key: turn for key, turn in self._turns.items() if turn > oldest_turn or key in waiting_keys}
            return job

    def finish(self) -> None:
        """Count a job from :meth:`get` as finished."""
        with self._condition:
            self.n_unfinished -= 1

    def _pop(self, player: PlayerAtAddress, *, newest: bool = False) -> Callable[[], None]:
        jobs = self._waiting[player]
        job = jobs.pop() if newest else jobs.popleft()
        if not jobs:
            del self._waiting[player]
        return job


_queue = MoveQueue(MAX_WAITING_JOBS)
_threads: list[threading.Thread] = []
_threads_lock = threading.Lock()


def queue_move(job: Callable[[], None], player: PlayerAtAddress) -> None:
    """Queue a job for a thread of this process. The job stores its own result."""
    with _threads_lock:  # Start the threads at the first job: a thread does not survive the fork of a process.
        while len(_threads) < settings.THINKERS:
            # A daemon thread, so that a stopping process does not wait for it to finish thinking.
            _threads.append(threading.Thread(target=_work, name=f"thinker-{len(_threads)}", daemon=True))
            _threads[-1].start()
    # In the caller's context, so that log lines name the request that the move answers.
    if not _queue.put(player, partial(copy_context().run, job)):
        logger.warning("%d questions are waiting for a thinker, so one more is put off", MAX_WAITING_JOBS)


def _work() -> None:
    if sys.platform == "linux":  # On other systems, setpriority would read a thread's number as a process id.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    while True:
        job = _queue.get()
        try:
            job()
        except (BusyError, EngineCompilingError) as error:  # The next viewer of the match queues the job again.
            logger.warning("a thinker could not think: %s", error)
        except Exception as error:  # An error of one job must not stop the thread.
            if is_database_outage(error):
                unavailable_error(error, "what a thinker had found")
            else:
                logger.exception("a thinker has failed")
        finally:
            close_old_connections()
            _queue.finish()


def is_idle() -> bool:
    """Whether no job waits or runs in this process."""
    return _queue.n_unfinished == 0
