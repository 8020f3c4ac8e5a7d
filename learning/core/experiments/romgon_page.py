"""What Romgon's own page promised of its learner and its levels, measured for three learners.

The learner as the page's rules have it, the same with two checks before it plays, and the learner of a value of
positions. Sources of the learners: their presets; of the ratings: ``tournaments.elo``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.rules.base import Game
from games.rules.registry import game_get
from learning.core.engines.base import Learnt
from learning.core.engines.registry import engine_of
from learning.core.experiments.base import Chart, Experiment, Figure, Line, Parameter, Published, Result, Table, Unit
from learning.core.experiments.intervals import mean_interval, wilson_bands
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.presets import Q_PRESETS, VALUE_PRESETS
from learning.core.machines.value_learner import weights_none
from learning.core.opponents.registry import OPPONENTS
from learning.core.tournaments.elo import Score, elos
from learning.core.training.episodes import Tally
from learning.core.training.measuring import OPENING_PLIES, Points, measured, openings
from learning.core.training.q_episodes import QMemory
from learning.core.training.value_memory import ValueMemory, value_meeting

Q_LEARNERS = {"romgon-q": "as written", "romgon-q-careful": "with two checks"}
VALUE_LEARNER = "td-search"
LEARNERS = {**Q_LEARNERS, VALUE_LEARNER: "value of positions"}
LEVELS = {"easy": 800, "medium": 1200, "hard": 1600}
"""The levels and their ratings, as the page gives them."""
MARKS = (0, 25, 50, 100)
"""After so many games each machine is measured against ``easy``; after the last against all levels."""

PAGE = "the description of Romgon"
MORE = Published("10 to 15 % more wins after 100 games", PAGE, low=0.10, high=0.15)


class RomgonPage(Experiment):
    """The promises of Romgon's page beside what comes of them."""

    slug = "romgon-page"
    name = "What Romgon’s page promised"
    question = "Does the learner win 10 to 15 % more after 100 games, and how far apart are the levels?"
    story = """
    Romgon came with a page that promised two things: a learner that wins 10 to 15 of 100 games more once it
    has played a hundred, and three levels to play against, rated about 800, 1200 and 1600.

    Here three learners play a hundred games each, again and again from nothing. The first is the one that
    the page describes. The second is the same, but it takes a win that it sees, and does not lose by
    repeating itself. The third learns what makes a position good, and looks ahead while it learns.

    Before, during and after that they play against the weakest level, and in the end against all three. The
    levels play each other, too.
    """
    finding = """
    Without flips the learner of the page wins hardly more after a hundred games than before. The two checks make
    it a much better player at once, but from its games it learns no more: boards hardly ever come again. The
    third learner wins nearly every game by then. Of the levels medium is about as far above easy as the page
    says, and hard is hardly above medium.
    """
    science = """
    Presets romgon-q, romgon-q-careful and td-search. Machine number i of each takes its random words from a
    stream of the seed of its own. The two Q-learners are taught by the level easy, trying things out as their rule
    says; the learner of a value plays itself, as it does. In what is measured nobody learns and nobody tries
    things out, sides are taken in turn, and every game begins with four random moves; the third learner looks
    one move ahead.

    What a learner wins more is the mean over its machines of the share of games won after 100 games less the
    share before, with the interval of a mean. Points count a draw as half; their intervals are Wilson’s.

    Ratings are those of Bradley and Terry on Elo’s scale, fitted to all games at once, easy put at 800; 400 apart
    means ten points of eleven. Their intervals are of the likelihood, relative to the average of all six. The
    page rates levels only: what is shown of the learners has nothing beside it.
    """
    game = "romgon"
    presets = tuple(LEARNERS)
    parameters = (
        Parameter("machines", "How many machines of each learner", default=10, low=2, high=40),
        Parameter("games", "Games of each against a level", default=100, low=20, high=200),
        Parameter("flips", "With flips: 1, without: 0", default=0, low=0, high=1),
    )

    def n_parts(self, settings: Mapping[str, int]) -> int:
        return (len(LEARNERS) + 1) * settings["machines"]

    def parts(self, settings: Mapping[str, int], seed: int, first: int) -> Sequence[Any]:
        learner, machine = divmod(first, settings["machines"])
        rng = RandomSource(seed, machine * (len(LEARNERS) + 1) + learner)
        game = game_get("romgon-flip" if settings["flips"] else "romgon")
        n_games = settings["games"] // 2 * 2
        if learner == len(LEARNERS):
            return [_levels(game, n_games, rng)]
        slug = list(LEARNERS)[learner]
        return [(_of_value if slug == VALUE_LEARNER else _of_q)(game, slug, n_games, rng)]

    def result(self, settings: Mapping[str, int], found: Sequence[Any]) -> Result:
        n = settings["machines"]
        groups = [found[index * n : (index + 1) * n] for index in range(len(LEARNERS) + 1)]
        taught, levels = dict(zip(LEARNERS, groups, strict=False)), groups[-1]
        return Result(
            figures=(*_gains(taught), *_ratings(taught, levels)),
            charts=(_chart(taught),),
            tables=(_table(taught, levels),),
        )


def _counts(tally: Tally) -> list[int]:
    return [tally.wins, tally.draws, tally.losses]


def _of_q(game: Game[Any, Any], slug: str, n_games: int, rng: RandomSource) -> dict[str, list[int]]:
    """A Q-learner from nothing to a hundred games: wins, draws and losses against easy on the way, and each level."""
    rule, done = Q_PRESETS[slug].rule, 0
    memory = QMemory.load(game, rule, rule.epsilon, lambda keys: {})
    found = {}
    for mark in MARKS:
        memory.train(OPPONENTS["easy"], mark - done, rng)
        done = mark
        against = LEVELS if mark == MARKS[-1] else ("easy",)
        for level in against:
            tally = memory.contest(OPPONENTS[level], n_games, rng, n_random=OPENING_PLIES)
            found[f"{level} {mark}"] = _counts(tally)
    return found


