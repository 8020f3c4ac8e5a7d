"""``/metrics``: sums over several processes, figures from rows, and the addresses that may read them."""

import asyncio
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.db import connection
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from games.accounts.principal import Principal
from games.live.rooms import room_create
from learning.services.runs import Stage, training_run_start
from learning.workers.jobs import claim_next, release
from learning.workers.runs import RUNS
from menace_site.asgi import application
from menace_site.local import servers
from menace_site.local.errors import ServerError
from menace_site.local.servers import BASE_DIR
from menace_site.observability import metrics
from menace_site.observability.metrics import BackupAgeCollector, ProcessCollector, SiteCollector, may_read_metrics
from menace_site.operations.backups import FILE_NAME_FORMAT
from menace_site.server.checks import check_settings
from tests.factories import expire_leases, machine
from tests.sockets import Socket
from tests.waiting import HANG_S, wait_until

COUNTS = """
import os, sys
from prometheus_client import Counter, Gauge, Histogram
kept, now, took = Counter("kept", "-"), Gauge("now", "-", multiprocess_mode="livesum"), Histogram("took", "-")
forked = os.fork()
kept.inc(3), now.set(5), took.observe(0.2)
# One write: two processes share the pipe, and what "print" writes in pieces is mixed.
os.write(1, b"%d\\n" % os.getpid())
sys.stdin.read()
"""


@pytest.fixture
def limit_submissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[int]]]:
    """Yield a function that starts a counting process and forks another from it, and returns their ids."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    started: list[subprocess.Popen[bytes]] = []

    def start() -> list[int]:
        process = subprocess.Popen([sys.executable, "-c", COUNTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None
        (forked,) = {int(process.stdout.readline()) for _ in range(2)} - {process.pid}
        return [process.pid, forked]

    yield start
    for process in started:
        process.communicate()


def read() -> dict[str, float]:
    """Return the sums over all processes."""
    samples = [sample for metric in ProcessCollector().collect() for sample in metric.samples]
    return {sample.name: sample.value for sample in samples if sample.name in ("kept_total", "now", "took_count")}


def test_counts_include_processes_that_have_ended(limit_submissions: Callable[[], list[int]]) -> None:
    parent, forked = limit_submissions()
    limit_submissions()
    assert read() == {"kept_total": 12, "now": 20, "took_count": 4}
    for pid in (parent, forked):
        os.kill(pid, 9)
    os.waitpid(parent, 0)
    assert wait_until(lambda: read()["now"] == 10)
    assert read() == {"kept_total": 12, "now": 10, "took_count": 4}


def test_metrics_are_stored_in_a_private_folder_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk kills a process that writes mapped files."""
    monkeypatch.setenv("METRICS_DIR", str(tmp_path / "chosen"))
    assert servers.metrics_dir(tmp_path) == tmp_path / "chosen"
    monkeypatch.delenv("METRICS_DIR")
    monkeypatch.setattr(servers, "SHARED_MEMORY", tmp_path)
    folder = servers.metrics_dir(tmp_path / "var")
    assert (folder.parent, folder.stat().st_mode & 0o777) == (tmp_path, 0o700)
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(ServerError):
        servers.metrics_dir(tmp_path / "var")
    monkeypatch.setattr(servers, "SHARED_MEMORY", tmp_path / "none")
    assert servers.metrics_dir(tmp_path / "var") == tmp_path / "var" / "metrics"


