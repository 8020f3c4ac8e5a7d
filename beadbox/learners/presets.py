"""The presets of every kind of learner."""

from collections.abc import Mapping

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.preset import Preset
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.rule import Rule
from beadbox.rules.game import AnyGame

MATTER = frozenset(
    {
        *("michie-1961", "michie-refill", "gardner-her", "hexapawn-rl", "q-table"),
        *("romgon-q", "romgon-q-careful", "romgon-q-curious", "td-search", "td-search-flips"),
    }
)
"""Five for each game that differ in what they show, to choose from first."""

_IN_THE_LIBRARY: tuple[Mapping[str, Preset[Rule]], ...] = (PRESETS, Q_PRESETS)
PRESETS_OF_KIND = {next(iter(presets.values())).rule.kind: presets for presets in _IN_THE_LIBRARY}
"""Those of each kind, by the kind of their rule; a kind that is registered (``learning/kinds``) brings its own."""

ALL_PRESETS: dict[str, Preset[Rule]] = {**PRESETS, **Q_PRESETS}
"""Those of every kind by their slugs, each of which there is once."""


def presets_of(game: AnyGame) -> Mapping[str, Preset[Rule]]:
    """The presets that fit a game, of every kind that can play it."""
    fitting = [presets for presets in PRESETS_OF_KIND.values() if any(one.rule.fits(game) for one in presets.values())]
    return fitting[0] if len(fitting) == 1 else {slug: one for presets in fitting for slug, one in presets.items()}
