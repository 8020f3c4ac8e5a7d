"""``manage.py measure_ladders``: play the levels of every engine against each other, and write their ratings."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from beadbox.engines.engine import AnyEngine
from beadbox.engines.ladder import LadderMeasurement, ladders_format
from beadbox.engines.registry import ENGINES
from beadbox.rules.registry import game_get
from beadbox.tournaments import ladder


class Command(BaseCommand):
    """Measure the levels, and write their ratings to the file that the site reads."""

    help = "Plays all levels against each other in every mode, and writes the ratings that the site shows."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """[--near N] [--far N] [--seed S] [--file FILE]."""
        parser.add_argument(
            "--near", type=int, default=ladder.N_NEIGHBOURS, help="games between neighbours on a ladder"
        )
        parser.add_argument("--far", type=int, default=ladder.N_OTHERS, help="games between any two other levels")
        parser.add_argument("--seed", type=int, default=ladder.SEED)
        parser.add_argument("--file", type=Path, help="file to write; default: the file that the site reads")

    def handle(self, *args: Any, **options: Any) -> None:
        """Measure each engine that has a ladder."""
        games = {name: options[name] for name in ("near", "far", "seed")}
        for engine in ENGINES.values():
            if path := options["file"] or engine.ladder_file:
                path.write_text(ladders_format({mode: self._mode(engine, mode, games) for mode in engine.ladder_games}))
                self.stdout.write(f"written to {path}")

    def _mode(self, engine: AnyEngine, mode: str, games: dict[str, int]) -> LadderMeasurement:
        game, pairs = game_get(engine.ladder_games[mode]), []
        for pair in ladder.measure_pairs(engine, game, ladder.all_pairs(engine, game), **games):
            self.stdout.write(f"{mode}: {pair.strong} against {pair.weak}: {ladder.pair_text(pair)}")
            pairs.append(pair)
        names = [slug for slug, level in engine.levels.items() if engine.supports_level(game, level)]
        ratings = ladder.rate_levels(names, pairs)
        for slug, rating in ratings.items():
            self.stdout.write(f"{mode}: {slug}: {rating.words}")
        return LadderMeasurement(game.slug, ladder.conditions(engine, game, **games), ratings, pairs)
