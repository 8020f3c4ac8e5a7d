"""Configuration of the learning app, which registers kinds of machine and players of live matches at start-up."""

from django.apps import AppConfig


class LearningConfig(AppConfig):
    """The app of machines, their memory and their training."""

    name = "learning"

    def ready(self) -> None:
        """Register the kinds of machine, and the port through which machines and opponents join live matches."""
        from games.live.players import port_bind
        from learning.kinds.built_in import kinds_register
        from learning.players.port import Machines

        kinds_register()
        port_bind(Machines())
