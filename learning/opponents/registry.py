"""Every fixed opponent. A new one is a class and a line here."""

from learning.opponents.base import Opponent
from learning.opponents.perfect import PerfectFastOpponent, PerfectOpponent
from learning.opponents.uniform import RandomOpponent, WinBlockOpponent

OPPONENTS: dict[str, Opponent] = {
    opponent.slug: opponent
    for opponent in (RandomOpponent(), WinBlockOpponent(), PerfectOpponent(), PerfectFastOpponent())
}

LEVELS: dict[str, Opponent] = {
    "easy": OPPONENTS["random"],
    "medium": OPPONENTS["win-block"],
    "hard": OPPONENTS["perfect"],
}
"""By level of difficulty, the weakest first."""
