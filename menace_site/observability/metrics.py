"""``/metrics`` in Prometheus' text format: counts of this machine's processes, and figures from database and broker.

The endpoint answers before Django: Prometheus uses a container's own address without TLS, and needs an answer while all
of Django's threads are busy. ``METRICS_ADDRESSES`` must contain *every* address of a request: the address of the peer,
and each address in X-Forwarded-For. So a forged header cannot give access.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import psycopg
import redis
from django.conf import settings
from django.db import connection
from prometheus_client import CONTENT_TYPE_LATEST, Gauge, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from beadbox.learners.readiness import games_compiling, kernels_compiling
from games.exceptions import method_not_allowed_text
from games.limits.addresses import parse_address
from games.limits.admission import ADMISSION
from games.limits.quotas import LIMIT_SETTINGS, SITE_COUNTS_SQL
from games.models import MatchStatus
from learning.tasks import KINDS
from learning.workers.runs import RUNS
from menace_site.operations.backups import latest_backup_age
from menace_site.server.boundary import Application, Receive, Scope, Send, send_refusal

logger = logging.getLogger("menace_site.metrics")

GAUGE_INTERVAL_S = 2
"""Seconds between two updates of the gauges of a web process."""
METRICS_REFUSAL_TEXT = "Figures are told to those who look after the site."
ANSWER_TIMEOUT_S = 2
"""Seconds after which a silent database or broker counts as down."""
# A pairing stores no time. It waits since the creation of its tournament.
WAIT_START_SQL = {"pairings": "(SELECT created_at FROM learning_tournament WHERE id = tournament_id)"}
JOB_SQL = """
    SELECT '{kind}' AS kind, status = 'queued' OR lease_until < now() AS waits,
        coalesce(lease_until, {since}) AS since
    FROM {table} WHERE status IN ('queued', 'running')"""
FIGURES_SQL = """
    WITH job AS ({jobs})
    SELECT 'waiting' AS what, kind AS label, count(*)::float8 FROM job WHERE waits GROUP BY kind
    UNION ALL SELECT 'running', kind, count(*) FROM job WHERE NOT waits GROUP BY kind
    UNION ALL SELECT 'oldest', kind, extract(epoch FROM now() - min(since)) FROM job WHERE waits GROUP BY kind
    UNION ALL SELECT 'served', kind, extract(epoch FROM now() - max(last_at)) FROM learning_turn GROUP BY kind
    UNION ALL SELECT 'matches', status, count(*) FROM games_room
        JOIN games_match ON room_id = games_room.id AND status <> 'finished'
        WHERE changed_at > now() - interval '1 hour' GROUP BY status
    UNION ALL SELECT 'rows', relname, greatest(reltuples, 0) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
    UNION ALL SELECT 'bytes', '', pg_database_size(current_database())"""
"""Query for open jobs, open matches of the last hour, and sizes from PostgreSQL's catalogue.

