"""A process beside a server's, in which machines learn while it answers everybody else.

Threads would not do: one that stands back for others and holds the interpreter's lock meanwhile makes all of them wait.
What goes there and comes back is pickled, without the tables of a game, which either side has.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context, parent_process
from typing import TypeVar

from learning.core.schooling.band import Band, Bands
from learning.core.schooling.course import Courses, Stand
from learning.core.schooling.plan import Schooling

ResultT = TypeVar("ResultT")

COURSES = Courses(most_bytes=64 << 20)
BANDS = Bands(most=200)
"""Of each process its own: the server's has what can be worked out at once, and what it was told."""
NICE = 10
"""How far the helper stands back for everything else that runs on this machine."""


def helper_open() -> Executor:
    """A new helper, which ends with the process that calls this; it begins with the first piece of work."""
    return ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin)


def _begin() -> None:
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who ends it is its parent, and that ends by the same signal
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(0)


def timed(function: Callable[[float], ResultT], seconds: float) -> tuple[ResultT, float]:
    """What the function makes of so many seconds, and how many of all cores together it took."""
    begin = time.process_time()
    return function(seconds), time.process_time() - begin


def course_advance(schooling: Schooling, games: int, seconds: float) -> Stand:
    """As :meth:`Courses.advance`, of what this process has kept."""
    return COURSES.advance(schooling, games, seconds)


def band_advance(schooling: Schooling, measure: str, until: int, seconds: float) -> Band:
    """As :meth:`Bands.advance`, of what this process has kept."""
    return BANDS.advance(schooling, measure, until, seconds)
