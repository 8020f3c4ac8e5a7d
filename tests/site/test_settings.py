"""Production refuses unsafe settings; a local run needs none."""

import json
import multiprocessing
import os
import re
import runpy
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from menace_site.local import servers
from menace_site.local.addresses import default_hosts
from menace_site.server.checks import REMOVED_SETTINGS
from tests.waiting import HANG_S

SAFE_ENV = {
    "SECRET_KEY": "k1-" + "abcdefghijklmnopqrstuvwxyz0123456789" * 2,
    "ALLOWED_HOSTS": "beads.example",
    "DATABASE_URL": "postgres://app@db.example/app",
    "REDIS_URL": "redis://redis.example/0",
    "SITE_URL": "https://beads.example",
}


PRELOADED_MODULES = ["celery", "django.core.management.commands.check", "beadbox.learners.built_in", "reportlab"]
"""Slow imports that read no setting: one process does them, and each case is forked from it."""
multiprocessing.set_forkserver_preload(PRELOADED_MODULES)


def django(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Django in a new process, with only the given environment."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "NUMBA_CACHE_DIR") if name in os.environ}
    env = {**inherited, "DJANGO_SETTINGS_MODULE": "menace_site.settings", **environment}
    with tempfile.TemporaryDirectory() as folder:
        output_files = [Path(folder, name) for name in ("stdout", "stderr")]
        process = multiprocessing.get_context("forkserver").Process(
            target=run_forked, args=(command, env, output_files)
        )
        process.start()
        process.join(HANG_S)
        assert process.exitcode is not None, "the process hangs"
        return subprocess.CompletedProcess(command, process.exitcode, *(file.read_text() for file in output_files))


def run_forked(command: tuple[str, ...], env: dict[str, str], said: list[Path]) -> None:
    """Run this command line of Python in a forked process."""
    for number, file in enumerate(said, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(servers.BASE_DIR)
    sys.argv = list(command)
    if command[0] == "-c":
        exec(command[1], {"__name__": "__main__"})
    else:
        runpy.run_path(command[0], run_name="__main__")


def deploy_check(**environment: str) -> subprocess.CompletedProcess[str]:
    return django("manage.py", "check", "--deploy", "--fail-level", "WARNING", **environment)


def setting_faults(**environment: str) -> list[str]:
    """Return the errors that the site's own check finds in settings; Django's apps are not loaded."""
    code = """
from django.core.checks import ERROR
from menace_site.server.checks import check_settings
print(*(str(one).replace("\\n", " ") for one in check_settings(None) if one.level >= ERROR), sep="\\n", end="")
"""
    process = django("-c", code, **environment)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def read_settings(*names: str, **environment: str) -> dict[str, object]:
    code = f"""
import json
from django.conf import settings
print(json.dumps({{name: getattr(settings, name) for name in {names!r}}}, default=str))
"""
    process = django("-c", code, **environment)
    assert process.returncode == 0, process.stderr
    values: dict[str, object] = json.loads(process.stdout)
    return values


def test_safe_settings_pass_every_deployment_check() -> None:
    process = deploy_check(**SAFE_ENV)
    assert process.returncode == 0, process.stderr
    assert "no issues" in process.stdout


@pytest.mark.parametrize("local", [{}, {"BEADBOX_LOCAL": "1"}])
def test_removed_setting_is_named_with_its_replacement(local: dict[str, str]) -> None:
    process = django("manage.py", "check", **SAFE_ENV, **local, THROTTLE_SEAT="9/min", AI_THREADS="2")
    assert process.returncode == 0
    assert "THROTTLE_SEAT is set, and the site no longer reads it" in process.stderr
    assert "Set THROTTLE_ROOM instead" in process.stderr
    assert "AI_THREADS is set" in process.stderr
    settings_read = re.findall(r'env\.\w+\("(\w+)"', (servers.BASE_DIR / "menace_site" / "settings.py").read_text())
    assert len(settings_read) > 50
    assert not {name for names in REMOVED_SETTINGS.values() for name in names} & set(settings_read)


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
        ({"SITE_URL": "", "EMAIL_URL": "smtp+tls://mail.example"}, "beadbox.E008"),
        ({"SITE_URL": "beads.example"}, "beadbox.E008"),
        ({"SITE_URL": "http://beads.example"}, "beadbox.E008"),
        ({"SITE_URL": "https://beads.example/beads"}, "beadbox.E008"),
        ({"SITE_URL": "https://beads.example:port"}, "beadbox.E008"),
        ({"SITE_URL": "https://elsewhere.example"}, "beadbox.E008"),
        ({"SITE_URL": "https://beads.example?"}, "beadbox.E008"),
        ({"SITE_URL": "https://beads.example#"}, "beadbox.E008"),
        ({"SITE_URL": "https://beads.example:"}, "beadbox.E008"),
        ({"SITE_URL": "https://*.beads.example"}, "beadbox.E008"),
        ({"SITE_URL": "https://.beads.example"}, "beadbox.E008"),
        ({"SITE_URL": "https://beads example"}, "beadbox.E008"),
    ],
)
def test_an_unsafe_setting_is_an_error_that_names_it(unsafe: dict[str, str], check_id: str) -> None:
    [fault] = setting_faults(**{**SAFE_ENV, **unsafe})
    assert check_id in fault
    assert next(iter(unsafe)) in fault


