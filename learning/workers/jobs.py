"""The protocol of every background job: training runs, pairings of tournaments, experiments.

The row is authoritative; a message to the workers is only a wake-up: *some job waits*. The worker that gets it takes
the job that is next by compare-and-set (:meth:`JobKind.claim`). It has the job as long as the lease is the one that it
was given, and renews the lease as it goes (:func:`renew`). After its turn it always releases the job (:func:`let_go`),
and sends a wake-up. A dead worker leaves a lease that runs out, and an unavailable broker loses wake-ups: recovery
finds both (:func:`forgotten`).

Turns go round by kind, and within a kind by account, to the one served longest ago. So neither the many jobs of one
account nor the long jobs of a kind delay the others by more than a few turns.
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
"""Age in seconds of a job's last wake-up after which a new one is sent: the message may be lost."""
LONGEST_LEASE = timedelta(minutes=2)
"""A lease that ends later dates from before the clock was set back, and counts as expired."""
KNOCKS_AT_ONCE = 20
"""Maximum number of wake-ups in a recovery pass: each serves any waiting job, so a few restart the queue."""

TURNS = Counter("beadbox_turns", "Turns that jobs have had", ["kind"])
JOBS_ENDED = Counter("beadbox_jobs_ended", "Jobs that have ended, by how", ["model", "status"])
LEASES_LOST = Counter("beadbox_leases_lost", "Leases that ran out: a worker died, or was not heard of for too long")


class JobLostError(Exception):
    """Another worker has the job, or it is over or deleted: stop silently."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of a worker's turn; without ``seconds`` it never ends."""

    seconds: float | None = None
    begun_at: float = field(default_factory=monotonic)

    @property
    def is_reached(self) -> bool:
        """Whether the worker has to release its job."""
        return self.seconds is not None and monotonic() - self.begun_at >= self.seconds


def waits(now: datetime) -> Q:
    """A filter for jobs that wait for a worker: never begun, released, or left by a worker that has died."""
    is_over = Q(lease_until__lt=now) | Q(lease_until__gt=now + LONGEST_LEASE)
    return Q(status=JobStatus.QUEUED) | Q(status=JobStatus.RUNNING) & is_over


class JobKind(ABC, Generic[JobT]):
    """A kind of background job, with its rows and the order of their turns.

    Attributes:
        slug: of the kind, in wake-ups and turns.
        model: its rows; ``related`` is read with each that is taken.
        lease_s: seconds without a renewal after which another worker may take a job.
        account: the path to the account for which a job is done; guests and the house count as one.
        order: the order of an account's waiting jobs.
        begun: fields stored when a job is taken, besides the lease.
    """

    slug: ClassVar[str]
    model: type[JobT]
    related: ClassVar[Sequence[str]] = ()
    lease_s: ClassVar[float]
    account: ClassVar[str]
    order: ClassVar[Sequence[Any]]
    begun: ClassVar[Mapping[str, Any]] = {}

    @property
    def rows(self) -> QuerySet[JobT]:
        return self.model._default_manager.all()

    @property
    def going_on(self) -> QuerySet[JobT]:
        """The jobs that may have turns at present; the others wait, and get no wake-ups."""
        return self.rows

    def claim(self, job_id: int, now: datetime | None = None) -> JobT | None:
        """Take a waiting job by compare-and-set: exactly one of several workers gets it, the others ``None``."""
        now = now or timezone.now()
        # The condition is on the row alone. On another table it would be a subquery, which PostgreSQL does not evaluate
        # again after waiting for the row, so two workers could both get the job. Only the lease tells two claims apart,
        # so no two leases are ever equal.
        taken = self.rows.filter(waits(now), pk=job_id).update(
            status=JobStatus.RUNNING,
            lease_until=now + timedelta(seconds=self.lease_s),
            leased_by=worker_name(),
            **self.begun,
        )
        job = self.rows.select_related(*self.related).filter(pk=job_id).first() if taken else None
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
        """The account for which a job is done; ``None`` for guests and the house."""

    @abstractmethod
    def take_turn(self, job: JobT, end: TurnEnd) -> list[int]:
        """Work on a claimed job until it is over or the turn ends; return the jobs of this kind that now wait."""


def held(job: JobT) -> JobT:
    """The present row of a job that this worker has, locked until the transaction ends.

    Raises:
        JobLostError: it is no longer this worker's.
    """
    mine = _mine(job).select_for_update(of=("self",)).first()
    if mine is None:
        raise JobLostError
    return mine


def renew(job: Job, lease_s: float, **fields: Any) -> None:
    """Renew a job's lease, and store its new fields.

    Raises:
        JobLostError: it is no longer this worker's; nothing was stored.
    """
    _update(job, lease_until=timezone.now() + timedelta(seconds=lease_s), **fields)


def let_go(job: Job, **fields: Any) -> None:
    """Release a job and store its new fields; it waits for its next turn.

    Raises:
        JobLostError: it is no longer this worker's; nothing was stored.
    """
    now = timezone.now()
    _update(job, lease_until=now, knocked_at=now, leased_by="", **fields)


