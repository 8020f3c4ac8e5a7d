"""Experiment: many repetitions of Michie's first tournament, in which MENACE moves first in 220 games.

Sources: D. Michie, "Trial and error", Science Survey 2 (1961); "Experiments on the mechanization of game-learning",
The Computer Journal 6 (1963). The three definitions of good play are ours (``teachers``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beadbox.experiments.experiment import Chart, Experiment, Figure, Line, Parameter, Published, Result, Table, Unit
from beadbox.experiments.findings import hundred_text, interval_text, number_text, percent_text, tolerance_text
from beadbox.experiments.intervals import median_interval, share_interval, wilson_bands
from beadbox.experiments.random_streams import batch_sources
from beadbox.experiments.teachers import HABIT, PERFECT, TRAPS
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.population import Population, population_fresh
from beadbox.learners.boxes.presets import PRESETS
from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Result as MachineResult
from beadbox.rules.outcome import Side
from beadbox.rules.play import game_played
from beadbox.rules.registry import game_get
from beadbox.strength.sampled import wilson

TEACHERS: tuple[tuple[str, Opponent], ...] = (
    ("any good move", PERFECT),
    ("good moves by habit", HABIT),
    ("good moves that set traps", TRAPS),
)
MENACE = "michie-1961"
OPENINGS = ("corner", "edge", "centre")
"""Names of the slots in the box of the empty board, in the order of the slots."""
N_CHART_POINTS = 44
"""Number of points of a chart."""
WINDOW_GAMES = 10
MIN_WINDOW_DRAWS = 9
"""Minimum number of draws among the next :data:`WINDOW_GAMES` games, from which on draws count as steady."""

MICHIE_SOURCE = "D. Michie (1961, 1963), one tournament, as it is usually told"
STEADY_PUBLISHED = Published("about 20", MICHIE_SOURCE, low=15.0, high=25.0)


@dataclass(frozen=True)
class Tournaments:
    """All tournaments against one teacher.

    Attributes:
        drawn: ``(n_tournaments, n_games) float64``, 1 for a draw and 0 for a loss. MENACE cannot win against good play.
        opening: ``(n_tournaments, n_games + 1, 3) float64``, the share of each opening in the beads of the first box.
    """

    drawn: NDArray[np.float64]
    opening: NDArray[np.float64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]]) -> Tournaments:
        """Return the tournaments for rows of two lists, one row for each tournament.

        The first list has 1 for each drawn game, else 0. The second has the beads of the first box, before the first
        game and after each game.
        """
        drawn, opening = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
        # An empty box is refilled in the next game. Until then, each opening counts as a third.
        opening += (opening.sum(axis=2) == 0)[:, :, None]
        return cls(drawn, opening / opening.sum(axis=2, keepdims=True))

    def games_before_steady(self) -> list[float]:
        """Return for each tournament the number of games before draws were steady; infinite if they never were."""
        n_before = []
        for games in self.drawn:
            runs = np.convolve(games, np.ones(WINDOW_GAMES), "valid") > MIN_WINDOW_DRAWS - 0.5
            n_before.append(float(runs.argmax()) if runs.any() else math.inf)
        return n_before

    def n_preferring(self) -> NDArray[np.int64]:
        """Return the number of tournaments after which each opening had most beads, the first of equals: ``(3,)``."""
        return np.bincount(self.opening[:, -1].argmax(axis=1), minlength=len(OPENINGS))


class MichieTournament(Experiment[Sequence[object]]):
    """MENACE with the rule of 1961 plays tournaments against three kinds of good players."""

    slug = "michie-tournament"
    edition = 4
    name = "Michie’s first tournament"
    question = "How soon does MENACE draw against a good player, and which opening does it prefer?"
    story = """
    In 1961 Donald Michie played 220 games against his own boxes. After about twenty games MENACE is said to have
    drawn steadily. It is also said to have preferred a corner as its first move.

    Here the tournament is repeated many times. Each time, new boxes play against an opponent that never makes a
    mistake. Nobody can beat such a player. So a draw is the best result for MENACE.

    There is more than one way to play well. So three kinds of good player teach it, one after the other.
    """
    science = """
    The preset is michie-1961, as first player. Draws are steady from the first game after which nine of the next
    ten games are drawn. The preferred opening is the slot with most beads in the first box after the last game.
    Tournament number i takes its random words from stream i of the seed.

    The teachers keep the value of the game with every move. “Any good move” chooses uniformly among those moves.
    “By habit” always takes the first of them in the order of the board. “Traps” takes the moves after which
    uniformly random replies lose most often. The habit is one of squares, so it changes when the board is turned.
    Therefore the games against it are played on the board as it lies, by the readable machine. Of equal squares
    MENACE chooses one at random there. The two other teachers choose alike on a turned board.

    Three things are ours: the teachers, the definition of steady, and that a teacher never changes. Michie was one
    person in one tournament, and he could change his play. His games and his definition of steady are not
    available. His figures are given as they are usually told. So a difference refutes nothing.
    """
    game = "noughts-and-crosses"
    presets: tuple[str, ...] = (MENACE,)
    parameters: tuple[Parameter, ...] = (
        Parameter("tournaments", "How many tournaments against each teacher", default=200, low=10, high=500),
        Parameter("games", "Games of each tournament", default=220, low=20, high=500),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return len(TEACHERS) * settings["tournaments"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Sequence[object]]:
        teacher, first = divmod(first, settings["tournaments"])
        game, rngs = game_get(self.game), batch_sources(seed, first, settings["tournaments"])
        opponent = TEACHERS[teacher][1]
        if not isinstance(opponent, UniformOpponent):
            return [_tournament_on_real_boards(game, opponent, settings["games"], rngs[0])]
        learners = population_fresh(game, Side.FIRST, MENACE, rngs)
        return _play_tournaments(learners, opponent, settings["games"])

    def result(self, settings: Mapping[str, int], found: Sequence[Sequence[object]]) -> Result:
        n = settings["tournaments"]
        by_teacher = [Tournaments.of(found[index * n : (index + 1) * n]) for index in range(len(TEACHERS))]
        return Result(_figures(by_teacher[0]), _charts(by_teacher), (_table(by_teacher),), _findings(by_teacher))


def _play_tournaments(learners: Population, teacher: Opponent, n_games: int) -> Sequence[Sequence[object]]:
    """Let each machine play a tournament; return rows for :meth:`Tournaments.of`."""
    measurements = learners.train(teacher, range(n_games + 1))
    drawn, opening = np.diff(measurements.tallies[:, :, 1], axis=1), measurements.openings[:, :, :, 0]
    return list(zip(drawn.tolist(), opening.tolist(), strict=True))


def _tournament_on_real_boards(game: AnyGame, teacher: Opponent, n_games: int, rng: RandomSource) -> Sequence[object]:
    """Let a new machine play a tournament on boards that are never rotated; return a row for :meth:`Tournaments.of`."""
    machine = BoxMachine(game, Side.FIRST, PRESETS[MENACE].rule)
    first_box = machine.open_box(game.initial_position())
    drawn, opening = list[int](), [list(first_box)]
    for _ in range(n_games):
        draws: list[BeadDraw] = []

        def move(position: AnyPosition, rng: Random, draws: list[BeadDraw] = draws) -> AnyMove:
            """Return the machine's move, and record the bead that it drew."""
            chosen, draw = machine.choose(position, rng)
            draws += [draw] if draw is not None else []
            return chosen

        movers = {Side.FIRST: move, Side.SECOND: teacher.mover(game)}
        result = game_played(game, movers, rng)[Side.FIRST]
        played = [draw for draw in draws if draw.slot is not None]
        machine.restock(played, result, resigned=len(played) < len(draws))
        drawn.append(int(result is MachineResult.DRAW))
        opening.append(list(first_box))
    return drawn, opening


