"""The games app. Its signals keep the folded forms of account names up to date."""

from django.apps import AppConfig
from django.db.models.signals import post_save, pre_save


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        """Install the error messages of form fields, and the signals that store folded account names."""
        from django.contrib.auth import get_user_model

        from games import validators
        from games.accounts import account_names

        validators.install_field_messages()
        pre_save.connect(account_names.name_before_save, get_user_model())
        post_save.connect(account_names.name_after_save, get_user_model())
