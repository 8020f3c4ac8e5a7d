"""The protocol of all background jobs: training runs, pairings of tournaments, experiments.

The row of a job is authoritative; a message to the workers is only a wake-up that says *some job waits*. The worker
that gets the message claims the next job by compare-and-set (:meth:`JobKind.claim`). The worker has the job while the
row has the lease of this claim, and renews the lease as it works (:func:`renew`). At the end of its turn (time slice)
the worker releases an unfinished job (:func:`release`) and sends a wake-up. A dead worker leaves a lease that expires,
and an unavailable broker loses wake-ups; recovery finds such jobs (:func:`wake_ups_take`).

The next turn goes to the kind, and within it to the account, whose last turn is longest ago. So neither the many jobs
of one account nor the long jobs of a kind delay other jobs by more than a few turns.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from socket import gethostname
from time import monotonic
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet
from django.utils import timezone
from prometheus_client import Counter

from games.exceptions import refusal_of
from learning.models import Job, JobStatus, Turn

JobT = TypeVar("JobT", bound=Job)

WAKE_UP_AGAIN_S = 10
"""Seconds after a waiting job's last wake-up until recovery sends another, because the message may be lost."""
MAX_LEASE = timedelta(minutes=2)
"""A lease that ends later than this from now was made before the clock was set back, and counts as expired."""
MAX_WAKE_UPS = 20
"""Maximum number of wake-ups in a recovery pass. Each wakes a worker for any waiting job, so a few are enough."""

TURNS = Counter("beadbox_turns", "Turns that jobs have had", ["kind"])
JOBS_ENDED = Counter("beadbox_jobs_ended", "Jobs that have ended, by how", ["model", "status"])
LEASES_LOST = Counter("beadbox_leases_lost", "Leases that ran out: a worker died, or was not heard of for too long")


class JobLostError(Exception):
    """Another worker has the job, or it is over or deleted: stop silently."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of a worker's turn: ``seconds`` after its beginning, or never."""

    seconds: float | None = None
    begun_at: float = field(default_factory=monotonic)

    @property
    def is_reached(self) -> bool:
        """Whether the worker has to release its job."""
        return self.seconds is not None and monotonic() - self.begun_at >= self.seconds


def waiting_filter(now: datetime) -> Q:
    """Return a filter for jobs that wait for a worker: never begun, released, or with an expired lease."""
    is_over = Q(lease_until__lt=now) | Q(lease_until__gt=now + MAX_LEASE)
    return Q(status=JobStatus.QUEUED) | Q(status=JobStatus.RUNNING) & is_over


class JobKind(ABC, Generic[JobT]):
    """A kind of background job: its table, and the order in which its jobs have turns.

    Attributes:
        slug: name of the kind in wake-ups and turns.
        model: the model of the jobs.
        related: relations to load with a claimed job.
        lease_s: seconds without a renewal after which another worker may claim a job.
        account: the path from a job to its account; jobs of guests and of the site count as one account.
        order: the order of an account's waiting jobs.
        claim_fields: fields besides the lease that a claim stores.
    """

    slug: ClassVar[str]
    model: type[JobT]
    related: ClassVar[Sequence[str]] = ()
    lease_s: ClassVar[float]
    account: ClassVar[str]
    order: ClassVar[Sequence[Any]]
    claim_fields: ClassVar[Mapping[str, Any]] = {}

    @property
    def rows(self) -> QuerySet[JobT]:
        return self.model._default_manager.all()

    @property
    def eligible(self) -> QuerySet[JobT]:
        """The jobs that may have turns at present; the other jobs get no wake-ups."""
        return self.rows

    def claim(self, job_id: int, now: datetime | None = None) -> JobT | None:
        """Claim a waiting job by compare-and-set; return it, or ``None`` if it does not wait any more.

        Of several concurrent workers, exactly one gets the job.
        """
        now = now or timezone.now()
        # The condition uses only columns of the row. A condition on another table would be a subquery, which PostgreSQL
        # does not evaluate again after waiting for the row, so two workers could both get the job. Claims differ only
        # in the lease; two claims of a job never have equal leases.
        is_claimed = self.rows.filter(waiting_filter(now), pk=job_id).update(
            status=JobStatus.RUNNING,
            lease_until=now + timedelta(seconds=self.lease_s),
            leased_by=worker_name(),
            **self.claim_fields,
        )
        job = self.rows.select_related(*self.related).filter(pk=job_id).first() if is_claimed else None
        if job is not None:
            Turn.objects.bulk_create(
                [Turn(kind=self.slug, account_id=self.account_of(job), last_at=now)],
                update_conflicts=True,
                unique_fields=["kind", "account"],
                update_fields=["last_at"],
            )
        return job

    @abstractmethod
    def account_of(self, job: JobT) -> int | None:
        """Return the id of the job's account; ``None`` for guests and the site."""

    @abstractmethod
    def take_turn(self, job: JobT, end: TurnEnd) -> list[int]:
        """Work on a claimed job until it is over or the turn ends; return the jobs of this kind that now wait."""


def job_lock(job: JobT) -> JobT:
    """Return the current row of a job that this worker has, locked until the transaction ends.

    Raises:
        JobLostError: this worker no longer has the job.
    """
    row = _own_row(job).select_for_update(of=("self",)).first()
    if row is None:
        raise JobLostError
    return row


def renew(job: Job, lease_s: float, **fields: Any) -> None:
    """Renew a job's lease for ``lease_s`` seconds, and store ``fields``.

    Raises:
        JobLostError: this worker no longer has the job; nothing was stored.
    """
    _update(job, lease_until=timezone.now() + timedelta(seconds=lease_s), **fields)


