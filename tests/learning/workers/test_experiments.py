"""Experiments on the site: requested, run once, stored, limited, stopped; pages, API and command."""

import csv
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from beadbox.experiments.experiment import Result, Unit
from beadbox.experiments.registry import EXPERIMENTS
from games.accounts.principal import Principal
from learning import tasks
from learning.exceptions import (
    ExperimentNotFoundError,
    ExperimentQuotaError,
    ExperimentRefusedError,
    NotYourExperimentError,
)
from learning.models import ExperimentRun, JobStatus
from learning.services import experiments as services_experiments
from learning.services.experiments import experiment_cancel, experiment_request, experiments_prepare
from learning.workers import experiments as experiment_worker
from learning.workers.experiments import EXPERIMENT_RUNS, experiment_execute
from learning.workers.jobs import JobLostError
from tests.conftest import StartWorker
from tests.factories import api_with, guest, machine, person, run_retention, user
from tests.pages import page_json
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db

SMALL_PARAMETERS = {"machines": 10}
PAGE_PATH = "/experiments/gardner"
RUNS_PATH = "/api/experiment-runs"


def request_run(requester: Principal | None = None, seed: int = 1, **options: Any) -> ExperimentRun:
    options = {"experiment": "gardner", "parameters": SMALL_PARAMETERS, "enqueue": False, **options}
    return experiment_request(person=requester, seed=seed, **options)


def execute_run(run: ExperimentRun) -> ExperimentRun:
    claimed_run = EXPERIMENT_RUNS.claim(run.pk)
    assert claimed_run is not None
    experiment_execute(claimed_run)
    run.refresh_from_db()
    return run


@pytest.fixture
def report_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Report every step to the row, however quick the steps are."""
    monkeypatch.setattr(experiment_worker, "TELL_EVERY_S", 0)


@pytest.fixture
def broken_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every run of the experiment ``gardner`` fail."""

    def fail(*args: Any) -> Result:
        raise ZeroDivisionError("nobody divides by nothing")

    monkeypatch.setattr(EXPERIMENTS["gardner"], "run", fail)


# Results


def test_a_run_stores_the_result() -> None:
    run = execute_run(request_run(guest(), seed=7))
    experiment = EXPERIMENTS["gardner"]
    reference = experiment.run(experiment.settings(SMALL_PARAMETERS), 7, lambda done, total: None)
    assert (run.status, run.progress, run.error, run.lease_until) == (JobStatus.FINISHED, 1.0, "", None)
    assert run.result == json.loads(json.dumps(reference.to_json()))
    assert run.started_at is not None
    assert run.finished_at is not None


def test_known_results_are_answered_at_once() -> None:
    run = execute_run(request_run(guest(1)))
    assert request_run(guest(2)) == run
    assert request_run(person(user())) == run
    assert request_run(None, parameters={**SMALL_PARAMETERS}) == run
    assert EXPERIMENT_RUNS.claim(run.pk) is None, "a finished run is not run again"
    assert request_run(guest(1), seed=2) != run
    assert request_run(guest(1), parameters={"machines": 11}) != run
    assert ExperimentRun.objects.count() == 3


def test_equal_requests_get_the_same_run() -> None:
    assert request_run(guest(1)) == request_run(guest(2))
    assert ExperimentRun.objects.get().guest == guest(1).guest


def test_only_a_new_edition_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting_run, run = request_run(seed=2), execute_run(request_run())
    monkeypatch.setattr(type(EXPERIMENTS["gardner"]), "edition", EXPERIMENTS["gardner"].edition + 1)
    assert request_run() != run
    assert execute_run(waiting_run).status == JobStatus.FAILED
    assert "changed" in waiting_run.error


@pytest.mark.parametrize(
    "wrong_options", [{"parameters": {"machines": 1}}, {"parameters": {"bananas": 1}}, {"seed": -1}, {"seed": 1 << 63}]
)
def test_impossible_experiments_are_refused(wrong_options: dict[str, Any]) -> None:
    with pytest.raises(ExperimentRefusedError):
        request_run(guest(), **wrong_options)
    with pytest.raises(ExperimentNotFoundError):
        request_run(guest(), experiment="cold-fusion")
    assert not ExperimentRun.objects.exists()


