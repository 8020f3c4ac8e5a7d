"""Live play across hosts: web processes, a database and a proxy, each in its own network namespace on one machine.

    python -m tests.bench.hosts --webs 1,2,4 --share 0.2 --matches 200 --think 0

The program needs root, ``ip`` (iproute2) and ``caddy``, the proxy of docker-compose.yml. Every host is a network
namespace with a separate address. ``--share`` limits each web host to this share of a core. Without this limit, several
hosts would have no more processor time than one host, because all hosts share two cores. The players run outside the
namespaces.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from menace_site.local import processes, servers
from tests.bench.live_load import NO_LIMITS_ENV, Result, case_of, options_of, play, set_up_here
from tests.bench.live_site import Site, answers_at
from tests.hosts.network import NETWORK, Host, address, bridge
from tests.sizes import sized
from tests.waiting import wait_until

DATA, PROXY, FIRST_WEB = 2, 3, 11
"""The last number of a host's address. The web hosts have ``FIRST_WEB`` and the numbers after it."""


@contextlib.contextmanager
def run_database(host: Host, var: Path) -> Iterator[None]:
    """Run PostgreSQL and Valkey as ``make run`` does, but reachable over the network."""
    (var / "log").mkdir(parents=True)
    servers.prepare_valkey(var)
    servers.prepare_postgres(var)
    with (var / "postgres" / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {NETWORK}.0/24 trust\n")
    postgres_options = ["-c", f"listen_addresses={address(DATA)}", "-c", "max_connections=400"]
    valkey_options = ["--port", "6379", "--bind", address(DATA), "--protected-mode", "no"]
    postgres = host.start([*servers.postgres_command(var), *postgres_options], var / "log" / "postgres.log")
    valkey = host.start([*servers.valkey_command(var), *valkey_options], var / "log" / "valkey.log")
    try:
        servers.wait_for_postgres(var, postgres)
        servers.wait_for_valkey(var, valkey)
        yield
    finally:
        processes.stop({postgres: signal.SIGINT, valkey: signal.SIGTERM})


@contextlib.contextmanager
def run_web_processes(host: Host, var: Path, settings: dict[str, str]) -> Iterator[None]:
    """Run a web host with one process, as docker-compose.yml does."""
    arguments = f"-m menace_site.web --host {address(host.number)} --port 8000".split()
    log = var / "log" / f"{host.name}.log"
    env = {**NO_LIMITS_ENV, **settings, "BEADBOX_DB_POOL": "1", "NUM_PROXIES": "1", "ALLOWED_HOSTS": "localhost"}
    process = host.start([sys.executable, *arguments], log, **env)
    try:
        assert wait_until(lambda: answers_at(address(host.number), 8000)), log.read_text()
        yield
    finally:
        processes.stop({process: signal.SIGTERM})


@contextlib.contextmanager
def run_proxy(host: Host, webs: list[Host], var: Path) -> Iterator[None]:
    """Run Caddy as in docker-compose.yml, with the web hosts' addresses instead of names that Docker resolves."""
    upstreams = " ".join(f"{address(web_host.number)}:8000" for web_host in webs)
    (var / "Caddyfile").write_text(
        "{\n  admin off\n}\n:8080 {\n  encode zstd gzip\n  request_body {\n    max_size 4MB\n  }\n"
        f"  reverse_proxy {upstreams} {{\n    lb_policy least_conn\n    lb_try_duration 5s\n  }}\n}}\n"
    )
    log = var / "log" / "caddy.log"
    command: list[str | Path] = ["caddy", "run", "--adapter", "caddyfile", "--config", var / "Caddyfile"]
    process = host.start(command, log, HOME=str(var), XDG_DATA_HOME=str(var), XDG_CONFIG_HOME=str(var))
    try:
        assert wait_until(lambda: answers_at(address(PROXY), 8080)), log.read_text()
        yield
    finally:
        processes.stop({process: signal.SIGTERM})


def report_line(n_webs: int, result: Result) -> str:
    """Return the report for a number of web hosts."""
    median, slow, slowest = result.percentiles
    cpu_ms = {name: 1000 * result.per_move(seconds) for name, seconds in result.sample.cpu_s.items()}
    spent = ", ".join(f"{name} {ms:.2f}" for name, ms in sorted(cpu_ms.items()) if ms >= 0.005)
    return (
        f"{n_webs} web hosts: {result.rate:.1f} moves/s; {median:.1f}, {slow:.1f}, {slowest:.1f} ms;"
        f" processor ms/move {spent}; {result.sample.most_connections} connections;"
        f" {result.found['errors'] or 'no refusals'}; {'nothing lost' if result.is_whole else 'LOST OR DOUBLED'}\n"
    )


def main(arguments: list[str]) -> int:
    """Play the same case against each number of web hosts; return 1 if a move was lost or doubled."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.hosts", add_help=False)
    parser.add_argument("--webs", default=sized("1,2", "1"))
    parser.add_argument("--share", type=float, default=0.0, help="share of a core for each web host; 0: no limit")
    parser.add_argument("--data-share", type=float, default=0.0, help="share of a core for the host of the database")
    own, case_options = parser.parse_known_args(arguments)
    if os.geteuid():
        sys.stdout.write("Only root may create network namespaces.\n")
        return 1
    options, is_whole = options_of(case_options), True
    numbers = [int(number) for number in own.webs.split(",")]
    var = Path(tempfile.mkdtemp(prefix="beadbox-bench-"))
    settings = {
        "BEADBOX_LOCAL": "1",
        "BEADBOX_VAR": str(var),
        "DATABASE_URL": f"postgres://app@{address(DATA)}/app",
        "REDIS_URL": f"redis://{address(DATA)}:6379/0",
    }
    os.environ.update(settings)
    site = Site(var, 8080, address(PROXY), f"host={address(DATA)} user=app dbname=app")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, var, ignore_errors=True)
        stack.enter_context(bridge())
        data = stack.enter_context(Host(DATA, own.data_share))
        stack.enter_context(run_database(data, var))
        subprocess.run(
            [sys.executable, servers.BASE_DIR / "manage.py", "set_up"], check=True, stdout=subprocess.DEVNULL
        )
        set_up_here(site)
        front = stack.enter_context(Host(PROXY))
        webs = [stack.enter_context(Host(FIRST_WEB + n, own.share)) for n in range(max(numbers))]
        for host in webs:
            stack.enter_context(run_web_processes(host, var, settings))
        for host in (data, *webs):
            host.limit_cpu()
        for number in numbers:
            with run_proxy(front, webs[:number], var):
                result = play(site, case_of(site, options))
            is_whole &= result.is_whole
            sys.stdout.write(report_line(number, result))
            sys.stdout.flush()
    return int(not is_whole)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
