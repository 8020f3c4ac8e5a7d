"""Reads: machines with their boxes, history and exact strength; what a machine thought in a match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.db.models import Min, Q, QuerySet

from games.exceptions import MalformedError
from games.models import Match, Room, Seat
from games.rules.base import Side
from games.rules.errors import InvalidPositionError
from games.selectors import reason_of
from learning.exceptions import BoxNotFoundError, MachineFileError, MachineNotFoundError, PrintRefusedError
from learning.exchange.document import BoxData, MachineData, boxes_sorted
from learning.exchange.errors import ExchangeError
from learning.exchange.registry import format_get
from learning.kernels.random_source import RandomSource
from learning.machines.boxes import Cabinet
from learning.machines.menace import Menace, Result
from learning.machines.printed_set import printed_set
from learning.machines.registry import HOUSE, house_machine
from learning.machines.rule import BoxSet, EmptyOpening, FinalLoss, FinalWin, Rule, WhenEmpty
from learning.models import (
    Box,
    Change,
    CurvePoint,
    Draw,
    Lesson,
    LessonKind,
    Machine,
    MachineSeat,
    RunStage,
    TrainingRun,
)
from learning.opponents.registry import OPPONENTS, UNIFORM
from learning.printing.errors import PrintingError
from learning.printing.sheets import PrintOptions, sheets_pdf
from learning.storage import memory_load
from learning.training.open_memory import AnyMemory, OpenMemory
from learning.training.strength import against_opponent, visit_probability, worst_case
from learning.training.tables import boxes_compile

STRENGTH_OPPONENTS = ("random", "win-block", "perfect")
STRENGTH_CACHE_S = 24 * 3600
GARDNERS = ("gardner-her", "gardner-her-reward")
FEW_BOXES = 100
"""A set of drawings is shown for machines of at most so many boxes."""
WALL_MOST = 6_000
"""So many boxes hang on the wall of a machine's page: all of any game that can be listed, and a page of some 3 MB."""
GALLERY_MOST = 20_000
"""So many boxes has the gallery, in which each takes less."""
SAMPLE_GAMES = 100
"""How many games a sampled strength is the result of, against each opponent: the interval is about ± .1."""

Strength = dict[str, dict[str, Any]]
"""Chances of win, draw and loss by opponent; of a sample also ``games`` and the intervals."""


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


def machines_of_house() -> dict[tuple[str, Side], Machine]:
    """The house's machines that have been made, by game and side; one query."""
    made = {machine.slug: machine for machine in Machine.objects.filter(slug__in=[house.slug for house in HOUSE])}
    return {(house.game, house.side): made[house.slug] for house in HOUSE if house.slug in made}


def machine_list_public() -> QuerySet[Machine]:
    """Machines that anybody may look at and play, without the copies made for rooms."""
    return Machine.objects.filter(is_public=True, room__isnull=True).order_by("pk")


def machine_list_of(user_id: int) -> QuerySet[Machine]:
    """The machines of an account, and the copies made for rooms where it has a seat; newest first."""
    rooms = Room.objects.filter(matches__seats__user_id=user_id)
    return Machine.objects.filter(Q(owner_id=user_id) | Q(room__in=rooms)).order_by("-pk")


def machine_brief(machine: Machine) -> dict[str, Any]:
    """What the state of a room says of a machine; ``win_rate`` is ``None`` before its first game."""
    return {
        "id": machine.pk,
        "name": machine.name,
        "url": machine.get_absolute_url(),
        "learns": machine.learns,
        "level": machine.level,
        "games": machine.n_games,
        "wins": machine.n_wins,
        "draws": machine.n_draws,
        "losses": machine.n_losses,
        "win_rate": machine.n_wins / machine.n_games if machine.n_games else None,
    }


def machine_strength(machine: Machine) -> Strength:
    """Win, draw and loss against random, win-block and perfect play and in the worst case: exact, or a sample.

    Kept in the cache under the machine's last lesson, so it is worked out once for each state of the beads.
    """
    key = f"strength:{machine.pk}:{machine.created_at.timestamp()}:{machine.n_lessons}"
    strength: Strength | None = cache.get(key)
    if strength is None:
        strength = strength_of(memory_load(machine), RandomSource(machine.n_lessons))
        cache.set(key, strength, STRENGTH_CACHE_S)
    return strength


