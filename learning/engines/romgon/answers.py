"""What the engine is asked: its move at a level, its ranking of the moves, counts of move sequences.

Boards come as the rules hold them (``romgon.pieces.Board``), options as ``romgon.moves.Options``.
Of these ``shuttle`` makes no difference: the search knows boards and no history.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from games.rules.base import Side
from games.rules.player import Random
from games.rules.romgon.moves import CORE, Move, Options
from games.rules.romgon.pieces import Board


class Candidate(NamedTuple):
    """An action and what it is worth to whoever asked."""

    move: Move
    value: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What the engine plays, and what it thought of."""

    chosen: Candidate | None
    """``None`` where there is no legal action."""
    candidates: tuple[Candidate, ...]
    """The best five, best first, ties in canonical order."""
    depth: int
    """How deep it looked: less than the level's depth if the time ran out."""


@dataclass(frozen=True, slots=True)
class Level:
    """How well the engine plays."""

    slug: str
    name: str
    summary: str
    depth: int
    random_tenths: int = 0
    """In how many of ten moves it plays anything."""
    plain: bool = False
    """Whether it looks at material and advancement alone."""
    time_limit_s: float | None = None


LEVELS: dict[str, Level] = {
    level.slug: level
    for level in (
        Level("beginner", "Beginner", "Plays anything in three moves of ten, else looks one move ahead.", 1, 3),
        Level("easy", "Easy", "Plays anything that is allowed.", 1, 10),
        Level("medium", "Medium", "Looks one move ahead, at pieces and at the way to go.", 1, plain=True),
        Level("hard", "Hard", "Looks two moves ahead.", 2),
        Level("expert", "Expert", "Looks three moves ahead, for at most five seconds.", 3, time_limit_s=5),
        Level("master", "Master", "Looks four moves ahead, for at most eight seconds.", 4, time_limit_s=8),
    )
}


def answer(
    board: Board,
    side: Side,
    options: Options = CORE,
    *,
    level: Level,
    rng: Random,
    time_limit_s: float | None = None,
) -> Answer:
    """What the engine plays at a level.

    ``time_limit_s`` is a limit beside the level's own: the shorter counts. Depth 1 is always finished. ``rng`` is asked
    once or twice, and not at all by a level that leaves nothing to chance.
    """
    raise NotImplementedError


def ranking(
    board: Board,
    side: Side,
    options: Options = CORE,
    *,
    depth: int,
    plain: bool = False,
    n_best: int = 5,
    time_limit_s: float | None = None,
) -> tuple[tuple[Candidate, ...], int]:
    """The best ``n_best`` legal actions, best first, and the depth that was finished in time."""
    raise NotImplementedError
