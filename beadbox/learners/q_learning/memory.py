"""Training of Q-learners, in a readable loop and in compiled games, and the entries to be stored.

The random source draws the learner's side of every game. A run depends only on its random source, ε and the values, so
a resumed run goes on as if it had never stopped.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from beadbox.engines.action_values import BoardLookup, QParameters, Trainee
from beadbox.engines.level import Level
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.choice import Decision
from beadbox.learners.memory import TouchedValue
from beadbox.learners.q_learning.learner import Fetch, QLearner, Values
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.engine import EngineOpponent
from beadbox.policies.opponent import Opponent
from beadbox.policies.uniform import RandomOpponent
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.rules.play import Mover, game_played
from beadbox.strength.sampled import Sampled, shares


@dataclass
class QMemory:
    """A readable machine with fetched values. ``steps`` are the changes of entries by a match, in order of learning."""

    machine: QLearner
    steps: list[TouchedValue] = field(default_factory=list)

    @classmethod
    def load(cls, game: AnyGame, rule: QRule, epsilon: float, fetch: Fetch) -> QMemory:
        """Return a memory that reads values with ``fetch``. It has read none yet."""
        return cls(QLearner(game, rule, Values(fetch), epsilon))

    @property
    def epsilon(self) -> float:
        """The present exploration rate."""
        return self.machine.epsilon

    @property
    def n_new(self) -> int:
        """The number of entries added to the stored ones."""
        return self.machine.values.n_new

    @property
    def n_left_out(self) -> int:
        """The number of times that an entry was not added, because there was no room."""
        return self.machine.values.n_left_out

    def teach(self, decisions: Sequence[tuple[int, Decision]], result: Result) -> None:
        """Learn from one seat of a match; ``decisions`` are pairs of a ply and a decision, in order of play."""
        learnt = self.machine.learn([decision for _, decision in decisions], result)
        self.steps += [
            TouchedValue(step.key, step.before, step.after, 1, ply)
            for (ply, _), step in zip(decisions, learnt, strict=True)
            if step is not None
        ]

    def touched(self) -> list[TouchedValue]:
        """Return the changed entries. After training, each entry occurs once; after a match, once for each change."""
        if self.steps:
            return self.steps
        values = self.machine.values
        return [
            TouchedValue(key, before, values[key], visits) for key, (before, visits) in sorted(values.touched.items())
        ]

    def sample(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Sampled:
        """Play games against a fixed opponent, each side in turn, exploring but not learning; return the shares."""
        return shares(self.contest(opponent, n_games, rng, epsilon=self.machine.epsilon))

    def contest(
        self, opponent: Opponent, n_games: int, rng: RandomSource, *, epsilon: float = 0.0, n_random: int = 0
    ) -> Tally:
        """Play games against a fixed opponent without learning, each side in turn; return our tally.

        ``epsilon`` is the exploration rate. The first ``n_random`` plies of each game are random.
        """
        known = self.machine
        frozen = QMemory(QLearner(known.game, known.rule, known.values, epsilon, learns=False))
        return frozen._play(opponent, n_games, rng, alternate_sides=True, n_random=n_random)

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent; return our tally. The memory is updated in place."""
        return self._play(opponent, n_games, rng)

    def train_against(self, opponent: QMemory, n_games: int, rng: RandomSource, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against another machine, or itself; return our tally. Both memories are updated in place.

        The random source draws the sides of every game. A machine that plays itself with ``opponent_learns`` learns
        from both seats, from the learner's first.
        """
        return self._play(opponent, n_games, rng, other_learns=opponent_learns)

    def _play(
        self,
        other: QMemory | Opponent,
        n_games: int,
        rng: RandomSource,
        *,
        other_learns: bool = False,
        alternate_sides: bool = False,
        n_random: int = 0,
    ) -> Tally:
        game, engine = self.machine.game, self.machine.engine
        trainee = self.trainee()
        opponent: Trainee | Level | None = None
        match other:
            case QMemory():
                opponent = trainee if other is self else other.trainee()
            case EngineOpponent():
                opponent = other.level(game)
            case RandomOpponent():
                pass
            case _:
                return play_games(self.machine, other, n_games, rng, alternate_sides=alternate_sides, n_random=n_random)
        found = engine.trainer.play(
            game,
            trainee,
            opponent,
            n_games,
            rng,
            other_learns=other_learns,
            alternate_sides=alternate_sides,
            n_random=n_random,
        )
        self.take(trainee)
        if isinstance(other, QMemory) and isinstance(opponent, Trainee) and other is not self:
            other.take(opponent)
        return Tally(*found)

    def trainee(self) -> Trainee:
        """Return the machine in the form that the engine's compiled games train."""
        machine, rule = self.machine, self.machine.rule
        parameters = QParameters(
            float(rule.learning_rate),
            float(rule.discount),
            float(rule.epsilon_decay),
            float(rule.epsilon_floor),
            float(rule.step_reward),
            take_wins=rule.take_wins,
            avoid_repetition=rule.avoid_repetition,
            learns=machine.learns,
        )
        values = machine.values
        max_new_entries = None if values.room is None else max(values.room - values.n_new, 0)
        return Trainee(parameters, float(machine.epsilon), self._board_lookup(), max_new_entries)

    def _board_lookup(self) -> BoardLookup:
        """Return a function that reads the present values of all entries on boards."""
        game, engine, values = self.machine.game, self.machine.engine, self.machine.values
        since = defaultdict[str, dict[str, float]](dict)
        for key in values.touched:
            since[engine.key_board(key)][key] = values[key]

        def lookup(boards: Mapping[str, Sequence[AnyPosition]]) -> dict[str, float]:
            """Return the values on these boards by key; values changed since loading replace the stored ones."""
            if values.fetch_boards is not None:
                found = dict(values.fetch_boards(list(boards)))
            else:
                both = (position for positions in boards.values() for position in positions)
                found = dict(values.fetch([key for position in both for key in engine.keys(game, position)]))
            for board in boards:
                found |= since.get(board, {})
            return found

        return lookup

    def take(self, trainee: Trainee) -> None:
        """Set the values and ε of the machine to those that a trainee has after compiled games."""
        values = self.machine.values
        self.machine.epsilon = trainee.epsilon
        values.n_left_out += trainee.n_left_out
        for one in trainee.changes:
            values.learnt(one.key, one.before, one.after, one.visits, is_new=one.is_new)


def play_games(
    learner: QLearner,
    other: QLearner | Opponent,
    n_games: int,
    rng: Random,
    *,
    other_learns: bool = False,
    alternate_sides: bool = False,
    n_random: int = 0,
) -> Tally:
    """Play and learn ``n_games`` in the readable loop, the reference of the compiled one; return the learner's tally.

    The sides of every game are drawn at random, or alternate if ``alternate_sides``. The first ``n_random`` plies
    are random and are not learnt from. The learner learns first, then the opponent if ``other_learns``.
    """
    game, tally = learner.game, Tally()

    def with_random_opening(mover: Mover) -> Mover:
        """Return the mover with random moves in the first ``n_random`` plies, which it does not see."""

        def move(position: AnyPosition, rng: Random) -> AnyMove | None:
            if game.ply(position) >= n_random:
                return mover(position, rng)
            legal = game.legal_moves(position)
            return legal[rng.below(len(legal))]

        return move

    for number in range(n_games):
        side = Side(number % 2 if alternate_sides else rng.below(2))
        own_decisions, opponent_decisions = list[Decision](), list[Decision]()
        if isinstance(other, QLearner):
            opponent_mover = _recording_mover(other, opponent_decisions)
        else:
            opponent_mover = other.mover(game)
        mover = _recording_mover(learner, own_decisions)
        results = game_played(
            game,
            {side: with_random_opening(mover), side.other: with_random_opening(opponent_mover)},
            rng,
        )
        learner.learn(own_decisions, results[side])
        if isinstance(other, QLearner) and other_learns:
            other.learn(opponent_decisions, results[side.other])
        tally.add(results[side])
    return tally


def _recording_mover(machine: QLearner, decisions: list[Decision]) -> Mover:
    def move(position: AnyPosition, rng: Random) -> AnyMove | None:
        chosen = machine.choose(position, rng)
        decisions.append(chosen.decision)
        return chosen.move

    return move
