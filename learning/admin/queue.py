"""Admin page of the job queue: waiting jobs, running jobs with their workers, and expired leases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone

from games.admin.base import log_each
from games.transport.error_responses import form_only
from learning import tasks
from learning.models import ClassFinal, ExperimentRun, Job, JobStatus, Pairing, TrainingRun
from learning.tasks import KINDS
from learning.workers.jobs import JobKind, take_back, waiting_filter

MAX_JOBS_SHOWN = 40
"""Maximum number of jobs listed for each kind, running jobs first. The counts above the list cover all jobs."""
RELATIONS_TO_LOAD = {
    TrainingRun: ("machine", "started_by"),
    Pairing: ("tournament__owner",),
    ExperimentRun: ("user",),
    ClassFinal: ("classroom__teacher",),
}
PERMISSION_MODELS = {Pairing: "tournament", ClassFinal: "classroom"}
"""The models that give the permissions for jobs without an admin page."""


def has_job_permission(request: HttpRequest, act: str, kind: JobKind[Any]) -> bool:
    """Return whether the viewer has a permission for jobs of this kind, or for what they belong to.

    Args:
        request: the viewer's request.
        act: ``view`` or ``change``.
        kind: the kind of job.
    """
    model = PERMISSION_MODELS.get(kind.model, kind.model._meta.model_name)
    return request.user.has_perm(f"learning.{act}_{model}")


@dataclass(frozen=True, slots=True)
class JobLine:
    """A line of the page: a job with its state.

    ``state`` is ``waits``, ``runs`` or ``lost``. ``since`` is the time of the request; for a job without a valid lease
    it is the end of its last lease, if there was one.
    """

    id: int
    name: str
    url: str
    account: str
    state: str
    since: datetime
    leased_by: str
    lease_until: datetime | None


def queue(request: HttpRequest) -> HttpResponse:
    """Show all unfinished jobs of the kinds that the viewer may view, in a fixed number of queries."""
    visible_kinds = [kind for kind in KINDS if has_job_permission(request, "view", kind)]
    if not visible_kinds:
        raise PermissionDenied
    now = timezone.now()
    is_lost = Q(status=JobStatus.RUNNING, lease_until__lt=now) & ~Q(leased_by="")
    kinds = []
    for kind in visible_kinds:
        rows = kind.rows.filter(status__in=[JobStatus.QUEUED, JobStatus.RUNNING])
        counts = rows.order_by().aggregate(
            lost=Count("pk", filter=is_lost),
            waits=Count("pk", filter=waiting_filter(now) & ~is_lost),
            runs=Count("pk", filter=~waiting_filter(now)),
        )
        jobs = rows.select_related(*RELATIONS_TO_LOAD[kind.model]).order_by("-status", "knocked_at", "pk")[
            :MAX_JOBS_SHOWN
        ]
        lines = list(_lines(jobs, now))
        kinds.append(
            {
                "name": kind.slug,
                "counts": counts,
                "lines": lines,
                "may_change": has_job_permission(request, "change", kind),
            }
        )
    context = {
        **admin.site.each_context(request),
        "title": "Queue and leases",
        "kinds": kinds,
        "now": now,
    }
    return TemplateResponse(request, "admin/queue.html", context)


@form_only("admin-queue")
def hand_back(request: HttpRequest, kind: str, job_id: int) -> HttpResponse:
    """Take a job from its worker; another worker continues from the last stored state."""
    job_kind: JobKind[Any] | None = next((known for known in KINDS if known.slug == kind), None)
    if job_kind is not None and not has_job_permission(request, "change", job_kind):
        raise PermissionDenied
    job = None if job_kind is None else job_kind.rows.filter(pk=job_id).first()
    if job_kind is None or job is None:
        raise Http404
    if take_back(job_kind, job_id):
        tasks.wake_up(job_kind, [job_id])
        log_each(request, [job], f"Handed back, from {job.leased_by}.")
        messages.success(request, f"Handed back: {job}. It waits for its next turn.")
    else:
        messages.warning(request, f"Nobody has it any more: {job}.")
    return redirect("admin-queue")


def _lines(jobs: Any, now: datetime) -> Iterator[JobLine]:
    for job in jobs:
        is_leased = job.lease_until is not None and job.lease_until >= now
        state = "runs" if is_leased else "lost" if job.leased_by else "waits"
        name, url, account, requested_at = _describe(job)
        since = job.lease_until if state != "runs" and job.lease_until is not None else requested_at
        yield JobLine(job.pk, name, url, account, state, since, job.leased_by, job.lease_until)


def _describe(job: Job) -> tuple[str, str, str, datetime]:
    """Return the name of a job, the URL of its admin page, its account, and when it was requested."""
    if isinstance(job, TrainingRun):
        url, account = reverse("admin:learning_trainingrun_change", args=[job.pk]), job.started_by
        return f"{job.machine}: {job.games_done:,} of {job.n_games:,} games", url, _name(account), job.created_at
    if isinstance(job, Pairing):
        url = reverse("admin:learning_tournament_change", args=[job.tournament_id])
        return str(job), url, _name(job.tournament.owner), job.tournament.created_at
    if isinstance(job, ClassFinal):
        url = reverse("admin:learning_classroom_change", args=[job.classroom_id])
        return f"{job}: {job.progress:.0%}", url, _name(job.classroom.teacher), job.created_at
    assert isinstance(job, ExperimentRun), "there are four kinds"
    url = reverse("admin:learning_experimentrun_change", args=[job.pk])
    return str(job), url, _name(job.user), job.created_at


def _name(account: Any) -> str:
    return account.get_username() if account is not None else "the house, or a guest"