async def test_process_monitor_survives_errors(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(metrics, "_set_gauges", lambda: 1 / 0)
    monkeypatch.setattr(metrics, "GAUGE_INTERVAL_S", 0)
    watching = asyncio.create_task(metrics.gauges_update())
    async with asyncio.timeout(HANG_S):
        while len(caplog.records) < 2:
            await asyncio.sleep(0)
    assert not watching.done()
    watching.cancel()


@pytest.mark.parametrize(
    ("peer", "forwarded", "is_allowed"),
    [
        ("127.0.0.1", [], True),
        ("::1", [], True),
        ("::ffff:127.0.0.1", [], True),
        ("10.1.2.3", [], True),
        ("10.1.2.3", ["10.9.9.9"], True),
        ("203.0.113.5", [], False),
        ("::ffff:203.0.113.5", [], False),
        ("", [], False),
        ("unix:", [], False),
        # Clients that claim to be behind a proxy.
        ("203.0.113.5", ["127.0.0.1"], False),
        ("203.0.113.5", ["127.0.0.1, 10.1.2.3"], False),
        # Clients that claim to be local to a local proxy, which adds their address.
        ("127.0.0.1", ["127.0.0.1, 203.0.113.5"], False),
        ("127.0.0.1", ["127.0.0.1", "203.0.113.5"], False),
        ("127.0.0.1", ["203.0.113.5, 127.0.0.1"], False),
        ("127.0.0.1", ["unknown"], False),
        ("127.0.0.1", [""], False),
    ],
)
@pytest.mark.parametrize("n_proxies", [0, 1, 2])
def test_metrics_need_every_address_of_the_path_allowed(
    peer: str, forwarded: list[str], is_allowed: bool, n_proxies: int, settings: Any
) -> None:
    settings.NUM_PROXIES = n_proxies
    settings.METRICS_ADDRESSES = ["127.0.0.0/8", "::1", "10.0.0.0/8"]
    assert may_read_metrics(peer, forwarded) is is_allowed
    settings.METRICS_ADDRESSES = []
    assert not may_read_metrics(peer, forwarded)


@pytest.mark.parametrize(("networks", "errors"), [(["10.0.0.0/8", "::1"], []), (["everywhere"], ["beadbox.E006"])])
def test_an_invalid_address_is_reported_at_the_start(networks: list[str], errors: list[str], settings: Any) -> None:
    settings.METRICS_ADDRESSES = networks
    settings.LOCAL = False
    error_ids = [error.id for error in check_settings(None)]
    assert [one for one in error_ids if one == "beadbox.E006"] == errors
    assert may_read_metrics("10.1.2.3", []) is not bool(errors), (
        "with an invalid setting no address may read the metrics"
    )


@pytest.fixture
def allow_this_machine(settings: Any) -> None:
    """Permit metrics for this machine."""
    settings.METRICS_ADDRESSES = ["127.0.0.0/8"]


async def ask(
    *, peer: str = "127.0.0.1", method: str = "GET", headers: tuple[tuple[bytes, bytes], ...] = ()
) -> tuple[int, str]:
    scope = {"type": "http", "method": method, "path": "/metrics", "query_string": b"", "client": (peer, 1)}
    request = ApplicationCommunicator(application, scope | {"headers": list(headers)})
    await request.send_input({"type": "http.request"})
    start, body = await request.receive_output(), await request.receive_output()
    await request.wait()
    return start["status"], body["body"].decode()


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"peer": "203.0.113.5"}, 403),
        ({"peer": "203.0.113.5", "headers": ((b"x-forwarded-for", b"127.0.0.1"),)}, 403),
        ({"headers": ((b"forwarded", b"for=127.0.0.1"),)}, 403),
        ({"method": "POST"}, 405),
        # A collector may use any name of a machine.
        ({"headers": ((b"host", b"web:8000"),), "method": "HEAD"}, 200),
    ],
)
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("allow_this_machine")
async def test_metrics_are_refused_to_other_requests(asked: dict[str, Any], status: int) -> None:
    answered, body = await ask(**asked)
    assert answered == status
    assert "beadbox_" not in body


def value_of(name: str, **labels: str) -> float:
    """Return a metric of this process."""
    return REGISTRY.get_sample_value(name, labels) or 0


