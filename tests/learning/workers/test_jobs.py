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
from learning.workers.jobs import JobKind, JobLostError, TurnEnd, claim_next, end, forgotten, let_go, renew, waits
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
    """A pairing of a Romgon tournament, with games played move by move."""
    options = {"user": account, "seed": 8, "enqueue": False, **options}
    entries = ["hard", "medium"]
    return tournament_start(entries=entries, game="romgon", games=games, **options).pairings.earliest("number")


def experiment_of(account: Any = None, seed: int = 1, **options: Any) -> ExperimentRun:
    options = {"parameters": LONGEST_EXPERIMENT, "enqueue": False, **options}
    who = None if account is None else person(account)
    return experiment_request(person=who, experiment="hexapawn-rewards", seed=seed, **options)


def final_of(account: Any = None) -> ClassFinal:
    classroom, _ = class_with_pupils(1, teacher=account)
    return final_begin(user=classroom.teacher, classroom_id=classroom.pk)


MAKE: dict[str, Callable[..., Job]] = {"runs": run_of, "pairings": pairing_of, "experiments": experiment_of}
"""Makers of jobs that may take many turns."""
MAKE_ANY: dict[str, Callable[..., Job]] = {**MAKE, "finals": final_of}


MAX_TURNS_BEFORE = 6
"""The most turns of other jobs before a new job. Each of two processes may have looked a moment earlier, and a job of
each other kind, and one of the same kind, may have waited longer.
"""


def endless_of(kind: str, account: Any, seed: int) -> Job:
    """A job that does not end during a test. The run is one of Romgon, in which a compiled game takes milliseconds."""
    if kind == "runs":
        learner = machine_create(game="romgon", side=None, name="Q", owner=account)
        stages, who = [Stage("easy", MAX_GAMES)], account.pk
        return training_run_start(machine=learner.slug, stages=stages, seed=seed, started_by_id=who, enqueue=False)
    return pairing_of(account) if kind == "pairings" else experiment_of(account, seed)


@pytest.fixture
def turns_taken(transactional_db: None) -> Iterator[Callable[[], list[tuple[str, int | None]]]]:
    """The turns taken since, in order, as (kind, account). A trigger of the database records those of all processes."""
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


def games_of(pairing: Pairing) -> int:
    return pairing.n_first_wins + pairing.n_draws + pairing.n_second_wins


def test_slow_worker_loses_a_job_of_every_kind_to_the_next() -> None:
    for kind in tasks.KINDS:
        job = MAKE_ANY[kind.slug]()
        slow = kind.claim(job.pk)
        assert slow is not None
        assert kind.claim(job.pk) is None
        kind.rows.update(lease_until=timezone.now() - timedelta(seconds=1))
        quick = kind.claim(job.pk)
        assert quick is not None
        for write in (lambda job: renew(job, 60), let_go, lambda job: end(job, JobStatus.CANCELLED)):
            with pytest.raises(JobLostError):
                write(slow)
        renew(quick, 60)
        let_go(quick)
        assert kind.claim(job.pk) is not None, "what was let go waits"


