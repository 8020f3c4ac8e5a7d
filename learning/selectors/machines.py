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
from beadbox.learners.built_in import HOUSE, HOUSE_OF
from beadbox.learners.presets import ALL_PRESETS
from beadbox.names import name_search
from beadbox.policies.registry import opponent_usual
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Result, Side
from games.accounts.principal import AnyUser, Principal, RoomOwner
from games.live.match_lists import room_condition_of
from games.models import Room
from learning.access import cause_hidden, is_seen, machines_visible, owned_by
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
from learning.storage.locks import machine_get_where, machine_hold_get


def machine_of_house(game: str, side: Side, *, hold: bool = False) -> Machine | None:
    """Return the site's own ("house") machine for a side of a game; ``None`` if it has not been created.

    With ``hold`` the machine cannot be deleted until the transaction ends (``storage.locks.machine_hold_get``).
    """
    house = HOUSE_OF.get((game, side))
    if house is None:
        return None
    return machine_hold_get(slug=house.slug) if hold else Machine.objects.filter(slug=house.slug).first()


def machines_of_house() -> dict[tuple[str, Side], Machine]:
    """Return the existing house machines by game and side; one query."""
    existing = {machine.slug: machine for machine in Machine.objects.filter(slug__in=[house.slug for house in HOUSE])}
    return {at: existing[house.slug] for at, house in HOUSE_OF.items() if house.slug in existing}


def machine_list_of(user_id: int) -> QuerySet[Machine]:
    """Return the account's machines, and the public copies made for rooms in which it has a seat; newest first."""
    owned = Machine.objects.filter(owner_id=user_id)
    played_copies = Machine.objects.filter(
        room__in=Room.objects.filter(matches__seats__user_id=user_id), is_public=True
    )
    # A union of ids, as in games.live.match_lists.rooms_of.
    return Machine.objects.filter(pk__in=owned.values("pk").union(played_copies.values("pk"))).order_by("-pk")


DELETED_SLUG_PREFIX = "gone-"
"""Prefix of a machine's slug while retention deletes the machine's rows in small batches."""


def machines_unused() -> QuerySet[Machine]:
    """Return machines of guests, and copies made for rooms, that have not been used for a long time.

    Matches, lessons and trainings count as use; the settings ``KEEP_*_DAYS`` say how long the site waits. A machine
    that an unfinished training or a running tournament needs is not among them.
    """
    guest_cutoff, copy_cutoff, account_cutoff = (
        timezone.now() - timedelta(days=days)
        for days in (settings.KEEP_GUEST_MACHINES_DAYS, settings.KEEP_COPIES_DAYS, settings.KEEP_MATCHES_DAYS)
    )
    of_machine = {"machine": OuterRef("pk")}
    was_played = Exists(MachineSeat.objects.filter(**of_machine, seat__match__room__changed_at__gte=guest_cutoff))
    lessons = Lesson.objects.filter(**of_machine)
    is_in_training = Exists(TrainingRun.objects.filter(**of_machine, finished_at__isnull=True))
    is_opponent = Exists(RunStage.objects.filter(opponent_machine=OuterRef("pk"), run__finished_at__isnull=True))
    is_entered = Exists(TournamentEntry.objects.filter(**of_machine, tournament__status=JobStatus.RUNNING))
    is_unused_guest_machine = (
        Q(created_at__lt=guest_cutoff) & ~was_played & ~Exists(lessons.filter(created_at__gte=guest_cutoff))
    )
    is_unused_guest_copy = Q(owner__isnull=True, room__changed_at__lt=copy_cutoff)
    has_recent_lesson = Exists(lessons.filter(created_at__gte=account_cutoff))
    is_unused_account_copy = Q(
        ~is_in_training, ~has_recent_lesson, owner__isnull=False, room__changed_at__lt=account_cutoff
    )
    is_due = Q(guest__isnull=False) & is_unused_guest_machine | Q(guest__isnull=True) & (
        is_unused_guest_copy | is_unused_account_copy
    )
    return Machine.objects.filter(is_due, ~is_opponent, ~is_entered)


def personal_machine_of(user: AnyUser, game: str, side: Side) -> Machine | None:
    """Return the personal machine of this account or visitor for a game and side, if it exists."""
    viewer = Principal.of(user)
    column, owner = ("owner_id", viewer.user_id) if viewer.user_id is not None else ("guest", viewer.guest)
    if owner is None:
        return None
    return machine_get_where(f"is_pupil AND {column} = %s AND game = %s AND side = %s", owner, game, side.value)


def personal_machines_of(user: AnyUser) -> list[Machine]:
    """Return the personal machines of this account or visitor, at most one for each game and side; one query."""
    is_owned = owned_by(Principal.of(user))
    return [] if is_owned is None else list(Machine.objects.filter(is_owned, is_pupil=True).order_by("pk"))


