"""Visits to every page and state of the site, for tests of properties that all pages have.

:func:`create_world` creates the data once.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connection
from playwright.sync_api import Page, expect

from beadbox.rules.outcome import Side
from games.accounts.principal import Principal
from games.live.play import match_resign
from games.models import Match
from learning.models import Box, Machine
from learning.services.machines import machine_create
from tests.e2e.conftest import LiveSite, Watch
from tests.e2e.playing import NOUGHTS_PAGE, cell, expect_plies, expect_turn, play_mouse, start_romgon_room
from tests.factories import finished_experiment, guest, house_machines, play, play_out, room, trained_machine, user

STAFF = "staff"
PASSWORD = "a good password"


@dataclass
class World:
    """The data behind the pages: both built-in machines after 50,000 games, rooms, people."""

    machines: dict[Side, Machine]
    site: LiveSite
    watch: Watch
    rooms: dict[str, str] = field(default_factory=dict)

    @property
    def machine(self) -> Machine:
        return self.machines[Side.FIRST]

    @property
    def box(self) -> Box:
        """The most visited of the boxes at the second move."""
        return max(Box.objects.filter(machine=self.machine, move_number=2), key=lambda box: sum(box.visits))


def create_world(site: LiveSite, watch: Watch) -> World:
    """Create the data in another thread, because Playwright's event loop runs in this thread."""

    def set_up() -> World:
        try:
            return _create_world(site, watch)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(set_up).result()


def _create_world(site: LiveSite, watch: Watch) -> World:
    machines = house_machines()
    for machine, opponent in ((machines[Side.FIRST], "random"), (machines[Side.SECOND], "perfect")):
        trained_machine(machine, 50_000, opponent=opponent)
    world = World(machines, site, watch)
    # A finished match, a match in play, a waiting room, and then copies that have lost beads.
    finished = room("menace", guest(1), Side.SECOND)
    play_out(finished.room.code, guest(1))
    in_play = room("menace", guest(2))
    play(in_play, guest(2), "5")
    waiting = room("human", Principal(guest=guest(3).guest, name="Ada"))
    world.rooms = {"finished": finished.room.code, "in play": in_play.room.code, "waiting": waiting.room.code}
    ada = user("ada", email="ada@example.com")
    user(STAFF, is_staff=True, is_superuser=True)
    for _ in range(3):
        own_room = room("menace", Principal(user_id=ada.pk, name="ada"), Side.SECOND, fresh=True)
        match_resign(code=own_room.room.code, person=Principal(user_id=ada.pk, name="ada"))
    finished_experiment("gardner", machines=10)
    machine_create(game="hexapawn", side=Side.SECOND, name="Her", preset="gardner-her", slug="her-drawn")
    large = machine_create(game="hexapawn-5x4", side=Side.FIRST, name="Large", preset="hexapawn-rl", slug="large")
    trained_machine(large, games=30)
    return world


def log_in(page: Page, name: str) -> None:
    page.goto("/login")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("navigation").get_by_role("link", name="Account")).to_be_visible()


def play_to_middle(page: Page, _: World) -> None:
    """Play to the middle of a match, with the box open."""
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-first").click()
    expect_turn(page)
    play_mouse(page, "5")
    expect_turn(page)


def play_romgon(page: Page, _: World) -> None:
    """Play Romgon until a piece is chosen, flips and turns are on offer, and the engine's view is open."""
    start_romgon_room(page, "medium", "flip", "turn")
    cell(page, "1-6").click()
    page.locator("#offers").get_by_role("button", name="Flip").click()
    expect_plies(page, 2)
    expect_turn(page)
    page.get_by_role("button", name="Ask the engine").click()
    expect(page.locator("#engine-moves > li")).to_have_count(5)
    cell(page, "2-7").click()


def play_to_end(page: Page, world: World) -> None:
    play_to_middle(page, world)
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    expect(page.locator("#lesson")).to_be_visible()


