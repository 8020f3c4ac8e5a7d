"""The order of machines in the list: totals change with every lesson, strengths are measured later."""

import itertools
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from beadbox.rules.outcome import Side
from learning.kinds.machines import strength_without_games
from learning.models import Machine, Standing
from learning.services.copies import machine_clone
from learning.services.machines import machine_reset
from learning.storage.standings import CURVE_POINTS, curve_thin, stats_add
from learning.tasks import standings_keep
from learning.workers import standings
from learning.workers.jobs import TurnEnd
from learning.workers.standings import standings_measure
from tests.factories import guest, machine, play_out, room, trained_machine, user

pytestmark = pytest.mark.django_db


def assert_stats_agree(learner: Machine) -> None:
    """Assert that the stored standing equals the machine's totals and strength."""
    learner.refresh_from_db()
    stats = Standing.objects.get(pk=learner.pk)
    strength = strength_without_games(learner)["random"]
    assert (stats.lessons, stats.games, stats.measured) == (
        learner.n_lessons,
        learner.n_games,
        learner.n_lessons,
    )
    assert (stats.win, stats.draw, stats.loss) == (strength["win"], strength["draw"], strength["loss"])
    assert stats.score == strength["win"] + strength["draw"] / 2
    assert stats.points[-1] == (learner.n_games, stats.score)


class TestStats:
    def test_stats_of_a_new_machine_are_measured_once(self) -> None:
        learner = machine()
        assert Standing.objects.get().measured == -1
        assert standings_keep() == 1
        assert_stats_agree(learner)
        assert standings_keep() == 0

    def test_a_match_updates_stats_without_more_statements(self) -> None:
        learner = machine(slug="m")
        standings_keep()
        seated = room("machine", machine="m")
        with CaptureQueriesContext(
            connection,
        ) as statements:
            play_out(seated.room.code, guest())
        assert [one["sql"] for one in statements if "standing" in one["sql"] and "lesson" not in one["sql"]] == []
        stats = Standing.objects.get()
        learner.refresh_from_db()
        assert (stats.lessons, stats.games) == (learner.n_lessons, 1)
        assert standings_keep() == 1
        assert_stats_agree(learner)
        assert len(Standing.objects.get().points) == 2

    def test_a_training_updates_stats_with_its_last_chunk(self) -> None:
        learner = trained_machine(machine(), 300)
        assert_stats_agree(learner)
        curve = learner.runs.get().curve.order_by("games_done")
        strengths = {point.games_done: point.strength["random"] for point in curve}
        points = Standing.objects.get().points
        assert len(points) == CURVE_POINTS < len(strengths)
        assert all(score == strengths[games]["win"] + strengths[games]["draw"] / 2 for games, score in points)
        assert (points[0][0], points[-1][0]) == (0, 300)
        # Another training goes on where this one ended.
        assert_stats_agree(trained_machine(learner, 200, seed=2))
        assert Standing.objects.get().points[-1][0] == 500

    def test_older_machines_get_stats_from_their_curves(self) -> None:
        trained_machine(trained_machine(machine(), 100), 100, seed=2)
        points_before = Standing.objects.get().points
        Standing.objects.update(measured=-1, win=None, draw=None, loss=None, score=None, curve=[])
        standings_keep()
        assert_stats_agree(Machine.objects.get())
        assert Standing.objects.get().points[-1] == points_before[-1]
        assert len(Standing.objects.get().points) == CURVE_POINTS

    def test_a_reset_clears_the_stats(self) -> None:
        learner = trained_machine(machine(owner=user()), 100)
        machine_reset(user=learner.owner, machine_id=learner.pk)
        stats = Standing.objects.get()
        assert (stats.games, stats.score, stats.curve) == (0, None, [])
        # The older measurement comes too late and is ignored.
        stats_add(learner.pk, [(100, 0.5)], measured=1)
        assert Standing.objects.get().curve == []
        standings_keep()
        assert_stats_agree(learner)
        assert len(Standing.objects.get().points) == 1

    def test_copies_have_their_own_stats_and_room_copies_none(self) -> None:
        learner = trained_machine(machine(slug="m"), 100)
        copy = machine_clone(machine_id=learner.pk, name="Copy")
        room("machine", machine="m", fresh=True)
        assert set(Standing.objects.values_list("pk", flat=True)) == {learner.pk, copy.pk}
        standings_keep()
        assert Standing.objects.get(pk=copy.pk).score == Standing.objects.get(pk=learner.pk).score

    def test_busy_or_broken_machine_delays_no_other(self, monkeypatch: Any) -> None:
        busy_machine, _, quiet_machine = (machine(Side.SECOND, name=name) for name in ("Busy", "Broken", "Quiet"))
        Standing.objects.filter(pk=busy_machine.pk).update(lessons=9)
        measure = standings.strength_without_games
        measured_names: list[str] = []

        def measure_or_fail(one: Machine) -> Any:
            measured_names.append(one.name)
            return measure(one) if one.name != "Broken" else {}["nothing"]

        monkeypatch.setattr(standings, "strength_without_games", measure_or_fail)
        assert standings_measure(TurnEnd(0)) == 1
        assert standings_measure(TurnEnd(60)) == 2
        assert measured_names == ["Broken", "Quiet", "Busy"]
        assert Standing.objects.get(pk=quiet_machine.pk).score is not None
        assert standings_keep() == 0


def test_small_curve_keeps_its_ends_and_the_last_measurement() -> None:
    points = [(games, games / 1e6) for games in range(0, 1_000_001, 1000)]
    short_curve = curve_thin([*points, (0, 0.25)])
    assert len(short_curve) == CURVE_POINTS
    assert (short_curve[0], short_curve[-1]) == ((0, 0.25), points[-1])
    roots = [games**0.5 for games, _ in short_curve]
    assert max(after - before for before, after in itertools.pairwise(roots)) < 3 * 1000 / CURVE_POINTS
