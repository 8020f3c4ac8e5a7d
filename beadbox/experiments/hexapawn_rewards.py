"""Experiment: three schemes of learning hexapawn: punishment only, rewards too, or keeping only the winning move.

Sources: M. Gardner, "Mathematical Games", Scientific American, March 1962; the program HexapawnRL.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from beadbox.experiments.experiment import Chart, Experiment, Figure, Line, Parameter, Result, Table, Unit
from beadbox.experiments.findings import hundred_text, interval_text, number_text, percent_text
from beadbox.experiments.gardner import perfect_at_marks
from beadbox.experiments.intervals import finite, median_interval, wilson_bands
from beadbox.experiments.random_streams import batch_sources
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.population import population_fresh
from beadbox.learners.boxes.presets import PRESETS
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.strength.sampled import wilson

SCHEMES = ("gardner-her", "gardner-her-reward", "hexapawn-rl")
N_CHART_POINTS = 24


@dataclass
class Learners:
    """The results of all machines of one scheme.

    Attributes:
        perfect_after: for each machine the games until it was perfect; infinite if it never was.
        losses: for each machine the losses until it was perfect; infinite if it never was.
        wins: for each machine the exact share of wins against random play at each mark.
        worst: for each machine the exact share of wins against the best response at each mark.
    """

    perfect_after: list[float]
    losses: list[float]
    wins: list[list[float]]
    worst: list[list[float]]

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]]) -> Learners:
        """Return the results for rows of :func:`_learn`, one for each machine."""
        perfect_after, losses, wins, worst = (list(column) for column in zip(*rows, strict=True))
        return cls([finite(games) for games in perfect_after], [finite(games) for games in losses], wins, worst)


class HexapawnRewards(Experiment[Sequence[object]]):
    """Three reward schemes learn as second player against the same teacher."""

    slug = "hexapawn-rewards"
    edition = 3
    name = "Carrot or stick?"
    question = "Does a machine learn better from punishment, from rewards too, or from the last move only?"
    story = """
    Three machines learn hexapawn. The first is only punished: it loses the bead of the move that lost. The second is
    punished in the same way. It also gains a bead for each of its moves when it wins. The third keeps only the move
    that won, and removes the move that lost.

    On three by three squares the second player can always win at hexapawn. So we can see exactly when each
    machine has learnt everything.
    """
    science = """
    The presets are gardner-her, gardner-her-reward and hexapawn-rl, as second player on 3 × 3. The opponent plays
    uniformly random moves. Machine number i of every scheme takes its random words from stream i of the seed.

    Strength is exact: a sum over all positions. The first figure is the chance to win against random play. The
    second is that chance against the best reply of an opponent that knows the beads. A machine is perfect when the
    second chance is 1. That depends only
    on which beads are left. So it is checked whenever a slot has emptied or filled.

    Winning more often against random play is not the same as perfect play. A machine may keep a move that won by a
    mistake of the opponent. It still wins against players that make the same mistake. We know of no published
    figures for this comparison.
    """
    game = "hexapawn"
    presets: tuple[str, ...] = SCHEMES
    parameters: tuple[Parameter, ...] = (
        Parameter("machines", "How many machines of each kind", default=100, low=10, high=300),
        Parameter("games", "Games each of them plays", default=1000, low=50, high=2000),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return len(SCHEMES) * settings["machines"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Sequence[object]]:
        scheme, first = divmod(first, settings["machines"])
        return _learn(SCHEMES[scheme], _marks(settings), batch_sources(seed, first, settings["machines"]))

    def result(self, settings: Mapping[str, int], found: Sequence[Sequence[object]]) -> Result:
        n = settings["machines"]
        learners = [Learners.of(found[index * n : (index + 1) * n]) for index in range(len(SCHEMES))]
        return Result(
            figures=_figures(learners),
            charts=_charts(learners, _marks(settings)),
            tables=(_table(learners, settings["games"]),),
            findings=_findings(learners, settings["games"]),
        )


def _marks(settings: Mapping[str, int]) -> list[int]:
    """Return the numbers of games after which machines are measured."""
    return sorted({math.ceil(settings["games"] * (point / N_CHART_POINTS) ** 2) for point in range(N_CHART_POINTS + 1)})


def _learn(scheme: str, marks: list[int], rngs: Sequence[RandomSource]) -> Sequence[Sequence[object]]:
    """Train a new machine for each source up to the last mark; return a row for each, with the fields of ``Learners``.

    ``None`` in a row stands for an event that never happened.
    """
    learners = population_fresh(game_get(HexapawnRewards.game), Side.SECOND, scheme, rngs)
    measurements = learners.train(OPPONENTS["random"], range(marks[-1] + 1), [OPPONENTS["random"]], worst=True)
    rows, perfect = [], perfect_at_marks(measurements.strength)
    for row, is_perfect in enumerate(perfect):
        first = int(is_perfect.argmax()) if is_perfect.any() else None
        wins, worst = measurements.strength[row, marks, :, 0].T.tolist()
        # A perfect machine stays perfect, but the calculated strength may be less than 1 by a rounding error.
        worst = [1.0 if first is not None and first <= mark else win for mark, win in zip(marks, worst, strict=True)]
        rows.append([first, None if first is None else int(measurements.tallies[row, first, 2]), wins, worst])
    return rows


def _name(slug: str) -> str:
    return PRESETS[slug].name


def _figures(by_scheme: list[Learners]) -> tuple[Figure, ...]:
    figures = []
    for slug, learners in zip(SCHEMES, by_scheme, strict=True):
        label = f"{_name(slug)}: games until perfect (median)"
        figures.append(Figure(label, Unit.GAMES, *median_interval(learners.perfect_after)))
    for slug, learners in zip(SCHEMES, by_scheme, strict=True):
        n = len(learners.perfect_after)
        done = sum(math.isfinite(games) for games in learners.perfect_after)
        figures.append(Figure(f"{_name(slug)}: perfect at the end", Unit.SHARE, done / n, *wilson(done, n)))
    return tuple(figures)


def _findings(by_scheme: list[Learners], n_games: int) -> tuple[str, ...]:
    """Return sentences about the games until machines of each scheme are perfect, and their strength at the end."""
    sentences, needed = list[str](), dict[str, tuple[float, float]]()
    for slug, learners in zip(SCHEMES, by_scheme, strict=True):
        middle, low, high = median_interval(learners.perfect_after)
        needed[_name(slug)] = finite(low), finite(high)
        done = sum(math.isfinite(games) for games in learners.perfect_after) / len(learners.perfect_after)
        when = (
            f"a machine is perfect after a median of {number_text(middle)} games, {interval_text(low, high)}"
            if middle
            else ""
        )
        sentences.append(f"{_name(slug)}: {when or 'fewer than half of the machines become perfect'}.")
        sentences.append(f"After {n_games:,} games {hundred_text(done)} of 100 of them are perfect.")
    first = min(needed, key=lambda name: needed[name][1])
    if all(needed[first][1] < low for name, (low, _) in needed.items() if name != first):
        sentences.append(f"{first} is clearly the quickest: its interval lies below the others.")
    least = min(float(np.mean([wins[-1] for wins in learners.wins])) for learners in by_scheme)
    sentences.append(f"The least that a kind then wins against random play is {hundred_text(least)} of 100 games.")
    return tuple(sentences)


def _charts(by_scheme: list[Learners], marks: list[int]) -> tuple[Chart, ...]:
    games, n = "games played", len(by_scheme[0].wins)
    perfect = []
    for slug, learners in zip(SCHEMES, by_scheme, strict=True):
        shares = np.searchsorted(np.sort(learners.perfect_after), marks, side="right") / n
        perfect.append(Line(_name(slug), shares.tolist(), *wilson_bands(shares, n)))
    spread = "The mean of all machines; the lowest and the highest tenth lie outside the band."
    return (
        Chart(
            "perfect",
            "How many machines are perfect",
            games,
            "of 100 machines",
            marks,
            perfect,
            "The bands are 95 % intervals of the share (Wilson).",
        ),
        Chart(
            "random",
            "Wins against random play, exact",
            games,
            "of 100 games",
            marks,
            [_mean_line(slug, learners.wins) for slug, learners in zip(SCHEMES, by_scheme, strict=True)],
            spread,
        ),
        Chart(
            "worst",
            "Wins against somebody who knows the beads, exact",
            games,
            "of 100 games",
            marks,
            [_mean_line(slug, learners.worst) for slug, learners in zip(SCHEMES, by_scheme, strict=True)],
            spread,
        ),
    )


def _mean_line(slug: str, rows: list[list[float]]) -> Line:
    values = np.array(rows)
    low, high = np.quantile(values, (0.1, 0.9), axis=0)
    return Line(_name(slug), values.mean(axis=0).tolist(), low.tolist(), high.tolist())


def _table(by_scheme: list[Learners], n_games: int) -> Table:
    rows = []
    for slug, learners in zip(SCHEMES, by_scheme, strict=True):
        n = len(learners.wins)
        done = sum(math.isfinite(games) for games in learners.perfect_after)
        losses = median_interval(learners.losses)[0]
        rows.append(
            (
                _name(slug),
                percent_text(done / n),
                "–" if losses is None else f"{losses:g}",
                percent_text(float(np.mean([wins[-1] for wins in learners.wins]))),
                percent_text(float(np.mean([worst[-1] for worst in learners.worst]))),
            )
        )
    heads = (
        "",
        "perfect",
        "losses until then (median)",
        "wins against random",
        "wins against the opponent that beats it most often",
    )
    return Table(f"After {n_games:,} games", heads, rows)
