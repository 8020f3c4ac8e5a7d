"""Production refuses to be unsafe; a local run needs nothing."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from menace_site import servers

SAFE = {
    "SECRET_KEY": "k1-" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2,
    "ALLOWED_HOSTS": "beadbox.example",
    "DATABASE_URL": "postgres://app@db.example/app",
    "REDIS_URL": "redis://redis.example/0",
}


def django(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Django in a process of its own, with nothing in the environment but what is given."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "NUMBA_CACHE_DIR") if name in os.environ}
    return subprocess.run(
        [sys.executable, *command],
        cwd=servers.BASE_DIR,
        env={**kept, "DJANGO_SETTINGS_MODULE": "menace_site.settings", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def deploy_check(**environment: str) -> subprocess.CompletedProcess[str]:
    return django("manage.py", "check", "--deploy", "--fail-level", "WARNING", **environment)


def setting(*names: str, **environment: str) -> dict[str, object]:
    code = f"""
import json
from django.conf import settings
print(json.dumps({{name: getattr(settings, name) for name in {names!r}}}, default=str))
"""
    done = django("-c", code, **environment)
    assert done.returncode == 0, done.stderr
    values: dict[str, object] = json.loads(done.stdout)
    return values


def test_a_safe_site_passes_every_check_for_deployment() -> None:
    done = deploy_check(**SAFE)
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize(
    ("unsafe", "check_id"),
    [
        ({"SECRET_KEY": ""}, "beadbox.E001"),
        ({"SECRET_KEY": "short"}, "beadbox.E001"),
        ({"SECRET_KEY": "a" * 60}, "beadbox.E001"),
        ({"ALLOWED_HOSTS": ""}, "beadbox.E002"),
        ({"ALLOWED_HOSTS": "*"}, "beadbox.E002"),
        ({"DEBUG": "1"}, "beadbox.E003"),
        ({"DATABASE_URL": ""}, "beadbox.E004"),
        ({"REDIS_URL": ""}, "beadbox.E005"),
        ({"EMAIL_URL": "consolemail://"}, "beadbox.E007"),
        ({"EMAIL_URL": "filemail:///tmp/letters"}, "beadbox.E007"),
        ({"EMAIL_URL": "smtp://mail.example"}, "beadbox.E007"),
        ({"EMAIL_URL": "smtp://localhost.example"}, "beadbox.E007"),
    ],
)
def test_an_unsafe_setting_is_an_error_that_names_it(unsafe: dict[str, str], check_id: str) -> None:
    done = deploy_check(**{**SAFE, **unsafe})
    assert done.returncode != 0
    assert check_id in done.stderr
    assert next(iter(unsafe)) in done.stderr
    assert done.stderr.count("beadbox.") == 1


@pytest.mark.parametrize(
    "way",
    [
        {"EMAIL_URL": "smtp+tls://user:word@mail.example:587"},
        {"EMAIL_URL": "smtp+ssl://user:word@mail.example:465"},
        {"EMAIL_URL": "smtp://localhost"},
        {"EMAIL_URL": "smtp://127.0.0.1:25"},
        {"EMAIL_URL": "smtp://relay:25", "EMAIL_WITHOUT_TLS": "1"},
    ],
)
def test_letters_go_out_by_tls_or_to_this_machine_or_as_somebody_has_said(way: dict[str, str]) -> None:
    done = deploy_check(**SAFE, **way)
    assert done.returncode == 0, done.stderr


def test_no_letter_is_sent_or_shown_until_it_is_said_by_whom(tmp_path: Path) -> None:
    assert setting("EMAIL_BACKEND", **SAFE) == {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    local = {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}
    assert setting("EMAIL_BACKEND", **local) == {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}


def test_a_site_without_a_second_factor_starts_and_is_told_of_it() -> None:
    done = deploy_check(**SAFE, STAFF_SECOND_FACTOR="0")
    assert done.returncode == 0, done.stderr
    assert "beadbox.I001" in done.stderr


def test_production_is_secure_and_a_local_run_is_plain_http(tmp_path: Path) -> None:
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "DEBUG")
    assert setting(*names, **SAFE) == dict(zip(names, (True, True, True, False), strict=True))
    local = {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}
    assert setting(*names, **local) == dict.fromkeys(names, False)


def test_a_local_run_keeps_the_secret_key_it_made(tmp_path: Path) -> None:
    local = {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}
    first = setting("SECRET_KEY", **local)
    assert setting("SECRET_KEY", **local) == first
    assert len(str(first["SECRET_KEY"])) >= 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_urls_decide_where_data_lives_and_only_web_processes_pool() -> None:
    given = {**SAFE, "DATABASE_URL": "postgres://app:word@db.example:6543/beads?sslmode=require"}
    database = setting("DATABASES", **given)["DATABASES"]["default"]  # type: ignore[index]
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", 6543, "beads")
    options = {"sslmode": "require", "server_side_binding": True, "prepare_threshold": 5}
    vanished = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}
    options |= {**vanished, "connect_timeout": 5}
    assert database["OPTIONS"] == options
    pooled = setting("DATABASES", **given, BEADBOX_DB_POOL="1")["DATABASES"]["default"]  # type: ignore[index]
    pool = pooled["OPTIONS"].pop("pool")
    assert pooled["OPTIONS"] == options
    assert (pool["min_size"], pool["max_size"], pool["reconnect_timeout"]) == (2, 6, 5)
    assert "ConnectionPool.check" in pool["reconnect_failed"]
    assert pooled["CONN_MAX_AGE"] == 0


def test_unix_sockets_are_spelt_as_each_client_wants_them() -> None:
    values = setting("CELERY_BROKER_URL", "REDIS_URL", **{**SAFE, "REDIS_URL": "unix:///run/valkey.sock?db=3"})
    assert values["CELERY_BROKER_URL"] == "redis+socket:///run/valkey.sock?virtual_host=3"
    assert setting("CELERY_BROKER_URL", **SAFE)["CELERY_BROKER_URL"] == SAFE["REDIS_URL"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [True, True]),
        ({"HSTS_INCLUDE_SUBDOMAINS": "false"}, [False, False]),
        ({"HSTS_PRELOAD": "false"}, [True, False]),
    ],
)
def test_what_strict_transport_binds_can_be_chosen(environment: dict[str, str], expected: list[bool]) -> None:
    names = ("SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD")
    assert list(setting(*names, **SAFE, **environment).values()) == expected


@pytest.mark.parametrize(("value", "first"), [("on", "OpenEndpoints"), ("off", "BodyLimit")])
def test_advice_can_go_the_way_of_every_other_request(value: str, first: str) -> None:
    code = "from menace_site.asgi import http; print(type(http).__name__)"
    done = django("-c", code, **SAFE, AI_SHORT_ROAD=value)
    assert done.stdout.split() == [first], done.stderr
