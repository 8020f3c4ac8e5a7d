"""Training of machines that keep values: the loop, and what it leaves to be stored.

A coin decides in every game which side the learner plays. The whole randomness of a run is its random source, and ε
and the values are the machine's: a run taken up again goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from games.rules.base import Game, Side
from games.rules.player import Random
from learning.core.machines.box_machine import Result
from learning.core.machines.q_learning import Decision, Fetch, QLearner, QRule, Values
from learning.core.opponents.base import Opponent
from learning.core.training.episodes import Tally
from learning.core.training.memory import TouchedValue
from learning.core.training.play import Mover, game_played
from learning.core.training.sampled import Sampled, sample


@dataclass
class QMemory:
    """A readable machine on fetched values; ``steps``: what a match taught it, in the order in which it was learnt."""

    machine: QLearner
    steps: list[TouchedValue] = field(default_factory=list)

    @classmethod
    def load(cls, game: Game[Any, Any], rule: QRule, epsilon: float, fetch: Fetch) -> QMemory:
        """The memory behind ``fetch``, none of it read yet."""
        return cls(QLearner(game, rule, Values(fetch), epsilon))

    @property
    def epsilon(self) -> float:
        """The chance of exploring, as it has become."""
        return self.machine.epsilon

    @property
    def n_new(self) -> int:
        """How many entries were added."""
        return self.machine.values.n_new

    @property
    def n_left_out(self) -> int:
        """How often an entry was not added, for want of room."""
        return self.machine.values.n_left_out

    def teach(self, decisions: Sequence[tuple[int, Decision]], result: Result) -> None:
        """Learn from one seat of a match: (ply, decision) in order of play."""
        learnt = self.machine.learn([decision for _, decision in decisions], result)
        self.steps += [
            TouchedValue(step.key, step.before, step.after, 1, ply)
            for (ply, _), step in zip(decisions, learnt, strict=True)
            if step is not None
        ]

    def touched(self) -> list[TouchedValue]:
        """The entries that were learnt: of training each once, by key; of a match every step."""
        if self.steps:
            return self.steps
        values = self.machine.values
        return [
            TouchedValue(key, before, values[key], visits) for key, (before, visits) in sorted(values.touched.items())
        ]

    def sample(self, opponent: Opponent, n_games: int, rng: Random) -> Sampled:
        """What comes of games against a fixed opponent, each side in turn, in which it plays as ever."""
        sides = iter(range(n_games))

        def play() -> Result:
            side = Side(next(sides) % 2)
            movers = {side: _noting(self.machine, []), side.other: opponent.mover(self.machine.game)}
            return game_played(self.machine.game, movers, rng)[side]

        return sample(play, n_games)

    def train(self, opponent: Opponent, n_games: int, rng: Random) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent; the memory is updated in place."""
        game, tally = self.machine.game, Tally()
        for _ in range(n_games):
            side, own = Side(rng.below(2)), list[Decision]()
            movers = {side: _noting(self.machine, own), side.other: opponent.mover(game)}
            result = game_played(game, movers, rng)[side]
            self.machine.learn(own, result)
            tally.add(result)
        return tally

    def train_against(self, opponent: QMemory, n_games: int, rng: Random, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against another machine, or itself; our tally. Both memories are updated in place.

        A coin decides about the sides in every game. One that plays itself and is to learn as the opponent too learns
        from both seats, from its own as the learner first.
        """
        game, tally = self.machine.game, Tally()
        for _ in range(n_games):
            side, own, others = Side(rng.below(2)), list[Decision](), list[Decision]()
            movers = {side: _noting(self.machine, own), side.other: _noting(opponent.machine, others)}
            results = game_played(game, movers, rng)
            self.machine.learn(own, results[side])
            if opponent_learns:
                opponent.machine.learn(others, results[side.other])
            tally.add(results[side])
        return tally


def _noting(machine: QLearner, decisions: list[Decision]) -> Mover:
    def move(position: Any, rng: Random) -> Any:
        chosen = machine.choose(position, rng)
        decisions.append(chosen.decision)
        return chosen.move

    return move
