"""Experiment: the number of games that later learners need to be as strong as MENACE after 1,000 games.

Sources: D. Michie, "Experiments on the mechanization of game-learning", The Computer Journal 6 (1963); R. Sutton and
A. Barto, "Reinforcement Learning: An Introduction", second edition (2018), sections 5.4, 6.4, 6.5, 6.8 and 12.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from beadbox.experiments.experiment import Chart, Experiment, Figure, Line, Parameter, Result, Table, Unit
from beadbox.experiments.findings import ROUNDING, interval_text, number_text
from beadbox.experiments.intervals import finite, mean_interval, median_interval
from beadbox.experiments.random_streams import batch_sources
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.population import population_fresh
from beadbox.learners.table_learner.memory import TableMemory, table_against_opponent, table_worst_case
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.registry import UNIFORM
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.strength.exact import Floats

MENACE = "michie-1961"
LEARNERS = (MENACE, *TABLE_PRESETS)
TEACHERS: Mapping[str, str] = {"random": "random play", "win-block": "win or block", "perfect": "perfect play"}
NOUGHTS, HEXAPAWN = "noughts-and-crosses", "hexapawn"
LESSONS: tuple[tuple[str, Side, str], ...] = (
    *((NOUGHTS, side, teacher) for teacher in TEACHERS for side in Side),
    *((HEXAPAWN, Side.SECOND, teacher) for teacher in ("random", "win-block")),
)
"""Game, seat and teacher of each lesson. The first seat of hexapawn is left out: it always loses against good play."""
SEATS = {Side.FIRST: "Moves first", Side.SECOND: "Moves second"}
N_GAMES = 1000
"""Games after which MENACE has the strength that other learners must reach."""
N_MENACES = 1000
"""Default number of MENACEs. Other learners must reach their mean strength."""
N_STEPS = 30
"""Number of steps on the horizontal axis of a chart."""

HEADLINE = "td-boards"
"""Preset of the method whose numbers of games are compared with those of MENACE."""
TRIAL_GAMES: Mapping[tuple[str, Side, str], str] = {
    (NOUGHTS, Side.FIRST, "random"): "300",
    (NOUGHTS, Side.SECOND, "random"): "1,000",
    (NOUGHTS, Side.FIRST, "win-block"): "100",
    (NOUGHTS, Side.SECOND, "win-block"): "1,000",
    (HEXAPAWN, Side.SECOND, "random"): "30",
    (HEXAPAWN, Side.SECOND, "win-block"): "30",
}
"""Games after which :data:`HEADLINE` was as strong as MENACE against all three opponents in our first trial.

The trial had five MENACEs and three machines of this preset, measured after 30, 100, 300 and 1,000 games.
"""


@dataclass(frozen=True)
class Learners:
    """The results of all machines of one preset in one seat with one teacher.

    Attributes:
        points: ``(n_machines, n_marks, 3) float64``, exact points of each machine against each teacher. A mark is a
            number of games after which machines are measured.
        worst: ``(n_machines,) float64``, exact points against the best response after :data:`N_GAMES` games.
    """

    points: NDArray[np.float64]
    worst: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]]) -> Learners:
        """Return the results for rows with the two fields, one row for each machine."""
        points, worst = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
        return cls(points, worst)

    def first_marks(self, marks: Sequence[int], points: NDArray[np.float64], against: slice) -> list[float]:
        """Return for each machine the first mark at which it has at least ``points``; infinite if there is none.

        ``points: (3,)`` has the required points against each teacher. Only the teachers of the slice ``against`` count.
        """
        has_enough: NDArray[np.bool_] = np.all(self.points[:, :, against] >= points[against], axis=2)
        return [float(marks[row.argmax()]) if row.any() else math.inf for row in has_enough]


@dataclass(frozen=True)
class Lesson:
    """The results of all learners of one game, seat and teacher.

    Attributes:
        menace: ``(n_machines, 4) float64``, exact points of the MENACEs after :data:`N_GAMES` games, against each of
            the three teachers and against the best response. Other learners must reach the means.
    """

    game: str
    side: Side
    teacher: str
    learners: Mapping[str, Learners]
    marks: Sequence[int]
    menace: NDArray[np.float64]

    @property
    def title(self) -> str:
        """Seat and teacher in words, with the game if it is hexapawn."""
        seat = SEATS[self.side] if self.game == NOUGHTS else f"Hexapawn, {SEATS[self.side].lower()}"
        return f"{seat}, taught by {TEACHERS[self.teacher]}"

    @property
    def own_teacher(self) -> slice:
        """The slice of points that selects the lesson's own teacher."""
        index = list(TEACHERS).index(self.teacher)
        return slice(index, index + 1)

    @cached_property
    def required_points(self) -> NDArray[np.float64]:
        """``(3, 3)``: for each teacher, MENACE's mean points and the lower and upper edge of their interval."""
        return np.array([mean_interval(column) for column in self.menace[:, : len(TEACHERS)].T.tolist()])

    def final_points(self, preset: str) -> NDArray[np.float64]:
        """Return the points of all machines of a preset after :data:`N_GAMES` games: ``(n_machines, 4)``."""
        if preset == MENACE:
            return self.menace
        learners = self.learners[preset]
        return np.column_stack([learners.points[:, self.marks.index(N_GAMES)], learners.worst])

    def games(self, preset: str, against: slice) -> tuple[float | None, float | None, float | None]:
        """Return the median of games until a machine has the required points against the teachers of a slice.

        Also return the edges of the median's interval. The lower edge is computed for the lower edges of the required
        points, and the upper edge for their upper edges.
        """
        (middle, _, _), (_, low, _), (_, _, high) = (
            median_interval(self.learners[preset].first_marks(self.marks, required_points, against))
            for required_points in self.required_points.T
        )
        return middle, low, high