def strength_of(memory: AnyMemory, rng: RandomSource) -> Strength:
    """Win, draw and loss of a memory against each opponent of the page.

    Exact, and then in the worst case too. Of a game too large to sum over the shares in :data:`SAMPLE_GAMES` games,
    taken from ``rng``, against those opponents that can play it: ``games`` and the 95 % intervals stand with them.
    """
    opponents = {slug.replace("-", "_"): OPPONENTS[slug] for slug in STRENGTH_OPPONENTS}
    if isinstance(memory, OpenMemory):
        game = memory.machine.game
        able = {name: opponent for name, opponent in opponents.items() if opponent.plays(game)}
        return {name: asdict(memory.sample(opponent, SAMPLE_GAMES, rng)) for name, opponent in able.items()}
    exact = {name: against_opponent(memory, opponent) for name, opponent in opponents.items()}
    exact["worst"] = worst_case(memory)
    return {name: asdict(expected) for name, expected in exact.items()}


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
                "printed": game.format_move(printed),
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
    """The boxes of a machine in order of play, :data:`WALL_MOST` at most."""
    cabinet = machine.cabinet
    return [box_view(cabinet, box) for box in machine.boxes.order_by("ply", "position")[:WALL_MOST]]


def box_totals(machine: Machine, shown: list[dict[str, Any]]) -> tuple[int, int]:
    """How many boxes a machine has, and how many beads lie in them; a query only if not all may be ``shown``."""
    if len(shown) < WALL_MOST:
        return len(shown), sum(sum(box["beads"]) for box in shown)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(sum((SELECT sum(n) FROM unnest(beads) AS n)), 0)::bigint"
            " FROM learning_box WHERE machine_id = %s",
            [machine.pk],
        )
        n_boxes, n_beads = cursor.fetchone()
        return n_boxes, n_beads


def box_gallery(machine: Machine) -> dict[str, Any]:
    """The boxes of a machine, :data:`GALLERY_MOST` at most, packed: what many boxes share is said once.

    So 10,000 are a short page too.
    """
    rows = list(
        machine.boxes.order_by("ply", "position").values_list(
            "position", "move_number", "ply", "start", "beads", "draws"
        )[:GALLERY_MOST]
    )
    cabinet = machine.cabinet
    if cabinet.game.enumerable:
        printed, slots, pieces = _printed_all(cabinet)
    else:
        printed, slots, pieces = _printed(cabinet, [row[0] for row in rows])
    visits = visit_probabilities(machine)
    boxes = [(*row, *printed[row[0]], None if visits is None else visits.get(row[0], 0.0)) for row in rows]
    return {"slots": slots, "pieces": pieces, "boxes": boxes}


def has_drawings(machine: Machine) -> bool:
    """Whether there are drawings to show beside the boxes: Gardner's, of a machine after his and of that size."""
    return machine.preset in GARDNERS and machine.rules.enumerable and machine.boxes.count() <= FEW_BOXES


def drawings_view(machine: Machine) -> list[dict[str, Any]]:
    """Every box as Gardner drew it, once or as a pair of mirror images, in order of play.

    Raises:
        BoxNotFoundError: the machine is not after his.
    """
    if not has_drawings(machine):
        raise BoxNotFoundError(f"Gardner made no drawings for a machine like {machine.name}.")
    cabinet = machine.cabinet
    game = cabinet.game
    groups: dict[str, dict[str, Any]] = {}
    for position in printed_set(cabinet):
        printed = cabinet.box_position(position)
        key = game.encode(printed)
        group = groups.setdefault(
            key,
            {
                "box": key,
                "move_number": cabinet.move_number(printed) + 1,
                "url": f"/machines/{machine.pk}/boxes/{key}",
                "drawings": [],
            },
        )
        slots = zip(slots_view(cabinet, printed), cabinet.slot_moves(position), strict=True)
        group["drawings"].append(
            {
                "position": game.encode(position),
                "board": list(game.pieces(position)),
                "slots": [{**slot, "moves": [game.format_move(move) for move in moves]} for slot, moves in slots],
            }
        )
    return sorted(groups.values(), key=lambda group: (group["move_number"], group["box"]))


