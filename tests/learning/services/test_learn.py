"""A watched machine is kept with exactly its beads, and its ledger records their origin."""

from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.strength import against_opponent
from beadbox.learners.boxes.training_config import Cohort, TrainingConfig, curve_marks
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.accounts.principal import Visitor
from games.exceptions import SiteFullError
from learning.exceptions import MachineQuotaError, RunQuotaError
from learning.kinds.boxes.look import boxes_at
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.boxes.progress import progress
from learning.kinds.registry import kind_of
from learning.models import Lesson, Machine, Standing, TrainingRun
from learning.services import learn as services_learn
from learning.services.learn import trained_machine_create
from learning.services.runs import Stage, training_run_start
from learning.storage.standings import CURVE_POINTS
from learning.workers.jobs import TurnEnd
from learning.workers.runs import RUNS, run_execute
from learning.workers.standings import standings_measure
from tests.factories import api_with, machine, user

pytestmark = pytest.mark.django_db
GAME = GAMES["noughts-and-crosses"]


def beads_of(learner: Machine) -> dict[str, list[int]]:
    return dict(learner.boxes.values_list("position", "beads"))


def _chance_not_to_lose(learner: Machine) -> float:
    """Return the chance not to lose against perfect play."""
    return 1 - against_opponent(kind_of(learner).memory.load(learner), UNIFORM["perfect"]).loss


def test_kept_machine_is_refused_when_the_site_has_enough_runs(settings):
    plan = TrainingConfig(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "random", 9)
    settings.RUNS_MOST = 0
    with pytest.raises(SiteFullError):
        trained_machine_create(user=user("ada"), config=plan, preset="michie-1961", games=30)
    assert not Machine.objects.exists()


def test_kept_machine_equals_an_ordinary_run_with_its_seed():
    ada = user("ada")
    plan = TrainingConfig(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "perfect", 9)
    kept_machine, _ = trained_machine_create(user=ada, config=plan, preset="michie-1961", games=300)
    reference = machine(Side.FIRST, "michie-1961")
    run = training_run_start(machine=reference.slug, stages=[Stage("perfect", 300)], seed=9, enqueue=False)
    run = run_execute(RUNS.claim(run.pk))
    reference.refresh_from_db()
    kept_run = TrainingRun.objects.get(machine=kept_machine)
    assert beads_of(kept_machine) == beads_of(reference)
    reference_points = {point.games_done: point for point in run.curve.all()}
    points = list(kept_run.curve.all())
    assert [point.games_done for point in points] == curve_marks(300) + [300] * (300 not in curve_marks(300))
    pairs_of_points = [
        (point, reference_points[point.games_done]) for point in points if point.games_done in reference_points
    ]
    assert len(pairs_of_points) > 10
    for one, other in pairs_of_points:
        assert (one.n_wins, one.n_draws, one.n_losses) == (other.n_wins, other.n_draws, other.n_losses)
        assert one.strength.keys() == other.strength.keys()
        for name, chances in one.strength.items():
            assert chances == pytest.approx(other.strength[name], abs=1e-12)
    view = progress(kept_machine)
    assert {games for games, _ in view["curve"]} <= {point.games_done for point in points}
    assert len(view["curve"]) > CURVE_POINTS // 2
    assert view["curve"][-1] == [300, pytest.approx(_chance_not_to_lose(kept_machine), abs=1e-12)]
    chances_by_games = {point.games_done: point.strength["perfect"] for point in points}
    for games, share in view["curve"]:
        assert share == pytest.approx(chances_by_games[games]["win"] + chances_by_games[games]["draw"], abs=1e-12)
    for name in ("n_games", "n_wins", "n_draws", "n_losses", "n_removed"):
        assert getattr(kept_machine, name) == getattr(reference, name), name
    assert (kept_run.random_state, kept_run.seed, kept_run.status) == (run.random_state, 9, "finished")
    assert ledger_errors() == []
    lessons = Lesson.objects.filter(machine=kept_machine).order_by("number")
    assert [lesson.n_wins + lesson.n_draws + lesson.n_losses for lesson in lessons] == [1, 99, 200]
    assert {lesson.run for lesson in lessons} == {kept_run}
    assert sum(lesson.n_wins for lesson in lessons) == kept_machine.n_wins
    for step, games in enumerate((1, 100, 300), 1):
        assert boxes_at(kept_machine, step) == boxes_at(reference, step), games
    assert (kept_machine.owner, kept_machine.game, kept_machine.side) == (ada, GAME.slug, Side.FIRST)


