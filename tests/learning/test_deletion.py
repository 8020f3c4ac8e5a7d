"""A machine is deleted while others wait for it: nobody stumbles, and every other machine keeps its ledger."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from learning.models import Machine, Schedule, TrainingRun
from learning.services import Stage, machine_delete
from learning.services_schedules import Timing, schedule_create, schedule_fire
from menace_site.processes import wait_until
from tests.factories import guest, machine, play, room, user


def is_waiting_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


def while_it_is_deleted(doomed: Machine, work: Callable[[], Any]) -> Any:
    """What the work comes to that began before the machine was deleted, and had to wait for that."""
    came: list[Any] = []

    def run() -> None:
        try:
            came.append(work())
        except BaseException as error:
            came.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    with transaction.atomic():
        Machine.objects.select_for_update(no_key=True).get(pk=doomed.pk)
        thread.start()
        assert wait_until(is_waiting_for_a_lock, timeout_s=30)
        machine_delete(user=user("staff", is_staff=True), machine_id=doomed.pk)
    thread.join()
    return came[0]


@pytest.mark.django_db(transaction=True)
def test_a_schedule_that_fires_while_its_machine_is_deleted_starts_nothing_and_goes_too() -> None:
    owner = user()
    learner = machine(owner=owner)
    schedule = schedule_create(
        user=owner, machine=learner.slug, stages=[Stage("random", 10)], timing=Timing(every=1, period="hours")
    )
    Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    assert while_it_is_deleted(learner, lambda: schedule_fire(schedule_id=schedule.pk)) is None
    assert not Schedule.objects.exists()
    assert not TrainingRun.objects.exists()
    assert not PeriodicTask.objects.filter(name__startswith="schedule").exists()


@pytest.mark.django_db(transaction=True)
def test_a_machine_that_has_to_open_a_box_while_it_is_deleted_resigns() -> None:
    learner = machine()
    learner.boxes.all().delete()
    seated = room("machine", machine=learner.slug)
    state = while_it_is_deleted(learner, lambda: play(seated, guest(), "5"))
    assert state["status"] == "finished"
    assert state["outcome"]["winner"] == "X"
