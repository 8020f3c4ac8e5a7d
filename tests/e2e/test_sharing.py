"""A machine shown to a friend, a match at its own address, and own machines first: on a phone and on a laptop."""

import os

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.axe import violations
from tests.e2e.conftest import Visitor, Watch
from tests.e2e.everywhere import browser_options
from tests.e2e.layout import layout_faults
from tests.e2e.playing import code_of, expect_turn, match_of, play_out_mouse
from tests.factories import house_machines, machine, trained_machine

pytestmark = pytest.mark.e2e

PHONE_AND_LAPTOP = pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 720)])
TEACH_BUTTON = 'form[action="/teach"]:has([value="noughts-and-crosses"]) button'


def check_page(page: Page, name: str) -> None:
    """Check layout and accessibility; save a picture if the environment names a folder."""
    assert layout_faults(page) == []
    assert violations(page) == []
    if folder := os.environ.get("BEADBOX_PICTURES"):
        size = page.viewport_size or {"width": 0}
        page.screenshot(path=f"{folder}/{name}-{size['width']}.png", full_page=True)


@PHONE_AND_LAPTOP
def test_a_shared_link_shows_the_machine_until_withdrawn(
    visitor: Visitor, watch: Watch, width: int, height: int
) -> None:
    child, friend = visitor(**browser_options(width, height)), visitor(**browser_options(width, height))
    child.goto("/")
    child.locator(TEACH_BUTTON).first.click()
    expect_turn(child)
    play_out_mouse(child)
    child.goto("/")
    check_page(child, "front-own")
    child.get_by_role("link", name="Look inside My MENACE").click()
    child.locator("#share").click()
    check_page(child, "share-before")
    child.get_by_role("link", name="Give it another name").click()
    child.get_by_label("Name").fill("Robbie")
    check_page(child, "rename")
    child.locator("#save").click()
    child.locator("#share").click()
    child.locator("#make-link").click()
    check_page(child, "share-after")
    link = child.locator("#share-url").input_value()

    friend.goto(link)
    expect(friend.get_by_role("heading", level=1)).to_have_text("Robbie")
    assert "/shared/" not in friend.url
    expect(friend.locator("#progress svg").first).to_be_visible()
    expect(friend.locator("#wall > *").first).to_be_visible()
    check_page(friend, "machine-shared")
    friend.locator("#play").click()
    expect_turn(friend)
    expect(friend.locator("#seats")).to_contain_text("Robbie (copy)")
    play_out_mouse(friend)
    check_page(friend, "match-shared")

    child.locator("#end-link").click()
    expect(child.get_by_role("status").first).to_contain_text("The link is taken back.")
    watch.allow("404")
    friend.goto(link)
    expect(friend.locator("main")).to_contain_text("This link has been taken back. Ask your friend for a new one.")
    check_page(friend, "link-ended")


@PHONE_AND_LAPTOP
def test_a_finished_match_keeps_its_address_and_its_replay(
    visitor: Visitor, watch: Watch, width: int, height: int
) -> None:
    page = visitor(**browser_options(width, height))
    page.goto("/")
    page.locator(TEACH_BUTTON).first.click()
    expect_turn(page)
    play_out_mouse(page)
    code, moves = code_of(page), match_of(page).n_plies
    address = page.locator("#own-address a").get_attribute("href")
    assert address == f"/rooms/{code}/matches/1"
    page.locator("#again").click()
    expect_turn(page)
    page.goto(address)
    expect(page.locator("#past-match")).to_contain_text(f"Game 1 in room {code}.")
    expect(page.locator("#status")).to_have_attribute("data-status", "finished")
    expect(page.locator("#moves button")).to_have_count(moves)
    for button in ("#again", "#swap", "#resign"):
        expect(page.locator(button)).to_be_hidden()
    page.locator("#to-first").click()
    expect(page.locator("#board")).to_have_class("is-past")
    expect(page.locator("#replay-words")).not_to_contain_text("Look back")
    page.locator("#to-last").click()
    expect(page.locator("#board")).not_to_have_class("is-past")
    check_page(page, "match-past")
    watch.allow("404")
    page.goto(f"/rooms/{code}/matches/9")
    expect(page.locator("main")).to_contain_text(f"Room {code} has no game 9.")


@PHONE_AND_LAPTOP
def test_the_list_of_machines_is_short_with_own_ones_first(visitor: Visitor, width: int, height: int) -> None:
    house_machines()
    for k in range(14):
        trained_machine(machine(name=f"Machine {k}"), 10)
    page = visitor(**browser_options(width, height))
    page.goto("/")
    page.locator(TEACH_BUTTON).first.click()
    expect_turn(page)
    page.goto("/machines")
    expect(page.locator(".list-board svg .ruling").first).to_be_visible()
    first = page.locator(".machine-list h2").first
    expect(first).to_have_text("My MENACE")
    assert page.evaluate("document.documentElement.scrollHeight") < (3400 if width < 400 else 2400)
    check_page(page, "machines")