Each row is a quantity, a label and a value.
"""

POOL = Gauge(
    "beadbox_pool",
    "Connections of the web processes, and requests that wait for one",
    ["state"],
    multiprocess_mode="livesum",
)
THREAD_WAIT = Gauge(
    "beadbox_thread_wait_seconds",
    "How long the first of a web process has waited for a thread",
    multiprocess_mode="livemax",
)
LOOP_LAG = Gauge(
    "beadbox_loop_lag_seconds",
    "How much too late the event loop of a web process came round",
    multiprocess_mode="livemax",
)


class ProcessCollector(Collector):
    """Figures of all processes of this machine. Counters include ended processes; gauges have live processes only."""

    def collect(self) -> Iterable[Metric]:
        folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
        for pid in {int(file.stem.rpartition("_")[2]) for file in folder.glob("gauge_live*.db")}:
            try:
                os.kill(pid, 0)
            except OSError:  # The process has ended, or its id now belongs to a process of another user.
                with contextlib.suppress(FileNotFoundError):  # Another process may have removed the file.
                    mark_process_dead(pid)  # type: ignore[no-untyped-call]  # no types
        return MultiProcessCollector(None).collect()  # type: ignore[no-any-return, no-untyped-call]  # no types


class BackupAgeCollector(Collector):
    """Age of the latest back-up, on a machine with a ``BACKUP_DIR``."""

    def collect(self) -> Iterator[Metric]:
        if settings.BACKUP_DIR:
            try:
                age = latest_backup_age(Path(settings.BACKUP_DIR))
            except OSError:  # Back-ups in an unreadable folder are useless, so report that there are none.
                age = None
            seconds = math.inf if age is None else age.total_seconds()
            help_text = "How long ago the latest back-up was made; for ever, if none is there"
            yield _gauge("backup_age_seconds", help_text, {(): seconds})


class SiteCollector(Collector):
    """Figures from database and broker, equal on every machine of a site."""

    def collect(self) -> Iterator[Metric]:
        rows, queues = _database_figures(), _queue_lengths()
        for name, what, data in (("database", "database", rows), ("broker", "broker", queues)):
            yield _gauge(
                f"{name}_up", f"Whether the {what} answers within {ANSWER_TIMEOUT_S} s", {(): float(data is not None)}
            )
        if queues is not None:
            yield _gauge("queue_length", "Messages that wait in the broker", queues, "queue")
        if rows is None:
            return
        # Leave out jobs that do not wait for a worker, so that they raise no alarm: all jobs while kernels compile,
        # and trainings while the site is full.
        idle_kinds = {kind.slug for kind in KINDS} if kernels_compiling() or games_compiling() else set()
        if rows["full", ""]:
            idle_kinds.add(RUNS.slug)
        rows = {
            (what, slug): n
            for (what, slug), n in rows.items()
            if not (what in ("waiting", "oldest") and slug in idle_kinds)
        }
        kinds, zero = [kind.slug for kind in KINDS], 0.0
        open_matches = (MatchStatus.WAITING, MatchStatus.PLAYING)
        for what, name, label, labels, help_text in (
            ("waiting", "jobs_waiting", "kind", kinds, "Jobs that wait for a worker"),
            ("running", "jobs_running", "kind", kinds, "Jobs that a worker has"),
            (
                "oldest",
                "jobs_oldest_wait_seconds",
                "kind",
                kinds,
                "How long the first of those has waited",
            ),
            ("served", "jobs_served_seconds_ago", "kind", [], "How long ago a job last had a turn"),
            ("matches", "matches_open", "status", open_matches, "Open matches in which somebody moved within the hour"),
            ("rows", "rows", "table", [], "Rows of each table, as PostgreSQL estimates them"),
        ):
            figures = {(str(label_value),): zero for label_value in labels} | {
                key[1:]: n for key, n in rows.items() if key[0] == what
            }
            yield _gauge(name, help_text, figures, label)
        yield _gauge("database_bytes", "Size of the database", {(): rows["bytes", ""]})
        yield _gauge("site_full", "Whether the site has as many bytes as it may", {(): rows["full", ""]})


def _gauge(name: str, help_text: str, figures: dict[Any, float], *labels: str) -> Metric:
    family = GaugeMetricFamily(f"beadbox_{name}", help_text, labels=labels)
    for values, value in figures.items():
        family.add_metric(values, value)
    return family


def _database_figures() -> dict[tuple[str, ...], float] | None:
    """Return the figures of the database by quantity and label, or ``None`` if the database does not answer.

    This function opens a new connection, because an exhausted pool must not hide the figures.
    """
    jobs = " UNION ALL ".join(
        JOB_SQL.format(
            kind=kind.slug, table=kind.model._meta.db_table, since=WAIT_START_SQL.get(kind.slug, "created_at")
        )
        for kind in KINDS
    )
    parameters = {**connection.get_connection_params(), "connect_timeout": ANSWER_TIMEOUT_S}
    try:
        with psycopg.connect(**parameters, autocommit=True) as database:
            database.execute(f"SET statement_timeout = {ANSWER_TIMEOUT_S * 1000}")
            rows = database.execute(FIGURES_SQL.format(jobs=jobs)).fetchall()
            counts = dict(database.execute(SITE_COUNTS_SQL, [list(LIMIT_SETTINGS)]).fetchall())
    except psycopg.Error:
        return None
    rows.append(("full", "", (counts["bytes"] or 0) >= settings.DATABASE_BYTES_MOST))
    return {(quantity, label): float(value) for quantity, label, value in rows}


def _queue_lengths() -> dict[tuple[str, ...], float] | None:
    """Return the number of messages in each queue, or ``None`` if the broker does not answer."""
    prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
    names = list(settings.CELERY_TASK_QUEUES)
    try:
        with (
            redis.Redis.from_url(
                settings.REDIS_URL, socket_timeout=ANSWER_TIMEOUT_S, socket_connect_timeout=ANSWER_TIMEOUT_S
            ) as broker,
            broker.pipeline(transaction=False) as pipeline,
        ):
            for name in names:
                pipeline.llen(f"{prefix}{name}")
            return {(name,): float(n) for name, n in zip(names, pipeline.execute(), strict=True)}
    except (redis.RedisError, OSError):
        return None


class _Registry(Collector):
    """Several collectors as one registry, the form that ``generate_latest`` needs."""

    def __init__(self, *collectors: Collector) -> None:
        self.collectors = collectors

    def collect(self) -> Iterator[Metric]:
        for collector in self.collectors:
            yield from collector.collect()


def metrics_text(*collectors: Collector) -> bytes:
    """Return the figures of these collectors in Prometheus' text format."""
    return generate_latest(_Registry(*collectors))


