"""The learning app: registers its kinds of machine, and its players with the games, when it starts."""

from django.apps import AppConfig


class LearningConfig(AppConfig):
    """Learners, their memory and their training."""

    name = "learning"

    def ready(self) -> None:
        """Make the kinds of machine known, and let machines and opponents join live matches."""
        from learning.kinds.built_in import kinds_register
        from learning.players.machines import players_register

        kinds_register()
        players_register()
