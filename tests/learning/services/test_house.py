"""The tournament of a new site's house: all its machines take part, and it is held once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client

from beadbox.learners.built_in import HOUSE_TOURNAMENT
from beadbox.learners.presets import presets_of
from beadbox.rules.outcome import Side
from learning.models import JobStatus, Machine, Tournament, TrainingRun
from learning.services import house
from learning.services.house import house_tournament_ensure
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.factories import NC

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _small_house(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the house to three presets, one of which plays either side, and to few games."""
    slugs = ("michie-1961", "gardner-her", "q-table")
    monkeypatch.setattr(house, "presets_of", lambda game: {slug: presets_of(game)[slug] for slug in slugs})
    monkeypatch.setattr(house, "HOUSE_TOURNAMENT", replace(HOUSE_TOURNAMENT, n_lessons=20, n_games=5))


def train_house_machines() -> None:
    for run in TrainingRun.objects.filter(finished_at=None):
        claimed_run = RUNS.claim(run.pk)
        assert claimed_run is not None
        run_execute(claimed_run)


def ensure_in_thread() -> Tournament | None:
    try:
        return house_tournament_ensure()
    finally:
        connection.close()


def test_tournament_begins_once_all_machines_are_trained(client: Client) -> None:
    """The page of the tournament shows it."""
    assert house_tournament_ensure() is None
    assert set(Machine.objects.values_list("preset", "side")) == {
        ("michie-1961", Side.FIRST), ("michie-1961", Side.SECOND),
        ("gardner-her", Side.FIRST), ("gardner-her", Side.SECOND), ("q-table", None),
    }  # fmt: skip
    assert house_tournament_ensure() is None, "no machine has been trained yet"
    assert (Machine.objects.count(), TrainingRun.objects.count()) == (5, 5)
    train_house_machines()
    with ThreadPoolExecutor(3) as threads:
        new_tournaments = [one for one in threads.map(lambda _: ensure_in_thread(), range(3)) if one is not None]
    tournament = Tournament.objects.get()
    assert [one.pk for one in new_tournaments] == [tournament.pk]
    assert set(tournament.entries.exclude(opponent="").values_list("opponent", flat=True)) == {
        "random", "win-block", "perfect", "perfect-fast",
    }  # fmt: skip
    assert tournament.entries.count() == 9
    tournament_play(tournament.pk)
    assert house_tournament_ensure() is None
    tournament.refresh_from_db()
    assert (tournament.status, tournament.is_public, Tournament.objects.count()) == (JobStatus.FINISHED, True, 1)
    assert tournament.name in client.get("/tournaments").content.decode()


def test_the_list_of_all_owners_has_the_house_machines(client: Client) -> None:
    house_tournament_ensure()
    page = client.get(f"/play/{NC}").context
    menace = Machine.objects.get(slug="menace-first")
    assert [one["id"] for one in page["others"] if one["chosen"]] == [menace.pk]
    assert [[one["id"] for one in side["machines"] if one["chosen"]] for side in page["sides"]] == [[menace.pk], []]
    second_machine = Machine.objects.filter(game=NC, side=Side.SECOND).last()
    assert second_machine is not None
    page_of_second = client.get(f"/play/{NC}?machine={second_machine.pk}").context
    assert [one["id"] for one in page_of_second["others"] if one["chosen"]] == [second_machine.pk]
    assert [[one["id"] for one in side["machines"] if one["chosen"]] for side in page_of_second["sides"]] == [
        [menace.pk],
        [second_machine.pk],
    ]
