"""Noughts and crosses that remembers its answers, so that the readable loops can play thousands of games in a test.

The rules are pure, so remembering changes nothing but the time.
"""

from functools import cache

from games.rules.noughts_and_crosses.rules import NoughtsAndCrosses
from learning.opponents.base import Opponent
from learning.opponents.registry import OPPONENTS


class RememberedGame(NoughtsAndCrosses):
    def __init__(self):
        for question in ("apply", "canonical", "distinct_moves", "legal_moves", "outcome", "to_canonical"):
            setattr(self, question, cache(getattr(self, question)))


class RememberedOpponent(Opponent):
    def __init__(self, opponent):
        self.slug = opponent.slug
        self.replies = cache(opponent.replies)

    def replies(self, game, position):
        raise NotImplementedError


GAME = RememberedGame()
REMEMBERED = {slug: RememberedOpponent(opponent) for slug, opponent in OPPONENTS.items()}
