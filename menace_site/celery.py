"""The Celery application: background training, schedules, the reaper."""

import os

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")

app = Celery("beadbox")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(related_name="beat")


@signals.worker_init.connect
def _figures_are_told(**_: object) -> None:
    """Where no web process tells what this machine has counted, its worker does."""
    from django.conf import settings

    from menace_site.metrics import metrics_serve_beside

    if settings.METRICS_PORT:
        metrics_serve_beside(settings.METRICS_PORT)
