"""Advice under load, and live moves while it lasts: the site as ``make run`` serves it, the clients beside it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.figures import Figure
from tests.bench.stored import live_moves

N_CONNECTIONS = 8
SECONDS = 10.0
N_MATCHES = 40


@contextlib.contextmanager
def running_site() -> Iterator[int]:
    """The port of a whole site with its worker and scheduler, in a directory of its own."""
    from menace_site import processes

    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        port = chosen.getsockname()[1]
    var = Path(tempfile.mkdtemp(prefix="beadbox-bench-"))
    many = dict.fromkeys(("THROTTLE_AI", "THROTTLE_ANON", "THROTTLE_PAGE"), "10000000/min")
    env = {**os.environ, **many, "BEADBOX_VAR": str(var), "BEADBOX_LOCAL": "1", "PORT": str(port)}
    with (var / "supervisor.log").open("wb") as log:
        site = processes.spawn(
            [sys.executable, "-m", "menace_site.supervisor"], death_signal=signal.SIGTERM, env=env, output=log
        )
        try:
            answers = processes.wait_until(lambda: _answers(port), timeout_s=120)
            assert answers, (var / "supervisor.log").read_text()
            yield port
        finally:
            processes.stop({site: signal.SIGTERM}, timeout_s=20)
            shutil.rmtree(var, ignore_errors=True)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://localhost:{port}/api/health"):  # our own server
            return True
    except OSError:
        return False


def _ask(port: int, question: dict[str, Any], seconds: float, rate: float = 0) -> subprocess.Popen[bytes]:
    words = [str(port), "/api/ai/move", str(N_CONNECTIONS), str(seconds), str(rate)]
    client = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.load", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert client.stdin is not None
    client.stdin.write(json.dumps(question).encode())
    client.stdin.close()
    return client


def _figures(client: subprocess.Popen[bytes], seconds: float) -> tuple[float, float, float]:
    """Answers a second, and the median and 99th percentile in milliseconds."""
    assert client.stdout is not None
    found = json.load(client.stdout)
    assert client.wait() == 0
    assert found["n_refused"] == 0
    percentiles = statistics.quantiles(found["milliseconds"], n=100)
    return len(found["milliseconds"]) / seconds, percentiles[49], percentiles[98]


def advice_and_live_moves() -> Iterator[Figure]:
    """``hard`` from the start of Romgon, flip mode on, asked over eight connections; then with live moves beside it."""
    from learning.api.ai_schema import START_BOARD

    question = {"board": START_BOARD, "playerColor": "black", "flipModeEnabled": True, "difficulty": "hard"}
    with running_site() as port:
        _figures(_ask(port, question, 3.0), 3.0)  # both web processes have their kernels loaded
        rate, median, slow = _figures(_ask(port, question, SECONDS), SECONDS)
        yield Figure(
            "POST /api/ai/move, hard, the client on the same machine",
            f"{rate:.0f} requests/s, {median:.1f} ms, 99th percentile {slow:.1f} ms",
            ">= 300 requests/s, < 50 ms",
            rate >= 300 and slow < 50,
        )
        client = _ask(port, question, SECONDS)
        milliseconds = live_moves(f"http://localhost:{port}", N_MATCHES)
        under_load = client.poll() is None
        rate, _, _ = _figures(client, SECONDS)
        median, percentile = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[18]
        yield Figure(
            "a live move while that load runs",
            f"{median:.1f} ms, 95th percentile {percentile:.1f} ms, beside {rate:.0f} requests/s",
            "95th percentile < 100 ms",
            percentile < 100 and under_load,
        )
