"""Accounts: created during play, logged in and out of, passwords changed, forgotten and guessed."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core import mail
from playwright.sync_api import Page, expect

from beadbox.rules.outcome import Side
from games.models import Seat
from tests.e2e.axe import violations
from tests.e2e.conftest import Visitor, Watch
from tests.e2e.playing import expect_turn, play_mouse, play_out_mouse, start_first
from tests.factories import house_machines, user

pytestmark = pytest.mark.e2e

PASSWORD = "a good password"  # the password of every account from the factories
NEW_PASSWORD = "seven glass beads"


def log_in(page: Page, name: str = "owner", password: str = PASSWORD) -> None:
    page.goto("/login")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(password)
    page.locator("main").get_by_role("button", name="Log in").click()


def expect_logged_in(page: Page) -> None:
    expect(page.get_by_role("navigation").get_by_role("link", name="Account")).to_be_visible()


def expect_logged_out(page: Page) -> None:
    expect(page.get_by_role("navigation").get_by_role("link", name="Log in")).to_be_visible()


def test_a_guest_signs_up_and_keeps_the_match(page: Page) -> None:
    house_machines()
    start_first(page)
    play_out_mouse(page)
    room = page.url
    page.get_by_role("navigation").get_by_role("link", name="Log in").click()
    page.get_by_role("link", name="Make an account").click()
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Email").fill("ada@example.com")
    page.get_by_label("Password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("Password again").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Make my account").click()

    expect(page.locator("h1")).to_have_text("ada")
    expect(page.locator(".rooms li")).to_have_count(1)
    expect(page.locator(".rooms li")).to_contain_text("against MENACE the Second")
    assert Seat.objects.get(player="human").user == get_user_model().objects.get(username="ada")
    page.get_by_role("link", name="Look").click()
    expect(page).to_have_url(f"{room}/matches/1")
    page.goto(room)
    # The new account can continue with the machine.
    page.locator("#again").click()
    expect_turn(page)


def test_a_match_goes_on_after_logging_in(page: Page) -> None:
    house_machines()
    user()
    start_first(page)
    play_mouse(page, "5")
    room = page.url
    log_in(page)
    expect_logged_in(page)
    page.goto(room)
    expect_turn(page)
    play_out_mouse(page)
    page.goto("/account")
    expect(page.locator(".rooms li")).to_have_count(1)


def test_the_account_page_lists_a_played_copy(page: Page) -> None:
    second = house_machines()[Side.SECOND]
    user()
    log_in(page)
    page.goto(second.get_absolute_url())
    page.locator("#play-copy").click()
    expect_turn(page)
    page.goto("/account")
    machines = page.locator("section", has=page.get_by_role("heading", name="Your machines"))
    expect(machines.get_by_role("listitem")).to_contain_text("MENACE the Second (copy)")


def test_logging_in_and_out(page: Page) -> None:
    user()
    page.goto("/account")
    expect(page.get_by_text("Log in to see all your matches and machines.")).to_be_visible()
    log_in(page)
    expect_logged_in(page)
    page.goto("/account")
    page.get_by_role("button", name="Log out").click()
    expect_logged_out(page)
    page.goto("/account")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_log_in_leads_to_the_requested_page(page: Page) -> None:
    user()
    page.goto("/account")
    page.get_by_label("Username").fill("owner")
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(page).to_have_url(re.compile("/account$"))


def test_a_password_can_be_shown_while_typing(page: Page) -> None:
    page.goto("/signup")
    field = page.get_by_label("Password", exact=True)
    field.fill(NEW_PASSWORD)
    box_before = field.bounding_box()
    show_button = page.get_by_role("button", name="Show Password", exact=True)
    expect(show_button).to_have_attribute("aria-pressed", "false")
    field.press("Tab")
    expect(show_button).to_be_focused()
    show_button.press("Space")
    expect(field).to_have_attribute("type", "text")
    expect(show_button).to_have_attribute("aria-pressed", "true")
    assert field.bounding_box() == box_before
    assert violations(page) == []
    expect(page.get_by_label("Password again")).to_have_attribute("type", "password")
    show_button.press("Enter")
    expect(field).to_have_attribute("type", "password")
    expect(field).to_have_value(NEW_PASSWORD)


@pytest.mark.soak
def test_a_shown_password_is_hidden_before_it_is_sent(page: Page) -> None:
    user()
    page.goto("/login")
    page.get_by_label("Username").fill("owner")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Show Password").click()
    field = page.locator("#id_password")
    expect(field).to_have_attribute("type", "text")
    page.evaluate("document.querySelector('main form').addEventListener('submit', (event) => event.preventDefault())")
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(field).to_have_attribute("type", "password")


@pytest.mark.soak
def test_a_button_copies_a_new_token(page: Page, owner: Any) -> None:
    page.goto("/account/tokens")
    page.locator("#id_name").fill("My notebook")
    page.locator("main form [type=checkbox]").first.check()
    page.get_by_role("button", name="Make a token").click()
    page.get_by_role("button", name="Copy token").click()
    expect(page.locator("#copied")).to_have_text("The token is copied.")


def test_a_password_is_changed(page: Page, visitor: Visitor) -> None:
    user()
    log_in(page)
    page.goto("/account")
    page.get_by_role("link", name="Change password").click()
    page.get_by_label("Old password").fill("not the one")
    page.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("New password again").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.locator(".errorlist")).to_contain_text("Your old password was entered incorrectly")
    page.get_by_label("Old password").fill(PASSWORD)
    page.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("New password again").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("heading", name="Password changed")).to_be_visible()
    other_browser = visitor()
    log_in(other_browser, password=NEW_PASSWORD)
    expect_logged_in(other_browser)


def test_a_forgotten_password_is_reset_by_e_mail(page: Page) -> None:
    user(email="owner@example.com")
    page.goto("/login")
    page.get_by_role("link", name="Get a new password").click()
    page.get_by_label("Email").fill("owner@example.com")
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
    (message,) = mail.outbox
    assert message.to == ["owner@example.com"]
    (link,) = re.findall(r"http://\S+", str(message.body))
    page.goto(link)
    page.get_by_label("New password", exact=True).fill("12345678")
    page.get_by_label("New password again").fill("12345678")
    page.get_by_role("button", name="Keep this password").click()
    expect(page.locator(".errorlist").first).to_be_visible()
    page.get_by_label("New password", exact=True).fill(NEW_PASSWORD)
    page.get_by_label("New password again").fill(NEW_PASSWORD)
    page.get_by_role("button", name="Keep this password").click()
    expect(page.get_by_text("Your new password works, and you are logged in.")).to_be_visible()
    expect_logged_in(page)
    page.context.clear_cookies()
    log_in(page, password=NEW_PASSWORD)
    expect_logged_in(page)
    page.goto(link)
    expect(page.get_by_text("This link is too old, or it was used already.")).to_be_visible()


@pytest.mark.soak
def test_a_reset_for_an_unknown_address_looks_the_same(page: Page) -> None:
    page.goto("/password/reset")
    page.get_by_label("Email").fill("nobody@example.com")
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
    assert mail.outbox == []


def test_wrong_passwords_lock_the_account(page: Page, watch: Watch) -> None:
    watch.allow("429")
    user()
    log_in(page, password="not the one")
    expect(page.get_by_role("alert")).to_contain_text("Please enter a correct username and password.")
    expect(page.get_by_label("Username")).to_have_value("owner")
    for _ in range(settings.AXES_FAILURE_LIMIT - 2):
        log_in(page, password="not the one")
        expect(page.get_by_role("alert")).to_be_visible()
    log_in(page, password="not the one")
    expect(page.get_by_role("heading", name="Too many tries")).to_be_visible()
    # The right password does not help until the time is up; play goes on without an account.
    log_in(page)
    expect(page.get_by_role("heading", name="Too many tries")).to_be_visible()
    page.get_by_role("link", name="play without an account").click()
    expect(page.locator(".game .is-main").first).to_be_visible()


def test_sign_up_shows_the_errors_of_its_fields(page: Page) -> None:
    user("ada")
    page.goto("/signup")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password", exact=True).fill("12345678")
    page.get_by_label("Password again").fill("87654321")
    page.get_by_role("button", name="Make my account").click()
    expect(page.locator(".errorlist")).to_contain_text(["already exists", "didn’t match"])
    expect(page.get_by_label("Username")).to_have_attribute("aria-invalid", "true")
