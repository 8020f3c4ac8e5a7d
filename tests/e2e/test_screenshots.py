"""Pictures of every page and state, to be looked at: three widths, light and dark, under ``var/screenshots``.

Of one width and theme alone: ``pytest -m e2e tests/e2e/test_screenshots.py -k "1280 and light"``.
"""

import os
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import expect

from tests.e2e.conftest import LiveSite, Visitor, Watch
from tests.e2e.everywhere import STATES, lost, options, play_mid, world

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PLACE = Path(os.environ.get("SCREENSHOTS") or settings.BASE_DIR / "var" / "screenshots")
HEIGHTS = {360: 740, 768: 1024, 1280: 800}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", HEIGHTS)
def test_pictures_of_every_page(visitor: Visitor, live_site: LiveSite, watch: Watch, width: int, theme: str) -> None:
    place = PLACE / f"{width}-{theme}"
    place.mkdir(parents=True, exist_ok=True)
    made = world(live_site, watch)
    look = options(width, HEIGHTS[width], dark=theme == "dark")
    for name, visit in STATES.items():
        page = visitor(**look)
        visit(page, made)
        # A sheet, a dialogue and a peek stand in the window, the rest is the whole page.
        in_window = name in {"match-sheet", "match-keys", "machine-peek"} or (width == 360 and name.startswith("match"))
        page.screenshot(path=place / f"{name}.png", full_page=not in_window)
        if in_window and name != "match-sheet":
            page.screenshot(path=place / f"{name}-whole.png", full_page=True)
        page.context.close()
    page = visitor(**look)
    play_mid(page, made)
    with lost(page, made):
        page.screenshot(path=place / "match-reconnecting.png")
    expect(page.locator("#connection")).to_be_hidden()
    assert len(list(place.glob("*.png"))) > len(STATES)