Printed = tuple[dict[str, tuple[list[int], list[int]]], list[Any], list[str | None]]


@lru_cache(maxsize=32)
def _printed_all(cabinet: Cabinet) -> Printed:
    return _printed(cabinet, boxes_compile(cabinet.game, cabinet.side, cabinet.rule).keys)


def _printed(cabinet: Cabinet, keys: Sequence[str]) -> Printed:
    """For each box its pieces and its slots as places in the two lists of all different pieces and slots."""
    slots: dict[str, int] = {}
    pieces: dict[str | None, int] = {}
    views: list[Any] = []
    printed = {}
    for key in keys:
        position = cabinet.game.decode(key)
        places = []
        for view in slots_view(cabinet, position):
            name = repr(view)
            if name not in slots:
                slots[name] = len(views)
                views.append(view)
            places.append(slots[name])
        board = [pieces.setdefault(piece, len(pieces)) for piece in cabinet.game.pieces(position)]
        printed[key] = (board, places)
    return printed, views, list(pieces)


def lesson_span(machine: Machine) -> tuple[int, int]:
    """The numbers of the lesson before the machine's first, and of its last: what a time machine can show."""
    first = machine.lessons.aggregate(first=Min("number"))["first"]
    return (machine.n_lessons, machine.n_lessons) if first is None else (first - 1, machine.n_lessons)


def lesson_at(machine: Machine, number: int) -> Lesson | None:
    """The machine's lesson of this number, with its cause."""
    return machine.lessons.select_related("match__room", "run").filter(number=number).first()


def box_get(machine: Machine, text: str) -> Box:
    """The box opened in a position, given in any orientation.

    Raises:
        BoxNotFoundError: the text is no position, or the machine has no box there.
    """
    cabinet = machine.cabinet
    try:
        position = cabinet.game.decode_as(text, cabinet.side)
    except InvalidPositionError as error:
        raise BoxNotFoundError(str(error)) from None
    key = cabinet.game.encode(cabinet.box_position(position))
    box = machine.boxes.filter(position=key).first()
    if box is None:
        raise BoxNotFoundError(f"{machine.name} has no box for {text!r}.")
    return box


def why_view(machine: Machine, text: str) -> dict[str, Any]:
    """Why the machine would play what it would play in a position, given in any orientation.

    For each legal move *of the position as asked* the slot of the box that stands for it, that slot's beads, and the
    exact probability. A forced move that needs no box has no slot; a box not opened yet shows what it would begin with.

    Raises:
        BoxNotFoundError: the text is no position, the game is over there, or the other side is to move.
    """
    cabinet = machine.cabinet
    game = cabinet.game
    try:
        position = game.decode_as(text, Side(machine.side))
    except InvalidPositionError as error:
        raise BoxNotFoundError(str(error)) from None
    if game.is_terminal(position):
        raise BoxNotFoundError("The game is over there: nobody has to choose.")
    if game.side_to_move(position) != machine.side:
        raise BoxNotFoundError(f"It is the other side's turn there; {machine.name} {machine.get_side_display()}.")
    printed = cabinet.box_position(position)
    key = game.encode(printed)
    box = machine.boxes.filter(position=key).first()
    has_box = cabinet.has_box(position)
    beads = list(box.beads) if box else cabinet.initial_beads(printed) if has_box else []
    menace = Menace(game, cabinet.side, cabinet.rule, {key: list(beads)} if has_box else {})
    policy = menace.policy(position)
    placement = cabinet.placement(position)
    slots = slots_view(cabinet, printed)
    moves = []
    for move, probability in policy.items():
        there = game.transform_move(move, game.inverse(placement))
        slot = cabinet.slot_of(printed, there) if has_box else None
        moves.append(
            {
                "move": game.format_move(move),
                "name": game.describe_move(move),
                "cells": list(game.path(move)),
                "slot": slot,
                "colour": None if slot is None else slots[slot]["colour"],
                "mark": None if slot is None else slots[slot]["mark"],
                "beads": None if slot is None else beads[slot],
                "probability": probability,
            }
        )
    return {
        "position": text,
        "board": list(game.pieces(position)),
        "symmetry": {
            "name": placement.name,
            "quarter_turns": placement.quarter_turns,
            "mirrored": placement.mirrored,
        },
        "box": None if box is None else box_view(cabinet, box),
        "box_position": key if has_box else None,
        "forced": not has_box,
        "resigns": not any(policy.values()),
        "moves": moves,
    }


