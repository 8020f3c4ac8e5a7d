"""The graph of a game for the page *Watch it learn*: all that the browser needs to train, measure and draw.

Training needs only the position to which each move leads, not the rules of the game. So a browser with this graph can
train any machine of the game: either side, every set of boxes, every teacher (static/js/learn_kernel.js).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.registry import UNIFORM
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition, Symmetry
from beadbox.rules.outcome import Side
from beadbox.strength.graph import Graph, graph_compile

RANDOM_OPPONENT = "random"
"""Slug of the opponent that may play every legal move, so that the graph needs no list of its replies."""

Step = tuple[Any, tuple[tuple[int, str | None], ...]]
"""A move, and the new contents of the cells that it changes."""


@lru_cache(maxsize=32)
def graph_view(game: AnyGame, *, reduced: bool) -> dict[str, Any]:
    """Return a game's graph and the drawing of its edges as JSON (``docs/learn.md``). Cached: do not change it."""
    graph = graph_compile(game, reduced=reduced)
    symmetries = game.symmetries if reduced else game.symmetries[:1]
    steps: dict[Step, int] = {}
    beads: dict[tuple[int, str], int] = {}
    steps_of_edges, turns, slots, beads_of_edges = list[int](), list[int](), list[int](), list[int]()
    for position in graph.positions:
        move_classes = game.distinct_moves(position) if reduced else [(move,) for move in game.legal_moves(position)]
        slot_of = {move: at for at, members in enumerate(move_classes) for move in members}
        for move in game.legal_moves(position):
            after = game.apply(position, move)
            steps_of_edges.append(steps.setdefault(_step(game, position, move, after), len(steps)))
            turns.append(symmetries.index(game.placement(after)) if reduced else 0)
            slots.append(slot_of[move])
            bead_look = game.presentation.bead(position, move)
            beads_of_edges.append(beads.setdefault((bead_look.colour, bead_look.mark), len(beads)))
    for step in list(steps):
        for symmetry in symmetries:
            steps.setdefault(_turn_step(game, step, symmetry), len(steps))
    texts = [game.encode(position) for position in graph.positions]
    n_cells = len(game.presentation.layout.cells)
    pieces: dict[str | None, str] = {}
    for position, text in zip(graph.positions, texts, strict=True):
        pieces.update(zip(game.pieces(position), text[:n_cells], strict=True))
    suffixes = {int(side): text[n_cells:] for side, text in zip(graph.side, texts, strict=True)}
    for side, text in zip(graph.side.tolist(), texts, strict=True):
        assert text[n_cells:] == suffixes[side], "the text of a position is more than its board and side"
    start = game.initial_position()
    return {
        "boards": [text[:n_cells] for text in texts],
        "suffixes": [suffixes.get(side, "") for side in Side],
        "pieces": {text: piece for piece, text in pieces.items()},
        "start": "".join(pieces[piece] for piece in game.pieces(start)),
        "start_turn": symmetries.index(game.placement(start)) if reduced else 0,
        "side": _pack(graph.side.tolist()),
        "ply": _pack(game.ply(position) for position in graph.positions),
        "n_moves": _pack(np.diff(graph.indptr).tolist()),
        "end": _pack(max(-after, 0) for after in graph.successor.tolist()),
        "slot": _pack(slots),
        "step": _pack(steps_of_edges),
        "turn": _pack(turns),
        "bead": _pack(beads_of_edges),
        "beads": list(beads),
        "steps": [
            {
                "move": game.format_move(move),
                "name": game.presentation.describe_move(move),
                "cells": list(game.path(move)),
                "changes": [[cell, pieces[piece]] for cell, piece in changes],
            }
            for move, changes in steps
        ],
        "turns": [
            {"cells": symmetry.cells, "steps": [steps[_turn_step(game, step, symmetry)] for step in steps]}
            for symmetry in symmetries
        ],
        **({} if game.always_ends else {"limit": game.ply_limit, "endless": -graph.endless}),
        "replies": {slug: _pack(_replies(graph, step)) for slug, step in UNIFORM.items() if slug != RANDOM_OPPONENT},
    }


def _pack(numbers: Iterable[int]) -> str:
    """Encode small whole numbers as text, one character each, "0" for 0: half the size of a JSON list."""
    return "".join(chr(ord("0") + number) for number in numbers)


def _step(game: AnyGame, position: AnyPosition, move: AnyMove, after: Any) -> Step:
    pairs = zip(game.pieces(position), game.pieces(after), strict=True)
    return move, tuple((cell, new) for cell, (before, new) in enumerate(pairs) if before != new)


def _turn_step(game: AnyGame, step: Step, symmetry: Symmetry) -> Step:
    move, changes = step
    turned = sorted(((symmetry.cells[cell], piece) for cell, piece in changes), key=lambda change: change[0])
    return game.transform_move(move, symmetry), tuple(turned)


def _replies(graph: Graph, opponent: UniformOpponent) -> list[int]:
    """Return for each edge 1 if the opponent may play it, with either side to move, else 0."""
    is_reply = list[int]()
    for position in graph.positions:
        replies = opponent.replies(graph.game, position)
        is_reply += [int(move in replies) for move in graph.game.legal_moves(position)]
    return is_reply
