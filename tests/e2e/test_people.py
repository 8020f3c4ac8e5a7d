"""People playing each other: the link, the code, spectators, a full room, resigning."""

import re

import pytest
from playwright.sync_api import Page, expect

from games.models import Match
from tests.e2e.conftest import Visitor, Watch
from tests.e2e.layout import PHONE_OPTIONS
from tests.e2e.playing import NOUGHTS_PAGE, cell, code_of, expect_turn, match_of, play_mouse, start_match_against
from tests.factories import house_machines

pytestmark = pytest.mark.e2e


def open_room_for_friend(page: Page) -> str:
    """Open a room for a friend and return the link."""
    start_match_against(page, "human")
    expect(page.locator("#status")).to_have_text("Waiting for the other player.")
    expect(page.locator("#share-words")).to_contain_text("Send this link to a friend.")
    expect(page.locator("#board .is-playable")).to_have_count(0)
    return page.locator("#share-url").input_value()


def take_free_seat(page: Page, link: str) -> None:
    page.goto(link)
    expect(page.locator("#share-words")).to_contain_text("You can take the free seat")
    page.locator("#join button").click()


def test_two_people_play_by_link(page: Page, visitor: Visitor) -> None:
    link = open_room_for_friend(page)
    friend = visitor()
    take_free_seat(friend, link)
    expect(page.locator("#status")).to_have_text("Your turn: place a cross.")
    expect(friend.locator("#status")).to_have_text("Guest (crosses) to move.")

    for mover, waiting, square in zip([page, friend] * 3, [friend, page] * 3, "514729", strict=True):
        expect_turn(mover)
        expect(waiting.locator("#board .is-playable")).to_have_count(0)
        play_mouse(mover, square, answers=0)
    expect_turn(page)
    play_mouse(page, "6", answers=0)  # 4, 5, 6
    expect(page.locator("#status")).to_have_text("You won: three in a row.")
    expect(friend.locator("#status")).to_have_text("Guest won: three in a row.")
    for player_page in (page, friend):
        expect(player_page.locator(".is-winning")).to_have_count(3)
        expect(player_page.locator("#lesson")).to_be_hidden()
        expect(player_page.locator("#no-box")).to_be_visible()

    # After a rematch with swapped sides, both players see their new side.
    friend.locator("#swap").click()
    expect(friend.locator("#status")).to_have_text("Your turn: place a cross.")
    expect(page.locator("#status")).to_have_text("Guest (crosses) to move.")
    play_mouse(friend, "1", answers=0)
    expect(page.locator("#status")).to_have_text("Your turn: place a nought.")


def test_phone_shows_host_the_link_and_guest_the_free_seat(visitor: Visitor) -> None:
    host, guest = visitor(**PHONE_OPTIONS), visitor(**PHONE_OPTIONS)
    link = open_room_for_friend(host)
    expect(host.locator("#copy-link")).to_be_in_viewport(ratio=1)
    guest.goto(link)
    expect(guest.locator("#join button")).to_be_in_viewport(ratio=1)
    take_free_seat(guest, link)
    expect_turn(host)
    expect(host.locator("#board")).to_be_in_viewport(ratio=1)


@pytest.mark.soak
def test_a_resignation_is_shown_to_both_players(page: Page, visitor: Visitor) -> None:
    friend = visitor()
    take_free_seat(friend, open_room_for_friend(page))
    expect_turn(page)
    play_mouse(page, "5", answers=0)
    expect_turn(friend)
    friend.locator("#resign").click()
    friend.locator("#resign-yes").click()
    expect(page.locator("#status")).to_have_text("You won: Guest gave up.")
    expect(friend.locator("#status")).to_have_text("Guest won: you gave up.")


def test_a_third_person_watches_and_cannot_move(page: Page, visitor: Visitor) -> None:
    friend, third = visitor(), visitor()
    link = open_room_for_friend(page)
    take_free_seat(friend, link)
    expect_turn(page)
    third.goto(link)
    expect(third.locator("#watching")).to_be_visible()
    expect(third.locator("#status")).to_have_text("Guest (crosses) to move.")
    play_mouse(page, "5", answers=0)
    expect(cell(third, "5")).to_have_attribute("aria-label", re.compile("centre, X"))

    cell(third, "1").click(force=True)
    cell(third, "1").press("Enter")
    expect(third.locator("#board .is-playable")).to_have_count(0)
    for button in ("#resign", "#again", "#swap", "#join"):
        expect(third.locator(button)).to_be_hidden()
    assert match_of(page).n_plies == 1

    # Spectators see the end as well, and are not offered a rematch.
    expect_turn(friend)
    friend.locator("#resign").click()
    friend.locator("#resign-yes").click()
    expect(third.locator("#status")).to_contain_text("gave up")
    expect(third.locator("#again")).to_be_hidden()


