"""Players that compute for seconds: no request waits for them, and each of their moves is played exactly once."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from channels.db import database_sync_to_async as in_db
from django.conf import settings
from django.db import connection
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.live import background_moves
from games.live.play import match_play_move, match_resign, match_step
from games.live.players import PLAYERS
from games.live.rooms import SeatResult, room_create, room_enter, room_reset, room_state_get
from games.models import Match, Ply
from tests.factories import NC, guest, play_out, room
from tests.ponderer import SlowPlayer
from tests.sockets import Socket
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def slow_player() -> Iterator[SlowPlayer]:
    player = SlowPlayer()
    PLAYERS[player.slug] = player
    yield player
    player.may_move.set()
    # A thread that still computes would use a database that is being emptied.
    assert wait_until(background_moves.is_idle)
    del PLAYERS[player.slug]


def open_slow_room(side: Side = Side.FIRST, **options: Any) -> SeatResult:
    return room("ponderer", side=side, **options)


def state_of(seat: SeatResult) -> dict[str, Any]:
    return room_state_get(code=seat.room.code)


def assert_soon(condition: Callable[[], bool]) -> None:
    assert wait_until(condition)


def expire_deadline(seat: SeatResult) -> None:
    """Expire the deadline of the process that computes the answer."""
    past = timezone.now() - timedelta(seconds=1)
    assert Match.objects.filter(room=seat.room, answer_by__isnull=False).update(answer_by=past) == 1


def test_move_is_stored_at_once_and_the_answer_later(slow_player: SlowPlayer) -> None:
    seat = open_slow_room()
    state = match_play_move(code=seat.room.code, person=guest(), move="5", ply=0)
    assert (state["ply"], state["turn"], state["thinking"], state["status"]) == (1, "O", True, "playing")
    assert_soon(lambda: slow_player.plies_of_calls == [1])
    assert slow_player.held_connections == [False], "a player holds no connection while it thinks"
    assert state_of(seat)["position"] == "....X...."
    slow_player.may_move.set()
    assert_soon(lambda: state_of(seat)["ply"] == 2)
    state = state_of(seat)
    assert (state["position"], state["turn"], state["thinking"]) == ("O...X....", "X", False)
    assert Match.objects.get().answer_by is None


def test_whole_matches_on_either_side_are_played_like_any_other(slow_player: SlowPlayer) -> None:
    slow_player.may_move.set()
    for side in Side:
        seat = open_slow_room(side)
        state = state_of(seat)
        while state["status"] == "playing":
            if state["turn"] != state["seats"][side]["role"]:
                assert_soon(lambda seat=seat: not state_of(seat)["thinking"])
            else:
                move = state["legal_moves"][0]
                match_play_move(code=seat.room.code, person=guest(), move=move, ply=state["ply"])
            state = state_of(seat)
        assert state["outcome"]["termination"] in ("three_in_a_row", "full_board")
        assert [move["ply"] for move in state["moves"]] == list(range(state["ply"]))


async def test_other_matches_continue_during_a_slow_move(slow_player: SlowPlayer) -> None:
    """The slow player's move reaches the socket as soon as it is stored."""
    seat, others = await in_db(open_slow_room)(), [await in_db(room)() for _ in range(8)]
    async with Socket(seat.room.code, seat.token) as socket:
        await socket.expect("joined")
        await socket.frame("move", {"move": "5", "ply": 0})
        assert (await socket.expect("state"))["thinking"] is True
        for other in others:  # more matches than the pool has connections
            assert (await in_db(play_out)(other.room.code, guest()))["status"] == "finished"
        await socket.frame("move", {"move": "1", "ply": 1})
        assert (await socket.expect("error"))["code"] == "not_your_turn"
        slow_player.may_move.set()
        state = await socket.expect("state")
        assert (state["ply"], state["thinking"]) == (2, False)


