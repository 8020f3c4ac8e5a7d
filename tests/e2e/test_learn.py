"""*Watch it learn* in a real browser: it starts by itself, goes to any game, and a link reproduces its beads."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from learning.models import Machine, TrainingRun
from tests.e2e.axe import violations
from tests.e2e.conftest import Visitor, Watch
from tests.e2e.everywhere import browser_options
from tests.e2e.test_pages_hold import layout_faults, unreachable_controls

pytestmark = pytest.mark.e2e

BOX_LABELS = "() => [...document.querySelectorAll('.wall-box')].map((box) => box.getAttribute('aria-label'))"

HIDE_PAGE = """() => {
  const hide = (is) => {
    Object.defineProperty(document, "hidden", { value: is, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  };
  window.show = () => hide(false);
  hide(true);
}"""
# Returns whether the number of games stays the same for half a second.
IS_UNCHANGED = """async () => {
  const before = document.getElementById("games").textContent;
  await new Promise((done) => setTimeout(done, 500));
  return before === document.getElementById("games").textContent;
}"""


def games_counter(page: Page) -> Any:
    return page.locator("#games")


def set_speed(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).check()


def box_labels(page: Page) -> list[str]:
    """Return every box of the wall in words, with its beads."""
    expect(page.locator(".wall-box")).to_have_count(304)
    labels: list[str] = page.evaluate(BOX_LABELS)
    return labels


# Opens every box of the wall in turn, and returns the text about its beads.
OPEN_ALL_BOXES = """() => Object.fromEntries([...document.querySelectorAll('.wall-box')].map((box) => {
  box.click();
  return [box.dataset.position, document.querySelector('#matchbox svg').getAttribute('aria-label')];
}))"""


def beads_by_box(page: Page) -> dict[str, list[int]]:
    """Return the beads of each box on the wall."""
    expect(page.locator(".wall-box")).to_have_count(304)
    texts: dict[str, str] = page.evaluate(OPEN_ALL_BOXES)
    numbers = {key: [int(n.replace(",", "")) for n in re.findall(r"([\d,]+) of ", text)] for key, text in texts.items()}
    return {key: counts or [0] for key, counts in numbers.items()}


def test_learn_page_starts_by_itself_at_every_speed(page: Page, visitor: Visitor) -> None:
    """The slider leads back to any game that the machine has played."""
    page.goto("/")
    page.get_by_role("navigation", name="Site").get_by_role("link", name="Watch it learn").click()
    expect(games_counter(page)).to_have_text(re.compile("After (?!no )"))
    expect(page.locator(".wall-last")).to_have_count(1)
    expect(page.locator("#matchbox svg")).to_be_visible()

    set_speed(page, "10 a second")
    expect(games_counter(page)).to_have_text(re.compile(r"After \d\d games"))
    set_speed(page, "1,000 a second")
    expect(games_counter(page)).to_have_text(re.compile(r"After \d,\d{3} games"))
    set_speed(page, "full speed")
    page.wait_for_function("() => /[0-9]{3},[0-9]{3} games/.test(document.getElementById('games').textContent)")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#told")).to_contain_text("Stopped after")
    expect(page).to_have_url(re.compile(r"/learn/noughts-and-crosses\?games=\d{6}"))

    # A drag along the curve and the keys of the slider lead back to earlier games.
    chart = page.locator(".u-over").bounding_box()
    assert chart is not None
    page.mouse.move(chart["x"] + chart["width"] * 0.9, chart["y"] + 20)
    page.mouse.down()
    page.mouse.move(chart["x"] + chart["width"] * 0.3, chart["y"] + 20)
    page.mouse.up()
    expect(games_counter(page)).to_have_text(re.compile(r"After (\w+|\d{1,3}) games"))
    page.get_by_role("button", name="Back to the start").click()
    expect(games_counter(page)).to_have_text("After no games")
    slider = page.get_by_role("slider")
    # In another theme the chart is drawn again, and the slider keeps its place.
    place, picture = slider.bounding_box(), page.locator(".u-over").element_handle()
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("(picture) => !picture.isConnected", arg=picture)
    assert slider.bounding_box() == place
    slider.focus()
    for number in ("ten", "100", "1,000"):
        page.keyboard.press("PageUp")
        expect(games_counter(page)).to_have_text(f"After {number} games")
    before, tally, link = box_labels(page), page.locator("#tally").text_content(), page.evaluate("location.href")
    page.keyboard.press("Home")
    expect(games_counter(page)).to_have_text("After no games")
    assert box_labels(page) != before
    for number in ("one game", "two games"):
        page.get_by_role("button", name="One game").click()
        expect(games_counter(page)).to_have_text(f"After {number}")
    # Another visitor with the link sees the same beads.
    other = visitor(**browser_options(1280, 800))
    other.goto(link)
    expect(games_counter(other)).to_have_text("After 1,000 games")
    assert box_labels(other) == before
    assert other.locator("#tally").text_content() == tally

    # The visitor keeps the machine without an account.
    shown_beads = beads_by_box(other)
    other.get_by_role("button", name="Keep this machine").click()
    expect(other.locator('[data-total="games"]')).to_have_text("1,000")
    stored = {box.position: list(box.beads) for box in Machine.objects.get(n_games=1000).boxes.all()}
    assert {key: beads if any(beads) else [0] for key, beads in stored.items()} == shown_beads
    assert sum(map(sum, stored.values())) == int(
        str(other.locator('[data-total="beads"]').text_content()).replace(",", "")
    )


def test_options_show_effects_and_bad_addresses_show_errors(visitor: Visitor) -> None:
    page = visitor(**browser_options(1280, 800))
    page.goto("/learn/hexapawn?win=many&teacher=perfect&games=40&seed=" + "9" * 300 + "&colour=red&loss=-2")
    problems = page.locator("#problem-list li")
    expect(problems).to_have_count(2)  # colour is no parameter, and is ignored
    for part in ("win: Please give a whole number", "seed: Please give a whole number"):
        expect(problems.filter(has_text=part)).to_have_count(1)
    expect(page.get_by_label("After a win")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("After a loss")).to_have_value("-2")
    expect(page.get_by_label("Its teacher")).to_have_value("perfect")
    expect(games_counter(page)).to_have_text("After 40 games")
    line = page.locator(".curve-legend li b").first
    expect(page.locator(".curve-legend li")).to_have_count(3)

    page.goto("/learn?games=300")
    expect(games_counter(page)).to_have_text("After 300 games")
    expect(page.locator(".curve-legend li")).to_have_count(3)
    before, text_before = box_labels(page), line.text_content()
    page.get_by_label("After a win").fill("9")
    expect(line).not_to_have_text(str(text_before))
    assert box_labels(page) != before
    expect(page).to_have_url(re.compile(r"\?win=9&games=300$"))
    page.get_by_label("Its teacher").select_option("machine")
    expect(page.locator("#teacher-name")).to_have_text("a second machine that also learns")
    page.get_by_label("When a box is empty").select_option("refill")
    page.get_by_text("Side and second rule").click()
    page.get_by_role("button", name="Compare with this rule").click()
    expect(page.locator(".curve-legend li")).to_have_count(6)
    expect(page.locator(".curve-legend")).to_contain_text("The second rule, with the same seed")
    page.get_by_label("Its rule").select_option("scroggs")
    expect(page.get_by_label("Beads at the start")).to_have_value("8, 4, 2, 1")
    expect(page).to_have_url(re.compile(r"beside=michie-1961&beside\.win=9"))

    page.get_by_label("After a win").fill("99999999999")
    expect(problems).to_have_count(1)
    expect(problems).to_contain_text("win")
    page.goto("/learn?game=chess")
    expect(problems).to_contain_text("game: Please choose one of these")
    expect(games_counter(page)).to_have_text("After no games")


def test_learning_sends_no_requests_and_needs_no_network(page: Page, watch: Watch) -> None:
    page.goto("/learn?seed=7")
    expect(games_counter(page)).to_have_text(re.compile("After (?!no )"))
    expect(page.locator(".curve-legend li")).to_have_count(3)
    page.wait_for_load_state("networkidle")
    watch.allow("ERR_INTERNET_DISCONNECTED", "WebSocket", "/health/ready", "/api/learn")

    def sent_requests() -> list[str]:
        """Return the requests so far, without the icon, which each new address requests, and readiness checks."""
        paths = [request.url for request in watch.requests]
        return [path for path in paths if not path.endswith(("/static/img/icon.svg", "/health/ready"))]

    before = len(sent_requests())
    set_speed(page, "10 a second")
    expect(games_counter(page)).to_have_text(re.compile(r"After \d\d games"))
    page.context.set_offline(True)
    for name, words in (
        ("a move", r"After (?!no )"),
        ("1,000 a second", r"After \d,\d{3} games"),
        ("full speed", r"After \d{3},\d{3} games"),
    ):
        set_speed(page, name)
        expect(games_counter(page)).to_have_text(re.compile(words))
    # A hidden page plays no games.
    page.evaluate(HIDE_PAGE)
    page.wait_for_function(IS_UNCHANGED)
    page.evaluate("window.show()")
    page.wait_for_function(
        "(was) => document.getElementById('games').textContent !== was", arg=games_counter(page).inner_text()
    )
    page.get_by_role("button", name="Back to the start").click()
    page.get_by_role("button", name="One game").click()
    expect(games_counter(page)).to_have_text(re.compile("After (?!no )"))
    assert sent_requests()[before:] == []
    page.get_by_label("After a win").fill("9")
    expect(page.locator("#trouble")).to_contain_text("The connection is lost")
    page.context.set_offline(False)
    page.get_by_label("After a win").fill("8")
    expect(page).to_have_url(re.compile("win=8"))
    expect(page.locator("#trouble")).to_be_hidden()
    assert len(sent_requests()) == before + 2, "one request has failed, and one request reads the rule"
    page.get_by_text("Side and second rule").click()
    page.get_by_label("It plays").select_option("second")
    expect(page.locator(".wall-box")).to_have_count(289)
    assert len(sent_requests()) == before + 3
    page.locator("#id_merge_symmetric_moves").uncheck()
    expect(page).to_have_url(re.compile("merge_symmetric_moves=false"))
    page.locator("#id_reduce_symmetry").uncheck()
    expect(page.locator(".wall-row-title").first).to_contain_text("nine boxes")
    assert len(sent_requests()) == before + 6, "the last request reads the graph of boards without symmetries"


def test_a_saved_page_runs_from_a_file(page: Page, tmp_path: Path, watch: Watch) -> None:
    watch.allow(r"file://.*/saved\.html")
    page.goto("/learn?games=300&seed=5&win=4")
    expect(games_counter(page)).to_have_text("After 300 games")
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Back to the start").click()
    expect(games_counter(page)).to_have_text("After no games")
    page.get_by_role("slider").focus()
    for number in ("ten", "100", "1,000"):
        page.keyboard.press("PageUp")
        expect(games_counter(page)).to_have_text(f"After {number} games")
    before = box_labels(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Save this page").click()
    file = tmp_path / "saved.html"
    download.value.save_as(file)
    assert file.stat().st_size <= 500_000
    page.context.set_offline(True)
    page.goto(file.as_uri())
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#told")).to_contain_text("Stopped")
    page.get_by_role("button", name="Back to the start").click()
    page.get_by_role("slider").focus()
    for number in ("ten", "100", "1,000"):
        page.keyboard.press("PageUp")
        expect(games_counter(page)).to_have_text(f"After {number} games")
    assert box_labels(page) == before
    expect(page.get_by_role("button", name="Keep this machine")).to_be_disabled()
    expect(page.get_by_label("After a win")).to_be_disabled()
    expect(page.locator("main")).to_contain_text(
        "Keeping the machine, changing its rule and other games need the site."
    )
    page.get_by_label("Random seed").fill("6")
    expect(games_counter(page)).to_have_text("After 1,000 games")
    page.wait_for_function("(before) => before !== document.getElementById('tally').textContent", arg="")
    set_speed(page, "full speed")
    page.get_by_role("button", name="Go on").click()
    expect(games_counter(page)).to_have_text(re.compile(r"After \d{3},\d{3} games"))

    text = file.read_text()
    for n_characters in (len(text) // 2, len(text) - 200):
        file.write_text(text[:n_characters])
        page.goto(file.as_uri())
        expect(page.get_by_role("alert").first).to_have_text(re.compile("This saved page is cut off"))


def test_a_browser_without_workers_gets_a_message(page: Page) -> None:
    page.add_init_script("delete window.Worker")
    page.goto("/learn")
    expect(page.locator("#trouble")).to_contain_text("does not let a page learn in the background")


def test_a_machine_with_many_games_is_trained_by_a_run(page: Page) -> None:
    page.goto("/learn?games=500001")
    expect(games_counter(page)).to_have_text("After 500,001 games")
    page.get_by_role("button", name="Keep this machine").click()
    expect(page).to_have_url(re.compile(r"/runs/\d+$"))
    assert TrainingRun.objects.get().n_games == 500_001


def test_the_learn_page_works_by_keyboard(visitor: Visitor) -> None:
    """The window is as wide as a desktop's; ``test_pages_hold`` visits the page on a phone."""
    page = visitor(**browser_options(1280, 800))
    page.goto("/learn?games=30")
    expect(games_counter(page)).to_have_text("After 30 games")
    # With reduced motion, games begin only when the visitor starts them.
    page.get_by_role("button", name="One game").focus()
    page.keyboard.press("Enter")
    expect(games_counter(page)).to_have_text("After 31 games")
    page.get_by_role("radio", name="a game", exact=True).focus()
    page.keyboard.press("ArrowRight")
    page.get_by_role("button", name="Go on").focus()
    page.keyboard.press("Enter")
    expect(games_counter(page)).to_have_text(re.compile(r"After [4-9]\d games"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.locator(".wall-box").nth(2).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#say")).to_contain_text("stays open")
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    assert layout_faults(page) + violations(page) + unreachable_controls(page) == []
