"""In the picture of a box no two beads overlap, in every game and position."""

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

GAMES_WITH_BOXES = {slug: game for slug, game in GAMES.items() if game.supports_boxes and game.listable}


def boards_of(game: AnyGame) -> list[dict[str, Any]]:
    """Return the boards that boxes show: the pieces of each box, and the cells and beads of its moves."""
    boards = []
    for position in graph_compile(game, reduced=True).positions:
        beads = {(game.path(move), game.presentation.bead(position, move)) for move in game.legal_moves(position)}
        moves = [{"cells": path, "colour": bead.colour, "mark": bead.mark} for path, bead in sorted(beads, key=repr)]
        boards.append({"pieces": game.pieces(position), "moves": moves})
    return boards


@pytest.mark.parametrize("slug", GAMES_WITH_BOXES)
def test_no_bead_lies_on_another(slug: str) -> None:
    game = GAMES_WITH_BOXES[slug]
    boards = boards_of(game)
    process = subprocess.run(
        [str(Path(sys.executable).with_name("node")), str(ROOT / "tests" / "js" / "bead_places_run.js")],
        input=json.dumps({"layout": game_view(game)["layout"], "boards": boards}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    for board, circles in zip(boards, json.loads(process.stdout), strict=True):
        assert len(circles) == len(board["moves"])
        for (x, y, radius), (other_x, other_y, other_radius) in combinations(circles, 2):
            assert math.hypot(x - other_x, y - other_y) > radius + other_radius, board
