"""A game too large to list: boxes open when met, and strength is a sample and says so."""

from math import isclose
from typing import Any

import pytest
from django.test import Client

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.episodes import train_episodes
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule, OpenBoxes
from beadbox.learners.boxes.table import boxes_compile
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import opponent_policy
from beadbox.rules.outcome import Result, Side
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import NotListedError, graph_compile
from beadbox.strength.sampled import sample, wilson
from games.live.rooms import room_create
from games.models import Room
from learning.exceptions import GameTooLargeError, MachineFileError, TournamentRefusedError, TrainingRefusedError
from learning.kinds.boxes import look, memory, training
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.boxes.page import box_gallery
from learning.kinds.boxes.why import why_view
from learning.kinds.machines import machine_export
from learning.models import Box, JobStatus, Lesson, Machine, Tournament, TrainingRun
from learning.selectors.runs import run_curve
from learning.services.machines import machine_create, machine_create_for_account, machine_import, machine_reset
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_start
from learning.workers.runs import RUNS, Pace, run_chunk, run_execute
from tests.factories import api_with, guest, machine_strength, play_out, trained_machine, user

GAME = GAMES["hexapawn-5x4"]
RULE = PRESETS["hexapawn-rl"].rule


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "N_SAMPLE_GAMES", 10)


def learner(side: Side = Side.FIRST, preset: str = "hexapawn-rl") -> Machine:
    return machine_create(game=GAME.slug, side=side, name="Large", preset=preset)


def stored_beads(machine: Machine) -> dict[str, list[int]]:
    return dict(machine.boxes.values_list("position", "beads"))


def start_run(machine: Machine, games: int, opponent: str = "random", **options: Any) -> TrainingRun:
    run = training_run_start(machine=machine.slug, stages=[Stage(opponent, games, **options)], seed=7, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    return claimed_run


def test_functions_that_list_positions_refuse_large_games() -> None:
    for call in (
        lambda: graph_compile(GAME, reduced=True),
        lambda: boxes_compile(GAME, Side.FIRST, RULE),
        lambda: opponent_policy(GAME, OPPONENTS["random"], reduced=True),
    ):
        with pytest.raises(NotListedError, match="5 × 4 has too many positions"):
            call()
    assert [slug for slug, opponent in OPPONENTS.items() if opponent.plays(GAME)] == ["random", "win-block"]


@pytest.mark.parametrize(
    ("k", "n", "low", "high"), [(0, 10, 0, 0.2775), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)]
)
def test_wilson_intervals_equal_published_examples(k: int, n: int, low: float, high: float) -> None:
    # The last case is the worked example of R. G. Newcombe, Statistics in Medicine 17 (1998), method 3.
    assert wilson(k, n) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert wilson(n - k, n) == (pytest.approx(1 - high, abs=5e-5), pytest.approx(1 - low, abs=5e-5))


def test_a_sample_counts_its_results() -> None:
    results = iter([Result.WIN, Result.LOSS, Result.WIN, Result.DRAW])
    estimate = sample(lambda: next(results), 4)
    assert (estimate.win, estimate.draw, estimate.loss, estimate.games) == (0.5, 0.25, 0.25, 4)
    assert estimate.win_interval == wilson(2, 4)


