"""A match in each small game on a phone: touch targets are large enough, and the machine's box opens."""

from typing import Any

import pytest
from playwright.sync_api import expect

from beadbox.rules.outcome import Side
from games.live.store import room_get
from learning.services.machines import machine_create
from tests.e2e.conftest import Visitor
from tests.e2e.everywhere import browser_options
from tests.e2e.playing import cell, code_of, expect_plies, expect_turn
from tests.factories import room_view

pytestmark = pytest.mark.e2e

MIN_TOUCH_PX = 44
FIRST_CELL = {"nim-3-3-3": "4", "wild-noughts-and-crosses": "5", "pong-hau-ki": "1", "mu-torere": "1"}
"""The cell that is touched first, by the slug of the game."""


def play_first_move(page: Any, slug: str) -> None:
    """Play the first legal move from a cell by touch, with its button if the cell has several moves."""
    state = room_view(room_get(code_of(page)))
    move = next(move for move in state["legal_moves"] if state["paths"][move][0] == FIRST_CELL[slug])
    for cell_id in state["paths"][move]:
        cell(page, cell_id).click()
    if move in state["actions"]:
        page.get_by_role("button", name=state["actions"][move]["name"]).click()


@pytest.mark.parametrize("slug", FIRST_CELL)
def test_a_small_game_is_played_on_a_phone(visitor: Visitor, slug: str) -> None:
    page = visitor(**browser_options(360, 740))
    page.goto(f"/play/{slug}")
    page.locator('.opponent:has(input[value="random"])').click()
    page.locator('.sides label:has(input[value="first"])').click()
    page.locator("#play-other").click()
    expect_turn(page)
    for floor in page.locator("#board .cell-floor").all():
        box = floor.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= MIN_TOUCH_PX
    play_first_move(page, slug)
    expect_plies(page, 2)


@pytest.mark.parametrize("slug", FIRST_CELL)
def test_a_machine_opens_a_box(visitor: Visitor, slug: str) -> None:
    machine = machine_create(game=slug, side=Side.FIRST, name="Small")
    page = visitor(**browser_options(1280, 800))
    page.goto(f"/play/{slug}")
    page.locator('select[name="first"]').select_option(str(machine.pk))
    page.locator('select[name="second"]').select_option("random")
    page.locator("#watch-them").click()
    page.locator("#step").click()
    expect_plies(page, 1)
    expect(page.locator("#matchbox .matchbox, .matchbox-place .matchbox").first).to_be_visible()
    page.goto(machine.get_absolute_url())
    expect(page.locator(".wall-box").first).to_be_visible()
