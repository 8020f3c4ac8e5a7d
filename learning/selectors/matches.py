"""Reads of a match: what the machines in it drew and learnt, and how it ended, in words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypedDict, TypeVar

from django.urls import reverse

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.rule import BoxRule
from beadbox.rules.outcome import Result
from games.live.players import LiveMatch, LiveSeat
from games.live.room_state import reason_of, role_of
from games.live.states import (
    BeadChange,
    DrawnBox,
    DrawState,
    Insight,
    LessonDeed,
    LessonState,
    MachineBrief,
    PartsInsight,
    Placement,
    SlotOpened,
    ValuesInsight,
)
from games.models import Match, MatchStatus, Seat
from learning.models import Draw, Lesson, LessonKind, Machine
from learning.selectors.boxes import moves_view, slots_view
from learning.selectors.machines import machine_brief
from learning.storage.occupants import draws_of, machine_in


class Line(TypedDict):
    """What is told of one side of a match."""

    role: str


def insights_joined(live: LiveMatch, found: Sequence[Insight]) -> Insight:
    """What several kinds of machines, one or more, have to say of a match, as one word: that of who moved last.

    Each kind tells of its machines in a part of its own; only lessons are told of all of them.
    """
    joined, roles = found[0], live.game.look.layout.roles
    for other in found[1:]:
        draws, changes = joined["draws"] + other["draws"], joined["changes"] + other["changes"]
        lessons = sorted(joined["lessons"] + other["lessons"], key=lambda lesson: roles.index(lesson["role"]))
        later, earlier = (other, joined) if _moved_last(other) > _moved_last(joined) else (joined, other)
        joined = {**earlier, **later, "draws": draws, "changes": changes, "lessons": lessons}
    return joined


def _moved_last(insight: Insight) -> int:
    """The ply of the last move that is told of; -1 for none."""
    moves = _moves_of(insight)
    return moves[-1]["ply"] if moves else -1


def _moves_of(insight: Insight) -> list[Any]:
    """A line, with ply and role, for every move that is told of, the last one last."""
    values, parts = insight.get("values"), insight.get("parts")
    lines: list[Any] = [*insight["draws"], *(values["plies"] if values else ()), *(parts["thoughts"] if parts else ())]
    return sorted(lines, key=lambda line: line["ply"])


LineT = TypeVar("LineT", bound=Line)


def match_insight(live: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
    """``learning`` of a room's state: what the machines in these seats drew and learnt (docs/protocol.md)."""
    machines = {machine.pk: machine for seat in seats if (machine := machine_in(seat)) is not None}
    draws = draws_of(*seats)
    match, game = live.match, live.game
    if not machines or not (draws or match.is_over):
        return None
    plies = {ply.number: ply for ply in live.plies}
    before = {ply.number + 1: ply.position for ply in plies.values()}
    before[0] = game.encode(game.initial_position())
    by_id = {seat.row.pk: seat for seat in seats}
    views = []
    for draw in draws:
        played = plies.get(draw.ply) if draw.slot is not None else None
        cabinet = machines[draw.machine_id].cabinet
        views.append(_draw_view(cabinet, draw, by_id[draw.seat_id], before[draw.ply], played.move if played else None))
    last = draws[-1] if draws else None
    # Where nothing was drawn yet, the match ended before the machine's first move.
    seat = by_id[last.seat_id] if last else next(seat for seat in seats if machine_in(seat) is not None)
    machine = machines[last.machine_id] if last else next(iter(machines.values()))
    insight: Insight = {
        "role": game.look.layout.roles[seat.row.side],
        "machine": machine_brief(machine),
        "box": last.position if last else None,
        "beads_before": last.beads if last else None,
        "slot": last.slot if last else None,
        "draws": views,
        "lesson": None,
        "lessons": [],
        "changes": [],
    }
    if match.is_over:
        sides = {machine.pk: seat.row.side for seat in seats if (machine := machine_in(seat)) is not None}
        ledger = _learnt_now(seats, draws) or _ledger(match, machines)
        insight["changes"] = _changes_view(match, machines, sides, ledger)
        insight["lessons"] = _lessons_view(match, machines, sides, ledger, insight["changes"])
        lesson = next(lesson for lesson in insight["lessons"] if lesson["role"] == insight["role"])
        insight["lesson"] = {"result": lesson["result"], "sentence": lesson["sentence"]}
    return insight


