"""Background jobs of every kind: one protocol, turns by kind and by account, no loss between two turns."""

import json
from collections.abc import Callable, Iterator
from contextvars import Context
from datetime import timedelta
from itertools import combinations_with_replacement
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from beadbox.experiments.registry import EXPERIMENTS
from games.transport.request_context import REQUEST_ID
from learning import tasks
from learning.models import (
    ClassFinal,
    ExperimentPart,
    ExperimentRun,
    Job,
    JobStatus,
    Pairing,
    Schedule,
    Tournament,
    TrainingRun,
    Turn,
)
from learning.selectors.tournaments import tournament_view
from learning.services.classrooms import final_begin
from learning.services.experiments import experiment_cancel, experiment_request
from learning.services.machines import machine_create
from learning.services.runs import MAX_GAMES, Stage, training_run_cancel, training_run_start
from learning.services.schedules import Timing, schedule_create
from learning.services.tournaments import MAX_LONG_GAMES, tournament_cancel, tournament_start
from learning.workers.experiments import EXPERIMENT_RUNS, experiment_execute
from learning.workers.jobs import (
    JobKind,
    JobLostError,
    TurnEnd,
    claim_next,
    end,
    release,
    renew,
    waiting_filter,
    wake_ups_take,
)
from learning.workers.pairings import PAIRINGS, pairing_play, tournament_play
from learning.workers.runs import RUNS, run_execute
from menace_site.celery import app
from tests.conftest import StartWorker
from tests.factories import class_with_pupils, guest, machine, person, user
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

LONGEST_EXPERIMENT = {"machines": 300, "games": 2000}
"""The longest experiment: it takes a worker most of a minute."""


def run_of(account: Any = None, games: int = MAX_GAMES, **options: Any) -> TrainingRun:
    options = {"seed": 3, "enqueue": False, "started_by_id": account and account.pk, **options}
    return training_run_start(machine=machine(owner=account).slug, stages=[Stage("random", games)], **options)


def pairing_of(account: Any = None, games: int = MAX_LONG_GAMES, **options: Any) -> Pairing:
    """Return a pairing of a Romgon tournament, with games played move by move."""
    options = {"user": account, "seed": 8, "enqueue": False, **options}
    entries = ["hard", "medium"]
    return tournament_start(entries=entries, game="romgon", games=games, **options).pairings.earliest("number")


def experiment_of(account: Any = None, seed: int = 1, **options: Any) -> ExperimentRun:
    options = {"parameters": LONGEST_EXPERIMENT, "enqueue": False, **options}
    requester = None if account is None else person(account)
    return experiment_request(person=requester, experiment="hexapawn-rewards", seed=seed, **options)


def final_of(account: Any = None) -> ClassFinal:
    classroom, _ = class_with_pupils(1, teacher=account)
    return final_begin(user=classroom.teacher, classroom_id=classroom.pk)


JOB_MAKERS: dict[str, Callable[..., Job]] = {"runs": run_of, "pairings": pairing_of, "experiments": experiment_of}
"""Functions that create a job that may take many turns, by kind."""
ALL_JOB_MAKERS: dict[str, Callable[..., Job]] = {**JOB_MAKERS, "finals": final_of}


MAX_TURNS_BEFORE = 6
"""The most turns of other jobs before a new job. Each of two processes may have looked a moment earlier, and a job of
each other kind, and one of the same kind, may have waited longer.
"""


def endless_job(kind: str, account: Any, seed: int) -> Job:
    """Return a job that does not end during a test. Runs are of Romgon, because a compiled game takes milliseconds."""
    if kind == "runs":
        learner = machine_create(game="romgon", side=None, name="Q", owner=account)
        stages, account_id = [Stage("easy", MAX_GAMES)], account.pk
        return training_run_start(
            machine=learner.slug, stages=stages, seed=seed, started_by_id=account_id, enqueue=False
        )
    return pairing_of(account) if kind == "pairings" else experiment_of(account, seed)


