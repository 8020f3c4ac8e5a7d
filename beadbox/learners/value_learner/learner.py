"""A machine that learns a value of positions by temporal differences, with search in the loop, readable.

The value of the position after a move, for whoever made it, is ``squash(w · φ)``: a weight for every feature, one list
of weights for both sides. A search of the rule's depth chooses with it, and what the search found is what the position
before is taught, together with how the game went on.

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
from beadbox.kernels.exact_floats import MOST, TICKETS, fading, grained, squash, worth
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Outcome, Result

WHOLE_DEPTH = 2
"""So far ahead it costs less than half a millisecond to search every move to the end, and not the best alone."""

Weights = NDArray[np.float64]
"""``(n_features,)``, each as ``exact_floats.grained`` keeps it."""


class WeightsError(ValueError):
    """A list of weights was refused; the message says why."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A position of a game, what the search thought of it, and whether what it found best was played."""

    position: AnyPosition
    worth: float
    """From -1 to 1, for the side to move; of a move at random before any search, 0."""
    followed: bool


@dataclass(frozen=True, slots=True)
class Thought:
    """A move of the machine, and what its search said of every legal one: scores as in :class:`Look`."""

    chosen: int
    near: tuple[float, ...]
    deep: tuple[float | None, ...]
    """``None``: the search did not have to know it."""
    depth: int
    """How many moves ahead it looked: fewer than its rule says if the time ran out."""


@dataclass(frozen=True, slots=True)
class WeightStep:
    """What a game did to the value of one of its positions: the value before, and what it was taught."""

    position: AnyPosition
    value: float
    target: float


def valuer_of(game: AnyGame) -> Valuer[AnyGame, AnyPosition, AnyMove]:
    """The compiled features and searches for a game that such rules fit."""
    engine = engine_of(game)
    assert engine is not None, "such a rule fits no other game"
    assert engine.valuer is not None, "such a rule fits no other game"
    return engine.valuer


def weights_none(game: AnyGame, rule: ValueRule) -> Weights:
    """The weights of a machine that has learnt nothing: all 0.

    Raises:
        WeightsError: there is no such set of features.
    """
    sets = valuer_of(game).sets
    if rule.features not in sets:
        raise WeightsError(field_text.one_of(sets))
    return np.zeros(sets[rule.features])


def weights_read(game: AnyGame, rule: ValueRule, numbers: Sequence[object]) -> Weights:
    """The weights that somebody has written down.

    Raises:
        WeightsError: they are no such weights: too many or too few, no finite numbers, too large or too fine.
    """
    wanted = len(weights_none(game, rule))
    if len(numbers) != wanted:
        raise WeightsError(f"Please give {wanted} weights, not {len(numbers)}.")
    for index, number in enumerate(numbers):
        if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= MOST:
            raise WeightsError(f"Weight {index} is {ascii(number)[:40]}. Please give a number from -512 to 512.")
        if grained(number) != number:
            raise WeightsError(f"Weight {index} is {number}, which is not a multiple of 2**-32.")
    return np.array(numbers, np.float64)