def explore_view(machine: Machine, text: str) -> dict[str, Any]:
    """A position that somebody walks through: whose turn it is, where each move leads, and why the machine moves.

    Raises:
        BoxNotFoundError: the text is no position of the game.
    """
    game = machine.rules
    try:
        position = game.decode_as(text, Side(machine.side))
    except InvalidPositionError as error:
        raise BoxNotFoundError(str(error)) from None
    outcome, side = game.outcome(position), game.side_to_move(position)
    cells = game.layout.cells
    moves = [
        {
            "move": game.format_move(move),
            "name": game.describe_move(move),
            "path": [cells[cell].id for cell in game.path(move)],
            "next": game.encode(game.apply(position, move)),
        }
        for move in game.legal_moves(position)
    ]
    over = None
    if outcome is not None:
        who = "Nobody wins" if outcome.winner is None else f"{game.layout.role_names[outcome.winner].capitalize()} win"
        over = f"{who}: {game.reasons[outcome.termination]}."
    is_its_turn = outcome is None and side == machine.side
    return {
        "position": text,
        "board": list(game.pieces(position)),
        "role": game.layout.roles[side],
        "over": over,
        "moves": moves,
        "why": why_view(machine, text) if is_its_turn else None,
    }


def boxes_at(machine: Machine, lesson_number: int) -> dict[str, list[int]]:
    """The beads of the boxes of the gallery as they stood after a lesson (0: as laid out), by position.

    One query. A machine's lessons are written under its lock, so their ids ascend with their numbers; and so do the
    ids of a box's changes.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT box.position, coalesce(latest.after, box.start) FROM learning_box box LEFT JOIN LATERAL ("
            " SELECT change.after FROM learning_change change WHERE change.box_id = box.id AND change.lesson_id <="
            " (SELECT max(id) FROM learning_lesson WHERE machine_id = %s AND number <= %s)"
            " ORDER BY change.lesson_id DESC, change.id DESC LIMIT 1"
            ") AS latest ON true WHERE box.machine_id = %s ORDER BY box.ply, box.position LIMIT %s",
            [machine.pk, lesson_number, machine.pk, GALLERY_MOST],
        )
        return dict(cursor.fetchall())


def visit_probabilities(machine: Machine, opponent: str = "random") -> dict[str, float] | None:
    """The exact chance that a game against a fixed opponent opens each box, by position.

    Kept in the cache under the machine's last lesson, as its strength is. ``None`` where the game is too large to know.

    Raises:
        MalformedError: there is no such opponent.
    """
    if opponent not in UNIFORM:
        raise MalformedError(f"opponent: {opponent!r} is not one of {', '.join(UNIFORM)}.")
    key = f"visits:{machine.pk}:{machine.n_lessons}:{opponent}"
    visits: dict[str, float] | None = cache.get(key)
    if visits is None:
        memory = memory_load(machine)
        if isinstance(memory, OpenMemory):
            return None
        chances = visit_probability(memory, UNIFORM[opponent])
        visits = dict(zip(memory.table.keys, chances.tolist(), strict=True))
        cache.set(key, visits, STRENGTH_CACHE_S)
    return visits


def machine_data(machine: Machine) -> MachineData:
    """Everything the machine is, at one moment: boxes and totals come from one query, whoever is training it."""
    head = ("n_wins", "n_draws", "n_losses", "n_removed", "learns")
    rows = list(
        machine.boxes.order_by("ply", "position").values_list(
            "position", "beads", "draws", *(f"machine__{name}" for name in head)
        )
    )
    wins, draws, losses, removed, learns = rows[0][3:] if rows else (getattr(machine, name) for name in head)
    return MachineData(
        game=machine.rules,
        side=Side(machine.side),
        rule=machine.learning_rule,
        name=machine.name,
        description=machine.description,
        preset=machine.preset,
        learns=learns,
        wins=wins,
        draws=draws,
        losses=losses,
        removed=removed,
        boxes=boxes_sorted(machine.rules, (BoxData(row[0], tuple(row[1]), tuple(row[2])) for row in rows)),
    )


def machine_export(machine: Machine, form: str = "native") -> MachineFile:
    """A machine as a file of one of the formats of :data:`~learning.exchange.registry.FORMATS`.

    Raises:
        MachineFileError: there is no such format, or the machine's game does not fit into it.
    """
    try:
        chosen = format_get(form)
        text = chosen.dump(machine_data(machine))
    except ExchangeError as error:
        raise MachineFileError(str(error)) from None
    extra = "" if form == "native" else f".{form}" if form != chosen.suffix else ""
    return MachineFile(f"{machine.slug}{extra}.{chosen.suffix}", chosen.media_type, text)


def machine_sheets(machine: Machine, options: PrintOptions) -> BytesIO:
    """The machine's box fronts and the table of its beads, as PDF.

    Raises:
        PrintRefusedError: they do not fit on this paper, or the machine has no box.
    """
    boxes = list(machine.boxes.values_list("position", "beads"))
    try:
        return sheets_pdf(machine.cabinet, machine.name, boxes, options)
    except PrintingError as error:
        raise PrintRefusedError(str(error)) from None


@dataclass(frozen=True, slots=True)
class MachineFile:
    """A file to hand out."""

    name: str
    media_type: str
    text: str


def box_history(box: Box) -> QuerySet[Change]:
    """Every change of a box, newest first, with its lesson and cause."""
    return box.changes.select_related("lesson__match__room").order_by("-lesson__number", "-pk")


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
    lessons = machine.lessons.exclude(kind=LessonKind.REFILL).select_related("match__room")
    return list(lessons.order_by("-number")[:limit])


def point_view(point: CurvePoint) -> dict[str, Any]:
    """A point of a run's curve."""
    return {
        "games": point.games_done,
        "wins": point.n_wins,
        "draws": point.n_draws,
        "losses": point.n_losses,
        "strength": point.strength,
    }


