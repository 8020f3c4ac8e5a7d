"""Reads: machines with their boxes, history and exact strength; what a machine thought in a match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.db.models import Q, QuerySet

from games.models import Match, Room, Seat
from games.rules.base import Side
from games.rules.errors import InvalidPositionError
from games.selectors import reason_of
from learning.exceptions import BoxNotFoundError, MachineNotFoundError
from learning.machines.boxes import Cabinet
from learning.machines.menace import Result
from learning.machines.registry import house_machine
from learning.machines.rule import BoxSet, EmptyOpening, FinalLoss, FinalWin, Rule, WhenEmpty
from learning.models import Box, Change, Draw, Lesson, LessonKind, Machine, MachineSeat
from learning.opponents.registry import OPPONENTS
from learning.storage import memory_load
from learning.training.strength import Expected, against_opponent, worst_case

STRENGTH_OPPONENTS = ("random", "win-block", "perfect")
STRENGTH_CACHE_S = 24 * 3600


def machine_find(ref: str) -> Machine:
    """The machine with this id or slug.

    Raises:
        MachineNotFoundError: there is none.
    """
    by = {"pk": int(ref)} if ref.isascii() and ref.isdigit() and len(ref) < 19 else {"slug": ref}
    # PostgreSQL refuses the character altogether.
    machine = Machine.objects.filter(**by).first() if "\0" not in ref else None
    if machine is None:
        raise MachineNotFoundError(f"There is no machine {ref!r}.")
    return machine


def machine_seen(ref: str | int, user: Any) -> Machine:
    """The machine with this id or slug, if the user may look at it: public, a room's copy, their own, or staff.

    Raises:
        MachineNotFoundError: there is none, or none that this user may see.
    """
    machine = machine_find(str(ref))
    is_theirs = user is not None and user.is_authenticated and (user.is_staff or machine.owner_id == user.pk)
    if not (machine.is_public or machine.room_id or is_theirs):
        raise MachineNotFoundError(f"There is no machine {str(ref)!r}.")
    return machine


def machine_in(seat: Seat) -> Machine | None:
    """The machine that sits in a seat, read once for each seat object; ``None`` when it has been deleted since."""
    if "machine_seat" not in seat._state.fields_cache:
        found = MachineSeat.objects.select_related("machine").filter(seat=seat).first()
        seat._state.fields_cache["machine_seat"] = found
    found = seat._state.fields_cache["machine_seat"]
    return found.machine if found is not None else None


def machine_of_house(game: str, side: Side) -> Machine | None:
    """The house's machine for a side of a game, if it has been made."""
    house = house_machine(game, side)
    return None if house is None else Machine.objects.filter(slug=house.slug).first()


def machine_list_public() -> QuerySet[Machine]:
    """Machines that anybody may look at and play, without the copies made for rooms."""
    return Machine.objects.filter(is_public=True, room__isnull=True).order_by("pk")


def machine_list_of(user_id: int) -> QuerySet[Machine]:
    """The machines of an account, and the copies made for rooms where it has a seat; newest first."""
    rooms = Room.objects.filter(matches__seats__user_id=user_id)
    return Machine.objects.filter(Q(owner_id=user_id) | Q(room__in=rooms)).order_by("-pk")


def machine_brief(machine: Machine) -> dict[str, Any]:
    """What the state of a room says of a machine."""
    return {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url(), "learns": machine.learns}


def machine_strength(machine: Machine) -> dict[str, dict[str, float]]:
    """Exact win, draw and loss against random, win-block and perfect play and in the worst case.

    Kept in the cache under the machine's last lesson, so it is worked out once for each state of the beads.
    """
    key = f"strength:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}"
    strength: dict[str, dict[str, float]] | None = cache.get(key)
    if strength is None:
        memory = memory_load(machine)
        exact: dict[str, Expected] = {
            slug.replace("-", "_"): against_opponent(memory, OPPONENTS[slug]) for slug in STRENGTH_OPPONENTS
        }
        exact["worst"] = worst_case(memory)
        strength = {name: asdict(expected) for name, expected in exact.items()}
        cache.set(key, strength, STRENGTH_CACHE_S)
    return strength


