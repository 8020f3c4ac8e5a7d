"""The curve of a training run and its points."""

from __future__ import annotations

import pytest

from beadbox.strength.sampled import wilson
from learning.selectors.runs import run_curve
from tests import factories

pytestmark = pytest.mark.django_db


def test_a_point_has_the_results_since_the_last_point() -> None:
    learner = factories.trained_machine(factories.machine(), games=200)
    run = learner.runs.get()
    first, *points = run_curve(run)
    assert "in_training" not in first
    previous_point = first
    for point in points:
        n = point["games"] - previous_point["games"]
        for result, count in (("win", "wins"), ("draw", "draws"), ("loss", "losses")):
            k, rate = point[count] - previous_point[count], point["in_training"][result]
            assert (rate["value"], (rate["low"], rate["high"])) == (k / n, wilson(k, n))
        previous_point = point


def test_later_points_continue_from_the_point_before() -> None:
    learner = factories.trained_machine(factories.machine(), games=200)
    run = learner.runs.get()
    points = run_curve(run)
    n_games = points[3]["games"]
    assert run_curve(run, after=n_games) == points[4:]
    assert run_curve(run, after=200) == []