class TestOrder:
    def order(self, n: int) -> list[Job]:
        """The next ``n`` jobs in order, each of which returns its turn before the next one."""
        jobs = []
        for _ in range(n):
            turns_since = claim_next(tasks.KINDS)
            assert turns_since is not None
            let_go(turns_since[1])
            jobs.append(turns_since[1])
        return jobs

    def test_many_jobs_of_a_kind_do_not_keep_the_other_kinds_waiting(self) -> None:
        owner, other = user("owner"), user("other")
        runs = [run_of(owner) for _ in range(4)]
        experiment, pairing = experiment_of(other), pairing_of(other)
        first, second = self.order(6), self.order(3)
        assert set(first[:3]) == {runs[0], experiment, pairing}
        assert set(first[3:]) == {runs[1], experiment, pairing}
        assert set(second) == {runs[2], experiment, pairing}

    def test_many_jobs_of_an_account_do_not_delay_other_accounts(self) -> None:
        many, one = user("many"), user("one")
        runs = [run_of(many) for _ in range(4)]
        only, of_the_house = run_of(one), run_of()
        assert self.order(3) == [runs[0], only, of_the_house]
        assert self.order(6) == [runs[1], only, of_the_house, runs[2], only, of_the_house]

    def test_guests_and_the_house_count_as_one_account(self) -> None:
        experiments = [
            experiment_request(person=guest(n), experiment="gardner", seed=n, enqueue=False) for n in (1, 2, 3)
        ]
        of_account = experiment_of(user(), seed=9)
        assert self.order(4) == [experiments[0], of_account, experiments[1], of_account]

    def test_a_tournament_continues_with_its_next_pairing(self) -> None:
        pairing, *others = tournament_start(
            user=None, entries=["easy", "medium", "hard"], game="romgon", games=10, enqueue=False, seed=1
        ).pairings.order_by("number")
        assert others
        assert self.order(3) == [pairing] * 3

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
        small = {one.name: one.low for one in experiment.parameters}
        whole = experiment.run(experiment.settings(small), 5, lambda done, total: None)
        run = experiment_request(person=None, experiment=slug, seed=5, parameters=small, enqueue=False)
        n_turns = 0
        while (claimed := EXPERIMENT_RUNS.claim(run.pk)) is not None:
            assert claimed.progress == pytest.approx(n_turns / experiment.n_parts(small))
            experiment_execute(claimed, TurnEnd(0))
            n_turns += 1
        run.refresh_from_db()
        assert n_turns == experiment.n_parts(small)
        assert (run.status, run.progress) == (JobStatus.FINISHED, 1)
        assert run.result == json.loads(json.dumps(whole.to_json()))
        assert not ExperimentPart.objects.exists(), "what is kept between turns goes with the last"

    def test_pairing_of_long_games_in_many_turns(self) -> None:
        def pairings(tournament_id: int) -> Any:
            return tournament_view(Pairing.objects.filter(tournament=tournament_id)[0].tournament)["pairings"]

        whole, cut = pairing_of(games=5), pairing_of(games=5)
        tournament_play(whole.tournament_id)
        for played in range(1, 5):
            claimed = PAIRINGS.claim(cut.pk)
            assert claimed is not None
            assert pairing_play(claimed, TurnEnd(0)) == [cut.pk]
            cut.refresh_from_db()
            assert (games_of(cut), cut.status) == (played, JobStatus.RUNNING)
        tournament_play(cut.tournament_id)
        assert pairings(cut.tournament_id) == pairings(whole.tournament_id)

    def test_pairing_of_a_dead_worker_resumes_from_its_last_report(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from learning.workers import pairings as referee

        whole, left = pairing_of(games=4), pairing_of(games=4)
        tournament_play(whole.tournament_id)
        monkeypatch.setattr(referee, "SAY_EVERY_S", 0)
        say, messages = referee._say, []

        def die_after_two(*args: Any) -> None:
            say(*args)
            messages.append(args)
            if len(messages) == 2:
                raise KeyboardInterrupt

        monkeypatch.setattr(referee, "_say", die_after_two)
        claimed = PAIRINGS.claim(left.pk)
        assert claimed is not None
        with pytest.raises(KeyboardInterrupt):
            pairing_play(claimed)
        Pairing.objects.filter(pk=left.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        tournament_play(left.tournament_id)
        assert len(messages) == 2 * 4, "two games were left to play of this pairing, and those of the other"
        for name in ("n_first_wins", "n_draws", "n_second_wins"):
            for pairing in (whole, left):
                pairing.refresh_from_db()
            assert getattr(left, name) == getattr(whole, name)


def test_job_between_turns_ends_as_soon_as_it_is_cancelled() -> None:
    run, experiment = run_of(), experiment_of(owner := user())
    claimed, of_experiment = RUNS.claim(run.pk), EXPERIMENT_RUNS.claim(experiment.pk)
    assert claimed is not None
    assert of_experiment is not None
    assert run_execute(claimed, turn=TurnEnd(0)).status == JobStatus.RUNNING
    experiment_execute(of_experiment, TurnEnd(0))
    assert ExperimentPart.objects.exists()
    assert training_run_cancel(run_id=run.pk)
    experiment_cancel(person=person(owner), run_id=experiment.pk)
    for job in (run, experiment):
        job.refresh_from_db()
        assert (job.status, job.lease_until) == (JobStatus.CANCELLED, None)
        assert job.finished_at is not None
    assert not ExperimentPart.objects.exists()
    assert claim_next(tasks.KINDS) is None


def within_request(request_id: str, make: Callable[[], Any]) -> Any:
    """The result of ``make`` within a request of this id."""
    return Context().run(lambda: (REQUEST_ID.set(request_id), make())[1])


@pytest.mark.parametrize("kind", tasks.KINDS, ids=lambda kind: kind.slug)
def test_turn_carries_the_request_that_asked_for_the_job(kind: JobKind[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The request id stays the same when another request sends the wake-up."""
    request_ids: list[str] = []

    def finish_at_once(kind: Any, job: Job, end: TurnEnd) -> list[int]:
        request_ids.append(REQUEST_ID.get())
        let_go(job)
        return [job.pk]

    monkeypatch.setattr(type(kind), "take_turn", finish_at_once)
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: request_ids.append(REQUEST_ID.get()))
    job = within_request("the-request-that-asked", MAKE_ANY[kind.slug])
    for _ in range(2):
        within_request("a-knock-for-somebody-else", lambda: tasks.jobs_work(kind.slug, job.pk))
    assert request_ids == ["the-request-that-asked"] * 4
    kind.rows.update(request_id="")  # as written by a web process of the release before
    within_request("the-knock-itself", lambda: tasks.jobs_work(kind.slug, job.pk))
    assert request_ids[4:] == ["the-knock-itself"] * 2


def test_repeated_experiment_carries_the_last_request() -> None:
    run = within_request("the-first-request", experiment_of)
    experiment_cancel(run_id=run.pk, person=guest(), is_staff=True)
    assert within_request("the-second-request", experiment_of).request_id == "the-second-request"


def test_a_wake_up_spent_on_another_job_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    knocked: list[Any] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: knocked.append(args))
    first, second = (run_of(games=10) for _ in range(2))
    tasks.jobs_work("runs", second.pk)
    assert knocked == [("runs", second.pk)], "the first came before it"
    tasks.jobs_work("runs", second.pk)
    assert len(knocked) == 1
    assert set(TrainingRun.objects.values_list("pk", "status")) == {(run.pk, "finished") for run in (first, second)}


def test_wake_up_lost_to_a_failing_job_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(kind: Any, job: Job, end: TurnEnd) -> list[int]:
        raise ZeroDivisionError

    knocked: list[Any] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: knocked.append(args))
    monkeypatch.setattr(type(RUNS), "take_turn", fail)
    first, second = (run_of(games=10) for _ in range(2))
    with pytest.raises(ZeroDivisionError):
        tasks.jobs_work("runs", second.pk)
    assert not RUNS.rows.filter(waits(timezone.now()), pk=first.pk).exists(), "the first came before it"
    assert knocked == [("runs", second.pk)]
    with pytest.raises(ZeroDivisionError):
        tasks.jobs_work("runs", second.pk)
    assert len(knocked) == 1, "it has had its turn"


def test_recovery_without_a_broker_neither_fails_nor_forgets(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OSError("no broker")

    for make in MAKE.values():
        make()
    long_ago = timezone.now() - timedelta(minutes=1)
    for kind in tasks.KINDS:
        kind.rows.update(knocked_at=long_ago)
    with monkeypatch.context() as broken:
        broken.setattr(tasks.jobs_work, "apply_async", away)
        assert tasks.jobs_recover() == 1
    knocked: list[Any] = []
    monkeypatch.setattr(tasks.jobs_work, "apply_async", lambda args, **_: knocked.append(args[0]))
    assert tasks.jobs_recover() == 3, "the one that nobody heard is knocked for again a while later"
    assert set(knocked) == {"pairings", "experiments"}
    TrainingRun.objects.update(knocked_at=long_ago)
    assert tasks.jobs_recover() == 1
    assert tasks.jobs_recover() == 0, "knocked for a moment ago"
    assert knocked[-1] == "runs"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("long", list(combinations_with_replacement(MAKE, 2)), ids=" and ".join)
@pytest.mark.soak
def test_two_endless_jobs_keep_no_other_from_its_turn(
    long: tuple[str, str], turns_taken: Callable[[], list[tuple[str, int | None]]], start_worker: StartWorker
) -> None:
    """Two endless jobs of any kinds run in a worker with two processes, and then a job of each kind is requested."""
    hog, owner = user("hog"), user("owner")
    start_worker()
    endless = [endless_of(kind, hog, seed) for seed, kind in enumerate(long, 1)]
    Tournament.objects.update(n_games=10_000_000)  # more than the service accepts
    for kind, job in zip(long, endless, strict=True):
        tasks.wake_up({"runs": RUNS, "pairings": PAIRINGS, "experiments": EXPERIMENT_RUNS}[kind], [job.pk])
    assert wait_until(lambda: all(has_begun(job) for job in endless))

    learner = machine(owner=owner)
    schedule = schedule_create(
        user=owner, machine=learner.slug, stages=[Stage("random", 10)], timing=Timing(every=1, period="hours")
    )
    Schedule.objects.update(next_at=timezone.now() - timedelta(minutes=1))
    app.send_task("learning.beat.schedules_catch_up")
    asked, before = [], {}
    for kind, options in (("runs", {}), ("pairings", {}), ("experiments", {"seed": 7})):
        asked.append(MAKE[kind](owner, enqueue=True, **options))
        before[kind] = len(turns_taken())
    assert wait_until(lambda: all(has_begun(job) for job in asked))
    assert wait_until(lambda: {(kind, owner.pk) for kind in before} <= {*turns_taken()})
    turns_since = turns_taken()
    for kind, n_before in before.items():
        assert turns_since.index((kind, owner.pk)) - n_before <= MAX_TURNS_BEFORE, (
            f"{kind} in {turns_since}, of {hog.pk}"
        )
    assert wait_until(lambda: Schedule.objects.filter(pk=schedule.pk, n_fired=1).exists())
    assert wait_until(lambda: TrainingRun.objects.filter(machine=learner, status="finished").exists())
    for kind, job in zip(long, endless, strict=True):
        job.refresh_from_db()
        # On a fast computer the longest experiment may be over by then.
        over = {JobStatus.FINISHED} if kind == "experiments" else set()
        assert job.status in {JobStatus.RUNNING, *over}, "they go on, taking turns"
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


@pytest.mark.parametrize("kind", MAKE_ANY)
def test_job_from_before_a_clock_reset_gets_its_turn(kind: str) -> None:
    MAKE_ANY[kind]()
    (of_kind,) = (one for one in tasks.KINDS if one.slug == kind)
    turns_since = claim_next([of_kind])
    assert turns_since is not None
    job = turns_since[1]
    assert of_kind.claim(job.pk) is None, "another worker holds the lease"
    an_hour_on = timezone.now() + timedelta(hours=1)
    type(job)._default_manager.filter(pk=job.pk).update(lease_until=an_hour_on, knocked_at=an_hour_on)
    assert forgotten(of_kind) == [job.pk]
    assert of_kind.claim(job.pk) is not None
    with pytest.raises(JobLostError):
        renew(job, 20)
