"""The database and the broker die during a run and a tournament; the beads and the results stay the same.

The test has its own servers with a real worker; they are killed with ``kill -9`` and started again.
"""

from collections.abc import Callable
from typing import Any

import pytest

from beadbox.rules.outcome import Side
from learning.kinds.boxes.memory import MEMORY, ledger_errors
from learning.models import CurvePoint, JobStatus, Machine, Tournament, TrainingRun
from learning.selectors.tournaments import tournament_view
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from learning.workers.runs import curve_game_counts
from tests.factories import machine, trained_machine, trained_memory
from tests.outage import Outage

pytestmark = pytest.mark.soak


def n_done_games(run: TrainingRun) -> int:
    run.refresh_from_db()
    return run.games_done


def condition_of_games(run: TrainingRun, games: int) -> Callable[[], bool]:
    """Return a function that is true as soon as the run has played this number of games."""
    return lambda: n_done_games(run) >= games


def test_run_keeps_its_beads_through_killed_servers(outage: Outage) -> None:
    """The database and the broker are killed during the run."""
    games = 60_000_000
    learner = machine()
    outage.start_worker()
    run = training_run_start(machine=learner.slug, stages=[Stage("random", games)], seed=3, enqueue=False)
    outage.wake_up("learning.tasks.jobs_work", "runs", run.pk)

    assert outage.wait_until(condition_of_games(run, games // 8))
    outage.kill_broker()
    assert outage.wait_until(condition_of_games(run, n_done_games(run) + 1)), "it trains without a broker"
    outage.start_broker()

    assert outage.wait_until(condition_of_games(run, games // 4))
    outage.kill_database()
    outage.start_database()
    stopped_at = n_done_games(run)
    assert games // 4 <= stopped_at < games
    outage.recover()

    assert outage.wait_until(condition_of_games(run, max(stopped_at + 1, games // 2))), "the run was resumed"
    outage.kill_broker()
    outage.kill_database()
    outage.start_database()
    outage.start_broker()
    assert run.games_done <= n_done_games(run) < games
    outage.recover()

    assert outage.wait_until(lambda: n_done_games(run) == games)
    assert run.status == JobStatus.FINISHED
    memory, expected = MEMORY.load(learner), trained_memory(learner, games, 3)
    assert (memory.beads == expected.beads).all()
    assert (memory.visits == expected.visits).all()
    points = CurvePoint.objects.filter(run=run).order_by("games_done")
    assert list(points.values_list("games_done", flat=True)) == curve_game_counts(games)
    learner.refresh_from_db()
    assert learner.n_games == games
    numbers = learner.lessons.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, learner.n_lessons + 1))
    assert ledger_errors() == []


def entrant_slugs() -> list[str]:
    slugs = []
    for number, side in enumerate((Side.FIRST, Side.SECOND, Side.FIRST, Side.SECOND)):
        slugs.append(trained_machine(machine(side, slug=f"m{number}"), games=400 * number + 100, seed=number).slug)
    return [*slugs, "random", "perfect", "win-block", "perfect-fast"]


def n_finished_pairings(tournament: Tournament) -> int:
    return tournament.pairings.filter(status=JobStatus.FINISHED).count()


def outcome(tournament: Tournament) -> dict[str, Any]:
    view = tournament_view(Tournament.objects.get(pk=tournament.pk))
    return {key: view[key] for key in ("status", "round", "entries", "standings", "crosstable", "pairings")}


def test_tournament_keeps_its_result_through_killed_servers(outage: Outage) -> None:
    """The database and the broker are killed during the tournament."""

    def start_tournament() -> Tournament:
        return tournament_start(
            user=None, entries=entries, games=400_000, seed=8, format="swiss", rounds=4, enqueue=False
        )

    entries = entrant_slugs()
    quiet_tournament = start_tournament()
    tournament_play(quiet_tournament.pk)
    expected = outcome(quiet_tournament)
    lessons_before = list(Machine.objects.order_by("pk").values_list("pk", "n_lessons"))

    outage.start_worker()
    disturbed_tournament = start_tournament()
    n_pairings = quiet_tournament.pairings.count()
    outage.recover()
    for kills, part in (
        ([outage.kill_broker], 1),
        ([outage.kill_database], 2),
        ([outage.kill_database, outage.kill_broker], 3),
    ):
        assert outage.wait_until(lambda part=part: n_finished_pairings(disturbed_tournament) >= part * n_pairings // 5)
        for kill in kills:
            kill()
        if outage.kill_database in kills:
            outage.start_database()
        if outage.kill_broker in kills:
            outage.start_broker()
        assert n_finished_pairings(disturbed_tournament) < n_pairings
        outage.recover()
    assert outage.wait_until(lambda: outcome(disturbed_tournament)["status"] == JobStatus.FINISHED)
    assert outcome(disturbed_tournament) == expected
    assert list(Machine.objects.order_by("pk").values_list("pk", "n_lessons")) == lessons_before, "no machine learnt"
