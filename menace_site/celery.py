"""The Celery application: background training, schedules, the reaper."""

import os
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")

MESSAGES_MOST = 1_000
"""In a queue: more than anybody who takes them needs, about a megabyte."""


class Knocking(Celery):
    """Sends nothing into a queue that nobody keeps short: every message is a knock, and knocks are repeated.

    Else those of beat would stay for as long as no worker runs, until Redis has no room for anything.
    """

    def send_task(self, name: str, *args: Any, **options: Any) -> Any:
        """Send a task, unless enough wait; ``None`` then. While the length is not known, it is sent."""
        from django.conf import settings
        from django.core.cache import cache

        queue = self.amqp.router.route({"queue": options.get("queue")}, name)["queue"].name
        prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
        if cache.length(f"{prefix}{queue}") >= MESSAGES_MOST:  # type: ignore[attr-defined]  # our own cache
            return None
        return super().send_task(name, *args, **options)


app = Knocking("beadbox")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["menace_site.operations"])
app.autodiscover_tasks(related_name="beat")


@signals.worker_init.connect
def _figures_are_told(**_: object) -> None:
    """Where no web process tells what this machine has counted, its worker does."""
    from django.conf import settings

    from menace_site.observability.metrics import metrics_serve_beside

    if settings.METRICS_PORT:
        metrics_serve_beside(settings.METRICS_PORT)