def show_past_board(page: Page, world: World) -> None:
    """Finish a match and show its board after the first move."""
    play_to_end(page, world)
    page.locator("#moves button").nth(0).click()
    expect(page.locator("#replay-words")).to_have_text("After move 1 of 2.")


def wait_for_friend(page: Page, _: World) -> None:
    page.goto(NOUGHTS_PAGE)
    page.locator('.opponent:has(input[value="human"])').click()
    page.locator("#play-other").click()
    expect(page.locator("#share-words")).to_contain_text("Send this link")


def open_sheet(page: Page) -> None:
    handle = page.locator("#box-handle")
    if handle.is_visible():
        handle.click()
    expect(page.locator("#odds")).to_be_visible()


def show_beads_on_board(page: Page, world: World) -> None:
    play_to_middle(page, world)
    page.locator("#beads").click()


def open_sheet_in_match(page: Page, world: World) -> None:
    play_to_middle(page, world)
    open_sheet(page)


def ask_to_resign(page: Page, world: World) -> None:
    play_to_middle(page, world)
    page.locator("#resign").click()


def open_key_list(page: Page, world: World) -> None:
    play_to_middle(page, world)
    page.keyboard.press("?")
    expect(page.locator("#keys-dialog")).to_be_visible()


def visit_exhibition(page: Page, _: World) -> None:
    """Watch three moves of two built-in machines, with both boxes open and the beads on the board."""
    page.goto("/play/noughts-and-crosses")
    page.locator("#watch-them").click()
    expect(page.locator("#show-tools")).to_be_visible()
    for number in (1, 2, 3):
        page.locator("#step").click()
        expect(page.locator("#moves > li")).to_have_count(number)
    page.locator("#beads").click()


def visit_seat_taken_over(page: Page, _: World) -> None:
    """Play for a copy of a built-in machine, and choose a piece for its second move."""
    page.goto("/play/hexapawn")
    page.locator("#take-seat").click()
    expect_turn(page)
    page.locator("#board .is-playable").first.click()
    expect(page.locator("#board .is-target").first).to_be_visible()


def play_until_empty_box(page: Page, _: World) -> None:
    """Play against a machine with an empty box at its second move."""
    for box in Box.objects.filter(machine__slug="menace-first", move_number=2):
        box.beads = [0] * len(box.beads)
        box.save()
    page.goto(NOUGHTS_PAGE)
    page.locator("#play-second").click()
    expect_turn(page)
    play_mouse(page)
    expect(page.locator("#status")).to_have_attribute("data-status", "finished")


def visit_room(kind: str) -> Callable[[Page, World], None]:
    def visit(page: Page, world: World) -> None:
        page.goto(f"/rooms/{world.rooms[kind]}")
        expect(page.locator("#seats li")).to_have_count(2)
        expect(page.locator("#connection")).to_be_hidden()

    return visit


def visit_learn_page(address: str) -> Callable[[Page, World], None]:
    """Visit *Watch it learn*, paused, with its curve and the percentile band."""

    def visit(page: Page, world: World) -> None:
        page.goto(address)
        expect(page.locator(".curve-legend li").nth(2)).to_be_visible()

    return visit


def visit_address(address: str) -> Callable[[Page, World], None]:
    def visit(page: Page, world: World) -> None:
        page.goto(address)

    return visit


def visit_machine(page: Page, world: World) -> None:
    page.goto(world.machine.get_absolute_url())
    expect(page.locator(".wall-box")).to_have_count(304)


def visit_machine_with_peek(page: Page, world: World) -> None:
    visit_machine(page, world)
    page.locator(f'.wall-box[data-position="{world.box.position}"]').focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".peek")).to_be_visible()


def visit_box(page: Page, world: World) -> None:
    page.goto(world.box.get_absolute_url())
    expect(page.locator("#matchbox > svg")).to_be_visible()


