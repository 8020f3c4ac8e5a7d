"""Live play without rows of its own for moves: the machine learns from the moves of the match."""

from __future__ import annotations

from beadbox.rules.outcome import Result, Side, Tally
from games.live.players import Choice
from learning.kinds.live import KindLive
from learning.models import LessonKind
from learning.storage.lessons import Cause
from tests.learning.kinds.win_counter.learner import key_of
from tests.learning.kinds.win_counter.memory import MEMORY


class WinCounterLive(KindLive):
    either_side = True

    def choose(self, live, seat, machine, position, rng):
        return Choice(MEMORY.load(machine).choose(position, rng)[0])

    def follow(self, live, seat, machine, position, move):
        return None

    def remember(self, seat, machine, records):
        return None

    def learn(self, machine, ended):
        for one in ended:
            memory, tally = MEMORY.load(machine), Tally()
            for seat in one.seats:
                result = Result.of(one.outcome, Side(seat.row.side))
                memory.teach(keys_played(one.live, Side(seat.row.side)), result)
                tally.add(result)
            MEMORY.lesson_give(machine, memory, LessonKind.MATCH, Cause(tally, match_id=one.live.match.pk))
        return ()

    def frozen_policy(self, machine, position):
        return MEMORY.load(machine)


def keys_played(live, side):
    """The keys of one side's moves in a match."""
    game = live.game
    position, keys = game.initial_position(), []
    for ply in live.plies:
        move = game.parse_move(ply.move)
        if game.side_to_move(position) == side:
            keys.append(key_of(game, position, move))
        position = game.apply(position, move)
    return keys