class MenaceAndAfter(Experiment[Sequence[object]]):
    """MENACE is compared with four methods of the textbook by Sutton and Barto."""

    slug = "menace-and-after"
    edition = 5
    name = "MENACE and what came after it"
    question = "How many games do later methods need to become as strong as MENACE after 1,000 games?"
    story = """
    MENACE learnt with beads in 1961. Later, people found other methods. Those keep a number for every board or
    move. They correct the number a little after every game. Four such methods are tried here.

    Each method learns noughts and crosses from the same three teachers as MENACE. The first teacher plays at
    random. The second wins or blocks when it can. The third never makes a mistake. Some learners move first, and
    some move second.

    First, many MENACEs play 1,000 games each. We calculate how many points they then get on average. That is the
    mark. Then each other machine learns until it reaches the mark against its teacher. We count its games. The same
    is done for hexapawn on three by three squares, where the second player can always win.
    """
    science = """
    The presets are michie-1961, td-boards, q-table, sarsa-table and monte-carlo-table. Every machine keeps one seat
    and one teacher. Machine number i of every kind takes its random words from stream i of the seed.

    Points are exact expectations, sums over all positions: 1 for a win, ½ for a draw. MENACE draws its beads as in a
    game. The others play their greatest value and do not explore while they are measured. The mark is the mean of
    the points of many MENACEs against their teacher after 1,000 games. A machine counts as equally strong at the
    first check with as many points. Checks are more frequent at first. So a figure may be too high by the step
    before it.

    MENACE's own games are counted in the same way, with the first of the machines that set the mark. The second
    table asks for as many points against all three teachers at once. In the third, MENACE's points are those of all
    machines that set the mark.

    The interval of a mean uses the central limit theorem. The mark is such a mean. The interval of a median uses
    ranks. Its lower edge belongs to the lower edge of the mark, and its upper edge to the upper. A method needs
    clearly fewer games than MENACE if these intervals do not overlap.

    Hexapawn (3 × 3) has only the second seat here. The first player always loses against good play.

    Two things are ours. The constants of the four presets were not tuned to this question. MENACE may move second
    and play hexapawn with the same beads. The figures of our first trial stand beside those of TD. It moved values
    three times as far (0.3 instead of 0.1) and looked at the mean of its machines.
    """
    game = NOUGHTS
    presets: tuple[str, ...] = LEARNERS
    parameters: tuple[Parameter, ...] = (
        Parameter("machines", "How many machines of each kind", default=30, low=5, high=100),
        Parameter("games", "Games each of them plays at most", default=3000, low=N_GAMES, high=10_000),
        Parameter("mark", "How many MENACEs set the mark", default=N_MENACES, low=20, high=5000),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return len(LESSONS) * _n_parts_of_lesson(settings)

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Sequence[object]]:
        lesson, first = divmod(first, _n_parts_of_lesson(settings))
        slug, side, teacher = LESSONS[lesson]
        game, marks = game_get(slug), _marks(settings)
        measures = [UNIFORM[opponent] for opponent in TEACHERS]
        if first < settings["mark"]:
            menaces = population_fresh(game, side, MENACE, batch_sources(seed, first, settings["mark"]))
            return _points_at_mark(menaces.train(UNIFORM[teacher], [N_GAMES], measures, worst=True).strength)
        index, first = divmod(first - settings["mark"], settings["machines"])
        preset = LEARNERS[index]
        if preset in TABLE_PRESETS:
            learner = TableMemory.fresh(game, TABLE_PRESETS[preset].rule)
            return [_learn_values(learner, side, UNIFORM[teacher], marks, RandomSource(seed, first))]
        learners = population_fresh(game, side, preset, batch_sources(seed, first, settings["machines"]))
        return _points_of_boxes(learners.train(UNIFORM[teacher], marks, measures, worst=True).strength, marks)

    def result(self, settings: Mapping[str, int], found: Sequence[Sequence[object]]) -> Result:
        n_parts = _n_parts_of_lesson(settings)
        lessons = [
            _lesson(LESSONS[index], settings, found[index * n_parts : (index + 1) * n_parts])
            for index in range(len(LESSONS))
        ]
        return Result(
            figures=tuple(_figure(lesson) for lesson in lessons),
            charts=tuple(_chart(lesson) for lesson in lessons),
            tables=(_table_own_teacher(lessons), _table_all_teachers(lessons), _table_after_n_games(lessons)),
            findings=_findings(lessons),
        )


