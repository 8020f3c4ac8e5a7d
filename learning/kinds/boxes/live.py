"""A machine with boxes in a live match: it opens a box, draws a bead, and learns from its draws after the match."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Self, cast

from django.db import transaction
from django.urls import reverse

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.memory import TouchedBox
from beadbox.rules.game import AnyMove, AnyPosition
from games.live.players import Choice, DecisionRecord, LiveMatch, RoomNotLockedError, Statement
from games.live.states import DrawnBox, DrawState, Insight, Placement, SlotOpened
from learning import events
from learning.kinds.boxes.lessons import changes_view, entries_in_memory, ledger_of, lessons_view, teach_matches
from learning.kinds.boxes.look import moves_view, placement_view, slots_view
from learning.kinds.boxes.memory import MEMORY, BoxRows, box_open, boxes_fetch, boxes_store
from learning.kinds.live import EndedMatch, KindLive, occupants_fetch
from learning.models import Draw, LessonKind, Machine
from learning.states import box_news
from learning.storage.lessons import Cause, lessons_add

DRAW_COLUMNS = ("machine_id", "seat_id", "ply", "position", "slot", "beads", "refilled")


class BoxesLive(KindLive):
    """Live play in which each move opens a box and draws a bead; the machine learns from the draws after the match."""

    tells = "boxes"
    see_all = "See all its boxes"
    see_named = "All boxes of {name}"
    learnt: Sequence[TouchedBox] | None = None
    """Changes of the machine's boxes by the match that has just ended, in order of play.

    ``None`` if the changes have to be read from the ledger.
    """

    def choose(self, live: LiveMatch, position: AnyPosition) -> Choice:
        """Draw a bead. The machine is locked only if a box is refilled, or opened for the first time."""
        player, boxes = self._open_box(live, position)
        if player is None:  # the machine was deleted during the match, so nothing is played
            return Choice(None)
        move, draw = player.choose(position, RandomSource(live.match.seed, live.match.n_plies))
        if draw is not None and draw.refilled:
            self._refill_store(live, boxes, draw)
        return Choice(move, record=draw)

    def follow(self, live: LiveMatch, position: AnyPosition, move: AnyMove) -> BeadDraw | None:
        """Return the draw that corresponds to a person's move in the machine's seat."""
        player, boxes = self._open_box(live, position)
        draw = None if player is None else player.follow(position, move)
        if draw is not None and draw.refilled:
            self._refill_store(live, boxes, draw)
        return draw

    def _open_box(self, live: LiveMatch, position: AnyPosition) -> tuple[BoxMachine | None, BoxRows]:
        """Return a player with the box that this position opens, and the rows of this box.

        The player is ``None`` if the machine has been deleted. The rows are empty if the position has no box.
        """
        machine, cabinet = self.machine, self.machine.cabinet
        player = BoxMachine(cabinet.game, cabinet.side, cabinet.rule, learns=machine.learns)
        if not cabinet.has_box(position):
            return player, {}
        key = cabinet.game.encode(cabinet.box_position(position))
        boxes = boxes_fetch(machine, [key])
        if not boxes or (machine.learns and not any(boxes[key][0])):
            locked = self._machine_lock(live)
            if locked is None:
                return None, {}
            self.machine, player.learns = locked, locked.learns
            boxes = boxes_fetch(locked, [key]) or box_open(locked, cabinet, key, list(player.open_box(position)))
        player.boxes[key] = list(boxes[key][0])
        return player, boxes

    def _machine_lock(self, live: LiveMatch) -> Machine | None:
        """Return the machine, locked after the room; ``None`` if it has been deleted since it was read.

        The same statement locks the other machine of the match, in ascending order of ids, as at the end of the match.
        Separate locks might break that order, so two matches could wait for each other.
        """
        if not live.is_room_locked:
            raise RoomNotLockedError
        occupants_fetch([seat for seat, _ in live.automated_seats], lock=True)
        return next(
            (
                one.machine
                for _, one in live.automated_seats
                if isinstance(one, BoxesLive) and one.row.pk == self.row.pk
            ),
            None,
        )

    def _refill_store(self, live: LiveMatch, boxes: BoxRows, draw: BeadDraw) -> None:
        """Store the refill of an empty box, if the machine learns. The caller holds the machine's lock."""
        machine = self.machine
        if machine.learns:
            memory = OpenMemory.load(
                machine.game_rules, machine.cabinet.side, machine.box_rule, boxes.get, machine.n_removed
            )
            memory.refilled(draw, live.match.n_plies)
            touched = MEMORY.lesson_give(machine, memory, LessonKind.REFILL, Cause(match_id=live.match.pk))
            news = box_news(touched, machine.n_lessons)
            transaction.on_commit(partial(events.machine_changed, machine, news, [machine.n_lessons]))

    def remember(self, records: Sequence[DecisionRecord]) -> Statement:
        """Return the statement that stores the machine's draws, and add the draws to those in memory."""
        machine, drawn = self.machine, cast("Sequence[tuple[int, BeadDraw]]", records)
        rows = [
            [machine.pk, self.row.pk, ply, draw.box, draw.slot, list(draw.beads), draw.refilled] for ply, draw in drawn
        ]
        self.draws += [Draw(**dict(zip(DRAW_COLUMNS, row, strict=True))) for row in rows]
        statement = Statement.insert(Draw, DRAW_COLUMNS, rows)
        _, last_draw = drawn[-1]
        if last_draw.slot is None:
            return statement
        return statement._replace(
            on_commit=partial(
                events.machine_changed, machine, drawn={"position": last_draw.box, "slot": last_draw.slot}
            )
        )

    def learn(self, ended: Sequence[EndedMatch]) -> Sequence[TouchedBox]:
        """Learn from all matches together: one query reads the boxes, and two statements store the lessons."""
        machine = self.machine
        results = teach_matches(machine, ended)
        machine.n_removed = results[-1].n_removed
        causes = [
            Cause(result.tally, match_id=match.live.match.pk) for result, match in zip(results, ended, strict=True)
        ]
        lessons = lessons_add(machine, LessonKind.MATCH, causes)
        touched = [result.touched for result in results]
        boxes_store(machine, dict(zip(lessons, touched, strict=True)))
        for result, match in zip(results, ended, strict=True):
            for player in match.players:
                player.learnt = result.touched
        return list(chain.from_iterable(touched))

    @classmethod
    def insight_of(cls, live: LiveMatch, players: Sequence[Self]) -> Insight | None:
        """Return ``learning`` of a room's state: draws and lessons of these machines.

        docs/protocol.md describes its fields.
        """
        drawn = sorted(((draw, one) for one in players for draw in one.draws), key=lambda pair: pair[0].ply)
        if not (drawn or live.match.is_over):
            return None
        game = live.game
        moves = {ply.number: ply.move for ply in live.plies}
        position_before = {ply.number + 1: ply.position for ply in live.plies}
        position_before[0] = game.encode(game.initial_position())
        views = [
            draw_view(
                one.machine,
                draw,
                position_before[draw.ply],
                None if draw.slot is None else moves.get(draw.ply),
                by_hand=bool(one.row.takes_over),
            )
            for draw, one in drawn
        ]
        # Without a draw, the match ended before the machine's first move.
        last_draw, player = drawn[-1] if drawn else (None, players[0])
        insight: Insight = {
            "role": game.presentation.layout.roles[player.row.side],
            "machine": player.machine.brief,
            "box": last_draw.position if last_draw else None,
            "beads_before": last_draw.beads if last_draw else None,
            "slot": last_draw.slot if last_draw else None,
            "draws": views,
            "lesson": None,
            "lessons": [],
            "changes": [],
        }
        if live.match.is_over:
            machines: dict[int, Machine] = {one.machine.pk: one.machine for one in players}
            sides = {one.machine.pk: one.row.side for one in players}
            learnt = [(one.machine, one.learnt) for one in players]
            entries = entries_in_memory(learnt, [draw for draw, _ in drawn]) or ledger_of(live.match, machines)
            insight["changes"] = changes_view(live.match, machines, sides, entries)
            insight["lessons"] = lessons_view(live.match, machines, sides, entries, insight["changes"])
            lesson = next(lesson for lesson in insight["lessons"] if lesson["role"] == insight["role"])
            insight["lesson"] = {"result": lesson["result"], "sentence": lesson["sentence"]}
        return insight

    @staticmethod
    def frozen_policy(machine: Machine, position: AnyPosition) -> BoxMachine:
        """Return a machine that does not learn, with only the box that this position opens."""
        cabinet = machine.cabinet
        player = BoxMachine(cabinet.game, cabinet.side, cabinet.rule, n_removed=machine.n_removed, learns=False)
        if cabinet.has_box(position):
            key = cabinet.game.encode(cabinet.box_position(position))
            box = boxes_fetch(machine, [key]).get(key)
            if box is not None:
                player.boxes[key] = list(box[0])
        return player


