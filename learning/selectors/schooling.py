"""Reads of schoolings: nothing of them is stored, so a machine is worked out, as far as its turn allows.

What others do comes first: long work is done by a process that gives way to everything else on the machine, and only so
many wait for it. Whoever asks from one address gets a share of a core and no more.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from games.rules.base import Game
from learning.core.machines.box_machine import BoxMachine, Change
from learning.core.opponents.registry import UNIFORM
from learning.core.schooling.band import MACHINES
from learning.core.schooling.course import Stand
from learning.core.schooling.episode import Lived, game_after, on_the_table
from learning.core.schooling.helper import BANDS, COURSES, band_advance, course_advance, helper_open, timed
from learning.core.schooling.plan import MEASURES, Schooling
from learning.core.training.episodes import Turn
from learning.core.training.strength import Floats, against_machine
from learning.exceptions import SchoolingBusyError
from learning.selectors.boxes import boxes_printed

ValueT = TypeVar("ValueT")

WORK_S = 0.04
"""A request works so long at most, and a piece more; up to :data:`LONGER` times as long where others wait."""
LONGER = 3
INSIDE = 10
"""So many requests are worked for or wait for that; whoever comes then is told to come again."""
CROWDED_S = 3
"""When."""
KEPT_FREE = 4
"""Of those places, so many are for whoever was told to come again: pages that are inside ask at once, and again."""
FEW_GAMES = 5_000
"""So many take less than handing them to another thread and waiting for it."""
SHARE = 0.4
"""Of a core, that all who ask from one address may use, after they have used up :data:`BURST_S`."""
BURST_S = 3.0
SMALL_S = 3.0
"""So much more they may use for what takes next to nothing: a page opens though another one uses all that it gets."""
AT_MOST_S = 0.25
"""More than that no request takes, but what compiles a kernel, or a game's tables, for all who come after."""
PLACES = 3
"""Of those who are inside, so many may be from one address."""
ADDRESSES = 5_000


class Desk:
    """Where long work is handed in: by whom, how long it took, and who has to come again."""

    def __init__(self, opened: Callable[[], Executor] = helper_open) -> None:
        self._lock = threading.Lock()
        self._opened = opened
        self._helper: Executor | None = None
        self._inside: Counter[str] = Counter()
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._sent_away: dict[str, float] = {}
        """When those were last told to come again who found no place, and have not yet had one."""

    def work(self, who: str, function: Callable[[float], ValueT]) -> ValueT:
        """What the helper makes of some time, which the function is called with.

        Raises:
            SchoolingBusyError: too many wait, of them or of all, who asks has had their share, or the helper has died.
        """
        with self._lock:
            if self._debt(who) > BURST_S:
                raise SchoolingBusyError
            if self._inside[who] >= PLACES or not self._has_place(who):
                raise SchoolingBusyError(retry_after_s=CROWDED_S)
            # Here, not at the start: most servers' processes are never asked.
            helper = self._helper = self._helper or self._opened()
            self._inside[who] += 1
            seconds = WORK_S * min(LONGER, self._inside.total())
        try:
            result, used = helper.submit(timed, function, seconds).result()
        except BrokenExecutor:
            with self._lock:
                if self._helper is helper:
                    self._helper = None
            raise SchoolingBusyError from None
        finally:
            with self._lock:
                self._inside[who] -= 1
                self._inside += Counter()  # who is not inside has no entry
        self._count(who, min(AT_MOST_S, used))
        return result

    def _has_place(self, who: str) -> bool:
        """Whether there is a place for somebody; if not, some are kept for them until they come again."""
        now = time.monotonic()
        self._sent_away = {one: at for one, at in self._sent_away.items() if now - at < 2 * CROWDED_S}
        places = INSIDE - self._inside.total()
        kept_free = 0 if who in self._sent_away else min(KEPT_FREE, len(self._sent_away))
        if places <= kept_free:
            if len(self._sent_away) < ADDRESSES:
                self._sent_away[who] = now
            return False
        self._sent_away.pop(who, None)
        return True

    @contextmanager
    def beside(self, who: str) -> Iterator[None]:
        """What is worked out at once in this block, by the thread of who asks, is of their share, too.

        Raises:
            SchoolingBusyError: they have had it, and :data:`SMALL_S` more.
        """
        with self._lock:
            if self._debt(who) > BURST_S + SMALL_S:
                raise SchoolingBusyError
        begin = time.thread_time()
        try:
            yield
        finally:
            self._count(who, min(AT_MOST_S, time.thread_time() - begin))

    def _count(self, who: str, seconds: float) -> None:
        with self._lock:
            self._used[who] = self._debt(who) + seconds, time.monotonic()
            self._used.move_to_end(who)
            if len(self._used) > ADDRESSES:
                self._used.popitem(last=False)

    def _debt(self, who: str) -> float:
        """Seconds of work that somebody has used and not yet waited for."""
        used, at = self._used.get(who, (0.0, 0.0))
        return max(0.0, used - SHARE * (time.monotonic() - at))


DESK = Desk()


def stand_get(schooling: Schooling, games: int, who: str) -> Stand:
    """The machine after so many games, or as far as it gets.

    Raises:
        SchoolingBusyError.
    """
    if COURSES.distance(schooling, games) <= FEW_GAMES:
        return COURSES.advance(schooling, games, WORK_S)
    stand = DESK.work(who, partial(course_advance, schooling, games))
    COURSES.take(schooling, stand)
    return stand


