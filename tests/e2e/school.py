"""A lesson at a school: over http, at an address of the computer, with a browser for the teacher and for each pupil.

``python -m tests.e2e.school http://192.168.1.20:8000`` holds the lesson at the site with this address.
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import zxingcpp
from PIL import Image
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.e2e.playing import cell, expect_plies, is_over, n_plies
from tests.environment import CHROMIUM_ARGS, chromium
from tests.waiting import PAGE_HANG_S

# Returns whether the page is secure, and the types of the functions that browsers offer only to secure pages.
SECURE_FEATURES = """() => [isSecureContext, typeof navigator.clipboard, typeof navigator.wakeLock,
  typeof navigator.share, typeof crypto.randomUUID].join(" ")"""
SECURE_FEATURES_WITHOUT_HTTPS = "false undefined undefined undefined undefined"


N_PUPILS = 6


def text_of_qr(picture: Locator) -> str:
    """Return the text of a QR code on the screen, as a second library reads it."""
    (barcode,) = zxingcpp.read_barcodes(Image.open(BytesIO(picture.screenshot())))
    return str(barcode.text)


def open_class(page: Page, url: str) -> str:
    """Make an account, open a class, and return the code."""
    page.goto(f"{url}/signup")
    page.get_by_label("Username").fill(f"teacher{os.urandom(3).hex()}")
    for field in ("password1", "password2"):
        page.locator(f'[name="{field}"]').fill("nine little matchboxes")
    page.get_by_role("button", name="Make my account").click()
    page.wait_for_url(re.compile("/account"))
    page.goto(f"{url}/classes/new")
    expect(page.locator("#proposal")).to_contain_text("24 pupils, 30 minutes: HER, about 34 games each.")
    page.get_by_label("Minutes for playing").fill("40")
    page.get_by_label("Pupils", exact=True).fill("2")
    page.get_by_label("Name of the class").fill("7b")
    expect(page.locator("#proposal")).to_contain_text("2 pupils, 40 minutes: HER, about 46 games each.")
    page.get_by_role("button", name="Open the class").click()
    return page.locator(".class-code").inner_text()


def try_site_before_lesson(teacher: Page, phone: Page, url: str) -> None:
    """Scan the code for the trial with a phone, and wait until both pages show the success of all checks."""
    teacher.get_by_role("link", name="Try it before the lesson").click()
    scanned_url = text_of_qr(teacher.locator(".qr").first)
    assert scanned_url.startswith(f"{url}/class/try/"), scanned_url
    phone.goto(scanned_url)
    expect(phone.locator("#try-socket")).to_have_text("✓ The live connection works.")
    assert phone.evaluate(SECURE_FEATURES) == SECURE_FEATURES_WITHOUT_HTTPS
    expect(teacher.locator("#tried")).to_contain_text("✓ The live connection works.")


def join_and_play(pupil: Page, url: str, code: str) -> None:
    """Join by the code, play a game to its end, and return to the page of the class."""
    pupil.goto(f"{url}/class")
    pupil.get_by_label("Code").fill(f" {code.upper()} ")
    pupil.get_by_role("button", name="Go on").click()
    pupil.locator("label.choice").first.click()
    pupil.get_by_role("button", name="Join").click()
    expect(pupil.locator("main")).to_contain_text("It has played 0 games.")
    pupil.get_by_role("button", name="Play", exact=True).click()
    play_out(pupil)
    assert pupil.evaluate(SECURE_FEATURES) == SECURE_FEATURES_WITHOUT_HTTPS
    pupil.get_by_role("link", name="The class").click()
    expect(pupil.locator("main")).to_contain_text("It has played 1 game.")


def play_out(page: Page) -> None:
    """Play a match to its end: the first legal move each time, cell by cell."""
    room = re.sub(r".*/rooms/", "", page.url)
    while True:
        expect(page.locator("#board.is-mine .is-playable, #status[data-status=finished]").first).to_be_attached()
        if is_over(page):
            return
        before = n_plies(page)
        state = page.request.get(f"{page.url.partition('/rooms/')[0]}/api/rooms/{room}").json()
        for cell_id in state["paths"][state["legal_moves"][0]]:
            cell(page, cell_id).click()
        expect_plies(page, before + 2)


def hold_lesson(
    teacher: Page, projector: Page, phones: Sequence[Page], url: str, run_worker: Callable[[], None] = lambda: None
) -> None:
    """Hold a lesson from the code to the results: try the site, join, play, and check the table and the final.

    On a site without a worker, ``run_worker`` does the work of a worker.
    """
    code = open_class(teacher, url)
    class_url = teacher.url
    projector.goto(str(teacher.get_by_role("link", name="Show it on the projector").get_attribute("href")))
    try_site_before_lesson(teacher, phones[0], url)
    for phone in phones:
        join_and_play(phone, url, code)
    teacher.goto(class_url)
    expect(teacher.locator("#pupils-title")).to_have_text(f"Pupils ({len(phones)})")
    expect(projector.locator(".screen-rows tbody tr")).to_have_count(len(phones))
    for page in (teacher, phones[0]):
        expect(page.locator("#class-table tbody tr td").first).to_have_text("1.")
    hold_final(teacher, projector, phones, run_worker)


def hold_final(teacher: Page, projector: Page, phones: Sequence[Page], run_worker: Callable[[], None]) -> None:
    """Start the final, and check it on the projector, on the pupils' pages and on the page of the results."""
    teacher.get_by_role("button", name="Start the final").click()
    run_worker()
    expect(projector.locator("h1")).to_contain_text("the final")
    expect(projector.locator("#final-places tbody tr")).to_have_count(len(phones))
    projector.get_by_role("button", name="Show the match").click()
    expect(projector.locator("#final-boxes .matchbox")).to_be_visible()
    for phone in phones:
        phone.get_by_role("link", name="See the final").click()
        expect(phone.locator("#final-places .is-own")).to_contain_text("(you)")
    teacher.get_by_role("link", name="See the results").click()
    expect(teacher.locator("#final-places tbody tr")).to_have_count(len(phones))
    for link, first_bytes in (
        ("Table as CSV", "\ufeffnumber,name".encode()),
        ("A sheet for each pupil (PDF)", b"%PDF-"),
    ):
        with teacher.expect_download() as download:
            teacher.get_by_role("link", name=link).click()
        assert Path(download.value.path()).read_bytes().startswith(first_bytes)
    teacher.get_by_role("link", name="The class", exact=True).click()
    teacher.get_by_role("button", name="Open again").click()
    expect(projector.locator(".screen-code")).to_be_visible()


def main() -> None:
    expect.set_options(timeout=PAGE_HANG_S * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        page_errors: list[str] = []
        pages = [browser.new_context().new_page() for _ in range(2 + N_PUPILS)]
        for page in pages:
            page.on("pageerror", lambda error: page_errors.append(str(error)))
        teacher, projector, *phones = pages
        hold_lesson(teacher, projector, phones, sys.argv[1])
        browser.close()
        assert page_errors == []


if __name__ == "__main__":
    main()
