"""Levels of Romgon and their ladders. A level evaluates boards by a fixed evaluation or by a learnt value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from beadbox.engines.engine import Candidate
from beadbox.engines.ladder import LadderMeasurement, ladders_read
from beadbox.engines.level import LadderEntry, Level
from beadbox.engines.position_values import SearchResult
from beadbox.engines.romgon import answers
from beadbox.engines.romgon.answers import N_CANDIDATES, Answer
from beadbox.engines.romgon.shipped import shipped_value, shipped_value_name
from beadbox.engines.romgon.valuer import RomgonValuer
from beadbox.rules.chance import Random
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.moves import Move, Options
from beadbox.rules.romgon.pieces import Board
from beadbox.rules.romgon.rules import Position, Romgon

VALUER = RomgonValuer()
LADDER_FILE = Path(__file__).parent / "ladder.json"
SCORE_DECIMALS = 4
"""Decimal places of a displayed score."""

LEVELS: Mapping[str, Level] = {
    **answers.LEVELS,
    **{
        level.slug: level
        for level in (
            Level(
                "skilled",
                "Skilled",
                "Three moves in ten are random; otherwise it plays the move it rates highest.",
                1,
                random_tenths=3,
                uses_learnt_value=True,
                suitable_for="for regular players",
            ),
            Level(
                "veteran",
                "Veteran",
                "Plays the move it rates highest.",
                1,
                uses_learnt_value=True,
                suitable_for="for strong players",
            ),
            Level(
                "champion",
                "Champion",
                "Looks two moves ahead and rates boards by its learnt values.",
                2,
                uses_learnt_value=True,
                suitable_for="for very strong players",
            ),
            Level(
                "grandmaster",
                "Grandmaster",
                "Looks three moves ahead and rates boards by its learnt values.",
                3,
                uses_learnt_value=True,
                suitable_for="for the strongest players",
            ),
            Level(
                "legend",
                "Legend",
                "Looks four moves ahead and rates boards by its learnt values.",
                4,
                uses_learnt_value=True,
                suitable_for="for players who have beaten all the rest",
            ),
        )
    },
}
"""All levels by slug. Levels with a learnt value have no time limit, so their games can be reproduced."""

LADDER_GAMES: Mapping[str, str] = {"plain": "romgon", "flips": "romgon-flip"}
BEGINNER_LEVELS = ("novice", "starter")
_LADDERS = {
    "plain": ("easy", "novice", "medium", "skilled", "veteran", "champion", "grandmaster", "legend"),
    "flips": ("easy", "starter", "medium", "skilled", "veteran", "legend"),
}
"""Levels on each ladder, weakest first. Each scores at least 0.65 against the level before it (docs/ladder.md)."""
_LADDERS_WITHOUT_LEARNT_VALUE = {
    "plain": ("easy", "novice", "medium", "expert", "master"),
    "flips": ("easy", "starter", "medium", "expert", "master"),
}
"""Levels on the ladders of games for which no learnt value exists. These ladders are not measured."""


@cache
def ladder_measurements() -> dict[str, LadderMeasurement]:
    """Return the measurements of the ladders by name."""
    return ladders_read(LADDER_FILE)


def learnt_fingerprint(game: Romgon) -> str:
    """Return a fingerprint of the game's learnt value: 16 hexadecimal digits."""
    value = shipped_value(shipped_value_name(game.options))
    return sha256(value.weights.astype("<f8").tobytes() + repr(value.restlessness).encode()).hexdigest()[:16]


def supports_level(game: Romgon, level: Level) -> bool:
    """Return whether the game can be played at a level. Levels with a learnt value do not suit all options."""
    return not level.uses_learnt_value or not VALUER.refusal(game)


def ladder(game: Romgon) -> list[LadderEntry]:
    """Return the ladder of a game, weakest level first, with ratings if they were measured in that very game."""
    mode = shipped_value_name(game.options)
    slugs = _LADDERS_WITHOUT_LEARNT_VALUE[mode] if VALUER.refusal(game) else _LADDERS[mode]
    found = ladder_measurements().get(mode)  # None before the first measurement
    ratings = found.ratings if found is not None and found.game == game.slug else {}
    return [LadderEntry(LEVELS[slug], ratings.get(slug)) for slug in slugs]


def answer(
    board: Board, side: Side, options: Options, *, level: Level, rng: Random, time_limit_s: float | None = None
) -> Answer:
    """Return a level's action and its five best candidates on a board without a history.

    For a level without a learnt value, the result is that of ``answers.answer``.
    """
    if not level.uses_learnt_value:
        return answers.answer(board, side, options, level=level, rng=rng, time_limit_s=time_limit_s)
    game, position = Romgon(options), Position(board, side)
    search_result = _search(game, position, level, whole=True, time_limit_s=time_limit_s)
    ranked = sorted(range(len(search_result.moves)), key=lambda index: -search_result.deep[index])
    candidates = [
        Candidate(search_result.moves[index], round(search_result.deep[index], SCORE_DECIMALS)) for index in ranked
    ]
    if not ranked:
        return Answer(None, (), search_result.depth)
    index = _choose_index(search_result, level, rng)
    chosen = Candidate(search_result.moves[index], round(search_result.deep[index], SCORE_DECIMALS))
    return Answer(chosen, tuple(candidates[:N_CANDIDATES]), search_result.depth)


def choose(game: Romgon, position: Position, *, level: Level, rng: Random) -> Move:
    """Return a level's move in an unfinished game."""
    if not level.uses_learnt_value:
        searched = answers.answer_in_game(game, position, level=level, rng=rng)
        assert searched.chosen is not None, "the game is over, so there is no move"
        return searched.chosen.move
    search_result = _search(game, position, level)
    return search_result.moves[_choose_index(search_result, level, rng)]


def _choose_index(search_result: SearchResult[Move], level: Level, rng: Random) -> int:
    """Return the index of the move to play: the best one, or a random one with the level's probability."""
    if level.draws_random_move(rng):
        return rng.below(len(search_result.moves))
    return search_result.best


def _search(
    game: Romgon, position: Position, level: Level, *, whole: bool = False, time_limit_s: float | None = None
) -> SearchResult[Move]:
    player = shipped_value(shipped_value_name(game.options))._replace(depth=level.depth)
    return VALUER.search(game, position, player, whole=whole, time_limit_s=time_limit_s)
