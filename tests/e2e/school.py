"""A lesson at a school: http, an address of the computer, and a teacher and pupils in browsers of their own.

``python -m tests.e2e.school http://192.168.1.20:8000`` holds the lesson at a site elsewhere.
"""

import os
import re
import sys
from io import BytesIO

import zxingcpp
from PIL import Image
from playwright.sync_api import Locator, Page, expect, sync_playwright

from tests.e2e.playing import cell, expect_plies, is_over, n_plies
from tests.environment import CHROMIUM_ARGS, chromium
from tests.waiting import PAGE_HANG_S

SECURE_ONLY = """() => [isSecureContext, typeof navigator.clipboard, typeof navigator.wakeLock, typeof navigator.share,
  typeof crypto.randomUUID].join(" ")"""
NOTHING_SECURE = "false undefined undefined undefined undefined"


def text_of_qr(drawn: Locator) -> str:
    """Return what a second library reads in a QR code on the screen."""
    (found,) = zxingcpp.read_barcodes(Image.open(BytesIO(drawn.screenshot())))
    return str(found.text)


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


def try_before(teacher: Page, phone: Page, url: str) -> None:
    """Scan the code for the trial with a phone; wait until both pages show that all works."""
    teacher.get_by_role("link", name="Try it before the lesson").click()
    scanned = text_of_qr(teacher.locator(".qr").first)
    assert scanned.startswith(f"{url}/class/try/"), scanned
    phone.goto(scanned)
    expect(phone.locator("#try-socket")).to_have_text("✓ The live connection works.")
    assert phone.evaluate(SECURE_ONLY) == NOTHING_SECURE
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
    assert pupil.evaluate(SECURE_ONLY) == NOTHING_SECURE
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
        for touched in state["paths"][state["legal_moves"][0]]:
            cell(page, touched).click()
        expect_plies(page, before + 2)


def hold_lesson(teacher: Page, phone: Page, url: str) -> None:
    """Open a class, try the site, join, play, and see the pupil in the table of both."""
    code = open_class(teacher, url)
    page_of_class = teacher.url
    try_before(teacher, phone, url)
    join_and_play(phone, url, code)
    teacher.goto(page_of_class)
    expect(teacher.locator("#pupils-title")).to_have_text("Pupils (1)")
    for page in (teacher, phone):
        expect(page.locator("#class-table tbody tr td").first).to_have_text("1.")


def main() -> None:
    expect.set_options(timeout=PAGE_HANG_S * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        faults: list[str] = []
        pages = [browser.new_context().new_page() for _ in range(2)]
        for page in pages:
            page.on("pageerror", lambda error: faults.append(str(error)))
        hold_lesson(*pages, sys.argv[1])
        browser.close()
        assert faults == []


if __name__ == "__main__":
    main()
