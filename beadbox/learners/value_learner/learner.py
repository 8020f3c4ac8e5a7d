"""A readable machine that learns a value of positions by temporal differences, with search in the loop.

The value of the position after a move, for the side that made it, is ``squash(w · φ)``: a weight for every feature, one
list of weights for both sides. A search of the rule's depth chooses the moves with this value. The result of the
search, mixed with how the game went on, is the target of the searched position's value.

Source: R. Sutton, "Learning to predict by the methods of temporal differences" (1988); J. Veness and others,
"Bootstrapping from game tree search" (2009). The constants are those of a trial: docs/learning.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beadbox import field_text
from beadbox.engines.position_values import Learnt, Look, PartGroup, Valuer
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
"""Greatest depth at which every move is searched in full, not the best alone; it takes less than half a millisecond."""

Weights = NDArray[np.float64]
"""``(n_features,)``, each rounded by ``exact_floats.rounded_weight``."""


class WeightsError(ValueError):
    """A list of weights was refused; the message says why."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A position of a game, its worth by the search, and whether the search's best move was played."""

    position: AnyPosition
    worth: float
    """From -1 to 1, for the side to move; 0 for a random opening move, which needs no search."""
    followed: bool


@dataclass(frozen=True, slots=True)
class Thought:
    """A move of the machine, and its search's scores of every legal move, as in :class:`Look`."""

    chosen: int
    near: tuple[float, ...]
    deep: tuple[float | None, ...]
    """``None`` for a move that the search did not score exactly."""
    depth: int
    """Depth of the search in moves; less than the rule's if the time ran out."""


@dataclass(frozen=True, slots=True)
class WeightStep:
    """The lesson of one position of a game: its value before, and the target that it was taught."""

    position: AnyPosition
    value: float
    target: float


def valuer_of(game: AnyGame) -> Valuer[AnyGame, AnyPosition, AnyMove]:
    """Return the compiled features and searches of a game that value rules fit."""
    engine = engine_of(game)
    assert engine is not None, "the rule fits only games with this engine"
    assert engine.valuer is not None, "the rule fits only games with this engine"
    return engine.valuer


def weights_none(game: AnyGame, rule: ValueRule) -> Weights:
    """Return the weights of a machine that has learnt nothing: ``(n_features,)``, all 0.

    Raises:
        WeightsError: the game has no such set of features.
    """
    sets = valuer_of(game).sets
    if rule.features not in sets:
        raise WeightsError(field_text.one_of(sets))
    return np.zeros(sets[rule.features])


