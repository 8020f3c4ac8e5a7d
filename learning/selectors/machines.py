"""Reads of machines: which there are, what they are called and what they hold."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.db.models import Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import JSONObject

from games.models import Room, Seat
from games.rules.base import Side
from learning.access import machines_visible
from learning.core.machines.q_learning import QRule
from learning.core.machines.registry import HOUSE, Rule, house_machine
from learning.core.machines.rule import BoxRule, BoxSet, EmptyOpening, FinalLoss, FinalWin, WhenEmpty
from learning.models import Lesson, LessonKind, Machine, MachineSeat, TrainingRun


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
    return {
        (house.game, side): made[house.slug]
        for house in HOUSE
        if house.slug in made
        for side in (Side if house.side is None else (house.side,))
    }


def machine_list_public() -> QuerySet[Machine]:
    """Machines that anybody may look at and play, without the copies made for rooms."""
    return Machine.objects.filter(is_public=True, room__isnull=True).order_by("pk")


def machine_list_of(user_id: int) -> QuerySet[Machine]:
    """The machines of an account, and the public copies made for rooms where it has a seat; newest first."""
    rooms = Room.objects.filter(matches__seats__user_id=user_id)
    return Machine.objects.filter(Q(owner_id=user_id) | Q(room__in=rooms, is_public=True)).order_by("-pk")


def machine_list_seen(user: Any, game: str, limit: int = 200) -> list[Machine]:
    """The machines of a game that a list may show to this user, in order of name."""
    return list(machines_visible(user).filter(game=game).order_by("name", "pk")[:limit])


def machine_brief(machine: Machine) -> dict[str, Any]:
    """What the state of a room says of a machine; ``win_rate`` is ``None`` before its first game."""
    return {
        "id": machine.pk,
        "name": machine.name,
        "url": machine.get_absolute_url(),
        "learns": machine.learns,
        "level": machine.level,
        "epsilon": machine.epsilon,
        "games": machine.n_games,
        "wins": machine.n_wins,
        "draws": machine.n_draws,
        "losses": machine.n_losses,
        "win_rate": machine.n_wins / machine.n_games if machine.n_games else None,
    }


def lesson_span(machine: Machine) -> tuple[int, int]:
    """The numbers of the lesson before the machine's first, and of its last: what a time machine can show."""
    first = machine.lessons.aggregate(first=Min("number"))["first"]
    return (machine.n_lessons, machine.n_lessons) if first is None else (first - 1, machine.n_lessons)


def lesson_at(machine: Machine, number: int) -> QuerySet[Lesson]:
    """The machine's lesson of this number, with its cause, if there is one."""
    return machine.lessons.select_related("match__room", "run").filter(number=number)


def lesson_list_recent(machine: Machine, limit: int = 12, among: int = 500) -> QuerySet[Lesson]:
    """The machine's latest lessons from matches and runs, found ``among`` so many.

    The many lessons of a run stand for one: its last, annotated with ``run_tally``, what they all came to.
    """
    lessons = machine.lessons.exclude(kind=LessonKind.REFILL)
    last: dict[tuple[str, int], int] = {}
    for pk, run_id in lessons.order_by("-number").values_list("pk", "run_id")[:among]:
        last.setdefault(("lesson", pk) if run_id is None else ("run", run_id), pk)
    of_run = Lesson.objects.filter(machine=machine, run=OuterRef("run")).order_by().values("run")
    tally = of_run.annotate(tally=JSONObject(wins=Sum("n_wins"), draws=Sum("n_draws"), losses=Sum("n_losses")))
    shown = lessons.filter(pk__in=list(last.values())[:limit]).annotate(run_tally=Subquery(tally.values("tally")))
    return shown.select_related("match__room").order_by("-number")


def machine_loss(machine: Machine) -> dict[str, int]:
    """What a machine holds that would be lost with it."""
    return {
        "games": machine.n_games,
        "lessons": machine.lessons.count(),
        "boxes": machine.boxes.count(),
        "values": machine.values.count(),
        "runs": machine.runs.count(),
        "matches": machine.machine_seats.count(),
        "stopped": TrainingRun.objects.filter(stages__opponent_machine=machine, finished_at__isnull=True)
        .distinct()
        .count(),
    }


def opponent_machines(machine: Machine, among: QuerySet[Machine], limit: int = 100) -> list[Machine]:
    """Those machines that this one can be trained against: the same game, the other side, the same sight of boards.

    Of machines that keep values any, itself among them.
    """
    others = among.filter(game=machine.game)
    if machine.keeps_values:
        others = others.filter(side__isnull=True)
    else:
        sight = machine.box_rule.reduce_symmetry
        others = others.filter(side=machine.cabinet.side.other, rule_json__reduce_symmetry=sight)
    return list(others.order_by("name", "pk")[:limit])


def machine_rows(machines: QuerySet[Machine], *, game: str = "", limit: int = 200) -> list[dict[str, Any]]:
    """Machines as lines of a list, in order of name."""
    chosen = machines.filter(game=game) if game else machines
    return [
        {
            **machine_brief(machine),
            "game": machine.game_rules.name,
            "side_name": machine.get_side_display(),
            "owner": machine.owner.get_username() if machine.owner else "",
            "is_public": machine.is_public,
        }
        for machine in chosen.select_related("owner").order_by("name", "pk")[:limit]
    ]


def machine_stopped(machine: Machine) -> str:
    """What to say of a machine of boxes that resigns on its first move for ever; nothing of one that does not."""
    rule = machine.box_rule
    if rule.when_empty is not WhenEmpty.RESIGN or rule.empty_opening is not EmptyOpening.STOP:
        return ""
    first = machine.boxes.filter(move_number=1).values_list("beads", flat=True)
    n_empty = sum(not any(beads) for beads in first)
    if not n_empty:
        return ""
    if machine.side == Side.FIRST:
        return "Its first box is empty, and its rule never fills it again: it refuses to play and resigns every game."
    boxes = "first box is" if n_empty == 1 else "first boxes are"
    return f"{n_empty} {boxes} empty, and its rule never fills them again: where it opens one, it resigns at once."


def rule_sentences(rule: Rule) -> list[tuple[str, str]]:
    """The rule in words, field by field that matters, as (label, sentence)."""
    return _value_sentences(rule) if isinstance(rule, QRule) else _box_sentences(rule)


def _value_sentences(rule: QRule) -> list[tuple[str, str]]:
    tries = f"a chance of {_digits(rule.epsilon)} at first, times {_digits(rule.epsilon_decay)} after each game"
    ahead = f"{_digits(rule.discount)} of the best that it could play next"
    each = "" if rule.step_reward < 0 else "+"
    return [
        ("Keeps", "a value for every move it has tried on a board; all others count 0"),
        ("Plays", "the greatest value plus a hundredth of what the engine makes of the board after the move"),
        ("Tries anything", f"with {tries}, but {_digits(rule.epsilon_floor)} at least"),
        ("Win, draw, loss", f"+1, 0, −1 for its last move; {each}{_digits(rule.step_reward)} for each move before"),
        ("Learns", f"each value moves {_digits(rule.learning_rate)} of the way to that and {ahead}"),
    ]


def _digits(number: float) -> str:
    """The number with all of its digits and no exponent: 1, −0.01, 0.99999999."""
    return f"{Decimal(str(number + 0)).normalize():f}".replace("-", "−")


def _box_sentences(rule: BoxRule) -> list[tuple[str, str]]:
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
