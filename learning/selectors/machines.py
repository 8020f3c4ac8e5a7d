"""Reads of machines: lists, names, and contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import sqrt
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, When
from django.db.models.functions import JSONObject
from django.urls import reverse
from django.utils import timezone

from beadbox.engines.registry import engine_of
from beadbox.learners.built_in import HOUSE, house_machine
from beadbox.learners.presets import ALL_PRESETS
from beadbox.names import name_search
from beadbox.policies.registry import opponent_usual
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Result, Side
from games.accounts.principal import AnyUser, Principal, RoomsOf
from games.live.match_lists import rooms_where
from games.live.states import MachineBrief
from games.models import Room
from learning.access import is_seen, machines_visible, owned_by
from learning.models import (
    JobStatus,
    Lesson,
    LessonKind,
    Machine,
    MachineSeat,
    RunStage,
    TournamentEntry,
    TrainingRun,
)
from learning.storage.locks import machine_held, machine_where


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


def machine_list_of(user_id: int) -> QuerySet[Machine]:
    """The machines of an account, and the public copies made for rooms where it has a seat; newest first."""
    own = Machine.objects.filter(owner_id=user_id)
    played = Machine.objects.filter(room__in=Room.objects.filter(matches__seats__user_id=user_id), is_public=True)
    # A union of ids, as in games.live.match_lists.rooms_of.
    return Machine.objects.filter(pk__in=own.values("pk").union(played.values("pk"))).order_by("-pk")


GONE = "gone-"
"""Beginning of the slug of a deleted machine while its rows are being deleted."""


def machines_unused() -> QuerySet[Machine]:
    """Machines of guests, and copies made for rooms, without a match, lesson or training for a long time.

    A machine that an unfinished training or a running tournament needs is not among them.
    """
    guests, copies, accounts = (
        timezone.now() - timedelta(days=days)
        for days in (settings.KEEP_GUEST_MACHINES_DAYS, settings.KEEP_COPIES_DAYS, settings.KEEP_MATCHES_DAYS)
    )
    own = {"machine": OuterRef("pk")}
    played = Exists(MachineSeat.objects.filter(**own, seat__match__room__changed_at__gte=guests))
    taught = Lesson.objects.filter(**own)
    trained = Exists(TrainingRun.objects.filter(**own, finished_at__isnull=True))
    met = Exists(RunStage.objects.filter(opponent_machine=OuterRef("pk"), run__finished_at__isnull=True))
    entered = Exists(TournamentEntry.objects.filter(**own, tournament__status=JobStatus.RUNNING))
    of_guests = Q(created_at__lt=guests) & ~played & ~Exists(taught.filter(created_at__gte=guests))
    of_nobody = Q(owner__isnull=True, room__changed_at__lt=copies)
    is_taught = Exists(taught.filter(created_at__gte=accounts))
    of_accounts = Q(~trained, ~is_taught, owner__isnull=False, room__changed_at__lt=accounts)
    is_due = Q(guest__isnull=False) & of_guests | Q(guest__isnull=True) & (of_nobody | of_accounts)
    return Machine.objects.filter(is_due, ~met, ~entered)


def personal_machine_of(user: AnyUser, game: str, side: Side) -> Machine | None:
    """The machine of a game and side that this account or visitor teaches, if there is one."""
    viewer = Principal.of(user)
    whose, who = ("owner_id", viewer.user_id) if viewer.user_id is not None else ("guest", viewer.guest)
    if who is None:
        return None
    return machine_where(f"is_pupil AND {whose} = %s AND game = %s AND side = %s", who, game, side.value)


def personal_machines_of(user: AnyUser) -> list[Machine]:
    """The machines that this account or visitor teaches: at most one of each game and side. One query."""
    own = owned_by(Principal.of(user))
    return [] if own is None else list(Machine.objects.filter(own, is_pupil=True).order_by("pk"))


COPIES_OF = """
    SELECT machine.id, machine.n_values FROM learning_machine AS machine JOIN games_room AS room
        ON room.id = machine.room_id
    WHERE {} AND {}
    ORDER BY room.changed_at DESC, (
        SELECT id FROM games_match WHERE room_id = room.id ORDER BY number DESC LIMIT 1
    ) DESC, machine.id DESC"""


def copies_of(whose: RoomsOf, *, guests_alone: bool = False) -> list[tuple[int, int]]:
    """Ids and numbers of values of the copies made for an owner's rooms, those played last first.

    Rooms remember the minute; within it, the order is that of the matches that began last.

    Args:
        whose: an account, a guest or an address.
        guests_alone: whether copies that count for an account are left out.
    """
    is_theirs, values = rooms_where(whose)
    which = "machine.owner_id IS NULL" if guests_alone else "true"
    with connection.cursor() as cursor:
        return list(cursor.execute(COPIES_OF.format(is_theirs, which), values).fetchall())


def machine_list_seen(user: AnyUser | None, game: str, limit: int = 200) -> list[Machine]:
    """The machines of a game that a list may show to this user, in order of name."""
    return list(machines_visible(user).filter(game=game).order_by("name", "pk")[:limit])


def machine_list_own(viewer: Principal, limit: int) -> list[Machine]:
    """The machines of this account or guest without copies for rooms, by games, most first; with standings."""
    own = owned_by(viewer)
    if own is None:
        return []
    machines = Machine.objects.filter(own, room__isnull=True, standing__isnull=False)
    return list(machines.select_related("owner", "standing").order_by("-standing__games", "-pk")[:limit])


def card_facts(machine: Machine) -> dict[str, object]:
    """The template context of a machine's card."""
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
    """A machine in the state of a room; ``win_rate`` is ``None`` before its first game."""
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
    """The first and last lesson numbers of the time machine: the lesson before the first one kept, and the last."""
    return machine.n_known_from, machine.n_lessons


