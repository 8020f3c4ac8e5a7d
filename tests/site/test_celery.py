"""The worker and the scheduler (beat) of the site: tasks arrive, queues are bounded, and wrong clocks do no harm."""

import json
import math
import os
import signal
import time
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery.schedules import BaseSchedule
from django.conf import settings
from django.core.cache import cache
from django.utils import timezone

from games.transport.request_context import REQUEST_ID
from learning.tasks import RUNS, jobs_recover, wake_up
from menace_site import celery
from menace_site.celery import app
from menace_site.local.processes import is_dead
from menace_site.operations.scheduler import Entry, Scheduler
from menace_site.server.cache import ForgivingRedisCache
from tests.conftest import StartWorker
from tests.site.test_supervisor import free_port
from tests.waiting import HANG_S, wait_until


@pytest.mark.django_db(transaction=True)
def test_worker_serves_every_queue_and_has_a_successor(start_worker: StartWorker, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as output:
        first = start_worker(output, METRICS_PORT=str(port := free_port()), METRICS_ADDRESSES="127.0.0.1")
    queues = app.control.inspect(timeout=HANG_S, limit=1).active_queues()
    assert {queue["name"] for node in queues.values() for queue in node} == set(settings.CELERY_TASK_QUEUES)

    # A task has the id of the request that started it.
    token = REQUEST_ID.set("an-id-of-a-request")
    jobs_recover.delay()
    REQUEST_ID.reset(token)
    assert wait_until(lambda: "jobs_reap" in log.read_text())
    # On a slow machine, the log may have other lines, about the broker.
    (line,) = (line for line in map(json.loads, log.read_text().splitlines()) if "jobs_reap" in line.get("task", ""))
    assert (line["task"], line["state"]) == ("learning.tasks.jobs_reap", "success")
    assert (line["request_id"], line["level"]) == ("an-id-of-a-request", "INFO")

    # A worker without a web process beside it serves the metrics, but only to permitted addresses.
    url = f"http://127.0.0.1:{port}/metrics"
    with urllib.request.urlopen(url, timeout=HANG_S) as response:
        assert 'beadbox_tasks_total{state="success",task="learning.tasks.jobs_reap"}' in response.read().decode()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(url, headers={"X-Forwarded-For": "203.0.113.5"}), timeout=HANG_S)

    os.killpg(first.pid, signal.SIGKILL)
    assert wait_until(lambda: is_dead(first))
    start_worker()


@pytest.mark.django_db(transaction=True)
def test_a_queue_without_workers_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(celery, "MAX_QUEUE_MESSAGES", 3)
    beat = Scheduler(app=app, lazy=False)

    def count_messages(queue: str) -> Any:
        """Return the number of messages that wait in a queue of the broker."""
        with app.connection_for_read() as broker:
            return broker.default_channel.client.llen(queue)

    app.control.purge()
    try:
        for _ in range(2):
            for entry in beat.schedule.values():
                beat.apply_entry(entry)
            assert wake_up(RUNS, range(10)), "a full queue has stopped the caller"
            assert (count_messages("default"), count_messages("bulk")) == (3, 3)
        app.control.purge()
        jobs_recover.delay()
        assert count_messages("default") == 1, "an emptied queue takes no messages"
    finally:
        app.control.purge()


def test_wake_ups_are_sent_while_the_cache_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(Celery, "send_task", lambda self, name, *args, **options: sent.append(name))
    monkeypatch.setattr(ForgivingRedisCache, "retry_time_by_server", {cache.server: math.inf})  # type: ignore[attr-defined]
    jobs_recover.delay()
    assert sent == [jobs_recover.name]


@pytest.mark.django_db(transaction=True)
def test_task_with_a_future_start_is_started_again_in_time() -> None:
    """After the clock was set back, the database has a start in the future, which a new scheduler reads."""
    entry = Scheduler(app=app, lazy=False).schedule["Take up jobs that were forgotten"]
    entry.last_run_at = timezone.now() + timedelta(hours=1)
    assert not entry.is_due().is_due
    assert entry.is_due().next <= 5


@pytest.mark.django_db(transaction=True)
def test_tasks_start_again_soon_after_the_clock_was_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler's queue has times of the clock before, which was an hour ahead."""
    beat = Scheduler(app=app, lazy=False)
    started: list[str] = []
    monkeypatch.setattr(beat, "apply_entry", lambda entry, producer: started.append(entry.task))
    begin, seconds = timezone.now(), 0

    def now() -> datetime:
        return begin + timedelta(seconds=seconds)

    monkeypatch.setattr(Entry, "_default_now", lambda self: now())
    monkeypatch.setattr(BaseSchedule, "now", lambda self: now())
    monkeypatch.setattr(time, "time", lambda: now().timestamp())
    for seconds in (7200, 3600, 3610):  # noqa: B007  # now() reads it
        started.clear()
        while beat.tick() == 0:
            pass
    assert "learning.tasks.jobs_reap" in started
    assert "learning.tasks.sweep" not in started
