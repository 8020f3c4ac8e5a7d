"""Games that cache their answers, so that the readable loops can play thousands of games in a test.

The rules are pure functions, so the cache changes only the time.
"""

from copy import copy
from functools import cache

from beadbox.policies.opponent import UniformOpponent
from beadbox.policies.registry import UNIFORM
from beadbox.rules.registry import GAMES


def with_cached_rules(game):
    game = copy(game)
    for method in ("apply", "canonical", "distinct_moves", "legal_moves", "outcome", "to_canonical"):
        setattr(game, method, cache(getattr(game, method)))
    return game


class CachedOpponent(UniformOpponent):
    def __init__(self, opponent):
        self.slug = opponent.slug
        self.replies = cache(opponent.replies)

    def replies(self, game, position):
        raise NotImplementedError


NOUGHTS_AND_CROSSES = with_cached_rules(GAMES["noughts-and-crosses"])
CACHED_OPPONENTS = {slug: CachedOpponent(opponent) for slug, opponent in UNIFORM.items()}
