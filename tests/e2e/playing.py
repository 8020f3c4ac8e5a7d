"""Actions of a player on the match page, with the waits that they need."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from playwright.sync_api import Locator, Page, WebSocket, expect

from tests.waiting import wait_until

if TYPE_CHECKING:
    from games.models import Match


def cell(page: Page, name: str | int) -> Locator:
    return page.locator(f'[data-cell="{name}"]')


def free_cells(page: Page) -> list[str]:
    """Return the squares that may be played now."""
    return [
        str(square.get_attribute("data-cell"))
        for square in page.locator("#board.is-mine .cell.is-playable").element_handles()
    ]


def n_plies(page: Page) -> int:
    return page.locator("#moves > li").count()


def is_over(page: Page) -> bool:
    return page.locator("#status").get_attribute("data-status") == "finished"


def expect_turn(page: Page) -> None:
    """Wait until it is this visitor's turn and the board is open."""
    expect(page.locator("#board.is-mine .is-playable").first).to_be_visible()


def expect_plies(page: Page, number: int) -> None:
    """Wait until the page shows ``number`` moves, or the match is over."""
    enough_moves_or_end = page.locator(f"#moves:has(> li:nth-child({number})), #status[data-status=finished]")
    expect(enough_moves_or_end.first).to_be_attached()


def play_mouse(page: Page, square: str | None = None, *, answers: int = 1) -> str:
    """Click a free square, by default the first, wait for the answer, and return the square."""
    before = n_plies(page)
    played_square = square or free_cells(page)[0]
    cell(page, played_square).click()
    expect_plies(page, before + 1 + answers)
    return played_square


def play_out_mouse(page: Page) -> None:
    """Play the first free square until the match is over."""
    while not is_over(page):
        expect_turn(page)
        play_mouse(page)


NOUGHTS_PAGE = "/play/noughts-and-crosses"
"""The page with all ways to play noughts and crosses."""


def start_first(page: Page) -> Match:
    """Start a match against the built-in machine, moving first, and return it."""
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-first").click()
    expect_turn(page)
    return match_of(page)


def start_match_against(page: Page, opponent: str, side: str = "first") -> None:
    """Start a match of another kind, by the names on the form."""
    page.goto(NOUGHTS_PAGE)
    page.locator(f'.opponent:has(input[value="{opponent}"])').click()
    page.locator(f'.sides label:has(input[value="{side}"])').click()
    page.locator("#play-other").click()
    page.wait_for_url(re.compile("/rooms/"))


def goto_and_join(page: Page, address: str) -> None:
    """Visit a page and wait for its socket's first frame; from then on the page receives every state."""
    frames: list[str | bytes] = []

    def listen(socket: WebSocket) -> None:
        # Playwright accepts no method of a built-in type as a listener.
        def record_frame(frame: str | bytes) -> None:
            frames.append(frame)

        socket.on("framereceived", record_frame)

    page.on("websocket", listen)
    page.goto(address)
    # Playwright delivers events during calls to the browser.
    assert wait_until(lambda: bool(page.title() and frames))


def code_of(page: Page) -> str:
    return str(page.locator("[data-room]").get_attribute("data-room"))


def match_of(page: Page) -> Match:
    from games.models import Match  # tests.e2e.school uses this module without Django.

    return Match.objects.filter(room__code=code_of(page)).latest("number")


def changes_on_page(page: Page) -> list[tuple[str, int, int]]:
    """Return the changes of beads that the page shows: the bead's mark, the added number, and the new number."""
    changes = []
    for item in page.locator("#changes > li").all():
        words = item.locator(".change-words").inner_text()
        if "filled again" in words:
            continue  # The machine refilled the box during the match, and did not learn this change.
        after = re.search(r"becomes? ([\d,]+)\.$", words)
        assert after, words
        mark = item.locator(".bead-mark").first.text_content()
        delta = item.locator(".change-delta").inner_text().replace("\u2212", "-")
        changes.append((str(mark), int(delta.replace(",", "")), int(after[1].replace(",", ""))))
    return changes


def changes_in_ledger(match: Match) -> list[tuple[str, int, int]]:
    """Return the changes of beads in the ledger, in the form of :func:`changes_on_page`."""
    from learning.kinds.boxes.look import slots_view
    from learning.models import Change

    changes: list[tuple[str, int, int]] = []
    for change in Change.objects.filter(lesson__match=match, lesson__kind="match").order_by("ply"):
        cabinet = change.box.machine.cabinet
        slots: list[dict[str, Any]] = slots_view(cabinet, cabinet.game.decode(change.box.position))
        for slot, delta, after in zip(slots, change.deltas, change.after, strict=True):
            if delta:
                changes.append((slot["mark"], delta, after))
    return changes


def start_romgon(page: Page, opponent: str, *additions: str) -> Match:
    """Start a match from Romgon's page with these additions, as Black, and return it."""
    start_romgon_room(page, opponent, *additions)
    expect_turn(page)
    return match_of(page)


def start_romgon_room(page: Page, opponent: str, *additions: str) -> None:
    """Start a match from Romgon's page with these additions."""
    page.goto("/play/romgon")
    for addition in additions:
        page.locator(f".with input[value={addition}]").check()
    if additions:
        page.get_by_role("button", name="Use these rules").click()
    page.locator(f'.opponent:has(input[value="{opponent}"])').click()
    page.locator("#play-other").click()
    page.wait_for_url("**/rooms/*")


def tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(60):
        if page.locator(f"{selector}:focus").count():
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never came to {selector}")
