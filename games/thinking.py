"""Threads for players that think for seconds: beside everything else, few, and nobody waits for them to end.

What is to be thought about stands in the database (``Match.answer_by``), so a thread that dies, or a question that
finds no place here, costs time and nothing else: whoever looks at the match later asks again.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from queue import Full, Queue

from django.conf import settings
from django.db import close_old_connections

from games.events import answering
from games.outages import database_stumbled, unavailable

logger = logging.getLogger(__name__)

MOST_WAITING = 64
NICENESS = 10

_questions: Queue[Callable[[], None]] = Queue(MOST_WAITING)
_threads: list[threading.Thread] = []
_starting = threading.Lock()


def think(question: Callable[[], None]) -> None:
    """Let a thread of this process work on a question, when one is free; it stores what comes of it by itself."""
    with _starting:  # not before somebody asks: a thread does not survive the fork of a process
        while len(_threads) < settings.THINKERS:
            # A daemon, so that a process that has to stop does not wait until it has thought to the end.
            _threads.append(threading.Thread(target=_work, name=f"thinker-{len(_threads)}", daemon=True))
            _threads[-1].start()
    try:
        # In the context of who asked, so that its log lines name whose move it answers.
        _questions.put_nowait(partial(copy_context().run, _told, question))
    except Full:
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
        except Exception as error:  # whatever it is, the next question has nothing to do with it
            if database_stumbled(error):
                unavailable(error, "what a thinker had found")
            else:
                logger.exception("a thinker has failed")
        finally:
            close_old_connections()
            _questions.task_done()


def is_idle() -> bool:
    """Whether nobody thinks in this process, and no question waits."""
    return _questions.unfinished_tasks == 0