def insight_told(insight: Insight, machines: Mapping[str, MachineBrief]) -> Insight | None:
    """``learning`` of a room's state for who may see only these machines (by role): as if no other had sat there.

    ``None`` where it would be, had the others not drawn. What a machine that keeps values thought is told of the last
    decision alone, so of another's there is nothing to tell. What is named here is told, and nothing else.
    """

    def own(lines: list[LineT]) -> list[LineT]:
        return [line for line in lines if line["role"] in machines]

    draws, lessons, values = own(insight["draws"]), own(insight["lessons"]), None
    if "values" in insight:
        thought = insight["values"]["thought"]
        values = ValuesInsight(
            thought=thought if thought is not None and thought["role"] in machines else None,
            plies=own(insight["values"]["plies"]),
            changes=own(insight["values"]["changes"]),
        )
    parts = None
    if "parts" in insight:
        parts = PartsInsight(thoughts=own(insight["parts"]["thoughts"]), changes=own(insight["parts"]["changes"]))
    decided = [line["role"] for line in _moves_of(insight) if line["role"] in machines]
    if not decided and not lessons:
        return None
    role = decided[-1] if decided else lessons[0]["role"]
    last = draws[-1] if draws else None
    lesson = next((one for one in lessons if one["role"] == role), None)
    told: Insight = {
        "role": role,
        "machine": machines[role],
        "box": last["box"]["position"] if last else None,
        "beads_before": [slot["beads"] for slot in last["slots"]] if last else None,
        "slot": last["slot"] if last else None,
        "draws": draws,
        "lesson": lesson and {"result": lesson["result"], "sentence": lesson["sentence"]},
        "lessons": lessons,
        "changes": own(insight["changes"]),
    }
    if values is not None:
        told["values"] = values
    if parts is not None:
        told["parts"] = parts
    return told


class Entry(NamedTuple):
    """A lesson of a match, and one of its changes if it has any."""

    machine_id: int
    kind: str
    ply: int | None
    position: str | None
    deltas: list[int] | None
    after: list[int] | None


def _learnt_now(seats: Sequence[LiveSeat], draws: Sequence[Draw]) -> list[Entry]:
    """What has just been stored of the match, where nobody need be asked for it: nothing if that may not be all."""
    learnt = [(machine, seat.occupant.learnt) for seat in seats if (machine := machine_in(seat)) is not None]
    if any(touched is None for _, touched in learnt) or any(draw.refilled for draw in draws):
        return []
    lessons = [Entry(machine.pk, LessonKind.MATCH, None, None, None, None) for machine, _ in learnt]
    changes = [
        Entry(machine.pk, LessonKind.MATCH, box.ply, box.position, list(box.deltas), list(box.beads))
        for machine, touched in learnt
        for box in touched
        if any(box.deltas)
    ]
    return [*lessons, *sorted(changes, key=lambda entry: entry.ply or 0)]


def _ledger(match: Match, machines: Collection[int]) -> list[Entry]:
    """What the match did to these machines, refills included, in order of play; one query."""
    change = ("ply", "box__position", "deltas", "after")
    lessons = Lesson.objects.filter(match=match, machine__in=machines).order_by("changes__ply", "number", "changes__pk")
    return [Entry(*row) for row in lessons.values_list("machine_id", "kind", *(f"changes__{name}" for name in change))]


def _lessons_view(
    match: Match,
    machines: dict[int, Machine],
    sides: dict[int, int],
    ledger: list[Entry],
    changes: list[BeadChange],
) -> list[LessonState]:
    """What the match was for each machine, in order of side."""
    roles = match.room.game_rules.look.layout.roles
    learnt = {entry.machine_id for entry in ledger if entry.kind == LessonKind.MATCH}
    view: list[LessonState] = []
    for pk in sorted(sides, key=lambda pk: sides[pk]):
        machine, role, result = machines[pk], roles[sides[pk]], _result(match, sides[pk])
        deltas = [change["delta"] for change in changes if change["role"] == role and not change["refill"]]
        deed = _deed(deltas) if pk in learnt else nothing_learnt(match, machine, "beads")
        told = lesson_told(machine.name, result.name.lower(), deed, changed=pk in learnt and bool(deltas))
        view.append({"role": role, "machine": machine_brief(machine), **told})
    return view


