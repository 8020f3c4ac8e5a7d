"""A match in a browser in each family of games, a pass by its button, and a draw that ends a repetitive game."""

import re
from random import Random

import pytest
from playwright.sync_api import Page, expect

from beadbox.rules.registry import GAMES
from games.live.game_view import player_list
from games.live.play import match_play_move
from games.live.rooms import room_join
from games.live.store import room_get
from tests.e2e.playing import cell, code_of, expect_plies, expect_turn, goto_and_join, is_over, n_plies, tab_to
from tests.factories import guest, room_view

pytestmark = pytest.mark.e2e

FAMILIES = [game.slug for game in GAMES.values() if game.slug == game.family]
MAX_OWN_MOVES = 12
"""Number of the visitor's moves after which the visitor resigns a long match."""
ACHI_STUCK = ["1", "2", "3", "5", "4", "7", "6", "9"]
"""Placements in Achi after which Black is to move and stuck."""


def start_match(page: Page, slug: str, opponent: str) -> None:
    page.goto(f"/play/{slug}")
    page.locator(f'.opponent:has(input[value="{opponent}"])').click()
    page.locator('.sides label:has(input[value="first"])').click()
    page.locator("#play-other").click()
    page.wait_for_url("**/rooms/*")
    goto_and_join(page, page.url)  # a move would be lost before the socket is open


def play(page: Page, move: str, *, answers: int = 1) -> None:
    """Play a move by mouse: its cells, and its button if there is one."""
    expect_turn(page)
    before, state = n_plies(page), room_view(room_get(code_of(page)))
    for cell_id in state["paths"][move]:
        cell(page, cell_id).click()
    if page.locator(f'#offers [data-move="{move}"]').count():
        page.locator(f'#offers [data-move="{move}"]').click()
    expect_plies(page, before + 1 + answers)


@pytest.mark.parametrize("slug", FAMILIES)
@pytest.mark.sampled(2)
def test_a_match_in_each_family(page: Page, slug: str) -> None:
    random, opponents = Random(slug), {player["slug"] for player in player_list(GAMES[slug])}
    start_match(page, slug, "random" if "random" in opponents else "easy")
    for _ in range(MAX_OWN_MOVES):
        expect(page.locator("#board.is-mine .is-playable, #status[data-status=finished]").first).to_be_attached()
        if is_over(page):
            break
        play(page, random.choice(room_view(room_get(code_of(page)))["legal_moves"]))
    else:
        page.locator("#resign").click()
        page.locator("#resign-yes").click()
    expect(page.locator("#again")).to_be_visible()
    expect(page.locator("#status")).to_have_text(re.compile("won|draw"))
    page.locator("#moves button").first.click()
    expect(page.locator("#replay-words")).to_contain_text("After move 1 of ")


def test_a_pass_is_played_by_a_button(page: Page) -> None:
    start_match(page, "achi-pass", "human")
    code = code_of(page)
    room_join(code=code, person=guest(2))
    for move, answer in zip(ACHI_STUCK[::2], ACHI_STUCK[1::2], strict=True):
        play(page, move, answers=0)
        match_play_move(code=code, person=guest(2), move=answer)
    expect_plies(page, len(ACHI_STUCK))
    page.get_by_role("button", name="Pass").click()
    expect_plies(page, len(ACHI_STUCK) + 1)
    expect(page.locator("#moves > li").last).to_contain_text("pass: no stone can reach bottom middle")


def test_a_game_with_repetitions_ends_by_agreement(page: Page) -> None:
    """The offer appears after a third visit, and the machine accepts it. The finished match shows the reason."""
    start_match(page, "pong-hau-ki", "random")
    expect_turn(page)
    button, notice = page.locator("#offer-draw"), page.locator("#notice")
    while (state := room_view(room_get(code_of(page))))["draw_offer"] is None:
        expect(button).to_be_hidden()
        play(page, state["legal_moves"][0])  # never ends this game
    expect(button).to_have_text("Offer a draw")
    expect(notice).to_have_text(
        "The same position has come three times. You can offer a draw. It ends the match at once."
    )
    expect(page.locator("#announce")).to_contain_text("You can offer a draw.")
    tab_to(page, "#offer-draw")
    page.keyboard.press("Enter")
    status = "A draw: both sides agreed."
    expect(page.locator("#status")).to_have_text(status)
    expect(page.locator("#announce")).to_contain_text(status)
    expect(page.locator("#again")).to_be_focused()
    for hidden in (button, notice):
        expect(hidden).to_be_hidden()
    page.goto(f"/rooms/{code_of(page)}/matches/1")
    expect(page.locator("#status")).to_have_text(status)
    expect(page.locator("#log")).to_contain_text(status)
