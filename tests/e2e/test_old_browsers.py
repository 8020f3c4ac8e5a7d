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
from tests.e2e.contrast import DULL_BEADS, faint
from tests.e2e.everywhere import STATES, options, play_finished, play_mid, play_romgon, world
from tests.e2e.lab import EMPTY, LAB, aside, lab, sign_in
from tests.e2e.playing import start_first
from tests.factories import finished_experiment, house_machines, trained_machine, user

pytestmark = pytest.mark.e2e

NOT_RUN = "This script did not run."
LIST = "Beadbox works in Safari 15.4, Chrome 100, Edge 100 and Firefox 100, and in newer ones."
SAYS_WITHIN_MS = 5_000
OUR_MODULES = re.compile(r"/static/js/(?!theme|started|site|socket)\w+\.js")


def said(page: Page) -> Locator:
    """Return the page's message about its scripts, as a screen reader finds it."""
    return page.get_by_role("alert").filter(has_text=NOT_RUN)


def missing(route: Route) -> None:
    route.fulfill(status=404, body="")


def misread(route: Route) -> None:
    route.fulfill(body="let = = ;", content_type="text/javascript")


def breaking(route: Route) -> None:
    route.fulfill(body="[].someMethodOfTomorrow();", content_type="text/javascript")


def rejecting(route: Route) -> None:
    route.fulfill(body="(async () => [].someMethodOfTomorrow())();", content_type="text/javascript")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("answer", [missing, misread, breaking, rejecting])
def test_a_match_says_at_once_that_its_scripts_broke_off(
    page: Page, visitor: Visitor, watch: Watch, answer: Callable[[Route], None]
) -> None:
    watch.allow("404", "exception: ", "SyntaxError", "TypeError")
    house_machines()
    start_first(page)
    for stillness in ("reduce", "no-preference"):
        other = visitor(reduced_motion=stillness)
        other.route(OUR_MODULES, answer)
        other.goto(page.url)
        expect(said(other)).to_be_visible()
        expect(said(other)).to_contain_text(LIST)
        expect(other.get_by_text("Setting up the board…")).to_be_hidden()
        other.context.close()


def test_a_match_says_it_without_javascript(page: Page, visitor: Visitor, watch: Watch) -> None:
    watch.allow("failed: csp")  # what the browser calls a script that it does not fetch
    house_machines()
    start_first(page)
    other = visitor(java_script_enabled=False)
    other.goto(page.url)
    expect(said(other)).to_be_visible()
    expect(other.get_by_text("Setting up the board…")).to_be_hidden()


@pytest.mark.soak
def test_a_match_says_it_in_a_browser_without_modules(page: Page, visitor: Visitor) -> None:
    house_machines()
    start_first(page)
    other = visitor()
    other.add_init_script("delete HTMLScriptElement.prototype.noModule")
    other.route("**/rooms/*", without_modules)
    other.goto(page.url)
    expect(said(other)).to_be_visible()


def without_modules(route: Route) -> None:
    response = route.fetch()
    route.fulfill(response=response, body=response.text().replace('type="module"', 'type="unknown"'))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("stillness", ["reduce", "no-preference"])
@pytest.mark.parametrize("silent", [OUR_MODULES, re.compile(r"/static/js/(?!theme)\w+\.js")])
def test_match_reports_hanging_scripts_within_five_seconds(
    page: Page, visitor: Visitor, silent: re.Pattern[str], stillness: str
) -> None:
    """Also where the script that would notice does not come: then style sheets alone see to it."""
    house_machines()
    start_first(page)
    other = visitor(reduced_motion=stillness)
    other.route(silent, lambda _: None)
    other.goto(page.url, wait_until="commit")
    expect(other.get_by_text("Setting up the board…")).to_be_visible()
    expect(said(other)).to_be_hidden()
    waits = other.evaluate("document.getAnimations().map(({ effect }) => effect.getComputedTiming().endTime)")
    assert waits
    assert max(waits) <= SAYS_WITHIN_MS
    other.evaluate("document.getAnimations().forEach((one) => one.finish())")
    expect(said(other)).to_be_visible()
    expect(other.get_by_text("Setting up the board…")).to_be_hidden()


def test_a_match_whose_scripts_come_late_takes_it_back(page: Page, visitor: Visitor) -> None:
    house_machines()
    start_first(page)
    other = visitor()
    held: list[Route] = []

    def hold(route: Route) -> None:  # Playwright accepts no method of a built-in type
        held.append(route)

    other.route(re.compile(r"/static/js/dom\.js"), hold)
    other.goto(page.url, wait_until="commit")
    expect(other.get_by_text("Setting up the board…")).to_be_visible()
    other.evaluate("document.getAnimations().forEach((one) => one.finish())")
    expect(said(other)).to_be_visible()
    for route in held:
        route.continue_()
    expect(said(other)).to_be_hidden()
    expect(other.locator("#board .cell").first).to_be_visible()