COPIES_SQL = """
    SELECT machine.id, machine.n_values FROM learning_machine AS machine JOIN games_room AS room
        ON room.id = machine.room_id
    WHERE {} AND {}
    ORDER BY room.changed_at DESC, (
        SELECT id FROM games_match WHERE room_id = room.id ORDER BY number DESC LIMIT 1
    ) DESC, machine.id DESC"""


def copies_of(owner: RoomOwner, *, guests_alone: bool = False) -> list[tuple[int, int]]:
    """Return the id and the number of values of each copy made for the rooms of an owner, last played first.

    The last play of a room is stored to the minute. Within a minute, the room with the newest match comes first.

    Args:
        owner: an account, a guest or an address.
        guests_alone: whether to leave out copies that count for an account.
    """
    room_condition, values = room_condition_of(owner)
    machine_condition = "machine.owner_id IS NULL" if guests_alone else "true"
    with connection.cursor() as cursor:
        return list(cursor.execute(COPIES_SQL.format(room_condition, machine_condition), values).fetchall())


def machine_list_visible(user: AnyUser | None, game: str, limit: int = 200) -> list[Machine]:
    """Return at most ``limit`` machines of a game that a list may show to this user, ordered by name."""
    return list(machines_visible(user).filter(game=game).order_by("name", "pk")[:limit])


def machine_list_own(viewer: Principal, limit: int) -> list[Machine]:
    """Return the viewer's machines except copies made for rooms, most games first, at most ``limit``.

    Each machine's ``owner`` and ``standing`` are loaded.
    """
    is_owned = owned_by(viewer)
    if is_owned is None:
        return []
    machines = Machine.objects.filter(is_owned, room__isnull=True, standing__isnull=False)
    return list(machines.select_related("owner", "standing").order_by("-standing__games", "-pk")[:limit])


def machine_card(machine: Machine) -> dict[str, object]:
    """Return the template context of a machine's card."""
    return {
        "id": machine.pk,
        "name": machine.name,
        "game_name": machine.game_rules.name,
        "side_name": machine.get_side_display(),
        "games": machine.n_games,
        "url": machine.get_absolute_url(),
        "learns": machine.learns,
    }


def lesson_span(machine: Machine) -> tuple[int, int]:
    """Return the smallest and the largest number of lessons after which the machine's state can be shown."""
    return machine.n_known_from, machine.n_lessons


def damaged_ledgers() -> list[int]:
    """Return the ids of machines with a damaged ledger; in a correct database the list is empty.

    The numbers of a ledger must have no gap: a lesson stands for ``stands_for`` numbers, and the next lesson follows.
    No compacted lesson may extend beyond the compaction point. Machines that are being deleted are skipped, because
    their lessons are deleted in no particular order.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT pk FROM (SELECT machine.id AS pk, number, number + stands_for AS next, n_folded,"
            " lead(number, 1, n_lessons + 1) OVER (PARTITION BY machine.id ORDER BY number) AS following"
            " FROM learning_lesson JOIN learning_machine machine ON machine.id = machine_id"
            " WHERE NOT starts_with(slug, %s)) AS lesson"
            " WHERE next <> following OR (number <= n_folded AND next > n_folded + 1) ORDER BY pk",
            [DELETED_SLUG_PREFIX],
        )
        return [machine_id for (machine_id,) in cursor.fetchall()]


def n_games_after_lesson(machine: Machine, number: int) -> int:
    """Return the number of games that the machine had played after the lesson of this number."""
    tally = machine.lessons.filter(number__gt=number).aggregate(
        n=Sum(F("n_wins") + F("n_draws") + F("n_losses"), default=0)
    )
    n_later: int = tally["n"]
    return machine.n_games - n_later


def lesson_list_recent(machine: Machine, limit: int = 12, among: int = 500) -> QuerySet[Lesson]:
    """Return the machine's latest lessons from matches and runs, newest first, at most ``limit``.

    Only the latest ``among`` lessons are searched. A run appears once, as its last lesson. ``run_tally`` of that lesson
    has the results of the whole run, compacted lessons included.
    """
    lessons = machine.lessons.filter(number__gt=machine.n_folded).exclude(kind=LessonKind.REFILL)
    last_of_cause: dict[tuple[str, int], int] = {}
    for pk, run_id in lessons.order_by("-number").values_list("pk", "run_id")[:among]:
        last_of_cause.setdefault(("lesson", pk) if run_id is None else ("run", run_id), pk)
    run_lessons = Lesson.objects.filter(machine=machine, run=OuterRef("run")).order_by().values("run")
    tally = run_lessons.annotate(tally=JSONObject(wins=Sum("n_wins"), draws=Sum("n_draws"), losses=Sum("n_losses")))
    stored_tally = JSONObject(wins=F("run__n_wins"), draws=F("run__n_draws"), losses=F("run__n_losses"))
    is_compacted = Q(run__machine=machine, run__started_at__lte=machine.folded_at) if machine.folded_at else Q(pk=None)
    run_tally = Case(When(is_compacted, then=stored_tally), default=Subquery(tally.values("tally")))
    shown = lessons.filter(pk__in=list(last_of_cause.values())[:limit]).annotate(run_tally=run_tally)
    return shown.select_related("match__room").order_by("-number")


def lesson_line(lesson: Lesson, *, is_hidden: bool) -> dict[str, Any]:
    """Return a lesson as a line of the machine's record. A lesson with ``run_tally`` shows the results of its run.

    ``is_hidden``: whether the viewer may not see the lesson's match or run (``access.cause_hidden``); then the line has
    no link.
    """
    if lesson.kind == LessonKind.TRAINING:
        lesson_tally = {"wins": lesson.n_wins, "draws": lesson.n_draws, "losses": lesson.n_losses}
        tally = getattr(lesson, "run_tally", None) or lesson_tally
        games = sum(tally.values())
        results = f"{tally['wins']:,} won, {tally['draws']:,} drawn, {tally['losses']:,} lost"
        sentence = f"Trained {games:,} game{'' if games == 1 else 's'}: {results}."
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


def lesson_line_at(machine: Machine, number: int, viewer: Principal) -> dict[str, Any] | None:
    """Return the :func:`lesson_line` of the machine's lesson of this number; ``None`` if there is no such lesson."""
    lessons = machine.lessons.select_related("match__room", "run").annotate(is_hidden=cause_hidden(viewer))
    lesson = lessons.filter(number=number).first()
    return None if lesson is None else lesson_line(lesson, is_hidden=lesson.is_hidden)


