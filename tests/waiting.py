"""Time limits of tests. A test waits for a condition, and gives up after a time that only a hang can take.

The limits are long because a test must not fail on a busy machine. ``test_architecture.py`` checks that all limits are
defined here.
"""

from collections.abc import Callable

from asgiref.testing import ApplicationCommunicator

from menace_site.local import processes

# The longest step of a test takes some minutes on a machine with ten processes for each core. The limit is shorter than
# faulthandler_timeout in pyproject.toml, so that the test itself reports the failed condition.
HANG_S = 1500
# An action on a page takes a second. This limit is shorter, because developers often wait for it after a mistake.
PAGE_HANG_S = 120
POLL_S = 0.1


def wait_until(condition: Callable[[], bool], *, poll_s: float = 0.05) -> bool:
    """Return true as soon as the condition is true, or false after a time that only a hang can take."""
    return processes.wait_until(condition, timeout_s=HANG_S, poll_s=poll_s)


def wait_for_sockets() -> None:
    """Raise the time limits of channels' test clients, which are one second by default."""
    from channels.testing import WebsocketCommunicator  # not before conftest.py has replaced daphne

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
