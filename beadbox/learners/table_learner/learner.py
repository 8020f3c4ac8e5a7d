"""A readable machine that learns a table of values by a textbook method: how it chooses and how it learns.

Q-learning and Sarsa learn after every move (:class:`SeatLesson`). TD(λ) and Monte Carlo learn after the game, and only
games in which no board recurs: there a game meets each value that it changes once. Therefore first-visit and
every-visit methods agree, accumulating and replacing traces agree, and learning after a game has the same result as
learning during it. tests/beadbox/test_table_learner.py compares each method with the algorithm as the book prints it.

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

PROBABILITY_UNITS = (1 << 32) - 1
"""A probability p is p times as many units: a random number below ``PROBABILITY_UNITS`` is smaller with chance p."""
RETURN_UNITS = 1e8
"""Units in a reward of 1. Every reward with at most eight decimals is a whole number of them."""


def entry_key(game: AnyGame, rule: TableRule, position: AnyPosition, move: AnyMove) -> str | None:
    """Return the key of a move's entry, the same for all moves that are equal up to symmetry.

    For values of boards it is the board after the move; ``None`` if the move ends the game, since then there is nothing
    to learn. For values of moves it is the move on the canonical board, the first of its symmetry class.
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
    """A choice: the index of the move among the legal moves, and whether it was exploration."""

    index: int
    explored: bool


class TableLearner:
    """A machine that keeps values in a table and plays either side, so that it has no ``side`` of its own.

    Args:
        game: the rules; all boards of the game can be listed.
        rule: how it learns.
        values: values by key; a missing one is the start value of the rule. Changed in place.
        visits: how often each value was learnt, by key. Changed in place.
        epsilon: the exploration rate, which changes with every game learnt from; by default that of the rule.
        learns: whether the machine learns; a frozen one never explores.
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
        self.values: dict[str, float] = {} if values is None else values
        self.visits: dict[str, int] = {} if visits is None else visits
        self.epsilon: float = rule.exploring if epsilon is None else epsilon
        self.learns = learns

    def value(self, key: str) -> float:
        """Return the value of an entry, or the start value if it was never learnt."""
        return self.values.get(key, self.rule.start_value)

    def expected_returns(self, position: AnyPosition) -> list[float]:
        """Return the expected return of each legal move, in order: its value, or ``r + γ V`` of the board after it."""
        return [self._expected_return(position, move) for move in self.game.legal_moves(position)]

    def _expected_return(self, position: AnyPosition, move: AnyMove) -> float:
        key = entry_key(self.game, self.rule, position, move)
        if key is not None:
            return self.rule.later_discount * self.value(key) if self.rule.of_boards else self.value(key)
        outcome = self.game.outcome(self.game.apply(position, move))
        assert outcome is not None
        return self.rule.reward(Result.of(outcome, self.game.side_to_move(position)))

    def choose(self, position: AnyPosition, rng: Random) -> TableChoice:
        """Choose a move: with chance ε at random, else the greatest expected return, ties at random.

        Takes two random words. This is the ε-greedy policy of section 2.2 with values of moves, and that of section 6.8
        with values of boards.
        """
        return self.choose_among(self.expected_returns(position), rng)

    def choose_among(self, expected_returns: Sequence[float], rng: Random) -> TableChoice:
        """Choose like :meth:`choose`, from the expected returns of the legal moves."""
        explores = rng.below(PROBABILITY_UNITS) < (self.epsilon if self.learns else 0.0) * PROBABILITY_UNITS
        among = range(len(expected_returns)) if explores else _greatest(expected_returns)
        return TableChoice(among[rng.below(len(among))], explores)

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        """Map each legal move to its probability, without exploration."""
        expected_returns = self.expected_returns(position)
        best = _greatest(expected_returns)
        return {
            move: 1 / len(best) if index in best else 0.0 for index, move in enumerate(self.game.legal_moves(position))
        }

    def keys(self, position: AnyPosition) -> list[str | None]:
        """Return the key of each legal move's entry, in order; ``None`` for a move without an entry."""
        return [entry_key(self.game, self.rule, position, move) for move in self.game.legal_moves(position)]

    def decision(self, position: AnyPosition, index: int) -> Decision | None:
        """Return the part of a choice that learning needs; ``None`` if its move has no entry."""
        keys = self.keys(position)
        key = keys[index]
        return None if key is None else Decision(key, tuple(one for one in keys if one is not None))

    def learn(self, decisions: Sequence[Decision], result: Result) -> list[ValueStep]:
        """Learn from a finished game: the machine's decisions in order of play. Return the change of each entry.

        Afterwards ε decays once.
        """
        lesson = SeatLesson(self)
        for decision in decisions:
            lesson.arrive(decision.keys)
            lesson.play(decision)
        return lesson.end(result)

    def learn_backwards(self, decisions: Sequence[Decision], result: Result) -> list[ValueStep]:
        """Learn after a game in which no board recurs. Return the change of each entry, in order of play.

        ``V(d) += step · (G(d) − V(d))``, where G is the reward for the last decision and for any other

            ``γ ((1 − λ) · V(next) + λ G(next))``,

        the λ-return in its recursive form (12.1, 12.18), with the values before the game. λ is 1 for Monte Carlo, which
        gives the return. The mean of returns (``TableRule.is_mean``) is computed from their sum (:func:`mean_of`).
        """
        rule = self.rule
        later_values = [self.value(decision.key) for decision in decisions]
        target, steps = rule.reward(result), list[ValueStep]()
        for index in reversed(range(len(decisions))):
            if index < len(decisions) - 1:
                target = rule.later_discount * ((1.0 - rule.reach) * later_values[index + 1] + rule.reach * target)
            steps.append(self.correct(decisions[index].key, target))
        return steps[::-1]

    def correct(self, key: str, target: float) -> ValueStep:
        """Move the value of an entry towards ``target``, and count the visit."""
        rule = self.rule
        before, n = self.value(key), self.visits.get(key, 0) + 1
        step = 1.0 / n if rule.step_by_visits else rule.step_size
        self.visits[key] = n
        self.values[key] = mean_of(before, n, target) if rule.is_mean else before + step * (target - before)
        return ValueStep(key, before, self.values[key])


