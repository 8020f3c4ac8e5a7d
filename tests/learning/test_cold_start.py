"""While kernels are compiled, requests that need an engine are refused for now, and long work waits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from beadbox.engines.compiled import EngineCompilingError, EngineMissingError
from beadbox.kernels.jit import PACKAGES, KernelPackage, Readiness
from beadbox.learners.readiness import MAX_PLAIN_GAMES
from beadbox.rules.outcome import Side
from games.live.play import match_play_move
from games.live.rooms import room_create
from games.models import Match, Room
from learning.models import ExperimentRun, JobStatus, Standing, TournamentFormat
from learning.selectors.runs import run_view
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_start
from learning.tasks import jobs_work
from learning.workers.experiments import EXPERIMENT_RUNS
from learning.workers.jobs import TurnEnd, wake_ups_take
from learning.workers.pairings import PAIRINGS
from learning.workers.runs import RUNS
from learning.workers.standings import standings_measure
from tests.factories import NC, guest, machine, user

pytestmark = pytest.mark.django_db

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "romgon" / "vectors.json").read_text())
START_BOARD = next(position["board"] for position in VECTORS["positions"] if position["id"] == "start-black")
REFUSAL_TEXT = "The engine is being compiled, which takes about a minute. Nothing has changed: try again in a moment."


def set_readiness(monkeypatch: pytest.MonkeyPatch, readiness: Readiness) -> None:
    """Give this process kernels in the state ``readiness``."""
    monkeypatch.setattr(KernelPackage, "readiness", lambda self: readiness)
    for package in PACKAGES.values():
        for kernel in package.kernels:
            monkeypatch.setattr(kernel, "implementation", kernel._choose_and_call)


@pytest.fixture
def compiling_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    set_readiness(monkeypatch, Readiness.COMPILING)


@pytest.fixture
def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    set_readiness(monkeypatch, Readiness.NEVER)


def romgon_machine(**fields: Any) -> Any:
    return machine_create(game="romgon", side=None, name="Q", preset="romgon-q", **fields)


def question_at_start(**fields: Any) -> dict[str, Any]:
    return {"board": START_BOARD, "playerColor": "black", **fields}


def post_question(path: str, body: dict[str, Any]) -> Any:
    return Client().post(path, json.dumps(body), content_type="application/json")


QUESTIONS = {
    "move": ("/api/ai/move", {}),
    "its weakest level": ("/api/ai/move", {"difficulty": "easy"}),
    "a level of one move": ("/api/ai/move", {"difficulty": "medium"}),
    "a learnt level": ("/api/ai/move", {"difficulty": "legend"}),
    "evaluate": ("/api/ai/evaluate", {}),
}


class TestCompilingEngine:
    @pytest.mark.parametrize(("path", "fields"), QUESTIONS.values(), ids=QUESTIONS)
    def test_advice(self, compiling_engine: None, path: str, fields: dict[str, Any]) -> None:
        response = post_question(path, question_at_start(**fields))
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert response.json() == {"error": REFUSAL_TEXT, "detail": REFUSAL_TEXT, "code": "busy"}

    def test_the_health_of_advice(self, compiling_engine: None) -> None:
        response = Client().get("/api/ai/health")
        assert (response.status_code, response["Retry-After"], response.json()["code"]) == (503, "5", "busy")

    def test_the_advice_of_a_machine(self, compiling_engine: None) -> None:
        response = post_question("/api/ai/move", question_at_start(game="romgon", machine=romgon_machine().pk))
        assert (response.status_code, response.json()["code"]) == (503, "busy")

    @pytest.mark.parametrize("level", ["easy", "medium", "expert", "legend"])
    def test_a_match_with_a_level(self, compiling_engine: None, level: str) -> None:
        api = APIClient()
        response = api.post("/api/rooms", {"game": "romgon", "opponent": level}, format="json")
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert response.json() == {"detail": REFUSAL_TEXT, "code": "busy"}
        assert not Room.objects.exists()

    def test_the_page_that_opens_a_match(self, compiling_engine: None) -> None:
        response = Client().post("/rooms", {"game": "romgon", "opponent": "medium"})
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        assert REFUSAL_TEXT in response.content.decode()
        assert "refresh" not in response.content.decode(), "the visitor decides whether to send the form again"

    def test_a_match_in_progress_waits_and_keeps_its_board(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for opponent in ("medium", "expert"):
            room = room_create(person=guest(), game="romgon", opponent=opponent, side=Side.FIRST).room
            with monkeypatch.context() as patch:
                set_readiness(patch, Readiness.COMPILING)
                with pytest.raises(EngineCompilingError):
                    match_play_move(code=room.code, person=guest(), move="2-7>3-6")
            match = Match.objects.get(room=room)
            assert (match.n_plies, match.answer_by) == (0, None)
        match_play_move(code=room.code, person=guest(), move="2-7>3-6")

    def test_a_machine_that_needs_the_engine(self, compiling_engine: None) -> None:
        learner = romgon_machine(slug="q")
        room = room_create(
            person=guest(), game="romgon", opponent="machine", machine=learner.slug, side=Side.FIRST
        ).room
        with pytest.raises(EngineCompilingError):
            match_play_move(code=room.code, person=guest(), move="2-7>3-6")
        assert Match.objects.get(room=room).n_plies == 0

    def test_pages_with_explanations_reload(self, compiling_engine: None) -> None:
        response = Client().get(f"/machines/{romgon_machine().pk}/values")
        assert (response.status_code, response["Retry-After"]) == (503, "5")
        page = response.content.decode()
        assert REFUSAL_TEXT in page
        assert '<meta http-equiv="refresh" content="5">' in page

    def test_people_play_each_other_and_pages_work(self, compiling_engine: None) -> None:
        room = room_create(person=guest(), game="romgon", opponent="human").room
        client = Client()
        for path in ("/", "/play/romgon", "/machines", f"/machines/{romgon_machine().pk}", f"/rooms/{room.code}"):
            assert client.get(path).status_code == 200, path


class TestWithoutNumba:
    def test_an_engine_explains_what_it_needs(self, without_numba: None) -> None:
        sentence = "This engine needs numba, which is not installed here."
        response = post_question("/api/ai/move", question_at_start())
        assert (response.status_code, response.json()) == (
            503,
            {"error": sentence, "detail": sentence, "code": "engine_missing"},
        )
        assert "Retry-After" not in response.headers
        page = Client().get(f"/machines/{romgon_machine().pk}/values")
        assert page.status_code == 503
        assert sentence in page.content.decode()
        with pytest.raises(EngineMissingError):
            room_create(person=guest(), game="romgon", opponent="medium")

    def test_a_training_with_the_engine_fails_with_a_sentence(self, without_numba: None) -> None:
        run = training_run_start(machine=str(romgon_machine().pk), stages=[Stage("random", 1)], seed=1, enqueue=False)
        with pytest.raises(EngineMissingError):
            jobs_work("runs", run.pk)
        run.refresh_from_db()
        assert (run.status, run.error) == (JobStatus.FAILED, str(EngineMissingError()))

    def test_a_long_training_does_not_wait_without_numba(self, without_numba: None) -> None:
        learner = machine()
        run = training_run_start(
            machine=learner.slug, stages=[Stage("random", MAX_PLAIN_GAMES + 1)], seed=1, enqueue=False
        )
        assert run in RUNS.eligible
        assert not run_view(run)["waits_for_kernels"]


def start_run(learner: Any, n_games: int) -> Any:
    return training_run_start(machine=str(learner.pk), stages=[Stage("random", n_games)], seed=1, enqueue=False)


class TestTrainings:
    def test_only_long_trainings_wait(self, monkeypatch: pytest.MonkeyPatch, client: Client) -> None:
        owner = user()
        short_run, long_run = start_run(machine(owner=owner), 200), start_run(machine(owner=owner), 10_000_000)
        engine_run = start_run(romgon_machine(owner=owner), 1)
        with monkeypatch.context() as patch:
            set_readiness(patch, Readiness.COMPILING)
            for run in (long_run, engine_run, short_run):
                jobs_work("runs", run.pk)
                run.refresh_from_db()
            assert [run.status for run in (short_run, long_run, engine_run)] == ["finished", "queued", "queued"]
            assert [run_view(run)["waits_for_kernels"] for run in (short_run, long_run, engine_run)] == [
                False,
                True,
                True,
            ]
            assert wake_ups_take(RUNS) == [], "no wake-up is sent for a run that may not continue"
            client.force_login(owner)
            assert client.get(f"/api/training-runs/{long_run.pk}").json()["waits_for_kernels"]
            assert b"waits_for_kernels" in client.get(f"/runs/{long_run.pk}").content
        assert {*RUNS.eligible} >= {long_run, engine_run}
        assert not run_view(long_run)["waits_for_kernels"]

    def test_a_waiting_training_can_be_cancelled(self, compiling_engine: None) -> None:
        run = start_run(machine(), 10_000_000)
        type(run).objects.filter(pk=run.pk).update(cancel_requested=True)
        assert run in RUNS.eligible

    def test_long_tournaments_and_experiments_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tournaments = [
            tournament_start(
                user=None,
                entries=["random", "perfect"] if game == NC else ["random", "easy"],
                game=game,
                games=games,
                name="A test",
                seed=1,
                format=TournamentFormat.ROUND_ROBIN,
                enqueue=False,
            )
            for game, games in ((NC, 100), (NC, MAX_PLAIN_GAMES + 2), ("romgon", 2))
        ]
        ExperimentRun.objects.create(experiment="gardner", edition=1, seed=1, parameters={})
        set_readiness(monkeypatch, Readiness.COMPILING)
        assert {pairing.tournament_id for pairing in PAIRINGS.eligible} == {tournaments[0].pk}
        assert not EXPERIMENT_RUNS.eligible.exists()
        jobs_work("pairings", 0)
        assert not tournaments[0].pairings.exclude(status=JobStatus.FINISHED).exists()

    def test_strength_by_the_engine_is_measured_later(self, compiling_engine: None) -> None:
        box_machine, value_machine = machine(), romgon_machine()
        standings_measure(TurnEnd())
        measured_by_machine = dict(Standing.objects.values_list("machine_id", "measured"))
        assert (measured_by_machine[box_machine.pk], measured_by_machine[value_machine.pk]) == (0, -1)

    def test_watch_it_learn_works(self, compiling_engine: None, client: Client) -> None:
        assert client.get("/learn").status_code == 200
        for path in ("pupil", "band"):
            answer = client.get(f"/api/learn/{path}", {"game": NC, "games": 300})
            assert answer.status_code in (200, 404), answer.content
