"""Retention rules: which rows the site deletes, and when (docs/bounds.md).

``workers.retention`` applies the rules. It locks the due rows of a batch, skips rows that are locked elsewhere, checks
again that the rows are due, and then deletes them. Rows that refer to deleted rows are deleted with them, as the models
define (docs/decisions/0096).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django_celery_beat.models import CrontabSchedule, IntervalSchedule

from beadbox.learners.built_in import HOUSE_TOURNAMENT
from games.limits.quotas import guest_retention_share
from games.models import AddressBlock, ApiToken, Match, MatchStatus, Room, Seat
from learning.models import (
    Box,
    Change,
    Decision,
    Draw,
    ExperimentRun,
    JobStatus,
    Lesson,
    Machine,
    MachineSeat,
    MovedGuest,
    SharedLink,
    Snapshot,
    Thought,
    Tournament,
    TrainingRun,
    Value,
    ValueChange,
    Weights,
)

Key = int | str
Rows = QuerySet[Any]

ABANDONED_AFTER_DAYS = 1
"""Days without a move after which a match counts as abandoned."""
ROWS_PER_WINDOW = 1_000
"""Number of rows of a table that one query searches for due rows."""
PEOPLE_PER_WINDOW = 100
"""Number of guests or accounts for which one query counts matches."""
RUN_TOO_LONG_TEXT = "It was stopped, because it took longer than this site allows. It keeps its lessons."


def key_window(rows: Rows, after: Key | None) -> tuple[Q, Key | None]:
    """Return the next window of a table in order of primary keys: a condition, and the last key in the window.

    The key is ``None`` if no rows are left after the key ``after``.
    """
    table: Rows = rows.model._default_manager.order_by("pk")
    if after is not None:
        table = table.filter(pk__gt=after)
    keys = list(table.values_list("pk", flat=True)[:ROWS_PER_WINDOW])
    return (Q(pk__gte=keys[0], pk__lte=keys[-1]), key_of(keys[-1])) if keys else (Q(), None)


def key_of(key: Any) -> Key:
    return key if isinstance(key, int) else str(key)


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """A rule: the rows of one table that are due, and the action on them.

    Attributes:
        name: name of the rule in logs and messages.
        due: returns all rows that are due now.
        act: the action on the locked rows of a batch; deletes them by default.
        batch: maximum number of rows in one transaction.
        window: returns a condition for the next rows of the table to search, and the last key among them (as
            :func:`key_window`).
    """

    name: str
    due: Callable[[], Rows]
    act: Callable[[Rows], Any] = QuerySet.delete
    batch: int = 100
    window: Callable[[Rows, Key | None], tuple[Q, Key | None]] = key_window


def days_ago(days: float | str) -> datetime:
    """Return the moment ``days`` days ago; ``days`` may be the name of a setting."""
    return timezone.now() - timedelta(days=getattr(settings, days) if isinstance(days, str) else days)


# Matches and rooms


def _is_unreferenced(match: str) -> Q:
    """Return the condition that nothing needs a match; ``match`` is the path from the row to the match.

    No lesson refers to the match, and it is not the last match of a guest's frozen machine. Compaction removes the
    references from old lessons (docs/decisions/0096).
    """
    seats = MachineSeat.objects.filter(**{f"seat__{match}": OuterRef("pk")})
    later_seats = MachineSeat.objects.filter(machine=OuterRef("machine"), seat__gt=OuterRef("seat"))
    last_of_frozen = seats.filter(~Exists(later_seats), machine__guest__isnull=False, machine__learns=False)
    return Q(~Exists(Lesson.objects.filter(**{match: OuterRef("pk")})), ~Exists(last_of_frozen))


def _due_matches(due: Q) -> QuerySet[Match]:
    """Return the matches that fulfil the condition ``due`` and that nothing needs, except the last of each room."""
    later_matches = Match.objects.filter(room=OuterRef("room"), number__gt=OuterRef("number"))
    return Match.objects.filter(due, Exists(later_matches), _is_unreferenced("match"))


def _due_rooms(due: Q) -> QuerySet[Room]:
    """Return the rooms that fulfil the condition ``due``, with at most one match and without a copy of a machine."""
    matches = Match.objects.filter(room=OuterRef("pk"))
    return Room.objects.filter(due, ~Exists(matches[1:]), _has_no_copies(), _is_unreferenced("match__room"))


def _has_no_copies() -> Q:
    return Q(~Exists(Machine.objects.filter(room=OuterRef("pk"))))


def _is_expired(moment: str, match: str, host: str) -> Q:
    """Return the condition that a match or room is older than the site keeps it.

    Matches of accounts, with an account in a seat or as the host, are kept longer than matches of guests. On a crowded
    site, matches of guests are kept for fewer days, but for at least one.

    Args:
        moment: the column with the time that counts.
        match: the path from a seat to the row.
        host: the path from the row to the host of its room.
    """
    days: int = settings.KEEP_GUEST_MATCHES_DAYS
    of_account = Q(**{f"{host}__isnull": False}) | Exists(
        Seat.objects.filter(**{match: OuterRef("pk")}, user__isnull=False)
    )
    guest_cutoff = days_ago(max(min(days, 1), days * guest_retention_share()))
    account_cutoff = days_ago("KEEP_MATCHES_DAYS")
    return Q(**{f"{moment}__lt": guest_cutoff}) & (Q(**{f"{moment}__lt": account_cutoff}) | Q(~of_account))


def _rooms_without_opponent() -> QuerySet[Room]:
    waiting_matches = Match.objects.filter(room=OuterRef("pk"), status=MatchStatus.WAITING, number=1)
    return _due_rooms(Q(Exists(waiting_matches), changed_at__lt=days_ago(1)))


def _people_window(column: str, setting: str, matches: str) -> Callable[[Rows, Key | None], tuple[Q, Key | None]]:
    """Return a window function that goes through the people in order, and selects each one's surplus matches.

    Args:
        column: the column of a seat that identifies the person.
        setting: the setting with the number of newest matches that a person keeps.
        matches: the path from a row of the rule to its matches.
    """

    def window(rows: Rows, after: Key | None) -> tuple[Q, Key | None]:
        seats = Seat.objects.filter(**{f"{column}__isnull": False} if after is None else {f"{column}__gt": after})
        people = list(seats.order_by(column).values_list(column).annotate(n=Count("pk"))[:PEOPLE_PER_WINDOW])
        n_kept: int = getattr(settings, setting)
        is_surplus = Q(pk__in=[])
        for person, n_matches in people:
            if n_matches > n_kept:
                newest = Seat.objects.filter(**{column: person}).order_by("-match")
                is_surplus |= Q(**{f"{matches}__in": newest.values("match")[n_kept:]})
        return is_surplus, key_of(people[-1][0]) if people else None

    return window


def _matches_ended_or_abandoned() -> QuerySet[Match]:
    return _due_matches(Q(finished_at__isnull=False) | Q(room__changed_at__lt=days_ago(ABANDONED_AFTER_DAYS)))


def _rooms_ended_or_abandoned() -> QuerySet[Room]:
    unfinished = Match.objects.filter(room=OuterRef("pk"), finished_at__isnull=True)
    return _due_rooms(~Exists(unfinished) | Q(changed_at__lt=days_ago(ABANDONED_AFTER_DAYS)))


# Machines, trainings, tournaments and experiments


ROWS_PER_STATEMENT = 2_000
"""Maximum number of rows of a deleted machine in one statement."""
LARGE_TABLES: tuple[tuple[type[Model], str], ...] = (
    (Change, "lesson__machine"),
    (ValueChange, "lesson__machine"),
    (Weights, "machine"),
    (Value, "machine"),
    (Box, "machine"),
    (Draw, "machine"),
    (Thought, "machine"),
    (Decision, "machine"),
    (MachineSeat, "machine"),
    (Lesson, "machine"),
)
"""Tables in which one machine may have very many rows, with the path to the machine, in order of deletion."""


def machine_rows_delete(machine: Machine, most: int | None = None) -> bool:
    """Delete a machine's rows, or at most ``most`` rows of each table; return whether rows may be left.

    Call when no machine shares the boxes of this one any more. The keys come from a cursor, because each new query in
    the transaction would read the rows already deleted again.
    """
    for model, path in LARGE_TABLES:
        rows, n_deleted = model._default_manager, 0
        keys = (
            rows.filter(**{path: machine}).values_list("pk", flat=True)[:most].iterator(chunk_size=ROWS_PER_STATEMENT)
        )
        while batch := list(islice(keys, ROWS_PER_STATEMENT)):
            rows.filter(pk__in=batch).delete()
            n_deleted += len(batch)
        if n_deleted == most:
            return True
    return False


def _old_runs() -> QuerySet[TrainingRun]:
    """Return the old or surplus finished training runs of accounts' machines.

    A run with a lesson in a ledger, or with the snapshot by which its machine plays, is not among them.
    """
    of_machine = TrainingRun.objects.filter(machine=OuterRef("machine"))
    lessons = Lesson.objects.filter(run=OuterRef("pk"))
    playing_snapshots = Snapshot.objects.filter(run=OuterRef("pk"), plays_since__isnull=False)
    rows = TrainingRun.objects.filter(~Exists(lessons), ~Exists(playing_snapshots), machine__owner__isnull=False)
    return _old_or_surplus(rows, days_ago("KEEP_MATCHES_DAYS"), of_machine, settings.RUNS_PER_MACHINE)


def _old_or_surplus(rows: Rows, since: datetime, group: Rows, n_kept: int) -> Rows:
    """Return the finished rows that ended before ``since``, or are not among the newest ``n_kept`` of ``group``."""
    surplus_from = Subquery(group.order_by("-pk").values("pk")[n_kept : n_kept + 1])
    due: Rows = rows.filter(Q(finished_at__lt=since) | Q(pk__lte=surplus_from), finished_at__isnull=False)
    return due


def _old_tournaments() -> QuerySet[Tournament]:
    """Return the old or surplus tournaments, except the site's own: without its row the site would start it again."""
    rows = Tournament.objects.filter(Q(owner__isnull=False) | ~Q(name=HOUSE_TOURNAMENT.name))
    of_account = Tournament.objects.filter(owner=OuterRef("owner"))
    return _old_or_surplus(rows, days_ago("KEEP_MATCHES_DAYS"), of_account, settings.TOURNAMENTS_PER_ACCOUNT)


