"""Training of Q-learners: games are long, so strength is a small sample."""

from __future__ import annotations

from dataclasses import asdict

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.q_learning.frozen import FrozenValues
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from learning.kinds.keyed_values.memory import values_fetch_at
from learning.kinds.keyed_values.training import KeyedTraining
from learning.kinds.training import Sampling
from learning.models import TournamentEntry
from learning.selectors.strength import Strength


class QLearningTraining(KeyedTraining):
    """Strength is a sample of games against opponents that need at most a second for a game."""

    sampling = Sampling(("random", "medium"), 50, "a seventh", n_first_games=2, games_per_point=100)
    levels = ("random", "medium")

    def measure_strength(self, memory: QMemory, rng: RandomSource) -> Strength:
        n_games = self.sampling.n_games
        return {slug: asdict(memory.sample(OPPONENTS[slug], n_games, rng)) for slug in self.sampling.against}

    def entrant(self, entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
        assert entry.machine_id is not None
        assert entry.epsilon is not None
        assert entry.n_lessons is not None
        values = values_fetch_at(entry.machine_id, entry.n_lessons)
        return ContestPlayer(None, FrozenValues(QRule.from_json(entry.rule or {}), entry.epsilon, values))
