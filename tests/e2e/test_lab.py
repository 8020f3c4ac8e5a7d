"""The lab in a real browser: make a machine, train it, see the curve move, cancel; look into boxes at any time."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.presets import presets_of
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.boxes.training import box_visits
from learning.models import JobStatus, Machine, TrainingRun
from learning.selectors.runs import run_curve
from tests.conftest import StartWorker
from tests.factories import machine, trained_machine
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

SCROLL_TO_THE_END = """() => {
    scrollTo(0, document.documentElement.scrollHeight);
    const last = [...document.querySelectorAll(".wall-box")].at(-1).getBoundingClientRect();
    return last.bottom > 0 && last.top < innerHeight;
}"""
"""Scrolls to the end of a page and returns whether the last box is visible."""


def shown_games(page: Page) -> int:
    """Return the number of finished games that the page of a run shows."""
    return int(re.sub(r" of .*|,", "", page.locator('[data-show="done"]').inner_text()))


def shown_rows(page: Page) -> list[int]:
    """Return the numbers of games in the rows of the table of a run."""
    return [int(text.replace(",", "")) for text in page.locator("#points tbody th").all_text_contents()]


def test_a_training_run_is_watched_and_cancelled(page: Page, owner: Any, start_worker: StartWorker) -> None:
    start_worker()
    page.goto("/machines/new")
    page.get_by_label("Name", exact=True).fill("Mendel")
    page.locator("#all-presets summary").click()
    page.locator('.preset:has([value="scroggs"])').click()
    page.locator("#make").click()
    expect(page.locator("h1")).to_have_text("Mendel")
    new_machine = Machine.objects.get()
    assert (new_machine.owner, new_machine.preset) == (owner, "scroggs")

    page.locator("#train").click()
    page.get_by_label("Number of games").fill("400000000")
    page.locator("#begin").click()
    page.wait_for_url(re.compile(r"/runs/\d+$"))
    expect(page.locator('[data-show="status"]')).to_have_text("Training")
    expect(page.locator('[data-show="speed"]')).to_contain_text("games a second")
    expect(page.locator('[data-show="left"]')).to_contain_text("to go")
    page.evaluate("window.isTheSamePage = true")
    page.get_by_text("The same as a table").click()
    before = shown_rows(page)
    page.wait_for_function("n => document.querySelectorAll('#points tbody tr').length > n", arg=len(before) + 1)
    assert page.evaluate("window.isTheSamePage") is True
    n_games = shown_games(page)

    # The run goes on without the page, and a page that comes back shows the whole run.
    page.reload()
    assert shown_games(page) >= n_games
    page.get_by_text("The same as a table").click()
    after = shown_rows(page)
    assert after[: len(before)] == before
    assert len(after) >= len(before) + 2

    page.locator("#cancel button").click()
    expect(page.locator('[data-show="status"]')).to_contain_text("Stopped")
    expect(page.locator("#cancel")).to_be_hidden()
    run = TrainingRun.objects.get()
    assert run.status == JobStatus.CANCELLED
    assert 0 < run.games_done < run.n_games
    assert shown_games(page) == run.games_done
    page.get_by_text("The same as a table").click()
    assert shown_rows(page) == [point["games"] for point in run_curve(run)]
    new_machine.refresh_from_db()
    assert new_machine.n_games == run.games_done
    assert ledger_errors() == []


@pytest.mark.soak
def test_a_run_finishes_while_its_page_is_open(page: Page, owner: Any, start_worker: StartWorker) -> None:
    learner = machine(Side.FIRST, owner=owner)
    page.goto(f"/machines/{learner.pk}/train")
    page.locator("#stage-more").click()
    page.locator("select").nth(1).select_option("perfect")
    page.locator("#begin").click()
    expect(page.locator('[data-show="status"]')).to_have_text("Waiting for its turn")
    start_worker()
    from learning.tasks import wake_up
    from learning.workers.runs import RUNS

    wake_up(RUNS, [TrainingRun.objects.get().pk])
    expect(page.locator('[data-show="status"]')).to_have_text("Finished")
    assert shown_games(page) == 20_000
    page.get_by_text("The same as a table").click()
    run = TrainingRun.objects.get()
    assert shown_rows(page) == [point["games"] for point in run_curve(run)]


def test_the_curve_is_read_by_keys_zoomed_and_downloaded(page: Page, tmp_path: Path) -> None:
    learner = trained_machine(machine(Side.FIRST), 3000)
    run = learner.runs.get()
    curve = run_curve(run)
    page.goto(f"/runs/{run.pk}")
    legend = page.locator(".curve-legend b")
    expect(legend).to_have_count(3)
    page.locator(".curve-stage").focus()
    page.keyboard.press("Home")
    expect(page.locator(".curve-at")).to_have_text("After 0 games")
    expect(legend.first).to_have_text(re.compile(rf"^{100 * curve[0]['strength']['random']['win']:.1f}"))
    page.keyboard.press("End")
    expect(page.locator(".curve-at")).to_have_text("After 3,000 games")

    page.locator("#opponent").select_option("perfect")
    expect(legend.first).to_have_text(re.compile(r"^0\.0"))
    page.locator("#in-training").check()
    expect(legend).to_have_count(6)
    expect(legend.nth(3)).to_have_text(re.compile(r"\d\.\d \(\d+\.\d to \d+\.\d\)"))

    plot_box = page.locator(".u-over").bounding_box()
    assert plot_box is not None
    page.mouse.move(plot_box["x"] + 40, plot_box["y"] + 60)
    page.mouse.down()
    page.mouse.move(plot_box["x"] + 160, plot_box["y"] + 60, steps=4)
    page.mouse.up()
    expect(page.get_by_role("button", name="Show all of it")).to_be_visible()
    page.get_by_role("button", name="Show all of it").click()
    expect(page.get_by_role("button", name="Show all of it")).to_be_hidden()

    with page.expect_download() as picture:
        page.locator("#png").click()
    picture.value.save_as(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    with page.expect_download() as table:
        page.get_by_role("link", name="Table as CSV").click()
    table.value.save_as(tmp_path / "curve.csv")
    with (tmp_path / "curve.csv").open(encoding="utf-8-sig") as file:
        assert [int(row["games"]) for row in csv.DictReader(file)] == [point["games"] for point in curve]


def test_curves_of_several_machines_in_one_chart(page: Page) -> None:
    first = trained_machine(machine(Side.FIRST, name="One"), games=500)
    second = trained_machine(machine(Side.SECOND, name="Two"), games=900)
    page.goto("/machines")
    expect(page.locator(".machine-list .game-board > svg")).to_have_count(2)
    page.get_by_label("Sorted by").select_option("-games")
    page.locator("#show").press("Enter")
    expect(page.locator(".machine-list h2")).to_have_text(["Two", "One"])
    page.get_by_text("More filters").press("Enter")
    page.get_by_label("Games, at least").fill("900")
    page.get_by_label("Games, at least").press("Enter")
    expect(page.locator(".machine-list h2")).to_have_text(["Two"])
    page.get_by_role("link", name="Show them all").press("Enter")
    page.get_by_label("Compare One").check()
    page.locator("#compare").click()
    page.get_by_label("Add another machine by its name").fill("tw")
    page.get_by_label("Add another machine by its name").press("Enter")
    page.get_by_role("link", name="Add Two").press("Enter")
    expect(page.locator(".curve-legend li")).to_have_count(2)
    page.locator("#opponent").select_option("perfect")
    page.locator("#result").select_option("loss")
    for at, learner in enumerate((first, second)):
        loss = run_curve(learner.runs.get())[-1]["strength"]["perfect"]["loss"]
        expect(page.locator(".curve-legend b").nth(at)).to_have_text(re.compile(rf"^{100 * loss:.1f}"))


def test_the_rule_editor_follows_the_preset_until_an_edit(page: Page, owner: Any) -> None:
    page.goto("/machines/new")
    page.locator("#rule-details summary").first.click()
    page.locator("#all-presets summary").click()
    for slug, preset in PRESETS.items():
        if preset.is_for_recurring_boards:
            continue
        page.locator(f'.preset:has([value="{slug}"])').click()
        expect(page.locator("#id_initial")).to_have_value(", ".join(map(str, preset.rule.initial)))
        expect(page.locator("#id_when_empty")).to_have_value(preset.rule.when_empty)
        expect(page.locator(".is-changed")).to_have_count(0)
    page.locator('.preset:has([value="michie-1961"])').click()
    page.get_by_label("After a loss").fill("-2")
    page.get_by_label("Name", exact=True).fill("Strict")
    expect(page.locator(".is-changed")).to_have_attribute("data-rule", "loss")
    expect(page.locator("#own-rule-note")).to_be_visible()
    page.locator("#make").click()
    expect(page.locator("h1")).to_have_text("Strict")
    assert Machine.objects.get().box_rule.loss == -2


@pytest.mark.soak
def test_the_presets_and_the_fields_follow_the_game(page: Page, owner: Any) -> None:
    page.goto("/machines/new")
    preset, side = page.locator("[name=preset]:visible"), page.locator("#id_side")
    expect(preset).to_have_count(5)
    expect(page.locator("[name=board]:visible, [name=added]:visible")).to_have_count(0)
    page.locator("#all-presets summary").click()
    expect(preset).to_have_count(len(presets_of(GAMES["noughts-and-crosses"])))
    page.get_by_label("Romgon", exact=True).check()
    expect(page.locator("[name=added]:visible")).to_have_count(4)
    expect(preset).to_have_count(len(Q_PRESETS) + len(VALUE_PRESETS))
    expect(page.locator("[name=preset]:checked")).to_have_value("romgon-q")
    expect(side).to_be_hidden()
    page.get_by_label("Hexapawn", exact=True).check()
    expect(page.locator("[name=board]:visible")).to_have_count(6)
    expect(page.locator("[name=preset]:checked")).to_have_value("michie-1961")
    expect(side).to_be_visible()
    # Wrong values in fields for boxes do not matter for a machine without boxes.
    page.locator("#rule-details summary").first.click()
    page.get_by_label("After a loss").fill("1.5")
    page.get_by_label("Romgon", exact=True).check()
    page.locator("[name=added][value=flip]").check()
    expect(page.get_by_label("After a loss")).to_be_hidden()
    page.locator('.preset:has([value="romgon-q-curious"])').click()
    expect(page.locator("#id_epsilon")).to_have_value("1")
    expect(page.locator(".is-changed")).to_have_count(0)
    page.get_by_label("Speed of learning", exact=True).fill("2")
    page.get_by_label("Name", exact=True).fill("Quentin")
    expect(page.locator(".is-changed")).to_have_attribute("data-rule", "learning_rate")
    page.locator("#make").click()
    expect(page.locator("#id_learning_rate_error")).to_have_text("Please give a number from 0 to 1, not 2.0.")
    page.get_by_label("Speed of learning", exact=True).fill("0.5")
    page.locator("#make").click()
    expect(page.locator("h1")).to_have_text("Quentin")
    new_machine = Machine.objects.get()
    assert (new_machine.game, new_machine.preset, new_machine.side) == ("romgon-flip", "", None)
    assert new_machine.rule == QRule(learning_rate=0.5, epsilon=1.0)


def test_the_owners_buttons_on_a_machines_page(page: Page, owner: Any) -> None:
    learner = trained_machine(machine(Side.FIRST, owner=owner, name="Mine"))
    page.goto(learner.get_absolute_url())
    page.locator("#owner-menu > summary").click()
    page.locator("#freeze").click()
    expect(page.locator("#freeze")).to_have_text("Let it learn again")
    expect(page.locator("#train")).to_have_count(0)
    page.locator("#owner-menu > summary").click()
    page.locator("#publish").click()
    expect(page.locator("#publish")).to_have_text("Show it to everybody")
    page.locator("#owner-menu > summary").click()
    page.locator("#clone").click()
    expect(page.locator("h1")).to_have_text("Mine (copy)")
    page.locator("#owner-menu > summary").click()
    page.get_by_role("link", name="Change it").click()
    page.get_by_role("link", name="Delete it").click()
    expect(page.locator("#loss")).to_contain_text("304 boxes")
    page.locator("#confirm").click()
    expect(page.locator("h1")).to_have_text("Machines")
    assert Machine.objects.get() == learner


def shown_positions(page: Page) -> set[str]:
    return {str(box.get_attribute("data-position")) for box in page.locator(".wall-box").element_handles()}


def test_the_gallery_of_boxes_has_filters(page: Page) -> None:
    learner = trained_machine(machine(Side.FIRST), 5000)
    boxes = {box.position: box for box in learner.boxes.all()}
    visits = box_visits(learner)
    opened = {position for position, box in boxes.items() if any(box.visits)}
    expected = {
        "emptied": {p for p, box in boxes.items() if not any(box.beads)},
        "unopened": set(boxes) - opened,
        "mastered": {p for p in opened if max(boxes[p].beads) >= 0.95 * sum(boxes[p].beads) > 0},
        "abandoned": {p for p in opened if visits[p].chance < 1e-4},
    }
    assert expected["mastered"]
    assert expected["emptied"]
    page.goto(f"/machines/{learner.pk}/boxes")
    expect(page.locator(".wall-box")).to_have_count(304)
    for kind, positions in expected.items():
        page.locator("#only").select_option(kind)
        expect(page.locator(".wall-box")).to_have_count(len(positions))
        assert shown_positions(page) == positions
    page.locator("#only").select_option("drawn")
    expect(page.locator(".wall-box")).to_have_count(60)
    by_visits = sorted(boxes.values(), key=lambda box: -sum(box.visits))
    expect(page.locator(".wall-box").first).to_have_attribute("data-position", by_visits[0].position)
    page.locator("#move").select_option("2")
    expect(page.locator(".wall-box")).to_have_count(sum(any(b.visits) for b in boxes.values() if b.move_number == 2))
    page.reload()
    expect(page.locator("#only")).to_have_value("drawn")
    expect(page.locator("#move")).to_have_value("2")


def test_the_gallery_shows_boxes_at_earlier_times(page: Page) -> None:
    learner = machine(Side.FIRST)
    for seed in (1, 2):
        trained_machine(learner, 200, seed=seed)
    opening = learner.boxes.get(move_number=1)
    # A run stores lessons after 1, 100 and 200 games.
    earlier_beads = opening.changes.filter(lesson__number__lte=5).order_by("-lesson__number")[0].after
    page.goto(f"/machines/{learner.pk}/boxes")
    label = page.locator(f'.wall-box[data-position="{opening.position}"]')
    expect(label).to_have_attribute("aria-label", re.compile(rf": {sum(opening.beads):,} beads"))
    page.locator("#time-back").click()
    expect(page.locator("#time-words")).to_contain_text("After 300 games: step 5 of 6. Trained")
    expect(label).to_have_attribute("aria-label", re.compile(rf": {sum(earlier_beads):,} beads"))
    page.locator("#time").focus()
    page.keyboard.press("Home")
    expect(page.locator("#time-words")).to_contain_text("At the start")
    expect(label).to_have_attribute("aria-label", re.compile(": 12 beads"))
    page.keyboard.press("End")
    expect(label).to_have_attribute("aria-label", re.compile(rf": {sum(opening.beads):,} beads"))


def test_the_why_page_takes_a_board_by_click_and_by_text(page: Page) -> None:
    learner = trained_machine(machine(Side.FIRST), 2000)
    page.goto(f"/machines/{learner.pk}/why")
    expect(page.locator("#odds tbody tr")).to_have_count(9)
    page.locator('[data-cell="1"]').click()
    expect(page.locator("#say")).to_contain_text("The other side is to move")
    page.locator('[data-cell="2"]').click()
    expect(page.locator("#position")).to_have_value("XO.......")
    expect(page.locator("#odds tbody tr")).to_have_count(7)
    cells = page.locator("#odds td[title]").all()
    probabilities = [float(str(cell.get_attribute("title")).split()[1]) for cell in cells]
    assert sum(probabilities) == pytest.approx(1)
    box = learner.boxes.get(
        position=learner.game_rules.encode(learner.game_rules.canonical(learner.game_rules.decode("XO.......")))
    )
    expect(page.locator("#turned a")).to_have_attribute("href", box.get_absolute_url())
    page.locator("#back").click()
    expect(page.locator("#position")).to_have_value("X........")
    # The same position, turned, has the same box.
    page.locator("#position").fill(".......OX")
    page.get_by_role("button", name="Look").click()
    expect(page.locator("#turned a")).to_have_attribute("href", box.get_absolute_url())
    page.go_back()
    expect(page.locator("#position")).to_have_value("X........")


@pytest.mark.soak
def test_thousands_of_boxes_are_scrolled_and_reached_by_keys(page: Page) -> None:
    learner = machine(Side.FIRST, "apl-notebook")
    assert learner.boxes.count() > 2000
    page.goto(f"/machines/{learner.pk}/boxes")
    boxes = page.locator(".wall-box")
    expect(boxes.first).to_be_in_viewport()
    for _ in range(5):
        page.mouse.wheel(0, 3000)
    # The wheel's scrolling may come after the script's.
    assert wait_until(lambda: page.evaluate(SCROLL_TO_THE_END))
    expect(page.locator('.wall-box[data-at="0"]')).to_have_count(0)
    assert boxes.count() < 700  # only boxes near the screen are in the page
    # Boxes not yet in the page are not blank: their place on the shelf is drawn.
    shadow = "getComputedStyle(document.querySelector('.wall-boxes:last-of-type'), '::after').backgroundImage"
    assert "shelf" in page.evaluate(shadow)

    page.evaluate("scrollTo(0, 0)")
    expect(boxes.first).to_be_in_viewport()
    boxes.first.focus()
    page.keyboard.press("End")
    last = page.locator(".wall-box:focus")
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("data-at", str(learner.boxes.count() - 1))
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".wall-box:focus")).to_have_attribute("data-at", str(learner.boxes.count() - 2))
    page.keyboard.press("Home")
    expect(page.locator(".wall-box:focus")).to_have_attribute("data-at", "0")
    expect(page.locator(".peek svg")).to_be_visible()
    expect(page.locator(".wall-box:focus")).to_be_in_viewport()


def test_boxes_show_how_often_they_are_opened(page: Page) -> None:
    learner = trained_machine(machine(Side.FIRST), 2000)
    visits = {position: visit.chance for position, visit in box_visits(learner).items()}
    positions_by_visits = sorted(visits, key=lambda position: -visits[position])
    page.goto(f"/machines/{learner.pk}/boxes?only=visited")
    boxes = page.locator(".wall-box")
    expect(boxes).to_have_count(60)
    assert [visits[str(box.get_attribute("data-position"))] for box in boxes.all()] == sorted(
        (visits[position] for position in positions_by_visits[:60]), reverse=True
    )
    expect(boxes.nth(1)).to_have_attribute("aria-label", re.compile("A game against random play leads here with"))
    boxes.nth(1).click()
    page.get_by_text("How likely it is to be opened").click()
    random = page.locator(".visits tr", has_text="Random").locator("td")
    assert float(random.get_attribute("title") or "") == visits[positions_by_visits[1]]
    page.get_by_role("link", name="Play on from here").click()
    expect(page.locator("#turned span")).to_have_attribute("title", f"probability {visits[positions_by_visits[1]]}")


@pytest.mark.soak
def test_the_curve_of_a_long_run_widens_the_first_games(page: Page) -> None:
    run = trained_machine(machine(Side.FIRST), 60_000).runs.get()
    page.goto(f"/runs/{run.pk}")
    expect(page.locator("#stretch")).to_be_checked()
    games = page.locator(".curve-at")
    page.locator(".u-over").hover()
    expect(games).not_to_have_text("After 60,000 games")
    assert int(re.sub(r"\D", "", games.inner_text())) < 6_000
    page.locator("#stretch").uncheck()
    page.locator(".u-over").hover()
    expect(games).to_have_text(re.compile("After (29|30|31),"))


def test_a_machine_is_made_and_trained_without_a_mouse(page: Page, owner: Any) -> None:
    keys = page.keyboard
    page.goto("/machines/new")
    while page.evaluate("document.activeElement.name") != "game":
        keys.press("Tab")
    keys.press("ArrowDown")
    while page.evaluate("document.activeElement.name") != "board":
        keys.press("Tab")
    keys.press("ArrowDown")
    while page.evaluate("document.activeElement.id") != "id_name":
        keys.press("Tab")
    keys.type("Typed")
    keys.press("Tab")
    keys.type("By hand")
    while page.evaluate("document.activeElement.name") != "preset":
        keys.press("Tab")
    keys.press("ArrowDown")
    expect(page.locator("[name=preset]:checked")).to_have_value("michie-refill")
    while page.evaluate("document.activeElement.parentElement.id") != "rule-details":
        keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#rule-details")).to_have_attribute("open", "")
    while page.evaluate("document.activeElement.name") != "loss":
        keys.press("Tab")
    keys.type("-2")
    keys.press("Enter")
    expect(page.locator("h1")).to_have_text("Typed")
    new_machine = Machine.objects.get()
    assert (new_machine.box_rule.loss, new_machine.box_rule.when_empty, new_machine.description) == (
        -2,
        "refill",
        "By hand",
    )
    assert new_machine.game == "hexapawn-4x3"
    while page.evaluate("document.activeElement.id") != "train":
        keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("h1")).to_have_text("Train Typed")
    while page.evaluate("document.activeElement.id") != "stage-more":
        keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#stages select").nth(1)).to_be_focused()
    keys.press("ArrowDown")
    keys.press("Tab")
    keys.type("500")
    keys.press("Enter")
    expect(page.locator('[data-show="done"]')).to_have_text("0 of 10,500 games")
    assert [stage.opponent for stage in TrainingRun.objects.get().stages.all()] == ["random", "win-block"]