def may_read_metrics(peer: str, forwarded: Sequence[str]) -> bool:
    """Whether ``METRICS_ADDRESSES`` contains every address of a request.

    Args:
        peer: address of the other end of the connection.
        forwarded: values of the request's X-Forwarded-For headers.
    """
    addresses = [peer, *(part for text in forwarded for part in text.split(","))]
    try:
        allowed = [ip_network(text, strict=False) for text in settings.METRICS_ADDRESSES]
    except ValueError:
        return False
    return all(
        address is not None and any(address in network for network in allowed)
        for address in map(parse_address, addresses)
    )


class Metrics:
    """ASGI middleware that answers ``/metrics`` from its own thread and passes on every other request."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="metrics")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].rstrip("/") != "/metrics":
            await self.application(scope, receive, send)
            return
        headers = [(name, value.decode("latin1")) for name, value in scope["headers"]]
        forwarded = [value for name, value in headers if name == b"x-forwarded-for"]
        has_forwarded = any(name == b"forwarded" for name, _ in headers)
        if has_forwarded or not may_read_metrics((scope.get("client") or [""])[0], forwarded):
            # A request with the header Forwarded is refused, because the site does not parse this header.
            await send_refusal(send, 403, {"detail": METRICS_REFUSAL_TEXT, "code": "forbidden"})
        elif scope["method"] not in ("GET", "HEAD"):
            refusal = {"detail": method_not_allowed_text(scope["method"], "GET"), "code": "method_not_allowed"}
            await send_refusal(send, 405, refusal, (b"allow", b"GET, HEAD"))
        else:
            loop = asyncio.get_running_loop()
            text = await loop.run_in_executor(
                self.thread, metrics_text, ProcessCollector(), BackupAgeCollector(), SiteCollector()
            )
            content_headers = [
                (b"content-type", CONTENT_TYPE_LATEST.encode()),
                (b"content-length", str(len(text)).encode()),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": content_headers})
            await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else text})


async def gauges_update() -> None:
    """Set the gauges of this web process every ``GAUGE_INTERVAL_S`` seconds until cancelled; log failures and go on."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + GAUGE_INTERVAL_S
        try:
            _set_gauges()
        except Exception:
            logger.exception("could not say how this process is")
        await asyncio.sleep(GAUGE_INTERVAL_S)
        LOOP_LAG.set(max(0.0, loop.time() - due))


def _set_gauges() -> None:
    THREAD_WAIT.set(ADMISSION.waits_s())
    pool = getattr(connection, "pool", None)
    if pool is not None:
        stats = pool.get_stats()
        for state, name in (("open", "pool_size"), ("free", "pool_available"), ("waiting", "requests_waiting")):
            POOL.labels(state).set(stats.get(name, 0))


class _MetricsServer(ThreadingMixIn, WSGIServer):
    """A server with a thread for each request, so that a silent client delays no other client."""

    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    timeout = 10

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing, because Prometheus asks every few seconds."""


def metrics_serve(port: int) -> None:
    """Serve ``/metrics`` on ``port`` for ever, for a computer that runs only workers.

    The response has only the figures of this computer's processes. Web processes report figures of database and broker.
    """
    with make_server("", port, _worker_response, server_class=_MetricsServer, handler_class=_QuietHandler) as server:
        server.serve_forever()


def _worker_response(environ: dict[str, Any], start: Callable[..., Any]) -> list[bytes]:
    forwarded = [environ[name] for name in ("HTTP_X_FORWARDED_FOR", "HTTP_FORWARDED") if name in environ]
    if not may_read_metrics(environ["REMOTE_ADDR"], forwarded):
        start("403 Forbidden", [("Content-Type", "text/plain")])
        return [METRICS_REFUSAL_TEXT.encode()]
    start("200 OK", [("Content-Type", CONTENT_TYPE_LATEST)])
    return [metrics_text(ProcessCollector(), BackupAgeCollector())]


def metrics_serve_in_thread(port: int) -> None:
    """Call :func:`metrics_serve` in a daemon thread."""
    threading.Thread(target=metrics_serve, args=(port,), name="metrics", daemon=True).start()
