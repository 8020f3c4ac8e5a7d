"""Requests and cancellation of experiments. Known results are returned at once; workers run the others."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from beadbox.experiments.experiment import ParameterError
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.seeds import SeedError, seed_checked
from games.accounts.principal import Principal
from games.limits.quotas import account_keep_open, site_require
from games.transport.request_context import request_id
from learning import tasks
from learning.exceptions import ExperimentQuotaError, ExperimentRefusedError, NotYourExperimentError
from learning.models import ExperimentRun, JobStatus
from learning.selectors.experiments import experiment_get, experiment_run_for
from learning.workers.experiments import EXPERIMENT_RUNS
from learning.workers.jobs import waiting_filter

MAX_ACTIVE_PER_PERSON = 2
"""Maximum number of active experiments of one account or guest."""
MAX_ACTIVE_IN_ALL = 30
"""Maximum number of active experiments of the whole site, because a new browser session is a new guest."""

ACTIVE_STATUSES = (JobStatus.QUEUED, JobStatus.RUNNING)


@transaction.atomic
def experiment_request(
    *,
    person: Principal | None,
    experiment: str,
    seed: int | None = None,
    parameters: Mapping[str, object] | None = None,
    enqueue: bool = True,
) -> ExperimentRun:
    """Request an experiment; return its run. An earlier equal request may have started or even finished that run.

    Args:
        person: the requesting account or guest; ``None`` for the site, which has no limits.
        experiment: slug of the experiment.
        seed: seed of all random numbers; by default the experiment's own.
        parameters: values that differ from the defaults, by name.
        enqueue: ``False`` leaves waking the workers to the recovery task.

    Raises:
        ExperimentNotFoundError, ExperimentRefusedError, ExperimentQuotaError, SiteFullError, AccountClosedError.
    """
    definition = experiment_get(experiment)
    try:
        settings = definition.settings(parameters or {})
        seed = seed_checked(definition.default_seed if seed is None else seed)
    except (ParameterError, SeedError) as error:
        raise ExperimentRefusedError(str(error)) from None
    key = {"experiment": definition.slug, "edition": definition.edition, "seed": seed, "parameters": settings}
    existing = ExperimentRun.objects.select_for_update(of=("self",)).filter(**key).first()
    if existing is not None and existing.status in (*ACTIVE_STATUSES, JobStatus.FINISHED):
        return existing
    if person is not None:
        site_require()
        _quota_require(person)
    requester = {"user_id": person.user_id if person else None, "guest": person.guest if person else None}
    if existing is None:
        # Two equal requests at the same moment get the same run.
        run, is_new = ExperimentRun.objects.get_or_create(**key, defaults=requester)
    else:
        run, is_new = existing, True
        _begin_again(run, requester)
    if is_new and person is not None and person.user_id is not None:
        account_keep_open(person.user_id)
    if is_new and enqueue:
        transaction.on_commit(lambda: tasks.wake_up(EXPERIMENT_RUNS, [run.pk]))
    return run


@transaction.atomic
def experiment_cancel(*, person: Principal, run_id: int, is_staff: bool = False) -> ExperimentRun:
    """Stop a run; a finished run does not change. The experiment can be requested again.

    Args:
        person: the account or guest that stops the run.
        run_id: id of the run.
        is_staff: whether the caller may stop every run.

    Raises:
        ExperimentNotFoundError: there is no such run.
        NotYourExperimentError: the run was requested by another account or guest.
    """
    experiment_run_for(run_id)
    run = ExperimentRun.objects.select_for_update(of=("self",)).get(pk=run_id)
    if not (is_staff or is_requester(person, run)):
        raise NotYourExperimentError
    now = timezone.now()
    # A waiting run ends at once: the lock prevents workers from claiming it meanwhile.
    if ExperimentRun.objects.filter(waiting_filter(now), pk=run.pk).exists():
        run.status, run.finished_at, run.lease_until = JobStatus.CANCELLED, now, None
        run.save(update_fields=["status", "finished_at", "lease_until"])
        run.parts.all().delete()
    elif run.status == JobStatus.RUNNING:
        run.cancel_requested = True
        run.save(update_fields=["cancel_requested"])
    return run


def is_requester(person: Principal, run: ExperimentRun) -> bool:
    """Whether this account or guest requested the run."""
    if person.user_id is not None and run.user_id == person.user_id:
        return True
    return run.user_id is None and person.guest is not None and run.guest == person.guest


def experiments_prepare() -> list[ExperimentRun]:
    """Request every experiment with its defaults, as in the documentation, so that its page shows a result."""
    return [experiment_request(person=None, experiment=slug, enqueue=False) for slug in EXPERIMENTS]


def _begin_again(run: ExperimentRun, requester: Mapping[str, object]) -> None:
    """Reset a failed or cancelled run to its initial state, requested by ``requester``."""
    initial = {
        "status": JobStatus.QUEUED,
        "progress": 0.0,
        "error": "",
        "cancel_requested": False,
        "request_id": request_id(),
    }
    times = {"knocked_at": timezone.now(), "started_at": None, "finished_at": None, "lease_until": None}
    for name, value in {**initial, **times, **requester}.items():
        setattr(run, name, value)
    run.save()
    run.parts.all().delete()


def _quota_require(person: Principal) -> None:
    """Refuse a request beyond the limits of active experiments.

    Two concurrent requests may both pass: the limits protect the workers and need not be exact.

    Raises:
        ExperimentQuotaError.
    """
    active = ExperimentRun.objects.filter(status__in=ACTIVE_STATUSES)
    requested = (
        active.filter(user_id=person.user_id) if person.user_id is not None else active.filter(guest=person.guest)
    )
    if requested.count() >= MAX_ACTIVE_PER_PERSON or active.count() >= MAX_ACTIVE_IN_ALL:
        raise ExperimentQuotaError
