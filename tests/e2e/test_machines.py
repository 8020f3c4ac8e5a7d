"""Machines: the ways to play one, its page that is updated live, and the history of one box."""

import re
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import Page, Route, expect

from beadbox.rules.outcome import Side
from learning.models import Box, Draw, Machine
from tests.e2e.conftest import LiveSite, Visitor, Watch
from tests.e2e.everywhere import browser_options
from tests.e2e.playing import (
    changes_in_ledger,
    changes_on_page,
    expect_turn,
    goto_and_join,
    match_of,
    play_mouse,
    play_out_mouse,
    start_first,
    start_match_against,
)
from tests.factories import guest, house_machines, play_out, room, trained_machine

pytestmark = pytest.mark.e2e


@pytest.mark.sampled(1)
@pytest.mark.parametrize("opponent", ["random", "win-block", "perfect"])
@pytest.mark.parametrize("side", ["first", "second"])
@pytest.mark.sampled(2)
def test_a_match_against_an_opponent_without_boxes(page: Page, opponent: str, side: str) -> None:
    start_match_against(page, opponent, side)
    expect_turn(page)
    expect(page.locator("#status")).to_have_text(f"Your turn: place a {'cross' if side == 'first' else 'nought'}.")
    play_out_mouse(page)
    expect(page.locator("#no-box")).to_be_visible()
    expect(page.locator("#box-sheet")).to_be_hidden()
    expect(page.locator("#lesson")).to_be_hidden()
    expect(page.locator("#swap")).to_be_visible()


def test_a_match_on_a_random_side(page: Page) -> None:
    start_match_against(page, "perfect", "random")
    expect_turn(page)
    expect(page.locator("#status")).to_have_text(re.compile(r"Your turn: place a (cross|nought)\."))


def beads_and_visits_of(machine: Machine) -> list[Any]:
    return list(Box.objects.filter(machine=machine).order_by("position").values_list("beads", "visits"))


def test_a_fresh_copy_learns_and_the_original_does_not(page: Page) -> None:
    original = house_machines()[Side.SECOND]
    before = beads_and_visits_of(original)
    page.goto(original.get_absolute_url())
    page.locator("#play-copy").click()
    expect_turn(page)
    play_mouse(page, "5")
    copy = Draw.objects.get(seat__match=match_of(page)).machine
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#changes > li")).to_have_count(1)
    assert changes_on_page(page) == changes_in_ledger(match_of(page))
    assert copy.copied_from == original
    assert beads_and_visits_of(original) == before
    assert beads_and_visits_of(copy) != before

    # The copy stays with the room.
    page.locator("#again").click()
    expect_turn(page)
    play_mouse(page, "5")
    assert Draw.objects.get(seat__match=match_of(page)).machine == copy


@pytest.mark.sampled(1)
@pytest.mark.parametrize("button", ["#play", "#play-copy"])
def test_play_from_the_page_of_a_machine(page: Page, button: str) -> None:
    machine = house_machines()[Side.FIRST]
    page.goto(machine.get_absolute_url())
    page.locator(button).click()
    expect_turn(page)
    expect(page.locator("#status")).to_have_text("Your turn: place a nought.")
    playing_machine = Draw.objects.get(seat__match=match_of(page)).machine
    assert (playing_machine if button == "#play" else playing_machine.copied_from) == machine


def expect_box_as_stored(wall: Page, box: Box) -> None:
    box.refresh_from_db()
    label = wall.locator(f'.wall-box[data-position="{box.position}"]')
    beads = re.escape({1: "one bead", 2: "two beads"}.get(sum(box.beads), ""))
    times = {0: "not opened yet", 1: "opened once", 2: "opened twice"}.get(sum(box.visits), "opened")
    expect(label).to_have_attribute("aria-label", re.compile(rf": {beads}.*, {times}"))


def test_the_wall_of_boxes_is_updated_live(page: Page, visitor: Visitor) -> None:
    machine = house_machines()[Side.SECOND]
    wall = visitor()
    goto_and_join(wall, machine.get_absolute_url())
    expect(wall.locator(".wall-box")).to_have_count(Box.objects.filter(machine=machine).count())
    expect(wall.locator(".wall-last")).to_have_count(0)
    expect(wall.locator('[data-total="games"]')).to_have_text("0")
    wall.evaluate("window.isTheSamePage = true")

    start_first(page)
    play_mouse(page, "5")
    first = Draw.objects.get(seat__match=match_of(page))
    expect(wall.locator(".wall-last")).to_have_attribute("data-position", first.position)
    play_out_mouse(page)
    draws = Draw.objects.filter(seat__match=match_of(page)).order_by("ply")
    last = draws.last()
    assert last is not None
    expect(wall.locator(".wall-last")).to_have_attribute("data-position", last.position)
    expect(wall.locator(".wall-last .wall-dot")).to_have_count(1)
    expect(wall.locator('[data-total="games"]')).to_have_text("1")
    for draw in draws:
        expect_box_as_stored(wall, machine.boxes.get(position=draw.position))
    beads = sum(sum(box.beads) for box in Box.objects.filter(machine=machine))
    expect(wall.locator('[data-total="beads"]')).to_have_text(f"{beads:,}")
    machine.refresh_from_db()
    expect(wall.locator('[data-total="win_rate"]')).to_have_text(f"{100 * machine.n_wins}\u00a0%")
    expect(wall.locator('[data-total="level"]')).to_have_count(0)
    expect(wall.locator("#live")).to_have_text("Changed just now")
    assert wall.evaluate("window.isTheSamePage") is True

    # A reload shows the same as the live page.
    live_label = wall.locator(f'.wall-box[data-position="{last.position}"]').get_attribute("aria-label")
    wall.reload()
    label = wall.locator(f'.wall-box[data-position="{last.position}"]')
    expect(label).to_have_attribute("aria-label", str(live_label))
    expect(wall.locator(".recent li")).to_have_count(1)