def _findings(by_teacher: Sequence[Tournaments]) -> tuple[str, ...]:
    """Return sentences about the games until draws are steady, and the preferred openings, with each teacher."""
    sentences, favourites, n_agree = list[str](), dict[str, tuple[str, float]](), 0
    for (name, _), tournaments in zip(TEACHERS, by_teacher, strict=True):
        middle, low, high = median_interval(tournaments.games_before_steady())
        when = "fewer than half of the tournaments reach steady draws"
        if middle is not None:
            when = f"median {number_text(middle)} games until draws are steady, {interval_text(low, high)}"
        sentences.append(f"Taught by {name}: {when}.")
        n_agree += bool(Figure(name, Unit.GAMES, middle, low, high, STEADY_PUBLISHED).agrees)
        shares = tournaments.n_preferring() / len(tournaments.drawn)
        favourites[name] = OPENINGS[int(shares.argmax())], float(shares.max())
    same = tolerance_text(Unit.GAMES, STEADY_PUBLISHED.low, STEADY_PUBLISHED.high)
    reach = f"The intervals of {n_agree} of {len(by_teacher)} teachers reach there."
    sentences.append(f"Michie’s figure is {STEADY_PUBLISHED.words}; {same}. {reach}")
    sentences += [
        f"{hundred_text(share)} of 100 tournaments come to prefer the {opening}, taught by {name}."
        for name, (opening, share) in favourites.items()
    ]
    n_corner = sum(opening == OPENINGS[0] for opening, _ in favourites.values())
    corner = f"The {OPENINGS[0]}, which Michie’s machine preferred,"
    sentences.append(f"{corner} is the most frequent favourite with {n_corner} of {len(favourites)} teachers.")
    return tuple(sentences)


