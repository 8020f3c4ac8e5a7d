"""The projector, the teacher's page and a pupil's pages of a class, in a real browser."""

import os
from io import BytesIO
from uuid import uuid4

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Page, expect

from learning.models import Classroom, ClassStatus, Participant
from learning.services.classrooms import (
    ClassPlan,
    classroom_open,
    classroom_set_status,
)
from learning.services.participants import participant_join, participant_play, pupil_principal
from tests.e2e.conftest import LiveSite, Visitor
from tests.e2e.everywhere import browser_options
from tests.e2e.lab import sign_in
from tests.e2e.playing import expect_turn
from tests.e2e.test_sharing import check_page
from tests.factories import hold_final, play_out, user
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e
WINDOW_SIZES = [(360, 640), (768, 1024), (1280, 720)]

# Returns a sentence for each text on the projector that is outside the window, too small or cut off.
FIND_PROJECTOR_FAULTS = """() => {
  const faults = [], view = {width: innerWidth, height: innerHeight};
  for (const cell of document.querySelectorAll(".screen-rows th, .screen-rows td, .screen-words, #screen-why")) {
    const box = cell.getBoundingClientRect();
    if (box.bottom > view.height || box.right > view.width) faults.push(`outside: ${cell.textContent}`);
    const size = parseFloat(getComputedStyle(cell).fontSize);
    if (cell.textContent.trim() && size < 40) faults.push(`${size} px: ${cell.textContent}`);
    if (cell.tagName === "TD" && cell.scrollWidth > cell.clientWidth + 1) faults.push(`cut: ${cell.textContent}`);
  }
  const code = document.querySelector(".screen-code");
  const size = code && parseFloat(getComputedStyle(code).fontSize);
  if (size && size < 150) faults.push(`code of ${size} px`);
  return faults;
}"""
# Returns the parts of the final match that are outside the window.
FIND_PARTS_OUTSIDE = """() => {
  const parts = document.querySelectorAll("#screen-match :is(svg, button, figcaption), #final-words");
  return [...parts].flatMap((part) => {
    const {bottom, right} = part.getBoundingClientRect();
    return bottom > innerHeight || right > innerWidth ? [`${part.tagName} ${part.id}: ${bottom}, ${right}`] : [];
  });
}"""


def open_class_with_pupils(n_pupils: int, side: int | None = 1) -> tuple[Classroom, list[Participant]]:
    plan = ClassPlan(
        name="Class 7b",
        game="hexapawn",
        side=side,
        preset="",
        n_pupils=40,
        minutes=30,
        opponent="perfect",
        allows_names=False,
    )
    classroom = classroom_open(user=user("teacher"), plan=plan)
    pupils = [
        participant_join(classroom_id=classroom.pk, guest=uuid4(), name_numbers=(n, 3 * n)) for n in range(n_pupils)
    ]
    return classroom, pupils


def play_match(pupil: Participant) -> None:
    play_out(participant_play(pupil).room.code, pupil_principal(pupil))


def join(classroom: Classroom, page: Page, pupil: Participant) -> None:
    page.goto("/class")
    page.get_by_label("Code").fill(pupil.code)
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(classroom.name)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_projector_holds_40_machines_and_its_code_is_read(visitor: Visitor, scheme: str) -> None:
    classroom, pupils = open_class_with_pupils(40)
    for pupil in pupils[:3]:
        play_match(pupil)
    page = visitor(viewport={"width": 1920, "height": 1080}, color_scheme=scheme)
    page.goto(f"/class/screen/{classroom.link.secret}")
    expect(page.locator(".screen-rows tbody tr")).to_have_count(40)
    expect(page.locator(".screen-rows")).to_have_count(2)
    expect(page.locator("#screen-why")).to_contain_text("is ahead")
    save_picture(page, f"screen-40-{scheme}")
    assert page.evaluate(FIND_PROJECTOR_FAULTS) == []
    page.locator("#show-qr").click()
    code = page.locator("#screen-qr .qr")
    box = code.bounding_box()
    assert box is not None
    assert round(box["height"]) == 1080
    barcodes = zxingcpp.read_barcodes(Image.open(BytesIO(page.screenshot())))
    assert [barcode.text.endswith(f"/class/join/{classroom.secret}") for barcode in barcodes] == [True]
    page.keyboard.press("Escape")
    expect(code).to_be_hidden()
    play_match(pupils[5])
    expect(page.locator(".screen-rows tbody tr", has_text=pupils[5].name)).to_contain_text("1")


def test_projector_shows_41_machines_on_two_pages(visitor: Visitor) -> None:
    classroom, _ = open_class_with_pupils(41)
    page = visitor(viewport={"width": 1920, "height": 1080})
    page.goto(f"/class/screen/{classroom.link.secret}")
    expect(page.locator("#screen-page")).to_have_text("page 1 of 2")
    expect(page.locator(".screen-rows tbody tr")).to_have_count(40)
    assert page.evaluate(FIND_PROJECTOR_FAULTS) == []
    expect(page.locator("#screen-page")).to_have_text("page 2 of 2")
    expect(page.locator(".screen-rows tbody tr")).to_have_count(1)


