"""Experiments: ask for one, stop it. What is known already is answered at once; the rest workers run."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone

from beadbox.experiments.experiment import ParameterError
from beadbox.experiments.registry import EXPERIMENTS
from beadbox.seeds import SeedError, seed_checked
from games.accounts.principal import Principal
from games.limits.quotas import account_hold, site_require
from games.transport.request_context import request_id
from learning import tasks
from learning.exceptions import ExperimentQuotaError, ExperimentRefusedError, NotYourExperimentError
from learning.models import ExperimentRun, JobStatus
from learning.selectors.experiments import experiment_get, experiment_run_for
from learning.workers.experiments import EXPERIMENT_RUNS
from learning.workers.jobs import waits

MAX_GOING_ON = 2
"""How many experiments of one person may go on at once."""
MAX_GOING_ON_IN_ALL = 30
"""And of everybody together: a guest is a new person in every browser."""

GOING_ON = (JobStatus.QUEUED, JobStatus.RUNNING)


@transaction.atomic
def experiment_request(
    *,
    person: Principal | None,
    experiment: str,
    seed: int | None = None,
    parameters: Mapping[str, object] | None = None,
    enqueue: bool = True,
) -> ExperimentRun:
    """Ask for an experiment: the run, finished already if somebody has asked for the same before.

    Args:
        person: who asks, an account or a guest; ``None`` for the house, which has no limits.
        experiment: its name.
        seed: of all its random words; the experiment's own if left out.
        parameters: those that are not to have their default.
        enqueue: ``False`` leaves it to the reaper to tell the workers.

    Raises:
        ExperimentNotFoundError, ExperimentRefusedError, ExperimentQuotaError, SiteFullError, AccountClosedError.
    """
    asked = experiment_get(experiment)
    try:
        settings = asked.settings(parameters or {})
        seed = seed_checked(asked.default_seed if seed is None else seed)
    except (ParameterError, SeedError) as error:
        raise ExperimentRefusedError(str(error)) from None
    same = {"experiment": asked.slug, "edition": asked.edition, "seed": seed, "parameters": settings}
    known = ExperimentRun.objects.select_for_update(of=("self",)).filter(**same).first()
    if known is not None and known.status in (*GOING_ON, JobStatus.FINISHED):
        return known
    if person is not None:
        site_require()
        _require_room(person)
    asker = {"user_id": person.user_id if person else None, "guest": person.guest if person else None}
    if known is None:
        # Two who ask for the same at once get the same run.
        run, is_new = ExperimentRun.objects.get_or_create(**same, defaults=asker)
    else:
        run, is_new = known, True
        _begin_again(run, asker)
    if is_new and person is not None and person.user_id is not None:
        account_hold(person.user_id)
    if is_new and enqueue:
        transaction.on_commit(lambda: tasks.wake_up(EXPERIMENT_RUNS, [run.pk]))
    return run


@transaction.atomic
def experiment_cancel(*, person: Principal, run_id: int, is_staff: bool = False) -> ExperimentRun:
    """Stop a run; one that is over stays as it is. It can be asked for again.

    Args:
        person: who asks.
        run_id: which run.
        is_staff: somebody asks who may stop everybody's.

    Raises:
        ExperimentNotFoundError: there is no such run.
        NotYourExperimentError: somebody else began it.
    """
    experiment_run_for(run_id)
    run = ExperimentRun.objects.select_for_update(of=("self",)).get(pk=run_id)
    if not (is_staff or began(person, run)):
        raise NotYourExperimentError
    now = timezone.now()
    # One that waits for a worker is over at once: the lock keeps every worker from taking it meanwhile.
    if ExperimentRun.objects.filter(waits(now), pk=run.pk).exists():
        run.status, run.finished_at, run.lease_until = JobStatus.CANCELLED, now, None
        run.save(update_fields=["status", "finished_at", "lease_until"])
        run.parts.all().delete()
    elif run.status == JobStatus.RUNNING:
        run.cancel_requested = True
        run.save(update_fields=["cancel_requested"])
    return run


def began(person: Principal, run: ExperimentRun) -> bool:
    """Whether this person asked for the run."""
    if person.user_id is not None and run.user_id == person.user_id:
        return True
    return run.user_id is None and person.guest is not None and run.guest == person.guest


def experiments_prepare() -> list[ExperimentRun]:
    """Ask for every experiment as it stands in the documentation, so that its page has something to show."""
    return [experiment_request(person=None, experiment=slug, enqueue=False) for slug in EXPERIMENTS]


def _begin_again(run: ExperimentRun, asker: Mapping[str, object]) -> None:
    """Put a run that failed or was cancelled back to its beginning."""
    fresh = {
        "status": JobStatus.QUEUED,
        "progress": 0.0,
        "error": "",
        "cancel_requested": False,
        "request_id": request_id(),
    }
    moments = {"knocked_at": timezone.now(), "started_at": None, "finished_at": None, "lease_until": None}
    for name, value in {**fresh, **moments, **asker}.items():
        setattr(run, name, value)
    run.save()
    run.parts.all().delete()


def _require_room(person: Principal) -> None:
    """Refuse who has enough going on. Two requests at once may both pass: it is a limit of load, not of money."""
    going_on = ExperimentRun.objects.filter(status__in=GOING_ON)
    own = going_on.filter(user_id=person.user_id) if person.user_id is not None else going_on.filter(guest=person.guest)
    if own.count() >= MAX_GOING_ON or going_on.count() >= MAX_GOING_ON_IN_ALL:
        raise ExperimentQuotaError
