"""A whole match against the built-in MENACE, with the mouse and with the keyboard alone."""

import re

import pytest
from playwright.sync_api import Page, expect

from beadbox.rules.outcome import Side
from games.live.store import room_get
from games.models import MatchStatus, Seat
from learning.models import Draw, Lesson
from tests.e2e.playing import (
    NOUGHTS_PAGE,
    cell,
    changes_in_ledger,
    changes_on_page,
    code_of,
    expect_plies,
    expect_turn,
    free_cells,
    is_over,
    match_of,
    n_plies,
    play_mouse,
    play_out_mouse,
    start_first,
    tab_to,
)
from tests.factories import house_machines, room_view

pytestmark = pytest.mark.e2e


def expect_box_of_last_draw(page: Page) -> Draw:
    """Check that the open box shows the machine's last draw: label, drawn bead and odds. Return the draw."""
    draw = Draw.objects.filter(seat__match=match_of(page)).latest("ply")
    box = page.locator("#matchbox > svg")
    expect(box).to_have_attribute("data-position", draw.position)
    expect(box.locator(".bead.is-drawn")).to_have_count(1)
    rows = page.locator("#odds tbody tr")
    expect(rows).to_have_count(len(draw.beads))
    assert [int(row.locator("td").nth(1).inner_text().split()[0]) for row in rows.all()] == draw.beads
    assert draw.slot is not None
    expect(rows.nth(draw.slot)).to_have_class("is-drawn")
    expect(page.locator("#odds tr.is-drawn")).to_have_count(1)
    expect(page.locator("#box-caption")).to_contain_text("drew bead")
    return draw


def expect_end(page: Page) -> None:
    """Check the end of a match: the reason, and every added or removed bead as in the database."""
    match = match_of(page)
    assert match.status == MatchStatus.FINISHED
    expect(page.locator("#status")).to_have_text(re.compile("won: three in a row|A draw: |gave up"))
    expect(page.locator("#lesson")).to_be_visible()
    expect(page.locator("#lesson-words")).not_to_be_empty()
    ledger_changes = changes_in_ledger(match)
    assert changes_on_page(page) == ledger_changes
    expect(page.locator("#no-changes")).to_be_visible(visible=not ledger_changes)
    assert Lesson.objects.filter(match=match, kind="match").count() == 1


def test_a_whole_match_with_the_mouse(page: Page) -> None:
    house_machines()
    start_first(page)
    expect(page.locator("#status")).to_have_text("Your turn: place a cross.")
    expect(page.locator("#box-caption")).to_contain_text("has not opened a box yet")

    play_mouse(page, "5")
    expect_turn(page)
    draw = expect_box_of_last_draw(page)
    ply = match_of(page).plies.get(number=draw.ply)
    expect(cell(page, ply.move)).to_have_class(re.compile("is-lit"))
    expect(cell(page, ply.move)).to_have_attribute("aria-label", re.compile(", O, last move"))
    expect(cell(page, "5")).not_to_have_class(re.compile("is-playable"))

    play_out_mouse(page)
    expect_end(page)
    # Three squares, or five if the last move completed two lines.
    winning_cells = room_view(room_get(code_of(page)))["winning_cells"]
    expect(page.locator(".is-winning")).to_have_count(len(winning_cells))

    # Each change opens its box again, and a button leads back to the present.
    first = page.locator("#changes button").first
    if first.count():
        first.click()
        expect(page.locator("#matchbox > svg")).to_be_in_viewport()

    page.locator("#again").click()
    expect_turn(page)
    assert match_of(page).number == 2
    expect(page.locator("#status")).to_have_text("Your turn: place a cross.")


def test_a_rematch_with_the_sides_swapped(page: Page) -> None:
    machines = house_machines()
    start_first(page)
    play_out_mouse(page)
    page.locator("#swap").click()
    expect(page.locator("#status")).to_have_text("Your turn: place a nought.")
    match = match_of(page)
    assert match.number == 2
    assert Seat.objects.get(match=match, side=Side.FIRST).machine_seat.machine == machines[Side.FIRST]
    expect_box_of_last_draw(page)
    play_out_mouse(page)
    expect_end(page)


@pytest.mark.soak
def test_a_match_in_which_menace_starts(page: Page) -> None:
    house_machines()
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-second").click()
    expect_turn(page)
    expect(page.locator("#moves > li")).to_have_count(1)
    expect_box_of_last_draw(page)
    play_out_mouse(page)
    expect_end(page)


def test_an_earlier_box_is_shown_and_left_again(page: Page) -> None:
    house_machines()
    start_first(page)
    while n_plies(page) < 4 and not is_over(page):
        expect_turn(page)
        play_mouse(page)
    draws = list(Draw.objects.filter(seat__match=match_of(page)).order_by("ply"))
    page.locator(f'#moves button[data-ply="{draws[0].ply}"]').click()
    expect(page.locator("#look-back")).to_contain_text(f"You are looking back at move {draws[0].ply + 1}.")
    expect(page.locator("#matchbox > svg")).to_have_attribute("data-position", draws[0].position)
    page.locator("#to-now").click()
    expect(page.locator("#look-back")).to_be_hidden()
    expect(page.locator("#matchbox > svg")).to_have_attribute("data-position", draws[-1].position)