@lru_cache(maxsize=2000)
def _opened_box(
    cabinet: Cabinet, position_text: str, box: str
) -> tuple[Sequence[Sequence[Any]], list[SlotOpened], Placement]:
    """Return the moves of each slot of a box opened in a position, the slots in JSON, and the box's orientation.

    Cached: callers share the result and must not change it.
    """
    game, position = cabinet.game, cabinet.game.decode(position_text)
    (_, placement), moves_of_slots = cabinet.box_and_placement(position), cabinet.slot_moves(position)
    slots: list[SlotOpened] = [
        {**view, "slot": slot, **moves_view(game, moves)}
        for slot, (view, moves) in enumerate(zip(slots_view(cabinet, game.decode(box)), moves_of_slots, strict=True))
    ]
    return moves_of_slots, slots, placement_view(placement)


@lru_cache(maxsize=4096)
def _drawn_box(cabinet: Cabinet, machine_id: int, position: str) -> DrawnBox:
    """Return a machine's box in its printed orientation. Cached: callers share the result and must not change it."""
    printed = cabinet.game.decode(position)
    return {
        "position": position,
        "board": list(cabinet.game.pieces(printed)),
        "move_number": cabinet.move_number(printed) + 1,
        "url": reverse("box", args=[machine_id, position]),
    }