def _of_value(game: Game[Any, Any], slug: str, n_games: int, rng: RandomSource) -> dict[str, list[int]]:
    """The same of a learner of a value, that plays itself."""
    rule, engine, done = VALUE_PRESETS[slug].rule, engine_of(game), 0
    assert engine is not None, "Romgon has one"
    memory = ValueMemory.load(game, rule, weights_none(game, rule))
    found = {}
    for mark in MARKS:
        if mark > done:
            memory.train_against(memory, mark - done, rng, opponent_learns=True)
        done = mark
        for level in LEVELS if mark == MARKS[-1] else ("easy",):
            play = value_meeting(game, Learnt(memory.machine.played, 1), engine.levels[level])
            own = rng.below(1 << 31)
            found[f"{level} {mark}"] = _counts(measured(play, openings(game, n_games // 2, seed=own), seed=own))
    return found


def _levels(game: Game[Any, Any], n_games: int, rng: RandomSource) -> dict[str, list[int]]:
    """What the levels make of each other, the better rated one first."""
    engine, found = engine_of(game), {}
    assert engine is not None, "Romgon has one"
    for weak, strong in combinations(LEVELS, 2):
        play, own = value_meeting(game, engine.levels[strong], engine.levels[weak]), rng.below(1 << 31)
        tally = measured(play, openings(game, n_games // 2, seed=own), seed=own)
        found[f"{strong} {weak}"] = _counts(tally)
    return found


def _summed(parts: Sequence[Any], key: str) -> Points:
    """What all machines together have made of a pairing."""
    return Points(*(int(number) for number in np.sum([part[key] for part in parts], axis=0)))


def _won(parts: Sequence[Any], key: str) -> NDArray[np.float64]:
    """The share of games that each machine won."""
    return np.array([part[key][0] / sum(part[key]) for part in parts])


def _gains(taught: Mapping[str, Sequence[Any]]) -> list[Figure]:
    found = []
    for slug, parts in taught.items():
        more = _won(parts, f"easy {MARKS[-1]}") - _won(parts, f"easy {MARKS[0]}")
        label = f"{LEARNERS[slug].capitalize()}: games won more against easy after 100 games"
        found.append(Figure(label, Unit.SHARE, *mean_interval(more.tolist()), MORE))
    return found


def _ratings(taught: Mapping[str, Sequence[Any]], levels: Sequence[Any]) -> list[Figure]:
    scores = []
    for weak, strong in combinations(LEVELS, 2):
        points = _summed(levels, f"{strong} {weak}")
        scores.append(Score(strong, weak, points.share * points.games, points.games))
    for slug, parts in taught.items():
        for level in LEVELS:
            points = _summed(parts, f"{level} {MARKS[-1]}")
            scores.append(Score(slug, level, points.share * points.games, points.games))
    first = next(iter(LEVELS))
    rated = elos([*LEVELS, *taught], scores)
    found = []
    for name, (elo, low, high) in rated.items():
        claim = LEVELS.get(name)
        edges = (claim - 50.0, claim + 50.0) if claim and name != first else (None, None)  # the first is put there
        published = Published(f"about {claim:,}", PAGE, *edges) if claim else None
        label = f"Rating of the level {name}" if claim else f"Rating after 100 games, {LEARNERS[name]}"
        least, most = (None, None) if name == first else (float(LEVELS[first] + low), float(LEVELS[first] + high))
        found.append(Figure(label, Unit.ELO, float(LEVELS[first] + elo), least, most, published))
    return found


def _chart(taught: Mapping[str, Sequence[Any]]) -> Chart:
    lines = []
    for slug, parts in taught.items():
        all_games = [_summed(parts, f"easy {mark}") for mark in MARKS]
        shares = np.array([points.wins / points.games for points in all_games])
        lines.append(Line(LEARNERS[slug], shares.tolist(), *wilson_bands(shares, all_games[0].games)))
    return Chart(
        "won",
        "Games won against easy",
        "games learnt from",
        "of 100 games",
        MARKS,
        lines,
        "All machines together, none of them trying things out; the bands are 95 % intervals (Wilson).",
    )


def _table(taught: Mapping[str, Sequence[Any]], levels: Sequence[Any]) -> Table:
    """Points against each level, and what the ratings of the page say that the levels take from each other."""
    rows = [
        (f"{LEARNERS[slug]}, after 100 games", *(_told(_summed(parts, f"{level} {MARKS[-1]}")) for level in LEVELS))
        for slug, parts in taught.items()
    ]
    for strong, rating in LEVELS.items():
        weaker = {weak: other for weak, other in LEVELS.items() if other < rating}
        if weaker:
            shares = [_told(_summed(levels, f"{strong} {weak}")) for weak in weaker]
            expected = [f"{1 / (1 + 10 ** ((other - rating) / 400)):.2f}" for other in weaker.values()]
            blank = ["–"] * (len(LEVELS) - len(weaker))
            rows += [
                (f"the level {strong}", *shares, *blank),
                ("the same, by its rating on the page", *expected, *blank),
            ]
    return Table("Points, a draw half a point", ("", *(f"against {level}" for level in LEVELS)), rows)


def _told(points: Points) -> str:
    low, high = points.interval
    return f"{points.share:.2f} ({low:.2f} to {high:.2f})"