def box_state(position: str, beads: list[int], draws: list[int]) -> dict[str, Any]:
    """What changes about a box."""
    return {"position": position, "beads": beads, "draws": draws}


def slots_view(cabinet: Cabinet, box_position: Any) -> list[dict[str, Any]]:
    """For each slot of a box its bead (colour, mark) and the moves of the printed position it stands for."""
    game = cabinet.game
    view = []
    for printed, members in zip(cabinet.printed_moves(box_position), cabinet.slots(box_position), strict=True):
        bead = game.bead(box_position, printed)
        view.append(
            {
                "colour": bead.colour,
                "mark": bead.mark,
                "name": game.describe_move(printed),
                "moves": [game.format_move(move) for move in members],
            }
        )
    return view


def box_view(cabinet: Cabinet, box: Box) -> dict[str, Any]:
    """A box as the wall and its own page draw it."""
    position = cabinet.game.decode(box.position)
    return {
        **box_state(box.position, box.beads, box.draws),
        "board": list(cabinet.game.pieces(position)),
        "move_number": box.move_number,
        "ply": box.ply,
        "slots": slots_view(cabinet, position),
        "url": f"/machines/{box.machine_id}/boxes/{box.position}",
    }


def box_list_view(machine: Machine) -> list[dict[str, Any]]:
    """Every box of a machine in order of play."""
    cabinet = machine.cabinet
    return [box_view(cabinet, box) for box in machine.boxes.order_by("ply", "position")]


def box_get(machine: Machine, text: str) -> Box:
    """The box opened in a position, given in any orientation.

    Raises:
        BoxNotFoundError: the text is no position, or the machine has no box there.
    """
    cabinet = machine.cabinet
    try:
        position = cabinet.game.decode(text)
    except InvalidPositionError as error:
        raise BoxNotFoundError(str(error)) from None
    key = cabinet.game.encode(cabinet.box_position(position))
    box = machine.boxes.filter(position=key).first()
    if box is None:
        raise BoxNotFoundError(f"{machine.name} has no box for {text!r}.")
    return box


def box_history(box: Box) -> QuerySet[Change]:
    """Every change of a box, newest first, with its lesson and cause."""
    return box.changes.select_related("lesson__match__room", "lesson__run__opponent_machine").order_by(
        "-lesson__number", "-pk"
    )


def ledger_errors() -> list[int]:
    """The boxes (ids) whose beads are not what they were laid out with plus every recorded change: always none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT box.id FROM learning_box box CROSS JOIN LATERAL unnest(box.start, box.beads) WITH ORDINALITY"
            " AS slot (start, beads, n) LEFT JOIN LATERAL (SELECT sum(deltas[slot.n]) AS total FROM learning_change"
            " WHERE box_id = box.id) AS change ON true"
            " WHERE slot.start + coalesce(change.total, 0) <> slot.beads GROUP BY box.id ORDER BY box.id"
        )
        return [box_id for (box_id,) in cursor.fetchall()]


def draw_last(machine: Machine) -> dict[str, Any] | None:
    """The bead drawn last in a live match."""
    draw = Draw.objects.filter(machine=machine, slot__isnull=False).select_related("box").order_by("-pk").first()
    return None if draw is None else {"position": draw.box.position, "slot": draw.slot}


def lesson_list_recent(machine: Machine, limit: int = 12) -> list[Lesson]:
    """The machine's latest lessons from matches and runs."""
    lessons = machine.lessons.exclude(kind=LessonKind.REFILL).select_related("match__room", "run__opponent_machine")
    return list(lessons.order_by("-number")[:limit])


