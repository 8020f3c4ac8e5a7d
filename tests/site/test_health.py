"""The health page tells what answers and names what does not."""

import pytest
from django.test import Client


@pytest.mark.django_db
def test_health_is_ok_when_both_answer(client: Client) -> None:
    response = client.get("/api/health")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "broker": "ok"}


@pytest.mark.django_db
def test_health_names_the_part_that_is_silent(client: Client, settings) -> None:  # type: ignore[no-untyped-def]
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    response = client.get("/api/health/")
    assert response.status_code == 503
    assert response.json()["broker"] == "silent"
    assert "broker" in response.json()["detail"]
