"""Reads of machines: which there are, what they are called and what they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import sqrt
from typing import Any

from django.db import connection
from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import JSONObject
from django.urls import reverse

from games.models import Room, Seat
from games.players import Viewer
from games.rules.base import Game, Side
from games.selectors import RoomsOf, rooms_where
from games.states import MachineBrief
from learning.access import is_seen, machines_visible, owned_by
from learning.core.engines.registry import engine_of
from learning.core.machines.box_machine import Result
from learning.core.machines.presets import preset_named
from learning.core.machines.registry import HOUSE, house_machine
from learning.core.opponents.registry import opponent_usual
from learning.models import Draw, JobStatus, Lesson, LessonKind, Machine, TrainingRun
from learning.storage.locks import machine_held, machine_where
from learning.storage.sitting import Occupant, sitting_read


def machine_in(seat: Seat) -> Machine | None:
    """The machine that sits in a seat; ``None`` when it has been deleted since. Read once for all seats of a match."""
    if seat.occupant is None:
        sitting_read([seat, *(one for one in seat.match.sitting or () if one.pk != seat.pk)])
    occupant: Occupant = seat.occupant
    return occupant.machine


def draws_of(*seats: Seat) -> list[Draw]:
    """What the machines in these seats have drawn in the match, in order of play; read with :func:`machine_in`."""
    drawn = [draw for seat in seats if machine_in(seat) is not None for draw in seat.occupant.draws]
    return sorted(drawn, key=lambda draw: draw.ply)


def machine_of_house(game: str, side: Side, *, hold: bool = False) -> Machine | None:
    """The house's machine for a side of a game, if it has been made; ``hold`` as for ``access.machine_find``."""
    house = house_machine(game, side)
    if house is None:
        return None
    return machine_held(slug=house.slug) if hold else Machine.objects.filter(slug=house.slug).first()


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
    own = Machine.objects.filter(owner_id=user_id)
    played = Machine.objects.filter(room__in=Room.objects.filter(matches__seats__user_id=user_id), is_public=True)
    # One set and the other, as in games.selectors.rooms_of.
    return Machine.objects.filter(pk__in=own.values("pk").union(played.values("pk"))).order_by("-pk")


GONE = "gone-"
"""So begins the slug of a machine that nobody has any more, and of which what it knew is being deleted."""


LEFT = """
    SELECT id FROM learning_machine machine WHERE id = ANY(%(ids)s) AND CASE WHEN
        CASE WHEN guest IS NOT NULL THEN created_at < %(guests)s
            AND NOT EXISTS (SELECT FROM learning_machineseat sitting JOIN games_seat seat ON seat.id = sitting.seat_id
                JOIN games_match match ON match.id = seat.match_id JOIN games_room room ON room.id = match.room_id
                WHERE sitting.machine_id = machine.id AND room.changed_at >= %(guests)s OFFSET 0)
            AND NOT EXISTS (SELECT FROM learning_lesson
                WHERE machine_id = machine.id AND created_at >= %(guests)s OFFSET 0)
        WHEN room_id IS NULL THEN false
        WHEN owner_id IS NULL THEN (SELECT changed_at FROM games_room WHERE id = machine.room_id) < %(copies)s
        ELSE (SELECT changed_at FROM games_room WHERE id = machine.room_id) < %(accounts)s
            AND NOT EXISTS (SELECT FROM learning_lesson
                WHERE machine_id = machine.id AND created_at >= %(accounts)s OFFSET 0)
            AND NOT EXISTS (SELECT FROM learning_trainingrun
                WHERE machine_id = machine.id AND finished_at IS NULL OFFSET 0)
        END
    THEN
        NOT EXISTS (SELECT FROM learning_runstage stage JOIN learning_trainingrun run ON run.id = stage.run_id
            WHERE stage.opponent_machine_id = machine.id AND run.finished_at IS NULL OFFSET 0)
        AND NOT EXISTS (SELECT FROM learning_tournamententry entry
            JOIN learning_tournament tournament ON tournament.id = entry.tournament_id
            WHERE entry.machine_id = machine.id AND tournament.status = %(running)s OFFSET 0)
    END ORDER BY id LIMIT %(most)s"""
"""As text, since to build it of parts takes longer than to do it. Of one machine after the other (``CASE``, and
``OFFSET 0``, which PostgreSQL does not turn into a join), so that no table is read whole for the few that are left."""


def machines_left(
    ids: Sequence[int], most: int, *, guests: datetime, copies: datetime, accounts: datetime
) -> list[int]:
    """Those of these machines that nobody has played, taught or trained since: of guests, and copies made for rooms.

    None that a training goes on against, or that is in a tournament which goes on.

    Args:
        ids: of machines.
        most: so many are enough, in order.
        guests: since when, of a guest's. One that was made later is not among them, whether or not it has played.
        copies: of a copy of nobody's.
        accounts: of a copy of an account's.
    """
    since = {"guests": guests, "copies": copies, "accounts": accounts}
    with connection.cursor() as cursor:
        cursor.execute(LEFT, {"ids": list(ids), "most": most, "running": JobStatus.RUNNING, **since})
        return [pk for (pk,) in cursor.fetchall()]