def _n_parts_of_lesson(settings: Mapping[str, int]) -> int:
    """Return the number of parts of a lesson: first the MENACEs that define the mark, then each learner's machines."""
    return settings["mark"] + len(LEARNERS) * settings["machines"]


def _lesson(lesson: tuple[str, Side, str], settings: Mapping[str, int], found: Sequence[Sequence[object]]) -> Lesson:
    n, n_mark = settings["machines"], settings["mark"]
    starts = [n_mark + index * n for index in range(len(LEARNERS))]
    learners = {preset: Learners.of(found[start : start + n]) for preset, start in zip(LEARNERS, starts, strict=True)}
    return Lesson(*lesson, learners, _marks(settings), np.array(found[:n_mark], dtype=np.float64))


def _marks(settings: Mapping[str, int]) -> list[int]:
    """Return the numbers of games after which machines are measured."""
    return sorted({N_GAMES, *(math.ceil(settings["games"] * (step / N_STEPS) ** 3) for step in range(N_STEPS + 1))})


def _learn_values(
    learner: TableMemory, side: Side, teacher: UniformOpponent, marks: list[int], rng: RandomSource
) -> Sequence[object]:
    """Train a value-table machine in one seat and measure it at all marks; return a row for :meth:`Learners.of`.

    The machine does not explore in the measurements.
    """
    games, points, worst = 0, list[list[float]](), 0.0
    for mark in marks:
        learner.train(teacher, mark - games, rng, side)
        games = mark
        points.append([table_against_opponent(learner, side, UNIFORM[slug]).score for slug in TEACHERS])
        if games == N_GAMES:
            worst = table_worst_case(learner, side).score
    return [points, worst]


def _points_of_boxes(strength: Floats, marks: list[int]) -> Sequence[Sequence[object]]:
    """Return rows for :meth:`Learners.of` from :attr:`TrainingMeasurements.strength` of machines with boxes."""
    points = strength[..., 0] + strength[..., 1] / 2
    worst = points[:, marks.index(N_GAMES), -1]
    return [list(row) for row in zip(points[:, :, :-1].tolist(), worst.tolist(), strict=True)]


def _points_at_mark(strength: Floats) -> Sequence[Sequence[object]]:
    """Return rows of ``Lesson.menace`` from :attr:`TrainingMeasurements.strength` at the only mark, :data:`N_GAMES`."""
    points: Sequence[Sequence[object]] = (strength[:, 0, :, 0] + strength[:, 0, :, 1] / 2).tolist()
    return points


def _name(preset: str) -> str:
    return "MENACE" if preset == MENACE else TABLE_PRESETS[preset].name


def _short_name(preset: str) -> str:
    """Return the name of a preset up to its first comma, for a sentence."""
    return _name(preset).partition(",")[0]


def _figure(lesson: Lesson) -> Figure:
    label = f"{lesson.title}: games until {_name(HEADLINE)} has MENACE’s points against its teacher"
    return Figure(label, Unit.GAMES, *lesson.games(HEADLINE, lesson.own_teacher))


def _chart(lesson: Lesson) -> Chart:
    lines = []
    for preset, learners in lesson.learners.items():
        own_teacher_points = learners.points[:, :, lesson.own_teacher].mean(axis=2)
        low, high = np.quantile(own_teacher_points, (0.1, 0.9), axis=0)
        lines.append(Line(_name(preset), own_teacher_points.mean(axis=0).tolist(), low.tolist(), high.tolist()))
    return Chart(
        "-".join((*([] if lesson.game == NOUGHTS else [lesson.game]), lesson.teacher, lesson.side.name.lower())),
        f"{lesson.title}: points against the teacher, exact",
        "games played",
        "points in 100 games",
        lesson.marks,
        lines,
        "The mean of all machines; the lowest and highest tenth lie outside the band. The first games are stretched.",
        is_stretched=True,
    )


def _table_own_teacher(lessons: Sequence[Lesson]) -> Table:
    rows = [
        (
            lesson.title,
            _mean(*lesson.required_points[lesson.own_teacher][0].tolist()),
            *(_games(lesson, preset, lesson.own_teacher) for preset in LEARNERS),
        )
        for lesson in lessons
    ]
    headings = ("", f"MENACE’s points after {N_GAMES:,} games", *map(_name, LEARNERS))
    return Table("Games until it gets as many points against its teacher (median)", headings, rows)


