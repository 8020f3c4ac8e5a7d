"""The production services, as far as the compose file can be tested without Docker."""

import os
import re
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import override_settings

from beadbox.learners.boxes.population import MAX_THREADS
from learning.workers.runs import LEASE_S
from menace_site.local.servers import BASE_DIR, IDLE_IN_TRANSACTION_TIMEOUT
from menace_site.management.commands import set_up
from tests.hosts.compose import FILE, Compose
from tests.site.test_settings import SAFE_ENV, read_settings

COMPOSE_TEXT = (BASE_DIR / FILE).read_text()
COMPOSE: dict[str, Any] = yaml.safe_load(COMPOSE_TEXT)
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ONE_TIME_SERVICES = {"migrate", "proxy-owner"}
IMAGE = "beadbox:${RELEASE:-latest}"
PROCESS_MB = {"web": 176 + 170, "worker": 150}
"""Measured MB of a process by PSS, its share of shared memory included. A web process has a helper."""
PARENT_MB = 150
N_THREADS = {"web": 40 + 8 + MAX_THREADS, "worker": 8 + MAX_THREADS}
"""Maximum threads of a process and its helper."""
SITE_SERVICES = {"migrate", "web", "worker", "clerk", "beat"}


def test_services_are_complete_and_have_health_checks() -> None:
    assert set(SERVICES) == {"postgres", "redis", "migrate", "web", "worker", "clerk", "beat", "proxy", "proxy-owner"}
    assert {name for name, service in SERVICES.items() if "healthcheck" not in service} == ONE_TIME_SERVICES