def test_error_fails_the_deployment_check() -> None:
    process = deploy_check(**{**SAFE_ENV, "SECRET_KEY": "short"})
    assert process.returncode != 0
    assert "beadbox.E001" in process.stderr


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
def test_mail_server_needs_tls_loopback_or_an_explicit_choice(way: dict[str, str]) -> None:
    assert setting_faults(**SAFE_ENV, **way) == []


@pytest.mark.parametrize(
    ("environment", "is_fine"),
    [
        ({}, True),
        ({"EMAIL_URL": "smtp+tls://mail.example"}, False),
        ({"EMAIL_URL": "smtp+tls://mail.example", "SITE_URL": "http://localhost:8000"}, True),
        ({"SITE_URL": "localhost:8000"}, False),
        ({"METRICS_ADDRESSES": "prometheus.local"}, False),
    ],
)
def test_local_run_that_sends_mail_needs_its_site_url(
    environment: dict[str, str], is_fine: bool, tmp_path: Path
) -> None:
    assert (setting_faults(BEADBOX_LOCAL="1", BEADBOX_VAR=str(tmp_path), **environment) == []) == is_fine


def test_trusted_origin_of_forms_is_the_site_url() -> None:
    assert read_settings("CSRF_TRUSTED_ORIGINS", **SAFE_ENV) == {"CSRF_TRUSTED_ORIGINS": ["https://beads.example"]}
    assert read_settings("CSRF_TRUSTED_ORIGINS", **SAFE_ENV | {"SITE_URL": ""}) == {"CSRF_TRUSTED_ORIGINS": []}


def test_metrics_are_refused_by_default(tmp_path: Path) -> None:
    for environment in (SAFE_ENV, {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}):
        assert read_settings("METRICS_ADDRESSES", **environment) == {"METRICS_ADDRESSES": []}


def test_mail_is_not_sent_before_a_mail_server_is_set(tmp_path: Path) -> None:
    assert read_settings("EMAIL_BACKEND", **SAFE_ENV) == {
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"
    }
    local = {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}
    assert read_settings("EMAIL_BACKEND", **local) == {
        "EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"
    }


def test_a_site_without_a_second_factor_starts_with_a_warning() -> None:
    process = deploy_check(**SAFE_ENV, STAFF_SECOND_FACTOR="0")
    assert process.returncode == 0, process.stderr
    assert "beadbox.I001" in process.stderr


def test_production_is_secure_and_a_local_run_is_plain_http(tmp_path: Path) -> None:
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "DEBUG")
    assert read_settings(*names, **SAFE_ENV) == dict(zip(names, (True, True, True, False), strict=True))
    local = {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}
    assert read_settings(*names, **local) == dict.fromkeys(names, False)


