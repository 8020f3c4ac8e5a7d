"""The page of a machine's values in a real browser: used by mouse, by keyboard and by the table's links."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from beadbox.rules.registry import GAMES
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.workers.runs import RUNS, run_execute
from tests.e2e.axe import violations
from tests.e2e.layout import faults_in_each_style, layout_faults
from tests.e2e.playing import cell
from tests.factories import NC, trained_machine

pytestmark = pytest.mark.e2e

GAME = GAMES["romgon-flip"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("width", [360, 1280])
def test_values_are_browsed_by_mouse_and_keyboard(page: Page, width: int) -> None:
    machine = machine_create(game=GAME.slug, side=None, name="Q")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"/machines/{machine.pk}/values")
    rows = page.locator("#values tbody tr")
    expect(rows).to_have_count(20)
    expect(page.get_by_text("its choice")).to_have_count(1)
    cell(page, "4-7").click()
    cell(page, "4-6").click()
    expect(page.get_by_text("White is to move.")).to_be_visible()
    for hexagon in ("4-0", "4-1"):
        cell(page, hexagon).focus()
        page.keyboard.press("Enter")
    expect(page.get_by_text("Black is to move.")).to_be_visible()
    # Moves of other kinds are only in the table.
    page.get_by_role("link", name="flips over").first.click()
    expect(page.get_by_text("White is to move.")).to_be_visible()
    page.get_by_role("link", name="Back to the start").click()
    expect(rows).to_have_count(20)
    assert faults_in_each_style(page, layout_faults) == []
    assert violations(page) == []


def test_run_and_machine_pages_report_the_limit_of_values(page: Page, settings: Any) -> None:
    settings.VALUES_PER_MACHINE = 5
    machine = machine_create(game="romgon", side=None, name="Q")
    run = training_run_start(machine=machine.slug, stages=[Stage("easy", 1)], seed=1, enqueue=False)
    claimed = RUNS.claim(run.pk)
    assert claimed is not None
    run = run_execute(claimed)
    page.goto(f"/runs/{run.pk}")
    expect(page.get_by_text(f"left out new ones {run.n_left_out} times")).to_be_visible()
    assert violations(page) == []
    page.goto(f"/machines/{machine.pk}")
    expect(page.get_by_text("It learns no new values, for a machine may have 5.")).to_be_visible()
    assert violations(page) == []


def test_table_of_a_small_game_shows_a_value_for_every_move(page: Page) -> None:
    machine = trained_machine(machine_create(game=NC, side=None, name="Tab", preset="td-boards"), 100)
    page.goto(f"/machines/{machine.pk}")
    expect(page.locator("#n-values")).not_to_be_empty()
    assert violations(page) == []
    page.locator("#play-0").click()
    cell(page, "5").click()
    expect(page.locator("#values [data-values=thought] th[scope=col]")).to_have_text(["Move", "Learnt"])
    expect(page.locator("#values [data-values=thought] tbody tr")).to_have_count(8)
    assert faults_in_each_style(page, layout_faults) == []
    assert violations(page) == []
    page.locator("#values a").click()
    expect(page.locator("#values th[scope=col]")).to_have_text(["Move", "Learnt", "Tried"])
    assert violations(page) == []