@pytest.mark.parametrize("name", SERVICES)
def test_containers_have_limits_and_no_root(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "/tmp" in service["tmpfs"]
    assert {"mem_limit", "pids_limit", "user"} <= set(service)
    assert set(service["logging"]["options"]) == {"max-size", "max-file"}
    assert not {"privileged", "pid", "ipc"} & set(service)
    if str(service["user"]).partition(":")[0] in {"0", "root"}:  # only changes a folder's owner, and has no network
        assert (name, service["network_mode"], service["cap_add"]) == (
            "proxy-owner",
            "none",
            ["CHOWN", "DAC_READ_SEARCH"],
        )


@pytest.mark.parametrize("name", SERVICES)
def test_lasting_services_restart_with_their_host(name: str) -> None:
    assert SERVICES[name]["restart"] == ("no" if name in ONE_TIME_SERVICES else "unless-stopped")


def mount_sources(name: str) -> list[str]:
    """Return a service's mounts: names of volumes, or paths of this folder, which begin with a dot."""
    return [mount.partition(":")[0] for mount in SERVICES[name].get("volumes", [])]


def test_stored_data_is_on_named_volumes() -> None:
    volumes = {name: {mount for mount in mount_sources(name) if not mount.startswith(".")} for name in SERVICES}
    assert all("kernels" in volumes[name] for name in SITE_SERVICES)
    assert (volumes["postgres"], volumes["redis"], volumes["proxy"]) == ({"postgres"}, {"redis"}, {"caddy"})
    assert set(COMPOSE["volumes"]) == set().union(*volumes.values())


@pytest.mark.parametrize("name", SERVICES)
def test_folders_in_memory_belong_to_their_writer(name: str) -> None:
    """Docker mounts them with root as owner, so no other user could write without these options."""
    public = {"/tmp", "/var/run/postgresql"}  # of mode 1777 and 3777
    options = {mount.partition(":")[2] for mount in SERVICES[name]["tmpfs"] if mount not in public}
    owner = "uid={},gid={},mode=0755".format(*str(SERVICES[name]["user"]).split(":")) if options else ""
    assert options <= {owner}


def test_release_is_set_up_in_a_read_only_container(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Static files are collected in the image, since the container of a release may write only to ``/tmp``."""
    commands: list[str] = []
    monkeypatch.setattr(set_up, "call_command", lambda name, **_: commands.append(name))
    monkeypatch.setattr(set_up, "run_in_parallel", lambda function: nullcontext(function()))
    for is_local in (False, True):
        with override_settings(LOCAL=is_local):
            call_command("set_up")
    assert SERVICES["migrate"]["tmpfs"] == ["/tmp"]
    assert "collectstatic" in SERVICES["migrate"]["build"]["dockerfile_inline"]
    assert commands == ["migrate", "warm_kernels", "pretrain", "collectstatic", "migrate", "pretrain"]


def test_images_are_of_an_exact_version() -> None:
    recipe: str = SERVICES["web"]["build"]["dockerfile_inline"]
    others = {service["image"] for service in SERVICES.values()} - {IMAGE}
    images = [*others, *re.findall(r"^FROM (\S+)", recipe, re.MULTILINE)]
    assert len(images) == 4
    assert [image for image in images if not re.search(r":\d+\.\d+(\.\d+)?(-|$)", image)] == []


def test_database_drops_vanished_hosts_before_a_lease_ends() -> None:
    words = dict(word.removeprefix("-c").split("=") for word in SERVICES["postgres"]["command"][1:])
    idle, interval, count = (int(words[f"tcp_keepalives_{name}"]) for name in ("idle", "interval", "count"))
    assert idle + interval * count < LEASE_S
    assert int(words["tcp_user_timeout"]) < LEASE_S * 1000
    assert words["idle_in_transaction_session_timeout"] == IDLE_IN_TRANSACTION_TIMEOUT


def test_optional_settings_reach_the_containers() -> None:
    needed = {"SITE": "beads.example", "SECRET_KEY": "secret", "POSTGRES_PASSWORD": "beads"}
    chosen = {"SENTRY_DSN": "https://key@errors.example/7", "LOG_LEVEL": "WARNING", "BACKUPS_KEPT": "30"}
    worker_environment = Compose(needed | chosen).environment("worker")
    assert {name: worker_environment[name] for name in chosen} == chosen
    worker_environment = Compose(needed).environment("worker")
    assert [worker_environment[name] for name in chosen] == ["", "INFO", "7"]


@pytest.mark.parametrize("service", sorted(SITE_SERVICES))
def test_other_settings_reach_the_containers_by_a_file(service: str, tmp_path: Path) -> None:
    """The file ``settings.env`` need not exist."""
    needed = {"SITE": "beads.example", "SECRET_KEY": "secret", "POSTGRES_PASSWORD": "beads"}
    shutil.copy(BASE_DIR / FILE, tmp_path)
    before = Compose(needed, tmp_path).environment(service)
    (tmp_path / "settings.env").write_text("# Half a disk\n\nDATABASE_BYTES_MOST=2\nSECRET_KEY=other\n")
    assert Compose(needed, tmp_path).environment(service) == before | {"DATABASE_BYTES_MOST": "2"}
    (path,) = SERVICES[service]["env_file"]
    assert path == {"path": "settings.env", "required": False}


def test_only_the_proxy_has_ports_so_that_the_others_scale() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert not any("container_name" in service for service in SERVICES.values())


@pytest.mark.parametrize("secret", ["SECRET_KEY", "POSTGRES_PASSWORD", "SITE"])
def test_secrets_come_from_the_environment_and_have_no_default(secret: str) -> None:
    uses = re.findall(rf"\${{{secret}([^}}]*)}}", COMPOSE_TEXT)
    assert uses
    assert any(use.startswith(":?") for use in uses)
    assert not any(use.startswith((":-", "-")) for use in uses)


def test_redis_is_durable_and_evicts_nothing() -> None:
    words = SERVICES["redis"]["command"]
    assert words[words.index("--appendonly") + 1] == "yes"
    assert words[words.index("--maxmemory-policy") + 1] == "noeviction"


def program_arguments(service: str, n_cores: int, folder: Path) -> list[str]:
    """Return the command line with which a container's shell starts its program on a host with ``n_cores`` cores."""
    for name, does in (("nproc", f"echo {n_cores}"), ("python", "printf '%s\\n' \"$@\"")):
        (folder / name).write_text(f"#!/bin/sh\n{does}\n")
        (folder / name).chmod(0o755)
    compose = Compose({"SITE": "beads.example", "SECRET_KEY": "secret", "POSTGRES_PASSWORD": "beads"})
    environment = {**compose.environment(service), "PATH": f"{folder}:{os.environ['PATH']}"}
    process = subprocess.run(compose.command(service), env=environment, check=True, capture_output=True, text=True)
    return process.stdout.split()


@pytest.mark.parametrize(("n_cores", "n_processes"), [(1, 1), (8, 8), (32, 8), (256, 8)])
def test_containers_stay_within_limits_for_any_number_of_cores(n_cores: int, n_processes: int, tmp_path: Path) -> None:
    words = {name: program_arguments(name, n_cores, tmp_path) for name in ("web", "worker")}
    assert words["web"][words["web"].index("--workers") + 1] == str(n_processes)
    assert words["worker"][words["worker"].index("--concurrency") + 1] == str(n_processes)
    for name, each_mb in PROCESS_MB.items():
        limit_mb = 1024 * int(SERVICES[name]["mem_limit"].removesuffix("g"))
        assert n_processes * each_mb + PARENT_MB < 0.8 * limit_mb
        assert n_processes * N_THREADS[name] < 0.8 * SERVICES[name]["pids_limit"]


def test_the_database_has_connections_for_all_processes() -> None:
    scale = {name: int(number) for name, number in re.findall(r"--scale (\w+)=(\d+)", COMPOSE_TEXT)}
    compose = Compose({"SITE": "beads.example", "SECRET_KEY": "secret", "POSTGRES_PASSWORD": "beads"})
    web, worker = (int(compose.environment(name)[f"{name.upper()}_PROCESSES"]) for name in ("web", "worker"))
    site = read_settings("DATABASES", **SAFE_ENV, BEADBOX_DB_POOL="1")["DATABASES"]
    pool: int = site["default"]["OPTIONS"]["pool"]["max_size"]  # type: ignore[index]
    others = 8  # of the maintenance worker, the scheduler, a back-up and a release
    n_connections = scale["web"] * web * (pool + 1) + scale["worker"] * (worker + 1) + others
    words = dict(word.removeprefix("-c").split("=") for word in SERVICES["postgres"]["command"][1:])
    reserved = 3  # superuser_reserved_connections
    assert 2 * n_connections < int(words["max_connections"]) - reserved, "and for twice as many containers"


def test_image_backs_up_with_programs_of_the_database_version() -> None:
    recipe: str = SERVICES["web"]["build"]["dockerfile_inline"]
    (locks,) = re.findall(r"^COPY (requirements\.txt .*) \./$", recipe, re.MULTILINE)
    for lock in locks.split():
        assert f"--requirement {Path(lock).name}" in recipe
    server = SERVICES["postgres"]["image"].removeprefix("postgres:")
    assert f"\nembedded-postgres=={server}." in (BASE_DIR / locks.split()[1]).read_text()
