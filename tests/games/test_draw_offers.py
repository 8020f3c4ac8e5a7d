"""Draws by agreement after a third visit to a position, over sockets and REST, with people and machines."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from channels.db import database_sync_to_async
from rest_framework.test import APIClient

from beadbox.learners.boxes.rule import Unfinished
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.accounts.principal import Principal
from games.exceptions import MatchFinishedError, MatchWaitingError, NoDrawError, NotAPlayerError, PlayError
from games.live.play import match_draw, match_play_move, match_resign, match_step
from games.live.room_state import N_VISITS_TO_DRAW
from games.live.rooms import SeatResult, room_create, room_join
from games.live.store import room_get
from games.models import Match
from learning.kinds.boxes.memory import ledger_errors
from learning.models import Lesson
from learning.services.machines import machine_create
from tests.factories import guest, house_machines, room, room_view, stranger
from tests.sockets import Socket

in_db = database_sync_to_async

pytestmark = pytest.mark.django_db(transaction=True)

PONG, MORRIS, HARE = "pong-hau-ki", "three-mens-morris", "hare-and-hounds"
AGREED_DRAW = {"winner": None, "termination": "agreed", "reason": "both sides agreed"}


def moves_into_a_circle(slug: str) -> tuple[list[str], list[str]]:
    """Return a line of moves to a position, and moves that lead from this position to itself.

    Both sides always play the first move that does not end the game.
    """
    game = GAMES[slug]
    position, line, ply_of_position = game.initial_position(), [], {}
    while position not in ply_of_position:
        ply_of_position[position] = len(line)
        move = next(move for move in game.legal_moves(position) if not game.is_terminal(game.apply(position, move)))
        line.append(game.format_move(move))
        position = game.apply(position, move)
    return line[: ply_of_position[position]], line[ply_of_position[position] :]


def open_room(slug: str, opponent: str = "human", **options: Any) -> SeatResult:
    return room_create(person=guest(), game=slug, opponent=opponent, side=Side.FIRST, **options)


def seats_of_friends(slug: str) -> tuple[SeatResult, SeatResult]:
    seat = open_room(slug)
    return seat, room_join(code=seat.room.code, person=guest(2))


def play_in_turn(seat: SeatResult, moves: list[str]) -> dict[str, Any]:
    """Play moves of two people in turn, and return the state after them."""
    state: dict[str, Any] = room_view(room_get(seat.room.code))
    for move in moves:
        state = match_play_move(code=seat.room.code, person=guest(1 + state["ply"] % 2), move=move)
    return state


def seats_after_third_visit(slug: str) -> tuple[SeatResult, SeatResult]:
    """Return the seats of two people after a third visit to a position."""
    seats = seats_of_friends(slug)
    line, circle = moves_into_a_circle(slug)
    state = play_in_turn(seats[0], line + 2 * circle)
    assert state["draw_offer"] == {"by": None}
    return seats


def play_until_offer_is_possible(seat: SeatResult) -> dict[str, Any]:
    """Play the first legal move, which never ends Pong hau k'i, until an automated player can be offered a draw."""
    state = room_view(seat.room)
    while state["draw_offer"] is None:
        state = match_play_move(code=seat.room.code, person=guest(), move=state["legal_moves"][0])
    return state


@pytest.mark.parametrize("slug", [PONG, MORRIS])
def test_offers_begin_with_a_third_visit_and_end_with_a_move(slug: str) -> None:
    seat, _ = seats_of_friends(slug)
    game, (line, circle) = GAMES[slug], moves_into_a_circle(slug)
    states = [play_in_turn(seat, [move]) for move in line + 3 * circle]
    positions = [game.encode(game.initial_position()), *(state["position"] for state in states)]
    for ply, state in enumerate(states, 1):
        assert (state["draw_offer"] is not None) == (positions[: ply + 1].count(positions[ply]) >= N_VISITS_TO_DRAW)
    offered = match_draw(code=seat.room.code, person=guest(2))
    assert offered["draw_offer"] == {"by": game.presentation.layout.roles[1]}
    assert play_in_turn(seat, circle[:1])["draw_offer"] == {"by": None}


