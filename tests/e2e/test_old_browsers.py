"""Old browsers of schools: the message of a page without running scripts, and its look without new styles."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, Route, expect

from beadbox.rules.outcome import Side
from learning.services.machines import machine_create
from tests.e2e.conftest import LiveSite, Visitor, Watch
from tests.e2e.contrast import LOW_BEAD_CONTRASTS, low_contrasts
from tests.e2e.everywhere import STATES, browser_options, create_world, play_romgon, play_to_end, play_to_middle
from tests.e2e.lab import EMPTY_LAB_ADDRESSES, LAB_STATES, create_lab, run_in_thread, sign_in
from tests.e2e.playing import start_first
from tests.factories import finished_experiment, house_machines, trained_machine, user

pytestmark = pytest.mark.e2e

NOT_RUN_TEXT = "This script did not run."
BROWSERS_TEXT = "Beadbox works in Safari 15.4, Chrome 100, Edge 100 and Firefox 100, and in newer ones."
MAX_REPORT_MS = 5_000
OUR_MODULES = re.compile(r"/static/js/(?!theme|started|site|socket)\w+\.js")


def script_report(page: Page) -> Locator:
    """Return the page's message about its scripts, as a screen reader finds it."""
    return page.get_by_role("alert").filter(has_text=NOT_RUN_TEXT)


def respond_not_found(route: Route) -> None:
    route.fulfill(status=404, body="")


def respond_syntax_error(route: Route) -> None:
    route.fulfill(body="let = = ;", content_type="text/javascript")


def respond_exception(route: Route) -> None:
    route.fulfill(body="[].someMethodOfTomorrow();", content_type="text/javascript")


def respond_rejection(route: Route) -> None:
    route.fulfill(body="(async () => [].someMethodOfTomorrow())();", content_type="text/javascript")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("respond", [respond_not_found, respond_syntax_error, respond_exception, respond_rejection])
def test_a_match_reports_broken_scripts_at_once(
    page: Page, visitor: Visitor, watch: Watch, respond: Callable[[Route], None]
) -> None:
    watch.allow("404", "exception: ", "SyntaxError", "TypeError")
    house_machines()
    start_first(page)
    for motion in ("reduce", "no-preference"):
        other = visitor(reduced_motion=motion)
        other.route(OUR_MODULES, respond)
        other.goto(page.url)
        expect(script_report(other)).to_be_visible()
        expect(script_report(other)).to_contain_text(BROWSERS_TEXT)
        expect(other.get_by_text("Setting up the board…")).to_be_hidden()
        other.context.close()


def test_a_match_reports_disabled_javascript(page: Page, visitor: Visitor, watch: Watch) -> None:
    watch.allow("failed: csp")  # the browser's word for a script that it does not load
    house_machines()
    start_first(page)
    other = visitor(java_script_enabled=False)
    other.goto(page.url)
    expect(script_report(other)).to_be_visible()
    expect(other.get_by_text("Setting up the board…")).to_be_hidden()


@pytest.mark.soak
def test_a_match_reports_a_browser_without_modules(page: Page, visitor: Visitor) -> None:
    house_machines()
    start_first(page)
    other = visitor()
    other.add_init_script("delete HTMLScriptElement.prototype.noModule")
    other.route("**/rooms/*", respond_without_modules)
    other.goto(page.url)
    expect(script_report(other)).to_be_visible()


def respond_without_modules(route: Route) -> None:
    response = route.fetch()
    route.fulfill(response=response, body=response.text().replace('type="module"', 'type="unknown"'))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
