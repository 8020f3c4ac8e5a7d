"""Matches against the strongest learnt values in a real browser: weights, features, and changes by a match."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from beadbox.engines.romgon.shipped import VALUE_FOLDER
from beadbox.rules.romgon.geometry import CELL
from learning.models import Machine
from learning.services.machines import machine_import
from tests.e2e.axe import violations
from tests.e2e.layout import faults_in_each_style, layout_faults
from tests.e2e.playing import expect_plies, expect_turn, match_of
from tests.e2e.test_romgon import play_capture_or_move

pytestmark = pytest.mark.e2e


def import_strongest_machine() -> Machine:
    """Import the value for flips that ships with the program, with the greatest search depth of a machine."""
    file = json.loads((VALUE_FOLDER / "flips.json").read_text())
    file["rule"]["play_depth"] = 4
    return machine_import(user=None, content=json.dumps(file).encode(), name="V").machine


def parse_number(words: str) -> float:
    return float(words.replace("\u2212", "-"))


def check_heat_map(page: Page) -> None:
    """Choose a piece by keyboard, and check that the board shows the same numbers as the table."""
    page.get_by_role("radio", name="square").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="rhombus")).to_be_checked()
    expect(page.locator("#heat-words")).to_have_text(re.compile(r"^Its own rhombus: most for it \+[.\d]+ on 3-\d"))
    page.get_by_label("flipped").check()
    expect(page.locator("#heat-words")).to_have_text(re.compile("^Its own flipped rhombus"))
    numbers = page.locator("#heat-board text").all_text_contents()
    page.locator("summary", has_text="Where pieces stand").click()
    row = page.locator(".heat-numbers tr", has=page.get_by_role("rowheader", name="3-7", exact=True))
    column = page.locator(".heat-numbers").first.locator("thead th").all_inner_texts().index("its own flipped rhombus")
    in_table = parse_number(row.locator("td").nth(column).inner_text())
    assert abs(parse_number(numbers[CELL["3-7"]]) - in_table) < 0.006


def check_parts_of_value(page: Page, words: str) -> Locator:
    """Play a move against either opponent; check that the answer's parts add up, and return their section."""
    page.wait_for_url(re.compile("/rooms/"))
    expect_turn(page)
    play_capture_or_move(page, match_of(page))
    expect_plies(page, 2)
    parts = page.locator("#parts")
    expect(parts.locator("[data-parts=words]")).to_have_text(re.compile(words))
    part_lines = parts.locator("[data-parts=board] > .parts > li")
    expect(part_lines).to_have_count(5)
    sizes = [abs(parse_number(words)) for words in part_lines.locator(".figure").all_inner_texts()]
    assert sizes == sorted(sizes, reverse=True)
    for summary in parts.locator("summary").all():
        summary.click()
    addends = parts.locator("[data-parts=board] tbody tr td:last-child").all_inner_texts()
    (total,) = re.findall(r"All together ([+−][.\d]+): a value of", parts.locator(".parts-sum").inner_text())
    assert abs(sum(map(parse_number, addends)) - parse_number(total)) < 0.01
    expect(parts.locator("[data-parts=moves] .tag")).to_have_text("played")
    return parts


def test_top_level_shows_its_search_and_its_weights(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto("/learnt/romgon-flip")
    page.get_by_role("button", name="Play against Legend").click()
    parts = check_parts_of_value(page, r"^It played .* out of \d+ moves\. It looked 4 moves ahead\.$")
    expect(parts.get_by_role("link", name="How it rates this position")).to_be_hidden()
    assert faults_in_each_style(page, layout_faults) == []
    assert violations(page) == []
    parts.get_by_role("link", name="The weights on the board").click()
    page.wait_for_url("**/learnt/romgon-flip")
    check_heat_map(page)
    assert faults_in_each_style(page, layout_faults) == []
    assert violations(page) == []


@pytest.mark.soak
def test_a_match_against_the_strongest_learnt_value(page: Page) -> None:
    machine = import_strongest_machine()
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(f"/machines/{machine.pk}")
    check_heat_map(page)
    assert faults_in_each_style(page, layout_faults) == []
    assert violations(page) == []
    page.locator("#play-0").click()
    parts = check_parts_of_value(page, r"^It played .*Looking 4 moves ahead, it found ")
    room = page.url
    page.get_by_role("button", name="Give up").click()
    page.get_by_role("button", name="Yes, give up").click()
    parts.locator("summary", has_text="What the match changed in V").click()
    assert faults_in_each_style(page, layout_faults) == []
    assert violations(page) == []
    parts.get_by_role("link", name=re.compile(r"All \d+ on the board")).click()
    expect(page.locator("#shown")).to_have_text(re.compile("You see what lesson 1, a match, has changed"))
    expect(page.locator("#heat-board text").first).to_be_visible()
    page.goto(room)
    page.get_by_role("link", name="How it rates this position").click()
    expect(page.locator("#choice .parts li").first).to_be_visible()
    expect(page.locator("#here .parts li").first).to_be_visible()
    assert faults_in_each_style(page, layout_faults) == []
    assert violations(page) == []
