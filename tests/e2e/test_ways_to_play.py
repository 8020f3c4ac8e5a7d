"""Ways to play in real browsers: in a machine's seat, as spectator of two machines, with pieces on squares."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from beadbox.learners.boxes.rule import BoxRule, OpenBoxes
from beadbox.rules.outcome import Side
from beadbox.rules.registry import family_games
from games.models import Match
from learning.models import Draw, Lesson, Machine, TrainingRun
from learning.services.machines import machine_create
from tests.e2e.conftest import Visitor
from tests.e2e.everywhere import log_in
from tests.e2e.playing import cell, expect_plies, expect_turn, is_over, match_of, n_plies, play_mouse
from tests.factories import NC, house_machines, user

pytestmark = pytest.mark.e2e

HEXAPAWN = family_games("hexapawn")


def two_machines_of(owner: Any, game: str = NC) -> tuple[Machine, Machine]:
    rule = BoxRule(open_boxes=OpenBoxes.WHEN_MET)
    first, second = (
        machine_create(game=game, side=side, name=name, rule=rule, owner=owner)
        for side, name in zip(Side, ("Alma", "Bert"), strict=True)
    )
    return first, second


def seat_card(page: Page, side: Side) -> Locator:
    return page.locator("#seats > li").nth(side)


def spectator_of(visitor: Visitor, address: str) -> Page:
    friend = visitor()
    friend.goto(address)
    expect(friend.locator("#watching")).to_be_visible()
    expect(friend.locator("#connection")).to_be_hidden()
    return friend


def play_out(page: Page) -> None:
    """Play any legal moves, square by square or piece by piece, until the match is over."""
    while not is_over(page):
        expect_turn(page)
        before = n_plies(page)
        page.locator("#board .is-playable").first.click()
        if n_plies(page) == before and page.locator("#board .is-target").count():
            page.locator("#board .is-target").first.click()
        expect_plies(page, before + 2)


def test_a_machine_learns_from_a_person_in_its_seat(page: Page, visitor: Visitor) -> None:
    own, other = two_machines_of(user("ada"))
    log_in(page, "ada")
    page.goto(own.get_absolute_url())
    page.locator("#take-its-seat").click()
    expect(page.locator("#take-over select[name=takes_over]")).to_have_value(str(own.pk))
    page.locator("#take-over select[name=opponent]").select_option(str(other.pk))
    page.locator("#take-seat").click()
    expect(seat_card(page, Side.FIRST)).to_contain_text("You, in the seat of Alma")
    machine_record = page.locator("#records > li").first
    expect(machine_record).to_contain_text("Alma has not finished a game yet.")
    expect(machine_record.get_by_role("link", name="Rename, freeze or delete")).to_be_visible()
    friend = spectator_of(visitor, page.url)
    expect(seat_card(friend, Side.FIRST)).to_contain_text("ada, in the seat of Alma")
    expect(friend.get_by_role("link", name="Rename, freeze or delete")).to_have_count(0)

    expect_turn(page)
    play_mouse(page, "5")
    for viewer in (page, friend):
        expect(viewer.locator("#matchbox .is-drawn")).to_be_visible()
        expect(viewer.locator("#matchbox-2 .is-drawn")).to_be_visible()
        expect(viewer.locator("#box-owner")).to_have_text("Alma, crosses")
        expect(viewer.locator("#box-owner-2")).to_have_text("Bert, noughts")
    expect(page.locator("#box-caption")).to_contain_text("You played E for Alma. It would have drawn that bead in")
    expect(friend.locator("#box-caption")).to_contain_text("ada played E for Alma")
    expect(friend.locator("#board .is-playable")).to_have_count(0)
    assert Draw.objects.filter(machine=own, ply=0, slot=2).exists()

    play_out(page)
    for viewer in (page, friend):
        expect(viewer.locator("#lesson-title")).to_have_text("What the machines learnt")
        expect(viewer.locator("#lesson-words")).to_contain_text(
            re.compile(r"Alma (won|drew|lost).* Bert (won|drew|lost)")
        )
        for side in Side:
            expect(viewer.locator("#records > li").nth(side)).to_contain_text("has played one game.")
    assert set(Lesson.objects.values_list("machine", "kind")) == {(own.pk, "match"), (other.pk, "match")}

    # The next match is resigned at once: the game is lost without a change of beads.
    page.locator("#again").click()
    expect_turn(page)
    page.locator("#resign").click()
    page.locator("#resign-yes").click()
    for viewer in (page, friend):
        expect(viewer.locator("#status")).to_contain_text("gave up")
        expect(viewer.locator("#records > li").first).to_contain_text("has played two games.")
        expect(viewer.locator("#no-changes")).to_be_visible()
    own.refresh_from_db()
    assert own.n_games == 2
    assert own.n_losses >= 1


def test_a_guest_plays_for_a_copy_of_a_built_in_machine(page: Page) -> None:
    house_machines()
    page.goto("/")
    page.get_by_role("link", name="More ways to play Noughts and crosses").click()
    page.locator("#take-over select[name=takes_over]").select_option(label="MENACE, plays first")
    page.locator("#take-seat").click()
    expect(seat_card(page, Side.FIRST)).to_contain_text("You, in the seat of MENACE (copy)")
    expect_turn(page)
    play_mouse(page, "1")
    expect(page.locator("#box-caption")).to_contain_text("You played A for MENACE (copy)")


def test_the_host_steps_two_machines_and_a_friend_watches(page: Page, visitor: Visitor) -> None:
    first, second = two_machines_of(None)
    page.goto(f"/play/{NC}?machine={first.pk}")
    page.locator("#watch select[name=second]").select_option(str(second.pk))
    page.locator("#watch-them").click()
    expect(page.locator("#show-tools")).to_be_visible()
    expect(page.locator("#watching")).to_contain_text("You decide when they move.")
    friend = spectator_of(visitor, page.url)
    expect(friend.locator("#show-tools")).to_be_hidden()
    expect(page.locator("#board .is-playable")).to_have_count(0)

    for number in (1, 2, 3):
        page.locator("#step").click()
        for viewer in (page, friend):
            expect(viewer.locator("#moves > li")).to_have_count(number)
            # Each machine's box stays visible while the other's is opened.
            for at in range(min(number, 2)):
                expect(viewer.locator(("#matchbox", "#matchbox-2")[at]).locator(".is-drawn")).to_be_visible()
    assert match_of(page).n_plies == 3, "nothing moves by itself"

    page.locator("#speed").select_option("fast")
    page.locator("#run").click()
    expect_plies(page, 5)
    if not is_over(page):
        page.locator("#finish").click()
    for viewer in (page, friend):
        expect(viewer.locator("#status")).to_have_attribute("data-status", "finished")
        expect(viewer.locator("#lesson-words")).to_contain_text(
            re.compile(r"Alma (won|drew|lost).* Bert (won|drew|lost)")
        )
        for side in Side:
            expect(viewer.locator("#records > li").nth(side)).to_contain_text("has played one game.")
    expect(page.locator("#show-tools")).to_be_hidden()
    expect(friend.locator("#again")).to_be_hidden()
    assert Lesson.objects.filter(kind="match").count() == 2

    page.locator("#again").click()
    expect(page.locator("#show-tools")).to_be_visible()
    expect(friend.locator("#moves > li")).to_have_count(0)
    page.locator("#finish").click()
    for viewer in (page, friend):
        expect(viewer.locator("#records > li").first).to_contain_text("has played two games.")


def test_two_machines_play_at_a_chosen_speed_until_paused(page: Page) -> None:
    page.goto(f"/play/{HEXAPAWN[-1].slug}")
    page.locator("#watch-them").click()
    expect(page.locator("#show-tools")).to_be_visible()
    page.locator("#run").click()
    expect(page.locator("#run")).to_have_text("Pause")
    expect_plies(page, 2)
    page.locator("#run").click()
    expect(page.locator("#run")).to_have_text("Play on")
    # A step in progress still arrives; after the next step by hand, no other does.
    page.locator("#step").click()
    n_shown = n_plies(page)
    page.locator("#step").click()
    expect_plies(page, n_shown + 1)
    assert match_of(page).n_plies - n_shown in (1, 2)


@pytest.mark.soak
def test_two_own_machines_train_from_the_play_page(page: Page) -> None:
    first, second = two_machines_of(user("ada"))
    log_in(page, "ada")
    page.goto(f"/play/{NC}?machine={first.pk}")
    page.locator("#watch select[name=second]").select_option(str(second.pk))
    page.locator("#watch-them").click()
    expect(page.locator("#together-words")).to_contain_text("Both learn.")
    page.locator("#together-go").click()
    expect(page.get_by_role("heading", name="Training of Alma")).to_be_visible()
    expect(page.locator(".run")).to_contain_text("1,000 games against Bert, which learns too")
    expect(page.get_by_role("progressbar")).to_be_visible()
    run = TrainingRun.objects.get()
    assert (run.machine, run.n_games) == (first, 1000)
    assert run.stages.get().opponent_learns is True
    page.goto(second.get_absolute_url())
    page.locator(".together input[name=games]").fill("50")
    page.locator("#together-go").click()
    expect(page.locator(".run")).to_contain_text("50 games against Alma, which learns too")


@pytest.mark.sampled(1)
@pytest.mark.parametrize("input_device", ["mouse", "keyboard", "touch"])
def test_a_move_is_made_by_piece_and_target(visitor: Visitor, input_device: str) -> None:
    page = visitor(
        has_touch=input_device == "touch", viewport={"width": 360 if input_device == "touch" else 1280, "height": 740}
    )
    page.goto("/play/hexapawn")
    page.locator('.opponent:has(input[value="random"])').click()
    page.locator("#play-other").click()
    expect_turn(page)
    expect(page.locator("#board .is-playable")).to_have_count(3)
    expect(cell(page, "b1")).to_have_attribute("aria-label", re.compile(r"b1, white, .*playable|b1, white, playable"))

    def choose(square: str) -> None:
        if input_device == "keyboard":
            cell(page, square).focus()
            page.keyboard.press("Enter")
        elif input_device == "touch":
            cell(page, square).tap()
        else:
            cell(page, square).click()

    choose("b1")
    expect(page.locator("#board .is-target")).to_have_count(1)
    expect(cell(page, "b2")).to_have_attribute("aria-label", re.compile("can be moved to"))
    choose("a1")  # another pawn instead
    expect(cell(page, "a2")).to_have_class(re.compile("is-target"))
    choose("b1")
    choose("b2")
    expect_plies(page, 2)
    assert Match.objects.get().plies.get(number=0).move == "b1b2"


def test_watcher_of_a_private_machine_sees_only_the_board(page: Page, visitor: Visitor) -> None:
    _, other = two_machines_of(user("ada"))
    log_in(page, "ada")
    page.goto(other.get_absolute_url())
    page.get_by_role("button", name="Play against it").click()
    friend = spectator_of(visitor, page.url)
    expect(friend.locator("#box-sheet")).to_be_visible()
    Machine.objects.filter(pk=other.pk).update(is_public=False)
    expect_turn(page)
    play_mouse(page)
    expect_plies(friend, 2)
    expect(friend.locator("#box-sheet")).to_be_hidden()
    expect(friend.locator("#hidden-words")).to_be_visible()
    expect(friend.locator("#no-box-words")).to_be_hidden()
    expect(seat_card(friend, Side.SECOND)).to_contain_text("A machine that is not public")
    assert "Bert" not in friend.locator("main").inner_text()
    expect(page.locator("#box-sheet")).to_be_visible()
    play_out(page)
    expect(friend.locator("#status")).to_have_attribute("data-status", "finished")
    expect(friend.locator("#lesson")).to_be_hidden()
    expect(page.locator("#lesson")).to_be_visible()
    friend.reload()
    assert "Bert" not in friend.content()
