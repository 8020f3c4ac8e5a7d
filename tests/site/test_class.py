"""Classes of 60 and of 120 behind one address, at the default rates, receive no 429."""

from __future__ import annotations

import asyncio
import random

import pytest

from games.codes import CODE_ALPHABET, CODE_LENGTH
from tests.bench.live_site import running_site
from tests.pupils import Browser, Lesson, run_lesson

pytestmark = pytest.mark.soak

CLASS_SIZES = {
    "60 whose WebSockets are blocked, for two minutes": (60, 0, 120),
    "120, half of them blocked": (60, 60, 60),
}
"""Number of pupils with blocked WebSockets, of pupils with open ones, and the seconds of the lesson."""
MAX_GUESSES_PER_HOUR = 600
"""The default of ``THROTTLE_GUESS`` per hour."""


def test_class_at_one_address_meets_no_rate_limit() -> None:
    with running_site() as site:
        for name, (blocked, sockets, seconds) in CLASS_SIZES.items():
            lesson = Lesson(site.port, seconds)
            asyncio.run(run_lesson(lesson, blocked=blocked, sockets=sockets))
            print(f"{name}: {lesson.report}")  # noqa: T201
            assert lesson.statuses[429] == 0, lesson.refusals
            assert not any("throttled" in refusal or "too_many" in refusal for refusal in lesson.refusals), (
                lesson.refusals
            )
            failed = {status for status in lesson.statuses if status >= 400} - {409, 503}  # overtaken, busy
            assert failed == set(), lesson.refusals
        assert asyncio.run(is_rate_met(site.port)), "this site has no rates"


async def is_rate_met(port: int) -> bool:
    """Guess room codes until the site refuses more guesses, at most ten times as many as it allows.

    A busy machine may not count each guess: the cache has a tenth of a second to answer.
    """
    browser = Browser(Lesson(port, 0))
    for _ in range(10 * MAX_GUESSES_PER_HOUR):
        answer = await browser.get(f"/api/rooms/{''.join(random.choices(CODE_ALPHABET, k=CODE_LENGTH))}")
        if answer.status == 429:
            break
    browser.close()
    return answer.status == 429
