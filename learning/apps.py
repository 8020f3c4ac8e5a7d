"""The learning app: registers its kinds of machine, and its players with the games, when it starts."""

from django.apps import AppConfig


class LearningConfig(AppConfig):
    """Learners, their memory and their training."""

    name = "learning"

    def ready(self) -> None:
        """Make the kinds of machine known, and let machines and opponents join live matches."""
        from games.live.players import port_bind
        from learning.kinds.built_in import kinds_register
        from learning.players.port import Machines

        kinds_register()
        port_bind(Machines())
