"""Pictures of every page and state for people: three widths, light and dark, in ``var/screenshots``.

``make pictures`` or ``SCREENSHOTS=FOLDER make pictures`` draws the pictures. For a single width run ``pytest -m e2e
tests/e2e/pictures.py -k 1280``. This module checks no page: ``test_pages_hold.py`` checks every page.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import BrowserContext, Page, expect

from beadbox.rules.outcome import Side
from tests.e2e.conftest import LiveSite, Visitor, Watch
from tests.e2e.everywhere import STATES, browser_options, create_world, play_to_middle, without_network
from tests.e2e.lab import EMPTY_LAB_ADDRESSES, LAB_STATES, create_lab, sign_in
from tests.e2e.playing import NOUGHTS_PAGE, expect_plies, expect_turn, match_of, play_mouse
from tests.factories import house_machines, trained_machine, user
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

PICTURE_FOLDER = Path(os.environ.get("SCREENSHOTS") or settings.BASE_DIR / "var" / "screenshots")
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
STATES_IN_WINDOW = {"match-sheet", "match-keys", "machine-peek"}
HEIGHTS = {360: 740, 768: 1024, 1280: 800}


@pytest.mark.parametrize("width", HEIGHTS)
def test_pictures_of_every_page(visitor: Visitor, live_site: LiveSite, watch: Watch, width: int) -> None:
    data = create_world(live_site, watch)
    context_options = browser_options(width, HEIGHTS[width])
    for name, visit in STATES.items():
        page = visitor(**context_options)
        visit(page, data)
        take_pictures(page, width, name)
        page.context.close()
    page = visitor(**context_options)
    play_to_middle(page, data)
    with without_network(page, data):
        take_pictures(page, width, "match-reconnecting")
    expect(page.locator("#connection")).to_be_hidden()
    for theme in THEMES:
        assert len(list((PICTURE_FOLDER / f"{width}-{theme}").glob("*.png"))) > len(STATES)


def test_pictures_of_the_lab(new_context: Callable[..., BrowserContext], live_site: LiveSite, watch: Watch) -> None:
    """One browser visits every page of the lab once, and takes each width in turn."""
    context = watch.observe(new_context(**browser_options(1280, HEIGHTS[1280])))
    account = user("grace")
    sign_in(context, live_site, account)
    page = context.new_page()
    for name, address in EMPTY_LAB_ADDRESSES.items():
        page.goto(address)
        take_pictures_at_all_widths(page, f"lab-empty-{name}")
    data = create_lab(watch, account)
    for name, visit in LAB_STATES.items():
        visit(page, data)
        take_pictures_at_all_widths(page, f"lab-{name}")
    for width in HEIGHTS:
        for theme in THEMES:
            assert len(list((PICTURE_FOLDER / f"{width}-{theme}").glob("lab-*.png"))) == len(LAB_STATES) + len(
                EMPTY_LAB_ADDRESSES
            )


def take_pictures_at_all_widths(page: Page, name: str) -> None:
    """Draw the page at every width, then restore its width."""
    for width, height in HEIGHTS.items():
        page.set_viewport_size({"width": width, "height": height})
        # A chart adapts a moment later.
        assert wait_until(lambda: page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
        take_pictures(page, width, name)


def take_pictures(page: Page, width: int, name: str) -> None:
    """Draw the page in both themes: the window if a sheet, dialogue or peek is open, else the whole page."""
    in_window = name in STATES_IN_WINDOW or (width < 700 and name.startswith("match"))
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        folder = PICTURE_FOLDER / f"{width}-{theme}"
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=not in_window)
        if in_window and name not in STATES_IN_WINDOW:
            page.screenshot(path=folder / f"{name}-whole.png", full_page=True)


def _train_briefly() -> None:
    """Train a machine a little, so that its boxes have beads of many colours that can be counted."""
    try:
        trained_machine(house_machines()[Side.FIRST], 300, opponent="random")
    finally:
        connection.close()


def test_the_picture_of_the_readme(visitor: Visitor) -> None:
    """The picture shows a match in the middle, with an open box and a drawn bead, for ``docs/match-page.png``."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(_train_briefly).result()
    PICTURE_FOLDER.mkdir(parents=True, exist_ok=True)
    page = visitor(**browser_options(1280, 860))
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-second").click()
    expect_turn(page)
    opening = match_of(page).plies.get().move
    play_mouse(page, "5" if opening != "5" else "3")
    expect_plies(page, 3)
    expect(page.locator("#matchbox .is-drawn")).to_be_visible()
    page.screenshot(path=PICTURE_FOLDER / "match-page.png")