def end(job: Job, status: JobStatus, **fields: Any) -> None:
    """End a job and store its result.

    Raises:
        JobLostError: it is no longer this worker's; nothing was stored.
    """
    _update(job, status=status, lease_until=None, leased_by="", **fields)
    transaction.on_commit(JOBS_ENDED.labels(job._meta.model_name, status).inc)


def take_back(kind: JobKind[Any], job_id: int) -> bool:
    """Take a job from its worker, alive or not, so that it waits for its turn; return whether a worker had it.

    Everything that the worker has stored stays. Its next write fails (:class:`JobLostError`).
    """
    now = timezone.now()
    leased = kind.rows.filter(pk=job_id, status=JobStatus.RUNNING).exclude(leased_by="")
    return bool(leased.update(lease_until=now, knocked_at=now, leased_by=""))


def worker_name() -> str:
    """The name of this process in leases: host and process id."""
    return f"{gethostname()[:80]} {os.getpid()}"


def fault(error: Exception) -> str:
    """The error text of a failed job: a refusal as it is, another exception with its type; at most 2,000 characters."""
    said = str(error) if refusal_of(error) else f"{type(error).__name__}: {error}"
    return said[:2000]


def _mine(job: JobT) -> QuerySet[JobT]:
    return type(job)._default_manager.filter(pk=job.pk, status=JobStatus.RUNNING, lease_until=job.lease_until)


def _update(job: Job, **fields: Any) -> None:
    if not _mine(job).update(**fields):
        raise JobLostError
    for name, value in fields.items():
        setattr(job, name, value)


def claim_next(kinds: Sequence[JobKind[Any]]) -> tuple[JobKind[Any], Any] | None:
    """Take the next job by turns, with its kind; ``None`` if no job waits."""
    while True:
        now = timezone.now()
        waiting = [
            _Waiting(kind, account, first_id)
            for kind in kinds
            for account, first_id in kind.going_on.filter(waits(now))
            .order_by()
            .values_list(kind.account)
            .annotate(Min("pk"))
        ]
        if not waiting:
            return None
        kind, account, _ = min(waiting, key=_served_at(waiting))
        of_account = kind.going_on.filter(waits(now), **{kind.account: account}).order_by(*kind.order)
        first = of_account.only("status", "lease_until", "knocked_at").first()
        job = None if first is None else kind.claim(first.pk, now)
        if first is not None and job is not None:
            TURNS.labels(kind.slug).inc()
            LEASES_LOST.inc(_has_run_out(first))
            return kind, job


class _Waiting(NamedTuple):
    """An account with waiting jobs of a kind; ``first_id`` is the oldest of them."""

    kind: JobKind[Any]
    account: int | None
    first_id: int


def _served_at(waiting: Sequence[_Waiting]) -> Callable[[_Waiting], tuple[float, float, int]]:
    """A sort key by the last turn of a kind, and of an account in it: those without a turn first, older jobs first."""
    of_kinds = {
        kind: Turn.objects.filter(kind=kind).aggregate(at=Max("last_at"))["at"]
        for kind in {one.kind.slug for one in waiting}
    }
    whose = Q(account__in=[one.account for one in waiting if one.account is not None]) | Q(account=None)
    turns = Turn.objects.filter(whose).values_list("kind", "account", "last_at")
    of_accounts: dict[tuple[str, int | None], datetime] = {turn[:2]: turn[2] for turn in turns}

    def served_at(one: _Waiting) -> tuple[float, float, int]:
        moments = of_kinds[one.kind.slug], of_accounts.get((one.kind.slug, one.account))
        of_kind, of_account = (moment.timestamp() if moment is not None else 0.0 for moment in moments)
        return of_kind, of_account, one.first_id

    return served_at


def forgotten(kind: JobKind[Any]) -> list[int]:
    """Ids of waiting jobs with a last wake-up long ago, longest first; their rows are marked as woken now."""
    now = timezone.now()
    long_ago = Q(knocked_at__lt=now - timedelta(seconds=WAKE_UP_AGAIN_S)) | Q(knocked_at__gt=now + LONGEST_LEASE)
    waiting = kind.going_on.filter(waits(now), long_ago)
    jobs = list(waiting.order_by("knocked_at", "pk").only("status", "lease_until", "knocked_at")[:KNOCKS_AT_ONCE])
    ids = [job.pk for job in jobs]
    kind.rows.filter(pk__in=ids).update(knocked_at=now)
    LEASES_LOST.inc(sum(map(_has_run_out, jobs)))
    return ids


def _has_run_out(job: Job) -> bool:
    """Whether a waiting job was left by its worker, and this has not been counted before.

    A release sets ``knocked_at`` to the end of the lease, and recovery of an expired lease sets it to a later moment.
    """
    return job.lease_until is not None and job.knocked_at < job.lease_until
