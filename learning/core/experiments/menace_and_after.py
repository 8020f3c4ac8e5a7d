"""MENACE and what came after it: how many games each learner needs to be as strong as MENACE is after a thousand.

Sources: D. Michie, "Experiments on the mechanization of game-learning", The Computer Journal 6 (1963); R. Sutton and
A. Barto, "Reinforcement Learning: An Introduction", second edition (2018), sections 5.4, 6.4, 6.5, 6.8 and 12.1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.rules.base import Side
from games.rules.registry import game_get
from learning.core.experiments.base import Chart, Experiment, Figure, Line, Parameter, Published, Result, Table, Unit
from learning.core.experiments.intervals import mean_interval, median_interval
from learning.core.experiments.together import sources
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.presets import PRESETS, TABLE_PRESETS
from learning.core.opponents.base import UniformOpponent
from learning.core.opponents.registry import UNIFORM
from learning.core.training.population import Population
from learning.core.training.table_memory import TableMemory, table_against_opponent, table_worst_case
from learning.core.training.tables import boxes_compile

MENACE = "michie-1961"
LEARNERS = (MENACE, *TABLE_PRESETS)
TEACHERS: Mapping[str, str] = {"random": "random play", "win-block": "win or block", "perfect": "perfect play"}
NOUGHTS, HEXAPAWN = "noughts-and-crosses", "hexapawn"
LESSONS: tuple[tuple[str, Side, str], ...] = (
    *((NOUGHTS, side, teacher) for teacher in TEACHERS for side in Side),
    *((HEXAPAWN, Side.SECOND, teacher) for teacher in ("random", "win-block")),
)
"""The game, the seat of the learner, and who teaches it there. Hexapawn's first seat is lost to whoever plays well."""
SEATS = {Side.FIRST: "Moves first", Side.SECOND: "Moves second"}
N_GAMES = 1000
"""After so many games MENACE is what the others are held against."""
POINTS = 30

_TRIAL = (
    "a first trial of ours with five MENACEs and three machines of TD, looked at after 30, 100, 300 and 1,000 games"
)
CLAIM = Published("about 100, a tenth of MENACE’s", _TRIAL, low=50.0, high=200.0)
"""What was said before of :data:`CLAIMED` in noughts and crosses, whatever its seat and its teacher."""
CLAIM_HEXAPAWN = Published("30 at most", _TRIAL, low=0.0, high=30.0)
CLAIMED = "td-boards"
TRIED: Mapping[tuple[str, Side, str], str] = {
    (NOUGHTS, Side.FIRST, "random"): "300",
    (NOUGHTS, Side.SECOND, "random"): "1,000",
    (NOUGHTS, Side.FIRST, "win-block"): "100",
    (NOUGHTS, Side.SECOND, "win-block"): "1,000",
    (HEXAPAWN, Side.SECOND, "random"): "30",
    (HEXAPAWN, Side.SECOND, "win-block"): "30",
}
"""After how many games that trial found it as strong against everybody."""


@dataclass(frozen=True)
class Learners:
    """What became of all machines of one preset in one seat with one teacher.

    Attributes:
        points: ``(n_machines, n_marks, 3) float64``, exact points against each of the teachers at each mark.
        worst: ``(n_machines,) float64``, the same against its worst enemy after :data:`N_GAMES` games.
    """

    points: NDArray[np.float64]
    worst: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> Learners:
        """The machines of these rows."""
        points, worst = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
        return cls(points, worst)

    def reached(self, marks: Sequence[int], points: NDArray[np.float64], against: slice) -> list[float]:
        """For each machine the first mark at which it has so many points against all of these; else infinite."""
        there: NDArray[np.bool_] = np.all(self.points[:, :, against] >= points[against], axis=2)
        return [float(marks[row.argmax()]) if row.any() else math.inf for row in there]


@dataclass(frozen=True)
class Lesson:
    """All learners of one game, seat and teacher."""

    game: str
    side: Side
    teacher: str
    learners: Mapping[str, Learners]
    marks: Sequence[int]

    @property
    def told(self) -> str:
        """Which it is, in words."""
        where = SEATS[self.side] if self.game == NOUGHTS else f"Hexapawn, {SEATS[self.side].lower()}"
        return f"{where}, taught by {TEACHERS[self.teacher]}"

    @property
    def by_teacher(self) -> slice:
        """Where the points against its teacher stand."""
        at = list(TEACHERS).index(self.teacher)
        return slice(at, at + 1)

    @property
    def wanted(self) -> NDArray[np.float64]:
        """``(3,)``, MENACE's points after :data:`N_GAMES` games."""
        mean: NDArray[np.float64] = self.learners[MENACE].points[:, self.marks.index(N_GAMES)].mean(axis=0)
        return mean

    def games(self, preset: str, against: slice) -> tuple[float | None, float | None, float | None]:
        """Games of the middle machine until it has MENACE's points against all of these, with the interval."""
        return median_interval(self.learners[preset].reached(self.marks, self.wanted, against))


