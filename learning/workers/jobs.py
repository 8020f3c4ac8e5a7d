"""The protocol of every background job: training runs, pairings of tournaments, experiments.

The row is the truth, and a message to the workers only a knock: *somebody look*. Whoever hears it takes the job whose
turn it is by compare-and-set (:meth:`JobKind.claim`) and has it as long as the lease is the one that it was given,
renewing it as it goes (:func:`renew`). After its turn it lets go (:func:`let_go`), always, and knocks again. A worker
that dies leaves a lease that runs out, a broker that is away loses knocks: both are noticed (:func:`forgotten`).

Turns go round by kind, and within a kind by account, to whoever was served longest ago: so neither somebody's many jobs
nor the long ones of a kind keep the others waiting for longer than a few turns.
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
"""A job that waits is knocked for again when the last knock is this old: the message may be lost."""
LONGEST_LEASE = timedelta(minutes=2)
"""A lease that ends later was taken, or given back, before the clock was set back: nobody may have it."""
KNOCKS_AT_ONCE = 20
"""And no more than so many at a time: a knock is a turn for whoever waits, so a few bring all of them on."""

TURNS = Counter("beadbox_turns", "Turns that jobs have had", ["kind"])
JOBS_ENDED = Counter("beadbox_jobs_ended", "Jobs that have ended, by how", ["model", "status"])
LEASES_LOST = Counter("beadbox_leases_lost", "Leases that ran out: a worker died, or was not heard of for too long")


class JobLostError(Exception):
    """Another worker has the job, or it is over, or gone: stop without a word."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """When a worker's turn is over; never, unless seconds are given."""

    seconds: float | None = None
    begun_at: float = field(default_factory=monotonic)

    @property
    def is_reached(self) -> bool:
        """Whether the worker has to let go."""
        return self.seconds is not None and monotonic() - self.begun_at >= self.seconds


def waits(now: datetime) -> Q:
    """Jobs that wait for a worker: never begun, let go, or left by a worker that has died."""
    is_over = Q(lease_until__lt=now) | Q(lease_until__gt=now + LONGEST_LEASE)
    return Q(status=JobStatus.QUEUED) | Q(status=JobStatus.RUNNING) & is_over


class JobKind(ABC, Generic[JobT]):
    """A kind of job.

    Attributes:
        slug: of the kind, in knocks and turns.
        model: its rows; ``related`` is read with each that is taken.
        lease_s: a job whose worker has not been heard of for this long may be taken by another.
        account: the field that leads to the account for which it is done; guests and the house count as one.
        order: which of the waiting jobs of an account comes first.
        begun: what is stored when a job is taken, besides who has it.
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
        """All jobs of the kind."""
        return self.model._default_manager.all()

    @property
    def going_on(self) -> QuerySet[JobT]:
        """Those that are given turns just now; the others wait, and nobody knocks for them."""
        return self.rows

    def claim(self, job_id: int, now: datetime | None = None) -> JobT | None:
        """Take a job that waits, by compare-and-set: of any number of workers one gets it, the others ``None``."""
        now = now or timezone.now()
        # A condition on the row alone: one on another table would be a subquery, which is not asked again after a wait
        # for the row, and two workers would both have it. Only the lease tells one worker's claim from another's, so no
        # two are ever the same.
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
        """The account for which a job is done, if it is anybody's."""

    @abstractmethod
    def take_turn(self, job: JobT, end: TurnEnd) -> list[int]:
        """Work at a claimed job until it is over or the turn ends; the jobs of this kind that wait because of it."""


def held(job: JobT) -> JobT:
    """A job that this worker has, as its row stands now, which is locked until the transaction ends.

    Raises:
        JobLostError: it is no longer this worker's.
    """
    mine = _mine(job).select_for_update(of=("self",)).first()
    if mine is None:
        raise JobLostError
    return mine


def renew(job: Job, lease_s: float, **fields: Any) -> None:
    """Go on holding a job, and store what has become of it.

    Raises:
        JobLostError: it is no longer this worker's; nothing was stored.
    """
    _update(job, lease_until=timezone.now() + timedelta(seconds=lease_s), **fields)


def let_go(job: Job, **fields: Any) -> None:
    """Give the lease back, and store what has become of the job: it waits for its next turn.

    Raises:
        JobLostError: it is no longer this worker's; nothing was stored.
    """
    now = timezone.now()
    _update(job, lease_until=now, knocked_at=now, leased_by="", **fields)


def end(job: Job, status: JobStatus, **fields: Any) -> None:
    """End a job, and store what it came to.

    Raises:
        JobLostError: it is no longer this worker's; nothing was stored.
    """
    _update(job, status=status, lease_until=None, leased_by="", **fields)
    transaction.on_commit(JOBS_ENDED.labels(job._meta.model_name, status).inc)


def take_back(kind: JobKind[Any], job_id: int) -> bool:
    """Take a job from the worker that has it, alive or not: it waits for its turn; whether there was one to take.

    What that worker has stored stays, and what it is about to store it drops (:class:`JobLostError`).
    """
    now = timezone.now()
    leased = kind.rows.filter(pk=job_id, status=JobStatus.RUNNING).exclude(leased_by="")
    return bool(leased.update(lease_until=now, knocked_at=now, leased_by=""))


def worker_name() -> str:
    """What this process is called where it has a job."""
    return f"{gethostname()[:80]} {os.getpid()}"


def fault(error: Exception) -> str:
    """What a job that failed says of its fault: a sentence of ours as it is, else what kind of fault it was as well."""
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
    """Take the job whose turn it is, with its kind; ``None`` when none waits."""
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
    """An account of which jobs of a kind wait; ``first_id`` is the oldest of them."""

    kind: JobKind[Any]
    account: int | None
    first_id: int


def _served_at(waiting: Sequence[_Waiting]) -> Callable[[_Waiting], tuple[float, float, int]]:
    """When a kind, and in it an account, last had a turn; what never had one comes first, the oldest before others."""
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
    """What waits although the last knock for it is long past, longest first; a knock for it is taken as given."""
    now = timezone.now()
    long_ago = Q(knocked_at__lt=now - timedelta(seconds=WAKE_UP_AGAIN_S)) | Q(knocked_at__gt=now + LONGEST_LEASE)
    waiting = kind.going_on.filter(waits(now), long_ago)
    jobs = list(waiting.order_by("knocked_at", "pk").only("status", "lease_until", "knocked_at")[:KNOCKS_AT_ONCE])
    ids = [job.pk for job in jobs]
    kind.rows.filter(pk__in=ids).update(knocked_at=now)
    LEASES_LOST.inc(sum(map(_has_run_out, jobs)))
    return ids


def _has_run_out(job: Job) -> bool:
    """Whether a job that waits was left by its worker, and nobody has noticed yet.

    Who lets go knocks at the moment when the lease ends, and who finds one that has run out knocks later.
    """
    return job.lease_until is not None and job.knocked_at < job.lease_until