def run_view(run: TrainingRun) -> dict[str, Any]:
    """How far a training run is (``curve`` apart: :func:`run_curve`)."""
    return {
        "id": run.pk,
        "machine": run.machine_id,
        "opponents": [
            {
                "opponent": stage.opponent,
                "machine": stage.opponent_machine_id,
                "learns": stage.opponent_learns,
                "games": stage.n_games,
            }
            for stage in run.stages.all()
        ],
        "status": run.status,
        "games": run.n_games,
        "games_done": run.games_done,
        "wins": run.n_wins,
        "draws": run.n_draws,
        "losses": run.n_losses,
        "seed": run.seed,
        "error": run.error,
        "created_at": run.created_at.isoformat(),
        "started_at": run.started_at and run.started_at.isoformat(),
        "finished_at": run.finished_at and run.finished_at.isoformat(),
    }


def run_curve(run: TrainingRun, *, after: int = -1) -> list[dict[str, Any]]:
    """The points of a run's curve so far, in order, those beyond so many games."""
    return [point_view(point) for point in run.curve.filter(games_done__gt=after).order_by("games_done")]


def stage_sentence(stage: RunStage) -> str:
    """So many games against whom."""
    other = stage.opponent_machine
    who = other.name if other else OPPONENTS[stage.opponent].name.lower()
    learns = ", which learns too" if stage.opponent_learns else ""
    return f"{stage.n_games:,} games against {who}{learns}"


def run_list_of(machine: Machine, limit: int = 20) -> list[TrainingRun]:
    """The machine's training runs, newest first, with their stages."""
    return list(machine.runs.prefetch_related("stages__opponent_machine").order_by("-pk")[:limit])


def machine_loss(machine: Machine) -> dict[str, int]:
    """What a machine holds that would be lost with it."""
    return {
        "games": machine.n_games,
        "lessons": machine.lessons.count(),
        "boxes": machine.boxes.count(),
        "runs": machine.runs.count(),
        "matches": machine.machine_seats.count(),
    }


