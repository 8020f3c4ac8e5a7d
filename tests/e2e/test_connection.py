"""Reloads, lost connections, restarts of the server, and a second tab that missed a move."""

import asyncio
import contextlib
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from beadbox.rules.outcome import Side
from games.exceptions import StalePlyError
from games.models import Room
from games.transport.dependency_monitor import DEPENDENCIES
from learning.models import Draw
from menace_site.local import servers
from tests.e2e.axe import violations
from tests.e2e.conftest import LiveSite, Watch
from tests.e2e.layout import layout_faults
from tests.e2e.playing import (
    NOUGHTS_PAGE,
    cell,
    changes_in_ledger,
    changes_on_page,
    expect_turn,
    free_cells,
    match_of,
    play_mouse,
    play_out_mouse,
    start_first,
)
from tests.factories import house_machines
from tests.outage import Outage, pause, postgres_processes, resume
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

OUTAGE_TEXT = "The site cannot reach its memory now. Nothing is lost, and it goes on by itself."
NO_SERVER_PATTERNS = (r"WebSocket connection to .* failed", r"ERR_CONNECTION_REFUSED", r"ERR_INTERNET_DISCONNECTED")


def start_and_play_a_move(page: Page) -> None:
    house_machines()
    start_first(page)
    play_mouse(page, "5")
    expect_turn(page)


def expect_board_stays(page: Page) -> None:
    expect(cell(page, "5")).to_have_attribute("aria-label", "centre, X")
    expect(page.locator('#board .cell[aria-label*=", O"]')).to_have_count(1)


def play_out_and_compare_beads(page: Page) -> None:
    play_out_mouse(page)
    assert changes_on_page(page) == changes_in_ledger(match_of(page))
    assert match_of(page).number == 1


def test_a_match_continues_after_a_reload(page: Page) -> None:
    start_and_play_a_move(page)
    page.reload()
    expect_turn(page)
    expect_board_stays(page)
    draw = Draw.objects.get(seat__match=match_of(page))
    expect(page.locator("#matchbox > svg")).to_have_attribute("data-position", draw.position)
    expect(page.locator("#moves > li")).to_have_count(2)
    play_out_and_compare_beads(page)
    page.reload()
    expect(page.locator("#status")).to_have_attribute("data-status", "finished")
    assert changes_on_page(page) == changes_in_ledger(match_of(page))


def test_a_click_before_the_socket_opens_is_played(page: Page) -> None:
    house_machines()
    clicks = (
        "addEventListener('load', () => document.querySelector('[data-cell=\"5\"]')?.dispatchEvent(new Event('click')))"
    )
    page.add_init_script(clicks)
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-first").click()
    expect(page.locator("#moves > li")).to_have_count(2)
    expect(page.locator("#error")).to_be_hidden()


def test_a_page_of_a_deleted_room_stops_reconnecting(page: Page, live_site: LiveSite, watch: Watch) -> None:
    page.clock.install()
    start_and_play_a_move(page)
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    # After some failed sockets the page also polls by REST.
    watch.allow(*NO_SERVER_PATTERNS, r"404.*/joined")
    live_site.stop()
    Room.objects.all().delete()
    live_site.start()
    expect(page.locator("#error")).to_contain_text("There is no room with this code.")
    n_opened = len(sockets)
    page.clock.fast_forward(60_000)
    page.evaluate("dispatchEvent(new Event('online'))")
    assert len(sockets) == n_opened


def test_a_match_continues_after_a_server_restart(page: Page, live_site: LiveSite, watch: Watch) -> None:
    start_and_play_a_move(page)
    watch.allow(*NO_SERVER_PATTERNS)
    live_site.stop()
    try:
        expect(page.locator("#connection")).to_have_text(
            "The connection is lost. Your match is safe. This page tries again…"
        )
        expect_board_stays(page)
        # A failed move is reported, and the board stays open.
        cell(page, free_cells(page)[0]).click()
        expect(page.locator("#error")).to_contain_text("Your move was not sent")
        expect_board_stays(page)
    finally:
        live_site.start()
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("#error")).to_be_hidden()
    expect_turn(page)
    play_out_and_compare_beads(page)


@contextlib.contextmanager
def monitor_dependencies(site: LiveSite) -> Iterator[None]:
    """Run the site's dependency monitor during the block, as a web process does."""
    monitoring = asyncio.run_coroutine_threadsafe(DEPENDENCIES.run(), site.server.servers[0].get_loop())
    try:
        yield
    finally:
        monitoring.cancel()
        assert wait_until(lambda: DEPENDENCIES.connection is None or DEPENDENCIES.connection.closed)
        DEPENDENCIES.is_database_up = DEPENDENCIES.is_broker_up = True


