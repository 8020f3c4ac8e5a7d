"""A match on a phone, 360 × 740: the board stays in place and all controls are in sight, even with large text."""

import pytest
from playwright.sync_api import Page, expect

from learning.models import Machine
from tests.e2e.conftest import LiveSite, Visitor
from tests.e2e.everywhere import browser_options
from tests.e2e.lab import sign_in
from tests.e2e.layout import LARGE_TEXT, text_style_set
from tests.e2e.playing import (
    cell,
    expect_plies,
    expect_turn,
    free_cells,
    is_over,
    n_plies,
    play_mouse,
    play_out_mouse,
    start_first,
    start_romgon_room,
    tab_to,
)
from tests.factories import house_machines, user

pytestmark = pytest.mark.e2e

WIDTH, HEIGHT = 360, 740
LONG_NAME = "The terrible matchbox machine of class 6b, taught by Ann, Bea and Cem in Geneva."


def bounding_box(page: Page, selector: str) -> dict[str, float]:
    rect = page.locator(selector).bounding_box()
    assert rect, selector
    return {**rect, "bottom": rect["y"] + rect["height"]}  # type: ignore[dict-item]  # a TypedDict is one


def expect_in_view(page: Page, *selectors: str) -> None:
    """Check that elements are entirely within the window, and not under the sheet."""
    sheet = page.locator("#box-sheet")
    is_fixed = sheet.is_visible() and sheet.evaluate("(element) => getComputedStyle(element).position") == "fixed"
    bottom = bounding_box(page, "#box-sheet")["y"] if is_fixed else HEIGHT
    for selector in selectors:
        rect = bounding_box(page, selector)
        assert rect["y"] >= 0, selector
        assert rect["bottom"] <= bottom + 0.5, selector


def test_the_end_keeps_the_layout_and_shows_next_steps(visitor: Visitor) -> None:
    house_machines()
    page = visitor(**browser_options(WIDTH, HEIGHT))
    start_first(page)
    expect_in_view(page, "#board", "#status", "#resign", "#how")
    assert bounding_box(page, "#board")["y"] - bounding_box(page, "#seats")["bottom"] <= 16, "no gap below the names"
    assert bounding_box(page, "#status")["y"] - bounding_box(page, "#board")["bottom"] <= 16
    before = bounding_box(page, "#board")
    while not is_over(page):
        expect_turn(page)
        play_mouse(page)
        assert bounding_box(page, "#board") == before
    expect(page.locator("#again")).to_be_visible()
    assert bounding_box(page, "#board") == before, "the result does not move the board"
    assert page.evaluate("scrollY") == 0
    expect(page.locator("#why")).not_to_be_empty()
    expect_in_view(page, "#board", "#status", "#why", "#again")
    expect(page.locator("#box-summary")).to_contain_text("Changed:")
    expect(page.locator("#box-summary .bead").first).to_be_in_viewport()
    page.locator("#again").click()
    expect_turn(page)
    assert bounding_box(page, "#board") == before


def test_the_end_against_an_own_machine_is_in_view(visitor: Visitor) -> None:
    house_machines()
    page = visitor(**browser_options(WIDTH, HEIGHT))
    page.goto("/")
    page.get_by_role("button", name="Teach a new MENACE").click()
    while not is_over(page):
        expect_turn(page)
        play_mouse(page)
    expect(page.locator("#why")).not_to_be_empty()
    expect(page.locator("#box-summary .bead").first).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0
    expect_in_view(page, "#board", "#status", "#why", "#again")
    change_words = page.locator("#changes li").filter(has_text="It drew ").first.inner_text()
    move_words = page.locator("#moves button").first.inner_text().split("\n")
    assert any(f"({words.strip()})" in change_words for words in move_words), "squares are named as on the board"


