"""A computer player for tests that moves only when a test allows it."""

import threading
from typing import Any

from django.db import connection

from games.live.players import Automaton, Choice, LiveMatch, LiveSeat, Offer, SeatPlayer
from tests.waiting import HANG_S


class SlowPlayer(Automaton, SeatPlayer):
    """Plays the first legal move after the test has set ``may_move``, and records each call of ``choose``."""

    slug = "ponderer"
    name = "Ponderer"

    def __init__(self) -> None:
        self.seat_player = self
        self.may_move = threading.Event()
        self.plies_of_calls: list[int] = []
        self.held_connections: list[bool] = []
        self.raises_error = False

    def sit(self, live: LiveMatch, seat: LiveSeat, machine: str) -> None:
        seat.give(self, self.name)

    def offer(self, game: Any) -> Offer | None:
        return Offer(self.name, "Takes its time.")

    def is_slow(self, live: LiveMatch) -> bool:
        return True

    def choose(self, live: LiveMatch, position: Any) -> Choice:
        self.plies_of_calls.append(live.match.n_plies)
        self.held_connections.append(connection.in_atomic_block or connection.connection is not None)
        assert self.may_move.wait(HANG_S)
        if self.raises_error:
            raise RuntimeError("this thread is gone, as if its process had died")
        return Choice(live.game.legal_moves(position)[0])