def match_insight(match: Match, seats: list[Seat]) -> dict[str, Any] | None:
    """``learning`` of a room's state: what the machines in these seats drew and learnt (docs/protocol.md)."""
    machines = {machine.pk: machine for seat in seats if (machine := machine_in(seat)) is not None}
    draws = list(Draw.objects.filter(seat__in=seats).select_related("box").order_by("ply"))
    if not machines or not (draws or match.is_over):
        return None
    game = match.room.rules
    plies = {ply.number: ply for ply in match.plies.all()}
    before = {ply.number + 1: ply.position for ply in plies.values()}
    before[0] = game.encode(game.initial_position())
    by_id = {seat.pk: seat for seat in seats}
    views = []
    for draw in draws:
        draw.seat = by_id[draw.seat_id]
        played = plies.get(draw.ply) if draw.slot is not None else None
        position = game.decode(before[draw.ply])
        views.append(_draw_view(machines[draw.machine_id].cabinet, draw, position, played.move if played else None))
    last = draws[-1] if draws else None
    # Where nothing was drawn yet, the match ended before the machine's first move.
    seat = last.seat if last else next(seat for seat in seats if machine_in(seat) is not None)
    machine = machines[last.machine_id] if last else next(iter(machines.values()))
    insight: dict[str, Any] = {
        "role": game.layout.roles[seat.side],
        "machine": machine_brief(machine),
        "box": last.box.position if last else None,
        "beads_before": last.beads if last else None,
        "slot": last.slot if last else None,
        "draws": views,
        "lesson": None,
        "changes": [],
    }
    if match.is_over:
        sides = {machine.pk: seat.side for seat in seats if (machine := machine_in(seat)) is not None}
        insight["changes"] = _changes_view(match, machines, sides)
        result = _result(match, seat.side)
        deltas = [change["delta"] for change in insight["changes"] if not change["refill"]]
        sentence = lesson_sentence(machine.name, result, deltas, learnt=_learnt(match, machine))
        insight["lesson"] = {"result": result.name.lower(), "sentence": sentence}
    return insight


def _draw_view(cabinet: Cabinet, draw: Draw, position: Any, move: str | None) -> dict[str, Any]:
    game = cabinet.game
    printed = game.decode(draw.box.position)
    placement = cabinet.placement(position)
    total = sum(draw.beads)
    # An empty box that played all the same played anything that is allowed.
    anything = total == 0 and draw.slot is not None
    moves_of_slots = cabinet.slot_moves(position)
    n_ways = sum(map(len, moves_of_slots)) if cabinet.rule.merge_symmetric_moves else len(moves_of_slots)
    slots = []
    for index, (view, moves) in enumerate(zip(slots_view(cabinet, printed), cabinet.slot_moves(position), strict=True)):
        slots.append(
            {
                **view,
                "slot": index,
                "moves": [game.format_move(m) for m in moves],
                "beads": draw.beads[index],
                "probability": _chance(draw.beads[index], total, moves, n_ways, cabinet.rule, anything=anything),
            }
        )
    return {
        "ply": draw.ply,
        "role": game.layout.roles[draw.seat.side],
        "box": {
            "position": draw.box.position,
            "board": list(game.pieces(printed)),
            "move_number": draw.box.move_number,
            "url": f"/machines/{draw.machine_id}/boxes/{draw.box.position}",
        },
        "symmetry": {
            "name": placement.name,
            "quarter_turns": placement.quarter_turns,
            "mirrored": placement.mirrored,
        },
        "slots": slots,
        "slot": draw.slot,
        "move": move,
        "resigned": draw.slot is None,
        "refilled": draw.refilled,
        "anything": anything,
    }


def _chance(beads: int, total: int, moves: Sequence[Any], n_ways: int, rule: Rule, *, anything: bool) -> float:
    """The chance that a slot was drawn with."""
    if anything:
        return (len(moves) if rule.merge_symmetric_moves else 1) / n_ways
    return beads / total if total else 0.0


def _changes_view(match: Match, machines: dict[int, Machine], sides: dict[int, int]) -> list[dict[str, Any]]:
    """Every bead that the match added or removed, refills included, in order of play."""
    changes = (
        Change.objects.filter(lesson__match=match, lesson__machine__in=machines)
        .select_related("box", "lesson")
        .order_by("ply", "lesson__number", "pk")
    )
    roles = match.room.rules.layout.roles
    view = []
    for change in changes:
        cabinet = machines[change.box.machine_id].cabinet
        slots = slots_view(cabinet, cabinet.game.decode(change.box.position))
        for slot, (delta, after) in enumerate(zip(change.deltas, change.after, strict=True)):
            if delta:
                view.append(
                    {
                        "ply": change.ply,
                        "role": roles[sides[change.box.machine_id]],
                        "box": change.box.position,
                        "slot": slot,
                        "delta": delta,
                        "before": after - delta,
                        "after": after,
                        "colour": slots[slot]["colour"],
                        "mark": slots[slot]["mark"],
                        "name": slots[slot]["name"],
                        "refill": change.lesson.kind == LessonKind.REFILL,
                    }
                )
    return view


