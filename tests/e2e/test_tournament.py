"""A tournament held, watched live and read after a reload; a schedule made, paused and deleted. Real workers play."""

import re

import pytest
from playwright.sync_api import Page, expect

from beadbox.rules.outcome import Side
from learning.models import Schedule, Tournament
from learning.services.machines import machine_create
from tests.conftest import StartWorker
from tests.e2e.conftest import Visitor
from tests.e2e.layout import PHONE_OPTIONS, faults_in_each_style, layout_faults
from tests.factories import machine, user
from tests.waiting import HANG_S

pytestmark = pytest.mark.e2e


def log_in(page: Page, name: str = "ada") -> None:
    page.goto("/login")
    page.locator("#id_username").fill(name)
    page.locator("#id_password").fill("a good password")
    page.locator("main button.is-main").click()
    expect(page.locator("nav a", has_text="Account")).to_be_visible()


def test_a_tournament_is_started_and_its_table_updated_live(
    page: Page, visitor: Visitor, start_worker: StartWorker
) -> None:
    ada = user("ada")
    machine(Side.FIRST, name="First drawer", owner=ada)
    machine(Side.SECOND, name="Second drawer", owner=ada)
    log_in(page)
    page.goto("/tournaments")
    page.locator("#hold").click()
    for name in ("First drawer", "Second drawer", "Random:", "Perfect:"):
        page.locator("label.choice", has_text=name).locator("input").check()
    page.locator("#id_games").fill("1000")
    page.locator("#begin").click()
    expect(page.locator("#status")).to_have_text("Running")
    expect(page.locator("#standings tbody tr")).to_have_count(4)
    guest = visitor(**PHONE_OPTIONS)
    guest.goto(page.url)
    expect(guest.locator("#cancel")).to_have_count(0)
    start_worker()  # now the tables fill without a reload, for all visitors
    Tournament.objects.get()
    for viewer_page in (page, guest):
        expect(viewer_page.locator("#status")).to_have_text("Finished", timeout=HANG_S * 1000)
        expect(viewer_page.locator("#done")).to_have_text("7 of 7 pairings")
        expect(viewer_page.locator("#standings tbody tr").first).to_contain_text("Perfect")
        expect(viewer_page.locator("#cross tbody td.cross-self")).to_have_count(4)
        expect(viewer_page.locator("#said")).to_have_text(
            "The tournament is finished. Perfect is first of those that play both sides."
            " First drawer is first of those that play crosses. Second drawer is first of those that play noughts."
        )
    assert faults_in_each_style(guest, layout_faults) == []
    expect(page.locator("#cancel-form")).to_be_hidden()
    table = page.locator("#standings").inner_text()
    page.reload()
    assert page.locator("#standings").inner_text() == table
    page.locator("#pairings-details summary").click()
    expect(page.locator("#pairings tbody tr")).to_have_count(7)


def test_enter_searches_in_the_search_field_else_submits(page: Page) -> None:
    ada = user("ada")
    for name in ("First drawer", "Other drawer"):
        machine(Side.FIRST, name=name, owner=ada)
    log_in(page)
    page.goto("/tournaments/new")
    for name in ("Random:", "Perfect:"):
        page.locator("label.choice", has_text=name).locator("input").check()
    page.locator("#id_name").fill("Cup")
    page.get_by_label("Search by name").fill("First")
    page.get_by_label("Search by name").press("Enter")
    expect(page.locator("label.choice", has_text="Other drawer")).to_have_count(0)
    assert not Tournament.objects.exists()
    expect(page.locator("#id_name")).to_have_value("Cup")
    page.locator("#id_games").fill("0")
    page.locator("#id_name").press("Enter")
    assert page.url.endswith("/tournaments/new#who"), "the browser itself refuses the form"
    page.locator("#id_games").fill("5")
    page.locator("#id_name").press("Enter")
    expect(page.locator("h1")).to_have_text("Cup")
    assert Tournament.objects.get().n_games == 5


