"""The rules that history gives: every preset with its name, its story and its source.

Where a public program differs from its own description, both stand here: the documented rule and the rule as shipped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from beadbox.learners.boxes.rule import (
    BoxRule,
    BoxSet,
    EmptyOpening,
    FinalLoss,
    FinalWin,
    InitialBy,
    OpenBoxes,
    WhenEmpty,
)
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.rule import Rule
from beadbox.learners.table_learner.rule import Method, TableRule
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side

RuleT = TypeVar("RuleT", bound=Rule, covariant=True)


@dataclass(frozen=True, slots=True)
class Preset(Generic[RuleT]):
    """A rule with a name, what it is in one sentence, and where it comes from."""

    slug: str
    name: str
    summary: str
    source: str
    rule: RuleT


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

Q_PRESETS: dict[str, Preset[QRule]] = {
    "romgon-q": Preset(
        "romgon-q",
        "Q-learning",
        "A value for every move it has tried. It tries random moves less and less often.",
        "C. Watkins, Learning from delayed rewards (1989); the constants of Romgon's rules",
        QRule(),
    ),
    "romgon-q-careful": Preset(
        "romgon-q-careful",
        "Q-learning, careful",
        "Q-learning with two checks before a move: it takes a win at once, and avoids losing by repetition.",
        "As Q-learning; the checks are ours, for Romgon's rules say nothing of them",
        QRule(take_wins=True, avoid_repetition=True),
    ),
    "romgon-q-curious": Preset(
        "romgon-q-curious",
        "Q-learning, curious",
        "Q-learning that starts with random moves. It plays seriously after about six hundred games.",
        "As Q-learning; the other end of exploring is ours",
        QRule(epsilon=1.0),
    ),
}
"""Those of machines that keep values, for games whose positions are too many for boxes."""

VALUE_PRESETS: dict[str, Preset[ValueRule]] = {
    "td-search": Preset(
        "td-search",
        "TD with search",
        "A weight for each feature of a board. It learns from its own search in games against itself.",
        "R. Sutton (1988); J. Veness and others, Bootstrapping from game tree search (2009); the constants are ours",
        ValueRule(),
    ),
    "td-search-flips": Preset(
        "td-search-flips",
        "TD with search, for flips",
        "A steadier TD with search. It plays by the mean of its weights and avoids going back and forth.",
        "As TD with search; what keeps it from drawing every other game where pieces flip is ours",
        ValueRule(trace=0.9, trace_cut=False, average_games=500.0, restlessness=0.05),
    ),
    "td-squares": Preset(
        "td-squares",
        "TD with search, squares alone",
        "TD with search that sees only the place of each piece.",
        "As TD with search; which features it does without is ours",
        ValueRule(features="squares-1"),
    ),
}
"""Those of machines that learn a value of positions."""

_TEXTBOOK = "R. Sutton and A. Barto, Reinforcement Learning: An Introduction, second edition (2018), sections"
_OUR_CONSTANTS = "the constants are ours"

TABLE_PRESETS: dict[str, Preset[TableRule]] = {
    preset.slug: preset
    for preset in (
        Preset(
            "td-boards",
            "TD(λ) of boards",
            "A value for every board after its move. Later boards correct it, and near boards count more.",
            f"{_TEXTBOOK} 6.8 and 12.1; {_OUR_CONSTANTS}",
            TableRule(trace_decay=0.7),
        ),
        Preset(
            "q-table",
            "Q-learning, from the book",
            "A value for every move. The best next move corrects it.",
            f"{_TEXTBOOK} 6.5; {_OUR_CONSTANTS}",
            TableRule(method=Method.Q_LEARNING),
        ),
        Preset(
            "sarsa-table",
            "Sarsa",
            "A value for every move. The next move that it played corrects it.",
            f"{_TEXTBOOK} 6.4; {_OUR_CONSTANTS}",
            TableRule(method=Method.SARSA),
        ),
        Preset(
            "monte-carlo-table",
            "Monte Carlo",
            "A value for every move: the mean result of the games with this move.",
            f"{_TEXTBOOK} 5.1 and 5.4, every visit; {_OUR_CONSTANTS}",
            TableRule(method=Method.MONTE_CARLO, step_by_visits=True),
        ),
    )
}
"""Those of machines with a table of values, for games whose boards can be listed."""


MATTER = frozenset(
    {
        *("michie-1961", "michie-refill", "gardner-her", "hexapawn-rl", "q-table"),
        *("romgon-q", "romgon-q-careful", "romgon-q-curious", "td-search", "td-search-flips"),
    }
)
"""Five for each game that differ in what they show, to choose from first."""

PRESETS_OF_KIND: dict[str, Mapping[str, Preset[Rule]]] = {BoxRule.kind: PRESETS, QRule.kind: Q_PRESETS}
"""Those of each kind, by the kind of their rule; a kind that is registered (``learning/kinds``) brings its own."""

ALL_PRESETS: dict[str, Preset[Rule]] = {**PRESETS, **Q_PRESETS}
"""Those of every kind by their slugs, each of which there is once."""


def presets_of(game: Game[Any, Any]) -> Mapping[str, Preset[Rule]]:
    """The presets that fit a game, of every kind that can play it."""
    fitting = [presets for presets in PRESETS_OF_KIND.values() if any(one.rule.fits(game) for one in presets.values())]
    return fitting[0] if len(fitting) == 1 else {slug: one for presets in fitting for slug, one in presets.items()}


def preset_named(slug: str) -> Preset[Rule] | None:
    """The preset with this slug, of whatever kind; ``None`` if there is none."""
    return ALL_PRESETS.get(slug)


DEFAULT_PRESETS = {Side.FIRST: "michie-1961", Side.SECOND: "michie-refill"}
"""Which preset a first-player and a second-player machine get when nobody says otherwise."""
