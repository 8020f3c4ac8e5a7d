"""Experiment: HexapawnRL's first player, which in the end resigns every game before its first move.

Source: the program HexapawnRL. The first player loses 3 × 3 hexapawn against best play, so in time the program removes
all of its opening moves. Under the documented rule, the opening box is refilled, so that the machine plays on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from beadbox.experiments.experiment import Chart, Experiment, Figure, Line, Parameter, Published, Result, Table, Unit
from beadbox.experiments.findings import hundred_text, interval_text, number_text
from beadbox.experiments.intervals import finite, mean_interval, median_interval, quantile, wilson_bands
from beadbox.experiments.random_streams import batch_sources
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.population import population_fresh
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.strength.sampled import wilson

SHIPPED, DOCUMENTED = "hexapawn-rl-as-shipped", "hexapawn-rl"
RULE_NAMES = {SHIPPED: "as shipped", DOCUMENTED: "as documented"}
N_CHART_POINTS = 50

PUBLISHED_SHARE = Published("every one", "the program HexapawnRL, its source", low=1.0, high=1.0)


@dataclass
class Pairs:
    """The results of all pairs of machines under one rule.

    Attributes:
        empty_after: for each pair the games until the first player's opening box was empty; infinite if it never was.
        empties: for each pair the number of times that the opening box became empty.
        n_moved: the number of games in ``n_after`` in which the first player made a move.
        n_after: the number of games after the opening box was first empty.
        wins: for each pair the first player's wins in each block of games.
    """

    empty_after: list[float]
    empties: list[int]
    n_moved: int
    n_after: int
    wins: list[list[int]]

    @classmethod
    def of(cls, rows: Sequence[Sequence[object]]) -> Pairs:
        """Return the results for rows of :func:`_play`, one for each pair of machines."""
        empty_after, empties, moved, after, wins = (list(column) for column in zip(*rows, strict=True))
        return cls([finite(games) for games in empty_after], empties, sum(moved), sum(after), wins)


class HexapawnResigns(Experiment[Sequence[object]]):
    """Two machines of HexapawnRL learn by playing each other until the first player resigns every game."""

    slug = "hexapawn-resigns"
    edition = 4
    name = "The machine that gives up for ever"
    question = "After how many games does HexapawnRL’s first player resign every game at once?"
    story = """
    Two machines of the program HexapawnRL play hexapawn against each other. Both learn. The first player cannot win
    against good play. So its first moves turn out to be bad, one after the other. Each bad move is removed from
    the box.

    When the first box is empty, the machine gives up at once. It never plays again, so it never learns again. It
    resigns every game from then on.

    The other pair plays as the program is documented. There an empty first box is filled again, and the machine goes
    on playing. Beads of earlier moves change there too.
    """
    science = """
    The presets are hexapawn-rl-as-shipped (empty_opening: stop) and hexapawn-rl (empty_opening: refill). A fresh
    machine plays on each side of 3 × 3, and both learn after every game. Pair number i takes its random words from
    stream i of the seed.

    The opening box is checked after every game. A game counts as resigned at the start if the first player lost it
    and drew no bead. The two presets differ in one more point. As
    shipped, beads of earlier moves never change.
    """
    game = "hexapawn"
    presets: tuple[str, ...] = (SHIPPED, DOCUMENTED)
    parameters: tuple[Parameter, ...] = (
        Parameter("pairs", "How many pairs of machines", default=200, low=10, high=500),
        Parameter("games", "Games of each pair", default=200, low=50, high=500),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return len(RULE_NAMES) * settings["pairs"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Sequence[object]]:
        rule, first = divmod(first, settings["pairs"])
        rngs = batch_sources(seed, first, settings["pairs"])
        return _play(list(RULE_NAMES)[rule], settings["games"], _block_size(settings), rngs)

    def result(self, settings: Mapping[str, int], found: Sequence[Sequence[object]]) -> Result:
        n, width = settings["pairs"], _block_size(settings)
        pairs = {slug: Pairs.of(found[index * n : (index + 1) * n]) for index, slug in enumerate(RULE_NAMES)}
        charts = _charts(pairs, settings["games"], width)
        return Result(_figures(pairs), charts, (_table(pairs),), _findings(pairs, settings["games"]))


def _block_size(settings: Mapping[str, int]) -> int:
    """Return the number of games in a block, for which the chart has one point."""
    return max(1, settings["games"] // N_CHART_POINTS)


def _play(slug: str, n_games: int, width: int, rngs: Sequence[RandomSource]) -> Sequence[Sequence[object]]:
    """Let a pair of new machines play for each source; return a row for each pair, with the fields of :class:`Pairs`.

    ``None`` in a row stands for an event that never happened.
    """
    first, second = (population_fresh(game_get(HexapawnResigns.game), side, slug, rngs) for side in Side)
    measurements = first.train_against(second, range(n_games + 1))
    won = np.diff(measurements.tallies[:, :, 0], axis=1)
    moved = np.diff(measurements.openings[..., 1].sum(axis=2), axis=1) > 0
    emptied = moved & ~measurements.openings[:, 1:, :, 0].any(axis=2)
    wins = np.add.reduceat(won, np.arange(0, n_games, width), axis=1)
    rows = []
    for row, empty in enumerate(emptied):
        end = int(empty.argmax()) + 1 if empty.any() else n_games
        after = moved[row, end:]
        first_empty = end if empty.any() else None
        rows.append([first_empty, int(empty.sum()), int(after.sum()), len(after), wins[row].tolist()])
    return rows


def _figures(results: dict[str, Pairs]) -> tuple[Figure, ...]:
    shipped, documented = results[SHIPPED], results[DOCUMENTED]
    n = len(shipped.empty_after)
    empty = sum(math.isfinite(games) for games in shipped.empty_after)
    resigned = 1 - shipped.n_moved / shipped.n_after if shipped.n_after else None
    return (
        Figure(
            "As shipped: games until the first box is empty (median)",
            Unit.GAMES,
            *median_interval(shipped.empty_after),
        ),
        Figure("As shipped: pairs whose first player has given up for good", Unit.SHARE, empty / n, *wilson(empty, n)),
        Figure(
            "As shipped: games given up before they began, once the box is empty",
            Unit.SHARE,
            resigned,
            published=PUBLISHED_SHARE,
        ),
        Figure(
            "As documented: how often the first box ran empty",
            Unit.TIMES,
            *mean_interval(documented.empties),
        ),
    )


def _findings(results: dict[str, Pairs], n_games: int) -> tuple[str, ...]:
    """Return sentences about the games until the first box is empty, and the first player's results, for both rules."""
    sentences = []
    for slug, pairs in results.items():
        middle, low, high = median_interval(pairs.empty_after)
        n, empty = len(pairs.empty_after), sum(math.isfinite(games) for games in pairs.empty_after)
        name = RULE_NAMES[slug].capitalize()
        sentences.append(f"{name}, the first box runs empty in {empty:,} of {n:,} pairs.")
        if middle is not None:
            sentences.append(
                f"{name}, the median of games until then is {number_text(middle)}, {interval_text(low, high)}."
            )
        if pairs.n_after:
            sentences.append(
                f"{name}, the first player moves in {pairs.n_moved:,} of {pairs.n_after:,} games after that."
            )
    documented = results[DOCUMENTED]
    times, won = np.mean(documented.empties), np.sum(documented.wins) / (n_games * len(documented.wins))
    sentences.append(
        f"As documented, the box runs empty {number_text(float(times))} times in {n_games:,} games on average."
    )
    sentences.append(f"As documented, the first player wins {hundred_text(float(won))} of 100 games.")
    return tuple(sentences)


