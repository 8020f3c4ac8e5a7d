"""In the picture of a box each bead has a place of its own, in every game and position."""

import json
import math
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from beadbox.rules.game import AnyGame
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import graph_compile
from games.live.game_view import game_view
from tests.house import ROOT

BOXED = {slug: game for slug, game in GAMES.items() if game.takes_boxes and game.listable}


def boards_of(game: AnyGame) -> list[dict[str, Any]]:
    """Return the pieces of each box and the different beads of its moves, which a label shows on all their cells."""
    boards = []
    for position in graph_compile(game, reduced=True).positions:
        looks = {(game.path(move), game.look.bead(position, move)) for move in game.legal_moves(position)}
        moves = [{"cells": path, "colour": look.colour, "mark": look.mark} for path, look in sorted(looks, key=repr)]
        boards.append({"pieces": game.pieces(position), "moves": moves})
    return boards


@pytest.mark.parametrize("slug", BOXED)
def test_no_bead_lies_on_another(slug: str) -> None:
    game = BOXED[slug]
    boards = boards_of(game)
    run = subprocess.run(
        [str(Path(sys.executable).with_name("node")), str(ROOT / "tests" / "js" / "bead_places_run.js")],
        input=json.dumps({"layout": game_view(game)["layout"], "boards": boards}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for board, beads in zip(boards, json.loads(run.stdout), strict=True):
        assert len(beads) == len(board["moves"])
        for (x, y, r), (other_x, other_y, other_r) in combinations(beads, 2):
            assert math.hypot(x - other_x, y - other_y) > r + other_r, board
