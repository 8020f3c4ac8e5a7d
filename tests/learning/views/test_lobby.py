"""The front page: what it shows of machines costs nobody who looks a game."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from games.rules.base import Side
from learning.core.training.open_memory import OpenMemory
from learning.models import Machine
from learning.selectors import strength as selectors_strength
from learning.services.machines import machine_create
from tests.factories import trained

pytestmark = pytest.mark.django_db


def large() -> Machine:
    """A public machine of a board too large for exact strength."""
    return machine_create(game="hexapawn-5x4", side=Side.FIRST, name="Large", preset="hexapawn-rl")


def card(client: Client, machine: Machine) -> dict[str, Any]:
    page = client.get("/")
    assert page.status_code == 200
    return next(card for card in page.context["machines"] if card["id"] == machine.pk)


def test_no_game_is_played_for_who_looks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selectors_strength, "SAMPLE_GAMES", 5)
    machine = trained(large(), games=20)
    measured = machine.runs.get().curve.order_by("games_done").last()
    assert measured is not None

    def played(*args: Any, **options: Any) -> None:
        raise AssertionError("a game was played for the front page")

    monkeypatch.setattr(OpenMemory, "sample", played)
    shown = card(client, machine)
    assert [found for _, found in shown["strength"]] == [measured.strength[slug] for slug in ("random", "win_block")]
    assert b"In a sample" in client.get("/").content


def test_what_was_never_measured_is_shown_without_strength(client: Client) -> None:
    assert card(client, large())["strength"] == []
    assert b"Nobody has tried it out yet." in client.get("/").content
