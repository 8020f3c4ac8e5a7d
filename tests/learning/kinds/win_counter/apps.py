"""The app of a kind that is not part of the site; ``test_win_counter`` installs it."""

from django.apps import AppConfig


class WinCounterConfig(AppConfig):
    name = "tests.learning.kinds.win_counter"
    label = "win_counter"
    default_auto_field = "django.db.models.BigAutoField"
