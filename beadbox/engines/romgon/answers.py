"""Calls of the compiled engine: its move at a level, its ranking of the moves, counts of move sequences.

Arguments are boards and options of the rules (``romgon.pieces.Board``, ``romgon.moves.Options``). The option
``shuttle`` has no effect, because the search ignores the history.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.engine import Candidate
from beadbox.engines.level import Level
from beadbox.engines.romgon import boards, search
from beadbox.engines.romgon.boards import MAX_ACTIONS
from beadbox.engines.romgon.evaluation import Terms
from beadbox.rules.chance import Random
from beadbox.rules.outcome import Side
from beadbox.rules.romgon.moves import CORE, Move, Options
from beadbox.rules.romgon.pieces import Board
from beadbox.rules.romgon.rules import Position, Romgon

N_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """The move of the engine, and its best candidates."""

    chosen: Candidate[Move] | None
    """``None`` if there is no legal action."""
    candidates: tuple[Candidate[Move], ...]
    """The five best actions, best first, ties in canonical order."""
    depth: int
    """Finished search depth. It is less than that of the level if the time ran out."""


LEVELS: Mapping[str, Level] = {
    level.slug: level
    for level in (
        Level("easy", "Easy", "Chooses its moves at random.", 1, 10, suitable_for="for a first look at the rules"),
        Level(
            "starter",
            "Starter",
            "Nine moves in ten are random; otherwise it runs for its goal.",
            1,
            9,
            plain=True,
            suitable_for="for beginners",
        ),
        Level(
            "novice",
            "Novice",
            "Eight moves in ten are random; otherwise it runs for its goal.",
            1,
            8,
            plain=True,
            suitable_for="for beginners",
        ),
        Level("beginner", "Beginner", "Three moves in ten are random; otherwise it looks one move ahead.", 1, 3),
        Level(
            "medium",
            "Medium",
            "Looks one move ahead, at the pieces and the way to the goal.",
            1,
            plain=True,
            suitable_for="for players with some experience",
        ),
        Level("hard", "Hard", "Looks two moves ahead.", 2),
        Level(
            "expert",
            "Expert",
            "Looks three moves ahead, for at most five seconds.",
            3,
            time_limit_s=5,
            suitable_for="for strong players",
        ),
        Level(
            "master",
            "Master",
            "Looks four moves ahead, for at most eight seconds.",
            4,
            time_limit_s=8,
            suitable_for="for very strong players",
        ),
    )
}
"""Levels with a fixed evaluation instead of a learnt value, roughly weakest first (``levels.py`` has all levels)."""


def answer(
    board: Board,
    side: Side,
    options: Options = CORE,
    *,
    level: Level,
    rng: Random,
    time_limit_s: float | None = None,
) -> Answer:
    """Return the engine's answer at a level on a board without a history.

    The time limit is the shorter of ``time_limit_s`` and that of the level. Depth 1 is always finished. A level with
    random moves draws from ``rng`` once or twice, and other levels never.
    """
    limits = [limit for limit in (time_limit_s, level.time_limit_s) if limit is not None]
    ranked, depth = ranking(
        board,
        side,
        options,
        depth=level.depth,
        plain=level.plain,
        n_best=MAX_ACTIONS if level.random_tenths else N_CANDIDATES,
        time_limit_s=min(limits, default=None),
    )
    if not ranked:
        return Answer(None, (), depth)
    chosen = ranked[0]
    if level.draws_random_move(rng):
        chosen = sorted(ranked)[rng.below(len(ranked))]  # canonical order, so that values do not change the choice
    return Answer(chosen, ranked[:N_CANDIDATES], depth)


def answer_in_game(
    game: Romgon, position: Position, *, level: Level, rng: Random, time_limit_s: float | None = None
) -> Answer:
    """Return the engine's answer at a level in an unfinished game. Unlike :func:`answer`, it respects the history.

    If the best action loses at once by repetition or shuttling, the answer is the best candidate that does not. A
    random action is not replaced.
    """
    options = game.options
    searched = answer(position.board, position.side, options, level=level, rng=rng, time_limit_s=time_limit_s)
    if (
        searched.chosen is None
        or searched.chosen != searched.candidates[0]
        or not _loses_at_once(game, position, searched.chosen.move)
    ):
        return searched
    better = next(
        (other for other in searched.candidates if not _loses_at_once(game, position, other.move)), searched.chosen
    )
    return replace(searched, chosen=better)


def _loses_at_once(game: Romgon, position: Position, move: Move) -> bool:
    """Return whether an action loses the game at once for the side that makes it."""
    outcome = game.outcome(game.apply(position, move))
    return outcome is not None and outcome.winner is position.side.other


def ranking(
    board: Board,
    side: Side,
    options: Options = CORE,
    *,
    depth: int,
    plain: bool = False,
    n_best: int = N_CANDIDATES,
    time_limit_s: float | None = None,
) -> tuple[tuple[Candidate[Move], ...], int]:
    """Return the ``n_best`` best legal actions, best first, and the depth that was finished in time."""
    stop = np.zeros(1, np.uint8)
    flags = option_flags(options) | (boards.PLAIN if plain else 0)
    with stop_after(stop, time_limit_s):
        actions, values, finished = search.search(board_array(board), int(side), flags, depth, n_best, stop)
    best = zip(actions[:n_best].tolist(), values[:n_best].tolist(), strict=True)
    return tuple(Candidate(move_read(action), value / 2) for action, value in best), finished


def legal_actions(board: Board, side: Side, options: Options = CORE) -> tuple[Move, ...]:
    """Return all legal actions in canonical order, from the compiled generator."""
    return tuple(map(move_read, boards.legal_actions(board_array(board), int(side), option_flags(options)).tolist()))


def prospects(board: Board, side: Side, options: Options = CORE) -> list[tuple[Move, float, bool]]:
    """Return all legal actions in canonical order, each with its evaluation for ``side`` and whether it wins."""
    actions, values, is_won = boards.prospects(board_array(board), int(side), option_flags(options))
    rows = zip(actions.tolist(), values.tolist(), is_won.tolist(), strict=True)
    return [(move_read(action), value / 2, wins) for action, value, wins in rows]


def terms(board: Board, me: Side, options: Options = CORE) -> Terms:
    """Return the terms of the evaluation for ``me``, from the compiled version."""
    return Terms(*(value / 2 for value in boards.terms(board_array(board), int(me), option_flags(options))))


def perft(board: Board, side: Side, options: Options = CORE, *, depth: int) -> int:
    """Return the number of sequences of exactly ``depth`` actions.

    A sequence cannot continue after a rhombus has entered its goal or was captured.
    """
    return int(search.perft(board_array(board), int(side), option_flags(options), depth)) if depth else 1


@contextmanager
def stop_after(stop: NDArray[np.uint8], time_limit_s: float | None) -> Iterator[None]:
    """Set ``stop`` from another thread after ``time_limit_s``. The thread can run because kernels release the GIL."""
    if time_limit_s is None or time_limit_s <= 0:
        stop[0] = time_limit_s is not None  # a limit of 0 stops at once, without starting a thread
        yield
        return
    timer = threading.Timer(time_limit_s, stop.fill, (1,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def board_array(board: Board) -> NDArray[np.uint8]:
    """Return a view of the board as the array that kernels take: ``(51,) uint8``."""
    return np.frombuffer(board, np.uint8)


def option_flags(options: Options) -> int:
    """Return options as the bits that kernels take (``boards.FLIP`` to ``boards.SHAPE``)."""
    return boards.FLIP * options.flip | boards.TURN * options.turn | boards.SHAPE * options.shape


def move_read(action: int) -> Move:
    """Decode an action number of the compiled engine."""
    return Move(action & 63, action >> 6 & 63, (action >> 12) - 1)


def action_number(move: Move) -> int:
    """Encode an action as a number of the compiled engine, the inverse of :func:`move_read`."""
    return move.origin | move.target << 6 | (move.turn + 1) << 12
