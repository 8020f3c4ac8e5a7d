"""Threads for players that think for seconds: beside everything else, few, and nobody waits for them to end.

What is to be thought about stands in the database (``Match.answer_by``), so a thread that dies, or a question that
finds no place here, costs time and nothing else: whoever looks at the match later asks again. A thread thinks with
neither transaction nor connection, and its move counts only if the match is still at the same ply.

Whoever has one match is not kept waiting by somebody with sixty: addresses take turns, and those who play from one.
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
from games.live.events import answering
from games.transport.database_errors import is_database_outage, unavailable

logger = logging.getLogger("games.thinking")

MOST_WAITING = 64
NICENESS = 10

Whose = tuple[str, Hashable]
"""An address, empty where it is not known, and a player there."""


class Questions:
    """Questions that wait, by whose they are: an address, and who plays from there. Safe between threads."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.n_open = 0
        """How many wait or are worked on."""
        self._waiting: dict[Whose, deque[Callable[[], None]]] = {}
        self._turns: dict[str | Whose, int] = {}
        """The number of the turn that an address, or a player, had last: of those who wait, or had one not long ago."""
        self._n_turns = 0
        self._changed = threading.Condition()

    def put(self, whose: Whose, question: Callable[[], None]) -> bool:
        """Let a question wait; False where one had to go for it: the newest of whoever has most."""
        with self._changed:
            self._waiting.setdefault(whose, deque()).append(question)
            for key in (whose[0], whose):  # who comes now comes before who had the latest turn, and after all others
                self._turns.setdefault(key, self._n_turns - 1)
            self.n_open += 1
            self._changed.notify()
            if sum(map(len, self._waiting.values())) <= self.most:
                return True
            of_address = Counter(address for (address, _), its in self._waiting.items() for _ in its)
            self._pop(max(self._waiting, key=lambda one: (of_address[one[0]], len(self._waiting[one]))), newest=True)
            self.n_open -= 1
            return False

    def get(self) -> Callable[[], None]:
        """The next question, when there is one."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            whose = min(self._waiting, key=lambda one: (self._turns[one[0]], self._turns[one]))
            self._n_turns += 1
            self._turns[whose[0]] = self._turns[whose] = self._n_turns
            question = self._pop(whose)
            waiting = {key for one in self._waiting for key in (one[0], one)}
            long_ago = self._n_turns - self.most
            self._turns = {key: turn for key, turn in self._turns.items() if turn > long_ago or key in waiting}
            return question

    def done(self) -> None:
        """A question that was got has been worked on."""
        with self._changed:
            self.n_open -= 1

    def _pop(self, whose: Whose, *, newest: bool = False) -> Callable[[], None]:
        its = self._waiting[whose]
        question = its.pop() if newest else its.popleft()
        if not its:
            del self._waiting[whose]
        return question


_questions = Questions(MOST_WAITING)
_threads: list[threading.Thread] = []
_starting = threading.Lock()


def think(question: Callable[[], None], whose: Whose) -> None:
    """Let a thread of this process work on a question, at its turn; it stores what comes of it by itself."""
    with _starting:  # not before somebody asks: a thread does not survive the fork of a process
        while len(_threads) < settings.THINKERS:
            # A daemon, so that a process that has to stop does not wait until it has thought to the end.
            _threads.append(threading.Thread(target=_work, name=f"thinker-{len(_threads)}", daemon=True))
            _threads[-1].start()
    # In the context of who asked, so that its log lines name whose move it answers.
    if not _questions.put(whose, partial(copy_context().run, _told, question)):
        logger.warning("%d questions are waiting for a thinker, so one more is put off", MOST_WAITING)


def _told(question: Callable[[], None]) -> None:
    """Work on a question whose answer everybody is told, who asked as well: their frame was answered long ago."""
    with answering(""):
        question()


def _work() -> None:
    if sys.platform == "linux":  # elsewhere the number of a thread would be taken for that of a process
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
    while True:
        question = _questions.get()
        try:
            question()
        except (BusyError, EngineCompilingError) as error:  # whoever looks at the match later asks again
            logger.warning("a thinker could not think: %s", error)
        except Exception as error:  # whatever it is, the next question has nothing to do with it
            if is_database_outage(error):
                unavailable(error, "what a thinker had found")
            else:
                logger.exception("a thinker has failed")
        finally:
            close_old_connections()
            _questions.done()


def is_idle() -> bool:
    """Whether nobody thinks in this process, and no question waits."""
    return _questions.n_open == 0