def visit_drawings(page: Page, world: World) -> None:
    page.goto(f"/machines/{Machine.objects.get(slug='her-drawn').pk}/drawings")
    expect(page.locator(".drawings .board-picture")).to_have_count(24)


def visit_large_machine(page: Page, world: World) -> None:
    """Visit the page of a machine with a sampled strength."""
    page.goto(Machine.objects.get(slug="large").get_absolute_url())
    page.get_by_text("How certain this is").click()
    expect(page.locator("#sampled")).to_be_visible()


def visit_large_run(page: Page, world: World) -> None:
    page.goto(f"/runs/{Machine.objects.get(slug='large').runs.get().pk}")
    expect(page.locator("#curve canvas")).to_be_visible()


def visit_experiment(page: Page, world: World) -> None:
    page.goto("/experiments/gardner")
    expect(page.locator(".curve-stage canvas")).to_have_count(2)


def start_waiting_experiment(page: Page, world: World) -> None:
    page.goto("/experiments/gardner")
    page.locator("#id_seed").fill("99")
    page.locator("#begin").click()
    expect(page.locator("#result")).to_have_attribute("data-status", "queued")


def fail_log_in(page: Page, world: World) -> None:
    page.goto("/login")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("not the one")
    page.locator("main").get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_be_visible()


def lock_log_in(page: Page, world: World) -> None:
    world.watch.allow("429")
    from django.conf import settings
    from django.test import override_settings

    with override_settings(AXES_FAILURE_LIMIT=1):
        page.goto("/login")
        page.get_by_label("Username").fill(f"nobody {settings.AXES_FAILURE_LIMIT}")
        page.get_by_label("Password").fill("not the one")
        page.locator("main").get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", name="Too many tries")).to_be_visible()


def fail_sign_up(page: Page, world: World) -> None:
    page.goto("/signup")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password", exact=True).fill("12345678")
    page.get_by_label("Password again").fill("87654321")
    page.get_by_role("button", name="Make my account").click()
    expect(page.locator(".errorlist").first).to_be_visible()


def join_unknown_room(page: Page, world: World) -> None:
    page.goto("/")
    page.locator("#code").fill("zzzzzz")
    page.locator("#code").press("Enter")
    expect(page.locator(".notes")).to_be_visible()


def visit_missing_room(page: Page, world: World) -> None:
    world.watch.allow("404")
    page.goto("/rooms/zzzzzz")


def visit_logged_in(address: str, name: str = "ada") -> Callable[[Page, World], None]:
    def visit(page: Page, world: World) -> None:
        log_in(page, name)
        page.goto(address)

    return visit


def visit_admin(address: str) -> Callable[[Page, World], None]:
    return visit_logged_in(f"/admin/{address}", STAFF)


def visit_admin_match(page: Page, world: World) -> None:
    log_in(page, STAFF)
    match = Match.objects.get(room__code=world.rooms["finished"])
    page.goto(f"/admin/games/match/{match.pk}/change/")
    expect(page.locator("bead-board svg").first).to_be_visible()


def visit_admin_machine(page: Page, world: World) -> None:
    log_in(page, STAFF)
    page.goto(f"/admin/learning/machine/{world.machine.pk}/change/")


def visit_admin_box(page: Page, world: World) -> None:
    log_in(page, STAFF)
    page.goto(f"/admin/learning/box/{world.box.pk}/change/")
    expect(page.locator("bead-board svg").first).to_be_visible()


def visit_admin_close(page: Page, world: World) -> None:
    log_in(page, STAFF)
    page.goto(f"/admin/auth/user/{get_user_model().objects.get(username='ada').pk}/close/")


def visit_admin_boxes(page: Page, world: World) -> None:
    log_in(page, STAFF)
    page.goto(f"/admin/learning/box/?machine__id__exact={world.machine.pk}&move_number=2")
    expect(page.locator("bead-board svg").first).to_be_visible()


