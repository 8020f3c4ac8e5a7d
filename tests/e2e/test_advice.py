"""The page with a board editor: mouse, keyboard, phone, and the request that a program would send."""

import json
import re
import shlex

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from beadbox.rules.outcome import Side
from learning.services.machines import machine_create
from tests.e2e.conftest import Visitor, Watch
from tests.e2e.layout import faults_in_each_style, layout_faults
from tests.factories import house_machines

pytestmark = pytest.mark.e2e


def cell(page: Page, name: str) -> Locator:
    return page.locator(f'#board [data-cell="{name}"]')


def test_a_board_is_set_up_and_the_advised_move_is_shown(page: Page, watch: Watch) -> None:
    watch.allow("400")
    page.goto("/ai")
    page.locator("#game").select_option("noughts-and-crosses")
    page.get_by_role("radio", name="X", exact=True).check()
    cell(page, "1").click()
    cell(page, "2").click()
    cell(page, "2").click()  # a second click removes the piece
    page.get_by_role("radio", name="O", exact=True).check()
    cell(page, "5").click()
    page.get_by_role("radio", name="X", exact=True).check()
    cell(page, "2").click()
    page.get_by_role("radio", name="O", exact=True).check()
    cell(page, "4").click()
    page.get_by_role("button", name="Ask for a move").click()
    expect(page.locator("#answer")).to_have_text("Play top right. It wins.")
    expect(cell(page, "3")).to_have_attribute("class", "cell is-playable is-last is-lit")
    expect(page.locator("#candidates li")).to_have_count(5)
    page.locator("#candidates button", has_text="middle right").click()
    expect(cell(page, "6")).to_have_attribute("class", "cell is-playable is-last is-lit")
    page.get_by_role("button", name="What is it worth?").click()
    expect(page.locator("#answer")).to_have_text("It is worth 1 to the side to move.")
    cell(page, "9").click()
    page.get_by_role("button", name="Ask for a move").click()
    expect(page.locator("#answer")).to_contain_text("Invalid board")


def test_an_answer_about_an_earlier_board_is_not_shown(page: Page) -> None:
    no_answer_text = "Nothing has been asked about this board yet."
    pending_routes: list[Route] = []
    page.goto("/ai")
    page.get_by_role("button", name="Ask for a move").click()
    expect(page.locator("#candidates li")).to_have_count(9)
    page.locator("#level").select_option("easy")
    expect(page.locator("#answer")).to_have_text(no_answer_text)
    expect(page.locator("#candidates li")).to_have_count(0)
    page.route("**/api/ai/move", lambda route: pending_routes.append(route))  # noqa: PLW0108 -- the tool marks what it calls, which no built-in allows
    page.get_by_role("button", name="Ask for a move").click()
    expect(page.locator("#answer")).to_have_text("Thinking…")
    page.get_by_role("radio", name="O", exact=True).first.check()  # the chosen piece is not part of the request
    expect(page.locator("#answer")).to_have_text("Thinking…")
    page.locator("#level").select_option("hard")
    expect(page.locator("#answer")).to_have_text(no_answer_text)
    with page.expect_response("**/api/ai/move"):
        pending_routes[0].continue_()
    expect(page.locator("#answer")).to_have_text(no_answer_text)


def test_romgon_board_with_flipped_and_turned_piece_by_keyboard(page: Page) -> None:
    page.goto("/ai")
    page.locator("#game").select_option("romgon")
    page.get_by_role("button", name="Empty board").press("Enter")
    page.get_by_role("radio", name="white triangle").check()
    page.locator("#rotation").select_option("2")
    page.locator("#flipped").check()
    cell(page, "0-0").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.get_by_role("radio", name="White", exact=True).check()
    page.locator("#flips").check()
    command = shlex.split(page.locator("#curl").text_content() or "")
    request_body = json.loads(command[command.index("-d") + 1])
    assert request_body == {
        "board": {"0-1": {"color": "white", "type": "triangle", "flipped": True, "rotation": 2}},
        "playerColor": "white",
        "difficulty": "hard",
        "flipModeEnabled": True,
    }
    page.get_by_role("button", name="Ask for a move").press("Enter")
    expect(page.locator("#answer")).to_contain_text("Play 0-1→")
    expect(page.locator("#candidates li")).to_have_count(5)
    page.locator("summary", has_text="The answer as JSON").click()
    expect(page.locator("#came")).to_contain_text('"flipModeEnabled": true')
    page.get_by_role("radio", name="white triangle").check()
    page.locator("#rotation").select_option("0")
    cell(page, "0-3").click()
    shape_boxes = [cell(page, name).locator(".shape-edge").bounding_box() for name in ("0-1", "0-3")]
    assert len({round(box["width"]) for box in shape_boxes if box}) == 2, (
        "the drawing shows the direction, even after a third of a turn"
    )
    page.locator("#rotation").select_option("2")
    page.get_by_role("radio", name="black square").check()  # this piece looks alike flipped and turned
    cell(page, "6-0").click()
    expect(cell(page, "6-0")).to_have_attribute("aria-label", re.compile("^6-0, Black flipped square"))


def test_a_machine_with_values_advises_in_romgon(page: Page) -> None:
    machine_create(game="romgon", side=None, name="Quentin", slug="quentin")
    page.goto("/ai")
    page.locator("#game").select_option("romgon")
    page.locator("#machine").fill("quentin")
    page.get_by_role("button", name="Ask for a move").click()
    expect(page.locator("#answer")).to_contain_text("Quentin plays: ")
    expect(page.locator("#candidates li").first.locator(".figure")).to_have_text(re.compile(r"^-?\d\.\d{3}$"))
    assert page.locator("#candidates li").count() > 5


@pytest.mark.soak
def test_a_machine_with_boxes_advises_on_a_phone(visitor: Visitor) -> None:
    house_machines()[Side.FIRST]
    page = visitor(viewport={"width": 360, "height": 740})
    page.goto("/ai")
    page.locator("#game").select_option("noughts-and-crosses")
    page.locator("#machine").fill("menace-first")
    page.get_by_role("button", name="Ask for a move").click()
    expect(page.locator("#answer")).to_contain_text("draws:")
    expect(page.locator("#candidates li")).to_have_count(9)
    for slug in ("romgon", "noughts-and-crosses"):
        page.locator("#game").select_option(slug)
        assert faults_in_each_style(page, layout_faults) == []
