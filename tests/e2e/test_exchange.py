"""Printing and exchange in a real browser: printed sheets, a machine exported and imported."""

import re
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pypdf import PdfReader

from beadbox.engines.romgon.entry_keys import entry_key
from beadbox.rules.outcome import Side
from learning.kinds.machines import machine_export
from learning.models import Machine, Value
from learning.services.machines import machine_create
from tests.e2e.conftest import Visitor
from tests.e2e.everywhere import browser_options
from tests.factories import machine, trained_machine

pytestmark = pytest.mark.e2e


def test_a_machine_is_printed(page: Page) -> None:
    learner = trained_machine(machine(Side.FIRST))
    page.goto(learner.get_absolute_url())
    expect(page.locator(".wall-box").last).to_be_attached()
    page.emulate_media(media="print", color_scheme="dark")
    print_styles = """(box) => {
      const label = getComputedStyle(box, "::before");
      return [label.printColorAdjust, label.backgroundColor, getComputedStyle(box.parentElement).position];
    }"""
    # The wall may have been redrawn: a box that has left the page has no styles.
    styles = page.wait_for_function(f"found = ({print_styles})(document.querySelector('.wall-box')); found[0] && found")
    adjust, colour, position = styles.json_value()
    assert (adjust, position) == ("exact", "static")
    assert colour not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen", color_scheme="light")
    page.get_by_role("link", name="Print or take away").click()
    page.get_by_label("Paper").select_option("A3")
    page.get_by_label("Width of a box").fill("60")
    with page.expect_download() as download:
        page.locator("#print").click()
    assert download.value.suggested_filename == f"{learner.slug}-boxes.pdf"
    text = PdfReader(download.value.path()).pages[0].extract_text()
    assert "304 matchboxes of 60 × 36 mm and 1,720 beads" in text
    page.get_by_label("The beads that each box holds now").check()
    page.locator("#print").click()
    expect(page.locator("#many")).to_contain_text("At the beginning the machine needs 1,720.")
    with page.expect_download() as download:
        page.locator("#print-many").click()
    assert download.value.suggested_filename == f"{learner.slug}-boxes.pdf"


@pytest.mark.parametrize("width", [360, 1280])
def test_the_fields_of_the_print_form_are_evenly_spaced(visitor: Visitor, width: int) -> None:
    page = visitor(**browser_options(width, 740))
    page.goto(f"{machine(Side.FIRST).get_absolute_url()}/print")
    parts = [part.bounding_box() for part in page.locator("main form > .field").all()]
    gaps = [after["y"] - before["y"] - before["height"] for before, after in pairwise(parts) if before and after]
    assert len(gaps) == 3
    assert max(gaps) - min(gaps) < 1, gaps
    choices = [choice.bounding_box() for choice in page.locator("form .choice").all()]
    assert all(after["y"] - before["y"] <= 48 for before, after in pairwise(choices) if before and after), choices


def test_a_machine_is_exported_and_imported(page: Page, owner: Any) -> None:
    learner = trained_machine(machine())
    page.goto(f"/machines/{learner.pk}/print")
    with page.expect_download() as download:
        page.get_by_role("link", name="Beadbox", exact=True).last.click()
    page.goto("/machines")
    page.get_by_role("link", name="Import a machine").click()
    page.locator("#id_file").set_input_files(download.value.path())
    page.get_by_label("Name").fill("Home again")
    page.locator("#import").click()
    page.wait_for_url(re.compile(r"/machines/\d+$"))
    expect(page.locator("h1")).to_have_text("Home again")
    copy = Machine.objects.get(owner=owner)
    assert machine_export(copy).text == machine_export(learner).text.replace('"MENACE"', '"Home again"')


def test_machine_with_values_is_exported_and_imported(page: Page, owner: Any) -> None:
    learner = machine_create(game="romgon", side=None, name="Q")
    board = learner.game_rules.initial_position().board
    keys = [entry_key(board, move) for move in learner.game_rules.legal_moves(learner.game_rules.initial_position())]
    Value.objects.bulk_create(Value(machine=learner, key=key, start=0.1 / 3, value=0.1 / 3) for key in keys)
    page.goto(learner.get_absolute_url())
    with page.expect_download() as download:
        page.locator("#take").click()
    page.goto("/machines/import")
    page.locator("#id_file").set_input_files(download.value.path())
    page.locator("#import").click()
    page.wait_for_url(re.compile(r"/machines/\d+$"))
    expect(page.locator("h1")).to_have_text("Q")
    expect(page.locator("#n-values")).to_have_text(str(len(keys)))
    assert machine_export(Machine.objects.get(owner=owner)).text == machine_export(learner).text