@lru_cache(maxsize=2000)
def _opened(cabinet: Cabinet, before: str, box: str) -> tuple[Sequence[Sequence[Any]], list[SlotOpened], Placement]:
    """Of a box that was opened in a position: the moves of its slots, its slots in view, and how it was turned.

    Nobody changes any of it.
    """
    game, position = cabinet.game, cabinet.game.decode(before)
    placement, moves_of_slots = cabinet.placement(position), cabinet.slot_moves(position)
    slots: list[SlotOpened] = [
        {**view, "slot": slot, **moves_view(game, moves)}
        for slot, (view, moves) in enumerate(zip(slots_view(cabinet, game.decode(box)), moves_of_slots, strict=True))
    ]
    turned: Placement = {
        "name": placement.name,
        "quarter_turns": placement.quarter_turns,
        "mirrored": placement.mirrored,
    }
    return moves_of_slots, slots, turned


@lru_cache(maxsize=4096)
def _drawn_box(cabinet: Cabinet, machine_id: int, position: str) -> DrawnBox:
    """A machine's box as it is printed. Nobody changes any of it."""
    printed = cabinet.game.decode(position)
    return {
        "position": position,
        "board": list(cabinet.game.pieces(printed)),
        "move_number": cabinet.move_number(printed) + 1,
        "url": reverse("box", args=[machine_id, position]),
    }


def _draw_view(cabinet: Cabinet, draw: Draw, seat: LiveSeat, before: str, move: str | None) -> DrawState:
    """A draw of a seat as it was: ``before`` is the position in which it was made."""
    moves_of_slots, slots, turned = _opened(cabinet, before, draw.position)
    total = sum(draw.beads)
    by_hand = seat.row.is_human
    # An empty box that played all the same played anything that is allowed.
    anything = total == 0 and draw.slot is not None and not by_hand
    n_ways = sum(map(len, moves_of_slots)) if cabinet.rule.merge_symmetric_moves else len(moves_of_slots)
    chances = (
        _chance(beads, total, moves, n_ways, cabinet.rule, anything=anything)
        for beads, moves in zip(draw.beads, moves_of_slots, strict=True)
    )
    return {
        "ply": draw.ply,
        "role": cabinet.game.look.layout.roles[seat.row.side],
        "box": _drawn_box(cabinet, draw.machine_id, draw.position),
        "symmetry": turned,
        "slots": [
            {**slot, "beads": beads, "probability": chance}
            for slot, beads, chance in zip(slots, draw.beads, chances, strict=True)
        ],
        "slot": draw.slot,
        "move": move,
        "resigned": draw.slot is None,
        "refilled": draw.refilled,
        "anything": anything,
        "by_hand": by_hand,
    }


def _chance(beads: int, total: int, moves: Sequence[Any], n_ways: int, rule: BoxRule, *, anything: bool) -> float:
    """The chance that a slot was drawn with."""
    if anything:
        return (len(moves) if rule.merge_symmetric_moves else 1) / n_ways
    return beads / total if total else 0.0


def _changes_view(
    match: Match, machines: dict[int, Machine], sides: dict[int, int], ledger: list[Entry]
) -> list[BeadChange]:
    """Every bead that the match added or removed, refills included, in order of play."""
    roles = match.room.game_rules.look.layout.roles
    view: list[BeadChange] = []
    for entry in ledger:
        if entry.position is None or entry.deltas is None or entry.after is None:
            continue  # a lesson that changed nothing
        cabinet = machines[entry.machine_id].cabinet
        slots = slots_view(cabinet, cabinet.game.decode(entry.position))
        for slot, (delta, after) in enumerate(zip(entry.deltas, entry.after, strict=True)):
            if delta:
                view.append(
                    {
                        "ply": entry.ply,
                        "role": roles[sides[entry.machine_id]],
                        "box": entry.position,
                        "slot": slot,
                        "delta": delta,
                        "before": after - delta,
                        "after": after,
                        "colour": slots[slot]["colour"],
                        "mark": slots[slot]["mark"],
                        "name": slots[slot]["name"],
                        "refill": entry.kind == LessonKind.REFILL,
                    }
                )
    return view