class SeatLesson:
    """The lesson of one seat of a game to its machine, as the game goes on.

    Q-learning corrects the value of a move when the seat must choose again, by the greatest value there (6.8). Sarsa
    corrects the value when the next move is chosen, by the value of that move (6.7). The other methods learn at the
    end of the game. The caller calls :meth:`arrive` before each choice and :meth:`play` after it, then :meth:`end`.
    """

    def __init__(self, machine: TableLearner) -> None:
        self.machine = machine
        self.decisions: list[Decision] = []
        self.steps: list[ValueStep] = []

    def choose(self, position: AnyPosition, rng: Random) -> int:
        """Choose a move of a game and learn from the choice. Return the index of the move."""
        keys = self.machine.keys(position)
        with_entries = tuple(key for key in keys if key is not None)
        self.arrive(with_entries)
        index = self.machine.choose(position, rng).index
        key = keys[index]
        if key is not None:
            self.play(Decision(key, with_entries))
        return index

    def arrive(self, keys: Iterable[str]) -> None:
        """Learn from the choice that the seat must make, among moves with these entries."""
        if self.machine.rule.method is Method.Q_LEARNING:
            self._step(keys)

    def play(self, decision: Decision) -> None:
        """Learn from the move that was chosen."""
        if self.machine.rule.method is Method.SARSA:
            self._step((decision.key,))
        self.decisions.append(decision)

    def end(self, result: Result) -> list[ValueStep]:
        """Learn from the result, and let ε decay. Return the change of each entry, in order of play."""
        machine = self.machine
        if not machine.learns:
            return []
        if not machine.rule.learns_each_move:
            self.steps = machine.learn_backwards(self.decisions, result)
        elif self.decisions:
            self.steps.append(machine.correct(self.decisions[-1].key, machine.rule.reward(result)))
        machine.epsilon = machine.rule.explored(machine.epsilon)
        return self.steps

    def _step(self, keys: Iterable[str]) -> None:
        machine = self.machine
        if machine.learns and self.decisions:
            later_value = max(machine.value(key) for key in keys)
            self.steps.append(machine.correct(self.decisions[-1].key, machine.rule.later_discount * later_value))


def mean_of(before: float, n: int, target: float) -> float:
    """Return the mean of ``n`` returns, from the mean ``before`` of the first ``n - 1`` and the last, ``target``.

    Returns are counted in units, so that their sum is a whole number. Equal means are then equal to the last bit,
    whatever the order of the games: two thirds is 2/3 and 4/6. A running mean would differ in the last bit.
    """
    total = 0.0 + round(before * ((n - 1) * RETURN_UNITS)) + round(target * RETURN_UNITS)
    return total / (n * RETURN_UNITS)


def _greatest(expected_returns: Sequence[float]) -> list[int]:
    best = max(expected_returns)
    return [index for index, value in enumerate(expected_returns) if value == best]
