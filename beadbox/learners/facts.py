"""The facts of a game: numbers that follow from its rules, and the boxes and beads of its usual machines.

``manage.py record_facts`` computes them and writes ``facts.json`` in the folder of the game, so no page solves a game.
The conformance tests compute them again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypedDict, cast

from beadbox.learners.boxes.presets import PRESETS, default_preset
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.built_in import HOUSE_OF
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.facts import SIDE_NAMES, GameFacts, game_facts

TESTS = "tests/beadbox/test_facts.py"
PROOFS = {
    "positions": f"{TESTS}::test_positions_and_classes",
    "classes": f"{TESTS}::test_positions_and_classes",
    "boxes": f"{TESTS}::test_boxes_and_beads",
    "perfect_play": f"{TESTS}::test_perfect_play_and_first_moves",
    "first_moves": f"{TESTS}::test_perfect_play_and_first_moves",
    "random_play": f"{TESTS}::test_length_of_random_play",
    "sampled_play": f"{TESTS}::test_record_is_what_the_library_computes",
    "winners": f"{TESTS}::test_winners_by_size",
}
"""The test that computes each fact again, by a second program."""


class BoxFacts(TypedDict):
    """The boxes of a side's usual machine."""

    preset: str
    boxes: int
    beads: int


class SizeWinner(TypedDict):
    """The winner under perfect play on a board of this size."""

    columns: int
    rows: int
    winner: str


class Facts(GameFacts):
    """The facts of a game, as they are recorded."""

    boxes: dict[str, BoxFacts]
    """By side, "first" and "second"; empty if the boxes cannot be listed."""
    winners: list[SizeWinner]
    """Winners on boards of the family, by rows and then columns; empty for variants and most families."""


def facts_make(game: AnyGame) -> Facts:
    """Compute the facts of a game; this takes up to some seconds."""
    sizes = sorted(game.winners_by_size().items(), key=lambda one: one[0][::-1]) if game.slug == game.family else []
    return {
        **game_facts(game),
        "boxes": {SIDE_NAMES[side]: _boxes(game, side) for side in Side}
        if game.listable and game.supports_boxes
        else {},
        "winners": [
            {"columns": columns, "rows": rows, "winner": SIDE_NAMES[winner]} for (columns, rows), winner in sizes
        ],
    }


def usual_boxes(game: AnyGame, side: Side) -> str:
    """Return the slug of the usual preset with boxes for a side of a game.

    It is the preset of the built-in machine for this side, or else the default preset.
    """
    house = HOUSE_OF.get((game.family, side))
    return house.preset if house is not None and house.preset in PRESETS else default_preset(game, side)


def _boxes(game: AnyGame, side: Side) -> BoxFacts:
    preset = usual_boxes(game, side)
    table = boxes_compile(game, side, PRESETS[preset].rule)
    return {"preset": preset, "boxes": table.n_boxes, "beads": int(table.initial.sum())}


def facts_file(game: AnyGame) -> Path:
    """Return the file with the facts of all games in this game's folder."""
    return Path(str(sys.modules[type(game).__module__].__file__)).with_name("facts.json")


@cache
def facts_of(game: AnyGame) -> Facts:
    """Return the recorded facts of a game."""
    return _recorded(facts_file(game))[game.slug]


def facts_record(games: Iterable[AnyGame]) -> None:
    """Compute the facts of games, and write them into the files of their folders."""
    for game in games:
        file = facts_file(game)
        facts = (_recorded(file) if file.exists() else {}) | {game.slug: facts_make(game)}
        file.write_text(json.dumps(facts, indent=1, sort_keys=True) + "\n")


def _recorded(file: Path) -> dict[str, Facts]:
    return cast("dict[str, Facts]", json.loads(file.read_bytes()))
