"""Time limits of tests: they wait for a condition, within a limit that only a hang reaches.

A busy machine is slow, not wrong. All limits are defined here; ``test_architecture.py`` checks that.
"""

from collections.abc import Callable

from asgiref.testing import ApplicationCommunicator

from menace_site.local import processes

# A machine with ten times more work than cores needs some minutes for the longest step of any test. The limit is
# shorter than faulthandler_timeout in pyproject.toml, so that the test itself reports the failed condition.
HANG_S = 1500
# Actions on a page take a second. Developers wait this long if a page is not as a test expects.
PAGE_HANG_S = 120
POLL_S = 0.1


def wait_until(condition: Callable[[], bool], *, poll_s: float = 0.05) -> bool:
    """Return True as soon as the condition holds, or False if only a hang explains that it does not."""
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
