"""A readable tabular Q-learner: how it chooses and how it learns.

It plays games with an engine, which gives the static value after each move and the key of the move's entry.

It keeps one number for an action on a board, the *value*; a missing value is 0. It plays either side, so one table
serves both. Live matches and training use it directly. Source: C. Watkins, "Learning from delayed rewards" (1989); the
constants, the key and the order of learning are those of the rules of Romgon (docs/learning.md).
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
"""Reads the values stored for these keys, or for all keys on these boards; keys without a value are left out."""


class Values:
    """Values by key, each fetched when it is first needed. ``touched`` are the values set since.

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
        """Entries added to the stored ones."""
        self.n_left_out: int = 0
        """How often an entry was not added, for lack of room."""
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
        """Whether the key's value may be set: it has an entry, or there is room for one more. Counts refusals."""
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
        """Take over the value of an entry after ``visits`` lessons; ``is_new`` for an entry without a stored value."""
        self._entries.add(key)
        self.n_new += is_new
        first, n = self.touched.get(key, (before, 0))
        self.touched[key] = first, n + visits
        self._values[key] = after


class QLearner:
    """A machine that keeps values and plays either side.

    Args:
        game: the rules, with their options.
        rule: how it learns.
        values: its table. Changed in place.
        epsilon: the exploration rate, which changes with every game learnt from; by default that of the rule.
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
        assert engine is not None, "the rule fits only games with this engine"
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
        return tuple(Candidate(one.move, one.key, self.values[one.key], one.outlook, one.ends) for one in entries)

    def choose(self, position: AnyPosition, rng: Random) -> Chosen:
        """Choose a move: with chance ε at random, else the greatest Q + E/100, of equals the canonically first.

        The move always passes the checks of the rule. Takes one random word, or two if it explores.
        """
        candidates = self.candidates(position)
        if rng.below(_PROBABILITY_UNITS) < self.epsilon * _PROBABILITY_UNITS:
            allowed = self._allowed(candidates)
            return Chosen(candidates, allowed[rng.below(len(allowed))], explored=True)
        return self._best(candidates)

    def best(self, position: AnyPosition) -> Chosen | None:
        """Choose without exploration; ``None`` where there is no legal action."""
        candidates = self.candidates(position)
        return self._best(candidates) if candidates else None

    def _best(self, candidates: tuple[Candidate, ...]) -> Chosen:
        best = max(self._allowed(candidates), key=lambda index: candidates[index].total)
        return Chosen(candidates, best, explored=False)

    def _allowed(self, candidates: tuple[Candidate, ...]) -> Sequence[int]:
        """Return the indices of the candidates that pass the rule's checks, in canonical order; at least one."""
        every = range(len(candidates))
        if self.rule.take_wins and (wins := [index for index in every if candidates[index].ends > 0]):
            return wins
        if self.rule.avoid_repetition:
            return [index for index in every if candidates[index].ends >= 0] or every
        return every

    def follow(self, position: AnyPosition, move: AnyMove) -> Chosen:
        """Return the choice to learn from for a move that another player has made for the machine."""
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
