"""A machine that was watched is kept with those very beads, and its ledger says where they come from."""

from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from games.exceptions import SiteFullError
from games.players import Visitor
from games.rules.base import Side
from games.rules.registry import GAMES
from learning.core.machines.presets import PRESETS
from learning.core.opponents.registry import UNIFORM
from learning.core.schooling.plan import Schooling, curve_marks
from learning.core.training.strength import against_opponent
from learning.exceptions import MachineQuotaError, SchoolingBusyError
from learning.kinds.boxes.progress import progress
from learning.kinds.registry import kind_of
from learning.models import Lesson, Machine, Standing, TrainingRun
from learning.selectors import schooling as selectors_schooling
from learning.selectors.boxes import ledger_errors
from learning.services.runs import Stage, training_run_start
from learning.services.schooling import schooling_keep
from learning.storage.standings import CURVE_POINTS
from learning.workers.jobs import TurnEnd
from learning.workers.runs import run_claim, run_execute
from learning.workers.standings import standings_measure
from tests.factories import api_with, machine, user

pytestmark = pytest.mark.django_db
GAME = GAMES["noughts-and-crosses"]


def held(of: Machine) -> dict[str, list[int]]:
    return dict(of.boxes.values_list("position", "beads"))


def _held(of: Machine) -> float:
    """The chance not to lose against perfect play."""
    return 1 - against_opponent(kind_of(of).load(of), UNIFORM["perfect"]).loss


def test_with_its_training_it_is_refused_where_there_are_as_many_as_may_be(settings):
    plan = Schooling(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "random", 9)
    settings.RUNS_MOST = 0
    with pytest.raises(SiteFullError):
        schooling_keep(user=user("ada"), schooling=plan, preset="michie-1961", games=30)
    assert not Machine.objects.exists()


def test_it_is_the_machine_of_an_ordinary_run_with_that_seed():
    ada = user("ada")
    plan = Schooling(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "perfect", 9)
    kept = schooling_keep(user=ada, schooling=plan, preset="michie-1961", games=300)
    trained = machine(Side.FIRST, "michie-1961")
    run = training_run_start(machine=trained.slug, stages=[Stage("perfect", 300)], seed=9, enqueue=False)
    run = run_execute(run_claim(run.pk))
    trained.refresh_from_db()
    own = TrainingRun.objects.get(machine=kept)
    assert held(kept) == held(trained)
    learnt = {point.games_done: point for point in run.curve.all()}
    watched = list(own.curve.all())
    assert [point.games_done for point in watched] == curve_marks(300) + [300] * (300 not in curve_marks(300))
    both = [(point, learnt[point.games_done]) for point in watched if point.games_done in learnt]
    assert len(both) > 10
    for one, other in both:
        assert (one.n_wins, one.n_draws, one.n_losses) == (other.n_wins, other.n_draws, other.n_losses)
        assert one.strength.keys() == other.strength.keys()
        for name, chances in one.strength.items():
            assert chances == pytest.approx(other.strength[name], abs=1e-12)
    told = progress(kept)
    assert {games for games, _ in told["curve"]} <= {point.games_done for point in watched}
    assert len(told["curve"]) > CURVE_POINTS // 2
    assert told["curve"][-1] == [300, pytest.approx(_held(kept), abs=1e-12)]
    within = {point.games_done: point.strength["perfect"] for point in watched}
    for games, share in told["curve"]:
        assert share == pytest.approx(within[games]["win"] + within[games]["draw"], abs=1e-12)
    for name in ("n_games", "n_wins", "n_draws", "n_losses", "n_removed"):
        assert getattr(kept, name) == getattr(trained, name), name
    assert (own.random_state, own.seed, own.status) == (run.random_state, 9, "finished")
    assert ledger_errors() == []
    (lesson,) = Lesson.objects.filter(machine=kept)
    assert (lesson.run, lesson.n_wins) == (own, kept.n_wins)
    assert (kept.owner, kept.game, kept.side) == (ada, GAME.slug, Side.FIRST)


def test_the_list_shows_its_strength_and_its_curve_at_once():
    plan = Schooling(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "random", 9)
    kept = schooling_keep(user=user("ada"), schooling=plan, preset="michie-1961", games=300)
    standing = Standing.objects.get(machine=kept)
    strength = against_opponent(kind_of(kept).load(kept), UNIFORM["random"])
    assert (standing.games, standing.measured, standing.lessons) == (300, 1, 1)
    assert (standing.win, standing.draw) == pytest.approx((strength.win, strength.draw), abs=1e-12)
    points = list(standing.points)
    assert (points[0][0], points[-1]) == (0, (300, pytest.approx(strength.score, abs=1e-12)))
    assert len(points) == CURVE_POINTS
    assert standings_measure(TurnEnd(60)) == 0, "the clerk has nothing left to find"


@pytest.mark.parametrize("preset", ["hexapawn-rl", "apl-notebook"])
def test_it_may_belong_to_a_browser_and_have_had_a_partner(preset):
    visitor = Visitor(uuid4())
    plan = Schooling(GAMES["hexapawn"], Side.SECOND, PRESETS[preset].rule, "machine", 4)
    kept = schooling_keep(user=visitor, schooling=plan, preset=preset, games=50)
    stand = selectors_schooling.COURSES.advance(plan, 50, 60)
    assert (kept.guest, kept.owner, kept.is_public) == (visitor.guest, None, False)
    assert kind_of(kept).load(kept).beads.tolist() == stand.one.learners.beads[0].tolist()
    assert ledger_errors() == []
    untaught = schooling_keep(user=visitor, schooling=plan, preset=preset, games=0, name="New")
    assert (untaught.n_games, untaught.runs.count(), untaught.name) == (0, 0, "New")


def test_one_that_has_not_come_so_far_is_not_kept(monkeypatch):
    monkeypatch.setattr(selectors_schooling, "WORK_S", 0)
    plan = Schooling(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "random", 90)
    with pytest.raises(SchoolingBusyError):
        schooling_keep(user=user("ada"), schooling=plan, preset="michie-1961", games=500_000)
    assert not Machine.objects.exists()


def test_over_the_api_it_takes_an_account_and_room_for_one_more(settings):
    ada = user("ada")
    answer = api_with(ada).post("/api/learn/keep", {"address": "games=5&win=4", "name": "Mine"})
    assert (answer.status_code, answer.json()["games"], answer.json()["rule"]["win"]) == (201, 5, 4)
    assert Machine.objects.get().owner == ada
    assert APIClient().post("/api/learn/keep", {"address": ""}).status_code == 401
    refused = api_with(ada).post("/api/learn/keep", {"address": "games=x"})
    assert (refused.status_code, refused.json()["detail"][:6]) == (400, "games:")
    settings.MACHINES_PER_ACCOUNT = 1
    full = api_with(ada).post("/api/learn/keep", {"address": ""})
    assert (full.status_code, full.json()["code"]) == (409, MachineQuotaError.code)