def test_the_wall_is_updated_after_a_restart(page: Page, visitor: Visitor, live_site: LiveSite, watch: Watch) -> None:
    watch.allow(r"WebSocket connection to .* failed", "ERR_CONNECTION_REFUSED", "ERR_INTERNET_DISCONNECTED")
    machine = house_machines()[Side.SECOND]
    wall = visitor()
    goto_and_join(wall, machine.get_absolute_url())
    expect(wall.locator(".wall-box").first).to_be_visible()
    wall.context.set_offline(True)
    expect(wall.locator("#live")).to_contain_text("The connection is lost")
    start_first(page)
    play_mouse(page, "5")
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#status")).to_have_attribute("data-status", "finished")
    wall.context.set_offline(False)
    expect(wall.locator("#live")).to_be_hidden()
    expect(wall.locator('[data-total="games"]')).to_have_text("1")
    expect(wall.locator(".wall-last")).to_have_count(1)


def test_a_machines_page_is_short_on_a_phone(visitor: Visitor) -> None:
    learner = trained_machine(house_machines()[Side.FIRST], 300)
    page = visitor(**browser_options(360, 740))
    page.goto(learner.get_absolute_url())
    expect(page.locator("#progress p").first).to_be_visible()
    expect(page.locator(".wall-box:visible")).to_have_count(learner.boxes.filter(move_number__lte=2).count())
    assert page.evaluate("document.documentElement.scrollHeight") <= 3500
    expect(page.locator(".rule dd").first).to_be_hidden()
    page.locator("#rule-title").click()
    expect(page.locator(".rule dd").first).to_be_visible()
    page.locator("#shelf-3").click()
    expect(page.locator(".wall-box:visible")).to_have_count(learner.boxes.filter(move_number__lte=3).count())
    page.locator(".wall-box:visible").last.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".wall-box:focus")).to_be_visible()
    expect(page.locator("#wall details:not([open])")).to_have_count(0)


def test_arrow_keys_move_along_the_wall_of_boxes(page: Page) -> None:
    machine = house_machines()[Side.FIRST]
    page.goto(machine.get_absolute_url())
    boxes = page.locator(".wall-box")
    expect(boxes).to_have_count(304)
    boxes.first.focus()
    page.keyboard.press("ArrowRight")
    expect(boxes.nth(1)).to_be_focused()
    expect(page.locator(".peek")).to_be_visible()
    page.keyboard.press("End")
    expect(boxes.last).to_be_focused()
    expect(boxes.last).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Box")


def test_the_history_of_a_box(page: Page) -> None:
    house_machines()
    start_first(page)
    play_mouse(page, "5")
    expect(page.locator("#box-link")).to_be_visible()
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#changes > li")).to_have_count(1)
    match = page.url
    page.locator("#box-link").click()
    expect(page.locator("h1")).to_have_text("Box ....X....")
    entry = page.locator(".life li").first
    expect(entry.get_by_role("link", name="Won a match.")).to_have_attribute("href", re.compile("/rooms/"))
    expect(entry.locator(".life-delta")).to_have_text("+3")
    entry.get_by_role("link").click()
    expect(page).to_have_url(f"{match}/matches/1")


def test_a_box_of_thousands_of_beads(page: Page) -> None:
    machine = trained_machine(house_machines()[Side.SECOND], games=20_000, opponent="perfect")
    fullest = max(Box.objects.filter(machine=machine), key=lambda box: max(box.beads))
    assert max(fullest.beads) > 1000
    page.goto(fullest.get_absolute_url())
    expect(page.locator("#matchbox .stack-number")).to_have_count(len(fullest.beads))
    numbers = [str(text) for text in page.locator("#matchbox .stack-number").all_text_contents()]
    assert [int(number.replace(",", "")) for number in numbers] == fullest.beads
    page.goto(machine.get_absolute_url())
    expect(page.locator(f'.wall-box[data-position="{fullest.position}"]')).to_have_attribute(
        "aria-label", re.compile(rf"{sum(fullest.beads):,} beads")
    )


def test_a_page_shows_lessons_from_before_its_socket(page: Page) -> None:
    """The lessons come after the page was rendered and before its socket opens, so no frame reports them."""
    learner = house_machines()[Side.SECOND]

    def train_before_script(route: Route) -> None:
        play_out(room("menace").room.code, guest())
        connection.close()  # Playwright calls this in another context, which has its own connection
        route.continue_()

    page.route("**/machine*.js", train_before_script, times=1)
    goto_and_join(page, learner.get_absolute_url())
    expect(page.locator('[data-total="games"]')).to_have_text("1")
    for draw in Draw.objects.filter(machine=learner):
        expect_box_as_stored(page, learner.boxes.get(position=draw.position))