def pupil_of(user: Any, game: str, side: Side) -> Machine | None:
    """The machine of a game and side that this account or visitor teaches, if there is one."""
    viewer = Viewer.of(user)
    whose, who = ("owner_id", viewer.user_id) if viewer.user_id is not None else ("guest", viewer.guest)
    if who is None:
        return None
    return machine_where(f"is_pupil AND {whose} = %s AND game = %s AND side = %s", who, game, side.value)


def pupils_of(user: Any) -> list[Machine]:
    """The machines that this account or visitor teaches: at most one of each game and side. One query."""
    own = owned_by(Viewer.of(user))
    return [] if own is None else list(Machine.objects.filter(own, is_pupil=True).order_by("pk"))


COPIES_OF = """
    SELECT machine.id, machine.n_values FROM learning_machine AS machine JOIN games_room AS room
        ON room.id = machine.room_id
    WHERE {} AND {}
    ORDER BY room.changed_at DESC, (
        SELECT id FROM games_match WHERE room_id = room.id ORDER BY number DESC LIMIT 1
    ) DESC, machine.id DESC"""


def copies_of(whose: RoomsOf, *, guests_alone: bool = False) -> list[tuple[int, int]]:
    """Id and values of the copies made for the rooms of somebody, those that were played last first.

    Within the minute that a room remembers, by the match that began last.

    Args:
        whose: an account, a guest or an address.
        guests_alone: whether those are left out that count with an account.
    """
    is_theirs, values = rooms_where(whose)
    which = "machine.owner_id IS NULL" if guests_alone else "true"
    with connection.cursor() as cursor:
        return list(cursor.execute(COPIES_OF.format(is_theirs, which), values).fetchall())


def machine_list_seen(user: Any, game: str, limit: int = 200) -> list[Machine]:
    """The machines of a game that a list may show to this user, in order of name."""
    return list(machines_visible(user).filter(game=game).order_by("name", "pk")[:limit])


def card_facts(machine: Machine) -> dict[str, Any]:
    """What a card of a machine says of it."""
    return {
        "id": machine.pk,
        "name": machine.name,
        "game_name": machine.game_rules.name,
        "side_name": machine.get_side_display(),
        "games": machine.n_games,
        "url": machine.get_absolute_url(),
        "learns": machine.learns,
    }


def machine_brief(machine: Machine) -> MachineBrief:
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
    """The numbers of the lesson before the first that is kept, and of the last: what a time machine can show."""
    return machine.n_told_from, machine.n_lessons


def lessons_missing() -> list[int]:
    """The machines (ids) whose ledger has a gap, or a folded lesson beyond what is folded: always none.

    A lesson stands for those up to the next one, and the last for all that the machine has had. Those of a machine that
    is gone are being deleted, in no order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT pk FROM (SELECT machine.id AS pk, number, number + stands_for AS next, n_folded,"
            " lead(number, 1, n_lessons + 1) OVER (PARTITION BY machine.id ORDER BY number) AS following"
            " FROM learning_lesson JOIN learning_machine machine ON machine.id = machine_id"
            " WHERE NOT starts_with(slug, %s)) AS lesson"
            " WHERE next <> following OR (number <= n_folded AND next > n_folded + 1) ORDER BY pk",
            [GONE],
        )
        return [machine_id for (machine_id,) in cursor.fetchall()]


def lesson_at(machine: Machine, number: int) -> QuerySet[Lesson]:
    """The machine's lesson of this number, with its cause, if there is one."""
    return machine.lessons.select_related("match__room", "run").filter(number=number)


def lesson_list_recent(machine: Machine, limit: int = 12, among: int = 500) -> QuerySet[Lesson]:
    """The machine's latest lessons from matches and runs, found ``among`` so many.

    The many lessons of a run stand for one: its last, annotated with ``run_tally``, what they all came to, those too
    that are folded up by now.
    """
    lessons = machine.lessons.filter(number__gt=machine.n_folded).exclude(kind=LessonKind.REFILL)
    last: dict[tuple[str, int], int] = {}
    for pk, run_id in lessons.order_by("-number").values_list("pk", "run_id")[:among]:
        last.setdefault(("lesson", pk) if run_id is None else ("run", run_id), pk)
    of_run = Lesson.objects.filter(machine=machine, run=OuterRef("run")).order_by().values("run")
    tally = of_run.annotate(tally=JSONObject(wins=Sum("n_wins"), draws=Sum("n_draws"), losses=Sum("n_losses")))
    whole = JSONObject(wins=F("run__n_wins"), draws=F("run__n_draws"), losses=F("run__n_losses"))
    is_folded = Q(run__machine=machine, run__started_at__lte=machine.folded_at) if machine.folded_at else Q(pk=None)
    tallied = Case(When(is_folded, then=whole), default=Subquery(tally.values("tally")))
    shown = lessons.filter(pk__in=list(last.values())[:limit]).annotate(run_tally=tallied)
    return shown.select_related("match__room").order_by("-number")


