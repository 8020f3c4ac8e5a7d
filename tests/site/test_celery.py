"""The worker that the site starts is the one that our tasks reach."""

import os
import signal

import pytest
from django.conf import settings

from menace_site.celery import app
from menace_site.processes import is_dead, wait_until
from tests.conftest import StartWorker


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_listens_to_every_queue_and_another_takes_over(start_worker: StartWorker) -> None:
    first = start_worker()
    queues = app.control.inspect().active_queues()
    assert {queue["name"] for node in queues.values() for queue in node} == set(settings.CELERY_TASK_QUEUES)
    os.killpg(first.pid, signal.SIGKILL)
    assert wait_until(lambda: is_dead(first), timeout_s=5)
    start_worker()