def test_projector_of_a_small_class(visitor: Visitor) -> None:
    classroom, pupils = open_class_with_pupils(6, side=None)
    for pupil in pupils:
        play_match(pupil)
    page = visitor(viewport={"width": 1920, "height": 1080})
    page.goto(f"/class/screen/{classroom.link.secret}")
    expect(page.locator(".screen-rows tbody tr")).to_have_count(6)
    save_picture(page, "screen-6")
    assert page.evaluate(FIND_PROJECTOR_FAULTS) == []


@pytest.mark.parametrize(("width", "height"), WINDOW_SIZES)
def test_pages_of_pupil_and_teacher(visitor: Visitor, live_site: LiveSite, width: int, height: int) -> None:
    classroom, pupils = open_class_with_pupils(5)
    for pupil in pupils:
        play_match(pupil)
    child, teacher_page = visitor(**browser_options(width, height)), visitor(**browser_options(width, height))
    child.goto("/class")
    check_page(child, "class-code")
    child.goto(f"/class/join/{classroom.secret}")
    check_page(child, "class-join")
    join(classroom, child, pupils[0])
    expect(child.locator("#class-table tbody tr")).to_have_count(5)
    expect(child.locator("#class-table .is-own")).to_contain_text(pupils[0].name)
    check_page(child, "class-me")
    child.get_by_role("button", name="Play", exact=True).click()
    expect_turn(child)
    check_page(child, "class-room")
    board = child.locator("#board").bounding_box()
    assert board is not None
    assert board["y"] + board["height"] <= height, "the board is above the fold"
    classroom_set_status(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.PAUSED)
    expect(child.locator("#class-pause")).to_have_text("Your teacher has paused the class. Look up.")
    check_page(child, "class-paused")
    classroom_set_status(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.OPEN)
    expect(child.locator("#class-pause")).to_be_hidden()
    sign_in(teacher_page.context, live_site, classroom.teacher)
    for address, name in (
        ("/classes", "classes"),
        ("/classes/new", "class-new"),
        (f"/classes/{classroom.pk}", "class"),
    ):
        teacher_page.goto(address)
        if name == "class":
            expect(teacher_page.locator("#class-table tbody tr")).to_have_count(5)
            expect(teacher_page.locator(".class-stuck")).to_have_count(4)
        check_page(teacher_page, name)


@pytest.mark.parametrize(("n_pupils", "side"), [(40, 1), (60, None)])
def test_final_fits_the_projector(visitor: Visitor, n_pupils: int, side: int | None) -> None:
    classroom, pupils = open_class_with_pupils(n_pupils, side)
    for pupil in pupils[:4]:
        play_match(pupil)
    assert hold_final(classroom).is_finished
    page = visitor(viewport={"width": 1920, "height": 1080})
    page.goto(f"/class/screen/{classroom.link.secret}")
    expect(page.locator(".screen-rows")).to_have_count(2)
    expect(page.locator(".screen-rows tbody tr")).to_have_count(40)
    save_picture(page, f"final-{n_pupils}")
    assert page.evaluate(FIND_PROJECTOR_FAULTS) == []
    page.get_by_role("button", name="Show the match").click()
    for _ in range(2):
        page.get_by_role("button", name="Next move").click()
    expect(page.locator("#final-boxes .matchbox").first).to_be_visible()
    save_picture(page, f"final-match-{n_pupils}")
    assert page.evaluate(FIND_PARTS_OUTSIDE) == []


@pytest.mark.parametrize(("width", "height"), [*WINDOW_SIZES, (1920, 1080)])
def test_results_fit_every_screen(visitor: Visitor, live_site: LiveSite, width: int, height: int) -> None:
    classroom, pupils = open_class_with_pupils(6, side=None)
    for pupil in pupils:
        play_match(pupil)
    assert hold_final(classroom).is_finished
    page = visitor(**browser_options(width, height))
    sign_in(page.context, live_site, classroom.teacher)
    page.goto(f"/classes/{classroom.pk}/results")
    expect(page.locator("#final-places tbody tr")).to_have_count(6)
    next_move = page.get_by_role("button", name="Next move")
    for _ in range(3):
        next_move.click()
    expect(page.locator("#final-boxes .matchbox").first).to_be_visible()
    check_page(page, "class-results")
    while next_move.get_attribute("aria-disabled") == "false":
        next_move.click()
    expect(page.locator("#final-words")).to_contain_text("match")
    page.goto(f"/classes/{classroom.pk}")
    check_page(page, "class-with-final")


def test_the_class_table_is_polled_without_sockets(visitor: Visitor) -> None:
    classroom, pupils = open_class_with_pupils(2)
    page = visitor(viewport={"width": 1280, "height": 720})
    page.add_init_script("window.WebSocket = class { constructor() { throw new Error('filtered'); } };")
    join(classroom, page, pupils[0])
    expect(page.locator("#class-table tbody tr")).to_have_count(2)
    play_match(pupils[1])
    assert wait_until(lambda: "1" in page.locator("#class-table tbody").inner_text())
    classroom_set_status(user=classroom.teacher, classroom_id=classroom.pk, status=ClassStatus.PAUSED)
    expect(page.locator("#class-pause")).to_be_visible()


def save_picture(page: Page, name: str) -> None:
    """Save a picture if the environment names a folder."""
    if folder := os.environ.get("BEADBOX_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")
