"""Named rules of Q-learners, with their sources."""

from beadbox.learners.preset import Preset
from beadbox.learners.q_learning.rule import QRule

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
"""Presets, by slug, of machines that keep values, for games with too many positions for boxes."""
