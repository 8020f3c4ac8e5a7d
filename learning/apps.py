"""The learning app: registers its players with the games when it starts."""

from django.apps import AppConfig


class LearningConfig(AppConfig):
    """Learners, their memory and their training."""

    name = "learning"

    def ready(self) -> None:
        """Let machines and opponents join live matches."""
        from learning.players.machines import players_register
        from learning.players.values import values_player_register

        players_register()
        values_player_register()