def test_experiments_are_limited_per_person_and_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    ada = person(user("ada"))
    for requester in (guest(1), ada):
        for seed in range(services_experiments.MAX_ACTIVE_PER_PERSON):
            request_run(requester, seed=1000 * bool(requester.user_id) + seed)
        with pytest.raises(ExperimentQuotaError):
            request_run(requester, seed=99)
    assert request_run(guest(1), seed=1000), "a run that waits already may be requested by any visitor"
    monkeypatch.setattr(services_experiments, "MAX_ACTIVE_IN_ALL", 4)
    with pytest.raises(ExperimentQuotaError):
        request_run(guest(3), seed=99)
    assert request_run(None, seed=99), "the house has no limit"
    execute_run(ExperimentRun.objects.earliest("pk"))
    execute_run(ExperimentRun.objects.latest("pk"))
    assert request_run(guest(1), seed=98)


# Claims, cancels, faults


def test_a_run_is_claimed_once_until_its_lease_runs_out() -> None:
    run = request_run()
    first_claim = EXPERIMENT_RUNS.claim(run.pk)
    assert first_claim is not None
    assert EXPERIMENT_RUNS.claim(run.pk) is None
    ExperimentRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert execute_run(run).status == JobStatus.FINISHED
    finished_at = run.finished_at
    experiment_execute(first_claim)  # the worker with the lost lease returns
    run.refresh_from_db()
    assert run.finished_at == finished_at


def test_a_worker_that_lost_its_run_stops(report_every_step: None) -> None:
    run = request_run()
    first_claim = EXPERIMENT_RUNS.claim(run.pk)
    assert first_claim is not None
    ExperimentRun.objects.filter(pk=run.pk).update(lease_until=timezone.now() + timedelta(hours=1))
    with pytest.raises(JobLostError):
        experiment_worker._ClaimedRun(first_claim).report(1, 10)
    experiment_execute(first_claim)
    run.refresh_from_db()
    assert (run.status, run.result) == (JobStatus.RUNNING, None)


def test_waiting_run_is_cancelled_at_once_and_running_one_soon(report_every_step: None) -> None:
    requester = guest()
    waiting_run = experiment_cancel(person=requester, run_id=request_run(requester).pk)
    assert waiting_run.status == JobStatus.CANCELLED
    assert EXPERIMENT_RUNS.claim(waiting_run.pk) is None
    run = request_run(requester, seed=2)
    claimed_run = EXPERIMENT_RUNS.claim(run.pk)
    assert claimed_run is not None
    assert experiment_cancel(person=requester, run_id=run.pk).status == JobStatus.RUNNING
    experiment_execute(claimed_run)
    run.refresh_from_db()
    assert (run.status, run.result, run.is_over) == (JobStatus.CANCELLED, None, True)
    repeated_run = request_run(guest(2), seed=2)
    assert repeated_run.pk == run.pk
    assert (repeated_run.status, repeated_run.guest, repeated_run.cancel_requested) == (
        JobStatus.QUEUED,
        guest(2).guest,
        False,
    )
    assert execute_run(repeated_run).status == JobStatus.FINISHED
    assert experiment_cancel(person=guest(2), run_id=run.pk).status == JobStatus.FINISHED, (
        "a finished run cannot be cancelled"
    )


def test_only_requester_and_staff_stop_a_run() -> None:
    ada, eve = person(user("ada")), person(user("eve"))
    run_of_ada, run_of_guest, run_of_house = request_run(ada), request_run(guest(1), seed=2), request_run(None, seed=3)
    for run, strangers in (
        (run_of_ada, (eve, guest(1), Principal())),
        (run_of_guest, (ada, guest(2))),
        (run_of_house, (ada, Principal())),
    ):
        for stranger in strangers:
            with pytest.raises(NotYourExperimentError):
                experiment_cancel(person=stranger, run_id=run.pk)
        run.refresh_from_db()
        assert run.status == JobStatus.QUEUED
    assert experiment_cancel(person=ada, run_id=run_of_ada.pk).is_over
    assert experiment_cancel(person=guest(1), run_id=run_of_guest.pk).is_over
    assert experiment_cancel(person=eve, run_id=run_of_house.pk, is_staff=True).is_over
    with pytest.raises(ExperimentNotFoundError):
        experiment_cancel(person=ada, run_id=run_of_house.pk + 1)


def test_a_failure_is_stored_and_the_run_can_be_repeated(broken_experiment: None) -> None:
    run = request_run()
    with pytest.raises(ZeroDivisionError):
        execute_run(run)
    run.refresh_from_db()
    assert (run.status, run.error) == (JobStatus.FAILED, "ZeroDivisionError: nobody divides by nothing")
    assert request_run(guest()).status == JobStatus.QUEUED


