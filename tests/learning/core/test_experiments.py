"""Experiments: the figures that others published, the same result from the same seed, and what is refused."""

import json
import math
from typing import Any

import pytest

from games.rules.base import Side
from games.rules.registry import GAMES
from learning.core.experiments.base import Experiment, Figure, ParameterError, Published, Result, Unit
from learning.core.experiments.intervals import mean_interval, median_interval, quantile
from learning.core.experiments.registry import EXPERIMENTS
from learning.core.experiments.teachers import HABIT, PERFECT, TRAPS
from learning.core.machines.presets import PRESETS, Q_PRESETS, TABLE_PRESETS, VALUE_PRESETS
from learning.core.opponents.perfect import solve
from learning.core.training.sampled import wilson

SMALL = {
    "gardner": {"machines": 20},
    "michie-tournament": {"tournaments": 10, "games": 40},
    "hexapawn-rewards": {"machines": 10, "games": 60},
    "hexapawn-resigns": {"pairs": 10, "games": 60},
    "menace-and-after": {"machines": 5, "games": 1000},
    "romgon-page": {"machines": 2, "games": 20},
}


def quiet(done: int, total: int) -> None:
    """Nobody watches."""


def run(slug: str, seed: int = 1, **settings: int) -> Result:
    experiment = EXPERIMENTS[slug]
    return experiment.run(experiment.settings(settings), seed, quiet)


def figure(result: Result, words: str) -> Figure:
    (found,) = [figure for figure in result.figures if words in figure.label]
    return found


# The figures


@pytest.mark.parametrize("seed", [1, 2])
def test_her_loses_about_eleven_games_until_it_is_perfect(seed: int) -> None:
    result = run("gardner", seed, machines=300)
    losses, games = figure(result, "Losses"), figure(result, "Games")
    assert losses.value is not None
    assert games.value is not None
    assert 10.5 < losses.value < 11.7
    assert 90 <= games.value <= 150
    assert losses.agrees
    assert games.agrees
    assert losses.low is not None
    assert losses.high is not None
    assert losses.low < losses.value < losses.high < losses.low + 1


def test_box_machine_soon_draws_steadily_and_its_teacher_decides_how_it_begins() -> None:
    result = run("michie-tournament", tournaments=100)
    steady = figure(result, "steady")
    assert steady.value is not None
    assert 35 <= steady.value <= 60
    assert steady.agrees is False, "Michie's twenty games are not what these teachers give"
    assert figure(result, "second half").value == pytest.approx(0.965, abs=0.02)
    favourites = [figure(result, f"the {opening} is").value or 0.0 for opening in ("corner", "edge", "centre")]
    assert sum(favourites) == pytest.approx(1)
    assert favourites[2] > 0.8
    habit = result.tables[0].rows[1]
    assert habit[0] == "good moves by habit"
    assert int(habit[4].rstrip("%")) > 60, "by habit it is the edge"


def test_punishment_alone_makes_hexapawn_machines_perfect_soonest() -> None:
    result = run("hexapawn-rewards", machines=40, games=600)
    her, reward, rl = (
        figure(result, f"{PRESETS[slug].name}: games") for slug in EXPERIMENTS["hexapawn-rewards"].presets
    )
    assert her.agrees
    assert her.value is not None
    assert all(other.value is None or other.value > 1.5 * her.value for other in (reward, rl))
    assert figure(result, f"{PRESETS['gardner-her'].name}: perfect at the end").value == 1
    assert all(float(row[3].rstrip("%")) > 99 for row in result.tables[0].rows), "all win against random play"
    perfect = next(chart for chart in result.charts if chart.slug == "perfect")
    assert all(list(line.values) == sorted(line.values) for line in perfect.lines), "who is perfect stays so"


def test_the_first_player_as_shipped_gives_up_for_ever_and_the_documented_one_never() -> None:
    result = run("hexapawn-resigns", pairs=40)
    assert figure(result, "until the first box is empty").value == pytest.approx(22, abs=3)
    assert figure(result, "given up for good").value == 1
    resigned = figure(result, "before they began")
    assert resigned.value == 1
    assert resigned.agrees
    refilled = figure(result, "filled again").value
    assert refilled is not None
    assert refilled > 40
    shipped, documented = result.tables[0].rows
    assert shipped[-1].startswith("0 of ")
    moved, after = documented[-1].split(" of ")
    assert moved == after


