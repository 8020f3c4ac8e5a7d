"""Background moves: a few threads for players that think for seconds, apart from all other work.

The database notes that a move is due (``Match.answer_by``). If a thread dies or the queue is full, only time is lost:
the next viewer of the match asks again. A thread thinks without transaction and connection, and its move counts only if
the match is still at the same ply.

Addresses take turns, and so do the players at one address. A player with one match is therefore not held up by a player
with sixty.
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
from games.transport.database_errors import is_database_outage, unavailable

logger = logging.getLogger("games.thinking")

MAX_WAITING_QUESTIONS = 64
NICENESS = 10

PlayerAtAddress = tuple[str, Hashable]
"""A client address, empty if unknown, and a player at it."""


class Questions:
    """Waiting questions, by address and player. Thread-safe."""

    def __init__(self, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self.n_open = 0
        """Number of questions that wait or are being worked on."""
        self._waiting: dict[PlayerAtAddress, deque[Callable[[], None]]] = {}
        self._turns: dict[str | PlayerAtAddress, int] = {}
        """Number of the last turn, by address and player; kept while they wait and for ``most`` turns after."""
        self._n_turns = 0
        self._changed = threading.Condition()

    def put(self, player: PlayerAtAddress, question: Callable[[], None]) -> bool:
        """Queue a question. Return false if a question had to be dropped: the newest of the player with the most."""
        with self._changed:
            self._waiting.setdefault(player, deque()).append(question)
            for key in (
                player[0],
                player,
            ):  # a newcomer goes before the holder of the latest turn, and after all others
                self._turns.setdefault(key, self._n_turns - 1)
            self.n_open += 1
            self._changed.notify()
            if sum(map(len, self._waiting.values())) <= self.max_waiting:
                return True
            of_address = Counter(address for (address, _), its in self._waiting.items() for _ in its)
            self._pop(max(self._waiting, key=lambda one: (of_address[one[0]], len(self._waiting[one]))), newest=True)
            self.n_open -= 1
            return False

    def get(self) -> Callable[[], None]:
        """Return the next question. Blocks until there is one."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            player = min(self._waiting, key=lambda one: (self._turns[one[0]], self._turns[one]))
            self._n_turns += 1
            self._turns[player[0]] = self._turns[player] = self._n_turns
            question = self._pop(player)
            waiting = {key for one in self._waiting for key in (one[0], one)}
            long_ago = self._n_turns - self.max_waiting
            self._turns = {key: turn for key, turn in self._turns.items() if turn > long_ago or key in waiting}
            return question

    def done(self) -> None:
        """Mark a question from :meth:`get` as finished."""
        with self._changed:
            self.n_open -= 1

    def _pop(self, player: PlayerAtAddress, *, newest: bool = False) -> Callable[[], None]:
        its = self._waiting[player]
        question = its.pop() if newest else its.popleft()
        if not its:
            del self._waiting[player]
        return question


_questions = Questions(MAX_WAITING_QUESTIONS)
_threads: list[threading.Thread] = []
_starting = threading.Lock()


def think(question: Callable[[], None], player: PlayerAtAddress) -> None:
    """Queue a question for a thread of this process. The question stores its own result."""
    with _starting:  # not earlier: a thread does not survive the fork of a process
        while len(_threads) < settings.THINKERS:
            # A daemon thread, so that a stopping process does not wait for it to finish thinking.
            _threads.append(threading.Thread(target=_work, name=f"thinker-{len(_threads)}", daemon=True))
            _threads[-1].start()
    # In the caller's context, so that log lines name the request that the move answers.
    if not _questions.put(player, partial(copy_context().run, question)):
        logger.warning("%d questions are waiting for a thinker, so one more is put off", MAX_WAITING_QUESTIONS)


def _work() -> None:
    if sys.platform == "linux":  # elsewhere a thread's number would be taken for a process id
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    while True:
        question = _questions.get()
        try:
            question()
        except (BusyError, EngineCompilingError) as error:  # the next viewer of the match asks again
            logger.warning("a thinker could not think: %s", error)
        except Exception as error:  # any error; it does not concern the next question
            if is_database_outage(error):
                unavailable(error, "what a thinker had found")
            else:
                logger.exception("a thinker has failed")
        finally:
            close_old_connections()
            _questions.done()


def is_idle() -> bool:
    """Whether no question waits or is being worked on in this process."""
    return _questions.n_open == 0
