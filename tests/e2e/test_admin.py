"""The staff's pages: boards shown as boards, beads as bars, history read-only."""

import re
from typing import Any

import pytest
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import Page, expect

from games.models import Match
from learning.models import Box, Machine
from tests.e2e.axe import violations
from tests.e2e.playing import play_out_mouse, start_first
from tests.factories import house_machines, user

pytestmark = pytest.mark.e2e

EDITABLE_FIELDS = {"name", "description", "is_public", "learns"}


@pytest.fixture(autouse=True)
def _staff(page: Page) -> None:
    """Create the built-in machines and log a member of staff in."""
    house_machines()
    user("staff", is_staff=True, is_superuser=True)
    page.goto("/admin/")
    page.get_by_label("Username").fill("staff")
    page.get_by_label("Password").fill("a good password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Site administration")).to_be_visible()


def expect_read_only(page: Page) -> None:
    """Check that nothing can be filled in, saved or deleted."""
    expect(page.locator("#content-main form input:not([type=hidden]), #content-main form textarea")).to_have_count(0)
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    expect(page.get_by_role("link", name="Delete")).to_have_count(0)


def test_boxes_are_shown_as_boards_and_bars(page: Page) -> None:
    machine = Machine.objects.get(slug="menace-first")
    page.goto(f"/admin/learning/box/?machine__id__exact={machine.pk}&move_number=2")
    rows = page.locator("#result_list tbody tr")
    expect(rows).to_have_count(Box.objects.filter(machine=machine, move_number=2).count())
    expect(rows.locator("bead-board svg")).to_have_count(rows.count())
    expect(rows.locator("bead-bars ul.bead-bars")).to_have_count(rows.count())
    expect(page.locator("#changelist-filter")).to_contain_text("By visited")
    expect(page.locator(".object-tools").get_by_role("link", name="Add ")).to_have_count(0)
    rows.first.locator("th a").click()
    expect(page.locator("bead-board svg").first).to_be_visible()
    expect(page.locator("bead-bars li").first).to_be_visible()
    expect_read_only(page)


def test_the_filter_of_visited_boxes(page: Page) -> None:
    start_first(page)
    play_out_mouse(page)
    visited_boxes = [box for box in Box.objects.all() if any(box.visits)]
    page.goto("/admin/learning/box/?visited=yes")
    expect(page.locator("#result_list tbody tr")).to_have_count(len(visited_boxes))


def test_a_match_is_shown_with_its_plies(page: Page) -> None:
    start_first(page)
    play_out_mouse(page)
    match = Match.objects.get()
    page.goto("/admin/games/match/")
    page.get_by_role("link", name=str(match)).click()
    plies = page.locator("#plies-group tbody tr.has_original, #plies-group tr.form-row.has_original")
    expect(plies).to_have_count(match.n_plies)
    expect(plies.locator("bead-board svg")).to_have_count(match.n_plies)
    expect(page.locator("#seats-group")).to_contain_text("MENACE the Second")
    expect_read_only(page)


@pytest.mark.parametrize("width", [360, 768, 1024])
def test_a_list_fits_a_narrow_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/admin/learning/machine/")
    table = page.locator("#changelist .results").bounding_box()
    assert table
    assert table["width"] >= 0.8 * width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("#changelist-filter")).to_be_visible()


def test_a_machine_has_only_its_editable_fields(page: Page) -> None:
    page.goto("/admin/learning/machine/")
    expect(page.locator("#result_list tbody tr")).to_have_count(2)
    page.get_by_role("link", name="MENACE the Second").click()
    fields = page.locator("#machine_form").locator("input:not([type=hidden], [type=submit]), textarea, select")
    expect(fields.first).to_be_visible()
    assert {field.get_attribute("name") for field in fields.all()} == EDITABLE_FIELDS
    expect(page.get_by_role("link", name="Delete")).to_have_count(0)
    page.locator("#machine_form").get_by_role("link", name="Boxes", exact=True).click()
    expect(page.locator("#result_list bead-board svg").first).to_be_visible()


@pytest.mark.parametrize("address", ["games/room", "games/match", "learning/lesson", "learning/trainingrun"])
@pytest.mark.sampled(1)
def test_history_is_read_only(page: Page, address: str) -> None:
    start_first(page)
    play_out_mouse(page)
    page.goto(f"/admin/{address}/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".object-tools").get_by_role("link", name="Add ")).to_have_count(0)
    row_links = page.locator("#result_list tbody th a")
    if row_links.count():
        row_links.first.click()
        expect_read_only(page)


def test_second_factor_is_set_up_by_keyboard_on_a_phone(page: Page, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = True
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto("/admin/games/match/")
    expect(page.get_by_role("heading", name="Set up your second factor")).to_be_visible()
    expect(page.get_by_role("img", name="The key as a QR code")).to_be_visible()
    assert violations(page) == []
    field = page.get_by_label("Code:")
    field.focus()
    page.keyboard.type("000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("That is not the code")
    TOTPDevice.objects.update(throttling_failure_count=0)
    field.fill(f"{totp(TOTPDevice.objects.get().bin_key):06d}")
    field.press("Enter")
    expect(page.locator(".recovery-codes li")).to_have_count(10)
    assert violations(page) == []
    page.get_by_role("link", name="I have them. Go on").click()
    expect(page).to_have_url(re.compile("/admin/games/match/$"))
