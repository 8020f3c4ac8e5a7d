"""The worker that the site starts is the one that our tasks reach."""

import os
import signal

import pytest
from django.conf import settings

from menace_site.celery import app
from menace_site.processes import is_dead
from tests.conftest import StartWorker
from tests.waiting import HANG_S, wait_until


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_listens_to_every_queue_and_another_takes_over(start_worker: StartWorker) -> None:
    first = start_worker()
    queues = app.control.inspect(timeout=HANG_S, limit=1).active_queues()
    assert {queue["name"] for node in queues.values() for queue in node} == set(settings.CELERY_TASK_QUEUES)
    os.killpg(first.pid, signal.SIGKILL)
    assert wait_until(lambda: is_dead(first))
    start_worker()