def test_what_came_after_menace_needs_fewer_games() -> None:
    result = run("menace-and-after", machines=10, games=1000)
    games = [figure.value for figure in result.figures]
    assert [figure.label.partition(":")[0] for figure in result.figures] == [
        *(
            f"Moves {seat}, taught by {teacher}"
            for teacher in ("random play", "win or block", "perfect play")
            for seat in ("first", "second")
        ),
        *(f"Hexapawn, moves second, taught by {teacher}" for teacher in ("random play", "win or block")),
    ]
    assert all(value is not None and value <= 400 for value in games), "fewer than half of MENACE's"
    first_random, _, first_block, _, _, _, *hexapawn = result.figures
    assert all((figure.value or 1000) < 60 for figure in hexapawn)
    assert (first_random.value or 0) < 30, "it sees a win at hand before it has learnt anything"
    assert first_random.agrees is False
    assert first_block.agrees
    taught, everybody, then = result.tables
    assert [float(row[1]) for row in taught.rows] == pytest.approx(
        [0.85, 0.70, 0.80, 0.45, 0.50, 0.38, 0.99, 1.0], abs=0.06
    )
    assert [row[-1] for row in everybody.rows] == ["300", "1,000", "100", "1,000", "–", "–", "30", "30"]
    points = {row[0]: float(row[1].split()[0]) for row in then.rows}
    for side in ("first", "second"):
        own = f"Moves {side}, taught by random play"
        assert points[f"{own}: MENACE"] < points[f"{own}: Sarsa"] < points[f"{own}: TD(λ) of boards"]
    worst = {row[0]: row[-1] for row in then.rows if row[0].startswith("Hexapawn")}
    assert [words for name, words in worst.items() if name.endswith(": TD(λ) of boards")] == [
        "1.000 (1.000 to 1.000)"
    ] * 2
    assert worst["Hexapawn, moves second, taught by win or block: MENACE"].startswith("0.500 ")


def test_of_what_romgons_page_promised_one_learner_keeps_more_than_all_of_it() -> None:
    result = run("romgon-page", machines=2, games=60)
    promised = [figure for figure in result.figures if "won more" in figure.label]
    assert [figure.published and figure.published.words for figure in promised] == [
        "10 to 15 % more wins after 100 games"
    ] * 3
    as_written, checked, of_value = ((figure.value or 0.0) for figure in promised)
    assert max(as_written, checked) < 0.3 < 0.4 < of_value
    easy, medium, hard = (figure(result, f"of the level {level}") for level in ("easy", "medium", "hard"))
    assert (easy.value, easy.agrees, hard.agrees) == (800, None, False)
    assert 900 < (medium.value or 0) <= (hard.value or 0) + 100 < 1500
    ratings = [figure(result, f"100 games, {name}").value or 0 for name in ("as written", "with two", "value of")]
    assert ratings == sorted(ratings)


