"""The site itself as an application: it brings the Celery application and the system checks of the settings."""

import gc

from django.apps import AppConfig
from django.conf import settings
from django.contrib.admin.apps import AdminConfig
from django.core.checks import register

COLLECT_AFTER = 50_000
"""So many more objects than were freed, and the garbage collector looks at the youngest."""


class SiteConfig(AppConfig):
    name = "menace_site"
    verbose_name = "Beadbox"

    def ready(self) -> None:
        # Imported here so that every process that sends tasks has the application, and not the default one.
        from menace_site import admin_text, celery  # noqa: F401
        from menace_site.observability import error_reports
        from menace_site.server import checks

        admin_text.words_set()  # before the admin's forms are made

        register(checks.check_settings)
        if settings.SENTRY_DSN:
            error_reports.errors_report(settings.SENTRY_DSN)
        # A memory of 10,000 boxes is 60,000 objects that all stay. At Python's own threshold of 700, laying it out goes
        # through everything there is again and again, a fifth of a second each time, and whoever plays waits.
        gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])


class StaffConfig(AdminConfig):
    """Django's admin, entered by two factors."""

    default_site = "games.accounts.second_factor.StaffSite"