@pytest.fixture
def turns_taken(transactional_db: None) -> Iterator[Callable[[], list[tuple[str, int | None]]]]:
    """Return a function that returns the turns taken in the test so far, in order, as (kind, account).

    A trigger of the database records the turns of all processes.
    """
    table = Turn._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE turns_taken (number bigserial, kind text, account_id bigint);"
            "CREATE FUNCTION turn_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " INSERT INTO turns_taken (kind, account_id) VALUES (NEW.kind, NEW.account_id); RETURN NULL; END $$;"
            f"CREATE TRIGGER turn_note AFTER INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION turn_note()"
        )

    def turns_since() -> list[tuple[str, int | None]]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT kind, account_id FROM turns_taken ORDER BY number")
            return cursor.fetchall()

    yield turns_since
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER turn_note ON {table}; DROP FUNCTION turn_note; DROP TABLE turns_taken")


def n_games_played(pairing: Pairing) -> int:
    return pairing.n_first_wins + pairing.n_draws + pairing.n_second_wins


def test_slow_worker_loses_a_job_of_every_kind_to_the_next() -> None:
    for kind in tasks.KINDS:
        job = ALL_JOB_MAKERS[kind.slug]()
        slow_claim = kind.claim(job.pk)
        assert slow_claim is not None
        assert kind.claim(job.pk) is None
        kind.rows.update(lease_until=timezone.now() - timedelta(seconds=1))
        quick_claim = kind.claim(job.pk)
        assert quick_claim is not None
        for write in (lambda job: renew(job, 60), release, lambda job: end(job, JobStatus.CANCELLED)):
            with pytest.raises(JobLostError):
                write(slow_claim)
        renew(quick_claim, 60)
        release(quick_claim)
        assert kind.claim(job.pk) is not None, "a job that was let go waits"


class TestOrder:
    def take_turns(self, n: int) -> list[Job]:
        """Claim the next job and let it go, ``n`` times. Return the jobs in order."""
        jobs = []
        for _ in range(n):
            kind_and_job = claim_next(tasks.KINDS)
            assert kind_and_job is not None
            release(kind_and_job[1])
            jobs.append(kind_and_job[1])
        return jobs

    def test_many_jobs_of_a_kind_do_not_keep_the_other_kinds_waiting(self) -> None:
        owner, other = user("owner"), user("other")
        runs = [run_of(owner) for _ in range(4)]
        experiment, pairing = experiment_of(other), pairing_of(other)
        first, second = self.take_turns(6), self.take_turns(3)
        assert set(first[:3]) == {runs[0], experiment, pairing}
        assert set(first[3:]) == {runs[1], experiment, pairing}
        assert set(second) == {runs[2], experiment, pairing}

    def test_many_jobs_of_an_account_do_not_delay_other_accounts(self) -> None:
        busy_account, other_account = user("many"), user("one")
        runs = [run_of(busy_account) for _ in range(4)]
        other_run, house_run = run_of(other_account), run_of()
        assert self.take_turns(3) == [runs[0], other_run, house_run]
        assert self.take_turns(6) == [runs[1], other_run, house_run, runs[2], other_run, house_run]

    def test_guests_and_the_house_count_as_one_account(self) -> None:
        experiments = [
            experiment_request(person=guest(n), experiment="gardner", seed=n, enqueue=False) for n in (1, 2, 3)
        ]
        account_experiment = experiment_of(user(), seed=9)
        assert self.take_turns(4) == [experiments[0], account_experiment, experiments[1], account_experiment]

    def test_a_tournament_continues_with_its_next_pairing(self) -> None:
        pairing, *others = tournament_start(
            user=None, entries=["easy", "medium", "hard"], game="romgon", games=10, enqueue=False, seed=1
        ).pairings.order_by("number")
        assert others
        assert self.take_turns(3) == [pairing] * 3

    def test_number_of_queries_does_not_depend_on_the_queue(self, django_assert_max_num_queries: Any) -> None:
        accounts = [user(f"user{n}") for n in range(5)]
        for account in accounts:
            run_of(account)
        experiment_of()
        with django_assert_max_num_queries(11):
            assert claim_next(tasks.KINDS) is not None
        for account in accounts:
            run_of(account)
        with django_assert_max_num_queries(11):
            assert claim_next(tasks.KINDS) is not None


