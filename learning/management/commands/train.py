"""``manage.py train``: train a machine in this process, by the same code as the workers."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from beadbox.seeds import seed_or_random
from games.exceptions import PlayError
from learning.management.progress import Progress
from learning.models import JobStatus, TrainingRun
from learning.services.runs import Stage, training_run_cancel, training_run_start
from learning.workers.runs import RUNS, run_execute


class Command(BaseCommand):
    """Train a machine, with a progress bar."""

    help = "Trains a machine, with a progress bar. The same seed and the same initial beads give the same beads."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add MACHINE --games N --opponent SLUG [--measured N] [--seed S]."""
        parser.add_argument("machine", help="id or slug")
        parser.add_argument("--games", type=int, required=True)
        parser.add_argument("--opponent", default="random", help="a fixed opponent, or the id or slug of a machine")
        parser.add_argument("--opponent-learns", action="store_true", help="an opponent that is a machine learns too")
        parser.add_argument(
            "--measured",
            type=int,
            help="games of each snapshot against each level; the best snapshot then plays; with 0 the last one plays "
            "(the default depends on the kind of machine)",
        )
        parser.add_argument("--seed", type=int, help="default: a random seed, which is printed")

    def handle(self, *args: Any, **options: Any) -> None:
        """Store the run, claim it, train it, and print its results; Ctrl-C stops it and keeps the beads."""
        seed = seed_or_random(options["seed"])
        try:
            with transaction.atomic():  # so that no worker sees the run before this process has claimed it
                run = training_run_start(
                    machine=options["machine"],
                    stages=[Stage(options["opponent"], options["games"], learns=options["opponent_learns"])],
                    seed=seed,
                    measured=options["measured"],
                    enqueue=False,
                )
                claimed = RUNS.claim(run.pk)
        except PlayError as error:
            raise CommandError(str(error)) from None
        assert claimed is not None, "no worker sees the run before this transaction ends"
        with Progress(self.stdout, str(run.machine), run.n_games) as progress:
            try:
                finished = run_execute(claimed, progress.show)
            except KeyboardInterrupt:
                training_run_cancel(run_id=run.pk)
                finished = run_execute(
                    TrainingRun.objects.get(pk=run.pk)
                )  # the row, which has the lease of the last chunk
                raise CommandError(f"stopped after {finished.games_done:,} games; their beads are kept") from None
        if finished.status != JobStatus.FINISHED:
            raise CommandError(f"the run is {finished.status} after {finished.games_done:,} games")
        self.stdout.write(
            f"{run.machine}: {finished.games_done:,} games, {finished.n_wins:,} won, {finished.n_draws:,} drawn, "
            f"{finished.n_losses:,} lost, seed {seed}"
        )