@pytest.mark.soak
def test_pages_show_an_outage_and_its_end(outage: Outage, page: Page, live_site: LiveSite, settings: Any) -> None:
    """The site uses private servers of this test, which hang, so that other tests are not affected."""
    settings.DATABASE_URL, settings.REDIS_URL = servers.private_database_url(outage.var), outage.redis_url
    start_and_play_a_move(page)
    learn_page = page.context.new_page()
    learn_page.goto("/learn")
    expect(learn_page.locator("#games")).to_contain_text("game")
    match_notice, learn_notice = page.locator("#connection"), learn_page.locator("#site-trouble")
    postgres = postgres_processes(outage)
    with monitor_dependencies(live_site):
        try:
            pause(*postgres)
            for notice in (match_notice, learn_notice):
                expect(notice).to_have_text(OUTAGE_TEXT)
            expect_board_stays(page)
            # Learning needs no database and goes on.
            before = str(learn_page.locator("#games").text_content())
            expect(learn_page.locator("#games")).not_to_have_text(before)
            resume(*postgres)
            expect(learn_notice).to_have_text("Everything works again.")
            for notice in (match_notice, learn_notice):
                expect(notice).to_be_hidden()

            pause(outage.valkey.pid)
            expect(match_notice).to_have_text("Watchers may see your moves a little late.")
            play_mouse(page)
        finally:
            resume(*postgres, outage.valkey.pid)
        expect(match_notice).to_be_hidden()
        learn_page.close()
        play_out_and_compare_beads(page)


@pytest.mark.soak
def test_pages_without_their_own_socket_show_an_outage(
    outage: Outage, page: Page, live_site: LiveSite, owner: Any, settings: Any
) -> None:
    settings.DATABASE_URL, settings.REDIS_URL = servers.private_database_url(outage.var), outage.redis_url
    machine = house_machines()[Side.FIRST]
    addresses = ("/", "/machines", f"/machines/{machine.pk}/print", "/lab", "/account", "/machines/new", "/experiments")
    sockets: list[str] = []

    def open_page(address: str) -> Page:
        new_page = page.context.new_page()
        new_page.set_viewport_size({"width": 360, "height": 740})
        new_page.on("websocket", lambda socket: sockets.append(socket.url.partition("/api")[2]))
        new_page.goto(address)
        return new_page

    machine_page = open_page(f"/machines/{machine.pk}")
    pages = [open_page(address) for address in addresses]
    postgres = postgres_processes(outage)
    with monitor_dependencies(live_site):
        try:
            pause(*postgres)
            for each_page in pages:
                expect(each_page.locator("#site-trouble")).to_have_text(OUTAGE_TEXT)
                expect(each_page.locator("#site-trouble")).to_be_in_viewport(ratio=1)
            expect(machine_page.locator("#live")).to_have_text(OUTAGE_TEXT)
            expect(machine_page.locator("#site-trouble")).to_be_hidden()
            assert sorted(sockets) == sorted(["/site/ws"] * len(pages) + [f"/machines/{machine.pk}/ws"])
            # The page has one more line at its end, and nothing beneath it.
            pages[0].evaluate("scrollTo(0, document.body.scrollHeight)")
            assert layout_faults(pages[0]) == violations(pages[0]) == []
        finally:
            resume(*postgres)
        for each_page in pages:
            expect(each_page.locator("#site-trouble")).to_have_text("Everything works again.")
        for each_page in pages:
            expect(each_page.locator("#site-trouble")).to_be_hidden()
        expect(machine_page.locator("#live")).to_be_hidden()


def test_a_match_continues_after_a_network_outage(page: Page, watch: Watch) -> None:
    start_and_play_a_move(page)
    watch.allow(*NO_SERVER_PATTERNS)
    page.context.set_offline(True)
    expect(page.locator("#connection")).to_be_visible()
    expect_board_stays(page)
    page.context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    expect_turn(page)
    play_out_and_compare_beads(page)


def test_a_move_in_an_outdated_tab_is_refused(page: Page) -> None:
    """The refusal has a plain sentence, and the board is updated."""
    start_and_play_a_move(page)
    outdated_tab = page.context.new_page()
    is_outdated = True
    joined_frames: list[str | bytes] = []

    def intercept_socket(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def forward(message: str | bytes) -> None:
            kind = json.loads(message)["type"]
            if not (is_outdated and kind == "state"):
                route.send(message)
            if kind == "joined":
                joined_frames.append(message)

        server.on_message(forward)

    outdated_tab.route_web_socket(re.compile("/ws"), intercept_socket)
    outdated_tab.goto(page.url)
    expect_turn(outdated_tab)
    # A page receives the current state when it joins, so the move must come later.
    assert wait_until(lambda: bool(outdated_tab.title() and joined_frames))
    # The two tabs play different squares, which are both free on the outdated board.
    square, other_square = free_cells(page)[0], free_cells(page)[-1]
    play_mouse(page, square)
    n_stored = match_of(page).n_plies
    cell(outdated_tab, other_square).click()
    expect(outdated_tab.locator("#error")).to_have_text(StalePlyError.message)
    expect(cell(outdated_tab, square)).to_have_attribute("aria-label", re.compile(", X"))
    expect(outdated_tab.locator("#error")).to_be_visible()
    assert match_of(page).n_plies == n_stored

    is_outdated = False
    if match_of(page).status == "playing":
        expect_turn(outdated_tab)
        play_mouse(outdated_tab)
        expect(outdated_tab.locator("#error")).to_be_hidden()
    outdated_tab.close()


def test_two_tabs_show_the_same_match(page: Page) -> None:
    start_and_play_a_move(page)
    second = page.context.new_page()
    second.goto(page.url)
    expect_turn(second)
    play_mouse(page)
    expect(second.locator("#moves > li")).to_have_count(page.locator("#moves > li").count())
    second.close()