@pytest.mark.django_db(transaction=True)
async def test_matches_and_refusals_are_counted() -> None:
    names = ("move_seconds_count", "plies_total", "matches_begun_total")

    def counted() -> list[float]:
        return [
            *(value_of(f"beadbox_{name}") for name in names),
            value_of("beadbox_matches_ended_total", termination="resignation"),
            value_of("beadbox_refusals_total", where="socket", code="malformed_frame"),
            value_of("beadbox_sockets"),
        ]

    before = counted()
    seated = await database_sync_to_async(room_create)(
        person=Principal(), game="noughts-and-crosses", opponent="random", side=0
    )
    async with Socket(seated.room.code, seated.token) as socket:
        await socket.expect("joined")
        await socket.frame("move", {"move": "5"})
        await socket.expect("state")
        await socket.send_to(text_data="no JSON")
        await socket.expect("error")
        assert counted()[-1] == before[-1] + 1
        await socket.frame("resign")
        await socket.expect("state")
    assert [after - then for after, then in zip(counted(), before, strict=True)] == [1, 2, 1, 1, 1, 0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("allow_this_machine")
async def test_queues_and_sizes_are_counted_from_rows(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    @database_sync_to_async
    def prepared() -> None:
        training_run_start(machine=machine().slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
        room_create(person=Principal(), game="noughts-and-crosses", opponent="human", side=0)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE learning_machine")

    async def samples_by_name() -> dict[tuple[str, ...], float]:
        status, text = await ask()
        assert status == 200
        families = text_string_to_metric_families(text)
        samples = [sample for family in families for sample in family.samples]
        return {(sample.name, *sample.labels.values()): sample.value for sample in samples}

    await prepared()
    samples = await samples_by_name()
    expected = {
        ("database_up",): 1,
        ("broker_up",): 1,
        ("jobs_waiting", "runs"): 1,
        ("jobs_running", "runs"): 0,
        ("jobs_waiting", "pairings"): 0,
        ("matches_open", "waiting"): 1,
        ("rows", "learning_machine"): 1,
        ("queue_length", "default"): 0,
    }
    assert {(name, *labels): samples[f"beadbox_{name}", *labels] for name, *labels in expected} == expected
    assert samples[("beadbox_jobs_oldest_wait_seconds", "runs")] > 0
    assert samples[("beadbox_database_bytes",)] > 1e6
    assert samples[("beadbox_site_full",)] == 0
    settings.DATABASE_BYTES_MOST = 1
    samples = await samples_by_name()
    waiting = [samples["beadbox_jobs_waiting", "runs"], samples["beadbox_jobs_oldest_wait_seconds", "runs"]]
    assert (samples[("beadbox_site_full",)], waiting) == (1, [0, 0]), (
        "the run waits for space on the site, not for a worker"
    )

    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    monkeypatch.setitem(connection.settings_dict, "HOST", "/nowhere")
    samples = await samples_by_name()
    assert (samples[("beadbox_database_up",)], samples[("beadbox_broker_up",)]) == (0, 0)
    assert ("beadbox_plies_total",) in samples
    assert not [key for key in samples if key[0].startswith(("beadbox_jobs_waiting", "beadbox_queue"))]


def test_age_of_the_latest_backup_is_a_metric(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def ages() -> list[float]:
        return [sample.value for family in BackupAgeCollector().collect() for sample in family.samples]

    settings.BACKUP_DIR = ""
    assert ages() == []
    settings.BACKUP_DIR = str(tmp_path / "no folder yet")
    assert ages() == [math.inf]
    settings.BACKUP_DIR = str(tmp_path)
    for hours in (30, 3, -5):  # the last by a wrong clock
        (tmp_path / (datetime.now(UTC) - timedelta(hours=hours)).strftime(FILE_NAME_FORMAT)).touch()
    (tmp_path / "beadbox-20260230T000000Z.dump").touch()
    assert ages() == [pytest.approx(3 * 3600, abs=60)]

    def broken(_: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(metrics, "latest_backup_age", broken)
    assert ages() == [math.inf], "the other figures are reported despite the error"


@pytest.mark.django_db
def test_expired_lease_is_counted_once_and_a_returned_one_not() -> None:
    run = training_run_start(machine=machine().slug, stages=[Stage("random", 10)], seed=1, enqueue=False)
    before = value_of("beadbox_leases_lost_total"), value_of("beadbox_turns_total", kind="runs")
    for _ in range(2):
        claim = claim_next([RUNS])
        assert claim is not None
        release(claim[1])
    claim_next([RUNS])
    assert value_of("beadbox_leases_lost_total") == before[0]
    expire_leases(run)
    assert claim_next([RUNS]) is not None
    assert value_of("beadbox_leases_lost_total") == before[0] + 1
    assert value_of("beadbox_turns_total", kind="runs") == before[1] + 4


@pytest.mark.django_db
def test_rules_and_dashboard_use_existing_metrics() -> None:
    monitoring = BASE_DIR / "docs" / "monitoring"
    rules = [
        rule for group in yaml.safe_load((monitoring / "alerts.yml").read_text())["groups"] for rule in group["rules"]
    ]
    panels = json.loads((monitoring / "dashboard.json").read_text())["panels"]
    expressions = [rule["expr"] for rule in rules] + [one["expr"] for panel in panels for one in panel["targets"]]
    names = {name for text in expressions for name in re.findall(r"beadbox_\w+", text)}
    families = [*REGISTRY.collect(), *BackupAgeCollector().collect(), *SiteCollector().collect()]
    # Queries name a histogram's buckets or count; a metric with labels has no sample before the first event.
    existing = {
        name for one in families for name in (one.name, f"{one.name}_total", f"{one.name}_bucket", f"{one.name}_count")
    }
    assert names <= existing
    assert len(rules) == 12
    page = (BASE_DIR / "docs" / "operating.md").read_text()
    for rule in rules:
        assert {"summary", "reason", "action"} <= set(rule["annotations"])
        assert f"### {rule['alert']}\n" in page
        assert rule["annotations"]["action"] == f"docs/operating.md#{rule['alert'].lower()}"
