"""Learnt values of Romgon as a ``FastValuer``: converts positions for the compiled searches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from beadbox.engines.level import Level
from beadbox.engines.position_values import FastValuer, LearntPlayer, SearchResult, SelfPlayParameters
from beadbox.engines.romgon.accumulator import feature_vector
from beadbox.engines.romgon.answers import action_number, board_array, option_flags, stop_after
from beadbox.engines.romgon.features import FEATURE_SETS
from beadbox.engines.romgon.shipped import shipped_value, shipped_value_name
from beadbox.engines.romgon.value_contests import Contestant, contest
from beadbox.engines.romgon.value_games import TERMINATIONS, Start, train
from beadbox.engines.romgon.value_minimax import ReadableValuer, loses_by_history, n_visits
from beadbox.engines.romgon.value_search import HistoryArrays, search_board
from beadbox.kernels.exact_floats import rounded_weight
from beadbox.kernels.random_source import RandomSource
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.romgon.moves import Move, legal_moves
from beadbox.rules.romgon.rules import Position, Romgon

QUICK_DEPTH = 2
"""Depth that is always searched to its end, because this takes only milliseconds on any board."""


class RomgonValuer(ReadableValuer, FastValuer[Romgon, Position, Move]):
    """The compiled version of :class:`ReadableValuer`: equal to the last bit, and a thousand times as fast."""

    def features(self, position: Position, feature_set: str) -> dict[int, float]:
        me = int(position.side.other)
        amounts = feature_vector(board_array(position.board), me, FEATURE_SETS[feature_set])
        return {int(index): float(amounts[index]) for index in np.flatnonzero(amounts)}

    def search(
        self,
        game: Romgon,
        position: Position,
        player: LearntPlayer,
        *,
        whole: bool = False,
        time_limit_s: float | None = None,
    ) -> SearchResult[Move]:
        moves = legal_moves(position.board, position.side, game.options)
        barred = np.array([loses_by_history(game, position, move) for move in moves], np.bool_)
        costs = np.zeros(len(moves))
        if player.restlessness:
            costs[:] = [rounded_weight(player.restlessness) * n_visits(position, move) for move in moves]
        past = HistoryArrays(barred, costs)
        board, side, flags = board_array(position.board), int(position.side), option_flags(game.options)
        stop = np.zeros(1, np.uint8)

        def search_to(depth: int) -> SearchResult[Move]:
            """Return the scores of a search to this depth. They are meaningless once ``stop`` is set."""
            near, deep, best = search_board(board, side, flags, depth, whole, past, player.weights, stop)
            return SearchResult(moves, tuple(near.tolist()), tuple(deep.tolist()), int(best), depth)

        if time_limit_s is None or player.depth <= QUICK_DEPTH:
            return search_to(player.depth)
        deepest = search_to(QUICK_DEPTH)
        with stop_after(stop, time_limit_s):
            for depth in range(QUICK_DEPTH + 1, player.depth + 1):
                deeper = search_to(depth)
                if stop[0]:
                    break
                deepest = deeper
        return deepest

    def train(
        self,
        game: Romgon,
        weights: NDArray[np.float64],
        average: NDArray[np.float64],
        parameters: SelfPlayParameters,
        n_learnt: int,
        n_games: int,
        rng: RandomSource,
        start: Position | None = None,
    ) -> Counter[Outcome]:
        random_state = rng.to_array()
        tally = train(
            _start(game, start or game.initial_position()),
            parameters,
            n_learnt,
            n_games,
            weights,
            average,
            random_state,
        )
        rng.set_array(random_state)
        return Counter(
            {_outcome(ending, winner): int(n) for winner, row in enumerate(tally) for ending, n in enumerate(row) if n}
        )

    def contest(
        self,
        game: Romgon,
        opening: Sequence[Move],
        players: tuple[LearntPlayer | Level, LearntPlayer | Level],
        rng: RandomSource,
    ) -> Outcome:
        random_state, actions = rng.to_array(), np.array([action_number(move) for move in opening], np.int32)
        contestants = contestant(game, players[0]), contestant(game, players[1])
        ending, winner = contest(_start(game, game.initial_position()), actions, contestants, random_state)
        rng.set_array(random_state)
        return _outcome(ending, winner)


def _start(game: Romgon, position: Position) -> Start:
    options = game.options
    return Start(board_array(position.board), int(position.side), position.ply, option_flags(options), options.shuttle)


def contestant(game: Romgon, player: LearntPlayer | Level) -> Contestant:
    """Return a player in the form that kernels take."""
    if isinstance(player, Level):
        tenths, depth = player.random_tenths, player.depth
        if not player.uses_learnt_value:
            return Contestant(depth, np.zeros(0), tenths, player.plain, restlessness=0.0)
        value = shipped_value(shipped_value_name(game.options))
        return Contestant(depth, value.weights, tenths, plain=False, restlessness=value.restlessness)
    return Contestant(player.depth, player.weights, 0, plain=False, restlessness=player.restlessness)


def _outcome(ending: int, winner: int) -> Outcome:
    return Outcome((*Side, None)[winner], TERMINATIONS[ending])
