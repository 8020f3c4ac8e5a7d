"""Print one random game as a golden playthrough for ``tests/data/playthroughs/<game>/``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from beadbox.rules.playthrough import playthrough_lines, random_game
from beadbox.rules.registry import GAMES, game_get


class Command(BaseCommand):
    help = "Prints one random game, with the facts of the rules about each position."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("game", choices=GAMES)
        parser.add_argument("--seed", type=int, required=True, help="seed of the random game")

    def handle(self, *args: Any, **options: Any) -> None:
        game = game_get(options["game"])
        for line in playthrough_lines(game, random_game(game, options["seed"])):
            self.stdout.write(line)
