"""The presets of machines with boxes: historical rules with their names, summaries and sources.

A public program that differs from its own description has two presets: the documented rule and the rule as shipped.
"""

from dataclasses import replace

from beadbox.learners.boxes.rule import (
    BoxRule,
    BoxSet,
    EmptyOpening,
    FinalLoss,
    FinalWin,
    InitialBy,
    OpenBoxes,
    RepeatedVisits,
    WhenEmpty,
)
from beadbox.learners.preset import Preset
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side

_MATCHBOX_AI = "matchbox-ai, a TypeScript engine"


_GARDNER = BoxRule(
    initial=(1,),
    win=0,
    draw=0,
    loss=0,
    final_loss=FinalLoss.REMOVE,
    only_last=True,
    punish_previous_on_resign=True,
    box_set=BoxSet.ALL,
)


_HEXAPAWN_RL = BoxRule(
    initial=(1,),
    win=3,
    draw=0,
    loss=-1,
    final_win=FinalWin.SOLE,
    final_loss=FinalLoss.REMOVE,
    floor=1,
    cap=100,
    punish_previous_on_resign=True,
    merge_symmetric_moves=False,
    box_set=BoxSet.ALL,
    open_boxes=OpenBoxes.WHEN_MET,
)


PRESETS: dict[str, Preset[BoxRule]] = {
    preset.slug: preset
    for preset in (
        Preset(
            "michie-1961",
            "Michie 1961",
            "Four beads of a colour in the first box, then three, two, one. An empty box resigns.",
            "D. Michie, Trial and error (1961); Experiments on the mechanization of game-learning (1963)",
            BoxRule(),
        ),
        Preset(
            "michie-refill",
            "Michie with refill",
            "Michie's beads, but an empty box is filled again as it was at the start.",
            "D. Michie (1961, 1963); the strongest variant for the second player by our measurement",
            BoxRule(when_empty=WhenEmpty.REFILL),
        ),
        Preset(
            "circles",
            "Round in circles",
            "A win adds one bead and a loss takes one. Only the last opening of a box in a game counts. "
            "An empty box is filled again.",
            "our measurement of 26 rules, in six games in which a board can return",
            BoxRule(win=1, draw=0, loss=-1, when_empty=WhenEmpty.REFILL, repeated_visits=RepeatedVisits.LAST),
            is_for_recurring_boards=True,
        ),
        Preset(
            "scroggs",
            "Scroggs",
            "Eight beads of a colour in the first box, then four, two, one. It can lose all its beads for good.",
            "M. Scroggs, mscroggs.co.uk/menace",
            BoxRule(initial=(8, 4, 2, 1), empty_opening=EmptyOpening.STOP),
        ),
        Preset(
            "matchbox-ai",
            "Matchbox AI",
            "Eight beads early, four in the middle, two late. At an empty box it moves at random.",
            f"{_MATCHBOX_AI}, as documented",
            BoxRule(
                initial=(8, 8, 8, 4, 4, 4, 2, 2, 2),
                initial_by=InitialBy.PLY,
                when_empty=WhenEmpty.UNIFORM,
                merge_symmetric_moves=False,
                box_set=BoxSet.ALL,
            ),
        ),
        Preset(
            "matchbox-ai-as-shipped",
            "Matchbox AI, as shipped",
            "Four to one beads, by the number of pieces on the board. At an empty box it moves at random.",
            f"{_MATCHBOX_AI}, its source (with correct move mapping)",
            BoxRule(
                initial=(4, 4, 3, 3, 2, 2, 1, 1, 1),
                initial_by=InitialBy.PLY,
                when_empty=WhenEmpty.UNIFORM,
                merge_symmetric_moves=False,
                box_set=BoxSet.ALL,
            ),
        ),
        Preset(
            "go-server",
            "Go server",
            "Eight beads for a corner, four for an edge, two for the centre, and never fewer than one.",
            "A Go room server for MENACE",
            BoxRule(
                initial=(8, 4, 8, 4, 2, 4, 8, 4, 8),
                initial_by=InitialBy.CELL,
                floor=1,
                merge_symmetric_moves=False,
                box_set=BoxSet.ALL,
            ),
        ),
        Preset(
            "apl-notebook",
            "APL notebook",
            "Twenty beads everywhere, and three more or fewer after a game. Rotated boards have boxes of their own.",
            "An APL notebook; its table has 6,046 rows, every board with #X − #O in {0, 1}",
            BoxRule(
                initial=(20,),
                loss=-3,
                when_empty=WhenEmpty.UNIFORM,
                merge_symmetric_moves=False,
                reduce_symmetry=False,
                box_set=BoxSet.ALL,
            ),
        ),
        Preset(
            "gardner-her",
            "Gardner's HER",
            "One bead of each colour. A move that loses a game is removed for good. No beads are ever added.",
            "M. Gardner, Mathematical games, Scientific American (March 1962)",
            _GARDNER,
        ),
        Preset(
            "gardner-her-reward",
            "Gardner's HER with reward",
            "As Gardner's HER, and after a win one more bead for every move played.",
            "M. Gardner (1962), his variant that rewards as well",
            replace(_GARDNER, win=1, only_last=False),
        ),
        Preset(
            "hexapawn-rl",
            "HexapawnRL",
            "A winning move becomes the only one in its box. A losing move is removed. Other moves gain or lose beads.",
            "HexapawnRL 1.0.0, as documented",
            _HEXAPAWN_RL,
        ),
        Preset(
            "hexapawn-rl-as-shipped",
            "HexapawnRL, as shipped",
            "A winning move becomes the only one in its box. A losing move is removed. It learns nothing else.",
            "HexapawnRL 1.0.0, its source: what it adds to earlier moves is never stored",
            replace(_HEXAPAWN_RL, win=0, loss=0, empty_opening=EmptyOpening.STOP),
        ),
    )
}


DEFAULT_PRESETS = {Side.FIRST: "michie-1961", Side.SECOND: "michie-refill"}
"""The usual preset of a first player and of a second player, in games that always end."""
CIRCLES = "circles"
"""The preset of both players in games in which a board can return: docs/learning.md has the measurement."""


def default_preset(game: AnyGame, side: Side) -> str:
    """Return the slug of the usual preset of a new machine."""
    return DEFAULT_PRESETS[side] if game.always_ends else CIRCLES


def presets_for(game: AnyGame) -> dict[str, Preset[BoxRule]]:
    """Return the presets that are offered in a game, by slug."""
    return {
        slug: preset for slug, preset in PRESETS.items() if not (preset.is_for_recurring_boards and game.always_ends)
    }
