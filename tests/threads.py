"""Runs functions at the same moment, in threads."""

import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from tests.waiting import HANG_S


def at_once(*works: Callable[[], Any]) -> list[BaseException]:
    """Run functions in threads that start together; return the exceptions that they have raised."""
    faults: list[BaseException] = []
    start = threading.Barrier(len(works))

    def run(work: Callable[[], Any]) -> None:
        start.wait(HANG_S)
        try:
            work()
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults
