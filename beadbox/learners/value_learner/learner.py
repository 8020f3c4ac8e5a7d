"""A readable machine that learns a value of positions by temporal differences, and searches while it learns.

The value of the position after a move, for the side that made the move, is ``squash(w · φ)``. ``φ`` has the features of
the position. ``w`` has a weight for every feature, and both sides have the same weights. The machine chooses its moves
by a search with this value. The target of a searched position's value mixes the result of the search with the later
course of the game.

Source: R. Sutton, "Learning to predict by the methods of temporal differences" (1988); J. Veness and others,
"Bootstrapping from game tree search" (2009). The default constants come from a trial: docs/learning.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beadbox import field_text
from beadbox.engines.position_values import LearntPlayer, PartGroup, SearchResult, Valuer
from beadbox.engines.registry import engine_of
from beadbox.kernels.exact_floats import (
    MAX_WEIGHT,
    PROBABILITY_UNITS,
    rounded_weight,
    scaled_exp,
    squash,
    value_of_score,
)
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Outcome, Result

WHOLE_DEPTH = 2
"""Up to this depth, a full search of every move takes less than half a millisecond, so the machine always makes one."""

Weights = NDArray[np.float64]
"""Array of shape ``(n_features,)``; each weight is rounded by ``exact_floats.rounded_weight``."""


class WeightsError(ValueError):
    """A list of weights is not valid; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A position of a game, its value by the search, and whether the player played the search's best move."""

    position: AnyPosition
    search_value: float
    """From -1 to 1, for the side to move; 0 for a random opening move, which needs no search."""
    is_best_played: bool


@dataclass(frozen=True, slots=True)
class Thought:
    """A move of the machine, and its search's scores of every legal move, as in :class:`SearchResult`."""

    chosen: int
    """The index of the move among the legal moves."""
    near: tuple[float, ...]
    deep: tuple[float | None, ...]
    """``None`` for a move that the search did not score exactly."""
    depth: int
    """Depth of the search in moves; less than the depth of the rule if the time ran out."""


@dataclass(frozen=True, slots=True)
class WeightStep:
    """A correction of the value of one position of a game: the value before, and the target."""

    position: AnyPosition
    value: float
    target: float


def valuer_of(game: AnyGame) -> Valuer[AnyGame, AnyPosition, AnyMove]:
    """Return the compiled features and searches of a game. The game must be one that :class:`ValueRule` fits."""
    engine = engine_of(game)
    assert engine is not None, f"no value rule fits {game.slug}, which has no engine"
    assert engine.valuer is not None, f"no value rule fits {game.slug}, whose engine has no valuer"
    return engine.valuer


def zero_weights(game: AnyGame, rule: ValueRule) -> Weights:
    """Return the weights of a machine that has learnt nothing: ``(n_features,)``, all 0.

    Raises:
        WeightsError: the game has no set of features with the name ``rule.features``.
    """
    feature_sets = valuer_of(game).feature_set_sizes
    if rule.features not in feature_sets:
        raise WeightsError(field_text.one_of(feature_sets))
    return np.zeros(feature_sets[rule.features])


def weights_read(game: AnyGame, rule: ValueRule, numbers: Sequence[object]) -> Weights:
    """Return weights from untrusted numbers: ``(n_features,)``.

    Raises:
        WeightsError: there are too many or too few numbers; or one is not finite, is too large, or is no multiple of
            ``WEIGHT_STEP``.
    """
    n_features = len(zero_weights(game, rule))
    if len(numbers) != n_features:
        raise WeightsError(f"Please give {n_features} weights, not {len(numbers)}.")
    for index, number in enumerate(numbers):
        if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= MAX_WEIGHT:
            raise WeightsError(f"Weight {index} is {ascii(number)[:40]}. Please give a number from -512 to 512.")
        if rounded_weight(number) != number:
            raise WeightsError(f"Weight {index} is {number}, which is not a multiple of 2**-32.")
    return np.array(numbers, np.float64)


