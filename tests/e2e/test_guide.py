"""Every game explains its rules: the guide on its pages, and letters and numbers on boards with named squares."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Visitor
from tests.e2e.everywhere import browser_options
from tests.e2e.playing import cell, expect_turn, start_first, start_romgon_room
from tests.factories import house_machines

pytestmark = pytest.mark.e2e


def teach_her(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name=re.compile("Teach a new HER|Go on teaching your HER")).click()
    expect_turn(page)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("width", "height"), [(360, 740), (1280, 800)])
def test_guide_is_open_on_the_first_visit_only(visitor: Visitor, width: int, height: int) -> None:
    """On later visits the guide is folded, and one press opens it."""
    house_machines()
    page = visitor(**browser_options(width, height))
    guide = page.locator("#guide")
    page.goto("/play/hexapawn")
    expect(guide).to_have_attribute("open", "")
    expect(guide).to_be_in_viewport()
    expect(guide).to_contain_text("A pawn steps one square straight ahead")
    expect(guide.get_by_role("img")).to_have_count(3)
    move_picture = guide.get_by_role("img").nth(1)
    expect(move_picture).to_have_attribute("aria-label", re.compile("white a1.*; dots on a2, b2, c2"))
    teach_her(page)
    expect(guide).to_have_attribute("open", "")
    expect(guide).to_be_in_viewport()
    expect(page.locator("#board")).to_be_in_viewport(ratio=1)
    page.reload()
    expect_turn(page)
    expect(guide).not_to_have_attribute("open", "")
    page.locator("#how:visible, #guide > summary:visible").first.click()
    expect(guide).to_have_attribute("open", "")
    expect(guide.locator("h3").first).to_be_in_viewport()
    page.goto("/play/hexapawn-4x3")  # a family of games has one guide
    expect(guide).not_to_have_attribute("open", "")
    page.goto("/play/noughts-and-crosses")
    expect(guide).to_have_attribute("open", "")


def test_without_storage_the_guide_opens_on_each_visit(page: Page) -> None:
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('off'); } })")
    for _ in range(2):
        page.goto("/play/hexapawn")
        expect(page.locator("#guide")).to_have_attribute("open", "")


def test_board_shows_the_coordinates_used_in_texts(visitor: Visitor) -> None:
    house_machines()
    page = visitor(**browser_options(360, 740))
    teach_her(page)
    expect(page.locator("#board .coordinates text")).to_have_text(["a", "b", "c", "3", "2", "1"])
    for name in ("a1", "b3", "c2"):  # each letter is below its column, each number beside its row
        square = cell(page, name).bounding_box()
        letter, number = (
            page.locator("#board .coordinates text", has_text=re.compile(f"^{part}$")).bounding_box() for part in name
        )
        assert square
        assert letter
        assert number
        assert square["x"] < letter["x"] + letter["width"] / 2 < square["x"] + square["width"]
        assert square["y"] < number["y"] + number["height"] / 2 < square["y"] + square["height"]
    start_first(page)
    expect(page.locator("#board .coordinates text")).to_have_count(0)
    start_romgon_room(page, "easy")
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 740})
        mark = cell(page, "2-3").locator("text.coordinates")
        expect(mark).to_have_text("2-3")
        box, hexagon = mark.bounding_box(), cell(page, "2-3").bounding_box()
        assert box
        assert hexagon
        assert hexagon["x"] < box["x"] < box["x"] + box["width"] < hexagon["x"] + hexagon["width"]
        assert hexagon["y"] < box["y"] < box["y"] + box["height"] < hexagon["y"] + hexagon["height"]
        assert box["width"] > box["height"], "upright"
