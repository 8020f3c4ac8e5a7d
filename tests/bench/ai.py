"""Advice under load, and live moves during that load. The site runs as with ``make run``, on the clients' machine."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tests.bench.figures import Figure
from tests.bench.live_site import running_site
from tests.bench.stored import live_moves
from tests.sizes import IS_SMALL, sized

N_CONNECTIONS = 8
SECONDS, WARM_S = sized((10.0, 3.0), (1.0, 0.5))
N_MATCHES = sized(40, 1)


def _start_client(port: int, request: dict[str, Any], seconds: float, rate: float = 0) -> subprocess.Popen[bytes]:
    arguments = [str(port), "/api/ai/move", str(N_CONNECTIONS), str(seconds), str(rate)]
    client = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.load", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert client.stdin is not None
    client.stdin.write(json.dumps(request).encode())
    client.stdin.close()
    return client


def _results(client: subprocess.Popen[bytes], seconds: float) -> tuple[float, float, float]:
    """Return the answers per second, and the median and 99th percentile in milliseconds."""
    assert client.stdout is not None
    results = json.load(client.stdout)
    assert client.wait() == 0
    assert IS_SMALL or results["n_refused"] == 0
    percentiles = statistics.quantiles(results["milliseconds"], n=100)
    return len(results["milliseconds"]) / seconds, percentiles[49], percentiles[98]


def advice_and_live_moves() -> Iterator[Figure]:
    """Request ``hard`` moves at the start of Romgon with flips over eight connections, then also during live moves."""
    from learning.api.ai_schema import START_BOARD

    request = {"board": START_BOARD, "playerColor": "black", "flipModeEnabled": True, "difficulty": "hard"}
    no_limits = dict.fromkeys(("THROTTLE_API", "THROTTLE_WRITE"), "10000000/min")
    with running_site(**no_limits) as site:
        port = site.port
        _results(_start_client(port, request, WARM_S), WARM_S)  # loads the kernels of both web processes
        rate, median, slow = _results(_start_client(port, request, SECONDS), SECONDS)
        yield Figure(
            "POST /api/ai/move, level hard, client on the same machine",
            f"{rate:.0f} requests/s, {median:.1f} ms, 99th percentile {slow:.1f} ms",
            ">= 300 requests/s, < 50 ms",
            rate >= 300 and slow < 50,
        )
        client = _start_client(port, request, SECONDS)
        milliseconds = live_moves(f"http://localhost:{port}", N_MATCHES)
        under_load = client.poll() is None
        rate, _, _ = _results(client, SECONDS)
        median, percentile = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[18]
        yield Figure(
            "live move during this load",
            f"{median:.1f} ms, 95th percentile {percentile:.1f} ms, during {rate:.0f} requests/s",
            "95th percentile < 100 ms",
            percentile < 100 and under_load,
        )