def test_an_image_of_a_position_is_another_position() -> None:
    seat, _ = seats_of_friends(PONG)
    game, rng = GAMES[PONG], Random(1)
    visits, image_visits, n_images = Counter[Any](), Counter[Any](), 0
    position = game.initial_position()
    for _ in range(40):
        legal = game.legal_moves(position)
        move = rng.choice([move for move in legal if not game.is_terminal(game.apply(position, move))])
        position = game.apply(position, move)
        visits[position] += 1
        image_visits[game.canonical(position)] += 1
        state = play_in_turn(seat, [game.format_move(move)])
        n_visits = visits[position] + (position == game.initial_position())
        assert (state["draw_offer"] is not None) == (n_visits >= N_VISITS_TO_DRAW)
        n_images += n_visits < N_VISITS_TO_DRAW <= image_visits[game.canonical(position)]
    assert n_images


@pytest.mark.parametrize("slug", [PONG, MORRIS])
@pytest.mark.parametrize("asking_player", [1, 2])
def test_another_person_is_asked_and_accepts(slug: str, asking_player: int) -> None:
    seat, _ = seats_after_third_visit(slug)
    roles = seat.room.game_rules.presentation.layout.roles
    for _ in range(2):  # an offer that is sent twice is one offer
        state = match_draw(code=seat.room.code, person=guest(asking_player))
        assert (state["status"], state["draw_offer"]) == ("playing", {"by": roles[asking_player - 1]})
    state = match_draw(code=seat.room.code, person=guest(3 - asking_player))
    assert (state["status"], state["draw_offer"], state["outcome"]) == ("finished", None, AGREED_DRAW)
    with pytest.raises(MatchFinishedError):
        match_draw(code=seat.room.code, person=guest(asking_player))


async def test_the_offer_reaches_the_other_socket() -> None:
    seats = await in_db(seats_after_third_visit)(PONG)
    code = seats[0].room.code
    async with Socket(code, seats[0].token) as first, Socket(code, seats[1].token) as second, Socket(code) as third:
        role = (await first.expect("joined"))["role"]
        for socket in (second, third):
            assert (await socket.expect("joined"))["state"]["draw_offer"] == {"by": None}
        await third.frame("draw")
        assert (await third.expect("error"))["code"] == "not_a_player"
        await first.frame("draw")
        for socket in (first, second, third):
            assert (await socket.expect("state"))["draw_offer"] == {"by": role}
        await second.frame("draw", {})
        for socket in (first, second, third):
            assert (await socket.expect("state"))["outcome"] == AGREED_DRAW
        await second.frame("draw")
        assert (await second.expect("error"))["code"] == "match_finished"


