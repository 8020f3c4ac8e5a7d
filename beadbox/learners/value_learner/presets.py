"""Named rules of value learners, with their sources."""

from beadbox.learners.preset import Preset
from beadbox.learners.value_learner.rule import ValueRule

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
"""Presets, by slug, of machines that learn a value of positions."""
