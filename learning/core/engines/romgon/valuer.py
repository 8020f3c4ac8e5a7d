"""Learnt values of Romgon, as the house knows them: the port on one side, compiled boards and searches on the other."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from games.rules.base import Outcome, Side
from games.rules.romgon.moves import legal_moves
from games.rules.romgon.rules import Position, Romgon
from learning.core.engines.base import FastValuer, Lessons, Look
from learning.core.engines.romgon.answers import board_array, option_flags
from learning.core.engines.romgon.features import FEATURE_SETS
from learning.core.engines.romgon.value_games import ENDINGS, train
from learning.core.engines.romgon.value_minimax import ReadableValuer, loses_by_history
from learning.core.engines.romgon.value_search import looked
from learning.core.engines.romgon.valued import seen_features
from learning.core.kernels.random_source import RandomSource


class RomgonValuer(ReadableValuer, FastValuer[Romgon]):
    """The same as :class:`ReadableValuer`, to the last bit, and a thousand times as fast."""

    def features(self, position: Position, feature_set: str) -> dict[int, float]:
        me = int(position.side.other)
        amounts = seen_features(board_array(position.board), me, FEATURE_SETS[feature_set])
        return {int(index): float(amounts[index]) for index in np.flatnonzero(amounts)}

    def look(
        self, game: Romgon, position: Position, weights: NDArray[np.float64], *, depth: int, whole: bool = False
    ) -> Look:
        moves = legal_moves(position.board, position.side, game.options)
        barred = np.array([loses_by_history(game, position, move) for move in moves], np.bool_)
        near, deep, best = looked(
            board_array(position.board), int(position.side), option_flags(game.options), depth, whole, barred, weights
        )
        return Look(moves, tuple(near.tolist()), tuple(deep.tolist()), int(best))

    def train(
        self,
        game: Romgon,
        weights: NDArray[np.float64],
        lessons: Lessons,
        n_learnt: int,
        n_games: int,
        rng: RandomSource,
        start: Position | None = None,
    ) -> Counter[Outcome]:
        first, options = start or game.initial_position(), game.options
        words, tally = rng.to_array(), np.zeros((3, len(ENDINGS)), np.int64)
        train(
            board_array(first.board),
            int(first.side),
            first.ply,
            option_flags(options),
            options.shuttle,
            lessons,
            n_learnt,
            n_games,
            weights,
            words,
            tally,
        )
        rng.set_array(words)
        return Counter(
            {
                Outcome(winner, ending): int(n)
                for winner, row in zip((*Side, None), tally, strict=True)
                for ending, n in zip(ENDINGS, row, strict=True)
                if n
            }
        )