def _old_experiments() -> QuerySet[ExperimentRun]:
    """Return the old or surplus runs of experiments, except the newest result of each experiment."""
    of_same = ExperimentRun.objects.filter(experiment=OuterRef("experiment"), status=JobStatus.FINISHED)
    newer = Q(finished_at__gt=OuterRef("finished_at")) | Q(finished_at=OuterRef("finished_at"), pk__gt=OuterRef("pk"))
    rows = ExperimentRun.objects.filter(~Q(status=JobStatus.FINISHED) | Exists(of_same.filter(newer)))
    return _old_or_surplus(
        rows, days_ago("KEEP_EXPERIMENTS_DAYS"), ExperimentRun.objects.all(), settings.EXPERIMENTS_KEPT
    )


def _runs_too_long() -> QuerySet[TrainingRun]:
    open_runs = TrainingRun.objects.filter(finished_at__isnull=True, cancel_requested=False)
    return open_runs.filter(started_by__isnull=False, created_at__lt=days_ago("RUN_DAYS_MOST"))


# Accounts, sessions and addresses


def _failed_log_ins() -> Rows:
    failures: Rows = AccessFailureLog.objects.all()
    newest = failures.order_by("-pk").values_list("pk", flat=True).first() or 0
    is_beyond = Q(pk__lte=newest - settings.LOG_IN_FAILURES_KEPT)
    return failures.filter(is_beyond | Q(attempt_time__lt=days_ago("KEEP_LOG_INS_DAYS")))