@pytest.mark.django_db
class TestCreation:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_any_preset_opens_its_boxes_when_they_are_met(self, preset: str) -> None:
        machine = learner(preset=preset)
        assert machine.box_rule.open_boxes is OpenBoxes.WHEN_MET
        assert not machine.boxes.exists()

    def test_opening_all_boxes_at_once_is_refused(self) -> None:
        with pytest.raises(GameTooLargeError, match="open_boxes: Hexapawn 5 × 4 has too many positions"):
            machine_create_for_account(user=user(), game=GAME.slug, side=Side.FIRST, name="Large", rule=BoxRule())
        assert not Machine.objects.exists()

    def test_the_api_refuses_opening_all_boxes(self) -> None:
        body = {"game": GAME.slug, "side": "white", "rule": {"open_boxes": "in_advance"}}
        answer = api_with(user(), "train").post("/api/machines", body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (400, "game_too_large")
        assert not Machine.objects.exists()

    def test_files_with_all_boxes_opened_are_refused(self) -> None:
        text = machine_export(learner()).text.replace('"when_met"', '"in_advance"')
        with pytest.raises(MachineFileError, match="too many positions"):
            machine_import(user=None, content=text.encode())
        assert Machine.objects.count() == 1


@pytest.mark.django_db
class TestTraining:
    @pytest.mark.parametrize("preset", ["hexapawn-rl", "michie-1961", "apl-notebook"])
    def test_run_equals_the_readable_machine(self, preset: str) -> None:
        machine = learner(preset=preset)
        run = start_run(machine, 60)
        while run.status == JobStatus.RUNNING:
            run = run_chunk(run, Pace(n_games=5))
        reference = BoxMachine(GAME, Side.FIRST, machine.box_rule)
        tally = train_episodes(reference, OPPONENTS["random"], 60, RandomSource(7))
        machine.refresh_from_db()
        assert stored_beads(machine) == reference.boxes
        assert (machine.n_wins, machine.n_losses, machine.n_removed) == (tally.wins, tally.losses, reference.n_removed)
        assert ledger_errors() == []
        # Chunks of 5 games, shortened at each of the 12 points of the curve.
        assert Lesson.objects.filter(machine=machine).count() == 18

    def test_a_machine_of_very_many_boxes_reads_only_those_it_meets(self, monkeypatch: pytest.MonkeyPatch) -> None:
        machine_read_at_once, machine_read_in_parts = trained_machine(learner(), 30), trained_machine(learner(), 30)
        trained_machine(machine_read_at_once, 30)
        monkeypatch.setattr(memory, "FETCH_BATCH_SIZE", 0)
        trained_machine(machine_read_in_parts, 30)
        assert stored_beads(machine_read_at_once) == stored_beads(machine_read_in_parts)

    def test_two_learning_machines_equal_readable_ones(self) -> None:
        first, second = learner(), learner(Side.SECOND, "gardner-her")
        run_execute(start_run(first, 40, second.slug, learns=True))
        reference = [BoxMachine(GAME, m.cabinet.side, m.box_rule) for m in (first, second)]
        train_episodes(reference[0], reference[1], 40, RandomSource(7))
        assert [stored_beads(first), stored_beads(second)] == [menace.boxes for menace in reference]
        assert ledger_errors() == []

    def test_a_frozen_opponent_does_not_change(self) -> None:
        first, second = learner(), learner(Side.SECOND)
        run_execute(start_run(first, 20, second.slug))
        assert not second.boxes.exists()
        assert first.boxes.exists()

    def test_there_is_no_perfect_opponent(self) -> None:
        for opponent in ("perfect", "perfect-fast"):
            with pytest.raises(
                TrainingRefusedError, match=r"Perfect.* does not play Hexapawn .* Choose from random, win-block"
            ):
                start_run(learner(), 10, opponent)
        assert not TrainingRun.objects.exists()

    def test_the_curve_is_marked_as_a_sample(self) -> None:
        run = run_execute(start_run(learner(), 30))
        points = run_curve(run)
        assert [point["games"] for point in points][-1] == 30
        for point in points:
            assert set(point["strength"]) == {"random", "win_block"}
            for chances in point["strength"].values():
                assert chances["games"] == 10
                assert isclose(chances["win"] + chances["draw"] + chances["loss"], 1)
                assert chances["win_interval"][0] <= chances["win"] <= chances["win_interval"][1]

    def test_measuring_strength_changes_nothing(self) -> None:
        machine = trained_machine(learner(), 30)
        beads_before = stored_beads(machine)
        assert machine_strength(machine) == machine_strength(machine)
        assert stored_beads(machine) == beads_before

    def test_reset_deletes_every_box(self) -> None:
        owner = user()
        machine = machine_create_for_account(
            user=owner, game=GAME.slug, side=Side.FIRST, name="Large", preset="gardner-her"
        )
        trained_machine(machine, 20)
        machine_reset(user=owner, machine_id=machine.pk)
        assert not machine.boxes.exists()

    def test_a_file_gives_the_same_machine(self) -> None:
        machine = trained_machine(learner(), 30)
        copy = machine_import(user=None, content=machine_export(machine).text.encode()).machine
        assert stored_beads(copy) == stored_beads(machine)
        text = machine_export(machine, "hexapawn-rl").text
        copy_of_save_file = machine_import(user=None, content=text.encode(), side=Side.FIRST).machine
        assert stored_beads(copy_of_save_file) == stored_beads(machine)


@pytest.mark.django_db
def test_large_games_have_no_tournaments() -> None:
    machine = learner()
    with pytest.raises(TournamentRefusedError, match="too many positions"):
        tournament_start(user=None, entries=[machine.slug, "random"], games=10, seed=1, enqueue=False)
    assert not Tournament.objects.exists()


@pytest.mark.django_db
def test_a_match_opens_boxes_and_teaches() -> None:
    machine, player = learner(Side.SECOND, "hexapawn-rl"), guest()
    seated = room_create(person=player, game=GAME.slug, opponent="machine", machine=machine.slug, side=Side.FIRST)
    play_out(seated.room.code, player)
    assert Room.objects.count() == 1
    assert Box.objects.filter(machine=machine).count() >= 2
    machine.refresh_from_db()
    assert machine.n_games == 1
    assert ledger_errors() == []


@pytest.mark.django_db
def test_pages_mark_samples(client: Client) -> None:
    owner = user()
    machine = machine_create_for_account(
        user=owner, game=GAME.slug, side=Side.FIRST, name="Large", preset="hexapawn-rl"
    )
    machine = trained_machine(machine, 20)
    client.force_login(owner)
    page = client.get(machine.get_absolute_url()).content.decode()
    assert "This game has too many positions, so the strength cannot be calculated." in page
    assert "Perfect play" not in page
    run = machine.runs.get()
    run_page = client.get(f"/runs/{run.pk}").content.decode()
    assert "Measured against" in run_page
    assert "This game has too many positions, so there are no exact values." in run_page
    assert '<option value="perfect"' not in run_page
    table = client.get(f"/runs/{run.pk}/curve.csv")
    assert table.status_code == 200
    training_page = client.get(f"/machines/{machine.pk}/train").content.decode()
    assert '<option value="win-block">' in training_page
    assert '<option value="perfect">' not in training_page
    gallery = box_gallery(machine)
    assert len(gallery["boxes"]) == machine.boxes.count()
    assert all(box[-1] is None for box in gallery["boxes"])
    for url in (
        f"/machines/{machine.pk}/boxes",
        f"/machines/compare?machine={machine.pk}",
        f"/api/machines/{machine.pk}/strength",
    ):
        assert client.get(url).status_code == 200
    start_box = GAME.encode_short(GAME.initial_position())
    assert why_view(machine, start_box)["box_position"] == f"{start_box}:1"
    answer = client.get(f"/api/machines/{machine.pk}/boxes/{start_box}")
    assert answer.status_code == 200


@pytest.mark.django_db
def test_pages_show_only_the_first_of_many_boxes(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = trained_machine(learner(), 20)
    n_boxes = machine.boxes.count()
    beads = sum(sum(beads) for beads in stored_beads(machine).values())
    monkeypatch.setattr(look, "MAX_SHOWN_BOXES", 5)
    page = client.get(machine.get_absolute_url())
    assert f"These are the first {5}" in page.content.decode()
    assert [ply for _, _, ply, *_ in page.context["packed"]["boxes"]] == list(
        machine.boxes.order_by("ply").values_list("ply", flat=True)
    )[:5]
    assert (page.context["machine"]["n_boxes"], page.context["machine"]["beads"]) == (n_boxes, beads)
    gallery = client.get(f"/machines/{machine.pk}/boxes")
    assert f"It has {n_boxes} boxes, too many for a page. These are the first 5" in gallery.content.decode()
    shown_positions = [box[0] for box in gallery.context["packed"]["boxes"]]
    assert list(client.get(f"/machines/{machine.pk}/boxes-at/1").json()["beads"]) == shown_positions
    assert len(shown_positions) == 5


@pytest.mark.django_db
def test_the_page_shows_level_and_rate(client: Client) -> None:
    machine = learner()
    for wins, losses, removed, rate, level in ((0, 0, 0, "–", "1"), (3, 1, 1233, "75\u00a0%", "1,234")):
        Machine.objects.filter(pk=machine.pk).update(
            n_games=wins + losses, n_wins=wins, n_losses=losses, n_removed=removed
        )
        page = client.get(machine.get_absolute_url()).content.decode()
        assert f'<dd data-total="win_rate">{rate}</dd>' in page
        assert f'<dd data-total="level">{level}</dd>' in page
        assert ("It has not played here yet" in page) == (not wins)
    for slug, other in (("michie-1961", "noughts-and-crosses"), ("gardner-her", "hexapawn")):
        page = client.get(machine_create(game=other, side=Side.SECOND, name=slug, preset=slug).get_absolute_url())
        totals = page.content.decode().partition('<dl class="totals">')[2].partition("</dl>")[0]
        assert "its win rate" in totals
        assert "level" not in totals