def test_an_overdue_move_is_computed_again_and_played_once(slow_player: SlowPlayer) -> None:
    slow_player.raises_error = True
    seat = open_slow_room()
    match_play_move(code=seat.room.code, person=guest(), move="5", ply=0)
    assert_soon(lambda: slow_player.plies_of_calls == [1])
    slow_player.may_move.set()
    assert_soon(background_moves.is_idle)
    assert (state_of(seat)["ply"], state_of(seat)["thinking"]) == (1, True), (
        "the deadline of the first thread is not over"
    )
    assert slow_player.plies_of_calls == [1]
    slow_player.raises_error = False
    expire_deadline(seat)
    room_enter(code=seat.room.code, person=guest(2))  # any visitor of the room requests the move again
    assert_soon(lambda: state_of(seat)["ply"] == 2)
    assert slow_player.plies_of_calls == [1, 1]
    assert list(Ply.objects.values_list("number", flat=True)) == [0, 1]


def test_two_computations_of_a_move_play_it_once(slow_player: SlowPlayer, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[Callable[[], None]] = []
    monkeypatch.setattr(background_moves, "queue_move", lambda job, _: jobs.append(job))
    seat = open_slow_room()
    match_play_move(code=seat.room.code, person=guest(), move="5", ply=0)
    expire_deadline(seat)
    state_of(seat)
    state_of(seat)
    assert len(jobs) == 3

    def compute_late() -> None:
        jobs[1]()
        connection.close()

    late_thread = threading.Thread(target=compute_late)  # takes the job and computes slowly
    late_thread.start()
    assert_soon(lambda: slow_player.plies_of_calls == [1])
    jobs[0]()  # the first job, finished too late
    jobs[2]()
    assert slow_player.plies_of_calls == [1], "only the thread that claims the move computes it"
    expire_deadline(seat)
    state_of(seat)
    slow_player.may_move.set()
    jobs[3]()
    late_thread.join()
    assert slow_player.plies_of_calls == [1, 1]
    assert state_of(seat)["ply"] == 2
    assert Ply.objects.count() == 2


def test_a_move_requested_before_a_clock_reset_is_repeated(
    slow_player: SlowPlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Callable[[], None]] = []
    monkeypatch.setattr(background_moves, "queue_move", lambda job, _: jobs.append(job))
    seat = open_slow_room()
    match_play_move(code=seat.room.code, person=guest(), move="5", ply=0)
    state_of(seat)
    assert len(jobs) == 1
    Match.objects.filter(room=seat.room).update(answer_by=timezone.now() + timedelta(hours=1))
    state_of(seat)
    slow_player.may_move.set()
    jobs[1]()
    assert state_of(seat)["ply"] == 2


def test_a_match_resigned_during_a_slow_move_stays_resigned(slow_player: SlowPlayer) -> None:
    seat = open_slow_room()
    match_play_move(code=seat.room.code, person=guest(), move="5", ply=0)
    assert_soon(lambda: slow_player.plies_of_calls == [1])
    state = match_resign(code=seat.room.code, person=guest())
    assert (state["status"], state["thinking"]) == ("finished", False)
    room_reset(code=seat.room.code, person=guest())
    slow_player.may_move.set()
    assert_soon(background_moves.is_idle)
    assert Ply.objects.count() == 1
    assert (state_of(seat)["number"], state_of(seat)["ply"]) == (2, 0)


def test_a_slow_player_plays_exhibitions_ply_by_ply(slow_player: SlowPlayer) -> None:
    """Exhibitions stop after the requested number of plies."""
    seat = room_create(person=guest(), game=NC, first="ponderer", second="random")
    state = match_step(code=seat.room.code, person=guest(), ply=0, max_plies=4)
    assert (state["ply"], state["thinking"]) == (0, True)
    assert_soon(lambda: slow_player.plies_of_calls == [0])
    assert match_step(code=seat.room.code, person=guest(), max_plies=100)["version"] == state["version"]
    slow_player.may_move.set()
    assert_soon(lambda: state_of(seat)["ply"] == 4)
    assert state_of(seat)["thinking"] is False
    slow_player.may_move.clear()
    match_step(code=seat.room.code, person=guest(), ply=4, max_plies=50)
    assert_soon(lambda: slow_player.plies_of_calls == [0, 2, 4])
    slow_player.raises_error = True
    slow_player.may_move.set()
    assert_soon(background_moves.is_idle)
    slow_player.raises_error = False
    expire_deadline(seat)
    assert_soon(lambda: state_of(seat)["ply"] == 5)


def test_moves_beyond_the_queue_are_postponed(slow_player: SlowPlayer, caplog: pytest.LogCaptureFixture) -> None:
    guests = [guest(number) for number in range(1, settings.THINKERS + background_moves.MAX_WAITING_JOBS + 2)]
    rooms = [open_slow_room(person=one) for one in guests]
    for seat, one in zip(rooms, guests, strict=True):
        match_play_move(code=seat.room.code, person=one, move="5", ply=0)
    assert "put off" in caplog.text
    slow_player.may_move.set()
    assert_soon(background_moves.is_idle)
    assert Match.objects.filter(n_plies=2).count() == len(rooms) - 1
    last = Match.objects.get(n_plies=1).room
    Match.objects.filter(n_plies=1).update(answer_by=timezone.now() - timedelta(seconds=1))
    room_state_get(code=last.code)
    assert_soon(lambda: room_state_get(code=last.code)["ply"] == 2)


@pytest.mark.soak
def test_single_match_waits_for_one_move_of_busy_players(
    slow_player: SlowPlayer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Players take turns in the queue, so a player with 60 matches does not delay the others."""
    assert settings.THINKERS == 1
    monkeypatch.setattr(settings, "OPEN_ROOMS_PER_GUEST", 60)
    people = [replace(guest(), address="a")] * 60 + [replace(guest(2), address="a"), replace(guest(3), address="b")]
    rooms = [open_slow_room(person=one) for one in people]
    for seat, one in zip(rooms, people, strict=True):
        match_play_move(code=seat.room.code, person=one, move="5", ply=0)
    slow_player.may_move.set()
    assert_soon(background_moves.is_idle)
    rooms_in_order = Ply.objects.filter(number=1).order_by("pk").values_list("match__room", flat=True)
    first, *others, same_address, other_address = (seat.room.pk for seat in rooms)
    assert list(rooms_in_order) == [first, other_address, same_address, *others]


def turns_of(queue: background_moves.MoveQueue, count: int) -> list[str]:
    """Return the players of the next ``count`` jobs, in order. Each job appends its player to a list."""
    players: list[str] = []
    for _ in range(count):
        queue.get()(players)  # type: ignore[call-arg]
        queue.finish()
    return players


def test_addresses_take_turns_and_players_within_an_address() -> None:
    def put_job(player: str) -> bool:
        return queue.put((player[0], player), lambda players: players.append(player))  # type: ignore[misc,arg-type]

    queue = background_moves.MoveQueue(10)
    assert all(put_job(player) for player in ("a1", "a1", "a1", "a2", "b1", "b1"))
    assert turns_of(queue, 2) == ["a1", "b1"]
    assert all([put_job("c1"), put_job("c1"), put_job("a3"), put_job("b2")])
    assert turns_of(queue, 8) == ["a2", "c1", "b2", "a1", "c1", "b1", "a3", "a1"]
    assert queue.n_unfinished == 0
    # The player with the last turn waits for a player that returns later. In the end the queue forgets the last turn.
    assert all(put_job(player) for player in ("a1", "a1", "b1"))
    assert turns_of(queue, 3) == ["b1", "a1", "a1"]


def test_full_queue_drops_the_newest_of_the_busiest() -> None:
    def put_job(player: str, label: str) -> bool:
        return queue.put((player[0], player), lambda labels: labels.append(label))  # type: ignore[misc,arg-type]

    queue = background_moves.MoveQueue(4)
    assert all([put_job("a1", "a1 first"), put_job("b1", "b1"), put_job("a1", "a1 second"), put_job("a2", "a2")])
    assert not put_job("c1", "c1")
    assert not put_job("a1", "a1 third")
    assert queue.n_unfinished == 4
    assert sorted(turns_of(queue, 4)) == ["a1 first", "a2", "b1", "c1"]