def _result(match: Match, side: int) -> Result:
    if match.winner is None:
        return Result.DRAW
    return Result.WIN if match.winner == side else Result.LOSS


def lesson_told(name: str, result: str, deed: str, *, changed: bool) -> LessonDeed:
    """What a game was for a machine: its ``result``, the ``deed`` done to the machine, and both as one ``sentence``."""
    ended = {"win": "won", "draw": "drew", "loss": "lost"}[result]
    how = f": {deed[0].lower()}{deed[1:]}" if changed else f". {deed}"
    return {"result": result, "sentence": f"{name} {ended}{how}", "deed": deed}


def nothing_learnt(match: Match, machine: Machine, what: str) -> str:
    """What is said of a match of which a machine's ledger has no lesson: it may have been reset since, or folded up."""
    if machine.folded_at and match.finished_at is not None and match.finished_at <= machine.folded_at:
        return f"This match was long ago. Its lesson is in the {what}, but no longer listed game by game."
    if machine.learns:
        return f"The machine was frozen then, or was reset later. It has no {what} of this match."
    return f"The machine is frozen, so its {what} do not change."


def _deed(deltas: Sequence[int]) -> str:
    """What a game did to a machine's beads, in words a child understands, from the changes themselves."""
    if not deltas:
        return "Its beads do not change."
    if len(set(deltas)) > 1:
        return "The list shows how many beads each box gains or loses."
    where = "The box that it used" if len(deltas) == 1 else "Each box that it used"
    (delta,) = set(deltas)
    beads = f"{abs(delta)} {'bead' if abs(delta) == 1 else 'beads'}"
    return f"{where} {'gains' if delta > 0 else 'loses'} {beads} of the colour played."


def match_sentence(match: Match, own_side: int | None) -> str:
    """How a match ended, for one of its players."""
    if not match.is_over:
        return "waiting for an opponent" if match.status == MatchStatus.WAITING else "not finished yet"
    if match.winner is None:
        return f"a draw: {reason_of(match)}"
    if own_side is None:
        return f"{match.room.game_rules.look.layout.role_names[match.winner]} won: {reason_of(match)}"
    return f"you {'won' if match.winner == own_side else 'lost'}: {reason_of(match)}"


def match_line(match: Any) -> dict[str, Any]:
    """A match as a line of the list of matches of a person (``games.live.match_lists.match_list_of``)."""
    others = [seat.name for seat in match.seats.all() if seat.side != match.own_side]
    return {
        "code": match.room.code,
        "number": match.number,
        "game_name": match.room.game_rules.name,
        "opponent": others[0] if others else "",
        "result_sentence": match_sentence(match, match.own_side),
        "when": match.created_at,
        "url": match.get_absolute_url(),
    }


def match_waiting(match: Match) -> dict[str, Any] | None:
    """A room to join; ``None`` when somebody has taken its seat between two reads."""
    free = next((seat for seat in match.seats.all() if seat.is_free), None)
    host = next((seat for seat in match.seats.all() if not seat.is_free), None)
    if free is None:
        return None
    return {
        "code": match.room.code,
        "game_name": match.room.game_rules.name,
        "host_name": host.name if host else "nobody",
        "free_role": role_of(match, free.side),
        "age": match.created_at,
    }


def match_own(match: Match, is_own: Callable[[Seat], bool]) -> dict[str, Any]:
    """A match that somebody sits in, or hosts, to go back to; ``is_own`` tells which seats are theirs."""
    names = [
        ("you" if at else "You") if is_own(seat) else seat.name or "a free seat"
        for at, seat in enumerate(match.seats.all())
    ]
    return {
        "url": match.room.get_absolute_url(),
        "game_name": match.room.game_rules.name,
        "names": names,
        "is_waiting": match.status == MatchStatus.WAITING,
        "ply": match.n_plies,
    }


def match_live(match: Match) -> dict[str, Any]:
    """A match to watch."""
    return {
        "code": match.room.code,
        "game_name": match.room.game_rules.name,
        "names": [seat.name or "a free seat" for seat in match.seats.all()],
        "ply": match.n_plies,
    }
