"""How long a test waits for what it needs: until it is there, within a limit that only a hang reaches.

A busy machine is slow, not wrong. The limits stand here and nowhere else, and ``test_architecture.py`` sees to it.
"""

from collections.abc import Callable

from asgiref.testing import ApplicationCommunicator

from menace_site.local import processes

# A machine with ten times the work that it has cores for needs some minutes for the longest step of any test.
# Shorter than faulthandler_timeout in pyproject.toml, so that a test says itself what it waited for.
HANG_S = 1500
# What a page does takes a second. People wait for these limits whenever a page is not as a test expects it.
PAGE_HANG_S = 120
POLL_S = 0.1


def wait_until(condition: Callable[[], bool], *, poll_s: float = 0.05) -> bool:
    """True as soon as the condition holds; False when only a hang explains that it does not."""
    return processes.wait_until(condition, timeout_s=HANG_S, poll_s=poll_s)


def wait_for_sockets() -> None:
    """Give what talks to the application in tests our limit: left alone, each of its waits ends after a second."""
    from channels.testing import WebsocketCommunicator  # not before conftest.py has put something in daphne's place

    for method in (
        ApplicationCommunicator.receive_output,
        ApplicationCommunicator.wait,
        WebsocketCommunicator.connect,
        WebsocketCommunicator.receive_from,
        WebsocketCommunicator.receive_json_from,
        WebsocketCommunicator.disconnect,
    ):
        *others, timeout_s = method.__defaults__
        assert timeout_s == 1, f"{method.__qualname__} has changed"
        method.__defaults__ = (*others, HANG_S)