def test_local_run_keeps_its_generated_secret_key(tmp_path: Path) -> None:
    local = {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}
    first = read_settings("SECRET_KEY", **local)
    assert read_settings("SECRET_KEY", **local) == first
    assert len(str(first["SECRET_KEY"])) >= 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600


def test_urls_locate_data_and_only_web_processes_pool() -> None:
    environment = {**SAFE_ENV, "DATABASE_URL": "postgres://app:word@db.example:6543/beads?sslmode=require"}
    database = read_settings("DATABASES", **environment)["DATABASES"]["default"]  # type: ignore[index]
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", 6543, "beads")
    options = {"sslmode": "require", "server_side_binding": True, "prepare_threshold": 5}
    vanished = {"keepalives_idle": 5, "keepalives_interval": 2, "keepalives_count": 3, "tcp_user_timeout": 10_000}
    options |= {**vanished, "connect_timeout": 5}
    assert database["OPTIONS"] == options
    pooled = read_settings("DATABASES", **environment, BEADBOX_DB_POOL="1")["DATABASES"]["default"]  # type: ignore[index]
    pool = pooled["OPTIONS"].pop("pool")
    assert pooled["OPTIONS"] == options
    assert (pool["min_size"], pool["max_size"], pool["reconnect_timeout"]) == (2, 6, 0.25)
    assert "ConnectionPool.check" in pool["reconnect_failed"]
    assert pooled["CONN_MAX_AGE"] == 0


def test_unix_socket_urls_are_spelt_for_each_client() -> None:
    values = read_settings(
        "CELERY_BROKER_URL", "REDIS_URL", **{**SAFE_ENV, "REDIS_URL": "unix:///run/valkey.sock?db=3"}
    )
    assert values["CELERY_BROKER_URL"] == "redis+socket:///run/valkey.sock?virtual_host=3"
    assert read_settings("CELERY_BROKER_URL", **SAFE_ENV)["CELERY_BROKER_URL"] == SAFE_ENV["REDIS_URL"]


LIST_SETTINGS = (
    "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS",
    "SECRET_KEY_FALLBACKS",
    "METRICS_ADDRESSES",
    "AI_CORS_ORIGINS",
)


def test_lists_of_the_environment_have_no_blanks_or_empties() -> None:
    environment = dict.fromkeys(LIST_SETTINGS, " one , two.example,, ,")
    assert read_settings(*LIST_SETTINGS, **{**SAFE_ENV, **environment}) == {
        name: ["one", "two.example"] for name in LIST_SETTINGS
    }


def test_impossible_allowed_host_is_refused_by_name() -> None:
    process = deploy_check(**{**SAFE_ENV, "ALLOWED_HOSTS": "beadbox.example, https://beadbox.example"})
    assert process.returncode != 0
    assert "ImproperlyConfigured: ALLOWED_HOSTS has 'https://beadbox.example'" in process.stderr


def test_open_bind_allows_the_addresses_of_this_computer(tmp_path: Path) -> None:
    local = {"BEADBOX_LOCAL": "1", "BEADBOX_VAR": str(tmp_path)}
    assert read_settings("ALLOWED_HOSTS", **local) == {"ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"]}
    assert read_settings("ALLOWED_HOSTS", **local, BIND="0.0.0.0") == {"ALLOWED_HOSTS": default_hosts("0.0.0.0")}
    assert read_settings("ALLOWED_HOSTS", **local, BIND="::", ALLOWED_HOSTS="a.example") == {
        "ALLOWED_HOSTS": ["a.example"]
    }


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [False, False]),
        ({"HSTS_INCLUDE_SUBDOMAINS": "true"}, [True, False]),
        ({"HSTS_INCLUDE_SUBDOMAINS": "true", "HSTS_PRELOAD": "true"}, [True, True]),
    ],
)
def test_scope_of_strict_transport_security_is_a_setting(environment: dict[str, str], expected: list[bool]) -> None:
    names = ("SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_HSTS_PRELOAD")
    assert list(read_settings(*names, **SAFE_ENV, **environment).values()) == expected
