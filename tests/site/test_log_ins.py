"""Records of log-ins: a limited number of failed attempts is stored, without the data that was sent."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.db import connection
from django.test import Client
from django.utils import timezone

from games.accounts import log_ins
from tests import factories

pytestmark = pytest.mark.django_db
RIGHT_CREDENTIALS = {"username": "ada", "password": "a good password"}
WRONG_CREDENTIALS = {"username": "ada", "password": "wrong"}


def age_records(minutes: float) -> None:
    """Move all records of log-ins into the past by some minutes."""
    for model in (AccessAttempt, AccessFailureLog, AccessLog):
        for record in model._default_manager.all():
            model._default_manager.filter(pk=record.pk).update(
                attempt_time=record.attempt_time - timedelta(minutes=minutes)
            )


def test_sent_credentials_are_not_stored(client: Client) -> None:
    for _ in range(3):
        client.post("/login?letter=secret", {**WRONG_CREDENTIALS, "letter": "secret" * 100})
    attempt = AccessAttempt.objects.get()
    assert (attempt.failures_since_start, attempt.get_data, attempt.post_data) == (3, "", "")


def test_lock_ends_when_announced_despite_further_attempts(client: Client) -> None:
    factories.user("ada")
    for _ in range(10):
        locked = client.post("/login", WRONG_CREDENTIALS)
    assert (locked.status_code, locked["Retry-After"]) == (429, "900")
    age_records(minutes=10)
    for _ in range(3):
        locked = client.post("/login", RIGHT_CREDENTIALS)
    assert (locked.status_code, 290 <= int(locked["Retry-After"]) <= 300) == (429, True)
    assert AccessAttempt.objects.get().failures_since_start == AccessFailureLog.objects.count() == 10
    age_records(minutes=5)
    assert client.post("/login", RIGHT_CREDENTIALS).status_code == 302


def test_failed_log_ins_are_shown_after_a_log_in(client: Client) -> None:
    factories.user("ada")
    for _ in range(9):
        client.post("/login", WRONG_CREDENTIALS)
    client.post("/login", RIGHT_CREDENTIALS)
    assert not AccessAttempt.objects.exists()
    failures = AccessFailureLog.objects.values_list("username", "ip_address", "locked_out")
    assert list(failures) == [("ada", "127.0.0.1", False)] * 9
    client.force_login(factories.user("staff", is_staff=True, is_superuser=True))
    page = client.get("/admin/axes/accessfailurelog/?q=ada")
    assert page.context["cl"].result_count == 9
    assert client.get("/admin/axes/accessfailurelog/?q=127.0.").context["cl"].result_count == 9
    assert client.get("/admin/axes/accessfailurelog/?q=berta").context["cl"].result_count == 0


def test_staff_can_end_a_lock_but_not_edit_the_log(client: Client) -> None:
    factories.user("ada")
    for _ in range(10):
        client.post("/login", WRONG_CREDENTIALS)
    staff = Client()
    staff.force_login(factories.user("staff", is_staff=True, is_superuser=True))
    of_failure = f"/admin/axes/accessfailurelog/{AccessFailureLog.objects.latest('pk').pk}/delete/"
    assert staff.post(of_failure, {"post": "yes"}).status_code == 403
    of_attempt = f"/admin/axes/accessattempt/{AccessAttempt.objects.get().pk}/delete/"
    assert staff.post(of_attempt, {"post": "yes"}).status_code == 302
    assert client.post("/login", RIGHT_CREDENTIALS).status_code == 302


def test_locked_out_visitor_gets_advice_that_applies(client: Client, settings: Any) -> None:
    factories.user("ada")
    for sends_letters, words in ((True, b"by letter"), (False, b"Ask the operator of this site")):
        settings.SENDS_LETTERS = sends_letters
        for _ in range(10):
            locked = client.post("/login", WRONG_CREDENTIALS)
        assert words in locked.content


def record_failure(name: str, at: datetime) -> None:
    """Add a failed log-in of this name, at this time, to the log of failures."""
    record = AccessFailureLog.objects.create(username=name, ip_address="192.0.2.1", user_agent="", path_info="/")
    AccessFailureLog.objects.filter(pk=record.pk).update(attempt_time=at)


def failed_names() -> list[Any]:
    """Return the names in the log of failures, oldest failure first."""
    return list(AccessFailureLog.objects.order_by("pk").values_list("username", flat=True))


def test_only_the_newest_failures_of_a_name_are_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_ins, "MAX_FAILURES_PER_NAME", 2)
    record_failure("berta", timezone.now())
    for _ in range(3):
        last = client.post("/login", WRONG_CREDENTIALS)
    assert last.status_code == 200
    assert failed_names() == ["berta", "ada", "ada"]
    first, oldest = AccessFailureLog.objects.order_by("pk").values_list("pk", flat=True)[:2]
    assert oldest > first + 1, "the oldest failure of this name is still there"


def test_failures_are_deleted_by_age_and_number(settings: Any) -> None:
    settings.LOG_IN_FAILURES_KEPT = 2
    for name, days in {"ann": 0, "bob": 0, "old": 31, "new": 0}.items():
        record_failure(name, timezone.now() - timedelta(days=days))
    factories.run_retention()
    assert failed_names() == ["new"]


def test_ipv6_address_is_locked_with_its_network() -> None:
    answers = [
        Client(REMOTE_ADDR=f"2001:db8:1:2::{n}").post("/login", WRONG_CREDENTIALS).status_code for n in range(11)
    ]
    assert answers == [200] * 9 + [429] * 2
    assert Client(REMOTE_ADDR="2001:db8:1:3::1").post("/login", WRONG_CREDENTIALS).status_code == 200
    assert set(AccessFailureLog.objects.values_list("ip_address", flat=True)) == {"2001:db8:1:2::", "2001:db8:1:3::"}


def test_log_in_cost_does_not_depend_on_stored_failures(client: Client) -> None:
    """The attack has left more rows than a statement may have parameters, but log-ins still succeed and fail."""
    factories.user("ada")
    client.post("/login", WRONG_CREDENTIALS)
    age_records(minutes=16)
    n_rows = 66_000
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO axes_accessattempt (user_agent, ip_address, username, http_accept, path_info, get_data,
                post_data, failures_since_start, attempt_time)
            SELECT '', '10.0.0.0'::inet + n, 'name ' || n, '', '/login', '', '', 1, now() - interval '20 minutes'
            FROM generate_series(1, %s) AS n""",
            [n_rows],
        )
    client.post("/login", WRONG_CREDENTIALS)
    assert AccessAttempt.objects.get(username="ada").failures_since_start == 1, (
        "failures before the end of the lock count"
    )
    assert client.post("/login", RIGHT_CREDENTIALS).status_code == 302
    assert AccessAttempt.objects.count() == n_rows
