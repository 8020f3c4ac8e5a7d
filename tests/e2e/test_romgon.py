"""Romgon in real browsers: a match against the engine with a flip, by mouse, by keyboard and by touch."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from beadbox.rules.outcome import Side
from beadbox.rules.romgon.rules import Romgon
from games.live.players import PLAYERS
from games.models import Match, Ply
from tests.e2e.conftest import Visitor
from tests.e2e.layout import faults_in_each_style, layout_faults
from tests.e2e.playing import cell, expect_plies, expect_turn, is_over, n_plies, start_romgon
from tests.ponderer import SlowPlayer

pytestmark = pytest.mark.e2e


def offer_buttons(page: Page) -> Locator:
    return page.locator("#offers button")


def cell_ids(cells: Locator) -> list[str]:
    return [str(handle.get_attribute("data-cell")) for handle in cells.element_handles()]


def rules_of(match: Match) -> Romgon:
    game = match.room.game_rules
    assert isinstance(game, Romgon)
    return game


def play_capture_or_move(page: Page, match: Match) -> None:
    """Play a capture if there is one, else a move: choose a piece, then its target."""
    match.refresh_from_db()
    game = rules_of(match)
    position = game.decode(match.position)
    plain_moves = [move for move in game.legal_moves(position) if game.presentation.kind(move) == "move"]
    if not plain_moves:
        cell(page, game.presentation.layout.cells[game.legal_moves(position)[0].origin].id).click()
        offer_buttons(page).first.click()
        return
    move = max(plain_moves, key=lambda move: (position.board[move.target] != 0, hash((match.n_plies, move))))
    origin, target = (game.presentation.layout.cells[index].id for index in game.path(move))
    cell(page, origin).click()
    expect(cell(page, origin)).to_have_class(re.compile("is-chosen"))
    targets = {game.presentation.layout.cells[plain.target].id for plain in plain_moves if plain.origin == move.origin}
    assert set(cell_ids(page.locator("#board .is-target"))) == targets
    cell(page, target).click()


def test_a_match_against_a_level_with_a_flip(page: Page) -> None:
    match = start_romgon(page, "medium", "flip")
    expect(page.locator("#seats")).to_contain_text("Medium engine")
    expect(page.get_by_text("This match is played with flips.")).to_be_visible()
    cell(page, "1-6").click()
    expect(offer_buttons(page)).to_have_text(["Flip"])
    assert n_plies(page) == 0, "a flip is played by its button only"
    cell(page, "1-6").click()
    expect(offer_buttons(page)).to_have_count(0)
    cell(page, "1-6").click()
    offer_buttons(page).click()
    expect_plies(page, 2)
    expect(cell(page, "1-6")).to_have_attribute("aria-label", re.compile("^1-6, Black flipped triangle"))
    expect(cell(page, "1-6").locator(".shape-core")).to_have_count(1)
    assert Ply.objects.get(match=match, number=0).move == "1-6~"
    while not is_over(page):
        expect_turn(page)
        before = n_plies(page)
        play_capture_or_move(page, match)
        expect_plies(page, before + 2)
        match.refresh_from_db()
        game = rules_of(match)
        position = game.decode(match.position)
        captured = [len(pieces) for pieces in game.presentation.captured(position)]
        expect(page.locator("#captured .piece-picture")).to_have_count(sum(captured))
        notices = [] if match.is_over else game.presentation.notices(position).values()
        expect(page.locator("#notice")).to_have_text("".join(f"{notice}." for notice in notices))
    match.refresh_from_db()
    assert match.is_over
    expect(page.locator("#status")).to_contain_text(rules_of(match).presentation.reasons[match.termination])
    expect(page.locator("#ask-engine")).to_be_disabled()
    expect(page.get_by_role("button", name="Play again")).to_be_visible()


@pytest.mark.soak
def test_a_move_with_and_without_a_turn(page: Page) -> None:
    match = start_romgon(page, "easy", "turn")
    cell(page, "2-7").click()
    expect(offer_buttons(page)).to_have_text(["Turn right", "Turn left"])
    cell(page, "1-5").click()
    expect(offer_buttons(page)).to_have_text(["Just move", "Turn right", "Turn left"])
    assert n_plies(page) == 0
    offer_buttons(page).nth(2).click()
    expect_plies(page, 2)
    expect_turn(page)
    expect(page.locator("#moves > li").first).to_have_text("Black hexgon 2-7 to 1-5, turns left")
    expect(page.locator("#guide")).to_contain_text("steps along its bar, forwards or backwards")
    cell(page, "4-7").click()
    expect(offer_buttons(page)).to_have_count(0)
    cell(page, "4-6").click()
    expect_plies(page, 4)
    expect_turn(page)
    assert [ply.move for ply in Ply.objects.filter(match=match, side=Side.FIRST)] == ["2-7>1-5@2", "4-7>4-6"]


def test_the_offered_opponents_depend_on_the_rules(page: Page) -> None:
    page.goto("/")
    page.get_by_role("link", name="More ways to play Romgon").click()
    chosen_opponent = page.locator(".opponent:has(input:checked)")
    expect(chosen_opponent).to_contain_text("Novice")
    expect(chosen_opponent).to_have_text(re.compile(r"Elo \d+ \(\d+ to \d+\)\.\s*$"))
    expect(page.locator(".opponents input[value=menace]")).to_have_count(1)
    page.get_by_label("Flips").check()
    page.get_by_role("button", name="Use these rules").click()
    expect(page.locator(".opponents input:checked")).to_have_value("starter")
    expect(page.locator(".opponents input[value=menace]")).to_have_count(0)
    page.get_by_label("Flips").uncheck()
    page.get_by_label("Turning pieces").check()
    page.get_by_role("button", name="Use these rules").click()
    expect(page.locator(".opponents input:checked")).to_have_value("novice")
    expect(page.locator(".opponents input[value=champion]")).to_have_count(0)
    expect(chosen_opponent).not_to_contain_text("Elo")


def test_a_romgon_match_by_keyboard_is_announced(page: Page) -> None:
    match = start_romgon(page, "medium", "flip")
    page.locator("#board [tabindex='0']").focus()
    rows = []
    for _ in range(6):
        page.keyboard.press("ArrowDown")
        rows.append(page.evaluate("document.activeElement.dataset.cell"))
    assert rows == ["1-0", "2-1", "3-1", "4-1", "5-0", "6-0"], "straight down, row by row"
    for key in ("End", "ArrowUp", "ArrowRight"):  # 6-5, 5-5, 5-6
        page.keyboard.press(key)
    expect(cell(page, "5-6")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#announce")).to_contain_text("Black triangle facing west: Flip. The buttons are after")
    expect(cell(page, "5-5")).to_have_attribute("aria-label", re.compile("5-5, empty, can be moved to"))
    page.keyboard.press("Escape")
    expect(offer_buttons(page)).to_have_count(0)
    expect(cell(page, "5-6")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(offer_buttons(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect_plies(page, 2)
    expect(cell(page, "5-6")).to_be_focused()
    expect(page.locator("#announce")).to_contain_text(re.compile(r"Medium engine: .*\. Your turn: "))
    expect_turn(page)
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    expect(cell(page, "5-5")).to_be_focused()
    page.keyboard.press(" ")
    expect_plies(page, 4)
    assert [ply.move for ply in Ply.objects.filter(match=match, side=Side.FIRST)] == ["5-6~", "5-6>5-5"]


@pytest.mark.soak
def test_a_romgon_match_by_touch_on_a_small_phone(visitor: Visitor) -> None:
    page = visitor(viewport={"width": 360, "height": 700}, has_touch=True, is_mobile=True)
    start_romgon(page, "medium", "flip")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert faults_in_each_style(page, layout_faults) == []
    width = page.locator("#board .cell-floor").first.evaluate("(floor) => floor.getBoundingClientRect().width")
    assert width >= 44, "the board is upright, so that its cells are large enough for a finger"
    assert cell(page, "3-0").bounding_box()["y"] < cell(page, "3-8").bounding_box()["y"]
    cell(page, "3-4").focus()
    for key, cell_id in {"ArrowUp": "3-3", "ArrowRight": "2-2", "ArrowDown": "2-3", "ArrowLeft": "3-3"}.items():
        page.keyboard.press(key)
        expect(cell(page, cell_id)).to_be_focused()
    cell(page, "4-7").tap()
    offer_buttons(page).tap()
    expect_plies(page, 2)
    expect_turn(page)
    cell(page, "4-7").tap()
    page.locator("#board .is-target").first.tap()
    expect_plies(page, 4)


def test_moves_that_the_engine_advises_are_shown(page: Page, visitor: Visitor) -> None:
    start_romgon(page, "medium")
    friend = visitor()
    friend.goto(page.url)
    expect(page.locator("#engine-answer")).to_be_hidden()
    page.get_by_role("button", name="Ask the engine").click()
    engine_moves = page.locator("#engine-moves button")
    expect(engine_moves).to_have_count(5)
    expect(page.locator("#engine-words")).to_have_text("Black to move. Even.")
    expect(page.locator("#engine-bar")).to_have_attribute("aria-label", "Black 50 %, White 50 %")
    engine_moves.nth(1).focus()
    expect(page.locator("#board .is-lit")).to_have_count(2)
    expect(cell(page, "3-7")).to_have_class(re.compile("is-lit"))
    engine_moves.nth(0).hover()
    expect(cell(page, "4-6")).to_have_class(re.compile("is-lit"))
    expect(friend.locator("#engine-answer")).to_be_hidden()
    cell(page, "4-7").click()
    cell(page, "4-6").click()
    expect_plies(page, 2)
    expect(page.locator("#engine-answer")).to_be_hidden()


def test_a_thinking_opponent_is_shown_and_moves_without_the_page(page: Page, visitor: Visitor) -> None:
    player = SlowPlayer()
    PLAYERS[player.slug] = player
    try:
        page.goto("/play/romgon")
        page.locator("input[value=ponderer]").check()
        page.locator("#play-other").click()
        page.wait_for_url("**/rooms/*")
        cell(page, "4-7").click()
        cell(page, "4-6").click()
        expect(page.locator("#status")).to_have_text("Ponderer (White) is thinking…")
        expect(page.locator("#board.is-mine")).to_have_count(0)
        friend = visitor()
        friend.goto(page.url)
        expect(friend.locator("#status")).to_have_text("Ponderer (White) is thinking…")
        address = page.url
        page.goto("/about")
        player.may_move.set()
        expect(friend.locator("#moves > li")).to_have_count(2)
        page.goto(address)
        expect_turn(page)
    finally:
        player.may_move.set()
        del PLAYERS[player.slug]