class ValueLearner:
    """A machine that learns a value, on either side.

    Args:
        game: the rules, with their options.
        rule: how it learns and plays.
        weights: what it has learnt. Changed in place.
        n_learnt: from how many games.
        average: the mean of its weights, if the rule has one. Changed in place.
        valuer: its eyes; the compiled ones of the game unless others are given.
        learns: whether it changes; a frozen machine plays as it stands.
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
        self.n_learnt = n_learnt
        self.average = np.zeros(len(weights)) if average is None else average
        self.valuer = valuer or valuer_of(game)
        self.learns = learns

    @property
    def played(self) -> Weights:
        """The weights that it plays by: the mean, if the rule has one."""
        return self.average if self.rule.average_games else self.weights

    def value(self, position: AnyPosition) -> float:
        """The value, between -1 and 1, of a position after a move, for whoever made it."""
        seen = self.valuer.features(position, self.rule.features)
        return squash(float(sum(self.weights[index] * amount for index, amount in seen.items())))

    @property
    def player(self) -> Learnt:
        """As it plays."""
        return Learnt(self.played, self.rule.play_depth, self.rule.restlessness)

    @property
    def thinker(self) -> Learnt:
        """As it looks at boards while it learns."""
        return Learnt(self.weights, self.rule.search_depth)

    def parts(self, position: AnyPosition) -> tuple[PartGroup, ...]:
        """What it plays by sees of a position after a move, for whoever made it: largest first, exact."""
        return self.valuer.parts(position, self.played, self.rule.features)

    def look(self, position: AnyPosition, *, whole: bool = False, time_limit_s: float | None = None) -> Look[AnyMove]:
        """What it thinks of every legal move when it plays."""
        return self.valuer.look(self.game, position, self.player, whole=whole, time_limit_s=time_limit_s)

    def choose(self, position: AnyPosition) -> AnyMove:
        """What it plays: what it thinks best, the first of equals."""
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
        """What it plays, and what it thinks of it and of the others; with ``move``, that one and what it thinks of it.

        All moves are searched to the end if that is done in half a millisecond, if ``whole``, and with a ``move``.
        """
        whole = whole or move is not None or self.rule.play_depth <= WHOLE_DEPTH
        found = self.look(position, whole=whole, time_limit_s=time_limit_s)
        chosen = found.best if move is None else found.moves.index(move)
        deep = (score if whole or index == chosen else None for index, score in enumerate(found.deep))
        return found.moves[chosen], Thought(chosen, found.near, tuple(deep), found.depth)

    def try_move(self, position: AnyPosition, rng: Random) -> tuple[Turn, AnyMove]:
        """What it plays while it learns. Takes one random word, two unless it plays what the search found best."""
        rule = self.rule
        found = self.valuer.look(self.game, position, self.thinker)
        ticket, index = rng.below(TICKETS), found.best
        if ticket < rule.random_share * TICKETS:
            index = rng.below(len(found.moves))
        elif ticket < (rule.random_share + rule.soft_share) * TICKETS:
            index = _drawn(found.near, rule.temperature, rng)
        turn = Turn(position, worth(found.score, rule.value_discount), index == found.best)
        return turn, found.moves[index]

    def turn(self, position: AnyPosition, move: AnyMove) -> Turn:
        """What is to be learnt of a move that somebody has made, the machine or not."""
        found = self.valuer.look(self.game, position, self.thinker)
        return Turn(position, worth(found.score, self.rule.value_discount), found.moves[found.best] == move)

    def game_learnt(self, rng: Random, start: AnyPosition | None = None) -> Outcome:
        """Play one game against itself, from the start unless another position is given, and learn from it."""
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
        """Learn from a finished game: its turns in order, of which the first ``n_opening`` were random; each lesson.

        With ``S`` the worth of a position, the position before it, which is valued for the other side, is taught
        ``-discount · S``, and where what the search found best was played
        ``-discount · ((1 - trace) · S + trace · target)``: the target of the position after it, or the result. Then, in
        order of play, ``w += rate / |φ|² · (target - value) · φ``, each weight kept to its grain.
        """
        if not self.learns:
            return []
        rate, steps = self.rule.rate(self.n_learnt), list[WeightStep]()
        for turn, target in self._targets(turns, outcome, n_opening):
            seen = self.valuer.features(turn.position, self.rule.features)
            value = self.value(turn.position)
            step = rate / sum(amount * amount for amount in seen.values()) * (target - value)
            for index, amount in seen.items():
                self.weights[index] = grained(float(self.weights[index]) + step * amount)
            steps.append(WeightStep(turn.position, value, target))
        self.n_learnt += 1
        if self.rule.average_games:
            share = 1.0 / min(float(self.n_learnt), self.rule.average_games)
            for index, mean in enumerate(self.average.tolist()):
                self.average[index] = grained(mean + share * (float(self.weights[index]) - mean))
        return steps

    def _targets(self, turns: Sequence[Turn], outcome: Outcome, n_opening: int) -> list[tuple[Turn, float]]:
        """Each turn whose position is the result of a move, with what that position is taught, in order of play."""
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
    """An index, the likelier the higher its score."""
    shares = [fading((score - max(scores)) / temperature) for score in scores]
    left = rng.below(sum(shares))
    for index, share in enumerate(shares):
        left -= share
        if left < 0:
            return index
    raise AssertionError("the shares are all there is")
