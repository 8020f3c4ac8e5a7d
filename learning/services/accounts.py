"""Close an account: everything of it that goes on ends, and its machines go to somebody else or away."""

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
from games.accounts.second_factor import factor_forget
from games.exceptions import AccountClosedError, PlayError
from games.limits.quotas import account_lock
from games.live.match_lists import rooms_of
from games.live.play import match_resign
from games.models import ApiToken, MatchStatus, Room
from learning.access import staff_may
from learning.exceptions import AccountNotClosedError
from learning.models import ExperimentRun, JobStatus, Machine, Schedule, Tournament, TrainingRun
from learning.services.experiments import GOING_ON, experiment_cancel
from learning.services.machines import machine_delete
from learning.services.runs import training_run_cancel
from learning.services.schedules import schedule_delete
from learning.services.sharing import links_end
from learning.services.tournaments import tournament_cancel
from learning.storage.locks import machines_locked

HEIR_OPEN = "Its machines go to another account, one that is open."


@dataclass(frozen=True, slots=True)
class Closed:
    """How many of each there were that ended, and machines that went or were handed on."""

    tokens: int
    schedules: int
    runs: int
    tournaments: int
    experiments: int
    rooms: int
    machines: int


def account_close(*, by: User, account: User, heir: User | None = None, deletes_machines: bool = False) -> Closed:
    """Close an account for good: nobody logs in to it, and nothing is done for it any more. Its name stays taken.

    Step by step, each a transaction of the service that does it, so that nobody waits for the whole: what is left
    where a step fails is done when it is called again. What others have learnt from its machines stays with them, and
    so does every match: those that go on it gives up, of the ledger's kind like any other. An exhibition that it hosts
    stands still from now on; a room in which nobody has sat down with it goes.

    Args:
        by: a member of the staff, who may change accounts.
        account: whose account; not that of who asks, and one of the staff only for a superuser (:func:`is_above`).
        heir: the account that gets its machines; ``None``: the house.
        deletes_machines: whether they are deleted instead, by who may do that. Copies made for rooms always are.

    Raises:
        AccountNotClosedError: by whom or whose it is, or no machine may be deleted, or the heir's account is closed.
    """
    if account.pk == by.pk:
        raise AccountNotClosedError("This is the account that you are logged in to.")
    if is_above(by, account):
        raise AccountNotClosedError("Only a superuser closes an account of the staff.")
    if heir is not None and (heir.pk == account.pk or not heir.is_active):
        raise AccountNotClosedError(HEIR_OPEN)
    if deletes_machines and not staff_may(by, "delete_machine"):
        raise AccountNotClosedError("Only who may delete machines closes an account with them.")
    n_tokens = _lock_out(account)
    # In the account's own name: what goes on there ends, whatever else who closes it may do.
    schedules, runs, tournaments, experiments = _goes_on(account)
    n_schedules = _each(schedules, lambda pk: schedule_delete(user=account, schedule_id=pk))
    n_runs = sum(training_run_cancel(run_id=pk) for pk in list(runs.values_list("pk", flat=True)))
    n_tournaments = _each(tournaments, lambda pk: tournament_cancel(user=account, tournament_id=pk))
    n_experiments = _each(experiments, lambda pk: experiment_cancel(person=Principal(), run_id=pk, is_staff=True))
    n_rooms = _rooms_end(account)
    n_machines = _machines_delete(account, deletes_all=deletes_machines) + _machines_hand_on(account, heir)
    return Closed(n_tokens, n_schedules, n_runs, n_tournaments, n_experiments, n_rooms, n_machines)


def is_left(account: User) -> bool:
    """Whether closing an account would still end something, or give machines to somebody else."""
    rest = (*_goes_on(account), _rooms(account), Machine.objects.filter(owner=account))
    return account.is_active or any(rows.exists() for rows in rest)


def is_above(by: User, account: User) -> bool:
    """Whether an account of the staff is a superuser's alone to change: who sets its password has what it may do."""
    return bool((account.is_staff or account.is_superuser) and not by.is_superuser)


@transaction.atomic
def _lock_out(account: User) -> int:
    """End log-in, sessions and tokens; how many of these counted. A session is worth as much as its account.

    With its key the row waits for everything that is being made for the account and holds it
    (``games.limits.quotas``), so that what is ended next is all there is.
    """
    row = get_user_model().objects.select_for_update().get(pk=account.pk)
    row.is_active = False
    row.set_unusable_password()
    row.save(update_fields=["is_active", "password"])
    factor_forget(account)
    return ApiToken.objects.filter(user=account, revoked_at__isnull=True).update(revoked_at=timezone.now())


def _each(rows: QuerySet[Model], end: Callable[[int], object]) -> int:
    """End each of these, by its id; how many. What has ended by itself meanwhile keeps nobody from the next."""
    ids = list(rows.values_list("pk", flat=True))
    for pk in ids:
        with contextlib.suppress(PlayError, ObjectDoesNotExist):
            end(pk)
    return len(ids)


def _goes_on(account: User) -> tuple[QuerySet[Model], ...]:
    """Its schedules, runs, tournaments and experiments that go on."""
    of_account = Q(started_by=account) | Q(machine__owner=account)
    return (
        Schedule.objects.filter(owner=account),
        TrainingRun.objects.filter(of_account, finished_at__isnull=True),
        Tournament.objects.filter(owner=account, status=JobStatus.RUNNING),
        ExperimentRun.objects.filter(user=account, status__in=GOING_ON),
    )


def _rooms(account: User) -> QuerySet[Room]:
    """Those in which it plays, waits or is the host."""
    rooms = rooms_of(user_id=account.pk, guest=None)
    return rooms.filter(matches__status__in=[MatchStatus.WAITING, MatchStatus.PLAYING]).distinct()


def _rooms_end(account: User) -> int:
    """Give up what it plays, close the rooms where it waits, host nothing any more; how many rooms."""
    n_ended = 0
    for room in _rooms(account):
        if room.is_exhibition:
            Room.objects.filter(pk=room.pk).update(host=None)
        elif not Room.objects.filter(pk=room.pk, matches__status=MatchStatus.WAITING, matches__number=1).delete()[0]:
            with contextlib.suppress(PlayError):  # it ended just now
                match_resign(code=room.code, person=Principal(user_id=account.pk))
        n_ended += 1
    return n_ended


def _machines_delete(account: User, *, deletes_all: bool) -> int:
    """Delete its copies made for rooms, or all its machines; how many."""
    machines = Machine.objects.filter(owner=account)
    doomed = machines if deletes_all else machines.filter(room__isnull=False)
    return _each(doomed.order_by("pk"), lambda pk: machine_delete(user=account, machine_id=pk))


@transaction.atomic
def _machines_hand_on(account: User, heir: User | None) -> int:
    """Give its machines to another account, or to the house, however many that has; how many.

    None is taught with one click any more: the heir may have its own. None is shared by a link any more.

    Raises:
        AccountNotClosedError: the heir's account was closed meanwhile.
    """
    try:
        for one in sorted(filter(None, (account, heir)), key=lambda one: one.pk):
            account_lock(one, closed_too=one == account)
    except AccountClosedError:
        raise AccountNotClosedError(HEIR_OPEN) from None
    ids = Machine.objects.filter(owner=account).values_list("pk", flat=True)
    locked = machines_locked(list(ids))
    links_end(locked.values())
    return Machine.objects.filter(pk__in=locked).update(owner=heir, is_pupil=False)
