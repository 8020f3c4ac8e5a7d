"""Experiment: the claims of Romgon's own page about its learner and its levels, compared with measurements.

Three learners are measured: that of the page, the same learner with two checks before each move, and a learner of
position values. Sources of the learners are in their presets, and the source of the ratings is in ``strength.elo``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.position_values import LearntPlayer
from beadbox.engines.registry import engine_of
from beadbox.experiments.experiment import Chart, Experiment, Figure, Line, Parameter, Published, Result, Table, Unit
from beadbox.experiments.findings import agreement_sentences, hundred_text, interval_text, number_text
from beadbox.experiments.intervals import jackknife, mean_interval, share_interval
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.value_learner.learner import zero_weights
from beadbox.learners.value_learner.memory import ValueMemory, compiled_meeting
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Tally
from beadbox.rules.registry import game_get
from beadbox.strength.elo import Score, likeliest
from beadbox.strength.snapshots import OPENING_PLIES, Points, measure_openings, openings

Q_LEARNERS = {"romgon-q": "as written", "romgon-q-careful": "with two checks"}
VALUE_LEARNER = "td-search"
LEARNERS = {**Q_LEARNERS, VALUE_LEARNER: "value of positions"}
LEVELS = {"easy": 800, "medium": 1200, "hard": 1600}
"""The ratings of the levels according to the page, lowest first."""
MARKS = (0, 25, 50, 100)
"""Games after which each machine is measured against ``easy``, and after the last mark against all levels."""

RATING_TOLERANCE = 50.0
"""Maximum difference at which a rating counts as equal to one on the page, which says "about"."""
PAGE_SOURCE = "the description of Romgon"
PUBLISHED_GAIN = Published("10 to 15 % more wins after 100 games", PAGE_SOURCE, low=0.10, high=0.15)


Tallies = Mapping[str, Sequence[int]]
"""Wins, draws and losses by pairing, such as ``easy 25`` (a machine after 25 games against easy) or ``hard easy``."""


class RomgonPage(Experiment[Tallies]):
    """The claims of Romgon's page are compared with measurements."""

    slug = "romgon-page"
    edition = 3
    name = "The promise of Romgon’s page"
    question = "Does the learner win 10 to 15 % more after 100 games, and how far apart are the levels?"
    story = """
    Romgon came with a page that promised two things. Its learner should win 10 to 15 of 100 games more after it
    has played 100 games. Its three levels should be rated about 800, 1200 and 1600.

    Here three learners play 100 games each, many times from the start. The first is the learner of the page. The
    second is the same, but it takes a win that it sees. It also avoids a loss by repetition. The third learns what
    makes a position good, and it looks ahead while it learns.

    Before, during and after these games they play against the weakest level. At the end they play against all
    three levels. The levels also play each other.
    """
    science = """
    The presets are romgon-q, romgon-q-careful and td-search. Each machine takes its random words from its own stream
    of the seed. The level easy teaches the two Q-learners, which explore as their rule says. The learner of a value
    plays against itself, as it usually does. During measurements nobody learns or explores. Sides alternate, and
    every game begins with four random moves. The third learner looks one move ahead.

    The gain is the share of games won after 100 games minus the share before. A draw counts as half a point. Gains,
    shares and points are means over the machines. Their intervals are those of a mean, by the central limit theorem.
    For levels against each other, each machine’s number stands for as many games with openings of its own.

    Ratings follow Bradley and Terry on Elo’s scale. They are fitted to all games at once, with easy at 800. A
    difference of 400 means ten points of eleven. Their intervals are of the difference from easy. They come from the
    jackknife: the fit is made again without each machine’s games in turn. The page rates levels only. So the ratings
    of the learners have no published figure.
    """
    game = "romgon"
    presets: tuple[str, ...] = tuple(LEARNERS)
    parameters: tuple[Parameter, ...] = (
        Parameter("machines", "How many machines of each learner", default=10, low=2, high=40),
        Parameter("games", "Games of each against a level", default=100, low=20, high=200),
        Parameter("flips", "With flips: 1, without: 0", default=0, low=0, high=1),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return (len(LEARNERS) + 1) * settings["machines"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Tallies]:
        learner, machine = divmod(first, settings["machines"])
        rng = RandomSource(seed, machine * (len(LEARNERS) + 1) + learner)
        game = game_get("romgon-flip" if settings["flips"] else "romgon")
        n_games = settings["games"] // 2 * 2
        if learner == len(LEARNERS):
            return [_measure_levels(game, n_games, rng)]
        slug = list(LEARNERS)[learner]
        return [(_measure_value_learner if slug == VALUE_LEARNER else _measure_q_learner)(game, slug, n_games, rng)]

    def result(self, settings: Mapping[str, int], found: Sequence[Tallies]) -> Result:
        n = settings["machines"]
        groups = [found[index * n : (index + 1) * n] for index in range(len(LEARNERS) + 1)]
        learner_tallies, levels = dict(zip(LEARNERS, groups, strict=False)), groups[-1]
        gains, ratings = _gains(learner_tallies), _ratings(learner_tallies, levels)
        return Result(
            figures=(*gains, *ratings.values()),
            charts=(_chart(learner_tallies),),
            tables=(_table(learner_tallies, levels),),
            findings=_findings(learner_tallies, gains, ratings),
        )


def _counts(tally: Tally) -> list[int]:
    return [tally.wins, tally.draws, tally.losses]


def _measure_q_learner(game: AnyGame, slug: str, n_games: int, rng: RandomSource) -> dict[str, list[int]]:
    """Train a new Q-learner up to the last mark, and return its tallies against easy at each mark.

    At the last mark, the tallies are those against all levels.
    """
    rule, n_learnt = Q_PRESETS[slug].rule, 0
    memory = QMemory.load(game, rule, rule.epsilon, lambda keys: {})
    tallies = {}
    for mark in MARKS:
        memory.train(OPPONENTS["easy"], mark - n_learnt, rng)
        n_learnt = mark
        against = LEVELS if mark == MARKS[-1] else ("easy",)
        for level in against:
            tally = memory.contest(OPPONENTS[level], n_games, rng, n_random=OPENING_PLIES)
            tallies[f"{level} {mark}"] = _counts(tally)
    return tallies


def _measure_value_learner(game: AnyGame, slug: str, n_games: int, rng: RandomSource) -> dict[str, list[int]]:
    """Train a new learner of position values by self-play; return tallies as :func:`_measure_q_learner` does."""
    rule, engine, n_learnt = VALUE_PRESETS[slug].rule, engine_of(game), 0
    assert engine is not None, "Romgon has an engine"
    memory = ValueMemory.load(game, rule, zero_weights(game, rule))
    tallies = {}
    for mark in MARKS:
        if mark > n_learnt:
            memory.train_against(memory, mark - n_learnt, rng, opponent_learns=True)
        n_learnt = mark
        for level in LEVELS if mark == MARKS[-1] else ("easy",):
            play = compiled_meeting(game, LearntPlayer(memory.machine.played, 1), engine.levels[level])
            seed = rng.below(1 << 31)
            tallies[f"{level} {mark}"] = _counts(
                measure_openings(play, openings(game, n_games // 2, seed=seed), seed=seed)
            )
    return tallies


def _measure_levels(game: AnyGame, n_games: int, rng: RandomSource) -> dict[str, list[int]]:
    """Play the levels against each other; return the tallies of the level with the higher rating by pairing."""
    engine, tallies = engine_of(game), {}
    assert engine is not None, "Romgon has an engine"
    for weak, strong in combinations(LEVELS, 2):
        play, seed = compiled_meeting(game, engine.levels[strong], engine.levels[weak]), rng.below(1 << 31)
        tally = measure_openings(play, openings(game, n_games // 2, seed=seed), seed=seed)
        tallies[f"{strong} {weak}"] = _counts(tally)
    return tallies


def _sum_tallies(parts: Sequence[Tallies], key: str) -> Points:
    """Return the sum of a pairing's tallies over all machines."""
    return Points(*(int(number) for number in np.sum([part[key] for part in parts], axis=0)))


def _win_shares(parts: Sequence[Tallies], key: str) -> NDArray[np.float64]:
    """Return for each machine the share of games that it won in a pairing: ``(n_machines,)``."""
    return np.array([part[key][0] / sum(part[key]) for part in parts])


def _gains(learner_tallies: Mapping[str, Sequence[Tallies]]) -> list[Figure]:
    figures = []
    for slug, parts in learner_tallies.items():
        more = _win_shares(parts, f"easy {MARKS[-1]}") - _win_shares(parts, f"easy {MARKS[0]}")
        label = f"{LEARNERS[slug].capitalize()}: games won more against easy after 100 games"
        figures.append(Figure(label, Unit.SHARE, *mean_interval(more.tolist()), PUBLISHED_GAIN))
    return figures


def _findings(
    learner_tallies: Mapping[str, Sequence[Tallies]], gains: Sequence[Figure], ratings: Mapping[str, Figure]
) -> tuple[str, ...]:
    """Return sentences about each learner's gain, compared with the claim, and about the ratings of the levels."""
    sentences = []
    promise = " to ".join(hundred_text(edge or 0.0) for edge in (PUBLISHED_GAIN.low, PUBLISHED_GAIN.high))
    for (slug, parts), gain in zip(learner_tallies.items(), gains, strict=True):
        before, after = (
            hundred_text(float(_win_shares(parts, f"easy {mark}").mean())) for mark in (MARKS[0], MARKS[-1])
        )
        sentences.append(f"The learner “{LEARNERS[slug]}” wins {after} of 100 games after 100 games, {before} before.")
        assert None not in (gain.value, gain.low, gain.high), "a mean has an interval"
        more, low, high = (hundred_text(edge or 0.0) for edge in (gain.value, gain.low, gain.high))
        sentences.append(f"It gains {more} of 100 games (95 % interval {low} to {high}).")
        sentences.append(f"That is {_compare_with_promise(gain)} the {promise} that the page promises.")
    for level in list(LEVELS)[1:]:
        rating = ratings[level]
        assert rating.value is not None, "every level has a rating"
        text = f"{number_text(rating.value, 0)}, {interval_text(rating.low, rating.high, 0)}"
        sentences.append(f"With easy at {LEVELS['easy']}, the level {level} is rated {text}.")
        sentences += agreement_sentences(rating, "The page’s figure")
    return tuple(sentences)


def _compare_with_promise(gain: Figure) -> str:
    assert gain.low is not None, "a mean has an interval"
    if gain.agrees:
        return "as much as"
    return "more than" if gain.low > (PUBLISHED_GAIN.high or 0) else "less than"


def _ratings(learner_tallies: Mapping[str, Sequence[Tallies]], levels: Sequence[Tallies]) -> dict[str, Figure]:
    """Return the rating of each level and learner. The rating of ``easy`` is that of the page, without an interval."""
    names, first = [*LEVELS, *learner_tallies], next(iter(LEVELS))
    ratings = LEVELS[first] + likeliest(names, _scores(learner_tallies, levels))[0]
    machines = range(len(levels))
    half = jackknife(
        np.array([likeliest(names, _scores(learner_tallies, levels, left_out))[0] for left_out in machines])
    )
    figures = {}
    for name, elo, half_width in zip(names, ratings.tolist(), half.tolist(), strict=True):
        claim = LEVELS.get(name)
        # The rating of the first level is given, so it has no range.
        is_measured = claim is not None and name != first
        edges = (claim - RATING_TOLERANCE, claim + RATING_TOLERANCE) if claim and is_measured else (None, None)
        published = Published(f"about {claim:,}", PAGE_SOURCE, *edges) if claim else None
        label = f"Rating of the level {name}" if claim else f"Rating after 100 games, {LEARNERS[name]}"
        low, high = (None, None) if name == first else (elo - half_width, elo + half_width)
        figures[name] = Figure(label, Unit.ELO, elo, low, high, published)
    return figures


def _scores(
    learner_tallies: Mapping[str, Sequence[Tallies]],
    levels: Sequence[Tallies],
    left_out: int | None = None,
) -> Iterator[Score]:
    """Yield the scores of all pairings, without the games of the machines with the number ``left_out``."""

    def score(one: str, other: str, parts: Sequence[Tallies], key: str) -> Score:
        """Return the sum of a pairing over the machines that are not left out."""
        points = _sum_tallies([part for number, part in enumerate(parts) if number != left_out], key)
        return Score(one, other, points.share * points.games, points.games)

    for weak, strong in combinations(LEVELS, 2):
        yield score(strong, weak, levels, f"{strong} {weak}")
    for slug, parts in learner_tallies.items():
        for level in LEVELS:
            yield score(slug, level, parts, f"{level} {MARKS[-1]}")


def _chart(learner_tallies: Mapping[str, Sequence[Tallies]]) -> Chart:
    lines = []
    for slug, parts in learner_tallies.items():
        intervals = [share_interval(_win_shares(parts, f"easy {mark}").tolist()) for mark in MARKS]
        shares, low, high = np.array(intervals).T.tolist()
        lines.append(Line(LEARNERS[slug], shares, low, high))
    return Chart(
        "won",
        "Games won against easy",
        "games learnt from",
        "of 100 games",
        MARKS,
        lines,
        "The mean of all machines, none of them trying things out; the bands are 95 % intervals of the mean.",
    )


def _table(learner_tallies: Mapping[str, Sequence[Tallies]], levels: Sequence[Tallies]) -> Table:
    """Return a table of points against each level. For levels, it adds the points that the page's ratings predict."""
    rows = [
        (f"{LEARNERS[slug]}, after 100 games", *(_share_text(parts, f"{level} {MARKS[-1]}") for level in LEVELS))
        for slug, parts in learner_tallies.items()
    ]
    for strong, rating in LEVELS.items():
        weaker = {weak: other for weak, other in LEVELS.items() if other < rating}
        if weaker:
            shares = [_share_text(levels, f"{strong} {weak}") for weak in weaker]
            expected = [f"{1 / (1 + 10 ** ((other - rating) / 400)):.2f}" for other in weaker.values()]
            blank = ["–"] * (len(LEVELS) - len(weaker))
            rows += [
                (f"the level {strong}", *shares, *blank),
                ("the same, by its rating on the page", *expected, *blank),
            ]
    return Table("Points, a draw half a point", ("", *(f"against {level}" for level in LEVELS)), rows)


def _share_text(parts: Sequence[Tallies], key: str) -> str:
    """Return the mean points of a pairing over the machines, with their interval, as text."""
    share, low, high = share_interval([Points(*part[key]).share for part in parts])
    return f"{share:.2f} ({low:.2f} to {high:.2f})"