def _table_all_teachers(lessons: Sequence[Lesson]) -> Table:
    rows = [
        (
            lesson.title,
            *(_games(lesson, preset, slice(None)) for preset in LEARNERS),
            TRIAL_GAMES.get((lesson.game, lesson.side, lesson.teacher), "–"),
        )
        for lesson in lessons
    ]
    headings = ("", *map(_name, LEARNERS), f"{_name(HEADLINE)} in our first trial")
    return Table("Games until it gets as many points against all three (median)", headings, rows)


def _table_after_n_games(lessons: Sequence[Lesson]) -> Table:
    rows = []
    for lesson in lessons:
        for preset in LEARNERS:
            cells = (_mean(*mean_interval(column)) for column in lesson.final_points(preset).T.tolist())
            rows.append((f"{lesson.title}: {_name(preset)}", *cells))
    headings = ("", *(f"against {name}" for name in TEACHERS.values()), "against the opponent that beats it most often")
    n_menace, n = (len(lessons[0].final_points(preset)) for preset in (MENACE, HEADLINE))
    samples = f"the mean of {n_menace:,} MENACEs and of {n:,} machines of each other kind"
    return Table(f"Points in a game after {N_GAMES:,} games, {samples}", headings, rows)


def _mean(mean: float, low: float, high: float) -> str:
    return f"{mean:.3f} ({max(low, 0):.3f} to {min(high, 1):.3f})"


def _findings(lessons: Sequence[Lesson]) -> tuple[str, ...]:
    """Describe where methods need clearly fewer or more games than MENACE, and how many master hexapawn."""
    sentences, n = [], len(lessons)
    for preset in TABLE_PRESETS:
        name = _short_name(preset)
        with_fewer, with_more = _compare(lessons, preset, own_teacher_only=True)
        sentences.append(f"{name} needs clearly fewer games than MENACE in {len(with_fewer)} of {n} lessons.")
        by_median = sorted(lessons, key=lambda lesson: finite(lesson.games(preset, lesson.own_teacher)[0]))
        for words, lesson in (("Fewest", by_median[0]), ("Most", by_median[-1])):
            sentences.append(f"{words}: {_median(lesson, preset)} ({lesson.title}).")
        for lesson in with_more:
            sentences += [f"{lesson.title}: {_short_name(slug)}, {_median(lesson, slug)}." for slug in (preset, MENACE)]
        with_fewer, with_more = _compare(lessons, preset, own_teacher_only=False)
        fewer = f"clearly fewer games in {len(with_fewer)} lessons and clearly more in {len(with_more)}"
        sentences.append(f"Against all three opponents {name} needs {fewer}.")
    for lesson in lessons:
        if lesson.game == HEXAPAWN:
            n_perfect = sum(bool(lesson.final_points(preset)[:, -1].min() > 1 - ROUNDING) for preset in LEARNERS)
            claim = f"in {n_perfect} of {len(LEARNERS)} methods no machine makes mistakes after {N_GAMES:,} games"
            sentences.append(f"{lesson.title}: {claim}.")
    return tuple(sentences)


def _compare(lessons: Sequence[Lesson], preset: str, *, own_teacher_only: bool) -> tuple[list[Lesson], list[Lesson]]:
    """Return the lessons in which a method needs clearly fewer games than MENACE, and those with clearly more.

    If ``own_teacher_only``, only points against the lesson's teacher count, else those against all three teachers.
    """
    with_fewer, with_more = [], []
    for lesson in lessons:
        against = lesson.own_teacher if own_teacher_only else slice(None)
        (_, low, high), (_, menace_low, menace_high) = (lesson.games(learner, against) for learner in (preset, MENACE))
        if finite(high) < finite(menace_low):
            with_fewer.append(lesson)
        elif finite(low) > finite(menace_high):
            with_more.append(lesson)
    return with_fewer, with_more


def _median(lesson: Lesson, preset: str) -> str:
    """Return the median of the games that a method needs, with its interval, as text for a sentence."""
    middle, low, high = lesson.games(preset, lesson.own_teacher)
    games = f"over {lesson.marks[-1]:,}" if middle is None else number_text(middle)
    bounds = f", {interval_text(low, high)}" if low is not None else ""
    return f"median {games} games{bounds}"


def _games(lesson: Lesson, preset: str, against: slice) -> str:
    no_median = f"over {lesson.marks[-1]:,}"
    middle, low, high = (no_median if number is None else f"{number:,g}" for number in lesson.games(preset, against))
    return no_median if low == no_median else f"{middle} ({low} to {high})"