def machine_deletion_counts(machine: Machine) -> dict[str, int]:
    """Return the numbers of rows that a deletion of the machine deletes, and of runs that the deletion stops."""
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
    """Return machines as rows of a list. The caller has loaded ``owner`` and ``standing``, so there is no query."""
    return [
        {
            **machine.brief,
            "board": machine.game,
            "game": machine.game_rules.full_name,
            "side_name": machine.get_side_display(),
            "rule": preset.name if (preset := ALL_PRESETS.get(machine.preset)) else "a rule of its own",
            "owner": machine.owner.get_username() if machine.owner else "",
            "is_guests": machine.guest is not None,
            "is_public": machine.is_public,
            "is_exact": machine.game_rules.listable,
            "standing": machine.standing,
            "curve": curve_svg_points(machine.standing.points),
        }
        for machine in machines
    ]


def curve_svg_points(points: Sequence[tuple[float, float]]) -> str:
    """Return a curve as the points of an SVG polyline in a box of 100 × 30.

    The horizontal axis is the square root of the number of games, and the vertical axis the score, from 0 to 1.
    """
    max_games = max((games for games, _ in points), default=0) or 1
    return " ".join(f"{100 * sqrt(games / max_games):.1f},{30 * (1 - score):.1f}" for games, score in points)


def machine_list_search(user: AnyUser | None, text: str, compared: Sequence[Machine], limit: int = 12) -> list[Machine]:
    """Return visible machines with this text in their name, to be compared with the machines ``compared``.

    Machines of the same games come first. The machines ``compared`` are left out.
    """
    listed = machines_visible(user).filter(search_name__contains=name_search(text), room__isnull=True)
    candidates = listed.exclude(pk__in=[machine.pk for machine in compared])
    is_same_game = Q(game__in=[machine.game for machine in compared])
    return list(candidates.order_by(Case(When(is_same_game, then=0), default=1), "name", "pk")[:limit])


def house_machines_visible(user: AnyUser | None) -> dict[tuple[str, Side], Machine]:
    """Return the house machines that the user may see, by game and side."""
    return {at: house for at, house in machines_of_house().items() if is_seen(user, house)}


def rivals(game: AnyGame, houses: Mapping[tuple[str, Side], Machine]) -> list[dict[str, object]]:
    """Return the opponents for a quick game: one for the person as first player, one for the person as second.

    The opponent is the house machine of the other side, or else the game's usual opponent. In games with an engine it
    is always the usual opponent, because a learning machine may be too strong for a beginner. ``side`` is the person's
    side. ``games`` is the number of games that a house machine has played.
    """
    opponents = list[dict[str, object]]()
    usual = opponent_usual(game)
    for side in Side:
        house = None if engine_of(game) else houses.get((game.slug, side.other))
        slug, name = ("menace", house.name) if house else (usual.slug, usual.name)
        games = house.n_games if house else None
        opponents.append({"side": str(side.value), "opponent": slug, "name": name, "games": games})
    return opponents


def history_compacted_text(n_folded: int) -> str:
    """Return the sentence that explains why the machine's state after an earlier lesson is not shown."""
    return f"The machine's history starts at lesson {n_folded:,}. Earlier lessons are kept as one sum."