class MenaceAndAfter(Experiment):
    """Michie's machine beside four methods of the textbook."""

    slug = "menace-and-after"
    edition = 2
    name = "MENACE and what came after it"
    question = "How many games do later ways of learning need to be as strong as MENACE is after a thousand?"
    story = """
    MENACE learnt with beads in 1961. Later people found other ways: to keep a number for every board or
    move, and to correct it a little after every game, by what came next. Four such ways are tried here.

    Each learns noughts and crosses from the same three teachers as MENACE: one who plays anything, one who
    wins or blocks when that is possible, and one who never makes a mistake. Sometimes the learner moves
    first, sometimes second.

    First many MENACEs play a thousand games each, and we work out how many points they then get, on
    average. Then each of the others learns until it gets as many against its teacher, and we count its games.
    The same is done with hexapawn on three by three squares, where who moves second can always win.
    """
    finding = """
    TD of boards needs a tenth of MENACE's games, or a quarter, and with a teacher who plays anything hardly
    any: it looks at the board after each of its moves, so it sees from the start which move wins. The three
    that keep values of moves need between a tenth and all of MENACE's games. But nobody learns what a teacher
    never shows: against somebody they have not met, learners that are ahead with their teacher may be behind.
    In hexapawn all four need a thirtieth to a tenth of MENACE's games. TD then plays without a mistake; the others
    do so if their teacher plays anything, but not if it wins or blocks, for then they never see other replies.
    """
    science = """
    Presets michie-1961, td-boards, q-table, sarsa-table and monte-carlo-table, every machine in one seat and
    with one teacher for good. Machine number i of every kind takes its random words from stream i of the seed.

    Points are exact expectations, sums over all positions: 1 for a win, ½ for a draw. MENACE draws its beads
    as it does in a game; the others play their greatest value, and try nothing while they are measured. The
    mark to be reached is the mean of MENACE's points against its teacher after 1,000 games. A machine is as
    strong at the first look at which it has as many points. It is looked at more often at first, and each
    figure is a number of games at which there was a look, so it may be too high by the step before it.

    MENACE itself stands beside the others, measured in the same way: half of its machines are there before
    the thousandth game or soon after, since the mark is their mean. The second table asks for as many points
    against all three at once. The interval of a median is by ranks, that of a mean by the central limit theorem.

    Of hexapawn (3 × 3) there is the second seat alone: the first is lost to whoever plays well.

    What is ours: the constants of the four presets, which were not tuned to this question, and that MENACE may
    move second, and play hexapawn, with the same beads. Our first trial, whose figures stand beside those of
    TD, moved values three times as far (0.3, not 0.1), and looked at the mean of its machines.
    """
    game = NOUGHTS
    presets = LEARNERS
    parameters = (
        Parameter("machines", "How many machines of each kind", default=30, low=5, high=100),
        Parameter("games", "Games each of them plays at most", default=3000, low=N_GAMES, high=10_000),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return len(LESSONS) * len(LEARNERS) * settings["machines"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Any]:
        lesson, first = divmod(first, len(LEARNERS) * settings["machines"])
        number, first = divmod(first, settings["machines"])
        slug, side, teacher = LESSONS[lesson]
        game, preset, marks = game_get(slug), LEARNERS[number], _marks(settings)
        if preset in TABLE_PRESETS:
            learner = TableMemory.fresh(game, TABLE_PRESETS[preset].rule)
            return [_learn_values(learner, side, UNIFORM[teacher], marks, RandomSource(seed, first))]
        table = boxes_compile(game, side, PRESETS[preset].rule)
        return _learn_boxes(
            Population.fresh(table, sources(seed, first, settings["machines"])), UNIFORM[teacher], marks
        )

    def result(self, settings: Mapping[str, int], found: Sequence[Any]) -> Result:
        n, marks = settings["machines"], _marks(settings)
        parts = iter([Learners.of(found[first : first + n]) for first in range(0, len(found), n)])
        lessons = [Lesson(*lesson, {preset: next(parts) for preset in LEARNERS}, marks) for lesson in LESSONS]
        return Result(
            figures=tuple(_figure(lesson) for lesson in lessons),
            charts=tuple(_chart(lesson) for lesson in lessons),
            tables=(_table_taught(lessons), _table_everybody(lessons), _table_then(lessons)),
        )


def _marks(settings: Mapping[str, int]) -> list[int]:
    """After how many games it is looked at what a machine is worth."""
    return sorted({N_GAMES, *(math.ceil(settings["games"] * (point / POINTS) ** 3) for point in range(POINTS + 1))})


def _learn_values(
    learner: TableMemory, side: Side, teacher: UniformOpponent, marks: list[int], rng: RandomSource
) -> list[Any]:
    """Train a machine with a table of values and note what it is worth: a row of :class:`Learners`.

    It only ever has one seat, and is measured without trying anything.
    """
    games, points, worst = 0, list[list[float]](), 0.0
    for mark in marks:
        learner.train(teacher, mark - games, rng, side)
        games = mark
        points.append([table_against_opponent(learner, side, UNIFORM[slug]).score for slug in TEACHERS])
        if games == N_GAMES:
            worst = table_worst_case(learner, side).score
    return [points, worst]


def _learn_boxes(learners: Population, teacher: UniformOpponent, marks: list[int]) -> list[Any]:
    """The same of machines with boxes, all at once; they draw their beads, as ever."""
    strength = learners.train(teacher, marks, [UNIFORM[slug] for slug in TEACHERS], worst=True).strength
    points = strength[..., 0] + strength[..., 1] / 2
    worst = points[:, marks.index(N_GAMES), -1]
    return [list(row) for row in zip(points[:, :, :-1].tolist(), worst.tolist(), strict=True)]


def _name(preset: str) -> str:
    return "MENACE" if preset == MENACE else TABLE_PRESETS[preset].name


def _figure(lesson: Lesson) -> Figure:
    label = f"{lesson.told}: games until {_name(CLAIMED)} has MENACE’s points against its teacher"
    claim = CLAIM if lesson.game == NOUGHTS else CLAIM_HEXAPAWN
    return Figure(label, Unit.GAMES, *lesson.games(CLAIMED, lesson.by_teacher), claim)


def _chart(lesson: Lesson) -> Chart:
    lines = []
    for preset, learners in lesson.learners.items():
        taught = learners.points[:, :, lesson.by_teacher].mean(axis=2)
        low, high = np.quantile(taught, (0.1, 0.9), axis=0)
        lines.append(Line(_name(preset), taught.mean(axis=0).tolist(), low.tolist(), high.tolist()))
    return Chart(
        "-".join((*([] if lesson.game == NOUGHTS else [lesson.game]), lesson.teacher, lesson.side.name.lower())),
        f"{lesson.told}: points against the teacher, exact",
        "games played",
        "points in 100 games",
        lesson.marks,
        lines,
        "The mean of all machines; eight in ten lie within the band. The first games are stretched, to be seen.",
        is_stretched=True,
    )


def _table_taught(lessons: Sequence[Lesson]) -> Table:
    rows = [
        (
            lesson.told,
            f"{lesson.wanted[lesson.by_teacher][0]:.3f}",
            *(_games(lesson, preset, lesson.by_teacher) for preset in LEARNERS),
        )
        for lesson in lessons
    ]
    heads = ("", f"MENACE’s points after {N_GAMES:,} games", *map(_name, LEARNERS))
    return Table("Games until it gets as many points against its teacher, the middle machine", heads, rows)


def _table_everybody(lessons: Sequence[Lesson]) -> Table:
    rows = [
        (
            lesson.told,
            *(_games(lesson, preset, slice(None)) for preset in LEARNERS),
            TRIED.get((lesson.game, lesson.side, lesson.teacher), "–"),
        )
        for lesson in lessons
    ]
    heads = ("", *map(_name, LEARNERS), f"{_name(CLAIMED)} in our first trial")
    return Table("Games until it gets as many points against all three, the middle machine", heads, rows)


def _table_then(lessons: Sequence[Lesson]) -> Table:
    rows = []
    for lesson in lessons:
        for preset, learners in lesson.learners.items():
            then = [*learners.points[:, lesson.marks.index(N_GAMES)].T, learners.worst]
            means = (mean_interval(column.tolist()) for column in then)
            cells = (f"{mean:.3f} ({max(low, 0):.3f} to {min(high, 1):.3f})" for mean, low, high in means)
            rows.append((f"{lesson.told}: {_name(preset)}", *cells))
    heads = ("", *(f"against {name}" for name in TEACHERS.values()), "against its worst enemy")
    return Table(f"Points in a game after {N_GAMES:,} games, the mean of all machines", heads, rows)


def _games(lesson: Lesson, preset: str, against: slice) -> str:
    most = f"over {lesson.marks[-1]:,}"
    middle, low, high = (most if number is None else f"{number:,g}" for number in lesson.games(preset, against))
    return most if low == most else f"{middle} ({low} to {high})"