def test_draws_are_offered_and_accepted_over_rest() -> None:
    seats = seats_after_third_visit(MORRIS)
    base, api = f"/api/rooms/{seats[0].room.code}", APIClient()
    headers = [{"X-Seat-Token": seat.token} for seat in seats]
    refused = api.post(f"{base}/draw", {}, headers={"X-Seat-Token": "guessed"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_a_player")
    assert api.post(f"{base}/draw", {}, headers=headers[1]).json()["draw_offer"] is not None
    assert api.post(f"{base}/draw", {}, headers=headers[0]).json()["outcome"] == AGREED_DRAW
    refused = api.post(f"{base}/draw", {}, headers=headers[0])
    assert (refused.status_code, refused.json()["code"]) == (409, "match_finished")
    assert api.get(f"{base}/matches/1").json()["outcome"] == AGREED_DRAW


def test_a_person_on_both_seats_ends_the_match() -> None:
    seat = open_room(PONG)
    room_join(code=seat.room.code, person=guest(), both=True)
    line, circle = moves_into_a_circle(PONG)
    for move in line + 2 * circle:
        match_play_move(code=seat.room.code, person=guest(), move=move)
    assert match_draw(code=seat.room.code, person=guest())["outcome"] == AGREED_DRAW


@pytest.mark.parametrize("unfinished", Unfinished)
def test_a_machine_accepts_at_once_and_learns_what_its_rule_says(unfinished: Unfinished) -> None:
    learner = machine_create(game=PONG, side=Side.SECOND, name="Round")
    learner = machine_create(
        game=PONG, side=Side.SECOND, name="Rounder", rule=replace(learner.box_rule, draw=1, unfinished=unfinished)
    )
    seat = open_room(PONG, "machine", machine=str(learner.pk))
    state = play_until_offer_is_possible(seat)
    assert state["draw_offer"] == {"by": None}
    state = match_draw(code=seat.room.code, person=guest())
    assert state["outcome"] == AGREED_DRAW
    (lesson,) = Lesson.objects.filter(match__room=seat.room)
    assert (lesson.n_draws, lesson.n_wins, lesson.n_losses) == (1, 0, 0)
    assert bool(state["learning"]["changes"]) == (unfinished is Unfinished.RESULT)
    assert ledger_errors() == []


def test_a_level_accepts_at_once() -> None:
    seat = open_room(PONG, "random")
    play_until_offer_is_possible(seat)
    assert match_draw(code=seat.room.code, person=guest())["outcome"] == AGREED_DRAW


def refused_people() -> dict[str, tuple[Principal, type[PlayError]]]:
    return {
        "a third person": (stranger(), NotAPlayerError),
        "a spectator": (Principal(), NotAPlayerError),
        "a guessed token": (Principal(token="guessed"), NotAPlayerError),
    }


@pytest.mark.parametrize("case", refused_people())
def test_only_players_offer_or_accept(case: str) -> None:
    seat, _ = seats_after_third_visit(PONG)
    match_draw(code=seat.room.code, person=guest())
    before = room_view(room_get(seat.room.code))
    person, error = refused_people()[case]
    with pytest.raises(error):
        match_draw(code=seat.room.code, person=person)
    assert room_view(room_get(seat.room.code)) == before


def test_no_draw_before_the_third_visit_or_the_second_player() -> None:
    waiting_seat = open_room(PONG)
    with pytest.raises(MatchWaitingError):
        match_draw(code=waiting_seat.room.code, person=guest())
    seat, _ = seats_of_friends(PONG)
    line, circle = moves_into_a_circle(PONG)
    play_in_turn(seat, line + circle)
    with pytest.raises(NoDrawError, match="has come three times"):
        match_draw(code=seat.room.code, person=guest())


def test_an_offer_does_not_outlive_its_position() -> None:
    """The other player cannot accept after a move to a position that has not come three times."""
    seat, _ = seats_after_third_visit(MORRIS)
    match_draw(code=seat.room.code, person=guest())
    state = room_view(room_get(seat.room.code))
    game = seat.room.game_rules
    position = game.decode(state["position"])
    circle = moves_into_a_circle(MORRIS)[1]
    other_move = next(
        text
        for text in state["legal_moves"]
        if text != circle[0] and not game.is_terminal(game.apply(position, game.parse_move(text)))
    )
    assert play_in_turn(seat, [other_move])["draw_offer"] is None
    with pytest.raises(NoDrawError):
        match_draw(code=seat.room.code, person=guest(2))
    match_resign(code=seat.room.code, person=guest(2))
    assert Match.objects.get().draw_offered_by is None


@pytest.mark.parametrize("slug", [HARE, "noughts-and-crosses"])
def test_games_without_draws_by_endless_play_offer_none(slug: str) -> None:
    seat, _ = seats_of_friends(slug)
    line, circle = moves_into_a_circle(slug) if slug == HARE else ([], [])
    assert play_in_turn(seat, line + 4 * circle)["draw_offer"] is None
    with pytest.raises(NoDrawError, match="in this game"):
        match_draw(code=seat.room.code, person=guest())


def test_an_exhibition_has_no_offer() -> None:
    seat = room_create(person=guest(), game=PONG, first="random", second="random")
    Match.objects.update(seed=1)
    state = match_step(code=seat.room.code, person=guest(), max_plies=100)
    while state["status"] == "playing":
        assert state["draw_offer"] is None
        state = match_step(code=seat.room.code, person=guest(), max_plies=100)
    other = room_create(person=guest(), game=PONG, first="random", second="random")
    with pytest.raises(NotAPlayerError):
        match_draw(code=other.room.code, person=guest())


def test_matches_of_other_games_have_no_offer() -> None:
    house_machines()
    assert room_view(room("menace").room)["draw_offer"] is None