def test_the_box_is_shown_like_the_board_and_as_printed(page: Page) -> None:
    house_machines()
    start_first(page)
    # A box prints only one corner; turning leads to the other three.
    turn_button = page.locator("#turn-box")
    for corner in ("1", "3", "7", "9"):
        play_mouse(page, corner)
        draw = expect_box_of_last_draw(page)
        printed_corner = draw.position.index("X") + 1
        expect(turn_button).to_be_visible(visible=str(printed_corner) != corner)
        if str(printed_corner) != corner:
            turn_button.click()
            expect(turn_button).to_have_attribute("aria-pressed", "true")
            expect(page.locator("#box-caption")).to_contain_text("shown as printed")
            turn_button.click()
        page.locator("#resign").click()
        page.locator("#resign-yes").click()
        expect(page.locator("#status")).to_have_attribute("data-status", "finished")
        page.locator("#again").click()
        expect(page.locator("#moves > li")).to_have_count(0)
        expect_turn(page)


def test_beads_are_shown_on_the_board(page: Page) -> None:
    house_machines()
    start_first(page)
    play_mouse(page, "5")
    expect_turn(page)
    page.locator("#beads").click()
    expect(page.locator("#beads")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#board .odds-text").first).to_be_visible()
    page.locator("#beads").click()
    expect(page.locator("#board .odds-text")).to_have_count(0)


def test_resigning_asks_once_and_shows_the_lost_beads(page: Page) -> None:
    house_machines()
    start_first(page)
    play_mouse(page, "5")
    expect_turn(page)
    page.locator("#resign").click()
    expect(page.locator("#resign-question")).to_be_visible()
    expect(page.locator("#resign-no")).to_be_focused()
    page.locator("#resign-no").click()
    expect(page.locator("#resign-confirm")).to_be_hidden()
    expect_turn(page)
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#status")).to_have_text("MENACE the Second won: you gave up.")
    expect_end(page)


def test_each_event_is_announced_once(page: Page) -> None:
    house_machines()
    start_first(page)
    play_mouse(page, "5")
    expect_turn(page)
    machine = "MENACE the Second"
    words = rf"^{machine} drew bead \w, chance .+%\. {machine}: .+\. Your turn: place a cross\.$"
    expect(page.locator("#announce")).to_have_text(re.compile(words))


# The keyboard alone


def expect_focus_on_board(page: Page) -> None:
    """Check that a square has the focus, and shows the focus."""
    focused_square = page.locator("#board .cell:focus-visible")
    expect(focused_square).to_have_count(1)
    expect(focused_square.locator(".cell-focus")).not_to_have_css("stroke", "none")


def walk_to(page: Page, square: str) -> None:
    """Move the focus to a square by arrow keys."""
    focused_square = int(str(page.locator("#board .cell:focus").get_attribute("data-cell"))) - 1
    there = int(square) - 1
    down, right = there // 3 - focused_square // 3, there % 3 - focused_square % 3
    for key, times in (("ArrowDown", down), ("ArrowUp", -down), ("ArrowRight", right), ("ArrowLeft", -right)):
        for _ in range(max(0, times)):
            page.keyboard.press(key)
    expect(cell(page, square)).to_be_focused()


def play_out_keyboard(page: Page) -> None:
    """Play by keyboard until the match is over. The board keeps the focus all the time."""
    while not is_over(page):
        expect_turn(page)
        expect_focus_on_board(page)
        before = n_plies(page)
        square = free_cells(page)[-1]
        walk_to(page, square)
        page.keyboard.press("Enter" if before % 4 else "Space")
        expect_plies(page, before + 2)
        if not is_over(page):
            expect(cell(page, square)).to_be_focused()


def test_a_whole_match_with_the_keyboard_alone(page: Page) -> None:
    house_machines()
    page.goto(NOUGHTS_PAGE)
    tab_to(page, "#play-first")
    page.keyboard.press("Enter")
    expect_turn(page)

    tab_to(page, "#board .cell")
    expect_focus_on_board(page)
    play_out_keyboard(page)
    expect_end(page)
    # The focused element may be gone, but the focus is always somewhere in the page.
    expect(page.locator("body:focus")).to_have_count(0)
    expect(page.locator("main :focus-visible")).to_have_count(1)

    tab_to(page, "#swap")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_text("Your turn: place a nought.")
    expect_focus_on_board(page)
    play_out_keyboard(page)
    expect_end(page)
    assert match_of(page).number == 2


def test_the_list_of_keys_gives_the_focus_back(page: Page) -> None:
    house_machines()
    start_first(page)
    tab_to(page, "#board .cell")
    page.keyboard.press("?")
    expect(page.locator("#keys-dialog")).to_be_visible()
    expect(page.locator("#keys-dialog")).to_contain_text("move over the squares")
    page.keyboard.press("Escape")
    expect(page.locator("#keys-dialog")).to_be_hidden()
    expect_focus_on_board(page)


@pytest.mark.soak
def test_resigning_by_keyboard_keeps_the_focus(page: Page) -> None:
    house_machines()
    start_first(page)
    tab_to(page, "#resign")
    page.keyboard.press("Enter")
    expect(page.locator("#resign-no")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#resign")).to_be_focused()
    page.keyboard.press("Enter")
    tab_to(page, "#resign-yes")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_have_attribute("data-status", "finished")
    expect(page.locator("main :focus-visible")).to_have_count(1)


def test_a_room_has_one_address(page: Page) -> None:
    house_machines()
    start_first(page)
    assert page.url.endswith(f"/rooms/{code_of(page)}")
    expect(page.locator("#share-url")).to_have_value(page.url)
