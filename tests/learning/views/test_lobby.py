"""The front page and known strengths: visitors in search of a game wait for neither."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from learning.kinds.boxes import training
from learning.kinds.machines import strength_without_games
from learning.models import JobStatus, Machine, TrainingRun
from learning.services.machines import machine_create
from tests.factories import house_machines, machine, trained_machine, user

pytestmark = pytest.mark.django_db


def large_machine() -> Machine:
    """Return a public machine of a board too large for exact strength."""
    return machine_create(game="hexapawn-5x4", side=Side.FIRST, name="Large", preset="hexapawn-rl")


def test_page_views_play_no_sample_games(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "N_SAMPLE_GAMES", 5)
    machine = trained_machine(large_machine(), games=20)
    last_point = machine.runs.get().curve.order_by("games_done").last()
    assert last_point is not None

    def fail_if_played(*args: Any, **options: Any) -> None:
        raise AssertionError("a page view played a game")

    monkeypatch.setattr(OpenMemory, "sample", fail_if_played)
    assert list(strength_without_games(machine).values()) == [
        last_point.strength[slug] for slug in ("random", "win_block")
    ]
    assert client.get("/").status_code == 200


def test_unmeasured_machines_have_no_known_strength() -> None:
    assert strength_without_games(large_machine()) == {}


def test_every_game_is_shown_with_a_board(client: Client) -> None:
    games = client.get(reverse("choose")).context["games"]
    assert {game["slug"] for game in games} == {slug for slug, game in GAMES.items() if game.family == slug}
    for game in games:
        pieces = game["picture"]["pieces"]
        assert len(pieces) == len(game["picture"]["layout"]["cells"])
        n_kinds = len({piece for piece in pieces if piece})
        is_shared = len(set(game["picture"]["layout"]["badges"])) == 1
        assert n_kinds == 1 if is_shared else n_kinds > 1, "both sides have pieces on the board"


def test_running_trainings_are_shown_if_the_machine_is_visible(client: Client) -> None:
    ada = user("ada")
    for name, is_public, status in (
        ("Public", True, JobStatus.RUNNING),
        ("Private", False, JobStatus.RUNNING),
        ("Done", True, JobStatus.CANCELLED),
    ):
        one = machine(name=name, slug=name.lower(), owner=ada)
        Machine.objects.filter(pk=one.pk).update(is_public=is_public)
        TrainingRun.objects.create(machine=one, n_games=10, seed=1, status=status, games_done=4, n_draws=4)
    page = client.get("/")
    assert [(run["machine"], run["games_done"], run["games"]) for run in page.context["runs"]] == [("Public", 4, 10)]
    assert b"4 of 10 games" in page.content
    client.force_login(ada)
    assert [run["machine"] for run in client.get("/").context["runs"]] == ["Private", "Public"]


def test_the_lab_links_to_all_its_pages(client: Client) -> None:
    for with_machines in (False, True):
        if with_machines:
            house_machines()
        page = client.get("/lab")
        text = page.content.decode()
        for name in ("tournaments", "experiments", "compare", "schedules", "machine_import", "advice"):
            assert f'href="{reverse(name)}' in text, name
        for link in (page.context["print_url"], reverse("compare") + page.context["compare_query"]):
            assert client.get(link).status_code == 200
