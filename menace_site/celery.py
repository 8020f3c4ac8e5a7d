"""The Celery application: background jobs, schedules and maintenance."""

import os
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")

MAX_QUEUE_MESSAGES = 1_000
"""Messages that one queue may hold, about 1 MB."""


class BoundedCelery(Celery):
    """Celery with bounded queues, which drops messages beyond ``MAX_QUEUE_MESSAGES``.

    Without a bound, beat's messages would fill Redis while no worker runs. A dropped message loses no work: each
    message is only a wake-up, and wake-ups are repeated.
    """

    def send_task(self, name: str, *args: Any, **options: Any) -> Any:
        """Send a task, or return ``None`` if its queue is full. A queue of unknown length counts as empty."""
        from django.conf import settings
        from django.core.cache import cache

        queue = self.amqp.router.route({"queue": options.get("queue")}, name)["queue"].name
        prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
        if cache.length(f"{prefix}{queue}") >= MAX_QUEUE_MESSAGES:  # type: ignore[attr-defined]  # our own cache
            return None
        return super().send_task(name, *args, **options)


app = BoundedCelery("beadbox")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["menace_site.operations"])
app.autodiscover_tasks(related_name="beat")


@signals.worker_init.connect
def _serve_metrics(**_: object) -> None:
    """Serve metrics from the worker if ``METRICS_PORT`` is set, for a computer without a web process."""
    from django.conf import settings

    from menace_site.observability.metrics import metrics_serve_in_thread

    if settings.METRICS_PORT:
        metrics_serve_in_thread(settings.METRICS_PORT)