@pytest.mark.parametrize("blocked", [OUR_MODULES, re.compile(r"/static/js/(?!theme)\w+\.js")])
def test_match_reports_hanging_scripts_within_five_seconds(
    page: Page, visitor: Visitor, blocked: re.Pattern[str], motion: str
) -> None:
    """If the script that reports missing scripts hangs too, a style sheet shows the report."""
    house_machines()
    start_first(page)
    other = visitor(reduced_motion=motion)
    other.route(blocked, lambda _: None)
    other.goto(page.url, wait_until="commit")
    expect(other.get_by_text("Setting up the board…")).to_be_visible()
    expect(script_report(other)).to_be_hidden()
    durations_ms = other.evaluate("document.getAnimations().map(({ effect }) => effect.getComputedTiming().endTime)")
    assert durations_ms
    assert max(durations_ms) <= MAX_REPORT_MS
    other.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
    expect(script_report(other)).to_be_visible()
    expect(other.get_by_text("Setting up the board…")).to_be_hidden()


def test_the_report_disappears_when_late_scripts_run(page: Page, visitor: Visitor) -> None:
    house_machines()
    start_first(page)
    other = visitor()
    held_routes: list[Route] = []

    def hold_route(route: Route) -> None:  # Playwright accepts no method of a built-in type
        held_routes.append(route)

    other.route(re.compile(r"/static/js/dom\.js"), hold_route)
    other.goto(page.url, wait_until="commit")
    expect(other.get_by_text("Setting up the board…")).to_be_visible()
    other.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
    expect(script_report(other)).to_be_visible()
    for route in held_routes:
        route.continue_()
    expect(script_report(other)).to_be_hidden()
    expect(other.locator("#board .cell").first).to_be_visible()


def test_screen_readers_get_no_report_from_a_running_page(page: Page) -> None:
    house_machines()
    start_first(page)
    expect(page.locator(".no-scripts")).to_have_count(1)
    expect(script_report(page)).to_have_count(0)
    assert NOT_RUN_TEXT not in page.locator("body").aria_snapshot()


def test_every_page_with_scripts_reports_that_none_ran(visitor: Visitor, watch: Watch) -> None:
    machine = house_machines()[Side.FIRST]
    trained_machine(machine, 30)
    own = machine.get_absolute_url()
    box = machine.boxes.first()
    assert box is not None
    pages = [
        *(
            own,
            f"{own}/boxes",
            f"{own}/why",
            box.get_absolute_url(),
            f"/runs/{machine.runs.get().pk}",
            f"/machines/compare?machine={machine.pk}",
        ),
        *("/learn", "/learn/hexapawn", "/ai", "/api/docs", "/learnt/romgon"),
    ]
    without_scripts = visitor(java_script_enabled=False)
    broken_scripts = visitor()
    broken_scripts.route(
        re.compile(r"/static/(js/(?!theme|started|site|socket)\w+|.*swagger.*)\.js"), respond_not_found
    )
    watch.allow("404", "failed: csp", "SwaggerUIBundle")
    wrong = []
    for address in pages:
        for page in (without_scripts, broken_scripts):
            page.goto(address)
            if not script_report(page).first.is_visible():
                wrong.append(f"{address} {'without' if page is without_scripts else 'with broken'} scripts")
    assert wrong == []