class TestManyTurns:
    """A job gives the same result in any number of turns."""

    @pytest.mark.parametrize("slug", EXPERIMENTS)
    @pytest.mark.sampled(2)
    def test_experiment_in_many_turns(self, slug: str) -> None:
        experiment = EXPERIMENTS[slug]
        least_values = {one.name: one.low for one in experiment.parameters}
        whole_result = experiment.run(experiment.settings(least_values), 5, lambda done, total: None)
        run = experiment_request(person=None, experiment=slug, seed=5, parameters=least_values, enqueue=False)
        n_turns = 0
        while (claimed_run := EXPERIMENT_RUNS.claim(run.pk)) is not None:
            assert claimed_run.progress == pytest.approx(n_turns / experiment.n_parts(least_values))
            experiment_execute(claimed_run, TurnEnd(0))
            n_turns += 1
        run.refresh_from_db()
        assert n_turns == experiment.n_parts(least_values)
        assert (run.status, run.progress) == (JobStatus.FINISHED, 1)
        assert run.result == json.loads(json.dumps(whole_result.to_json()))
        assert not ExperimentPart.objects.exists(), "the last turn deletes the parts stored between turns"

    def test_pairing_of_long_games_in_many_turns(self) -> None:
        def pairings(tournament_id: int) -> Any:
            return tournament_view(Pairing.objects.filter(tournament=tournament_id)[0].tournament)["pairings"]

        whole_pairing, cut_pairing = pairing_of(games=5), pairing_of(games=5)
        tournament_play(whole_pairing.tournament_id)
        for n_played in range(1, 5):
            claimed_pairing = PAIRINGS.claim(cut_pairing.pk)
            assert claimed_pairing is not None
            assert pairing_play(claimed_pairing, TurnEnd(0)) == [cut_pairing.pk]
            cut_pairing.refresh_from_db()
            assert (n_games_played(cut_pairing), cut_pairing.status) == (n_played, JobStatus.RUNNING)
        tournament_play(cut_pairing.tournament_id)
        assert pairings(cut_pairing.tournament_id) == pairings(whole_pairing.tournament_id)

    def test_pairing_of_a_dead_worker_resumes_from_its_last_report(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from learning.workers import pairings as pairing_worker

        whole_pairing, interrupted_pairing = pairing_of(games=4), pairing_of(games=4)
        tournament_play(whole_pairing.tournament_id)
        monkeypatch.setattr(pairing_worker, "STORE_EVERY_S", 0)
        say, messages = pairing_worker._store_progress, []

        def die_after_two(*args: Any) -> None:
            say(*args)
            messages.append(args)
            if len(messages) == 2:
                raise KeyboardInterrupt

        monkeypatch.setattr(pairing_worker, "_store_progress", die_after_two)
        claimed_pairing = PAIRINGS.claim(interrupted_pairing.pk)
        assert claimed_pairing is not None
        with pytest.raises(KeyboardInterrupt):
            pairing_play(claimed_pairing)
        Pairing.objects.filter(pk=interrupted_pairing.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        tournament_play(interrupted_pairing.tournament_id)
        assert len(messages) == 2 * 4, "two games were left to play of this pairing, and those of the other"
        for name in ("n_first_wins", "n_draws", "n_second_wins"):
            for pairing in (whole_pairing, interrupted_pairing):
                pairing.refresh_from_db()
            assert getattr(interrupted_pairing, name) == getattr(whole_pairing, name)


def test_job_between_turns_ends_as_soon_as_it_is_cancelled() -> None:
    run, experiment = run_of(), experiment_of(owner := user())
    claimed_run, claimed_experiment = RUNS.claim(run.pk), EXPERIMENT_RUNS.claim(experiment.pk)
    assert claimed_run is not None
    assert claimed_experiment is not None
    assert run_execute(claimed_run, turn=TurnEnd(0)).status == JobStatus.RUNNING
    experiment_execute(claimed_experiment, TurnEnd(0))
    assert ExperimentPart.objects.exists()
    assert training_run_cancel(run_id=run.pk)
    experiment_cancel(person=person(owner), run_id=experiment.pk)
    for job in (run, experiment):
        job.refresh_from_db()
        assert (job.status, job.lease_until) == (JobStatus.CANCELLED, None)
        assert job.finished_at is not None
    assert not ExperimentPart.objects.exists()
    assert claim_next(tasks.KINDS) is None


def run_within_request(request_id: str, make: Callable[[], Any]) -> Any:
    """Return the result of ``make`` within a request of this id."""
    return Context().run(lambda: (REQUEST_ID.set(request_id), make())[1])


@pytest.mark.parametrize("kind", tasks.KINDS, ids=lambda kind: kind.slug)
def test_turn_carries_the_request_that_asked_for_the_job(kind: JobKind[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The request id stays the same when another request sends the wake-up."""
    request_ids: list[str] = []

    def finish_at_once(kind: Any, job: Job, end: TurnEnd) -> list[int]:
        request_ids.append(REQUEST_ID.get())
        release(job)
        return [job.pk]

    monkeypatch.setattr(type(kind), "take_turn", finish_at_once)
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: request_ids.append(REQUEST_ID.get()))
    job = run_within_request("the-request-that-asked", ALL_JOB_MAKERS[kind.slug])
    for _ in range(2):
        run_within_request("the-request-of-another-job", lambda: tasks.jobs_work(kind.slug, job.pk))
    assert request_ids == ["the-request-that-asked"] * 4
    kind.rows.update(request_id="")  # as written by a web process of the previous release
    run_within_request("the-request-of-the-wake-up", lambda: tasks.jobs_work(kind.slug, job.pk))
    assert request_ids[4:] == ["the-request-of-the-wake-up"] * 2


def test_repeated_experiment_carries_the_last_request() -> None:
    run = run_within_request("the-first-request", experiment_of)
    experiment_cancel(run_id=run.pk, person=guest(), is_staff=True)
    assert run_within_request("the-second-request", experiment_of).request_id == "the-second-request"


def test_a_wake_up_spent_on_another_job_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wake_ups: list[Any] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: wake_ups.append(args))
    first, second = (run_of(games=10) for _ in range(2))
    tasks.jobs_work("runs", second.pk)
    assert wake_ups == [("runs", second.pk)], "the first run came before the second"
    tasks.jobs_work("runs", second.pk)
    assert len(wake_ups) == 1
    assert set(TrainingRun.objects.values_list("pk", "status")) == {(run.pk, "finished") for run in (first, second)}


def test_wake_up_lost_to_a_failing_job_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(kind: Any, job: Job, end: TurnEnd) -> list[int]:
        raise ZeroDivisionError

    wake_ups: list[Any] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: wake_ups.append(args))
    monkeypatch.setattr(type(RUNS), "take_turn", fail)
    first, second = (run_of(games=10) for _ in range(2))
    with pytest.raises(ZeroDivisionError):
        tasks.jobs_work("runs", second.pk)
    assert not RUNS.rows.filter(waiting_filter(timezone.now()), pk=first.pk).exists(), (
        "the first run came before the second"
    )
    assert wake_ups == [("runs", second.pk)]
    with pytest.raises(ZeroDivisionError):
        tasks.jobs_work("runs", second.pk)
    assert len(wake_ups) == 1, "the second run has had its turn"


def test_recovery_without_a_broker_neither_fails_nor_forgets(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def raise_without_broker(*_: Any, **__: Any) -> None:
        raise OSError("no broker")

    for make in JOB_MAKERS.values():
        make()
    long_ago = timezone.now() - timedelta(minutes=1)
    for kind in tasks.KINDS:
        kind.rows.update(knocked_at=long_ago)
    with monkeypatch.context() as patch:
        patch.setattr(tasks.jobs_work, "apply_async", raise_without_broker)
        assert tasks.jobs_recover() == 1
    wake_up_kinds: list[Any] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: wake_up_kinds.append(args[0]))
    assert tasks.jobs_recover() == 3, "the wake-up that failed is sent again later"
    assert set(wake_up_kinds) == {"pairings", "experiments"}
    TrainingRun.objects.update(knocked_at=long_ago)
    assert tasks.jobs_recover() == 1
    assert tasks.jobs_recover() == 0, "its wake-up was sent a moment ago"
    assert wake_up_kinds[-1] == "runs"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("endless_kinds", list(combinations_with_replacement(JOB_MAKERS, 2)), ids=" and ".join)
@pytest.mark.soak
def test_two_endless_jobs_keep_no_other_from_its_turn(
    endless_kinds: tuple[str, str], turns_taken: Callable[[], list[tuple[str, int | None]]], start_worker: StartWorker
) -> None:
    """Two endless jobs of any kinds run in a worker with two processes, and then a job of each kind is requested."""
    hog, owner = user("hog"), user("owner")
    start_worker()
    endless_jobs = [endless_job(kind, hog, seed) for seed, kind in enumerate(endless_kinds, 1)]
    Tournament.objects.update(n_games=10_000_000)  # more than the service accepts
    for kind, job in zip(endless_kinds, endless_jobs, strict=True):
        tasks.wake_up({"runs": RUNS, "pairings": PAIRINGS, "experiments": EXPERIMENT_RUNS}[kind], [job.pk])
    assert wait_until(lambda: all(has_begun(job) for job in endless_jobs))

    learner = machine(owner=owner)
    schedule = schedule_create(
        user=owner, machine=learner.slug, stages=[Stage("random", 10)], timing=Timing(every=1, period="hours")
    )
    Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    app.send_task("learning.beat.schedules_catch_up")
    requested_jobs, n_turns_before = [], {}
    for kind, options in (("runs", {}), ("pairings", {}), ("experiments", {"seed": 7})):
        requested_jobs.append(JOB_MAKERS[kind](owner, enqueue=True, **options))
        n_turns_before[kind] = len(turns_taken())
    assert wait_until(lambda: all(has_begun(job) for job in requested_jobs))
    assert wait_until(lambda: {(kind, owner.pk) for kind in n_turns_before} <= {*turns_taken()})
    turns_since = turns_taken()
    for kind, n_before in n_turns_before.items():
        assert turns_since.index((kind, owner.pk)) - n_before <= MAX_TURNS_BEFORE, (
            f"{kind} in {turns_since}, of {hog.pk}"
        )
    assert wait_until(lambda: Schedule.objects.filter(pk=schedule.pk, n_fired=1).exists())
    assert wait_until(lambda: TrainingRun.objects.filter(machine=learner, status="finished").exists())
    for kind, job in zip(endless_kinds, endless_jobs, strict=True):
        job.refresh_from_db()
        # On a fast computer the longest experiment may be over by then.
        end_statuses = {JobStatus.FINISHED} if kind == "experiments" else set()
        assert job.status in {JobStatus.RUNNING, *end_statuses}, "the endless jobs continue, in turns"
    training = TrainingRun.objects.exclude(machine=learner)
    for run in training:
        training_run_cancel(run_id=run.pk)
    for account in (hog, owner):
        for tournament in account.tournaments.all():
            tournament_cancel(user=account, tournament_id=tournament.pk)
        for experiment in account.experiment_runs.all():
            experiment_cancel(person=person(account), run_id=experiment.pk)
    assert wait_until(lambda: not RUNS.rows.filter(finished_at=None).exists())
    assert wait_until(lambda: not EXPERIMENT_RUNS.rows.filter(finished_at=None).exists())


def has_begun(job: Job) -> bool:
    job.refresh_from_db()
    return job.lease_until is not None or job.status == JobStatus.FINISHED


@pytest.mark.parametrize("kind", ALL_JOB_MAKERS)
def test_job_from_before_a_clock_reset_gets_its_turn(kind: str) -> None:
    ALL_JOB_MAKERS[kind]()
    (job_kind,) = (one for one in tasks.KINDS if one.slug == kind)
    kind_and_job = claim_next([job_kind])
    assert kind_and_job is not None
    job = kind_and_job[1]
    assert job_kind.claim(job.pk) is None, "another worker holds the lease"
    in_an_hour = timezone.now() + timedelta(hours=1)
    type(job)._default_manager.filter(pk=job.pk).update(lease_until=in_an_hour, knocked_at=in_an_hour)
    assert wake_ups_take(job_kind) == [job.pk]
    assert job_kind.claim(job.pk) is not None
    with pytest.raises(JobLostError):
        renew(job, 20)
