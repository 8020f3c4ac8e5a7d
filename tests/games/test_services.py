"""The services for moves: stored rows, refusals, and their codes."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from beadbox.rules.outcome import Side
from games import exceptions
from games.accounts.principal import Principal
from games.live.play import match_play_move, match_resign
from games.live.rooms import SeatResult, room_create, room_join, room_reset, seats_claim
from games.models import Match, Ply, Room, Seat
from tests import factories
from tests.factories import guest, play, room, room_view
from tests.waiting import HANG_S

pytestmark = pytest.mark.django_db

OTHER_GUEST = guest(2)


def match_of_friends() -> tuple[SeatResult, Principal, Principal]:
    """Return the seats of a match between two humans; crosses are to move."""
    seat = room("human")
    room_join(code=seat.room.code, person=OTHER_GUEST)
    return seat, guest(), OTHER_GUEST


def test_a_room_with_an_automated_opponent_begins_at_once() -> None:
    seat = room("random", side=Side.SECOND)
    match = Match.objects.get()
    assert match.status == "playing"
    assert match.n_plies == 1, "the automated player has crosses and has moved"
    assert [seat.player for seat in match.seats.order_by("side")] == ["random", "human"]
    assert seat.token


def test_only_the_hash_of_a_seat_token_is_stored() -> None:
    seat = room()
    seat_row = Seat.objects.get(player="human")
    assert seat.token not in (seat_row.token_sha256, seat_row.name)
    assert Principal(token=seat.token).holds(seat_row)
    assert not Principal(token=seat.token + "x").holds(seat_row)
    assert not Principal(token="").holds(seat_row)


def test_a_friend_joins_by_code_and_the_match_begins() -> None:
    seat = room("human")
    assert Match.objects.get().status == "waiting"
    with pytest.raises(exceptions.MatchWaitingError):
        play(seat, guest(), "5")
    joined = room_join(code=seat.room.code, person=OTHER_GUEST)
    assert (joined.side, Match.objects.get().status) == (Side.SECOND, "playing")
    second_join = room_join(code=seat.room.code, person=OTHER_GUEST)
    assert (second_join.side, second_join.token) == (Side.SECOND, ""), (
        "a player who joins again gets the same side and no new token"
    )
    with pytest.raises(exceptions.RoomFullError):
        room_join(code=seat.room.code, person=factories.stranger())


def test_moves_are_stored_with_their_positions() -> None:
    seat, crosses, noughts = match_of_friends()
    play(seat, crosses, "5")
    state = play(seat, noughts, "1")
    assert state["board"] == ["O", None, None, None, "X", None, None, None, None]
    assert state["turn"] == "X"
    assert list(Ply.objects.values_list("number", "side", "move", "position")) == [
        (0, 0, "5", "....X...."),
        (1, 1, "1", "O...X...."),
    ]


def test_rules_end_a_match_with_winner_and_reason() -> None:
    seat, crosses, noughts = match_of_friends()
    for move, player in zip("14253", (crosses, noughts, crosses, noughts, crosses), strict=True):
        state = play(seat, player, move)
    assert state["status"] == "finished"
    assert state["outcome"] == {"winner": "X", "termination": "three_in_a_row", "reason": "three in a row"}
    assert state["winning_cells"] == ["1", "2", "3"]
    assert (state["turn"], state["legal_moves"]) == (None, [])


def refused_calls() -> dict[str, tuple[Callable[[SeatResult], Any], type[exceptions.PlayError], str]]:
    move = match_play_move
    return {
        "out of turn": (
            lambda s: move(code=s.room.code, person=OTHER_GUEST, move="1"),
            exceptions.NotYourTurnError,
            "",
        ),
        "taken": (
            lambda s: move(code=s.room.code, person=guest(), move="5"),
            exceptions.MoveRefusedError,
            "illegal_move",
        ),
        "unknown": (
            lambda s: move(code=s.room.code, person=guest(), move="10"),
            exceptions.MoveRefusedError,
            "invalid_move",
        ),
        "stale": (lambda s: move(code=s.room.code, person=guest(), move="1", ply=0), exceptions.StalePlyError, ""),
        "ahead": (lambda s: move(code=s.room.code, person=guest(), move="1", ply=9), exceptions.StalePlyError, ""),
        "spectator": (lambda s: move(code=s.room.code, person=Principal(), move="1"), exceptions.NotAPlayerError, ""),
        "stranger": (
            lambda s: move(code=s.room.code, person=factories.stranger(), move="1"),
            exceptions.NotAPlayerError,
            "",
        ),
        "wrong token": (
            lambda s: move(code=s.room.code, person=Principal(token="guessed"), move="1"),
            exceptions.NotAPlayerError,
            "",
        ),
        "no room": (lambda s: move(code="zzzzzz", person=guest(), move="1"), exceptions.RoomNotFoundError, ""),
        "spectator resigns": (
            lambda s: match_resign(code=s.room.code, person=Principal()),
            exceptions.NotAPlayerError,
            "",
        ),
        "rematch too early": (
            lambda s: room_reset(code=s.room.code, person=guest()),
            exceptions.MatchNotFinishedError,
            "",
        ),
        "rematch by a stranger": (
            lambda s: room_reset(code=s.room.code, person=factories.stranger()),
            exceptions.NotAPlayerError,
            "",
        ),
    }


@pytest.mark.parametrize("case", refused_calls())
def test_a_refusal_has_its_code_and_changes_nothing(case: str) -> None:
    seat, crosses, noughts = match_of_friends()
    play(seat, crosses, "5")
    play(seat, noughts, "9")
    before = room_view(Room.objects.get())
    call, error, code = refused_calls()[case]
    with pytest.raises(error) as refused, transaction.atomic():
        call(seat)
    assert refused.value.code == (code or error.code)
    assert room_view(Room.objects.get()) == before
    # A valid move still succeeds, so the refusal is due only to the tested condition.
    assert play(seat, crosses, "1")["ply"] == 3


def test_a_finished_match_refuses_moves_and_resignations() -> None:
    seat, crosses, _ = match_of_friends()
    match_resign(code=seat.room.code, person=crosses)
    with pytest.raises(exceptions.MatchFinishedError):
        play(seat, crosses, "5")
    with pytest.raises(exceptions.MatchFinishedError):
        match_resign(code=seat.room.code, person=crosses)
    match = Match.objects.get()
    assert (match.winner, match.termination, match.n_plies) == (1, "resignation", 0)


def test_rematch_swaps_sides_and_keeps_seats_and_tokens() -> None:
    seat, crosses, noughts = match_of_friends()
    match_resign(code=seat.room.code, person=crosses)
    state = room_reset(code=seat.room.code, person=noughts, swap=True)
    assert (state["number"], state["status"], state["ply"]) == (2, "playing", 0)
    with pytest.raises(exceptions.NotYourTurnError):
        play(seat, crosses, "5")
    play(seat, noughts, "5")
    assert play(seat, Principal(token=seat.token), "1")["ply"] == 2


def test_unknown_opponent_or_game_is_refused_by_field() -> None:
    with pytest.raises(exceptions.MalformedError, match=r"^opponent: 'nobody'"):
        room("nobody")
    with pytest.raises(exceptions.MalformedError, match=r"^game: 'chess'"):
        room_create(person=guest(), game="chess", opponent="human")
    assert not Room.objects.exists()


@pytest.mark.parametrize(("level", "player"), [("easy", "random"), ("medium", "win-block"), ("hard", "perfect")])
def test_level_names_select_opponents(level: str, player: str) -> None:
    room(level)
    assert Seat.objects.filter(player=player).exists()


def test_the_seed_determines_the_match() -> None:
    def moves_played(seed: int) -> list[str]:
        seat = room("random")
        Match.objects.filter(room=seat.room).update(seed=seed)
        state = factories.play_out(seat.room.code, guest())
        return [move["move"] for move in state["moves"]]

    games = {tuple(moves_played(7)) for _ in range(5)}
    assert len(games) == 1
    assert len({tuple(moves_played(seed)) for seed in range(5)}) > 1


def test_state_takes_a_fixed_number_of_queries(django_assert_num_queries: Any) -> None:
    factories.house_machines()
    short, long = room("menace"), room("menace")
    state = factories.play_out(long.room.code, guest())
    assert state["ply"] > 4
    state = play(short, guest(), "5")
    with django_assert_num_queries(4):
        room_view(short.room)
    with django_assert_num_queries(5):
        room_view(long.room)  # the ledger is read too, since the match is finished


class TestDatabaseConstraints:
    def test_a_room_has_one_open_match(self) -> None:
        seat = room("human")
        with pytest.raises(IntegrityError, match="match_one_open"):
            Match.objects.create(room=seat.room, number=2, status="playing", position="." * 9)

    def test_ply_numbers_are_unique(self) -> None:
        seat, crosses, _ = match_of_friends()
        play(seat, crosses, "5")
        with pytest.raises(IntegrityError, match="ply_once"):
            Ply.objects.create(match=Match.objects.get(), number=0, side=0, move="1", position="X........")

    def test_a_side_has_one_seat(self) -> None:
        room("human")
        with pytest.raises(IntegrityError, match="seat_side_once"):
            Seat.objects.create(match=Match.objects.get(), side=0)

    def test_a_finished_match_has_a_reason(self) -> None:
        room("human")
        with pytest.raises(IntegrityError, match="match_finished_says_why"):
            Match.objects.update(status="finished", finished_at=timezone.now())

    def test_an_open_match_has_no_winner(self) -> None:
        room("human")
        with pytest.raises(IntegrityError, match="match_finished_says_why"):
            Match.objects.update(winner=1)

    def test_an_automated_seat_has_no_person(self) -> None:
        room("perfect")
        with pytest.raises(IntegrityError, match="seat_automated_has_no_person"):
            Seat.objects.filter(player="perfect").update(guest=guest().guest)


def test_claim_moves_only_the_guests_own_seats() -> None:
    seat, _, _ = match_of_friends()
    account = factories.user()
    seats_claim(user_id=account.pk, name="owner", guest=guest().guest)  # type: ignore[arg-type]
    assert Seat.objects.filter(user=account).count() == 1
    crosses, noughts = Seat.objects.order_by("side")
    assert (crosses.user, crosses.guest, crosses.name) == (account, None, "owner")
    assert (noughts.user, noughts.guest) == (None, OTHER_GUEST.guest)
    assert play(seat, factories.person(account), "5")["ply"] == 1


@pytest.mark.django_db(transaction=True)
def test_two_equal_concurrent_moves_are_played_once() -> None:
    seat, crosses, _ = match_of_friends()
    codes: list[str] = []
    start = threading.Barrier(8)

    def send_move() -> None:
        start.wait(HANG_S)
        try:
            match_play_move(code=seat.room.code, person=crosses, move="5", ply=0)
            codes.append("played")
        except exceptions.PlayError as error:
            codes.append(error.code)
        finally:
            connection.close()

    threads = [threading.Thread(target=send_move) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(codes) == ["played"] + ["stale_ply"] * 7
    assert Ply.objects.count() == 1
