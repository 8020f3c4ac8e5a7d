"""The presets of every kind of learner."""

from collections.abc import Mapping

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.preset import Preset
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.rule import Rule
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.rules.game import AnyGame

FEATURED_PRESETS = frozenset(
    {
        *("michie-1961", "michie-refill", "gardner-her", "hexapawn-rl", "q-table"),
        *("romgon-q", "romgon-q-careful", "romgon-q-curious", "td-search", "td-search-flips"),
    }
)
"""Slugs of the presets that are offered first: five for each game, which show different things."""

_IN_THE_LIBRARY: tuple[Mapping[str, Preset[Rule]], ...] = (PRESETS, Q_PRESETS, VALUE_PRESETS, TABLE_PRESETS)
PRESETS_OF_KIND = {next(iter(presets.values())).rule.kind: presets for presets in _IN_THE_LIBRARY}
"""Presets by the kind of their rule, then by slug; a kind that is registered (``learning/kinds``) adds its own."""

ALL_PRESETS: dict[str, Preset[Rule]] = {**PRESETS, **Q_PRESETS, **VALUE_PRESETS, **TABLE_PRESETS}
"""Presets of every kind by slug; no slug is used twice."""


def presets_of(game: AnyGame) -> Mapping[str, Preset[Rule]]:
    """Return the presets that fit a game, by slug, of every kind that can play it."""
    fitting = [presets for presets in PRESETS_OF_KIND.values() if any(one.rule.fits(game) for one in presets.values())]
    return fitting[0] if len(fitting) == 1 else {slug: one for presets in fitting for slug, one in presets.items()}