def _charts(results: dict[str, Pairs], n_games: int, width: int) -> tuple[Chart, ...]:
    n = len(results[SHIPPED].empty_after)
    xs = list(range(0, n_games + 1, width))
    empty, won = [], []
    for slug, pairs in results.items():
        shares = np.searchsorted(np.sort(pairs.empty_after), xs, side="right") / n
        empty.append(Line(RULE_NAMES[slug], shares.tolist(), *wilson_bands(shares, n)))
        blocks = np.array(pairs.wins)[:, : n_games // width].mean(axis=0) / width
        won.append(Line(RULE_NAMES[slug], blocks.tolist(), *wilson_bands(blocks, n)))
    return (
        Chart(
            "empty",
            "Pairs whose first box has run empty",
            "games",
            "of 100 pairs",
            xs,
            empty,
            "As shipped the first player plays no more from there on. The bands are 95 % intervals (Wilson).",
        ),
        Chart(
            "won",
            "Games that the first player wins",
            "games",
            "of 100 games",
            xs[1:],
            won,
            f"Each point is the mean of {width} games of all pairs; the bands are 95 % intervals (Wilson).",
        ),
    )


def _table(results: dict[str, Pairs]) -> Table:
    rows = []
    for slug, pairs in results.items():
        quantiles = (quantile(pairs.empty_after, share) for share in (0.1, 0.5, 0.9))
        moved = f"{pairs.n_moved:,} of {pairs.n_after:,}" if pairs.n_after else "–"
        cells = (f"{games:g}" if math.isfinite(games) else "never" for games in quantiles)
        rows.append((RULE_NAMES[slug], *cells, f"{np.mean(pairs.empties):.1f}", moved))
    heads = ("", "10% empty after", "50% after", "90% after", "times empty on average", "later games it moved in")
    return Table("When the first box runs empty", heads, rows)
