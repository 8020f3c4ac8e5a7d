"""What a person does on the match page, and how long they wait for what."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, WebSocket, expect

from games.models import Match
from tests.waiting import wait_until


def cell(page: Page, name: str | int) -> Locator:
    return page.locator(f'[data-cell="{name}"]')


def free_cells(page: Page) -> list[str]:
    """The squares that may be played now."""
    return [
        str(one.get_attribute("data-cell"))
        for one in page.locator("#board.is-mine .cell.is-playable").element_handles()
    ]


def n_plies(page: Page) -> int:
    return page.locator("#moves > li").count()


def is_over(page: Page) -> bool:
    return page.locator("#status").get_attribute("data-status") == "finished"


def expect_turn(page: Page) -> None:
    """It is this visitor's turn, and the board is open."""
    expect(page.locator("#board.is-mine .is-playable").first).to_be_visible()


def expect_plies(page: Page, number: int) -> None:
    """So many moves have been shown, or the match is over."""
    done = page.locator(f"#moves:has(> li:nth-child({number})), #status[data-status=finished]")
    expect(done.first).to_be_attached()


def play_mouse(page: Page, square: str | None = None, *, answers: int = 1) -> str:
    """Click a free square, the first when none is named, and wait for the answer; the square."""
    before = n_plies(page)
    chosen = square or free_cells(page)[0]
    cell(page, chosen).click()
    expect_plies(page, before + 1 + answers)
    return chosen


def play_out_mouse(page: Page) -> None:
    """Play whatever is free until the match is over."""
    while not is_over(page):
        expect_turn(page)
        play_mouse(page)


NOUGHTS = "/play/noughts-and-crosses"
"""The page with every way to play it."""


def start_first(page: Page) -> Match:
    """Into a match against the house, beginning; the match."""
    page.goto(NOUGHTS)
    page.locator("#play-first").click()
    expect_turn(page)
    return match_of(page)


def start_other(page: Page, opponent: str, side: str = "first") -> None:
    """Into a match of the other kinds, by the names on the form."""
    page.goto(NOUGHTS)
    page.locator(f'.opponent:has(input[value="{opponent}"])').click()
    page.locator(f'.sides label:has(input[value="{side}"])').click()
    page.locator("#play-other").click()
    page.wait_for_url(re.compile("/rooms/"))


def goto_and_join(page: Page, address: str) -> None:
    """Visit a page and wait until its socket has been answered: from here on it hears of everything."""
    heard: list[str | bytes] = []

    def listen(socket: WebSocket) -> None:
        # Playwright takes no method of a built-in type for a listener.
        def hear(frame: str | bytes) -> None:
            heard.append(frame)

        socket.on("framereceived", hear)

    page.on("websocket", listen)
    page.goto(address)
    # Events are handed out while the browser is asked something.
    assert wait_until(lambda: bool(page.title() and heard))


def code_of(page: Page) -> str:
    return str(page.locator("[data-room]").get_attribute("data-room"))


def match_of(page: Page) -> Match:
    return Match.objects.filter(room__code=code_of(page)).latest("number")


def changes_told(page: Page) -> list[tuple[str, int, int]]:
    """What the page says of each bead after the match: its mark, how many came or went, how many there are now."""
    told = []
    for item in page.locator("#changes > li").all():
        words = item.locator(".change-words").inner_text()
        if "filled again" in words:
            continue  # during the match, and not learnt from it
        after = re.search(r"becomes? ([\d,]+)\.$", words)
        assert after, words
        mark = item.locator(".bead-mark").first.text_content()
        delta = item.locator(".change-delta").inner_text().replace("\u2212", "-")
        told.append((str(mark), int(delta.replace(",", "")), int(after[1].replace(",", ""))))
    return told


def changes_stored(match: Match) -> list[tuple[str, int, int]]:
    """The same from the ledger."""
    from learning.kinds.boxes.look import slots_view
    from learning.models import Change

    stored: list[tuple[str, int, int]] = []
    for change in Change.objects.filter(lesson__match=match, lesson__kind="match").order_by("ply"):
        cabinet = change.box.machine.cabinet
        slots: list[dict[str, Any]] = slots_view(cabinet, cabinet.game.decode(change.box.position))
        for slot, delta, after in zip(slots, change.deltas, change.after, strict=True):
            if delta:
                stored.append((slot["mark"], delta, after))
    return stored


def start(page: Page, opponent: str, *additions: str) -> Match:
    """From Romgon's page into a match with these additions, beginning with Black; the match."""
    romgon_begin(page, opponent, *additions)
    expect_turn(page)
    return match_of(page)


def romgon_begin(page: Page, opponent: str, *additions: str) -> None:
    """From Romgon's page into a match with these additions."""
    page.goto("/play/romgon")
    for addition in additions:
        page.locator(f".with input[value={addition}]").check()
    if additions:
        page.get_by_role("button", name="Use these rules").click()
    page.locator(f'.opponent:has(input[value="{opponent}"])').click()
    page.locator("#play-other").click()
    page.wait_for_url("**/rooms/*")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until this has the focus."""
    for _ in range(60):
        if page.locator(f"{selector}:focus").count():
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never came to {selector}")