class ValueLearner:
    """A machine that learns a value and plays either side.

    Args:
        game: the rules, with their options.
        rule: all constants of its learning and play.
        weights: the learnt weights. Changed in place.
        n_learnt: the number of games that the machine has learnt from.
        average: the mean of its weights, if the rule has ``average_games``. Changed in place.
        valuer: the features and searches; by default the compiled ones of the game.
        learns: whether the machine learns; a frozen one does not change.
    """

    def __init__(
        self,
        game: AnyGame,
        rule: ValueRule,
        weights: Weights,
        n_learnt: int = 0,
        average: Weights | None = None,
        *,
        valuer: Valuer[AnyGame, AnyPosition, AnyMove] | None = None,
        learns: bool = True,
    ) -> None:
        self.game = game
        self.rule = rule
        self.weights = weights
        self.n_learnt: int = n_learnt
        self.average: Weights = np.zeros(len(weights)) if average is None else average
        self.valuer: Valuer[AnyGame, AnyPosition, AnyMove] = valuer or valuer_of(game)
        self.learns = learns

    @property
    def played(self) -> Weights:
        """The weights for play: their mean if the rule has ``average_games``, else the weights themselves."""
        return self.average if self.rule.average_games else self.weights

    def value(self, position: AnyPosition) -> float:
        """Return the value, between -1 and 1, of a position after a move, for the side that made the move."""
        features = self.valuer.features(position, self.rule.features)
        return squash(float(sum(self.weights[index] * amount for index, amount in features.items())))

    @property
    def player(self) -> LearntPlayer:
        """The weights and search settings for play."""
        return LearntPlayer(self.played, self.rule.play_depth, self.rule.restlessness)

    @property
    def training_player(self) -> LearntPlayer:
        """The weights and search settings for learning."""
        return LearntPlayer(self.weights, self.rule.search_depth)

    def parts(self, position: AnyPosition) -> tuple[PartGroup, ...]:
        """Return the parts that add up to the score of a position after a move, for the side that made the move.

        The parts are exact and use the weights for play. The largest comes first.
        """
        return self.valuer.parts(position, self.played, self.rule.features)

    def search(
        self, position: AnyPosition, *, whole: bool = False, time_limit_s: float | None = None
    ) -> SearchResult[AnyMove]:
        """Search a position with the settings for play; return the scores of every legal move."""
        return self.valuer.search(self.game, position, self.player, whole=whole, time_limit_s=time_limit_s)

    def choose(self, position: AnyPosition) -> AnyMove:
        """Choose the move with the best score; of equally good moves the first."""
        found = self.search(position)
        return found.moves[found.best]

    def think(
        self,
        position: AnyPosition,
        move: AnyMove | None = None,
        *,
        whole: bool = False,
        time_limit_s: float | None = None,
    ) -> tuple[AnyMove, Thought]:
        """Choose a move, or take the argument ``move``; return the move with the scores of all moves.

        A full search of all moves is made if ``whole`` is true, if ``move`` is given, and up to :data:`WHOLE_DEPTH`.
        """
        whole = whole or move is not None or self.rule.play_depth <= WHOLE_DEPTH
        found = self.search(position, whole=whole, time_limit_s=time_limit_s)
        chosen = found.best if move is None else found.moves.index(move)
        deep = (score if whole or index == chosen else None for index, score in enumerate(found.deep))
        return found.moves[chosen], Thought(chosen, found.near, tuple(deep), found.depth)

    def try_move(self, position: AnyPosition, rng: Random) -> tuple[Turn, AnyMove]:
        """Choose a move in a training game. Takes one random word, or two for a random or soft move."""
        rule = self.rule
        found = self.valuer.search(self.game, position, self.training_player)
        ticket, index = rng.below(PROBABILITY_UNITS), found.best
        if ticket < rule.random_share * PROBABILITY_UNITS:
            index = rng.below(len(found.moves))
        elif ticket < (rule.random_share + rule.soft_share) * PROBABILITY_UNITS:
            index = _draw(found.near, rule.temperature, rng)
        turn = Turn(position, value_of_score(found.score, rule.value_discount), index == found.best)
        return turn, found.moves[index]

    def turn(self, position: AnyPosition, move: AnyMove) -> Turn:
        """Return the turn from which the machine learns, for a move that either player has made."""
        found = self.valuer.search(self.game, position, self.training_player)
        return Turn(position, value_of_score(found.score, self.rule.value_discount), found.moves[found.best] == move)

    def game_learnt(self, rng: Random, start: AnyPosition | None = None) -> Outcome:
        """Play one game against itself and learn from it. The game begins at ``start`` or the initial position."""
        game = self.game
        position = game.initial_position() if start is None else start
        n_opening, turns = rng.below(self.rule.random_opening + 1), list[Turn]()
        while (outcome := game.outcome(position)) is None:
            if len(turns) < n_opening:
                legal = game.legal_moves(position)
                turn, move = Turn(position, 0.0, is_best_played=False), legal[rng.below(len(legal))]
            else:
                turn, move = self.try_move(position, rng)
            turns.append(turn)
            position = game.apply(position, move)
        self.learn(turns, outcome, n_opening)
        return outcome

    def learn(self, turns: Sequence[Turn], outcome: Outcome, n_opening: int = 0) -> list[WeightStep]:
        """Learn from a finished game, and return the correction of each position's value.

        ``turns`` are in order of play; the first ``n_opening`` moves were random. Let ``S`` be the value that the
        search found for a position, for the side to move. The learnt value of the position is for the other side, so
        its target is ``-discount · S``. If the player played the search's best move, or without ``trace_cut``, the
        target is ``-discount · ((1 - trace) · S + trace · T)``. ``T`` is the target of the next position, or the
        result of the game. The corrections are in order of play: ``w += rate / |φ|² · (target - value) · φ``, with each
        weight rounded by ``rounded_weight``.
        """
        if not self.learns:
            return []
        rate, steps = self.rule.rate(self.n_learnt), list[WeightStep]()
        for turn, target in self._targets(turns, outcome, n_opening):
            features = self.valuer.features(turn.position, self.rule.features)
            value = self.value(turn.position)
            step = rate / sum(amount * amount for amount in features.values()) * (target - value)
            for index, amount in features.items():
                self.weights[index] = rounded_weight(float(self.weights[index]) + step * amount)
            steps.append(WeightStep(turn.position, value, target))
        self.n_learnt += 1
        if self.rule.average_games:
            share = 1.0 / min(float(self.n_learnt), self.rule.average_games)
            for index, mean in enumerate(self.average.tolist()):
                self.average[index] = rounded_weight(mean + share * (float(self.weights[index]) - mean))
        return steps

    def _targets(self, turns: Sequence[Turn], outcome: Outcome, n_opening: int) -> list[tuple[Turn, float]]:
        """Return the turns after the opening with the targets of their positions, in order of play.

        The list omits the initial position: no move leads to it, so it has no value for the side that made the move.
        """
        rule, found = self.rule, list[tuple[Turn, float]]()
        if not turns:
            return found
        last = self.game.side_to_move(turns[-1].position)
        target = {Result.WIN: 1.0, Result.DRAW: 0.0, Result.LOSS: -1.0}[Result.of(outcome, last)]
        for turn in reversed(turns[max(n_opening, 1) :]):
            mixed = turn.search_value
            if turn.is_best_played or not rule.trace_cut:
                mixed = (1.0 - rule.trace) * mixed + rule.trace * target
            target = -rule.value_discount * mixed
            found.append((turn, target))
        return found[::-1]


def _draw(scores: Sequence[float], temperature: float, rng: Random) -> int:
    """Draw an index with probability proportional to ``exp(score / temperature)``."""
    shares = [scaled_exp((score - max(scores)) / temperature) for score in scores]
    ticket = rng.below(sum(shares))
    for index, share in enumerate(shares):
        ticket -= share
        if ticket < 0:
            return index
    raise AssertionError("the ticket is smaller than the sum of the shares")
