"""Waiting times of a new visitor with an empty browser cache, over a line of 10 Mbit/s with 40 ms, and bytes sent.

The benchmark also compares the page *Watch it learn* at full speed, which draws all the time, with the same kernel in
Node.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.figures import Figure, spread
from tests.bench.live_site import Site, running_site
from tests.environment import chromium
from tests.sizes import sized

LATENCY_MS = 40
BYTES_PER_S = 10_000_000 / 8
N_VISITS = sized(7, 1)
MAX_LEARNT_S = 2.0
MIN_FRAMES_PER_S, WATCHED_S = 30, sized(3, 1)
NODE = [str(Path(sys.executable).with_name("node")), str(Path(__file__).parents[1] / "js" / "learn_speed.js")]
N_NODE_GAMES = sized(3_000_000, 100_000)
MIN_NODE_SHARE, MAX_BAND_SHARE = 0.6, 1.5
MAIN_PAGES = ("/", "/learn", "/play/noughts-and-crosses", "/play/romgon", "/machines", "/lab", "/about", "/tournaments")

RECORD_PAINTS = """
  window.painted = 0;
  window.shifted = 0;
  const observe = (type, record) =>
    new PerformanceObserver((list) => list.getEntries().forEach(record)).observe({ type, buffered: true });
  observe("largest-contentful-paint", (one) => { window.painted = one.startTime; });
  observe("layout-shift", (one) => { window.shifted += one.value; });
"""
OPEN_BOARD = "#board.is-mine .is-playable"
# Times from the click to an open board and to the drawn move, measured in the page without round trips.
MOVE_TIMES = """async ([open, since]) => {
  const until = (holds) => new Promise((done) => {
    const check = () => (holds() ? done() : requestAnimationFrame(check));
    check();
  });
  await until(() => document.querySelector(open));
  const isOpen = performance.timeOrigin + performance.now() - since;
  const before = document.querySelectorAll("#moves > li").length;
  document.querySelector(open).dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await until(() => document.querySelectorAll("#moves > li").length > before);
  return [isOpen, performance.timeOrigin + performance.now() - since];
}"""
# The wall of boxes marks a box in which a game has changed beads.
LEARNT_TIME = """async (since) => {
  await new Promise((done) => {
    const check = () => (document.querySelector(".wall-last") ? done() : requestAnimationFrame(check));
    check();
  });
  return performance.timeOrigin + performance.now() - since;
}"""
# Games and frames per second of a page that learns at full speed, counted from one second after its start. The third
# result has the graph and the plan that the page has sent to its worker.
LEARN_SPEED = """async (seconds) => {
  const games = () => Number(document.getElementById("games").textContent.replace(/[^0-9]/g, ""));
  const frames = async (ms) => {
    const [begin, from] = [performance.now(), games()];
    let n = 0;
    while (performance.now() - begin < ms) {
      await new Promise(requestAnimationFrame);
      n += 1;
    }
    const took = (performance.now() - begin) / 1000;
    return [(games() - from) / took, n / took];
  };
  document.querySelector("[name=speed][value=full]").click();
  await frames(1000);
  return [...(await frames(1000 * seconds)), window.sent];
}"""
RECORD_MESSAGES = """
  window.sent = {};
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data, ...more) {
    if (data.view) window.sent.view = data.view;
    if (data.kind === "machine") window.sent.plan = data.plan;
    return send.call(this, data, ...more);
  };
