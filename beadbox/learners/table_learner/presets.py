"""Named rules of table learners, with their sources."""

from beadbox.learners.preset import Preset
from beadbox.learners.table_learner.rule import Method, TableRule

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
"""Presets, by slug, of machines with a table of values, for games with boards that can be listed."""
