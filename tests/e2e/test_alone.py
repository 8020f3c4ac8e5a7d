"""One browser in both seats of its room: the page asks first, and then the visitor can play both sides."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import violations
from tests.e2e.layout import layout_faults
from tests.e2e.playing import cell, code_of, match_of, start_match_against

pytestmark = pytest.mark.e2e


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [360, 1280])
def test_second_tab_asks_before_taking_the_other_seat(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    start_match_against(page, "human")
    expect(page.locator("#status")).to_have_text("Waiting for the other player.")
    tab = page.context.new_page()
    tab.set_viewport_size({"width": width, "height": 740})
    tab.goto("/")
    tab.locator("#code").fill(page.url)
    tab.locator("#code").press("Enter")
    expect(tab.get_by_role("heading", name="You would play against yourself")).to_be_visible()
    assert violations(tab) == layout_faults(tab) == []
    assert match_of(page).status == "waiting"

    tab.locator("#both").click()
    expect(tab.locator("#status")).to_have_text("Your turn: place a cross.")
    for number, (square, side) in enumerate([("1", "nought"), ("4", "cross"), ("2", "nought"), ("5", "cross")]):
        cell(tab, square).click()
        expect(tab.locator("#status")).to_have_text(f"Your turn: place a {side}.")
        expect(tab.locator("#moves > li")).to_have_count(number + 1)
    cell(tab, "3").click()
    expect(tab.locator("#status")).to_contain_text("You won")
    assert code_of(tab) == code_of(page)


@pytest.mark.soak
def test_a_refused_second_seat_leads_back_to_the_match(page: Page) -> None:
    start_match_against(page, "human")
    address = page.url
    page.goto("/")
    page.locator("#code").fill(address)
    page.locator("#code").press("Enter")
    page.get_by_role("link", name="Back to the match").click()
    expect(page.locator("#status")).to_have_text("Waiting for the other player.")
    assert match_of(page).status == "waiting"