"""


def first_seconds() -> Iterator[Figure]:
    """Measure the front page, the time from a click to a move or to changing beads, and the size of each main page."""
    with running_site() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        # The first visit loads the site's caches.
        play_times = [_play_times(browser, site) for _ in range(N_VISITS + 1)][1:]
        paint_s, shifts, board_s, move_s = (list(column) for column in zip(*play_times, strict=True))
        yield _maximum_figure("front page, largest contentful paint, s", paint_s, 1.5)
        yield _maximum_figure("from one click to a board on which the visitor moves, s", board_s, 1.5)
        yield _maximum_figure("from one click to the visitor's own move on the board, s", move_s, 1.5)
        learn_figures = [_learn_figures(browser, site) for _ in range(N_VISITS + 1)][1:]
        learnt_s, frames, shares, bands = (list(column) for column in zip(*learn_figures, strict=True))
        yield _maximum_figure("from one click to beads that change by themselves, s", learnt_s, MAX_LEARNT_S)
        yield _maximum_figure(
            "band of 200 machines in Node, share of the time of one machine's games", bands, MAX_BAND_SHARE
        )
        yield _minimum_figure("learning at full speed, frames per second", frames, MIN_FRAMES_PER_S, "{:.0f}")
        yield _minimum_figure(
            "learning at full speed, games per second, share of Node", shares, MIN_NODE_SHARE, "{:.2f}"
        )
        yield Figure("front page, layout shift", spread(shifts, "{:.3f}"), "<= 0.02", max(shifts) <= 0.02)
        for address in MAIN_PAGES:
            page, sent = new_visitor(browser, site)
            page.goto(address, wait_until="networkidle")
            yield Figure(f"{address}, kB sent", f"{sum(sent) / 1000:.0f}", "<= 250", sum(sent) <= 250_000, is_fact=True)
            page.context.close()


def _maximum_figure(name: str, values: list[float], maximum: float) -> Figure:
    return Figure(name, spread(values), f"<= {maximum}", sorted(values)[len(values) // 2] <= maximum)


def _minimum_figure(name: str, values: list[float], minimum: float, form: str) -> Figure:
    return Figure(name, spread(values, form), f">= {minimum}", sorted(values)[len(values) // 2] >= minimum)


def _play_times(browser: Browser, site: Site) -> tuple[float, float, float, float]:
    """Return the seconds to the largest paint, the layout shift, and the seconds from a click to board and move."""
    page, _ = new_visitor(browser, site)
    page.goto("/", wait_until="networkidle")
    painted, shifted = page.evaluate("[window.painted / 1000, window.shifted]")
    since = page.evaluate("performance.timeOrigin + performance.now()")
    page.locator(".game .is-main").first.click(no_wait_after=True)
    page.wait_for_url("**/rooms/*", wait_until="commit")
    board_ms, move_ms = page.evaluate(MOVE_TIMES, [OPEN_BOARD, since])
    page.context.close()
    return painted, shifted, board_ms / 1000, move_ms / 1000


def _learn_figures(browser: Browser, site: Site) -> tuple[float, float, float, float]:
    """Return the seconds from a click to the first learnt game, frames per second, and two ratios.

    Frames per second are at full speed. The first ratio is the page's games per second at full speed over Node's. The
    second ratio is measured in Node: the time of a band of machines over the time of as many games of one machine.
    """
    page, _ = new_visitor(browser, site)
    page.add_init_script(RECORD_MESSAGES)
    page.goto("/", wait_until="networkidle")
    since = page.evaluate("performance.timeOrigin + performance.now()")
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Watch it learn").click(no_wait_after=True)
    page.wait_for_url("**/learn**", wait_until="commit")
    seconds = page.evaluate(LEARNT_TIME, since) / 1000
    games_per_s, frames_per_s, sent = page.evaluate(LEARN_SPEED, WATCHED_S)
    page.context.close()
    node = _node_figures(sent)
    return seconds, frames_per_s, games_per_s / node["games_per_s"], node["band"]


def _node_figures(sent: dict[str, Any]) -> dict[str, float]:
    request = json.dumps(sent | {"games": N_NODE_GAMES})
    process = subprocess.run(NODE, input=request, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(process.stdout)
    return figures


def new_visitor(browser: Browser, site: Site) -> tuple[Page, list[float]]:
    """Open a page in a browser with an empty cache on a slow line. Return the page and the sizes of its responses."""
    page = browser.new_context(base_url=f"http://localhost:{site.port}").new_page()
    page.add_init_script(RECORD_PAINTS)
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    limits = {"latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S}
    line.send("Network.emulateNetworkConditions", {"offline": False, **limits})
    sent: list[float] = []
    line.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    return page, sent