def test_a_reader_of_a_page_that_runs_hears_nothing_of_it(page: Page) -> None:
    house_machines()
    start_first(page)
    expect(page.locator(".no-scripts")).to_have_count(1)
    expect(said(page)).to_have_count(0)
    assert NOT_RUN not in page.locator("body").aria_snapshot()


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
    quiet = visitor(java_script_enabled=False)
    stuck = visitor()
    stuck.route(re.compile(r"/static/(js/(?!theme|started|site|socket)\w+|.*swagger.*)\.js"), missing)
    watch.allow("404", "failed: csp", "SwaggerUIBundle")
    wrong = []
    for address in pages:
        for one in (quiet, stuck):
            one.goto(address)
            if not said(one).first.is_visible():
                wrong.append(f"{address} {'without' if one is quiet else 'with broken'} scripts")
    assert wrong == []


@pytest.mark.soak
def test_every_lab_page_with_scripts_reports_that_none_ran(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    page = visitor()
    account = user("grace")
    sign_in(page.context, live_site, account)
    made = lab(watch, account)
    page.route(OUR_MODULES, missing)
    watch.allow("404")
    aside(lambda: finished_experiment("gardner", machines=10))
    tables = aside(lambda: machine_create(game="noughts-and-crosses", side=None, name="Table", preset="td-boards"))
    addresses = [
        *(f"/runs/{run.pk}" for run in made.runs.values()),
        *(f"/tournaments/{one.pk}" for one in made.tournaments.values()),
        *(f"/machines/{one.pk}" for one in made.machines.values()),
        *("/experiments/gardner", f"/machines/{tables.pk}/values"),
    ]
    silent = []
    for address in addresses:
        page.goto(address)
        silent += [] if said(page).first.is_visible() else [address]
    assert silent == []


@cache
def old_sheets() -> dict[str, str]:
    """Return the style sheets by name, without everything that the oldest browsers ignore."""
    paths = [str(path.relative_to(settings.BASE_DIR)) for path in (settings.BASE_DIR / "static/css").glob("*.css")]
    node = Path(sys.executable).with_name("node")
    command = [node, "tests/js/old_browser.js", *paths]
    output = subprocess.run(command, cwd=settings.BASE_DIR, check=True, capture_output=True, text=True).stdout
    return {Path(path).stem: sheet for path, sheet in json.loads(output).items()}


def grow_old(page: Page) -> Page:
    """Give the page style sheets as the oldest browsers read them."""

    def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2].partition(".")[0]
        route.fulfill(body=old_sheets()[name], content_type="text/css")

    page.route(re.compile(r"/static/css/[\w.]+\.css"), answer)
    return page


def test_old_sheets_have_nothing_new() -> None:
    for name, sheet in old_sheets().items():
        assert not re.search(
            r"@supports|light-dark\(|:has\(|color-mix\(|\d[dls]vh", re.sub(r"/\*.*?\*/", "", sheet, flags=re.S)
        ), name


@pytest.mark.parametrize("width", [pytest.param(360, marks=pytest.mark.soak), 1280])
def test_an_old_browser_shows_the_main_pages(visitor: Visitor, width: int) -> None:
    machine = house_machines()[Side.FIRST]
    page = grow_old(visitor(**options(width, 800)))
    own = machine.get_absolute_url()
    found = {}
    for address in ("/", own, f"{own}/why", "/ai", "/machines", "/about", "/play/romgon-flip-turn", "/login"):
        page.goto(address)
        found[address] = faint(page)
    void: Any = None  # these visits need no world
    for visit in (play_mid, play_finished, play_romgon):
        visit(page, void)
        found[visit.__name__] = faint(page)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.soak
def test_an_old_browser_follows_the_chosen_theme(visitor: Visitor) -> None:
    house_machines()
    page = grow_old(visitor(**{**options(1280, 800), "color_scheme": "light"}))
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
    made = world(live_site, watch)
    found = {}
    for name, visit in STATES.items():
        page = grow_old(visitor(**options(1280, 800)))
        visit(page, made)
        wrong = faint(page)
        if name == "match-sheet":
            wrong += page.evaluate(DULL_BEADS)
        found |= {name: wrong} if wrong else {}
        page.context.close()
    assert found == {}


@pytest.mark.soak
def test_an_old_browser_shows_every_page_of_the_lab(visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    page = grow_old(visitor(**options(1280, 800)))
    account = user("grace")
    sign_in(page.context, live_site, account)
    found = {}
    for name, address in EMPTY.items():
        page.goto(address)
        found[f"empty {name}"] = faint(page)
    made = lab(watch, account)
    for name, visit in LAB.items():
        if name == "api-docs":  # another project's page
            continue
        visit(page, made)
        found[name] = faint(page)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
