"""The site itself as a Django application: loads the Celery application and registers the checks of the settings."""

import gc

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import AdminConfig
from django.core.checks import register

GC_THRESHOLD = 50_000
"""Threshold of the garbage collector's youngest generation: allocations minus deallocations before a collection."""


class SiteConfig(AppConfig):
    name = "menace_site"
    verbose_name = "Beadbox"

    def ready(self) -> None:
        # This import makes every process that sends tasks use our Celery application instead of Celery's default.
        from menace_site import admin_text, celery  # noqa: F401
        from menace_site.observability import error_reports
        from menace_site.server import checks

        # The admin copies the names of tables and columns when it builds its forms, so they are set first.
        admin_text.install_admin_names()

        register(checks.check_settings)
        if settings.SENTRY_DSN:
            error_reports.error_reports_start(settings.SENTRY_DSN)
        # The boxes of one learner, 10,000 of them, are 60,000 long-lived Python objects. At Python's default threshold
        # of 700, loading them triggers repeated full collections of 0.2 s each, which delay moves.
        gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])


class StaffConfig(AdminConfig):
    """Django's admin behind a second factor."""

    default_site = "games.accounts.second_factor.StaffSite"
