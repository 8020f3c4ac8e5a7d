"""What the engine is asked: its move at a level, its ranking of the moves, counts of move sequences.

Boards come as the rules hold them (``romgon.pieces.Board``), options as ``romgon.moves.Options``.
Of these ``shuttle`` makes no difference: the search knows boards and no history.
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
    """What the engine plays, and what it thought of."""

    chosen: Candidate[Move] | None
    """``None`` where there is no legal action."""
    candidates: tuple[Candidate[Move], ...]
    """The best five, best first, ties in canonical order."""
    depth: int
    """How deep it looked: less than the level's depth if the time ran out."""


LEVELS: Mapping[str, Level] = {
    level.slug: level
    for level in (
        Level("easy", "Easy", "Chooses its moves at random.", 1, 10, whom="for a first look at the rules"),
        Level(
            "starter",
            "Starter",
            "Nine moves in ten are random; otherwise it runs for its goal.",
            1,
            9,
            plain=True,
            whom="for beginners",
        ),
        Level(
            "novice",
            "Novice",
            "Eight moves in ten are random; otherwise it runs for its goal.",
            1,
            8,
            plain=True,
            whom="for beginners",
        ),
        Level("beginner", "Beginner", "Three moves in ten are random; otherwise it looks one move ahead.", 1, 3),
        Level(
            "medium",
            "Medium",
            "Looks one move ahead, at the pieces and the way to the goal.",
            1,
            plain=True,
            whom="for players with some experience",
        ),
        Level("hard", "Hard", "Looks two moves ahead.", 2),
        Level(
            "expert",
            "Expert",
            "Looks three moves ahead, for at most five seconds.",
            3,
            time_limit_s=5,
            whom="for strong players",
        ),
        Level(
            "master",
            "Master",
            "Looks four moves ahead, for at most eight seconds.",
            4,
            time_limit_s=8,
            whom="for very strong players",
        ),
    )
}
"""Those that search with the evaluation of the rules; roughly the weakest first (``levels.py`` has all)."""


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
    if level.plays_anything(rng):
        chosen = sorted(ranked)[rng.below(len(ranked))]  # in canonical order: the same draw, the same action
    return Answer(chosen, ranked[:N_CANDIDATES], depth)


def answer_in(
    game: Romgon, position: Position, *, level: Level, rng: Random, time_limit_s: float | None = None
) -> Answer:
    """What the engine plays at a level in a game that goes on: as :func:`answer`, but with an eye on its history.

    The search knows no history. So an action that loses on the spot, by repetition or shuttling, gives way to the best
    that does not; what a level plays at random stays as it was drawn.
    """
    options = game.options
    found = answer(position.board, position.side, options, level=level, rng=rng, time_limit_s=time_limit_s)
    if found.chosen is None or found.chosen != found.candidates[0] or not _loses(game, position, found.chosen.move):
        return found
    better = next((other for other in found.candidates if not _loses(game, position, other.move)), found.chosen)
    return replace(found, chosen=better)


def _loses(game: Romgon, position: Position, move: Move) -> bool:
    """Whether an action loses the game for whoever plays it."""
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
    """The best ``n_best`` legal actions, best first, and the depth that was finished in time."""
    stop = np.zeros(1, np.uint8)
    flags = option_flags(options) | (boards.PLAIN if plain else 0)
    with stopping(stop, time_limit_s):
        actions, values, finished = search.search(board_array(board), int(side), flags, depth, n_best, stop)
    best = zip(actions[:n_best].tolist(), values[:n_best].tolist(), strict=True)
    return tuple(Candidate(move_read(action), value / 2) for action, value in best), finished


def legal(board: Board, side: Side, options: Options = CORE) -> tuple[Move, ...]:
    """Every legal action in canonical order, by the compiled generator."""
    return tuple(map(move_read, boards.legal(board_array(board), int(side), option_flags(options)).tolist()))


def prospects(board: Board, side: Side, options: Options = CORE) -> list[tuple[Move, float, bool]]:
    """Every legal action in canonical order, the static value of the board after it for ``side``, whether it wins."""
    actions, values, is_won = boards.prospects(board_array(board), int(side), option_flags(options))
    found = zip(actions.tolist(), values.tolist(), is_won.tolist(), strict=True)
    return [(move_read(action), value / 2, wins) for action, value, wins in found]


def terms(board: Board, me: Side, options: Options = CORE) -> Terms:
    """The terms of the evaluation, by the compiled one."""
    return Terms(*(value / 2 for value in boards.terms(board_array(board), int(me), option_flags(options))))


def perft(board: Board, side: Side, options: Options = CORE, *, depth: int) -> int:
    """The number of sequences of exactly ``depth`` actions; a base entry or the loss of a rhombus ends one."""
    return int(search.perft(board_array(board), int(side), option_flags(options), depth)) if depth else 1


@contextmanager
def stopping(stop: NDArray[np.uint8], time_limit_s: float | None) -> Iterator[None]:
    """Set ``stop`` when the time is over. A kernel holds no interpreter lock, so another thread can tell it."""
    if time_limit_s is None or time_limit_s <= 0:
        stop[0] = time_limit_s is not None  # no time at all: not even as much as a thread takes to start
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
    """The board as kernels take it."""
    return np.frombuffer(board, np.uint8)


def option_flags(options: Options) -> int:
    """The options as kernels take them."""
    return boards.FLIP * options.flip | boards.TURN * options.turn | boards.SHAPE * options.shape


def move_read(action: int) -> Move:
    """The action that a number of the compiled engine stands for."""
    return Move(action & 63, action >> 6 & 63, (action >> 12) - 1)


def action_number(move: Move) -> int:
    """The number that stands for an action in the compiled engine: the other way round of :func:`move_read`."""
    return move.origin | move.target << 6 | (move.turn + 1) << 12
