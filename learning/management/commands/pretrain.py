"""``manage.py pretrain``: create and train the site's own machines that are missing."""

from typing import Any

from django.core.management.base import BaseCommand

from beadbox.learners.built_in import HOUSE
from learning.management.progress import Progress
from learning.services.experiments import experiments_prepare
from learning.services.house import house_machine_ensure
from learning.workers.runs import RUNS, run_execute


class Command(BaseCommand):
    """Create and train the site's own machines, and request the experiments."""

    help = "Makes and trains the built-in machines, and requests the experiments. Skips what exists already."

    def handle(self, *args: Any, **options: Any) -> None:
        """Train the machines in turn; an interrupted training continues where it stopped."""
        for house in HOUSE:
            machine, run = house_machine_ensure(house)
            if run is None:
                continue
            claimed = RUNS.claim(run.pk)
            if claimed is None:
                self.stdout.write(f"{machine}: somebody else is training it")
                continue
            with Progress(self.stdout, str(machine), claimed.n_games) as progress:
                run_execute(claimed, progress.show)
        experiments_prepare()  # only requests: workers run the experiments