def lesson_line(lesson: Lesson, *, is_hidden: bool) -> dict[str, Any]:
    """A lesson as a line of the machine's record; if it stands for all of its run, with what they came to.

    Where its match or run ``is_hidden`` (``access.cause_hidden``) nothing leads there.
    """
    if lesson.kind == LessonKind.TRAINING:
        own = {"wins": lesson.n_wins, "draws": lesson.n_draws, "losses": lesson.n_losses}
        tally = getattr(lesson, "run_tally", None) or own
        games = sum(tally.values())
        won = f"{tally['wins']:,} won, {tally['draws']:,} drawn, {tally['losses']:,} lost"
        sentence = f"Trained {games:,} game{'' if games == 1 else 's'}: {won}."
        address = None if lesson.run_id is None or is_hidden else reverse("run", args=[lesson.run_id])
        return {"sentence": sentence, "url": address, "age": lesson.created_at, "result": "training"}
    if lesson.kind == LessonKind.CHOICE:
        sentence = "Went back to what it knew earlier, which plays from now on."
        return {"sentence": sentence, "url": None, "age": lesson.created_at, "result": "training"}
    if lesson.kind == LessonKind.FOLDED:
        n, games = lesson.stands_for, lesson.n_wins + lesson.n_draws + lesson.n_losses
        lessons = f"{n:,} lesson{'' if n == 1 else 's'} of {games:,} game{'' if games == 1 else 's'}"
        sentence = f"Folded up: all that became of it in {lessons} until then."
        return {"sentence": sentence, "url": None, "age": lesson.created_at, "result": "training"}
    result = Result.WIN if lesson.n_wins else Result.DRAW if lesson.n_draws else Result.LOSS
    word = {Result.WIN: "Won", Result.DRAW: "Drew", Result.LOSS: "Lost"}[result]
    url = lesson.match.room.get_absolute_url() if lesson.match and not is_hidden else None
    return {"sentence": f"{word} a match.", "url": url, "age": lesson.created_at, "result": result.name.lower()}


def machine_loss(machine: Machine) -> dict[str, int]:
    """What a machine holds that would be lost with it."""
    return {
        "games": machine.n_games,
        "lessons": machine.n_lessons - machine.n_forgotten,
        "boxes": machine.boxes.count(),
        "values": machine.values.count(),
        "runs": machine.runs.count(),
        "matches": machine.machine_seats.count(),
        "stopped": TrainingRun.objects.filter(stages__opponent_machine=machine, finished_at__isnull=True)
        .distinct()
        .count(),
    }


def machine_rows(machines: Sequence[Machine]) -> list[dict[str, Any]]:
    """Machines as lines of a list, with how they stand; asks for nothing that was not read with them."""
    return [
        {
            **machine_brief(machine),
            "board": machine.game,
            "game": machine.game_rules.full_name,
            "side_name": machine.get_side_display(),
            "rule": preset.name if (preset := preset_named(machine.preset)) else "a rule of its own",
            "owner": machine.owner.get_username()
            if machine.owner
            else "this browser"
            if machine.guest
            else "the house",
            "is_public": machine.is_public,
            "is_exact": machine.game_rules.enumerable,
            "standing": machine.standing,
            "curve": curve_small(machine.standing.points),
        }
        for machine in machines
    ]


def curve_small(points: Sequence[tuple[float, float]]) -> str:
    """A curve as the points of a line in a picture of 100 × 30: the root of the games across, the score upwards."""
    most = max((games for games, _ in points), default=0) or 1
    return " ".join(f"{100 * sqrt(games / most):.1f},{30 * (1 - score):.1f}" for games, score in points)


def machine_list_found(user: Any, text: str, beside: Sequence[Machine], limit: int = 12) -> list[Machine]:
    """Machines with this in their name to put beside others: of the same game first, and none of those."""
    listed = machines_visible(user).filter(name__icontains=text, room__isnull=True)
    found = listed.exclude(pk__in=[machine.pk for machine in beside])
    same = Q(game__in=[machine.game for machine in beside])
    return list(found.order_by(Case(When(same, then=0), default=1), "name", "pk")[:limit])


def houses_seen(user: Any) -> dict[tuple[str, Side], Machine]:
    """The house's machines that the user may see, by game and side."""
    return {at: house for at, house in machines_of_house().items() if is_seen(user, house)}


def rivals(game: Game[Any, Any], houses: Mapping[tuple[str, Side], Machine]) -> list[dict[str, Any]]:
    """Whom a person meets who just wants to play, beginning and not.

    The house's machine, else a usual opponent. Where levels have been measured it is always one of those: nobody
    knows whether a beginner can beat a machine that learns. ``games`` is how many a machine has played.
    """
    met = []
    other = opponent_usual(game)
    for side in Side:
        house = None if engine_of(game) else houses.get((game.slug, side.other))
        slug, name = ("menace", house.name) if house else (other.slug, other.name)
        games = house.n_games if house else None
        met.append({"side": str(side.value), "opponent": slug, "name": name, "games": games})
    return met
