"""Count the sequences of legal moves from a position: the standard test of move generation."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from beadbox.rules.errors import RulesError
from beadbox.rules.perft import perft
from beadbox.rules.registry import GAMES, game_get


class Command(BaseCommand):
    help = "Counts the sequences of legal moves of a given length, in all and after each first move."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("game", choices=GAMES)
        parser.add_argument("position", nargs="?", help="text of the first position; default: the start of the game")
        parser.add_argument("depth", type=int, help="number of plies")

    def handle(self, *args: Any, **options: Any) -> None:
        game, depth = game_get(options["game"]), options["depth"]
        if depth < 0:
            raise CommandError(f"depth must not be negative, not {depth}")
        position = game.initial_position()
        if options["position"] is not None:
            try:
                position = game.decode(options["position"])
            except RulesError as error:
                raise CommandError(str(error)) from error
        if depth > 0:
            for move in game.legal_moves(position):
                n_sequences = perft(game, game.apply(position, move), depth - 1)
                self.stdout.write(f"{game.format_move(move)}: {n_sequences}")
        self.stdout.write(f"{perft(game, position, depth)}")
