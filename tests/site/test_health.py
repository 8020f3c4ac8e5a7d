"""The health page names the servers that answer and the servers that do not."""

import pytest
from django.test import Client

from beadbox import __version__
from games.limits.admission import ADMISSION
from menace_site.observability import health
from tests.waiting import HANG_S


@pytest.mark.django_db
def test_health_is_ok_when_database_and_broker_answer(client: Client) -> None:
    response = client.get("/api/health")
    assert response.status_code == 200
    assert response.json() == {"status": "ok", "database": "ok", "broker": "ok", "version": __version__}


@pytest.mark.django_db
def test_health_names_the_dependency_that_does_not_answer(client: Client, settings) -> None:  # type: ignore[no-untyped-def]
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    response = client.get("/api/health/")
    assert response.status_code == 503
    assert response.json()["broker"] == "silent"
    assert response.json()["version"] == __version__
    assert "broker" in response.json()["detail"]


def test_alive_answers_without_database_and_broker(client: Client, settings) -> None:  # type: ignore[no-untyped-def]
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    response = client.get("/api/health/live")  # without a database, which this test may not use
    assert (response.status_code, response.json()) == (200, {"status": "alive"})


@pytest.mark.django_db
def test_ready_means_that_moves_can_be_played(  # type: ignore[no-untyped-def]
    client: Client, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/api/health/ready").json() == {"status": "ok", "database": "ok"}
    number = ADMISSION.arrive()
    ADMISSION._arrival_times[number] -= 2 * HANG_S
    try:
        response = client.get("/api/health/ready/")
        assert (response.status_code, response.json()["code"]) == (503, "busy")
        assert client.get("/api/health").status_code == 200
    finally:
        ADMISSION.leave(number)
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"  # play goes on without it
    assert client.get("/api/health/ready").status_code == 200
    monkeypatch.setitem(health.SHARED_CHECKS, "database", health.SharedCheck(lambda: False))
    refused = client.get("/api/health/ready")
    assert (refused.status_code, refused.json()["database"]) == (503, "silent")
