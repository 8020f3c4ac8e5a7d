"""Closing of an account: its current work ends, and its machines get another owner or are deleted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from games.accounts.principal import Principal
from games.accounts.second_factor import second_factor_remove
from games.exceptions import AccountClosedError, PlayError
from games.limits.quotas import account_lock
from games.live.match_lists import rooms_of
from games.live.play import match_resign
from games.models import ApiToken, MatchStatus, Room
from learning.access import staff_may
from learning.exceptions import AccountNotClosedError
from learning.models import Classroom, ExperimentRun, JobStatus, Machine, Schedule, Tournament, TrainingRun
from learning.services.classrooms import classroom_delete
from learning.services.experiments import ACTIVE_STATUSES, experiment_cancel
from learning.services.machines import machine_delete
from learning.services.runs import training_run_cancel
from learning.services.schedules import schedule_delete
from learning.services.sharing import links_end
from learning.services.tournaments import tournament_cancel
from learning.storage.locks import machine_lock_existing

HEIR_REFUSAL_TEXT = "Its machines go to another account, one that is open."


@dataclass(frozen=True, slots=True)
class ClosingResult:
    """The result of closing an account: numbers of rows ended, and of machines deleted or given away."""

    tokens: int
    schedules: int
    runs: int
    tournaments: int
    experiments: int
    rooms: int
    classes: int
    machines: int


def account_close(
    *, staff: User, account: User, heir: User | None = None, deletes_machines: bool = False
) -> ClosingResult:
    """Close an account permanently: it cannot log in, and all its work ends. Its name cannot be used again.

    Each step runs in a transaction of its own service, so that other requests wait only briefly. If a step fails, a
    second call does the rest. The account resigns its matches in progress, and all matches are kept. Its classes are
    deleted with their machines. Other machines keep what they learnt from the account's machines. An exhibition that
    the account hosts stops advancing. A room in which the account still waits for an opponent is deleted.

    Args:
        staff: the member of the staff who closes the account, with the permission to change accounts.
        account: the account to close; not that of ``staff``. Only a superuser may close a staff account.
        heir: the account that gets the machines; ``None`` for the site.
        deletes_machines: whether the machines are deleted instead, which needs the permission to delete machines.
            Copies made for rooms are always deleted.

    Raises:
        AccountNotClosedError: ``staff`` may not close this account or delete its machines. Or the heir is a closed
            account, or the account to close.
    """
    if account.pk == staff.pk:
        raise AccountNotClosedError("This is the account that you are logged in to.")
    if is_above(staff, account):
        raise AccountNotClosedError("Only a superuser closes an account of the staff.")
    if heir is not None and (heir.pk == account.pk or not heir.is_active):
        raise AccountNotClosedError(HEIR_REFUSAL_TEXT)
    if deletes_machines and not staff_may(staff, "delete_machine"):
        raise AccountNotClosedError("Only who may delete machines closes an account with them.")
    n_tokens = _access_revoke(account)
    # Services run as the closed account, so its work ends independently of the permissions of ``staff``.
    schedules, runs, tournaments, experiments = _unfinished_work(account)
    n_schedules = _end_each(schedules, lambda pk: schedule_delete(user=account, schedule_id=pk))
    n_runs = sum(training_run_cancel(run_id=pk) for pk in list(runs.values_list("pk", flat=True)))
    n_tournaments = _end_each(tournaments, lambda pk: tournament_cancel(user=account, tournament_id=pk))
    n_experiments = _end_each(experiments, lambda pk: experiment_cancel(person=Principal(), run_id=pk, is_staff=True))
    n_rooms = _rooms_end(account)
    n_classes = _end_each(
        Classroom.objects.filter(teacher=account), lambda pk: classroom_delete(user=account, classroom_id=pk)
    )
    n_machines = _machines_delete(account, deletes_all=deletes_machines) + _machines_transfer(account, heir)
    return ClosingResult(n_tokens, n_schedules, n_runs, n_tournaments, n_experiments, n_rooms, n_classes, n_machines)


def needs_closing(account: User) -> bool:
    """Whether closing an account would still change something: log-in, work in progress, or machines."""
    querysets = (
        *_unfinished_work(account),
        _unfinished_rooms(account),
        Classroom.objects.filter(teacher=account),
        Machine.objects.filter(owner=account),
    )
    return account.is_active or any(rows.exists() for rows in querysets)


def is_above(staff: User, account: User) -> bool:
    """Whether ``account`` is above ``staff``: only a superuser may change a staff account.

    Otherwise staff could set the password of another member of the staff, and so get that member's permissions.
    """
    return bool((account.is_staff or account.is_superuser) and not staff.is_superuser)


@transaction.atomic
def _access_revoke(account: User) -> int:
    """End log-in, sessions and tokens; return the number of tokens that were still valid.

    The row lock of the account includes the key, so it waits for transactions that are creating rows for the account
    (``games.limits.quotas``). The next steps then find all these rows.
    """
    row = get_user_model().objects.select_for_update().get(pk=account.pk)
    row.is_active = False
    row.set_unusable_password()
    row.save(update_fields=["is_active", "password"])
    second_factor_remove(account)
    return ApiToken.objects.filter(user=account, revoked_at__isnull=True).update(revoked_at=timezone.now())


def _end_each(rows: QuerySet[Model], end: Callable[[int], object]) -> int:
    """Call ``end`` with the id of each row, and return the number of ids.

    A refusal is ignored, because the row may have ended by itself meanwhile.
    """
    ids = list(rows.values_list("pk", flat=True))
    for pk in ids:
        with contextlib.suppress(PlayError, ObjectDoesNotExist):
            end(pk)
    return len(ids)


def _unfinished_work(account: User) -> tuple[QuerySet[Model], ...]:
    """Return the account's schedules, and its active runs, tournaments and experiments."""
    of_account = Q(started_by=account) | Q(machine__owner=account)
    return (
        Schedule.objects.filter(owner=account),
        TrainingRun.objects.filter(of_account, finished_at__isnull=True),
        Tournament.objects.filter(owner=account, status=JobStatus.RUNNING),
        ExperimentRun.objects.filter(user=account, status__in=ACTIVE_STATUSES),
    )


