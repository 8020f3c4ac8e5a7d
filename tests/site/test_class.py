"""A class of 60 and of 120 behind one address, at the default rates: nobody is told to wait (429)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.bench.live_site import Site, running_site
from tests.pupils import Lesson, hold

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running_site() as running:
        yield running


@pytest.mark.parametrize(
    ("blocked", "sockets", "seconds"),
    [
        pytest.param(60, 0, 120, id="60 whose WebSockets are blocked, for two minutes"),
        pytest.param(60, 60, 60, id="120, half of them blocked"),
    ],
)
def test_a_class_behind_one_address_meets_no_rate(site: Site, blocked: int, sockets: int, seconds: int) -> None:
    lesson = Lesson(site.port, seconds)
    asyncio.run(hold(lesson, blocked=blocked, sockets=sockets))
    print(f"{blocked + sockets} pupils, {blocked} without sockets: {lesson.figures}")  # noqa: T201
    assert lesson.statuses[429] == 0, lesson.refused
    assert not any("throttled" in refusal or "too_many" in refusal for refusal in lesson.refused), lesson.refused
    failed = {status for status in lesson.statuses if status >= 400} - {409, 503}  # overtaken, busy
    assert failed == set(), lesson.refused
