"""Live play without rows of its own for moves: the machine learns from the moves of the match."""

from __future__ import annotations

from beadbox.kernels.random_source import RandomSource
from beadbox.rules.outcome import Result, Side, Tally
from games.live.players import Choice
from learning.kinds.live import KindLive
from learning.models import LessonKind
from learning.storage.lessons import Cause
from tests.learning.kinds.win_counter.learner import key_of
from tests.learning.kinds.win_counter.memory import MEMORY


class WinCounterLive(KindLive):
    either_side = True

    def choose(self, live, position):
        rng = RandomSource(live.match.seed, live.match.n_plies)
        return Choice(MEMORY.load(self.machine).choose(position, rng)[0])

    def learn(self, ended):
        for one in ended:
            memory, tally = MEMORY.load(self.machine), Tally()
            for player in one.players:
                result = Result.of(one.outcome, Side(player.row.side))
                memory.teach(move_keys(one.live, Side(player.row.side)), result)
                tally.add(result)
            MEMORY.lesson_give(self.machine, memory, LessonKind.MATCH, Cause(tally, match_id=one.live.match.pk))
        return ()

    @staticmethod
    def frozen_policy(machine, position):
        return MEMORY.load(machine)


def move_keys(live, side):
    """Return the keys of one side's moves in a match."""
    game = live.game
    position, keys = game.initial_position(), []
    for ply in live.plies:
        move = game.parse_move(ply.move)
        if game.side_to_move(position) == side:
            keys.append(key_of(game, position, move))
        position = game.apply(position, move)
    return keys
