"""``manage.py record_house``: train the built-in machines, and write the results to files of the repository."""

import gzip
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from beadbox.learners.built_in import HOUSE
from beadbox.learners.recorded import FOLDER, file_of
from learning.workers.recorded import house_record


class Command(BaseCommand):
    """Train each built-in machine from its seed, and write the file that a new site loads."""

    help = "Trains the built-in machines, each from its seed, and writes their files. Needs no database."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--folder", type=Path, default=FOLDER, help="folder to write to; default: the folder that the site reads"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Train the machines in turn, and write a compressed file for each."""
        options["folder"].mkdir(exist_ok=True)
        for house in HOUSE:
            file = options["folder"] / file_of(house).name
            file.write_bytes(gzip.compress(house_record(house).text().encode(), mtime=0))
            self.stdout.write(f"{file.name}: {house.n_games} games from seed {house.seed}")
