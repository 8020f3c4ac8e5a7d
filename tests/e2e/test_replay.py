"""Earlier boards of a match, by mouse and keys, during the match and afterwards."""

import re
from collections.abc import Iterable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Visitor, Watch
from tests.e2e.playing import cell, expect_plies, expect_turn, start_match_against, start_romgon

pytestmark = pytest.mark.e2e


def expect_board(page: Page, pieces: str, words: str) -> None:
    """Check the nine squares and the text about them."""
    expect(page.locator("#replay-words")).to_have_text(words)
    for name, piece in zip("123456789", pieces, strict=True):
        expected = {".": "empty", "X": "X", "O": "O"}[piece]
        expect(cell(page, name)).to_have_attribute("aria-label", re.compile(f"^[^,]+, {expected}(,|$)"))


def press_replay_buttons(page: Page, *names: str) -> None:
    for name in names:
        page.locator("#replay").get_by_role("button", name=name, exact=True).click()


def play_in_turn(page: Page, players: Iterable[Page], *squares: str) -> None:
    """Play these squares in order. The players take turns."""
    for player, square in zip(players, squares, strict=False):
        expect_turn(player)
        cell(player, square).click()


def test_earlier_boards_are_shown_during_the_match(page: Page, visitor: Visitor) -> None:
    start_match_against(page, "human")
    friend = visitor()
    friend.goto(page.url)
    friend.get_by_role("button", name="Take the free seat").click()
    expect(page.locator("#replay")).to_be_hidden()
    play_in_turn(page, [page, friend, page], "5", "1", "9")
    expect_turn(friend)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url) if "/positions" in request.url else None)

    # A click in the list shows an earlier board, which a new move does not replace.
    page.locator("#moves button").nth(1).click()
    expect_board(page, "O...X....", "After move 2 of 3.")
    expect(page.locator("#moves button[aria-current=step]")).to_have_attribute("data-ply", "1")
    expect(cell(page, "1")).to_have_class(re.compile("is-last"))
    play_in_turn(page, [friend], "3")
    expect_board(page, "O...X....", "After move 2 of 4. The match went on: one move since you looked back.")
    expect(page.locator("#status")).to_have_text("Your turn: place a cross.")
    expect(page.locator("#announce")).to_contain_text("You are still looking back. After move 2 of 4.")
    cell(page, "7").click(force=True)  # has no effect
    expect(page.locator("#board .is-playable")).to_have_count(0)
    press_replay_buttons(page, "Forward one move", "Forward one move")
    expect_board(page, "O.O.X...X", "Look back at earlier moves.")
    assert len(requests) == 1
    expect_turn(page)

    # The keys work from the list, and the page fetches only the new board.
    play_in_turn(page, [page], "2")
    expect_turn(friend)
    page.locator("#moves button[tabindex='0']").focus()
    page.keyboard.press("ArrowLeft")
    expect_board(page, "O.O.X...X", "After move 4 of 5.")
    expect(page.locator("#moves button[data-ply='3']")).to_be_focused()
    assert [url.partition("/positions")[2] for url in requests] == ["", "?after=3"]
    page.keyboard.press("Home")
    expect_board(page, ".........", "Before the first of five moves.")
    page.keyboard.press("ArrowRight")
    expect_board(page, "....X....", "After move 1 of 5.")
    page.keyboard.press("End")
    expect_board(page, "OXO.X...X", "Look back at earlier moves.")
    expect(page.locator("#moves button[data-ply='4']")).to_be_focused()

    # After the end the buttons lead through the match, and the next match shows its live board.
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#replay-words")).to_have_text("Step through the match, move by move.")
    press_replay_buttons(page, "First board", "Forward one move", "Forward one move", "Back one move")
    expect_board(page, "....X....", "After move 1 of 5.")
    expect(page.get_by_role("button", name="Back one move")).to_be_focused()
    page.locator("#again").click()
    expect_turn(page)
    expect_board(page, ".........", "Look back at earlier moves.")
    expect(page.locator("#replay")).to_be_hidden()


def test_without_a_network_the_shown_board_stays(page: Page, watch: Watch) -> None:
    start_romgon(page, "easy")
    cell(page, "4-7").click()
    cell(page, "4-6").click()
    expect_plies(page, 2)
    expect_turn(page)
    watch.allow("positions", "ERR_FAILED")
    page.route("**/positions", lambda route: route.abort())
    press_replay_buttons(page, "First board")
    expect(page.locator("#error")).to_have_text("The page could not load that board. Try again.")
    expect(page.locator("#replay-words")).to_have_text("Look back at earlier moves.")
    expect_turn(page)
    page.unroute("**/positions")
    press_replay_buttons(page, "First board")
    expect(page.locator("#replay-words")).to_have_text("Before the first of two moves.")
    expect(page.locator("#error")).to_be_hidden()


@pytest.mark.soak
def test_a_flip_is_marked_on_its_cell(page: Page) -> None:
    """The engine's view of the live board is hidden beside an earlier board."""
    start_romgon(page, "easy", "flip")
    cell(page, "1-6").click()
    page.locator("#offers button").click()
    expect_plies(page, 2)
    expect_turn(page)
    press_replay_buttons(page, "First board")
    expect(page.locator("#replay-words")).to_have_text("Before the first of two moves.")
    expect(cell(page, "1-6")).to_have_attribute("aria-label", "1-6, Black triangle facing west")
    press_replay_buttons(page, "Forward one move")
    expect(cell(page, "1-6")).to_have_attribute("aria-label", "1-6, Black flipped triangle, last move")
    expect(page.locator("#engine")).to_be_hidden()
    press_replay_buttons(page, "Go to now")
    expect(page.locator("#engine")).to_be_visible()
    expect_turn(page)