def machine_view(
    schooling: Schooling, games: int, against: str, *, since: int | None, moves: bool, who: str
) -> dict[str, Any]:
    """The machine after so many games: beads, totals, strength, and what else is asked for.

    Raises:
        SchoolingBusyError.
    """
    last = None
    if moves and games > 0:
        before = stand_get(schooling, games - 1, who)
        last = game_view(schooling, before) if before.games == games - 1 else None
    stand = stand_get(schooling, games, who)
    learners, played = stand.one.learners, stand.one.learners.played(0)
    view = {
        "games": stand.games,
        "asked": games,
        "done": stand.games == games,
        "wins": played.wins,
        "draws": played.draws,
        "losses": played.losses,
        "removed": int(learners.tally[0, 3]),
        "beads": learners.beads[0].tolist(),
        "strength": _strength(schooling, stand),
    }
    if since is not None:
        view["curve"] = _curve(stand, against, since)
    if last is not None and stand.games == games:
        view["game"] = last
    return view


def _strength(schooling: Schooling, stand: Stand) -> dict[str, dict[str, float]]:
    strength = strength_told(stand.strength)
    if stand.one.partners is not None:
        found = against_machine(stand.one.learners.memory(0), stand.one.partners.memory(0))
        strength["teacher"] = {"win": found.win, "draw": found.draw, "loss": found.loss}
    elif schooling.teacher in MEASURES:
        strength["teacher"] = strength[schooling.teacher.replace("-", "_")]
    else:
        rival = UNIFORM[schooling.teacher]
        strength["teacher"] = _chances(stand.one.copy().learners.train(rival, [0], [rival]).strength[0, 0, 0])
    return strength


def strength_told(strength: Floats) -> dict[str, dict[str, float]]:
    """Chances by opponent, as of any machine, of what is exact against each of ``MEASURES``: ``(n_measures, 3)``."""
    return {name.replace("-", "_"): _chances(row) for name, row in zip(MEASURES, strength, strict=True)}


def _chances(row: Floats) -> dict[str, float]:
    win, draw, loss = row.tolist()
    return {"win": win, "draw": draw, "loss": loss}


def _curve(stand: Stand, against: str, since: int) -> dict[str, Any]:
    """The points after more than ``since`` games, the machine as it is the last of them."""
    measure = MEASURES.index(against)
    points = [(mark, found.strength[measure]) for mark, found in stand.points if mark > since]
    if stand.games > since and not (points and points[-1][0] == stand.games):
        points.append((stand.games, stand.strength[measure]))
    columns = {name: [float(row[at]) for _, row in points] for at, name in enumerate(("win", "draw", "loss"))}
    return {"against": against, "games": [mark for mark, _ in points], **columns}


def game_view(schooling: Schooling, before: Stand) -> dict[str, Any]:
    """The game that a machine plays next, move by move."""
    lived = game_after(schooling, before)
    game, machine = schooling.game, lived.machine
    plies = []
    for turn, (move, position) in zip(lived.episode.turns, on_the_table(machine, lived.episode), strict=True):
        plies.append(_ply(schooling, lived, turn, move, position))
    return {
        "number": before.games + 1,
        "result": lived.episode.result.name.lower(),
        "resigned": lived.episode.resigned,
        "before": list(game.pieces(game.initial_position())),
        "plies": plies,
        "changes": _changes(machine, lived.changes, schooling),
        "teacher_changes": _changes(lived.partner, lived.partner_changes, None) if lived.partner else [],
    }


def _ply(schooling: Schooling, lived: Lived, turn: Turn, move: Any, position: Any) -> dict[str, Any]:
    game: Game[Any, Any] = schooling.game
    side, draw = game.side_to_move(turn.position), turn.draw
    return {
        "side": int(side),
        "move": None if move is None else game.format_move(move),
        "name": "" if move is None else game.look.describe_move(move),
        "path": [] if move is None else game.look.path_ids(move),
        "board": list(game.pieces(position)),
        "draw": None
        if draw is None or side is not schooling.side
        else {
            "box": schooling.table.box_id[draw.box],
            "position": draw.box,
            "beads": list(draw.beads),
            "slot": draw.slot,
            "refilled": draw.refilled,
        },
    }


def _changes(machine: BoxMachine, changes: list[Change], schooling: Schooling | None) -> list[dict[str, Any]]:
    """What a game did to boxes. No box is opened twice in a game, so each is now what the change left."""
    told: list[dict[str, Any]] = []
    for change in changes:
        after = list(machine.boxes[change.box])
        before = [beads - delta for beads, delta in zip(after, change.deltas, strict=True)]
        told.append({"position": change.box, "before": before, "after": after, "deltas": list(change.deltas)})
        if schooling is not None:
            told[-1]["box"] = schooling.table.box_id[change.box]
    return told


def band_view(schooling: Schooling, against: str, until: int, who: str) -> dict[str, Any]:
    """How machines with this rule fare, as far as it gets.

    Raises:
        SchoolingBusyError.
    """
    if BANDS.is_known(schooling, against, until):
        band = BANDS.advance(schooling, against, until, 0)
    else:
        band = DESK.work(who, partial(band_advance, schooling, against, until))
        if band.is_whole:
            BANDS.take(schooling, against, until, band)
    return {
        "against": against,
        "until": until,
        "machines": len(band.scores),
        "of": MACHINES,
        "done": band.is_whole,
        "games": list(band.marks),
        **band.quantiles,
    }


def boxes_view(schooling: Schooling) -> dict[str, Any]:
    """What hangs on the wall before the first game, packed as the wall of a machine."""
    table = schooling.table
    printed, slots, pieces = boxes_printed(table.cabinet)
    boxes = []
    for box, key in enumerate(table.keys):
        at = slice(int(table.slot_indptr[box]), int(table.slot_indptr[box + 1]))
        ply = schooling.game.ply(schooling.game.decode(key))
        boxes.append([key, int(table.move_number[box]) + 1, ply, table.initial[at].tolist(), *printed[key]])
    return {"slots": slots, "pieces": pieces, "boxes": boxes}