def release(job: Job, **fields: Any) -> None:
    """Release a job and store ``fields``; the job waits for its next turn.

    Raises:
        JobLostError: this worker no longer has the job; nothing was stored.
    """
    now = timezone.now()
    _update(job, lease_until=now, knocked_at=now, leased_by="", **fields)


def end(job: Job, status: JobStatus, **fields: Any) -> None:
    """End a job with a final status, and store ``fields``.

    Raises:
        JobLostError: this worker no longer has the job; nothing was stored.
    """
    _update(job, status=status, lease_until=None, leased_by="", **fields)
    transaction.on_commit(JOBS_ENDED.labels(job._meta.model_name, status).inc)


def take_back(kind: JobKind[Any], job_id: int) -> bool:
    """Take a job away from its worker, so that the job waits again; return whether a worker had the job.

    All that the worker has stored stays. If the worker is alive, its next write fails (:class:`JobLostError`).
    """
    now = timezone.now()
    leased = kind.rows.filter(pk=job_id, status=JobStatus.RUNNING).exclude(leased_by="")
    return bool(leased.update(lease_until=now, knocked_at=now, leased_by=""))


def worker_name() -> str:
    """Return the name of this process in leases: host and process id."""
    return f"{gethostname()[:80]} {os.getpid()}"


def error_text(error: Exception) -> str:
    """Return the error text of a failed job, at most 2,000 characters. Unless it is a refusal, it names the type."""
    text = str(error) if refusal_of(error) else f"{type(error).__name__}: {error}"
    return text[:2000]


def _own_row(job: JobT) -> QuerySet[JobT]:
    return type(job)._default_manager.filter(pk=job.pk, status=JobStatus.RUNNING, lease_until=job.lease_until)


def _update(job: Job, **fields: Any) -> None:
    if not _own_row(job).update(**fields):
        raise JobLostError
    for name, value in fields.items():
        setattr(job, name, value)


def claim_next(kinds: Sequence[JobKind[Any]]) -> tuple[JobKind[Any], Any] | None:
    """Claim the next job in the order of turns; return its kind and the job, or ``None`` if no job waits."""
    while True:
        now = timezone.now()
        waiting = [
            _WaitingAccount(kind, account, first_id)
            for kind in kinds
            for account, first_id in kind.eligible.filter(waiting_filter(now))
            .order_by()
            .values_list(kind.account)
            .annotate(Min("pk"))
        ]
        if not waiting:
            return None
        kind, account, _ = min(waiting, key=_turn_order(waiting))
        account_jobs = kind.eligible.filter(waiting_filter(now), **{kind.account: account}).order_by(*kind.order)
        next_row = account_jobs.only("status", "lease_until", "knocked_at").first()
        job = None if next_row is None else kind.claim(next_row.pk, now)
        if next_row is not None and job is not None:
            TURNS.labels(kind.slug).inc()
            LEASES_LOST.inc(_has_expired_lease(next_row))
            return kind, job


class _WaitingAccount(NamedTuple):
    """An account with waiting jobs of a kind; ``first_id`` is the oldest of them."""

    kind: JobKind[Any]
    account: int | None
    first_id: int


def _turn_order(waiting: Sequence[_WaitingAccount]) -> Callable[[_WaitingAccount], tuple[float, float, int]]:
    """Return the sort key of the next turn: the last turn of the kind, then of the account in it, then the job's id.

    A kind or an account without a turn so far comes first.
    """
    last_of_kinds = {
        kind: Turn.objects.filter(kind=kind).aggregate(at=Max("last_at"))["at"]
        for kind in {group.kind.slug for group in waiting}
    }
    is_of_accounts = Q(account__in=[group.account for group in waiting if group.account is not None]) | Q(account=None)
    turns = Turn.objects.filter(is_of_accounts).values_list("kind", "account", "last_at")
    last_of_accounts: dict[tuple[str, int | None], datetime] = {turn[:2]: turn[2] for turn in turns}

    def sort_key(group: _WaitingAccount) -> tuple[float, float, int]:
        moments = last_of_kinds[group.kind.slug], last_of_accounts.get((group.kind.slug, group.account))
        kind_at, account_at = (moment.timestamp() if moment is not None else 0.0 for moment in moments)
        return kind_at, account_at, group.first_id

    return sort_key


def wake_ups_take(kind: JobKind[Any]) -> list[int]:
    """Return the ids of waiting jobs whose last wake-up is long ago, oldest first; record a new wake-up for each.

    The caller sends these wake-ups. At most :data:`MAX_WAKE_UPS` jobs are returned.
    """
    now = timezone.now()
    long_ago = Q(knocked_at__lt=now - timedelta(seconds=WAKE_UP_AGAIN_S)) | Q(knocked_at__gt=now + MAX_LEASE)
    waiting = kind.eligible.filter(waiting_filter(now), long_ago)
    jobs = list(waiting.order_by("knocked_at", "pk").only("status", "lease_until", "knocked_at")[:MAX_WAKE_UPS])
    ids = [job.pk for job in jobs]
    kind.rows.filter(pk__in=ids).update(knocked_at=now)
    LEASES_LOST.inc(sum(map(_has_expired_lease, jobs)))
    return ids


def _has_expired_lease(job: Job) -> bool:
    """Whether a waiting job has an expired lease that has not been counted yet.

    A release sets ``knocked_at`` to the end of the lease. Recovery of an expired lease sets it to a later moment.
    """
    return job.lease_until is not None and job.knocked_at < job.lease_until