@contextmanager
def without_network(page: Page, world: World) -> Iterator[None]:
    """Disconnect the page from the network during the block."""
    world.watch.allow("WebSocket connection", "ERR_INTERNET_DISCONNECTED")
    page.context.set_offline(True)
    expect(page.locator("#connection")).to_be_visible()
    yield
    page.context.set_offline(False)


STATES: dict[str, Callable[[Page, World], None]] = {
    "lobby": visit_address("/"),
    "lobby-unknown-code": join_unknown_room,
    "match-waiting": wait_for_friend,
    "match-free-seat": visit_room("waiting"),
    "match-playing": play_to_middle,
    "match-sheet": open_sheet_in_match,
    "match-beads": show_beads_on_board,
    "match-giving-up": ask_to_resign,
    "match-keys": open_key_list,
    "match-finished": play_to_end,
    "match-past": show_past_board,
    "match-romgon": play_romgon,
    "play-romgon": visit_address("/play/romgon-flip-turn"),
    "match-spectator": visit_room("in play"),
    "match-spectator-finished": visit_room("finished"),
    "match-exhibition": visit_exhibition,
    "match-seat-taken-over": visit_seat_taken_over,
    "play": visit_address("/play/hexapawn"),
    "choose": visit_address("/play"),
    "choose-none": visit_address("/play?boxes=few&minutes=long"),
    "facts": visit_address("/play/hexapawn/facts"),
    "facts-sources": visit_address("/play/noughts-and-crosses/facts"),
    "facts-unlisted": visit_address("/play/romgon/facts"),
    "machine": visit_machine,
    "machine-peek": visit_machine_with_peek,
    "box": visit_box,
    "drawings": visit_drawings,
    "machine-large": visit_large_machine,
    "run-large": visit_large_run,
    "about": visit_address("/about"),
    "teachers": visit_address("/about/teachers"),
    "lab": visit_address("/lab"),
    "experiments": visit_address("/experiments"),
    "experiment": visit_experiment,
    "experiment-waiting": start_waiting_experiment,
    "advice": visit_address("/ai"),
    "learn": visit_learn_page("/learn?games=300"),
    "learn-wrong": visit_learn_page("/learn/hexapawn?win=many&games=20&beside=gardner-her"),
    "login": visit_address("/login"),
    "login-wrong": fail_log_in,
    "login-locked": lock_log_in,
    "signup": visit_address("/signup"),
    "signup-wrong": fail_sign_up,
    "password-reset": visit_address("/password/reset"),
    "password-reset-sent": visit_address("/password/reset/sent"),
    "password-reset-old-link": visit_address("/password/reset/MQ/none"),
    "password-reset-done": visit_address("/password/reset/done"),
    "account": visit_logged_in("/account"),
    "account-empty": visit_logged_in("/account", STAFF),
    "password-change": visit_logged_in("/password"),
    "password-changed": visit_logged_in("/password/done"),
    "not-found": visit_missing_room,
    "admin": visit_admin(""),
    "admin-machines": visit_admin("learning/machine/"),
    "admin-machine": visit_admin_machine,
    "admin-boxes": visit_admin_boxes,
    "admin-box": visit_admin_box,
    "admin-matches": visit_admin("games/match/"),
    "admin-match": visit_admin_match,
    "admin-lessons": visit_admin("learning/lesson/"),
    "admin-queue": visit_admin("queue/"),
    "admin-usage": visit_admin("usage/"),
    "admin-block": visit_admin("games/addressblock/add/"),
    "admin-close": visit_admin_close,
    "match-empty-box": play_until_empty_box,
}

PUBLIC_STATES = {name: visit for name, visit in STATES.items() if not name.startswith("admin")}


def browser_options(width: int, height: int, *, dark: bool = False, **more: Any) -> dict[str, Any]:
    """Return options of a browser context."""
    return {
        "viewport": {"width": width, "height": height},
        "color_scheme": "dark" if dark else "light",
        "has_touch": width < 700,
        "reduced_motion": "reduce",
        **more,
    }