def test_progress_is_stored_on_the_way(report_every_step: None, monkeypatch: pytest.MonkeyPatch) -> None:
    run = request_run()
    claimed_run = EXPERIMENT_RUNS.claim(run.pk)
    assert claimed_run is not None
    lease_before = claimed_run.lease_until
    hold = experiment_worker._ClaimedRun(claimed_run)
    hold.report(3, 10)
    run.refresh_from_db()
    assert run.progress == 0.3
    assert run.lease_until is not None
    assert lease_before is not None
    assert run.lease_until > lease_before


def test_retention_deletes_old_results_but_the_newest_of_each() -> None:
    runs = [execute_run(request_run(seed=seed)) for seed in (1, 2, 3)]
    for age, run in enumerate(reversed(runs)):
        run.finished_at = timezone.now() - timedelta(days=20 * (age + 1))
        run.save()
    run_retention()
    assert set(ExperimentRun.objects.all()) == {runs[2]}
    ExperimentRun.objects.update(finished_at=timezone.now() - timedelta(days=400))
    run_retention()
    assert ExperimentRun.objects.count() == 1


def test_the_house_requests_each_experiment_once() -> None:
    assert [run.experiment for run in experiments_prepare()] == list(EXPERIMENTS)
    experiments_prepare()
    assert ExperimentRun.objects.count() == len(EXPERIMENTS)


@pytest.mark.django_db(transaction=True)
def test_worker_runs_an_experiment_and_recovers_a_forgotten_one(start_worker: StartWorker) -> None:
    start_worker()
    run = request_run(guest(), enqueue=True)
    forgotten = request_run(guest(), seed=2)
    ExperimentRun.objects.filter(pk=forgotten.pk).update(knocked_at=timezone.now() - timedelta(minutes=1))
    assert tasks.jobs_recover() == 1
    assert tasks.jobs_recover() == 0, "its wake-up was sent a moment ago"
    finished = ExperimentRun.objects.filter(status=JobStatus.FINISHED)
    assert wait_until(lambda: finished.count() == 2)
    run.refresh_from_db()
    assert run.result is not None


# Pages