@pytest.mark.soak
def test_every_lab_page_with_scripts_reports_that_none_ran(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    page = visitor()
    account = user("grace")
    sign_in(page.context, live_site, account)
    data = create_lab(watch, account)
    page.route(OUR_MODULES, respond_not_found)
    watch.allow("404")
    run_in_thread(lambda: finished_experiment("gardner", machines=10))
    tables = run_in_thread(
        lambda: machine_create(game="noughts-and-crosses", side=None, name="Table", preset="td-boards")
    )
    addresses = [
        *(f"/runs/{run.pk}" for run in data.runs.values()),
        *(f"/tournaments/{tournament.pk}" for tournament in data.tournaments.values()),
        *(f"/machines/{machine.pk}" for machine in data.machines.values()),
        *("/experiments/gardner", f"/machines/{tables.pk}/values"),
    ]
    without_report = []
    for address in addresses:
        page.goto(address)
        without_report += [] if script_report(page).first.is_visible() else [address]
    assert without_report == []


@cache
def reduced_style_sheets() -> dict[str, str]:
    """Return the style sheets by name, without everything that the oldest browsers ignore."""
    paths = [str(path.relative_to(settings.BASE_DIR)) for path in (settings.BASE_DIR / "static/css").glob("*.css")]
    node = Path(sys.executable).with_name("node")
    command = [node, "tests/js/old_browser.js", *paths]
    output = subprocess.run(command, cwd=settings.BASE_DIR, check=True, capture_output=True, text=True).stdout
    return {Path(path).stem: sheet for path, sheet in json.loads(output).items()}


def use_reduced_style_sheets(page: Page) -> Page:
    """Replace the page's style sheets by those that the oldest browsers read."""

    def respond_reduced(route: Route) -> None:
        name = route.request.url.rpartition("/")[2].partition(".")[0]
        route.fulfill(body=reduced_style_sheets()[name], content_type="text/css")

    page.route(re.compile(r"/static/css/[\w.]+\.css"), respond_reduced)
    return page


def test_reduced_style_sheets_have_no_new_features() -> None:
    for name, sheet in reduced_style_sheets().items():
        assert not re.search(
            r"@supports|light-dark\(|:has\(|color-mix\(|\d[dls]vh", re.sub(r"/\*.*?\*/", "", sheet, flags=re.S)
        ), name


@pytest.mark.parametrize("width", [pytest.param(360, marks=pytest.mark.soak), 1280])
def test_an_old_browser_shows_the_main_pages(visitor: Visitor, width: int) -> None:
    machine = house_machines()[Side.FIRST]
    page = use_reduced_style_sheets(visitor(**browser_options(width, 800)))
    own = machine.get_absolute_url()
    faults = {}
    for address in ("/", own, f"{own}/why", "/ai", "/machines", "/about", "/play/romgon-flip-turn", "/login"):
        page.goto(address)
        faults[address] = low_contrasts(page)
    no_world: Any = None  # these visits do not use the data
    for visit in (play_to_middle, play_to_end, play_romgon):
        visit(page, no_world)
        faults[visit.__name__] = low_contrasts(page)
    assert {name: wrong for name, wrong in faults.items() if wrong} == {}


@pytest.mark.soak
def test_an_old_browser_follows_the_chosen_theme(visitor: Visitor) -> None:
    house_machines()
    page = use_reduced_style_sheets(visitor(**{**browser_options(1280, 800), "color_scheme": "light"}))
    colours = "getComputedStyle(document.body).color + getComputedStyle(document.documentElement).backgroundColor"
    page.goto("/")
    light = page.evaluate(colours)
    page.locator("#theme").click()
    dark = page.evaluate(colours)
    assert dark != light
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colours) == dark
    page.locator("#theme").click()
    assert page.evaluate(colours) == light


@pytest.mark.soak
def test_an_old_browser_shows_every_page(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    data = create_world(live_site, watch)
    faults = {}
    for name, visit in STATES.items():
        page = use_reduced_style_sheets(visitor(**browser_options(1280, 800)))
        visit(page, data)
        wrong = low_contrasts(page)
        if name == "match-sheet":
            wrong += page.evaluate(LOW_BEAD_CONTRASTS)
        faults |= {name: wrong} if wrong else {}
        page.context.close()
    assert faults == {}


@pytest.mark.soak
def test_an_old_browser_shows_every_page_of_the_lab(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    page = use_reduced_style_sheets(visitor(**browser_options(1280, 800)))
    account = user("grace")
    sign_in(page.context, live_site, account)
    faults = {}
    for name, address in EMPTY_LAB_ADDRESSES.items():
        page.goto(address)
        faults[f"empty {name}"] = low_contrasts(page)
    data = create_lab(watch, account)
    for name, visit in LAB_STATES.items():
        if name == "api-docs":  # another project's page
            continue
        visit(page, data)
        faults[name] = low_contrasts(page)
    assert {name: wrong for name, wrong in faults.items() if wrong} == {}