def draw_view(machine: Machine, draw: Draw, position_text: str, move: str | None, *, by_hand: bool) -> DrawState:
    """Return a machine's draw. ``position_text`` is the position before the move; a person may have moved by hand."""
    cabinet = machine.cabinet
    moves_of_slots, slots, orientation = _opened_box(cabinet, position_text, draw.position)
    total = sum(draw.beads)
    # A machine that moves although the box is empty chooses among all legal moves at random.
    is_uniform = total == 0 and draw.slot is not None and not by_hand
    if is_uniform:
        ways = [len(moves) if cabinet.rule.merge_symmetric_moves else 1 for moves in moves_of_slots]
        chances = [n_ways / sum(ways) for n_ways in ways]
    else:
        chances = [beads / total if total else 0.0 for beads in draw.beads]
    return {
        "ply": draw.ply,
        "role": cabinet.game.presentation.layout.roles[cabinet.side],
        "box": _drawn_box(cabinet, machine.pk, draw.position),
        "symmetry": orientation,
        "slots": [
            {**slot, "beads": beads, "probability": chance}
            for slot, beads, chance in zip(slots, draw.beads, chances, strict=True)
        ],
        "slot": draw.slot,
        "move": move,
        "resigned": draw.slot is None,
        "refilled": draw.refilled,
        "anything": is_uniform,
        "by_hand": by_hand,
    }