class TestPages:
    def test_the_list_shows_questions_and_known_figures(self, client: Client) -> None:
        execute_run(request_run(experiment="hexapawn-resigns", parameters={"pairs": 10, "games": 60}))
        page = client.get("/experiments").content.decode()
        for experiment in EXPERIMENTS.values():
            assert experiment.question in page
        assert "published: every one" in page
        assert page.count("No one has run this experiment here yet.") == len(EXPERIMENTS) - 1

    def test_page_before_the_first_run(self, client: Client) -> None:
        page = client.get(PAGE_PATH).content.decode()
        assert "No one has run this experiment here yet." in page
        assert 'value="300"' in page

    def test_figures_and_curves_can_be_downloaded(self, client: Client) -> None:
        run = execute_run(request_run(seed=7))
        answer = client.get(PAGE_PATH)
        page = answer.content.decode()
        assert '<span class="code">7</span>' in page
        charts = page_json(answer, "charts")
        assert run.result is not None
        assert [item["chart"] for item in charts] == run.result["charts"]
        rows = list(
            csv.DictReader(
                client.get(f"/experiments/runs/{run.pk}/result.csv").content.decode("utf-8-sig").splitlines()
            )
        )
        figures = [row for row in rows if row["part"] == "figure"]
        assert [float(row["value"]) for row in figures] == [figure["value"] for figure in run.result["figures"]]
        points = [row for row in rows if row["part"] == "perfect"]
        assert [float(row["value"]) for row in points] == run.result["charts"][0]["lines"][0]["values"]

    @pytest.mark.parametrize(
        "slug", [pytest.param(slug, marks=pytest.mark.soak if slug == "romgon-page" else ()) for slug in EXPERIMENTS]
    )
    def test_every_experiment_has_its_page(self, client: Client, slug: str) -> None:
        least_values = {p.name: p.low for p in EXPERIMENTS[slug].parameters}
        run = execute_run(request_run(experiment=slug, parameters=least_values))
        page = client.get(run.get_absolute_url()).content.decode()
        assert run.result is not None
        for figure in run.result["figures"]:
            assert figure["label"] in page.replace("&#x27;", "'")
            if figure["unit"] == Unit.SHARE:  # a difference of two shares may be negative
                least = -1 if "more" in figure["label"] else 0
                edges = [figure[edge] for edge in ("low", "value", "high") if figure[edge] is not None]
                assert edges == sorted(edges)
                assert all(least <= edge <= 1 for edge in edges)
            if figure["published"]:
                assert figure["published"]["source"] in page
        for chart in run.result["charts"]:
            assert f'id="chart-{chart["slug"]}"' in page

    def test_a_guest_runs_and_stops_an_experiment(self, client: Client) -> None:
        answer = client.post(PAGE_PATH, {"seed": "5", "machines": "10"})
        run = ExperimentRun.objects.get()
        assert (answer.status_code, answer["Location"]) == (302, f"{PAGE_PATH}?run={run.pk}")
        assert run.guest is not None
        page = client.get(answer["Location"]).content.decode()
        assert 'data-status="queued"' in page
        assert 'id="cancel"' in page
        page_of_other_guest = Client().get(answer["Location"]).content.decode()
        assert 'id="cancel"' not in page_of_other_guest
        assert Client().post(f"/experiments/runs/{run.pk}/cancel").status_code == 403
        run.refresh_from_db()
        assert run.status == JobStatus.QUEUED
        assert client.post(f"/experiments/runs/{run.pk}/cancel").status_code == 302
        assert "This run was stopped before it had a result." in client.get(answer["Location"]).content.decode()

    def test_a_known_result_is_shown_at_once(self, client: Client) -> None:
        run = execute_run(request_run())
        answer = client.post(PAGE_PATH, {"seed": "1", "machines": "10"}, follow=True)
        assert f'data-run="{run.pk}" data-status="finished"' in answer.content.decode()

    def test_a_failure_is_shown(self, client: Client, broken_experiment: None) -> None:
        run = request_run()
        with pytest.raises(ZeroDivisionError):
            execute_run(run)
        assert "The run failed: ZeroDivisionError" in client.get(run.get_absolute_url()).content.decode()

    @pytest.mark.parametrize("wrong_fields", [{"machines": "2"}, {"machines": ""}, {"seed": "-1"}, {"seed": "x"}])
    def test_refusals_are_shown_at_their_fields(self, client: Client, wrong_fields: dict[str, str]) -> None:
        answer = client.post(PAGE_PATH, {"seed": "1", "machines": "10", **wrong_fields})
        assert answer.status_code == 200
        assert "errorlist" in answer.content.decode()
        assert not ExperimentRun.objects.exists()

    def test_a_visitor_with_too_many_runs_is_refused(self, client: Client) -> None:
        for seed in range(services_experiments.MAX_ACTIVE_PER_PERSON + 1):
            answer = client.post(PAGE_PATH, {"seed": str(seed), "machines": "10"}, follow=True)
        assert "Wait for one to end" in answer.content.decode()
        assert ExperimentRun.objects.count() == services_experiments.MAX_ACTIVE_PER_PERSON

    @pytest.mark.parametrize(
        "address",
        ["/experiments/cold-fusion", *(f"{PAGE_PATH}?run={run}" for run in ("0", "x", 1 << 63, 1 << 70, "9" * 5000))],
        ids=["experiment", "none", "word", "too large", "far too large", "no number that can be read"],
    )
    def test_missing_pages_are_not_found(self, client: Client, address: str) -> None:
        assert client.get(address).status_code == 404
        assert client.get("/experiments/runs/0/result.csv").status_code == 404
        assert client.post("/experiments/runs/0/cancel").status_code == 404

    def test_a_run_of_another_experiment_is_not_found(self, client: Client) -> None:
        run = request_run()
        assert client.get(f"/experiments/hexapawn-rewards?run={run.pk}").status_code == 404

    def test_page_takes_a_fixed_number_of_queries(self, client: Client) -> None:
        counts = []
        for seed in (1, 2):
            execute_run(request_run(seed=seed))
            with CaptureQueriesContext(connection) as queries:
                client.get(PAGE_PATH)
            counts.append(len(queries))
        assert counts[0] == counts[1]

    def test_machines_link_to_experiments_with_their_rule(self, client: Client) -> None:
        menace = machine(preset="michie-1961")
        assert "/experiments/michie-tournament" in client.get(menace.get_absolute_url()).content.decode()
        other = machine(preset="scroggs")
        assert "/experiments/michie-tournament" not in client.get(other.get_absolute_url()).content.decode()


# API


