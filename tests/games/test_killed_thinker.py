"""A process is killed while its thread computes a move of a live match, and the match continues."""

import os
import signal
import sys
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from beadbox.rules.outcome import Side
from games.live import background_moves
from games.live.play import match_play_move
from games.live.rooms import room_create, room_join, room_state_get
from games.models import Match, Room, Seat
from menace_site.local import processes
from tests.conftest import environment
from tests.factories import guest
from tests.waiting import wait_until

COMPUTE_MOVE = """
import sys, django
django.setup()
from games.live import background_moves
from games.live.rooms import room_state_get
from tests.waiting import wait_until
room_state_get(code=sys.argv[1])
wait_until(background_moves.is_idle)
"""


def expire_deadline(match: Match) -> None:
    """Expire the deadline of the process that computes the answer."""
    past = timezone.now() - timedelta(seconds=1)
    assert Match.objects.filter(pk=match.pk).update(answer_by=past) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.soak
def test_match_continues_after_its_engine_process_is_killed() -> None:
    code = room_create(person=guest(), game="romgon", opponent="human", side=Side.FIRST).room.code
    room_join(code=code, person=guest(2))
    match_play_move(code=code, person=guest(), move="2-7>3-6", ply=0)
    # White's seat becomes a slow level whose move is due, so this process does not compute the move.
    Seat.objects.filter(side=Side.SECOND).update(player="master", guest=None, token_sha256="")
    match = Match.objects.get()
    expire_deadline(match)
    match.refresh_from_db()
    with transaction.atomic():
        Room.objects.select_for_update(no_key=True).get()  # the lock prevents the engine process from storing its move
        process = processes.spawn([sys.executable, "-W", "ignore", "-c", COMPUTE_MOVE, code], env=environment())
        matches = Match.objects.filter(answer_by=match.answer_by)
        assert wait_until(lambda: not matches.exists()), "the process has claimed the move"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    state = room_state_get(code=code)
    assert (state["ply"], state["turn"], state["thinking"]) == (1, "White", True)
    assert background_moves.is_idle(), "no other thread computes the move before the deadline"
    expire_deadline(match)
    room_state_get(code=code)
    assert wait_until(lambda: room_state_get(code=code)["ply"] == 2)
    state = match_play_move(code=code, person=guest(), move="4-7>4-6", ply=2)
    assert (state["ply"], state["thinking"]) == (3, True)
    assert wait_until(lambda: room_state_get(code=code)["ply"] == 4)
    assert wait_until(background_moves.is_idle)
