"""Games with other kinds of moves than the site's games, on the match page, which must not know these kinds."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.live.store import room_get
from learning.models import Draw
from learning.services.machines import machine_create
from tests.e2e.playing import cell, code_of, expect_plies, expect_turn, is_over
from tests.factories import room_view
from tests.toys import TOYS

pytestmark = pytest.mark.e2e


@pytest.fixture(autouse=True)
def _toys_in_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    for game in TOYS:
        monkeypatch.setitem(GAMES, game.slug, game)


def last_cells(page: Page) -> set[str]:
    return {str(square.get_attribute("data-cell")) for square in page.locator("#board .is-last").all()}


@pytest.mark.parametrize("game", TOYS, ids=lambda game: game.slug)
@pytest.mark.sampled(1)
def test_a_match_is_played_with_the_mouse(page: Page, game: Game[Any, Any]) -> None:
    page.goto(f"/play/{game.slug}")
    page.locator('.opponent:has(input[value="random"])').click()
    page.locator('.sides label:has(input[value="first"])').click()
    page.locator("#play-other").click()
    expect_turn(page)
    state = room_view(room_get(code_of(page)))
    for cell_id in state["paths"][state["legal_moves"][-1]]:
        cell(page, cell_id).click()
    expect_plies(page, 2)
    for hidden in ("#engine", "#offers", "#error"):
        expect(page.locator(hidden)).to_be_hidden()
    if not is_over(page):
        assert last_cells(page) == set(room_view(room_get(code_of(page)))["moves"][-1]["path"])
    page.locator("#moves button").first.click()
    expect(page.locator("#replay-words")).to_contain_text("After move 1 of ")
    assert last_cells(page) == set(state["paths"][state["legal_moves"][-1]])


@pytest.mark.parametrize("game", [game for game in TOYS if game.supports_boxes], ids=lambda game: game.slug)
@pytest.mark.sampled(1)
def test_an_opened_box_describes_the_moves_of_its_beads(page: Page, game: Game[Any, Any]) -> None:
    machine = machine_create(game=game.slug, side=Side.FIRST, name="Toy")
    page.goto(f"/play/{game.slug}")
    page.locator('select[name="first"]').select_option(str(machine.pk))
    page.locator('select[name="second"]').select_option("random")
    page.locator("#watch-them").click()
    page.locator("#step").click()
    expect_plies(page, 1)
    draw = Draw.objects.get()
    odds = page.locator("#odds tbody tr")
    expect(odds).to_have_count(len(draw.beads))
    path = room_view(room_get(code_of(page)))["moves"][0]["path"]
    assert last_cells(page) == set(path)
    cell_label = page.locator(f'#board [data-cell="{path[-1]}"]').get_attribute("aria-label") or ""
    expect(page.locator("#odds tr.is-drawn")).to_contain_text(cell_label.partition(",")[0], ignore_case=True)
    page.goto(machine.get_absolute_url())
    expect(page.locator(".wall-box").first).to_be_visible()
    page.locator(".wall-box").first.click()
    expect(page.locator("#odds tbody tr")).to_have_count(len(draw.beads))