def test_a_long_name_hides_neither_board_nor_next_steps(visitor: Visitor) -> None:
    house_machines()
    page = visitor(**browser_options(WIDTH, HEIGHT))
    page.goto("/")
    page.get_by_role("button", name="Teach a new MENACE").click()
    expect_turn(page)
    Machine.objects.filter(guest__isnull=False).update(name=LONG_NAME)
    page.reload()
    expect_turn(page)
    expect(page.locator("#box-summary")).to_contain_text("drew bead")
    expect_in_view(page, "#board", "#status")
    play_out_mouse(page)
    expect_in_view(page, "#board", "#status")
    page.locator("#again").click(trial=True)  # nothing covers it


def test_the_end_of_a_romgon_match_is_in_view(visitor: Visitor) -> None:
    page = visitor(**browser_options(WIDTH, HEIGHT))
    start_romgon_room(page, "easy")
    expect_turn(page)
    before = bounding_box(page, "#board")
    expect_in_view(page, "#board", "#status", "#resign")
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#again")).to_be_visible()
    assert bounding_box(page, "#board") == before
    expect_in_view(page, "#board", "#status", "#again")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("game", ["noughts-and-crosses", "hexapawn"])
def test_the_board_is_in_view_with_text_twice_as_large(visitor: Visitor, game: str) -> None:
    house_machines()
    page = visitor(**browser_options(WIDTH, HEIGHT))
    page.goto(f"/play/{game}")
    page.locator("#play-first").click()
    expect_turn(page)
    text_style_set(page, LARGE_TEXT)
    assert page.evaluate("matchMedia('(max-width: 20rem)').matches"), "the text is large"
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#board")).to_be_in_viewport(ratio=0.8)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 800)])
def test_keyboard_focus_follows_the_turn_and_the_end(visitor: Visitor, width: int, height: int) -> None:
    """The focus is on the board at the player's turn, and on "Play again" after the end."""
    house_machines()
    page = visitor(**browser_options(width, height))
    page.goto("/play/noughts-and-crosses")
    tab_to(page, "#play-first")
    page.keyboard.press("Enter")
    expect_turn(page)
    expect(page.locator("#board .cell:focus")).to_have_count(1)
    for _ in range(2):
        while not is_over(page):
            expect_turn(page)
            expect(page.locator("#board .cell:focus")).to_have_count(1)
            square = free_cells(page)[0]
            cell(page, square).focus()
            before = n_plies(page)
            page.keyboard.press("Enter")
            expect_plies(page, before + 2)
        expect(page.locator("#again")).to_be_focused()
        assert page.evaluate("scrollY") == 0, "the button is in sight without scrolling"
        page.keyboard.press("Enter")
        expect(page.locator("#status")).to_have_attribute("data-status", "playing")
        expect(page.locator("#board .cell:focus-visible")).to_have_count(1)


def test_the_free_seat_is_in_view_for_a_friend(page: Page, visitor: Visitor, live_site: LiveSite) -> None:
    sign_in(page.context, live_site, user("W" * 150))  # as long as a name may be
    page.goto("/play/noughts-and-crosses")
    page.locator('.opponent:has(input[value="human"])').click()
    page.locator("#play-other").click()
    friend = visitor(**browser_options(WIDTH, HEIGHT))
    friend.goto(page.url)
    expect(friend.locator("#join button")).to_be_visible()
    expect_in_view(friend, "#board", "#status", "#join button")


def test_focus_outside_the_board_stays_when_the_turn_comes(page: Page, visitor: Visitor) -> None:
    page.goto("/play/noughts-and-crosses")
    page.locator('.opponent:has(input[value="human"])').click()
    page.locator("#play-other").click()
    friend = visitor()
    friend.goto(page.url)
    friend.locator("#join button").click()
    expect_turn(page)
    expect(page.locator("#board .cell:focus")).to_have_count(1)
    cell(page, "1").click()
    expect_turn(friend)
    page.locator("#moves button").focus()
    cell(friend, "5").click()
    expect_turn(page)
    expect(page.locator("#moves button").first).to_be_focused()
    friend.locator("#resign").click()
    friend.locator("#resign-yes").click()
    expect(page.locator("#again")).to_be_visible()
    expect(page.locator("#moves button").first).to_be_focused()
    expect(friend.locator("#again")).to_be_focused()
