"""Levels of live play that judge by a learnt value: what they saw, and what they know.

The value is the file of a machine that comes with the program, so what is told here is what such a machine would tell.
Nothing is stored: what a level plays follows from the position, and from the random source of the ply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from django.urls import reverse

from beadbox.engines.registry import engine_of
from beadbox.exchange.document import Wanted
from beadbox.exchange.registry import machine_read
from beadbox.learners.value_learner.learner import Thought as Scores
from beadbox.learners.value_learner.learner import ValueLearner
from beadbox.rules.game import Game
from beadbox.rules.registry import game_get
from games.live.players import LiveMatch
from games.live.states import Insight, PartsThought
from learning.kinds.base import LevelMove, Page
from learning.kinds.value_learner import explanation, files
from learning.kinds.value_learner.live import position_before
from learning.kinds.value_learner.page import laid_out


def learnt(game: Game[Any, Any], depth: int = 1) -> ValueLearner | None:
    """What the levels of a game play by, as a machine that looks so far ahead; ``None`` where they learnt nothing."""
    engine = engine_of(game)
    file = None if engine is None else engine.learnt_file(game)
    if file is None:
        return None
    data = _read(file)
    rule = replace(data.rule, play_depth=depth)
    return ValueLearner(game, rule, data.weights, data.n_learnt, data.average, learns=False)


@cache
def _read(file: Path) -> files.WeightsData:
    data = machine_read(file.read_bytes(), Wanted())
    assert isinstance(data, files.WeightsData), "what levels play by is a learnt value"
    return data


def insight(match: LiveMatch, moves: Sequence[LevelMove]) -> Insight | None:
    """What levels saw in their last moves."""
    thoughts = [thought for move in moves if (thought := _thought(match, move)) is not None]
    if not thoughts:
        return None
    return {
        "role": max(thoughts, key=lambda one: one["ply"])["role"],
        "machine": None,
        "box": None,
        "beads_before": None,
        "slot": None,
        "draws": [],
        "lesson": None,
        "lessons": [],
        "changes": [],
        "parts": {"thoughts": thoughts, "changes": []},
    }


def _thought(match: LiveMatch, move: LevelMove) -> PartsThought | None:
    """What a level saw in a move: the boards after all of its moves. Nobody waits for a deeper search once more."""
    game, depth = match.game, move.level.depth
    machine = learnt(game, depth)
    if machine is None:
        return None
    position = position_before(match, move.ply)
    look = machine.valuer.look(game, position, machine.player._replace(depth=1), whole=True)
    chosen = look.moves.index(game.parse_move(match.plies[move.ply].move))
    deep = look.deep if depth == 1 else (None,) * len(look.moves)
    scores = Scores(chosen, look.near, deep, depth)
    return explanation.thought(move.seat, move.ply, machine, position, scores, _url(game), anything=move.anything)


def page(game: Game[Any, Any]) -> Page | None:
    """The page of what the levels of a game have learnt."""
    machine, engine = learnt(game), engine_of(game)
    if machine is None or engine is None:
        return None
    context = {
        "levels": [level for level, _ in engine.ladder(game) if level.learnt],
        "elsewhere": [(other, _url(other)) for other in map(game_get, engine.modes.values()) if other is not game],
        "n_learnt": machine.n_learnt,
        "n_weights": len(machine.weights),
        **laid_out(machine, machine.played),
    }
    return Page("learning/learnt.html", context)


def _url(game: Game[Any, Any]) -> str:
    return reverse("learnt", args=[game.slug])