def test_a_move_by_a_spectator_is_refused_with_a_reason(page: Page, visitor: Visitor) -> None:
    house_machines()
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-first").click()
    expect_turn(page)
    third = visitor()
    third.goto(page.url)
    expect(third.locator("#watching")).to_be_visible()
    # A spectator's page cannot send a move, but the protocol can.
    third.evaluate(
        """async () => {
            const { receive } = await import(document.querySelector('script[type=module][src*="room"]').src);
            const socket = new WebSocket(location.href.replace("http", "ws").replace("/rooms", "/api/rooms") + "/ws");
            await new Promise((resolve) => {
                socket.onmessage = ({ data }) => {
                    const frame = JSON.parse(data);
                    if (frame.type === "joined") {
                        socket.send(JSON.stringify({ type: "move", data: { move: "5", ply: 0 } }));
                    }
                    if (frame.type === "error") { receive(frame); resolve(); }
                };
            });
        }"""
    )
    expect(third.locator("#error")).to_have_text("You are watching this match. Only its players can do that.")
    assert match_of(page).n_plies == 0


def test_joining_by_code(page: Page, visitor: Visitor) -> None:
    open_room_for_friend(page)
    friend = visitor()
    friend.goto("/")
    friend.locator("#code").fill(f" {code_of(page).upper()} ")
    friend.locator("#code").press("Enter")
    expect(friend.locator("#status")).to_have_text("Guest (crosses) to move.")
    expect_turn(page)


def test_joining_from_the_list_of_waiting_rooms(page: Page, visitor: Visitor) -> None:
    open_room_for_friend(page)
    friend = visitor()
    friend.goto("/")
    friend.locator(".rooms").get_by_role("button", name="Join Guest").click()
    expect(friend.locator("#status")).to_have_text("Guest (crosses) to move.")


def test_a_visitor_of_a_full_room_watches(page: Page, visitor: Visitor) -> None:
    friend, third = visitor(), visitor()
    take_free_seat(friend, open_room_for_friend(page))
    expect_turn(page)
    play_mouse(page, "5", answers=0)
    third.goto("/")
    third.locator("#code").fill(code_of(page))
    third.locator("#code").press("Enter")
    expect(third.get_by_text("Both seats in this room are taken. You can still watch.")).to_be_visible()
    expect(third.locator("#watching")).to_be_visible()
    third.goto("/")
    third.get_by_role("link", name="Watch Guest and Guest").click()
    expect(third.locator("#watching")).to_be_visible()


@pytest.mark.soak
def test_two_visitors_take_the_last_seat_at_once(page: Page, visitor: Visitor) -> None:
    link = open_room_for_friend(page)
    friend, third = visitor(), visitor()
    for visitor_page in (friend, third):
        visitor_page.goto(link)
        expect(visitor_page.locator("#join button")).to_be_visible()
        expect(visitor_page.locator("#connection")).to_be_hidden()
    friend.locator("#join button").click()
    expect_turn(page)
    # The offer disappears from the other page without a reload.
    expect(third.locator("#join")).to_be_hidden()
    expect(third.locator("#watching")).to_be_visible()


def test_an_unknown_room_code_gets_a_message(page: Page, watch: Watch) -> None:
    watch.allow("404")
    page.goto("/rooms/zzzzzz")
    expect(page.get_by_role("heading", name="This drawer is empty")).to_be_visible()
    expect(page.locator("main")).to_contain_text("There is no room with this code.")
    page.get_by_role("link", name="To the front page").click()
    page.locator("#code").fill("no such")
    page.locator("#code").press("Enter")
    expect(page.locator(".notes")).to_contain_text("This is not a room code.")
    expect(page.locator("#code")).to_be_visible()
    assert not Match.objects.exists()


def test_an_unknown_address_gets_a_page(page: Page, watch: Watch) -> None:
    watch.allow("404")
    for address in ("/nothing", "/machines/999999", "/machines/999999/boxes/.........", "/rooms/0O!"):
        page.goto(address)
        expect(page.get_by_role("heading", name="This drawer is empty")).to_be_visible()
