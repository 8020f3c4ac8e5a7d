"""The front page and the menu in real browsers: on a laptop, on a phone and by keyboard; bytes sent per page."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Visitor, Watch
from tests.e2e.everywhere import browser_options
from tests.e2e.playing import expect_turn, match_of, tab_to
from tests.factories import house_machines

pytestmark = pytest.mark.e2e

MAIN_PAGES = ("/", "/play/noughts-and-crosses", "/play/romgon", "/machines", "/lab", "/about", "/tournaments")
PAGE_MAX_BYTES = 250_000
MAX_LAYOUT_SHIFT = 0.02

RECORD_SHIFTS = """
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries()) window.layoutShift += shift.value;
  }).observe({ type: "layout-shift", buffered: true });
"""
GAME_RECTANGLES = """[...document.querySelectorAll(".game")].map((game) => {
  const { top, bottom, height } = game.getBoundingClientRect();
  return { top, bottom, height };
})"""


def expect_drawn_boards(page: Page) -> None:
    expect(page.locator(".game-board > svg .ruling")).to_have_count(page.locator(".game").count())


def test_first_three_games_fit_a_laptop_or_three_phone_screens(visitor: Visitor) -> None:
    house_machines()
    laptop = visitor(**browser_options(1280, 720))
    laptop.add_init_script(RECORD_SHIFTS)
    laptop.goto("/")
    expect_drawn_boards(laptop)
    assert max(rectangle["bottom"] for rectangle in laptop.evaluate(GAME_RECTANGLES)[:3]) <= 720
    assert laptop.evaluate("window.layoutShift") <= MAX_LAYOUT_SHIFT
    phone = visitor(**browser_options(360, 740))
    phone.add_init_script(RECORD_SHIFTS)
    phone.goto("/")
    expect_drawn_boards(phone)
    rectangles = phone.evaluate(GAME_RECTANGLES)
    assert len(rectangles) == 8
    assert all(rectangle["height"] <= 740 for rectangle in rectangles), "a game is taller than the screen"
    assert rectangles[2]["bottom"] <= 3 * 740
    assert phone.evaluate("window.layoutShift") <= MAX_LAYOUT_SHIFT


def test_the_menu_leads_to_a_new_machine_by_keyboard(page: Page, visitor: Visitor) -> None:
    house_machines()
    page.goto("/about")
    for name in ("Lab", "Machines", "Play"):
        link = page.get_by_role("navigation").get_by_role("link", name=name, exact=True)
        tab_to(page, f".nav-main a[href='{link.get_attribute('href')}']")
        page.keyboard.press("Enter")
        expect(link).to_have_attribute("aria-current", "page")
    tab_to(page, ".game .is-main")
    expect(page.locator(".game .is-main")).to_have_text(
        [
            "Teach a new MENACE",
            "Teach a new HER",
            "Play against Novice engine",
            "Teach a new Ladder machine (player A)",
            "Teach a new 21 matches machine (player A)",
            "Teach a new Nim 3-3-3 machine (player A)",
            "Teach a new Notakto machine (player A)",
            "Teach a new Misère noughts and crosses machine (crosses)",
        ]
    )
    page.keyboard.press("Enter")
    expect_turn(page)
    assert match_of(page).n_plies == 1, "the match has begun"
    address = page.url
    page.goto("/")
    expect(page.locator(".game .is-main").first).to_have_text("Go on teaching your MENACE")
    page.locator(".game .is-main").first.click()
    expect_turn(page)
    assert page.url == address
    other = visitor()
    other.goto("/play/noughts-and-crosses")
    expect(other.get_by_role("button", name="Teach a new MENACE", exact=True)).to_be_visible()


@pytest.mark.parametrize("address", MAIN_PAGES)
def test_a_page_is_small_and_loads_only_from_the_site(page: Page, watch: Watch, address: str) -> None:
    """The test site neither compresses nor caches files. The fixture ``watch`` reports requests to other origins."""
    house_machines()
    page.goto(address, wait_until="networkidle")
    sizes = {request.url: len(response.body()) for request in watch.requests if (response := request.response())}
    assert sum(sizes.values()) <= PAGE_MAX_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:8]
