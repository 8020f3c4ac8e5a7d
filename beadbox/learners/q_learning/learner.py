"""A tabular Q-learner, readable: its rule, how it chooses and how it learns.

It plays games that an engine knows, which says how each move looks from afar and what its entry is called.

It keeps one number for an action on a board, the *value*; numbers that it does not have yet are 0. It plays either
side, so one table serves both. Live matches and training use it as it stands. Source: C. Watkins, "Learning from
delayed rewards" (1989); the constants, the key and the order of learning are those of docs/rules/romgon.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from beadbox.engines.registry import engine_of
from beadbox.learners.choice import Candidate, Chosen, Decision, ValueStep
from beadbox.learners.q_learning.rule import QRule
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Result

_TICKETS = (1 << 32) - 1

Fetch = Callable[[Sequence[str]], Mapping[str, float]]
"""The values that are stored for these keys, or for all keys on these boards; keys that have none are left out."""


class Values:
    """Values by key: fetched when first asked for, and no more of them than that. ``touched`` are those set since.

    Args:
        fetch: reads what is stored, by key.
        room: how many entries may be added to those that are stored; ``None`` for any number.
        fetch_boards: reads what is stored on boards, by what the engine calls these; ``None``: key by key.
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
        self.n_new = 0
        """How many entries were added."""
        self.n_left_out = 0
        """How often one was not, for want of room."""
        self.touched: dict[str, tuple[float, int]] = {}
        """The value before the first change, and how many changes there were, by key."""

    def need(self, keys: Iterable[str]) -> None:
        """Read these keys in one go, those that are not known yet."""
        missing = [key for key in dict.fromkeys(keys) if key not in self._values]
        if missing:
            found = self.fetch(missing)
            self._values.update((key, found.get(key, 0.0)) for key in missing)
            self._entries.update(found)

    def admits(self, key: str) -> bool:
        """Whether the key's value may be set: it has an entry, or there is room for one more."""
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
        """Take over what so many lessons have made of an entry, which was there unless it ``is_new``."""
        self._entries.add(key)
        self.n_new += is_new
        first, n = self.touched.get(key, (before, 0))
        self.touched[key] = first, n + visits
        self._values[key] = after


class QLearner:
    """A machine that keeps values, on either side.

    Args:
        game: the rules, with their options.
        rule: how it learns.
        values: its table. Changed in place.
        epsilon: the chance that it tries anything; changes with every game learnt from.
        learns: whether it changes; a frozen machine plays as it stands.
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
        assert engine is not None, "such a rule fits no other game"
        self.game = game
        self.engine = engine
        self.rule = rule
        self.values = values
        self.epsilon = rule.epsilon if epsilon is None else epsilon
        self.learns = learns

    def candidates(self, position: AnyPosition) -> tuple[Candidate, ...]:
        """Every legal move of a position that is not terminal, in canonical order."""
        entries = self.engine.entries(self.game, position)
        self.values.need(one.key for one in entries)
        return tuple(Candidate(one.move, one.key, self.values[one.key], one.outlook, one.ends) for one in entries)

    def keys(self, position: AnyPosition) -> tuple[str, ...]:
        """The keys of every legal move, in canonical order; nothing is read."""
        return self.engine.keys(self.game, position)

    def choose(self, position: AnyPosition, rng: Random) -> Chosen:
        """What to play: with chance ε anything, each equally likely, else the greatest Q + E/100, ties canonically.

        Always one of those that its checks leave. Takes one random word, two where it explores.
        """
        candidates = self.candidates(position)
        if rng.below(_TICKETS) < self.epsilon * _TICKETS:
            left = self._left(candidates)
            return Chosen(candidates, left[rng.below(len(left))], explored=True)
        return self._best(candidates)

    def best(self, position: AnyPosition) -> Chosen | None:
        """What it thinks best, ties canonically; ``None`` where there is no legal action."""
        candidates = self.candidates(position)
        return self._best(candidates) if candidates else None

    def _best(self, candidates: tuple[Candidate, ...]) -> Chosen:
        best = max(self._left(candidates), key=lambda index: candidates[index].total)
        return Chosen(candidates, best, explored=False)

    def _left(self, candidates: tuple[Candidate, ...]) -> Sequence[int]:
        """Which of them the checks of its rule leave, in canonical order: one at least."""
        every = range(len(candidates))
        if self.rule.take_wins and (wins := [index for index in every if candidates[index].ends > 0]):
            return wins
        if self.rule.avoid_repetition:
            return [index for index in every if candidates[index].ends >= 0] or every
        return every

    def follow(self, position: AnyPosition, move: AnyMove) -> Chosen:
        """What the machine remembers of a move that somebody else has made for it."""
        candidates = self.candidates(position)
        return Chosen(candidates, [one.move for one in candidates].index(move), explored=False)

    def learn(self, decisions: Sequence[Decision], result: Result) -> list[ValueStep | None]:
        """Learn from a finished game: its own decisions in order of play; what became of each entry.

        ``None`` for an entry that there was no room for: it goes on counting 0.

        ``Q(d) += rate · (r + discount · M − Q(d))``, where r is 1, 0 or −1 for the last decision and the step reward
        for all others, and M the greatest Q of all moves of the next decision, as it stands by then, checks or none.
        Afterwards ε has decayed once.
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
