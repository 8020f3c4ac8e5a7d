"""Fixtures for the tests of ``learning``, above all the callers of the API."""

from dataclasses import replace
from typing import Any

import pytest
from rest_framework.test import APIClient

from learning.kinds.q_learning.training import QLearningTraining
from tests.factories import api_with, user


@pytest.fixture
def owner() -> Any:
    return user("owner")


@pytest.fixture
def people(owner: Any) -> dict[str, APIClient]:
    """Return an API client for each kind of caller, by a description of the caller."""
    play_only = api_with(owner, "play")
    return {
        "owner": api_with(owner),
        "other": api_with(user("other")),
        "staff": api_with(user("staff", is_staff=True)),
        "guest": api_with(None),
        "owner's token": api_with(owner, "read", "train"),
        "token that may only read": api_with(owner, "read"),
        "token that may only play": play_only,
        "token without scope": play_only,
    }


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure sampled strength with a single game."""
    monkeypatch.setattr(QLearningTraining, "sampling", replace(QLearningTraining.sampling, n_games=1))