def lessons_missing() -> list[int]:
    """Ids of machines with a gap in the ledger, or a compacted lesson beyond the compaction point: always empty.

    A lesson stands for all numbers up to the next one, and the last for the rest of the machine's lessons. Deleted
    machines are skipped, because their lessons are being deleted in no order.
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


def games_at(machine: Machine, number: int) -> int:
    """The number of games that the machine had played after the lesson of this number."""
    tally = machine.lessons.filter(number__gt=number).aggregate(
        n=Sum(F("n_wins") + F("n_draws") + F("n_losses"), default=0)
    )
    n_later: int = tally["n"]
    return machine.n_games - n_later


def lesson_list_recent(machine: Machine, limit: int = 12, among: int = 500) -> QuerySet[Lesson]:
    """The machine's latest lessons from matches and runs, found ``among`` that many lessons.

    The many lessons of a run appear as its last, annotated with ``run_tally``, the results of all of them, compacted
    lessons included.
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
    """A lesson as a line of the machine's record; a lesson that stands for its run has the run's results.

    If its match or run ``is_hidden`` (``access.cause_hidden``), the line has no link.
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
    url = lesson.match.get_absolute_url() if lesson.match and not is_hidden else None
    return {"sentence": f"{word} a match.", "url": url, "age": lesson.created_at, "result": result.name.lower()}


def machine_loss(machine: Machine) -> dict[str, int]:
    """Counts of everything that a deletion of the machine would delete or stop."""
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
    """Machines as lines of a list, with their standings, which the caller has read with them; no query."""
    return [
        {
            **machine_brief(machine),
            "board": machine.game,
            "game": machine.game_rules.full_name,
            "side_name": machine.get_side_display(),
            "rule": preset.name if (preset := ALL_PRESETS.get(machine.preset)) else "a rule of its own",
            "owner": machine.owner.get_username() if machine.owner else "",
            "is_guests": machine.guest is not None,
            "is_public": machine.is_public,
            "is_exact": machine.game_rules.listable,
            "standing": machine.standing,
            "curve": curve_small(machine.standing.points),
        }
        for machine in machines
    ]


def curve_small(points: Sequence[tuple[float, float]]) -> str:
    """A curve as points of a line in a picture of 100 × 30: the square root of games across, the score upwards."""
    most = max((games for games, _ in points), default=0) or 1
    return " ".join(f"{100 * sqrt(games / most):.1f},{30 * (1 - score):.1f}" for games, score in points)


def machine_list_found(user: AnyUser | None, text: str, compared: Sequence[Machine], limit: int = 12) -> list[Machine]:
    """Machines with this text in their name to compare with others: the same game first, those others left out."""
    listed = machines_visible(user).filter(search_name__contains=name_search(text), room__isnull=True)
    found = listed.exclude(pk__in=[machine.pk for machine in compared])
    same = Q(game__in=[machine.game for machine in compared])
    return list(found.order_by(Case(When(same, then=0), default=1), "name", "pk")[:limit])


def houses_seen(user: AnyUser | None) -> dict[tuple[str, Side], Machine]:
    """The house's machines that the user may see, by game and side."""
    return {at: house for at, house in machines_of_house().items() if is_seen(user, house)}


def rivals(game: AnyGame, houses: Mapping[tuple[str, Side], Machine]) -> list[dict[str, object]]:
    """The opponents for a quick game: when the person begins, and when the opponent does.

    This is the house's machine, or else a usual opponent. In games with measured levels it is always a level, since a
    learning machine may be too strong for a beginner. ``games`` is the number of games that a machine has played.
    """
    met = list[dict[str, object]]()
    other = opponent_usual(game)
    for side in Side:
        house = None if engine_of(game) else houses.get((game.slug, side.other))
        slug, name = ("menace", house.name) if house else (other.slug, other.name)
        games = house.n_games if house else None
        met.append({"side": str(side.value), "opponent": slug, "name": name, "games": games})
    return met


def history_compacted_text(n_folded: int) -> str:
    """The explanation of why the machine's state after an earlier lesson is not shown."""
    return f"The machine's history starts at lesson {n_folded:,}. Earlier lessons are kept as one sum."
