"""Games that cache their answers, so that the readable loops can play thousands of games in a test.

The rules are pure functions, so the cache changes only the time.
"""

from copy import copy
from functools import cache

from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.registry import UNIFORM
from beadbox.rules.registry import GAMES


def remembered(game):
    game = copy(game)
    for question in ("apply", "canonical", "distinct_moves", "legal_moves", "outcome", "to_canonical"):
        setattr(game, question, cache(getattr(game, question)))
    return game


class RememberedOpponent(UniformOpponent):
    def __init__(self, opponent):
        self.slug = opponent.slug
        self.replies = cache(opponent.replies)

    def replies(self, game, position):
        raise NotImplementedError


GAME = remembered(GAMES["noughts-and-crosses"])
REMEMBERED = {slug: RememberedOpponent(opponent) for slug, opponent in UNIFORM.items()}
