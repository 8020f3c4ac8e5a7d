"""*Watch it learn* at full speed, one page alone and fifty beside live matches."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tests.bench.figures import Figure, spread
from tests.bench.learn_client import Watching
from tests.bench.live_load import UNBOUNDED, options_of, play, report, set_up_here, wait_for_workers
from tests.bench.live_load import case_of as live_case
from tests.bench.live_site import Site, running_site

SECONDS = float(os.environ.get("BENCH_SECONDS", "20"))
"""How long each is measured."""
N_VISITORS, N_MATCHES = 50, 300
BEFORE_S = 10.0
"""Long enough that what an address may use at once is used up."""


def learn_load() -> Iterator[Figure]:
    """One page and fifty at full speed, and what live moves take beside them."""
    with running_site(**UNBOUNDED, NUM_PROXIES="1") as site:
        set_up_here(site)
        wait_for_workers()
        with watching(site, 1) as found:
            play_for(site, 1)
        rate = sum(found["games"]) / found["seconds"] / 1e6
        yield Figure("one page at full speed, million games a second", f"{rate:.1f}", ">= 5", rate >= 5)
        alone = play_for(site, N_MATCHES).percentiles
        with watching(site, N_VISITORS) as found:
            result = play_for(site, N_MATCHES)
        median, slow, slowest = result.percentiles
        yield Figure(
            f"a live move, {N_MATCHES} matches beside {N_VISITORS} pages at full speed",
            f"{median:.1f}, {slow:.1f}, {slowest:.1f} ms; {alone[1]:.1f} without them",
            "95 % < 100 ms, none lost",
            slow < 100 and result.is_whole,
        )
        rate = sum(found["games"]) / found["seconds"] / 1e6
        least = min(found["games"]) / found["seconds"]
        yield Figure(
            "  what the pages get",
            f"{rate:.1f} million games a second, {least:,.0f} at least; {spread(found['milliseconds'], '{:.0f}')} ms",
            "every page goes on",
            least > 0 and not found["faults"],
        )


def play_for(site: Site, n_matches: int) -> Any:
    """Live matches for the time that is measured; what was found."""
    options = options_of([])
    vars(options).update(matches=n_matches, seconds=SECONDS)
    result = play(site, live_case(site, options))
    sys.stderr.write("".join(f"  {line}\n" for line in report(result)))
    return result


@contextlib.contextmanager
def watching(site: Site, n_visitors: int) -> Iterator[dict[str, Any]]:
    """Pages at full speed while this block lasts; what they found, when it has ended."""
    found: dict[str, Any] = {}
    case = Watching(port=site.port, n_visitors=n_visitors, before_s=BEFORE_S, host=site.host)
    client = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.learn_client"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert client.stdin is not None
    assert client.stdout is not None
    client.stdin.write(json.dumps(asdict(case)) + "\n")
    client.stdin.flush()
    assert client.stdout.readline() == "begin\n"
    try:
        yield found
    finally:
        client.stdin.write("\n")
        client.stdin.close()
        found.update(json.load(client.stdout))
        assert client.wait() == 0
    sys.stderr.write(f"  told to come later {found['later']} times; faults {found['faults'][:3] or 'none'}\n")