def _expired_links() -> QuerySet[SharedLink]:
    since, machines = days_ago("KEEP_GUEST_MACHINES_DAYS"), Machine.objects.filter(share=OuterRef("pk"))
    return SharedLink.objects.filter(
        Q(ended_at__lt=since) | Q(ended_at__isnull=True, created_at__lt=since), ~Exists(machines), classroom=None
    )


def _expired_tokens() -> QuerySet[ApiToken]:
    since = days_ago("KEEP_TOKENS_DAYS")
    return ApiToken.objects.filter(Q(revoked_at__lt=since) | Q(expires_at__lt=since))


SITE_RULES = (
    RetentionRule("sessions", lambda: Session.objects.filter(expire_date__lt=timezone.now()), batch=1_000),
    RetentionRule("locks of log-ins", lambda: AccessAttempt.objects.filter(attempt_time__lt=days_ago(1))),
    RetentionRule("failed log-ins", _failed_log_ins, batch=1_000),
    RetentionRule("log-ins", lambda: AccessLog.objects.filter(attempt_time__lt=days_ago("KEEP_LOG_INS_DAYS"))),
    RetentionRule("blocks of addresses", lambda: AddressBlock.objects.filter(expires_at__lt=days_ago(1))),
    RetentionRule("guests with an account", lambda: MovedGuest.objects.filter(moved_at__lt=days_ago(1))),
    RetentionRule("shared links", _expired_links),
    RetentionRule("tokens", _expired_tokens),
    RetentionRule("rooms without an opponent", _rooms_without_opponent),
    RetentionRule(
        "addresses of rooms",
        lambda: Room.objects.filter(_has_no_copies(), changed_at__lt=days_ago(1)).exclude(opened_from=""),
        lambda rows: rows.update(opened_from=""),
    ),
    RetentionRule("old matches", lambda: _due_matches(_is_expired("finished_at", "match", "room__host"))),
    # Matches come before rooms, because a room is deleted only with its last match.
    *(
        RetentionRule(f"{rows} of {people} beyond the bound", due, window=_people_window(column, setting, path))
        for people, column, setting in (
            ("guests", "guest", "MATCHES_PER_GUEST"),
            ("accounts", "user_id", "MATCHES_PER_ACCOUNT"),
        )
        for rows, due, path in (
            ("matches", _matches_ended_or_abandoned, "pk"),
            ("rooms", _rooms_ended_or_abandoned, "matches"),
        )
    ),
    # Rooms come before machines, so the room of a deleted copy stays until the next pass, and says that it is gone.
    RetentionRule("old rooms", lambda: _due_rooms(_is_expired("changed_at", "match__room", "host"))),
)
LAB_RULES = (
    RetentionRule("results of experiments", _old_experiments),
    RetentionRule(
        "trainings without an end",
        _runs_too_long,
        lambda rows: rows.update(cancel_requested=True, error=RUN_TOO_LONG_TEXT),
    ),
    RetentionRule("old trainings", _old_runs, batch=20),
    RetentionRule("old tournaments", _old_tournaments, batch=5),
    RetentionRule("crontabs", lambda: CrontabSchedule.objects.filter(periodictask__isnull=True)),
    RetentionRule("intervals", lambda: IntervalSchedule.objects.filter(periodictask__isnull=True)),
)
