"""The presets of every kind of learner."""

from collections.abc import Mapping

from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.preset import Preset
from beadbox.learners.q_learning.presets import Q_PRESETS
from beadbox.learners.rule import Rule, UnsuitedRuleError
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.rules.game import AnyGame

FEATURED_PRESETS = frozenset(
    {
        *("michie-1961", "michie-refill", "circles", "gardner-her", "hexapawn-rl", "q-table"),
        *("romgon-q", "romgon-q-careful", "romgon-q-curious", "td-search", "td-search-flips"),
    }
)
"""Slugs of the presets that are offered first. They differ clearly from each other.

Each game has five of them. A game in which a board can recur has ``circles`` too.
"""

_PRESETS_OF_LIBRARY: tuple[Mapping[str, Preset[Rule]], ...] = (PRESETS, Q_PRESETS, VALUE_PRESETS, TABLE_PRESETS)
PRESETS_OF_KIND = {next(iter(presets.values())).rule.kind: presets for presets in _PRESETS_OF_LIBRARY}
"""Presets by the kind of their rule, then by slug. A kind adds its presets when the site registers it."""

ALL_PRESETS: dict[str, Preset[Rule]] = {**PRESETS, **Q_PRESETS, **VALUE_PRESETS, **TABLE_PRESETS}
"""Presets of every kind by slug; no slug is used twice."""


def presets_of(game: AnyGame) -> Mapping[str, Preset[Rule]]:
    """Return the presets that fit a game, by slug, of every kind that can play it.

    Presets for games with recurring boards come first.
    """
    fitting = {
        slug: one
        for presets in PRESETS_OF_KIND.values()
        for slug, one in presets.items()
        if one.rule.fits(game) and _is_suited(one.rule, game) and not (one.is_for_recurring_boards and game.always_ends)
    }
    return dict(sorted(fitting.items(), key=lambda item: not item[1].is_for_recurring_boards))


def _is_suited(rule: Rule, game: AnyGame) -> bool:
    try:
        rule.require_suited(game)
    except UnsuitedRuleError:
        return False
    return True
