"""The page of an experiment: a visitor starts a run, follows it, and reads its result as charts and tables."""

import csv
import re

import pytest
from playwright.sync_api import Page, expect

from learning.models import ExperimentRun, JobStatus
from tests.conftest import StartWorker
from tests.e2e.conftest import Visitor
from tests.e2e.layout import PHONE_OPTIONS, faults_in_each_style, layout_faults
from tests.factories import finished_experiment
from tests.waiting import HANG_S

pytestmark = pytest.mark.e2e

GARDNER = "/experiments/gardner"
"""The page of the experiment "How often must HER lose?", named after Martin Gardner."""


def start_experiment(page: Page, seed: int) -> None:
    page.locator("#id_seed").fill(str(seed))
    page.locator("#id_machines").fill("100")
    page.locator("#begin").click()


def test_experiment_of_a_guest_shows_its_result_without_reload(
    page: Page, visitor: Visitor, start_worker: StartWorker
) -> None:
    page.goto("/")
    page.get_by_role("navigation").get_by_role("link", name="Lab").click()
    page.get_by_role("link", name="Experiments").click()
    page.get_by_role("link", name="How often must HER lose?").click()
    expect(page.locator("#result")).to_contain_text("No one has run this experiment here yet.")
    start_experiment(page, 7)
    expect(page.locator("#status")).to_have_text("Waiting")
    onlooker = visitor(**PHONE_OPTIONS)
    onlooker.goto(page.url)
    expect(onlooker.locator("#cancel")).to_have_count(0)  # only the visitor who started the run may cancel it
    start_worker()
    for viewer_page in (page, onlooker):
        expect(viewer_page.locator("#result")).to_have_attribute("data-status", "finished", timeout=HANG_S * 1000)
        expect(viewer_page.locator("#said")).to_have_text("It is finished. The result is on the page.")
        expect(viewer_page.locator("#figures tbody tr").first).to_contain_text("Losses until it is perfect")
        expect(viewer_page.locator("#findings li").first).to_have_text(re.compile("^A machine loses games before"))
        expect(viewer_page.locator(".curve-stage canvas")).to_have_count(2)
    assert faults_in_each_style(onlooker, layout_faults) == []
    assert ExperimentRun.objects.get().seed == 7
    figures = page.locator("#figures").inner_text()
    page.reload()
    assert page.locator("#figures").inner_text() == figures

    with page.expect_download() as download:
        page.get_by_role("link", name="Result as CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text(encoding="utf-8-sig").splitlines()))
    assert {row["part"] for row in rows} == {"figure", "perfect", "losses"}

    # If another visitor starts the same experiment with the same seed, the stored result appears at once.
    onlooker.goto(GARDNER)
    start_experiment(onlooker, 7)
    expect(onlooker.locator("#result")).to_have_attribute("data-status", "finished")
    assert ExperimentRun.objects.count() == 1


def test_charts_are_readable_by_keyboard_and_as_tables(page: Page) -> None:
    finished_experiment("gardner", machines=20)
    page.goto(GARDNER)
    chart = page.locator("#chart-losses")
    chart.locator(".curve-stage").focus()
    page.keyboard.press("End")
    expect(chart.locator("[aria-live]")).to_contain_text("losses")
    section = page.locator("section", has=chart)
    section.locator("summary").click()
    expect(section.locator("tbody tr").last).to_be_visible()
    with page.expect_download():
        section.locator("[data-png]").click()


def test_an_experiment_is_cancelled_and_can_run_again(visitor: Visitor) -> None:
    page = visitor(**PHONE_OPTIONS)
    page.goto(GARDNER)
    start_experiment(page, 8)
    page.locator("#cancel").click()
    expect(page.locator("#result")).to_contain_text("This run was stopped before it had a result.")
    assert ExperimentRun.objects.get().status == JobStatus.CANCELLED
    assert faults_in_each_style(page, layout_faults) == []
    page.locator("#begin").click()
    expect(page.locator("#status")).to_have_text("Waiting")
