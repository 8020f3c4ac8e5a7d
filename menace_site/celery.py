"""The Celery application: background training, schedules, the reaper."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "menace_site.settings")

app = Celery("beadbox")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(related_name="beat")
