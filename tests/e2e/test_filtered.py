"""On a network that blocks WebSockets, pages poll instead, and still receive everything about a match."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from beadbox.rules.outcome import Side
from games.exceptions import StalePlyError
from games.live.play import match_resign
from tests.e2e.axe import violations
from tests.e2e.conftest import Visitor, Watch
from tests.e2e.everywhere import browser_options
from tests.e2e.layout import layout_faults
from tests.e2e.playing import (
    cell,
    changes_in_ledger,
    changes_on_page,
    expect_turn,
    free_cells,
    match_of,
    play_mouse,
    play_out_mouse,
    start_first,
    start_match_against,
)
from tests.factories import guest, house_machines, play, room

pytestmark = pytest.mark.e2e

BLOCKED_TEXT = "This network blocks the live connection. The page asks for news instead, which takes a little longer."
REMOVE_SOCKETS = "delete window.WebSocket"


def close_socket(route: WebSocketRoute) -> None:
    """Accept a socket and close it."""
    route.close()


def keep_socket_silent(route: WebSocketRoute) -> None:
    """Accept a socket and send nothing."""


def block_sockets(page: Page, handler: Callable[[WebSocketRoute], None] = close_socket) -> Page:
    page.route_web_socket(re.compile("/ws"), handler)
    return page


def test_a_match_and_a_rematch_are_played_by_polling(page: Page) -> None:
    house_machines()
    block_sockets(page)
    start_first(page)
    expect(page.locator("#connection")).to_have_text(BLOCKED_TEXT)
    assert violations(page) == layout_faults(page) == []
    play_mouse(page, "5")
    expect(page.locator("#matchbox > svg")).to_be_visible()
    play_out_mouse(page)
    assert changes_on_page(page) == changes_in_ledger(match_of(page))
    page.locator("#again").click()
    expect_turn(page)
    assert match_of(page).number == 2
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#status")).to_contain_text("you gave up")
    expect(page.locator("#error")).to_be_hidden()


def test_two_players_and_a_spectator_poll(page: Page, visitor: Visitor) -> None:
    friend, spectator = visitor(), visitor(**browser_options(360, 740))
    block_sockets(page)
    block_sockets(friend, keep_socket_silent)
    spectator.add_init_script(REMOVE_SOCKETS)
    start_match_against(page, "human")
    expect(page.locator("#status")).to_have_text("Waiting for the other player.")
    friend.goto(page.url)
    friend.locator("#join button").click()
    expect_turn(page)
    spectator.goto(page.url)
    expect(spectator.locator("#connection")).to_have_text(BLOCKED_TEXT)
    assert violations(spectator) == layout_faults(spectator) == []
    # Crosses take the top row.
    for crosses, noughts in (("1", "4"), ("2", "5"), ("3", "")):
        expect_turn(page)
        cell(page, crosses).click()
        expect(spectator.locator(f'[data-cell="{crosses}"]')).to_have_attribute("aria-label", re.compile(", X"))
        if noughts:
            expect_turn(friend)
            cell(friend, noughts).click()
    for viewer_page, words in ((page, "You won"), (friend, "Guest won"), (spectator, "won")):
        expect(viewer_page.locator("#status")).to_contain_text(words)
    expect(friend.locator("#connection")).to_have_text(BLOCKED_TEXT)

    # After the swap each page shows its new side.
    page.locator("#swap").click()
    expect_turn(friend)
    expect(page.locator("#status")).to_contain_text("to move")
    cell(friend, "5").click()
    expect_turn(page)
    expect(spectator.locator("#moves > li")).to_have_count(1)


def test_a_move_on_an_outdated_board_is_refused(page: Page, watch: Watch) -> None:
    house_machines()
    block_sockets(page)
    start_first(page)
    outdated_tab = block_sockets(page.context.new_page())
    outdated_tab.goto(page.url)
    expect(outdated_tab.locator("#connection")).to_have_text(BLOCKED_TEXT)
    # The response says that nothing is new, although there is a new state.
    outdated_tab.route(re.compile("/joined$"), lambda route: route.fulfill(status=304))
    square, other = free_cells(page)[0], free_cells(page)[-1]
    play_mouse(page, square)
    watch.allow("409")
    cell(outdated_tab, other).click()
    expect(outdated_tab.locator("#error")).to_have_text(StalePlyError.message)
    outdated_tab.unroute(re.compile("/joined$"))
    expect(cell(outdated_tab, square)).to_have_attribute("aria-label", re.compile(", X"))


@pytest.mark.soak
def test_the_host_steps_two_machines_by_polling(page: Page) -> None:
    house_machines()
    block_sockets(page)
    page.goto("/play/noughts-and-crosses")
    page.locator("#watch-them").click()
    page.locator("#step").click()
    expect(page.locator("#moves > li")).to_have_count(1)
    page.locator("#finish").click()
    expect(page.locator("#status")).to_have_attribute("data-status", "finished")


@pytest.mark.soak
def test_a_machines_page_shows_lessons_by_polling(page: Page) -> None:
    machine = house_machines()[Side.SECOND]
    block_sockets(page)
    page.goto(f"/machines/{machine.pk}")
    expect(page.locator("#live")).to_have_text(BLOCKED_TEXT)
    seated_room = room("menace", guest(2), side=Side.FIRST)
    play(seated_room, guest(2), "5")
    match_resign(code=seated_room.room.code, person=guest(2))
    expect(page.locator('[data-total="games"]')).to_have_text("1")
