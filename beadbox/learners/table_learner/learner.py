"""A machine that learns a table of values by a method of the textbook, readable: how it chooses and how it learns.

Games are those in which no board comes twice, so a value that a game changes was met in it once: first-visit and
every-visit methods agree, traces that accumulate and traces that replace as well, and learning from a game when it is
over leaves what learning during it would. All four methods are therefore one formula (:meth:`TableLearner.learn`), and
tests/beadbox/test_table_learner.py holds it to each of them as the book prints them.

Source: R. Sutton and A. Barto, "Reinforcement Learning: An Introduction", second edition (2018).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from beadbox.learners.choice import Decision, ValueStep
from beadbox.learners.table_learner.rule import Method, TableRule
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Result

TICKETS = (1 << 32) - 1
RETURN_UNITS = 1e8
"""Units in a reward of 1. Every reward with at most eight decimals is a whole number of them."""


def entry_key(game: AnyGame, rule: TableRule, position: AnyPosition, move: AnyMove) -> str | None:
    """The key of a move's entry, the same for all that are the same up to symmetry.

    For values of boards it is the board after the move; ``None`` if that ends the game, for then there is nothing to
    learn of it. For values of moves it is the move on the canonical board, the first of those that symmetry makes one.
    """
    if rule.of_boards:
        after = game.canonical(game.apply(position, move))
        return None if game.is_terminal(after) else game.encode(after)
    board, symmetry = game.to_canonical(position)
    carried = game.transform_move(move, symmetry)
    first = next(members[0] for members in game.distinct_moves(board) if carried in members)
    return f"{game.format_move(first)}#{game.encode(board)}"


@dataclass(frozen=True, slots=True)
class TableChoice:
    """What the machine plays: its place among the legal moves, and whether it only tried something."""

    index: int
    explored: bool


class TableLearner:
    """A machine that keeps values in a table, on either side, so that it has no ``side`` of its own.

    Args:
        game: the rules; its boards can be listed.
        rule: how it learns.
        values: those that are not what they were at the start, by key. Changed in place.
        visits: how often each was learnt. Changed in place.
        epsilon: the chance that it tries anything; changes with every game learnt from.
        learns: whether it changes; one that does not never tries anything.
    """

    side: ClassVar[None] = None

    def __init__(
        self,
        game: AnyGame,
        rule: TableRule,
        values: dict[str, float] | None = None,
        visits: dict[str, int] | None = None,
        epsilon: float | None = None,
        *,
        learns: bool = True,
    ) -> None:
        self.game = game
        self.rule = rule
        self.values = {} if values is None else values
        self.visits = {} if visits is None else visits
        self.epsilon = rule.exploring if epsilon is None else epsilon
        self.learns = learns

    def value(self, key: str) -> float:
        """The value of an entry."""
        return self.values.get(key, self.rule.start_value)

    def worths(self, position: AnyPosition) -> list[float]:
        """What it expects of each legal move, in their order: its value, or ``r + γ V`` of the board after."""
        return [self._worth(position, move) for move in self.game.legal_moves(position)]

    def _worth(self, position: AnyPosition, move: AnyMove) -> float:
        key = entry_key(self.game, self.rule, position, move)
        if key is not None:
            return self.rule.later_discount * self.value(key) if self.rule.of_boards else self.value(key)
        outcome = self.game.outcome(self.game.apply(position, move))
        assert outcome is not None
        return self.rule.reward(Result.of(outcome, self.game.side_to_move(position)))

    def choose(self, position: AnyPosition, rng: Random) -> TableChoice:
        """What to play: with chance ε anything, else what it expects most of, ties at random; takes two random words.

        This is the ε-greedy policy of section 2.2 with values of moves, and that of section 6.8 with those of boards.
        """
        return self.choose_among(self.worths(position), rng)

    def choose_among(self, worths: Sequence[float], rng: Random) -> TableChoice:
        """The same where it is known what it expects of each move."""
        explores = rng.below(TICKETS) < (self.epsilon if self.learns else 0.0) * TICKETS
        among = range(len(worths)) if explores else _greatest(worths)
        return TableChoice(among[rng.below(len(among))], explores)

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        """The chance of each legal move when it tries nothing."""
        worths = self.worths(position)
        best = _greatest(worths)
        return {
            move: 1 / len(best) if index in best else 0.0 for index, move in enumerate(self.game.legal_moves(position))
        }

    def keys(self, position: AnyPosition) -> list[str | None]:
        """The key of the entry of each legal move, in their order; ``None`` of one that has none."""
        return [entry_key(self.game, self.rule, position, move) for move in self.game.legal_moves(position)]

    def decision(self, position: AnyPosition, index: int) -> Decision | None:
        """What has to be known of a choice to learn from it; ``None`` if its move has no entry."""
        keys = self.keys(position)
        key = keys[index]
        return None if key is None else Decision(key, tuple(one for one in keys if one is not None))

    def learn(self, decisions: Sequence[Decision], result: Result) -> list[ValueStep]:
        """Learn from a finished game: its own decisions in order of play; what became of each entry.

        ``V(d) += step · (G(d) − V(d))``, where G is the reward for the last decision and for any other

            ``γ ((1 − λ) · M + λ G(next))``,

        the λ-return in its recursive form (12.1, 12.18), with M what the next decision was worth before the game:
        for Q-learning the greatest value there (6.8), else that of what was played (6.2, 6.7). λ is 0 for these two,
        which makes it their target, and 1 for Monte Carlo, which makes it the return. The mean of returns
        (``TableRule.is_mean``) is worked out from their sum (:func:`mean_of`). Afterwards ε has decayed once.
        """
        if not self.learns:
            return []
        rule = self.rule
        ahead = [self._ahead(decision) for decision in decisions]
        target, steps = rule.reward(result), list[ValueStep]()
        for index in reversed(range(len(decisions))):
            if index < len(decisions) - 1:
                target = rule.later_discount * ((1.0 - rule.reach) * ahead[index + 1] + rule.reach * target)
            key = decisions[index].key
            before, n = self.value(key), self.visits.get(key, 0) + 1
            step = 1.0 / n if rule.step_by_visits else rule.step_size
            self.visits[key] = n
            self.values[key] = mean_of(before, n, target) if rule.is_mean else before + step * (target - before)
            steps.append(ValueStep(key, before, self.values[key]))
        self.epsilon = rule.explored(self.epsilon)
        return steps[::-1]

    def _ahead(self, decision: Decision) -> float:
        played: Iterable[str] = decision.keys if self.rule.method is Method.Q_LEARNING else (decision.key,)
        return max(self.value(key) for key in played)


def mean_of(before: float, n: int, target: float) -> float:
    """The mean of ``n`` returns: of ``n - 1``, whose mean is ``before``, and of one more.

    Returns are counted in units, so that their sum is whole. Means that are equal in fact are then equal to the last
    bit, whatever the order of the games: two thirds is 2/3 and 4/6. A running mean would differ in the last bit.
    """
    total = 0.0 + round(before * ((n - 1) * RETURN_UNITS)) + round(target * RETURN_UNITS)
    return total / (n * RETURN_UNITS)


def _greatest(worths: Sequence[float]) -> list[int]:
    most = max(worths)
    return [index for index, worth in enumerate(worths) if worth == most]
