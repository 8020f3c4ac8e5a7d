"""``manage.py teach_levels``: train the learnt values of the engine levels, and write their files."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from beadbox.engines.registry import engine_of
from beadbox.learners.shipped import RECIPES, recipe_train
from beadbox.learners.value_learner.document import WeightsData, weights_text


class Command(BaseCommand):
    """Train each value function from its seed, and write the file that its levels load."""

    help = "Trains the learnt values of Romgon's upper levels, each from its seed, and writes their files."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--folder", type=Path, help="folder to write to; default: the folder that the site reads")

    def handle(self, *args: Any, **options: Any) -> None:
        """Train the value functions in turn, and write a file for each."""
        for recipe in RECIPES:
            machine = recipe_train(recipe)
            data = WeightsData(
                game=machine.game,
                rule=machine.rule,
                name=f"Romgon's levels, {recipe.name}",
                weights=machine.weights,
                average=machine.average,
                n_learnt=machine.n_learnt,
                preset=recipe.preset,
            )
            engine = engine_of(machine.game)
            assert engine is not None, "the rule fits only games with this engine"
            place = engine.learnt_file(machine.game)
            assert place is not None, "every recipe is for a game with such levels"
            path = (options["folder"] or place.parent) / place.name
            path.write_text(weights_text(data, seed=recipe.seed))
            self.stdout.write(f"{path.name}: {recipe.n_games} games from seed {recipe.seed}")
