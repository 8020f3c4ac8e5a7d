"""What a visitor waits for whose browser is new to the site, over a line of 10 Mbit/s with 40 ms, and what is sent."""

from __future__ import annotations

import os
from collections.abc import Iterator

from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.figures import Figure, spread
from tests.bench.live_site import Site, running_site

LATENCY_MS = 40
BYTES_PER_S = 10_000_000 / 8
VISITS = 7
LEARNT_S = 2.0
FRAMES_S, WATCHED_S = 30, 3
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
# The last cell with a mark that can be played, and when that has been drawn: in the page, so that nobody is asked.
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
# A box whose beads a game has changed is marked on the wall.
LEARNT = """async (since) => {
  await new Promise((done) => {
    const look = () => (document.querySelector(".wall-last") ? done() : requestAnimationFrame(look));
    look();
  });
  return performance.timeOrigin + performance.now() - since;
}"""
# Whole seconds of a page that learns as fast as it goes: how many frames are drawn in one.
FRAMES = """async (seconds) => {
  document.querySelector("[name=speed][value=full]").click();
  const begin = performance.now();
  let frames = 0;
  while (performance.now() - begin < 1000 * seconds) {
    await new Promise(requestAnimationFrame);
    frames += 1;
  }
  return frames / seconds;
}"""


def first_seconds() -> Iterator[Figure]:
    """The front page, one click to a move of one's own or to beads that change, and the weight of every main page."""
    with running_site() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM") or "/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        seen = [_visit(browser, site) for _ in range(VISITS + 1)][1:]  # the first warms the site up
        painted, shifted, opened, moved = (list(column) for column in zip(*seen, strict=True))
        for name, found, most in (
            ("front page, largest contentful paint, s", painted, 1.5),
            ("one click to a board that waits for one's move, s", opened, 1.5),
            ("one click to a move of one's own, played and shown, s", moved, 1.5),
        ):
            yield Figure(name, spread(found), f"<= {most}", sorted(found)[len(found) // 2] <= most)
        watched = [_watch(browser, site) for _ in range(VISITS + 1)][1:]
        learnt, frames = (list(column) for column in zip(*watched, strict=True))
        name = "one click to beads that change by themselves, s"
        yield Figure(name, spread(learnt), f"<= {LEARNT_S}", sorted(learnt)[len(learnt) // 2] <= LEARNT_S)
        name = "watched at full speed, frames a second"
        yield Figure(name, spread(frames, "{:.0f}"), f">= {FRAMES_S}", sorted(frames)[len(frames) // 2] >= FRAMES_S)
        yield Figure("front page, layout shift", spread(shifted, "{:.3f}"), "<= 0.02", max(shifted) <= 0.02)
        for address in MAIN:
            page, sent = _visitor(browser, site)
            page.goto(address, wait_until="networkidle")
            yield Figure(f"{address}, kB sent", f"{sum(sent) / 1000:.0f}", "<= 250", sum(sent) <= 250_000)
            page.context.close()


def _visit(browser: Browser, site: Site) -> tuple[float, float, float, float]:
    """Seconds to the largest paint, the shift of the layout, and seconds from a click to the board and to a move."""
    page, _ = _visitor(browser, site)
    page.goto("/", wait_until="networkidle")
    painted, shifted = page.evaluate("[window.painted / 1000, window.shifted]")
    since = page.evaluate("performance.timeOrigin + performance.now()")
    page.locator(".game .is-main").first.click(no_wait_after=True)
    page.wait_for_url("**/rooms/*", wait_until="commit")
    opened, moved = page.evaluate(MOVE, [OPEN, since])
    page.context.close()
    return painted, shifted, opened / 1000, moved / 1000


def _watch(browser: Browser, site: Site) -> tuple[float, float]:
    """Seconds from a click until a machine has learnt from a game; then frames a second at full speed."""
    page, _ = _visitor(browser, site)
    page.goto("/", wait_until="networkidle")
    since = page.evaluate("performance.timeOrigin + performance.now()")
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Watch it learn").click(no_wait_after=True)
    page.wait_for_url("**/learn**", wait_until="commit")
    seconds, frames = page.evaluate(LEARNT, since) / 1000, page.evaluate(FRAMES, WATCHED_S)
    page.context.close()
    return seconds, frames


def _visitor(browser: Browser, site: Site) -> tuple[Page, list[float]]:
    """A page of a browser that knows nothing of the site, on a slow line; and the bytes of what it is sent."""
    page = browser.new_context(base_url=f"http://localhost:{site.port}").new_page()
    page.add_init_script(NOTE)
    line = page.context.new_cdp_session(page)
    line.send("Network.enable")
    limits = {"latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S, "uploadThroughput": BYTES_PER_S}
    line.send("Network.emulateNetworkConditions", {"offline": False, **limits})
    sent: list[float] = []
    line.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    return page, sent
