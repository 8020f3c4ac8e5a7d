"""A personal machine: by mouse in one click, by keyboard on a phone, its page and menu, hidden from others."""

import re

import pytest
from playwright.sync_api import Page, expect

from learning.models import Machine
from tests.e2e.axe import violations
from tests.e2e.conftest import Visitor, Watch
from tests.e2e.everywhere import browser_options
from tests.e2e.layout import layout_faults
from tests.e2e.playing import expect_turn, match_of, play_mouse, play_out_mouse, tab_to

pytestmark = pytest.mark.e2e

TEACH_BUTTON = 'form[action="/teach"]:has([value="noughts-and-crosses"]) button'
PROGRESS_TEXT = "#progress-words > p"


def personal_machine_of(page: Page) -> Machine:
    return Machine.objects.get(machine_seats__seat__match=match_of(page), is_pupil=True)


def test_one_click_starts_a_personal_machine(page: Page, visitor: Visitor, watch: Watch) -> None:
    page.goto("/")
    page.locator(TEACH_BUTTON).first.click()
    expect_turn(page)
    expect(page.locator(PROGRESS_TEXT)).to_contain_text(
        "It has not finished a game yet. At the start it draws each kind of bead equally often."
    )
    own_machine = personal_machine_of(page)
    play_out_mouse(page)
    expect(page.locator(PROGRESS_TEXT)).to_contain_text("It has played 1 game. It ")
    against_random, against_perfect = page.locator("#progress-words .progress-curve").all()
    expect(against_random).to_contain_text(re.compile("Against random play .* before its first game"))
    expect(against_perfect).to_contain_text(re.compile("Against a perfect player .* before its first game"))
    expect(against_random.locator("svg")).to_have_attribute("aria-label", re.compile("^Curve: Against random play"))
    expect(page.locator("#progress-words .result-dots svg")).to_have_count(1)
    first_box = page.locator("#progress-words .bead-row .visually-hidden")
    expect(first_box).to_have_count(2)
    assert first_box.first.inner_text() != first_box.last.inner_text().replace("Now", "Before")
    # Every changed box, with all of its beads before and after.
    rows = page.locator(".change-box").first.locator(".bead-row")
    expect(rows).to_have_count(2)
    before, after = (rows.nth(at).locator(".visually-hidden").inner_text().split(": ")[1] for at in range(2))
    assert before != after
    assert violations(page) == []

    # The visitor keeps the machine from match to match. On its page the owner's menu opens by keyboard.
    page.locator("#again").click()
    expect_turn(page)
    play_out_mouse(page)
    expect(page.locator(PROGRESS_TEXT)).to_contain_text("It has played 2 games. It ")
    page.goto(f"/machines/{own_machine.pk}")
    expect(page.locator("#progress")).to_contain_text("It has played 2 games. It ")
    expect(page.locator("#progress .progress-curve svg").first).to_be_visible()
    expect(page.locator("#progress")).not_to_contain_text("Counting its beads")
    assert violations(page) == []
    tab_to(page, "#owner-menu > summary")
    page.keyboard.press("Enter")
    expect(page.locator("#owner-menu")).to_have_attribute("open", "")
    assert violations(page) == []
    tab_to(page, f'#owner-menu a[href="/machines/{own_machine.pk}/reset"]')
    page.keyboard.press("Enter")  # makes it forget everything
    page.locator("#confirm").click()
    expect(page.locator("#progress")).to_contain_text("It has not finished a game yet")

    stranger = visitor()
    watch.allow("404")
    stranger.goto(f"/machines/{own_machine.pk}")
    expect(stranger.locator("main")).not_to_contain_text(own_machine.name)
    stranger.goto("/")
    stranger.locator(TEACH_BUTTON).first.click()
    expect_turn(stranger)
    assert personal_machine_of(stranger) != own_machine


def test_a_personal_machine_by_keyboard_moves_to_an_account(visitor: Visitor) -> None:
    phone = visitor(**browser_options(360, 740, dark=True))
    phone.goto("/")
    tab_to(phone, TEACH_BUTTON)
    phone.keyboard.press("Enter")
    expect_turn(phone)
    own_machine = personal_machine_of(phone)
    tab_to(phone, "#board [data-cell]")
    play_mouse(phone)
    expect(phone.locator(PROGRESS_TEXT)).to_be_visible()
    assert layout_faults(phone) == []
    phone.goto("/signup")
    phone.get_by_label("Username").fill("ann")
    phone.locator('[name="password1"]').fill("a good password")
    phone.locator('[name="password2"]').fill("a good password")
    phone.get_by_role("button", name="Make my account").click()
    expect(phone.locator("main")).to_contain_text(own_machine.name)
    phone.goto(f"/machines/{own_machine.pk}")
    expect(phone.locator("#train")).to_be_visible()
    assert layout_faults(phone) == []