def _result(match: Match, side: int) -> Result:
    if match.winner is None:
        return Result.DRAW
    return Result.WIN if match.winner == side else Result.LOSS


def _learnt(match: Match, machine: Machine) -> bool:
    return match.lessons.filter(machine=machine, kind=LessonKind.MATCH).exists()


def lesson_sentence(name: str, result: Result, deltas: Sequence[int], *, learnt: bool) -> str:
    """What a game did to a machine's beads, in words a child understands, from the changes themselves."""
    ended = {Result.WIN: "won", Result.DRAW: "drew", Result.LOSS: "lost"}[result]
    if not learnt:
        return f"{name} {ended}. It is frozen, so its beads stay as they are."
    if not deltas:
        return f"{name} {ended}. Its beads stay as they are."
    if len(set(deltas)) > 1:
        return f"{name} {ended}: beads go in or out of the boxes it opened, as the list tells."
    where = "the box it opened" if len(deltas) == 1 else "each of these boxes"
    (delta,) = set(deltas)
    beads = f"{abs(delta)} {'bead' if abs(delta) == 1 else 'beads'}"
    if delta > 0:
        return f"{name} {ended}: it adds {beads} of the colour it played to {where}."
    return f"{name} {ended}: it takes {beads} of the colour it played out of {where}."


def match_sentence(match: Match, own_side: int | None) -> str:
    """How a match ended, for one of its players."""
    if not match.is_over:
        return "still going on"
    if match.winner is None:
        return f"a draw: {reason_of(match)}"
    if own_side is None:
        return f"{match.room.rules.layout.role_names[match.winner]} won: {reason_of(match)}"
    return f"you {'won' if match.winner == own_side else 'lost'}: {reason_of(match)}"


def rule_sentences(rule: Rule) -> list[tuple[str, str]]:
    """The rule in words, field by field that matters, as (label, sentence)."""
    by = {"move_number": "by its own move number", "ply": "by the number of pieces on the board", "cell": "by square"}
    refills = rule.empty_opening is EmptyOpening.REFILL
    opening = "the very first box is filled again" if refills else "with an empty first box it refuses to play"
    boxes = [
        "one for every choice" if rule.box_set is BoxSet.DECISIONS else "one for every turn",
        "turned boards share a box" if rule.reduce_symmetry else "every board as it lies",
    ]
    if rule.merge_symmetric_moves:
        boxes.append("like squares share a colour")
    sentences = [
        ("Starts with", f"{', '.join(map(str, rule.initial))} beads of each colour, {by[rule.initial_by]}"),
        ("Win, draw, loss", f"{rule.win:+d}, {rule.draw:+d}, {rule.loss:+d} beads on the move played"),
        (
            "Empty box",
            {
                WhenEmpty.RESIGN: f"it resigns; {opening}",
                WhenEmpty.REFILL: "it is filled again as it was at the start",
                WhenEmpty.UNIFORM: "it plays anything that is allowed",
            }[rule.when_empty],
        ),
        ("Boxes", ", ".join(boxes)),
    ]
    if rule.floor:
        sentences.append(("Never fewer than", f"{rule.floor} of a colour"))
    if rule.cap is not None:
        sentences.append(("Never more than", f"{rule.cap} of a colour"))
    if rule.final_win is not FinalWin.NONE:
        sentences.append(("Last move of a win", "becomes the only one in its box"))
    if rule.final_loss is not FinalLoss.NONE:
        sentences.append(("Last move of a loss", "is taken out of its box for good"))
    if rule.only_last:
        sentences.append(("Learns", "in the last box it opened only"))
    return sentences
