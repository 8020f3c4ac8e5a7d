"""Waiting times of a new visitor with an empty browser cache, over a line of 10 Mbit/s with 40 ms, and bytes sent.

*Watch it learn* at full speed, with all its drawing, is compared with the same kernel in Node.
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
VISITS = sized(7, 1)
LEARNT_S = 2.0
FRAMES_S, WATCHED_S = 30, sized(3, 1)
NODE = [str(Path(sys.executable).with_name("node")), str(Path(__file__).parents[1] / "js" / "learn_speed.js")]
NODE_GAMES = sized(3_000_000, 100_000)
NODE_SHARE, BAND_SHARE = 0.6, 1.5
MAIN = ("/", "/learn", "/play/noughts-and-crosses", "/play/romgon", "/machines", "/lab", "/about", "/tournaments")

NOTE = """
  window.painted = 0;
  window.shifted = 0;
  const note = (type, write) =>
    new PerformanceObserver((list) => list.getEntries().forEach(write)).observe({ type, buffered: true });
  note("largest-contentful-paint", (one) => { window.painted = one.startTime; });
  note("layout-shift", (one) => { window.shifted += one.value; });
"""
OPEN = "#board.is-mine .is-playable"
# Times from the click to an open board and to the drawn move, measured in the page without round trips.
MOVE = """async ([open, since]) => {
  const until = (is) => new Promise((done) => {
    const look = () => (is() ? done() : requestAnimationFrame(look));
    look();
  });
  await until(() => document.querySelector(open));
  const isOpen = performance.timeOrigin + performance.now() - since;
  const before = document.querySelectorAll("#moves > li").length;
  document.querySelector(open).dispatchEvent(new MouseEvent("click", { bubbles: true }));
  await until(() => document.querySelectorAll("#moves > li").length > before);
  return [isOpen, performance.timeOrigin + performance.now() - since];
}"""
# The wall marks a box whose beads a game has changed.
LEARNT = """async (since) => {
  await new Promise((done) => {
    const look = () => (document.querySelector(".wall-last") ? done() : requestAnimationFrame(look));
    look();
  });
  return performance.timeOrigin + performance.now() - since;
}"""
# Games and frames per second of a page that learns at full speed, counted from one second after its start; and the
# graph and the plan that the page has sent to its worker.
WATCH = """async (seconds) => {
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
SENT = """
  window.sent = {};
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data, ...more) {
    if (data.view) window.sent.view = data.view;
    if (data.ask === "machine") window.sent.plan = data.plan;
    return send.call(this, data, ...more);
  };
"""


def first_seconds() -> Iterator[Figure]:
    """Measure the front page, one click to one's own move or to changing beads, and the weight of every main page."""
    with running_site() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        seen = [_visit(browser, site) for _ in range(VISITS + 1)][1:]  # the first visit warms the site up
        painted, shifted, opened, moved = (list(column) for column in zip(*seen, strict=True))
        yield _at_most("front page, largest contentful paint, s", painted, 1.5)
        yield _at_most("one click to a board that waits for one's move, s", opened, 1.5)
        yield _at_most("one click to a move of one's own, played and shown, s", moved, 1.5)
        watched = [_watch(browser, site) for _ in range(VISITS + 1)][1:]
        learnt, frames, shares, bands = (list(column) for column in zip(*watched, strict=True))
        yield _at_most("one click to beads that change by themselves, s", learnt, LEARNT_S)
        yield _at_most("band of 200 machines, of as many games of one, in Node", bands, BAND_SHARE)
        yield _at_least("watched at full speed, frames a second", frames, FRAMES_S, "{:.0f}")
        yield _at_least("watched at full speed, games a second, of Node", shares, NODE_SHARE, "{:.2f}")
        yield Figure("front page, layout shift", spread(shifted, "{:.3f}"), "<= 0.02", max(shifted) <= 0.02)
        for address in MAIN:
            page, sent = _visitor(browser, site)
            page.goto(address, wait_until="networkidle")
            yield Figure(f"{address}, kB sent", f"{sum(sent) / 1000:.0f}", "<= 250", sum(sent) <= 250_000, is_fact=True)
            page.context.close()


def _at_most(name: str, found: list[float], most: float) -> Figure:
    return Figure(name, spread(found), f"<= {most}", sorted(found)[len(found) // 2] <= most)


def _at_least(name: str, found: list[float], least: float, form: str) -> Figure:
    return Figure(name, spread(found, form), f">= {least}", sorted(found)[len(found) // 2] >= least)


def _visit(browser: Browser, site: Site) -> tuple[float, float, float, float]:
    """Return the seconds to the largest paint, the layout shift, and the seconds from a click to board and move."""
    page, _ = _visitor(browser, site)
    page.goto("/", wait_until="networkidle")
    painted, shifted = page.evaluate("[window.painted / 1000, window.shifted]")
    since = page.evaluate("performance.timeOrigin + performance.now()")
    page.locator(".game .is-main").first.click(no_wait_after=True)
    page.wait_for_url("**/rooms/*", wait_until="commit")
    opened, moved = page.evaluate(MOVE, [OPEN, since])
    page.context.close()
    return painted, shifted, opened / 1000, moved / 1000


def _watch(browser: Browser, site: Site) -> tuple[float, float, float, float]:
    """Return the seconds to the first learnt game, frames per second, and the shares of Node's games and of the band.

    The seconds count from a click. Frames and games per second are at full speed; the games are a share of Node's. The
    band's time, measured in Node, is a share of the time of as many games of one machine.
    """
    page, _ = _visitor(browser, site)
    page.add_init_script(SENT)
    page.goto("/", wait_until="networkidle")
    since = page.evaluate("performance.timeOrigin + performance.now()")
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Watch it learn").click(no_wait_after=True)
    page.wait_for_url("**/learn**", wait_until="commit")
    seconds = page.evaluate(LEARNT, since) / 1000
    games_per_s, frames_per_s, sent = page.evaluate(WATCH, WATCHED_S)
    page.context.close()
    node = _node(sent)
    return seconds, frames_per_s, games_per_s / node["games_per_s"], node["band"]


def _node(sent: dict[str, Any]) -> dict[str, float]:
    asked = json.dumps(sent | {"games": NODE_GAMES})
    done = subprocess.run(NODE, input=asked, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _visitor(browser: Browser, site: Site) -> tuple[Page, list[float]]:
    """Open a page in a browser with an empty cache on a slow line; return it with the list of sizes received."""
    page = browser.new_context(base_url=f"http://localhost:{site.port}").new_page()
    page.add_init_script(NOTE)
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    limits = {"latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S}
    line.send("Network.emulateNetworkConditions", {"offline": False, **limits})
    sent: list[float] = []
    line.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    return page, sent