# Every experiment


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
class TestEvery:
    def test_the_seed_decides_everything(self, experiment: Experiment) -> None:
        first, again, other = (run(experiment.slug, seed, **SMALL[experiment.slug]).to_json() for seed in (5, 5, 6))
        assert first == again
        assert first != other
        assert json.loads(json.dumps(first, allow_nan=False)) == json.loads(json.dumps(again))

    def test_its_shape_is_what_pages_draw(self, experiment: Experiment) -> None:
        result = run(experiment.slug, **SMALL[experiment.slug])
        assert result.figures
        assert any(figure.published for figure in result.figures), "a published figure stands beside ours"
        for chart in result.charts:
            assert list(chart.xs) == sorted(set(chart.xs))
            for line in chart.lines:
                for values in (line.values, line.low or line.values, line.high or line.values):
                    assert len(values) == len(chart.xs)
                    assert all(0 <= value <= 1 for value in values)
        assert len({chart.slug for chart in result.charts}) == len(result.charts)
        for table in result.tables:
            assert all(len(row) == len(table.heads) for row in table.rows)

    def test_progress_ends_at_the_end_and_may_stop_it(self, experiment: Experiment) -> None:
        told: list[tuple[int, int]] = []
        settings = experiment.settings(SMALL[experiment.slug])
        experiment.run(settings, 1, lambda done, total: told.append((done, total)))
        assert told == [(step, told[-1][1]) for step in range(1, told[-1][1] + 1)]

        def stop(done: int, total: int) -> None:
            raise InterruptedError

        with pytest.raises(InterruptedError):
            experiment.run(settings, 1, stop)

    def test_settings_are_checked(self, experiment: Experiment) -> None:
        first = experiment.parameters[0]
        assert experiment.settings({})[first.name] == first.default
        wrong: list[tuple[dict[str, Any], str]] = [
            ({first.name: first.low - 1}, first.name),
            ({first.name: first.high + 1}, first.name),
            ({first.name: "many"}, first.name),
            ({first.name: True}, first.name),
            ({"bananas": 3}, "bananas"),
        ]
        for given, named in wrong:
            with pytest.raises(ParameterError) as refused:
                experiment.settings(given)
            assert refused.value.parameter == named

    def test_what_it_is_about_exists(self, experiment: Experiment) -> None:
        assert experiment.game in GAMES
        assert set(experiment.presets) <= {*PRESETS, *TABLE_PRESETS, *Q_PRESETS, *VALUE_PRESETS}


# Their parts


def test_intervals_of_textbooks() -> None:
    assert wilson(0, 10) == pytest.approx((0, 0.2775), abs=1e-4)
    assert wilson(5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert mean_interval([1, 2, 3, 4, 5]) == pytest.approx((3, 3 - 1.3859, 3 + 1.3859), abs=1e-4)
    assert mean_interval([7]) == (7, 7, 7)
    assert median_interval(list(range(1, 101))) == (50.5, 40, 61)
    assert median_interval([3]) == (3, 3, 3)
    assert median_interval([1, 2, math.inf, math.inf, math.inf]) == (None, 1, None)
    assert [quantile([1, 2, 3, 4], share) for share in (0, 0.25, 0.26, 1)] == [1, 1, 2, 4]


@pytest.mark.parametrize(("value", "agrees"), [(10.0, True), (11.2, True), (12.1, False), (None, False)])
def test_a_figure_agrees_within_what_was_published(value: float | None, agrees: bool) -> None:
    published = Published("about 11", "somebody", low=10, high=12)
    assert Figure("losses", Unit.LOSSES, value, published=published).agrees is agrees
    if value is not None:
        assert Figure("losses", Unit.LOSSES, value, value - 1, value + 1, published).agrees, (
            "its interval reaches there"
        )
    assert Figure("losses", Unit.LOSSES, value, published=Published("some", "somebody")).agrees is None


@pytest.mark.parametrize("teacher", [HABIT, TRAPS], ids=lambda teacher: teacher.slug)
def test_teachers_never_make_a_mistake(teacher: Any) -> None:
    game = GAMES["noughts-and-crosses"]
    start = game.initial_position()
    seen, frontier = {start}, [start]
    while frontier:
        position = frontier.pop()
        replies = teacher.replies(game, position)
        assert replies
        assert set(replies) <= set(PERFECT.replies(game, position))
        ours = game.side_to_move(position) is Side.SECOND
        for move in replies if ours else game.legal_moves(position):
            after = game.apply(position, move)
            if ours:
                assert game.is_terminal(after) or solve(game, after)[0] <= solve(game, position)[0] * -1
            if not game.is_terminal(after) and after not in seen:
                seen.add(after)
                frontier.append(after)


def test_traps_are_set_where_they_can_be() -> None:
    """Against a centre opening corners are the good answers; against an edge opening some are better traps."""
    game = GAMES["noughts-and-crosses"]
    edge = game.apply(game.initial_position(), game.parse_move("2"))
    assert len(TRAPS.replies(game, edge)) < len(PERFECT.replies(game, edge))