def run_list_open(machine: Machine) -> list[TrainingRun]:
    """The machine's training runs that wait or go on."""
    return list(machine.runs.filter(finished_at__isnull=True).order_by("pk"))


def opponent_machines(machine: Machine, among: QuerySet[Machine], limit: int = 100) -> list[Machine]:
    """Those machines that this one can be trained against: the same game, the other side, the same sight of boards."""
    sight = machine.learning_rule.reduce_symmetry
    others = among.filter(game=machine.game, side=Side(machine.side).other, rule__reduce_symmetry=sight)
    return list(others.order_by("name", "pk")[:limit])


def machine_rows(machines: QuerySet[Machine], *, game: str = "", limit: int = 200) -> list[dict[str, Any]]:
    """Machines as lines of a list, in order of name."""
    chosen = machines.filter(game=game) if game else machines
    return [
        {
            **machine_brief(machine),
            "game": machine.rules.name,
            "side_name": machine.get_side_display(),
            "owner": machine.owner.get_username() if machine.owner else "",
            "is_public": machine.is_public,
        }
        for machine in chosen.select_related("owner").order_by("name", "pk")[:limit]
    ]


def machine_curves(machines: Sequence[Machine]) -> dict[int, list[dict[str, Any]]]:
    """The curve of each machine over all its training runs, one after the other; two queries.

    ``games`` counts the training games of the runs before as well; matches, which are few, are left out.
    """
    runs = TrainingRun.objects.filter(machine__in=machines, started_at__isnull=False).prefetch_related("curve")
    curves: dict[int, list[dict[str, Any]]] = {machine.pk: [] for machine in machines}
    before = dict.fromkeys(curves, (0, 0, 0, 0))
    for run in runs.order_by("started_at", "pk"):
        games, wins, draws, losses = before[run.machine_id]
        curves[run.machine_id] += [
            {
                "games": games + point.games_done,
                "wins": wins + point.n_wins,
                "draws": draws + point.n_draws,
                "losses": losses + point.n_losses,
                "strength": point.strength,
            }
            for point in run.curve.all()
        ]
        before[run.machine_id] = (
            games + run.games_done,
            wins + run.n_wins,
            draws + run.n_draws,
            losses + run.n_losses,
        )
    return curves


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
        "lessons": [],
        "changes": [],
    }
    if match.is_over:
        sides = {machine.pk: seat.side for seat in seats if (machine := machine_in(seat)) is not None}
        insight["changes"] = _changes_view(match, machines, sides)
        insight["lessons"] = _lessons_view(match, machines, sides, insight["changes"])
        lesson = next(lesson for lesson in insight["lessons"] if lesson["role"] == insight["role"])
        insight["lesson"] = {"result": lesson["result"], "sentence": lesson["sentence"]}
    return insight


def _lessons_view(
    match: Match, machines: dict[int, Machine], sides: dict[int, int], changes: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """What the match was for each machine, in order of side."""
    roles = match.room.rules.layout.roles
    learnt = set(match.lessons.filter(kind=LessonKind.MATCH).values_list("machine_id", flat=True))
    view = []
    for pk in sorted(sides, key=lambda pk: sides[pk]):
        machine, role, result = machines[pk], roles[sides[pk]], _result(match, sides[pk])
        deltas = [change["delta"] for change in changes if change["role"] == role and not change["refill"]]
        sentence = lesson_sentence(machine.name, result, deltas, learnt=pk in learnt)
        view.append(
            {"role": role, "machine": machine_brief(machine), "result": result.name.lower(), "sentence": sentence}
        )
    return view


def _draw_view(cabinet: Cabinet, draw: Draw, position: Any, move: str | None) -> dict[str, Any]:
    game = cabinet.game
    printed = game.decode(draw.box.position)
    placement = cabinet.placement(position)
    total = sum(draw.beads)
    by_hand = draw.seat.is_human
    # An empty box that played all the same played anything that is allowed.
    anything = total == 0 and draw.slot is not None and not by_hand
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
        "by_hand": by_hand,
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
