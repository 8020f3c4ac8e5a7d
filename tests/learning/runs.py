"""Functions of tests that start and complete training runs."""

from learning.models import Machine, TrainingRun
from learning.services.runs import Stage, training_run_start
from learning.workers.runs import RUNS, run_execute


def run_of(learner: Machine, *, opponent: str = "random", games: int = 100, learns: bool = False) -> TrainingRun:
    return training_run_start(machine=learner.slug, stages=[Stage(opponent, games, learns)], seed=7, enqueue=False)


def execute_run(run: TrainingRun) -> TrainingRun:
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return run_execute(claimed_run)
