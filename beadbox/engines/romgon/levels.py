"""Levels of Romgon and their ladders. A level evaluates boards by a fixed evaluation or by a learnt value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from beadbox.engines.engine import Candidate
from beadbox.engines.ladder import Measured, ladders_read
from beadbox.engines.level import LadderEntry, Level
from beadbox.engines.position_values import Look
from beadbox.engines.romgon import answers
from beadbox.engines.romgon.answers import N_CANDIDATES, Answer
from beadbox.engines.romgon.shipped import shipped, shipped_name
from beadbox.engines.romgon.valuer import RomgonValuer
from beadbox.rules.chance import Random
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.moves import Move, Options
from beadbox.rules.romgon.pieces import Board
from beadbox.rules.romgon.rules import Position, Romgon

VALUER = RomgonValuer()
FILE = Path(__file__).parent / "ladder.json"
DIGITS = 4
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
                learnt=True,
                whom="for regular players",
            ),
            Level(
                "veteran",
                "Veteran",
                "Plays the move it rates highest.",
                1,
                learnt=True,
                whom="for strong players",
            ),
            Level(
                "champion",
                "Champion",
                "Looks two moves ahead and rates boards by its learnt values.",
                2,
                learnt=True,
                whom="for very strong players",
            ),
            Level(
                "grandmaster",
                "Grandmaster",
                "Looks three moves ahead and rates boards by its learnt values.",
                3,
                learnt=True,
                whom="for the strongest players",
            ),
            Level(
                "legend",
                "Legend",
                "Looks four moves ahead and rates boards by its learnt values.",
                4,
                learnt=True,
                whom="for players who have beaten all the rest",
            ),
        )
    },
}
"""All levels by slug. Levels with a learnt value have no time limit, so their games can be reproduced."""

MODES: Mapping[str, str] = {"plain": "romgon", "flips": "romgon-flip"}
NEWCOMERS = ("novice", "starter")
_LADDERS = {
    "plain": ("easy", "novice", "medium", "skilled", "veteran", "champion", "grandmaster", "legend"),
    "flips": ("easy", "starter", "medium", "skilled", "veteran", "legend"),
}
"""Levels on each ladder, weakest first. Each scores at least 0.65 against the level before it (docs/ladder.md)."""
_UNLEARNT = {
    "plain": ("easy", "novice", "medium", "expert", "master"),
    "flips": ("easy", "starter", "medium", "expert", "master"),
}
"""Levels on the ladders of games for which no learnt value exists. These ladders are not measured."""


@cache
def measured() -> dict[str, Measured]:
    """Return the measurements of the ladders by name."""
    return ladders_read(FILE)


def learnt_mark(game: Romgon) -> str:
    """Return a fingerprint of the game's learnt value: 16 hexadecimal digits."""
    value = shipped(shipped_name(game.options))
    return sha256(value.weights.astype("<f8").tobytes() + repr(value.restlessness).encode()).hexdigest()[:16]


def plays_at(game: Romgon, level: Level) -> bool:
    """Return whether the game can be played at a level. Levels with a learnt value do not suit all options."""
    return not level.learnt or not VALUER.refusal(game)


def ladder(game: Romgon) -> list[LadderEntry]:
    """Return the ladder of a game, weakest level first, with ratings if they were measured in that very game."""
    mode = shipped_name(game.options)
    slugs = _UNLEARNT[mode] if VALUER.refusal(game) else _LADDERS[mode]
    found = measured().get(mode)  # None before the first measurement
    ratings = found.ratings if found is not None and found.game == game.slug else {}
    return [LadderEntry(LEVELS[slug], ratings.get(slug)) for slug in slugs]


def answer(
    board: Board, side: Side, options: Options, *, level: Level, rng: Random, time_limit_s: float | None = None
) -> Answer:
    """Return a level's action and its five best candidates on a board without a history.

    For a level without a learnt value, the result is that of ``answers.answer``.
    """
    if not level.learnt:
        return answers.answer(board, side, options, level=level, rng=rng, time_limit_s=time_limit_s)
    game, position = Romgon(options), Position(board, side)
    look = _looked(game, position, level, whole=True, time_limit_s=time_limit_s)
    ranked = sorted(range(len(look.moves)), key=lambda index: -look.deep[index])
    candidates = [Candidate(look.moves[index], round(look.deep[index], DIGITS)) for index in ranked]
    if not ranked:
        return Answer(None, (), look.depth)
    index = _drawn(look, level, rng)
    chosen = Candidate(look.moves[index], round(look.deep[index], DIGITS))
    return Answer(chosen, tuple(candidates[:N_CANDIDATES]), look.depth)


def choose(game: Romgon, position: Position, *, level: Level, rng: Random) -> Move:
    """Return a level's move in an unfinished game."""
    if not level.learnt:
        searched = answers.answer_in(game, position, level=level, rng=rng)
        assert searched.chosen is not None, "the game is over, so there is no move"
        return searched.chosen.move
    look = _looked(game, position, level)
    return look.moves[_drawn(look, level, rng)]


def _drawn(look: Look[Move], level: Level, rng: Random) -> int:
    """Return the index of the move to play: the best one, or a random one with the level's probability."""
    if level.draws_random_move(rng):
        return rng.below(len(look.moves))
    return look.best


def _looked(
    game: Romgon, position: Position, level: Level, *, whole: bool = False, time_limit_s: float | None = None
) -> Look[Move]:
    player = shipped(shipped_name(game.options))._replace(depth=level.depth)
    return VALUER.look(game, position, player, whole=whole, time_limit_s=time_limit_s)
