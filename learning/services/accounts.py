"""Close an account: everything of it that goes on ends, and its machines go to somebody else or away."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from games.exceptions import PlayError
from games.models import ApiToken, MatchStatus, Room
from games.quotas import account_lock
from games.selectors import rooms_of
from games.services import Person, match_resign
from learning.exceptions import AccountNotClosedError
from learning.models import ExperimentRun, JobStatus, Machine, Schedule, Tournament, TrainingRun
from learning.services.experiments import GOING_ON, experiment_cancel
from learning.services.machines import machine_delete
from learning.services.runs import training_run_cancel
from learning.services.schedules import schedule_delete
from learning.services.tournaments import tournament_cancel
from learning.storage.locks import machines_locked


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


def account_close(*, by: Any, account: Any, heir: Any = None, deletes_machines: bool = False) -> Closed:
    """Close an account for good: nobody logs in to it, and nothing is done for it any more. Its name stays taken.

    Step by step, each a transaction of the service that does it, so that nobody waits for the whole: what is left
    where a step fails is done when it is called again. What others have learnt from its machines stays with them, and
    so does every match: those that go on it gives up, of the ledger's kind like any other. An exhibition that it hosts
    stands still from now on; a room in which nobody has sat down with it goes.

    Args:
        by: a member of the staff.
        account: whose account; not that of who asks, and one of the staff only for a superuser (:func:`is_above`).
        heir: the account that gets its machines; ``None``: the house.
        deletes_machines: whether they are deleted instead. Copies made for rooms always are.

    Raises:
        AccountNotClosedError: by whom or whose it is.
    """
    if account.pk == by.pk:
        raise AccountNotClosedError("This is the account that you are logged in to.")
    if is_above(by, account):
        raise AccountNotClosedError("Only a superuser closes an account of the staff.")
    if heir is not None and (heir.pk == account.pk or not heir.is_active):
        raise AccountNotClosedError("Its machines go to another account, one that is open.")
    n_tokens = _lock_out(account)
    schedules = list(Schedule.objects.filter(owner=account).values_list("pk", flat=True))
    for schedule_id in schedules:
        schedule_delete(user=by, schedule_id=schedule_id)
    of_account = Q(started_by=account) | Q(machine__owner=account)
    runs = TrainingRun.objects.filter(of_account, finished_at__isnull=True).values_list("pk", flat=True)
    n_runs = sum(training_run_cancel(run_id=pk) for pk in list(runs))
    tournaments = list(Tournament.objects.filter(owner=account, status=JobStatus.RUNNING).values_list("pk", flat=True))
    for tournament_id in tournaments:
        tournament_cancel(user=by, tournament_id=tournament_id)
    experiments = list(ExperimentRun.objects.filter(user=account, status__in=GOING_ON).values_list("pk", flat=True))
    for run_id in experiments:
        experiment_cancel(person=Person(), run_id=run_id, is_staff=True)
    n_rooms = _rooms_end(account)
    n_machines = _machines_delete(by, account, deletes_all=deletes_machines) + _machines_hand_on(account, heir)
    return Closed(n_tokens, len(schedules), n_runs, len(tournaments), len(experiments), n_rooms, n_machines)


def is_above(by: Any, account: Any) -> bool:
    """Whether an account of the staff is a superuser's alone to change: who sets its password has what it may do."""
    return bool((account.is_staff or account.is_superuser) and not by.is_superuser)


def factor_forget(account: Any) -> None:
    """Take every device and recovery code of an account away; the next visit to the staff's pages sets one up."""
    TOTPDevice.objects.filter(user=account).delete()
    StaticDevice.objects.filter(user=account).delete()


@transaction.atomic
def _lock_out(account: Any) -> int:
    """End log-in, sessions and tokens; how many of these counted. A session is worth as much as its account."""
    account_lock(account)
    row = get_user_model().objects.get(pk=account.pk)
    row.is_active = False
    row.set_unusable_password()
    row.save(update_fields=["is_active", "password"])
    factor_forget(account)
    return ApiToken.objects.filter(user=account, revoked_at__isnull=True).update(revoked_at=timezone.now())


def _rooms_end(account: Any) -> int:
    """Give up what it plays, close the rooms where it waits, host nothing any more; how many rooms."""
    rooms = rooms_of(user_id=account.pk, guest=None).exclude(matches=None)
    n_ended = 0
    for room in rooms.filter(matches__status__in=[MatchStatus.WAITING, MatchStatus.PLAYING]).distinct():
        if room.is_exhibition:
            Room.objects.filter(pk=room.pk).update(host=None)
        elif not Room.objects.filter(pk=room.pk, matches__status=MatchStatus.WAITING, matches__number=1).delete()[0]:
            with contextlib.suppress(PlayError):  # it ended just now
                match_resign(code=room.code, person=Person(user_id=account.pk))
        n_ended += 1
    return n_ended


def _machines_delete(by: Any, account: Any, *, deletes_all: bool) -> int:
    """Delete its copies made for rooms, or all its machines; how many."""
    machines = Machine.objects.filter(owner=account)
    doomed = machines if deletes_all else machines.filter(room__isnull=False)
    ids = list(doomed.order_by("pk").values_list("pk", flat=True))
    for machine_id in ids:
        with contextlib.suppress(PlayError):  # another one was faster
            machine_delete(user=by, machine_id=machine_id)
    return len(ids)


@transaction.atomic
def _machines_hand_on(account: Any, heir: Any) -> int:
    """Give its machines to another account, or to the house, however many that has; how many.

    None is taught with one click any more: the heir may have its own.
    """
    for one in sorted(filter(None, (account, heir)), key=lambda one: one.pk):
        account_lock(one)
    ids = Machine.objects.filter(owner=account).values_list("pk", flat=True)
    locked = machines_locked(list(ids))
    return Machine.objects.filter(pk__in=locked).update(owner=heir, is_pupil=False)