def _figures(tournaments: Tournaments) -> tuple[Figure, ...]:
    n, n_games = tournaments.drawn.shape
    late = tournaments.drawn[:, n_games // 2 :].mean(axis=1).tolist()
    figures = [
        Figure(
            "Games until draws are steady (median)",
            Unit.GAMES,
            *median_interval(tournaments.games_before_steady()),
            STEADY_PUBLISHED,
        ),
        Figure(
            "Drawn in the second half", Unit.SHARE, *share_interval(late), Published("draws are steady", MICHIE_SOURCE)
        ),
    ]
    for opening, k in zip(OPENINGS, tournaments.n_preferring().tolist(), strict=True):
        published = Published("his machine came to prefer it", MICHIE_SOURCE) if opening == "corner" else None
        label = f"Tournaments after which the {opening} is the favourite opening"
        figures.append(Figure(label, Unit.SHARE, k / n, *wilson(k, n), published))
    return tuple(figures)


def _charts(by_teacher: list[Tournaments]) -> tuple[Chart, ...]:
    n, n_games = by_teacher[0].drawn.shape
    width = max(1, round(n_games / N_CHART_POINTS))
    ends = list(range(width, n_games + 1, width))
    lines = []
    for (name, _), tournaments in zip(TEACHERS, by_teacher, strict=True):
        shares = np.array([tournaments.drawn[:, end - width : end].mean() for end in ends])
        lines.append(Line(name, shares.tolist(), *wilson_bands(shares, n)))
    drawn = Chart(
        "drawn",
        "How many games are drawn",
        "games of the tournament",
        "of 100 games",
        ends,
        lines,
        f"Each point is the mean of {width} games over all tournaments; the bands are 95 % intervals (Wilson).",
    )
    return drawn, _openings_chart(by_teacher[0], [0, *ends]), _one_chart(by_teacher[0])


def _openings_chart(tournaments: Tournaments, xs: list[int]) -> Chart:
    lines = []
    for slot, opening in enumerate(OPENINGS):
        shares = tournaments.opening[:, xs, slot]
        low, high = np.quantile(shares, (0.1, 0.9), axis=0)
        lines.append(Line(opening, shares.mean(axis=0).tolist(), low.tolist(), high.tolist()))
    return Chart(
        "openings",
        f"How it begins, taught by {TEACHERS[0][0]}",
        "games of the tournament",
        "of 100 beads in the first box",
        xs,
        lines,
        "The mean of all tournaments; the lowest and the highest tenth lie outside the bands.",
    )


def _one_chart(tournaments: Tournaments) -> Chart:
    """Return a chart of the first tournament."""
    xs = list(range(WINDOW_GAMES, tournaments.drawn.shape[1] + 1))
    drawn = np.convolve(tournaments.drawn[0], np.ones(WINDOW_GAMES) / WINDOW_GAMES, "valid")
    lines = [Line(f"drawn of the last {WINDOW_GAMES} games", drawn.tolist())]
    lines += [
        Line(f"{opening}: share of the beads in the first box", tournaments.opening[0, xs, slot].tolist())
        for slot, opening in enumerate(OPENINGS)
    ]
    return Chart("one", "One tournament, game by game", "games of the tournament", "of 100", xs, lines)


def _table(by_teacher: list[Tournaments]) -> Table:
    rows = []
    for (name, _), tournaments in zip(TEACHERS, by_teacher, strict=True):
        n, n_games = tournaments.drawn.shape
        steady, low, high = median_interval(tournaments.games_before_steady())
        when = "never" if steady is None else f"{steady:g} ({low:g} to {'never' if high is None else f'{high:g}'})"
        late = tournaments.drawn[:, n_games // 2 :].mean()
        rows.append(
            (name, when, percent_text(float(late)), *(percent_text(k / n) for k in tournaments.n_preferring().tolist()))
        )
    return Table(
        "Taught by",
        ("", "games until draws are steady", "drawn in the second half", *(f"{name} preferred" for name in OPENINGS)),
        rows,
    )