def _unfinished_rooms(account: User) -> QuerySet[Room]:
    """Return the rooms with an unfinished match in which the account plays, waits or is the host."""
    rooms = rooms_of(user_id=account.pk, guest=None)
    return rooms.filter(matches__status__in=[MatchStatus.WAITING, MatchStatus.PLAYING]).distinct()


def _rooms_end(account: User) -> int:
    """Resign the account's matches, delete the rooms in which it waits, and end its hosting; return the number."""
    n_ended = 0
    for room in _unfinished_rooms(account):
        if room.is_exhibition:
            Room.objects.filter(pk=room.pk).update(host=None)
        elif not Room.objects.filter(pk=room.pk, matches__status=MatchStatus.WAITING, matches__number=1).delete()[0]:
            with contextlib.suppress(PlayError):  # the match has ended meanwhile
                match_resign(code=room.code, person=Principal(user_id=account.pk))
        n_ended += 1
    return n_ended


def _machines_delete(account: User, *, deletes_all: bool) -> int:
    """Delete the account's copies made for rooms, or all its machines; return the number."""
    machines = Machine.objects.filter(owner=account)
    to_delete = machines if deletes_all else machines.filter(room__isnull=False)
    return _end_each(to_delete.order_by("pk"), lambda pk: machine_delete(user=account, machine_id=pk))


@transaction.atomic
def _machines_transfer(account: User, heir: User | None) -> int:
    """Give the account's machines to the heir, regardless of the heir's quota, or to the site; return the number.

    They become ordinary machines, since the heir may have a personal machine already. Their shared links end.

    Raises:
        AccountNotClosedError: the heir has been closed meanwhile.
    """
    try:
        for user in sorted(filter(None, (account, heir)), key=lambda user: user.pk):
            account_lock(user, may_be_closed=user == account)
    except AccountClosedError:
        raise AccountNotClosedError(HEIR_REFUSAL_TEXT) from None
    ids = Machine.objects.filter(owner=account).values_list("pk", flat=True)
    locked = machine_lock_existing(list(ids))
    links_end(locked.values())
    return Machine.objects.filter(pk__in=locked).update(owner=heir, is_pupil=False)
