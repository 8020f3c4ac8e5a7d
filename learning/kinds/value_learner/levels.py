"""Levels of live play that use a learnt value: the machine that plays for a level, and its thoughts.

The machine is read from a file that comes with the program. Its thoughts are not stored. A level's move is determined
by the position and the random source of the ply, so the thought can be computed again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from django.urls import reverse

from beadbox.engines.registry import engine_of
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.formats import machine_read
from beadbox.learners.value_learner.document import WeightsData
from beadbox.learners.value_learner.learner import Thought as Scores
from beadbox.learners.value_learner.learner import ValueLearner
from beadbox.rules.game import AnyGame, AnyPosition
from games.live.players import LiveMatch
from games.live.states import PartsThought
from learning.kinds.live import LevelMove
from learning.kinds.value_learner import explanation


def level_machine(game: AnyGame, depth: int = 1) -> ValueLearner | None:
    """Return the machine that plays for a game's levels with this search depth; ``None`` if no level has one."""
    engine = engine_of(game)
    file = None if engine is None else engine.learnt_file(game)
    if file is None:
        return None
    data = _read(file)
    rule = replace(data.rule, play_depth=depth)
    return ValueLearner(game, rule, data.weights, data.n_learnt, data.average, learns=False)


@cache
def _read(file: Path) -> WeightsData:
    data = machine_read(file.read_bytes(), ImportOptions())
    assert isinstance(data, WeightsData), "levels play by a learnt value"
    return data


def position_before(live: LiveMatch, ply: int) -> AnyPosition:
    """Return the position in which a ply of a match was played."""
    game = live.game
    return game.decode(live.plies[ply - 1].position) if ply else game.initial_position()


def level_thought(live: LiveMatch, move: LevelMove) -> PartsThought | None:
    """Return a level's thought on a move, with the values of the boards after each legal move.

    A search of more than one move is not repeated, so the thought has no results of a deeper search.
    """
    game, depth = live.game, move.level.depth
    machine = level_machine(game, depth)
    if machine is None:
        return None
    position = position_before(live, move.ply)
    search = machine.valuer.search(game, position, machine.player._replace(depth=1), whole=True)
    chosen = search.moves.index(game.parse_move(live.plies[move.ply].move))
    deep = search.deep if depth == 1 else (None,) * len(search.moves)
    scores = Scores(chosen, search.near, deep, depth)
    return explanation.thought(move.row, move.ply, machine, position, scores, level_url(game), anything=move.is_random)


def level_url(game: AnyGame) -> str:
    return reverse("learnt", args=[game.slug])
