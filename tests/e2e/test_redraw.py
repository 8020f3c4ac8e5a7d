"""When a page is drawn again, the focus stays and open parts stay open."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Visitor
from tests.e2e.playing import cell, expect_plies, expect_turn, match_of, start_match_against
from tests.e2e.test_romgon import play_capture_or_move

pytestmark = pytest.mark.e2e

REMEMBER_FOCUS = "focused = document.activeElement"
FOCUS_IS_KEPT = "document.activeElement === focused && focused !== document.body"


def test_the_focus_stays_on_a_move_during_new_moves(page: Page, visitor: Visitor) -> None:
    start_match_against(page, "human")
    friend = visitor()
    friend.goto(page.url)
    friend.get_by_role("button", name="Take the free seat").click()
    for ply, player, square in ((1, page, "5"), (2, friend, "1"), (3, page, "9")):
        expect_turn(player)
        cell(player, square).click()
        expect_plies(page, ply)
    page.locator("#log").locator("xpath=..").locator("summary").click()
    page.locator("#moves button").nth(1).focus()
    page.evaluate(REMEMBER_FOCUS)
    expect_turn(friend)
    cell(friend, "3").click()
    expect(page.locator("#moves button")).to_have_count(4)
    expect(page.locator("#log li").last).to_contain_text("top right")
    assert page.evaluate(FOCUS_IS_KEPT)
    expect(page.locator("#log")).to_be_visible()


def test_an_open_evaluation_stays_open_after_the_next_move(page: Page) -> None:
    page.goto("/learnt/romgon-flip")
    page.get_by_role("button", name="Play against Legend").click()
    page.wait_for_url(re.compile("/rooms/"))
    parts = page.locator("#parts")
    sums = set()
    for plies in (2, 4):
        expect_turn(page)
        play_capture_or_move(page, match_of(page))
        expect_plies(page, plies)
        expect(parts.locator("details")).to_have_count(3)
        sums.add(parts.locator("[data-parts=words]").inner_text())
        if plies == 2:
            for summary in parts.locator("summary").all():
                summary.click()
    assert len(sums) == 2
    expect(parts.locator("details[open]")).to_have_count(3)