def test_the_list_shows_strength_and_curve_at_once():
    plan = TrainingConfig(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "random", 9)
    kept_machine, _ = trained_machine_create(user=user("ada"), config=plan, preset="michie-1961", games=300)
    stats = Standing.objects.get(machine=kept_machine)
    strength = against_opponent(kind_of(kept_machine).memory.load(kept_machine), UNIFORM["random"])
    assert (stats.games, stats.measured, stats.lessons) == (300, 3, 3)
    assert (stats.win, stats.draw) == pytest.approx((strength.win, strength.draw), abs=1e-12)
    points = list(stats.points)
    assert (points[0][0], points[-1]) == (0, (300, pytest.approx(strength.score, abs=1e-12)))
    assert len(points) == CURVE_POINTS
    assert standings_measure(TurnEnd(60)) == 0, "no standing is left to measure"


def test_strength_of_a_kept_machine_counts_endless_play():
    plan = TrainingConfig(GAMES["mu-torere"], Side.FIRST, PRESETS["michie-1961"].rule, "random", 1)
    _, run = trained_machine_create(user=user("ada"), config=plan, preset="michie-1961", games=20)
    rows = [row for point in run.curve.all() for row in point.strength.values()]
    for row in rows:
        assert row["win"] + row["draw"] + row["loss"] == pytest.approx(1, abs=1e-12)
        assert 0 <= row["endless"] <= row["draw"]


@pytest.mark.parametrize("preset", ["hexapawn-rl", "apl-notebook"])
def test_a_guest_keeps_a_machine_trained_with_a_partner(preset):
    visitor = Visitor(uuid4())
    plan = TrainingConfig(GAMES["hexapawn"], Side.SECOND, PRESETS[preset].rule, "machine", 4)
    kept_machine, _ = trained_machine_create(user=visitor, config=plan, preset=preset, games=50)
    cohort = Cohort.fresh(plan, [4])
    cohort.train("machine", [50], [])
    assert (kept_machine.guest, kept_machine.owner, kept_machine.is_public) == (visitor.guest, None, False)
    assert kind_of(kept_machine).memory.load(kept_machine).beads.tolist() == cohort.learners.beads[0].tolist()
    assert ledger_errors() == []
    untaught_machine, run = trained_machine_create(user=visitor, config=plan, preset=preset, games=0, name="New")
    assert (untaught_machine.n_games, untaught_machine.runs.count(), untaught_machine.name, run) == (0, 0, "New", None)


@pytest.mark.parametrize("teacher", ["random", "machine"])
def test_kept_machine_with_many_games_trains_by_ordinary_run(monkeypatch, teacher):
    monkeypatch.setattr(services_learn, "MAX_GAMES_AT_ONCE", 100)
    monkeypatch.setattr(services_learn, "MAX_GAMES_UNCOMPILED", 100)
    visitor = Visitor(uuid4())
    plan = TrainingConfig(GAME, Side.FIRST, PRESETS["michie-1961"].rule, teacher, 90)
    kept_machine, run = trained_machine_create(user=visitor, config=plan, preset="michie-1961", games=101)
    assert (run.machine, run.seed, run.n_games, run.finished_at) == (kept_machine, 90, 101, None)
    with pytest.raises(RunQuotaError, match="A training of yours goes on"):
        trained_machine_create(user=visitor, config=plan, preset="michie-1961", games=101)
    n_machines = 1 + (teacher == "machine")
    assert Machine.objects.filter(guest=visitor.guest).count() == n_machines, "the refused request leaves no machine"
    run_execute(RUNS.claim(run.pk))
    cohort = Cohort.fresh(plan, [90])
    cohort.train(teacher, [101], [])
    assert kind_of(kept_machine).memory.load(kept_machine).beads.tolist() == cohort.learners.beads[0].tolist()
    assert ledger_errors() == []
    account_machine, account_run = trained_machine_create(
        user=user("ada"), config=plan, preset="michie-1961", games=101
    )
    assert (account_run.started_by, account_machine.owner) == (account_machine.owner, account_machine.owner)


def test_keeping_by_the_api_needs_an_account_and_quota(settings):
    ada = user("ada")
    answer = api_with(ada).post("/api/learn/keep", {"address": "games=5&win=4", "name": "Mine"})
    assert (answer.status_code, answer.json()["games"], answer.json()["rule"]["win"]) == (201, 5, 4)
    assert Machine.objects.get().owner == ada
    assert APIClient().post("/api/learn/keep", {"address": ""}).status_code == 401
    refusal = api_with(ada).post("/api/learn/keep", {"address": "games=x"})
    assert (refusal.status_code, refusal.json()["detail"][:6]) == (400, "games:")
    settings.MACHINES_PER_ACCOUNT = 1
    answer_at_limit = api_with(ada).post("/api/learn/keep", {"address": ""})
    assert (answer_at_limit.status_code, answer_at_limit.json()["code"]) == (409, MachineQuotaError.code)