class TestApi:
    def test_list_of_experiments(self) -> None:
        answer = api_with(None).get("/api/experiments").json()
        assert [entry["slug"] for entry in answer["results"]] == list(EXPERIMENTS)
        assert answer["results"][0]["parameters"][0]["default"] == 300

    def test_run_read_and_repeat_an_experiment(self) -> None:
        api = api_with(user(), "read", "train")
        body = {"experiment": "gardner", "seed": 3, "parameters": SMALL_PARAMETERS}
        answer = api.post(RUNS_PATH, body)
        assert (answer.status_code, answer.json()["status"], answer.json()["result"]) == (202, "queued", None)
        run = execute_run(ExperimentRun.objects.get())
        run_json = api_with(None).get(f"{RUNS_PATH}/{run.pk}").json()
        assert run_json["result"] == run.result
        second_answer = api.post(RUNS_PATH, body)
        assert (second_answer.status_code, second_answer.json()) == (200, run_json)
        list_json = api_with(None).get(f"{RUNS_PATH}?experiment=gardner&status=finished").json()
        assert [entry["id"] for entry in list_json["results"]] == [run.pk]
        assert "result" not in list_json["results"][0]

    def test_permissions(self) -> None:
        body = {"experiment": "gardner", "parameters": SMALL_PARAMETERS}
        assert api_with(None).post(RUNS_PATH, body).status_code in (401, 403)
        ada = user("ada")
        assert api_with(ada, "read").post(RUNS_PATH, body).status_code == 403
        assert not ExperimentRun.objects.exists()
        run = request_run(person(ada))
        eve = api_with(user("eve"), "train")
        assert (eve.post(f"{RUNS_PATH}/{run.pk}/cancel").status_code) == 403
        answer = api_with(ada, "train").post(f"{RUNS_PATH}/{run.pk}/cancel")
        assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
        assert eve.post(f"{RUNS_PATH}/{run.pk + 1}/cancel").status_code == 404

    @pytest.mark.parametrize(
        "body",
        [
            {"experiment": "cold-fusion"},
            {"experiment": "gardner", "parameters": {"machines": 0}},
            {"experiment": "gardner", "parameters": {"machines": "many"}},
            {"experiment": "gardner", "parameters": {"bananas": 1}},
            {"experiment": "gardner", "parameters": [1]},
            {"experiment": "gardner", "seed": 1 << 64},
            {"experiment": "gardner", "colour": "red"},
            {},
        ],
    )
    def test_unreadable_requests_are_refused(self, body: dict[str, Any]) -> None:
        answer = api_with(user(), "train").post(RUNS_PATH, body)
        assert answer.status_code == 400
        assert answer.json()["code"]
        assert not ExperimentRun.objects.exists()


# The command


class TestCommand:
    def test_command_prints_the_published_figures(self, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("experiment", "hexapawn-resigns", "--pairs", "10", "--games", "60")
        assert "(published: every one; the program HexapawnRL, its source)" in capsys.readouterr().out

    def test_command_prints_the_figures_of_a_run(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        file = tmp_path / "gardner.json"
        call_command("experiment", "gardner", "--seed", "7", "--machines", "10", "--json", str(file))
        output = capsys.readouterr().out
        assert "Losses until it is perfect, on average: 1" in output
        assert f"gardner, machines 10, seed 7, edition {EXPERIMENTS['gardner'].edition}" in output
        assert not ExperimentRun.objects.exists()
        document = json.loads(file.read_text())
        run = execute_run(request_run(seed=7))
        assert {name: document[name] for name in ("figures", "charts", "tables", "findings")} == run.result
        call_command("experiment", "gardner", "--seed", "7", "--machines", "10")
        assert capsys.readouterr().out == output

    def test_command_writes_the_tables_of_the_documents(self, tmp_path: Path) -> None:
        file = tmp_path / "gardner.md"
        call_command("experiment", "gardner", "--machines", "10", "--commit", "0123abc", "--markdown", str(file))
        text = file.read_text()
        run = execute_run(request_run(seed=1))
        assert f"`gardner, machines 10, seed 1, edition {EXPERIMENTS['gardner'].edition}, commit 0123abc`" in text
        assert all(f"* {finding}\n" in text for finding in run.result["findings"])
        assert "| losses | " in text

    @pytest.mark.parametrize("wrong_arguments", [("--machines", "1"), ("--seed", "-1")])
    def test_command_refuses_wrong_arguments(self, wrong_arguments: tuple[str, str]) -> None:
        with pytest.raises(CommandError, match=wrong_arguments[0].strip("-")):
            call_command("experiment", "gardner", *wrong_arguments)
