"""A readable tabular Q-learner: its choice of moves and its learning.

The learner plays games that have an engine. The engine computes the static value after each move and the key of the
move's entry.

The learner has one number for each action on a board, the *value*; a missing value is 0. One table has the values of
both sides. Live matches and training use this module directly. Source: C. Watkins, "Learning from delayed rewards"
(1989). The rules of Romgon define the constants, the key and the order of learning (docs/learning.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from beadbox.engines.registry import engine_of
from beadbox.learners.choice import Candidate, Chosen, Decision, ValueStep
from beadbox.learners.q_learning.rule import QRule
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Result

_PROBABILITY_UNITS = (1 << 32) - 1

Fetch = Callable[[Sequence[str]], Mapping[str, float]]
"""Reads the stored values for keys, or for all keys on boards. The result omits keys without a stored value."""


class Values:
    """Values by key. A value is fetched when a program first asks for it. ``touched`` has the values set since then.

    Args:
        fetch: reads stored values by key.
        room: the number of entries that may be added to the stored ones; ``None`` for any number.
        fetch_boards: reads all stored values of boards, by the engine's keys of boards; ``None`` to read key by key.
    """

    def __init__(
        self,
        fetch: Fetch = lambda keys: {},
        room: int | None = None,
        fetch_boards: Fetch | None = None,
    ) -> None:
        self.fetch = fetch
        self.fetch_boards = fetch_boards
        self._values: dict[str, float] = {}
        self._entries: set[str] = set()
        self.room = room
        self.n_new: int = 0
        """The number of entries added to the stored ones."""
        self.n_left_out: int = 0
        """The number of times that an entry was not added, because there was no room."""
        self.touched: dict[str, tuple[float, int]] = {}
        """By key, the value before the first change and the number of changes."""

    def need(self, keys: Iterable[str]) -> None:
        """Read the values of these keys that are not known yet, in one call."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._values]
        if missing:
            found = self.fetch(missing)
            self._values.update((key, found.get(key, 0.0)) for key in missing)
            self._entries.update(found)

    def admits(self, key: str) -> bool:
        """Whether the key's value may be set: the key has an entry, or there is room for another entry.

        Refusals are counted in ``n_left_out``.
        """
        self.need((key,))
        if key in self._entries or self.room is None or self.n_new < self.room:
            return True
        self.n_left_out += 1
        return False

    def __getitem__(self, key: str) -> float:
        if key not in self._values:
            self.need((key,))
        return self._values[key]

    def __setitem__(self, key: str, value: float) -> None:
        before = self[key]
        self.learnt(key, before, value, 1, is_new=key not in self._entries)

    def learnt(self, key: str, before: float, after: float, visits: int, *, is_new: bool) -> None:
        """Set the value of an entry after ``visits`` corrections; ``is_new`` for an entry without a stored value."""
        self._entries.add(key)
        self.n_new += is_new
        first, n = self.touched.get(key, (before, 0))
        self.touched[key] = first, n + visits
        self._values[key] = after


class QLearner:
    """A machine that keeps values and plays either side.

    Args:
        game: the rules, with their options.
        rule: the rule by which the machine plays and learns.
        values: the table of the machine. Changed in place.
        epsilon: the exploration rate, which changes with every training game; by default the rate of the rule.
        learns: whether the machine learns; a frozen one does not change.
    """

    def __init__(
        self,
        game: AnyGame,
        rule: QRule,
        values: Values,
        epsilon: float | None = None,
        *,
        learns: bool = True,
    ) -> None:
        engine = engine_of(game)
        assert engine is not None, f"no rule of Q-learning fits {game.slug}, which has no engine"
        self.game = game
        self.engine = engine
        self.rule = rule
        self.values = values
        self.epsilon: float = rule.epsilon if epsilon is None else epsilon
        self.learns = learns

    def candidates(self, position: AnyPosition) -> tuple[Candidate, ...]:
        """Return every legal move of a position that is not terminal as a candidate, in canonical order."""
        entries = self.engine.entries(self.game, position)
        self.values.need(one.key for one in entries)
        return tuple(
            Candidate(one.move, one.key, self.values[one.key], one.evaluation, one.result_at_once) for one in entries
        )

    def choose(self, position: AnyPosition, rng: Random) -> Chosen:
        """Choose a random move with the probability ε, or else the move with the greatest Q + E/100.

        Of equally good moves, it is the first in canonical order. The move always passes the checks of the rule. Takes
        one random word, or two for a random move.
        """
        candidates = self.candidates(position)
        if rng.below(_PROBABILITY_UNITS) < self.epsilon * _PROBABILITY_UNITS:
            allowed = self._allowed(candidates)
            return Chosen(candidates, allowed[rng.below(len(allowed))], explored=True)
        return self._best(candidates)

    def best(self, position: AnyPosition) -> Chosen | None:
        """Choose a move without exploration; ``None`` if there is no legal action."""
        candidates = self.candidates(position)
        return self._best(candidates) if candidates else None

    def _best(self, candidates: tuple[Candidate, ...]) -> Chosen:
        best = max(self._allowed(candidates), key=lambda index: candidates[index].total)
        return Chosen(candidates, best, explored=False)

    def _allowed(self, candidates: tuple[Candidate, ...]) -> Sequence[int]:
        """Return the indices of the candidates that pass the rule's checks, in canonical order; at least one."""
        every = range(len(candidates))
        if self.rule.take_wins and (wins := [index for index in every if candidates[index].result_at_once > 0]):
            return wins
        if self.rule.avoid_repetition:
            return [index for index in every if candidates[index].result_at_once >= 0] or every
        return every

    def follow(self, position: AnyPosition, move: AnyMove) -> Chosen:
        """Return the choice from which the machine learns, for a move that another player made in its place."""
        candidates = self.candidates(position)
        return Chosen(candidates, [one.move for one in candidates].index(move), explored=False)

    def learn(self, decisions: Sequence[Decision], result: Result) -> list[ValueStep | None]:
        """Learn from a finished game: the machine's decisions in order of play. Return the change of each entry.

        The change is ``None`` for an entry without room, whose value stays 0.

        ``Q(d) += rate · (r + discount · M − Q(d))``, where r is 1, 0 or −1 for the last decision and the step reward
        for all others. M is the greatest Q of all moves of the next decision at that time, including moves that fail
        the checks; it is 0 for the last decision. Afterwards ε decays once.
        """
        if not self.learns:
            return []
        rule, steps = self.rule, list[ValueStep | None]()
        end = {Result.WIN: 1.0, Result.DRAW: 0.0, Result.LOSS: -1.0}[result]
        self.values.need(key for decision in decisions for key in decision.keys)
        for index, decision in enumerate(decisions):
            if not self.values.admits(decision.key):
                steps.append(None)
                continue
            before = self.values[decision.key]
            is_last = index == len(decisions) - 1
            ahead = 0.0 if is_last else max(self.values[key] for key in decisions[index + 1].keys)
            reward = end if is_last else rule.step_reward
            after = before + rule.learning_rate * (reward + rule.discount * ahead - before)
            self.values[decision.key] = after
            steps.append(ValueStep(decision.key, before, after))
        self.epsilon = rule.decayed(self.epsilon)
        return steps