def weights_read(game: AnyGame, rule: ValueRule, numbers: Sequence[object]) -> Weights:
    """Return weights from untrusted numbers: ``(n_features,)``.

    Raises:
        WeightsError: there are too many or too few, or one is not a finite number, too large or too fine.
    """
    n_features = len(weights_none(game, rule))
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
        rule: how it learns and plays.
        weights: the learnt weights. Changed in place.
        n_learnt: the number of games learnt from.
        average: the mean of its weights, if the rule has one. Changed in place.
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
        """The weights for play: the mean, if the rule has one."""
        return self.average if self.rule.average_games else self.weights

    def value(self, position: AnyPosition) -> float:
        """Return the value, between -1 and 1, of a position after a move, for the side that made it."""
        seen = self.valuer.features(position, self.rule.features)
        return squash(float(sum(self.weights[index] * amount for index, amount in seen.items())))

    @property
    def player(self) -> Learnt:
        """The weights and search settings for play."""
        return Learnt(self.played, self.rule.play_depth, self.rule.restlessness)

    @property
    def training_player(self) -> Learnt:
        """The weights and search settings for learning."""
        return Learnt(self.weights, self.rule.search_depth)

    def parts(self, position: AnyPosition) -> tuple[PartGroup, ...]:
        """Return the exact parts of the value for play of a position after a move, for its mover; largest first."""
        return self.valuer.parts(position, self.played, self.rule.features)

    def look(self, position: AnyPosition, *, whole: bool = False, time_limit_s: float | None = None) -> Look[AnyMove]:
        """Search a position with the settings for play; return the scores of every legal move."""
        return self.valuer.look(self.game, position, self.player, whole=whole, time_limit_s=time_limit_s)

    def choose(self, position: AnyPosition) -> AnyMove:
        """Choose the move with the best score, of equals the first."""
        found = self.look(position)
        return found.moves[found.best]

    def think(
        self,
        position: AnyPosition,
        move: AnyMove | None = None,
        *,
        whole: bool = False,
        time_limit_s: float | None = None,
    ) -> tuple[AnyMove, Thought]:
        """Choose a move, or take the given ``move``; return it with the scores of all moves.

        All moves are searched in full if ``whole``, with a ``move``, and where that takes less than half a millisecond.
        """
        whole = whole or move is not None or self.rule.play_depth <= WHOLE_DEPTH
        found = self.look(position, whole=whole, time_limit_s=time_limit_s)
        chosen = found.best if move is None else found.moves.index(move)
        deep = (score if whole or index == chosen else None for index, score in enumerate(found.deep))
        return found.moves[chosen], Thought(chosen, found.near, tuple(deep), found.depth)

    def try_move(self, position: AnyPosition, rng: Random) -> tuple[Turn, AnyMove]:
        """Choose a move while learning. Takes one random word, or two for a random or soft move."""
        rule = self.rule
        found = self.valuer.look(self.game, position, self.training_player)
        ticket, index = rng.below(PROBABILITY_UNITS), found.best
        if ticket < rule.random_share * PROBABILITY_UNITS:
            index = rng.below(len(found.moves))
        elif ticket < (rule.random_share + rule.soft_share) * PROBABILITY_UNITS:
            index = _drawn(found.near, rule.temperature, rng)
        turn = Turn(position, value_of_score(found.score, rule.value_discount), index == found.best)
        return turn, found.moves[index]

    def turn(self, position: AnyPosition, move: AnyMove) -> Turn:
        """Return the turn to learn from for a move made by either player."""
        found = self.valuer.look(self.game, position, self.training_player)
        return Turn(position, value_of_score(found.score, self.rule.value_discount), found.moves[found.best] == move)

    def game_learnt(self, rng: Random, start: AnyPosition | None = None) -> Outcome:
        """Play one game against itself and learn from it; it begins at ``start`` or the initial position."""
        game = self.game
        position = game.initial_position() if start is None else start
        n_opening, turns = rng.below(self.rule.random_opening + 1), list[Turn]()
        while (outcome := game.outcome(position)) is None:
            if len(turns) < n_opening:
                legal = game.legal_moves(position)
                turn, move = Turn(position, 0.0, followed=False), legal[rng.below(len(legal))]
            else:
                turn, move = self.try_move(position, rng)
            turns.append(turn)
            position = game.apply(position, move)
        self.learn(turns, outcome, n_opening)
        return outcome

    def learn(self, turns: Sequence[Turn], outcome: Outcome, n_opening: int = 0) -> list[WeightStep]:
        """Learn from a finished game, and return the lesson of each position taught.

        ``turns`` are in order of play; the first ``n_opening`` were random. ``S`` is the search's worth of a position,
        for the side to move. The position's value is for the other side, so its target is ``-discount · S``. If the
        search's best move was played, or without ``trace_cut``, the target is
        ``-discount · ((1 - trace) · S + trace · T)``. ``T`` is the target of the next position, or the result. Then,
        in order of play, ``w += rate / |φ|² · (target - value) · φ``, each weight rounded to its grain.
        """
        if not self.learns:
            return []
        rate, steps = self.rule.rate(self.n_learnt), list[WeightStep]()
        for turn, target in self._targets(turns, outcome, n_opening):
            seen = self.valuer.features(turn.position, self.rule.features)
            value = self.value(turn.position)
            step = rate / sum(amount * amount for amount in seen.values()) * (target - value)
            for index, amount in seen.items():
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

        The initial position is left out, because its value is of no move.
        """
        rule, found = self.rule, list[tuple[Turn, float]]()
        if not turns:
            return found
        last = self.game.side_to_move(turns[-1].position)
        ahead = {Result.WIN: 1.0, Result.DRAW: 0.0, Result.LOSS: -1.0}[Result.of(outcome, last)]
        for turn in reversed(turns[max(n_opening, 1) :]):
            says = turn.worth
            if turn.followed or not rule.trace_cut:
                says = (1.0 - rule.trace) * says + rule.trace * ahead
            ahead = -rule.value_discount * says
            found.append((turn, ahead))
        return found[::-1]


def _drawn(scores: Sequence[float], temperature: float, rng: Random) -> int:
    """Draw an index with probability proportional to ``exp(score / temperature)``."""
    shares = [scaled_exp((score - max(scores)) / temperature) for score in scores]
    left = rng.below(sum(shares))
    for index, share in enumerate(shares):
        left -= share
        if left < 0:
            return index
    raise AssertionError("the shares are all there is")
