"""The forecast of a lesson equals counts over single machines that play against the model of a pupil."""

import numpy as np
import pytest

from beadbox.experiments.lesson_forecast import FORECAST_SEED, N_MACHINES, lesson_forecast, model_pupil
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.table import boxes_compile
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES

HEXAPAWN = GAMES["hexapawn"]


def test_forecast_counts_the_last_games_of_single_machines() -> None:
    wins, gains, n_opened = [], [], []
    for number in range(N_MACHINES):
        memory = Memory.fresh(boxes_compile(HEXAPAWN, Side.SECOND, PRESETS["gardner-her"].rule))
        source = RandomSource(FORECAST_SEED, number)
        first, _, last = (memory.train(model_pupil(HEXAPAWN), n, source) for n in (10, 5, 10))
        wins.append(last.wins)
        gains.append(last.wins - first.wins)
        n_opened.append(len(np.unique(memory.table.slot_box[memory.visits > 0])))
    found = lesson_forecast(HEXAPAWN, Side.SECOND, "gardner-her", 25)
    assert sum(one >= found.most_reach for one in wins) >= 0.9 * N_MACHINES
    assert sum(one > found.most_reach for one in wins) < 0.9 * N_MACHINES
    assert (found.mean, found.gain) == pytest.approx((np.mean(wins), np.mean(gains)))
    assert found.n_opened == pytest.approx(np.mean(n_opened))
    assert (found.n_boxes, found.has_draws, found.most_reach >= 6) == (19, False, True)


@pytest.mark.parametrize("n_games", [1, 9, 10, 15, 20])
def test_short_lessons_have_a_forecast(n_games: int) -> None:
    found = lesson_forecast(HEXAPAWN, Side.SECOND, "gardner-her", n_games)
    assert (found.n_games, found.n_last) == (n_games, min(10, n_games))
    assert 0 <= found.most_reach <= found.n_last
    assert n_games > 10 or found.gain == 0


def test_longer_lessons_teach_more() -> None:
    means = [lesson_forecast(HEXAPAWN, Side.SECOND, "gardner-her", n).mean for n in (20, 40, 80)]
    assert means == sorted(means)