def test_a_tournament_is_cancelled_and_deleted(page: Page) -> None:
    ada = user("ada")
    machine(Side.FIRST, name="First drawer", owner=ada)
    log_in(page)
    page.goto("/tournaments/new")
    page.locator("label.choice", has_text="First drawer").locator("input").check()
    page.locator("#begin").click()
    expect(page.locator("[role=alert]")).to_contain_text("2 to 32")
    expect(page.locator("#id_rounds")).to_be_hidden()
    page.locator("label.choice", has_text="Swiss").locator("input").check()
    page.locator("#id_rounds").fill("1")
    page.locator("label.choice", has_text="Random:").locator("input").check()
    page.locator("#begin").click()
    expect(page.locator("h1")).to_have_text("Swiss tournament of 2 players")
    page.locator("#cancel").click()
    expect(page.locator("#status")).to_have_text("Stopped")
    page.locator("#delete").click()
    page.locator("#yes").click()
    expect(page.locator(".notes")).to_contain_text("was deleted")
    assert not Tournament.objects.exists()


def test_a_schedule_is_created_paused_resumed_and_deleted(visitor: Visitor) -> None:
    page = visitor(**PHONE_OPTIONS, timezone_id="Asia/Kolkata")
    learner = machine(Side.FIRST, name="Night owl", owner=user("ada"))
    log_in(page)
    page.goto(f"/machines/{learner.pk}")
    page.locator("#owner-menu > summary").click()
    page.locator("#schedule").click()
    page.locator("[name=kind][value=daily]").check()
    page.locator("#id_at").fill("22:00")
    expect(page.locator("#id_timezone")).to_have_value("Asia/Calcutta")
    assert faults_in_each_style(page, layout_faults) == []
    page.locator("#save").click()
    expect(page.locator("h1")).to_have_text("Night owl trains every day at 22:00 Calcutta time")
    expect(page.locator("#next tbody tr")).to_have_count(5)
    expect(page.locator("#next time").first).to_contain_text("22:00")
    unknown_zone = page.context.new_page()
    unknown_zone.add_init_script("Intl.DateTimeFormat.prototype.resolvedOptions = () => ({timeZone: 'Etc/Unknown'})")
    unknown_zone.goto(f"/machines/{learner.pk}/schedule")
    expect(unknown_zone.locator("#id_timezone")).to_have_value("Asia/Calcutta")
    expect(unknown_zone.locator("main")).not_to_contain_text("Etc/Unknown")
    unknown_zone.close()
    assert faults_in_each_style(page, layout_faults) == []
    page.locator("#pause").click()
    expect(page.locator("#is-paused")).to_contain_text("This schedule is paused")
    page.locator("#pause").click()
    expect(page.locator("#next tbody tr")).to_have_count(5)
    page.locator("#delete").click()
    page.locator("#yes").click()
    expect(page.locator(".notes")).to_contain_text("was deleted")
    assert not Schedule.objects.exists()


@pytest.mark.soak
def test_a_romgon_tournament_has_no_exact_figures(page: Page, start_worker: StartWorker) -> None:
    user("ada")
    machine_create(game="romgon", side=None, name="Q")
    log_in(page)
    page.goto("/tournaments/new?game=romgon")
    expect(page.get_by_text("Here a machine plays either side")).to_be_visible()
    for name in ("Q, plays either side", "Medium engine:"):
        page.locator("label.choice", has_text=name).locator("input").check()
    page.locator("#id_games").fill("2")
    page.locator("#begin").click()
    start_worker()
    expect(page.locator("#status")).to_have_text("Finished", timeout=HANG_S * 1000)
    expect(page.locator("#done")).to_have_text("2 of 2 pairings")
    rows = page.locator("#standings tbody tr")
    expect(rows).to_have_count(2)
    for row in (rows.first, rows.last):
        expect(row.locator("td").nth(2)).to_have_text("–")
    expect(page.locator("#cross tbody small")).to_have_count(0)
    expect(page.locator("#cross tbody td.figure").first).to_have_text(re.compile(r"^\d+\.\d$"))
