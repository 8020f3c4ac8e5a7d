"""The site itself as an application: it brings the Celery application and the system checks of the settings."""

from django.apps import AppConfig
from django.core.checks import register


class SiteConfig(AppConfig):
    name = "menace_site"
    verbose_name = "Beadbox"

    def ready(self) -> None:
        # Imported here so that every process that sends tasks has the application, and not the default one.
        from menace_site import celery, checks  # noqa: F401

        register(checks.check_settings)
