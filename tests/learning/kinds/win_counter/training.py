"""Strength is a small sample; an entry of a tournament is a position in the ledger."""

from __future__ import annotations

from dataclasses import asdict

from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import ContestPlayer
from learning.kinds.training import KindTraining, Sampling
from tests.learning.kinds.win_counter.learner import WinCounter, WinCounterRule
from tests.learning.kinds.win_counter.memory import counts_at


class WinCounterTraining(KindTraining):
    sampling = Sampling(n_games=10, off_by="a third")

    def measure_strength(self, memory, rng):
        n_games = self.sampling.n_games
        return {slug: asdict(memory.sample(OPPONENTS[slug], n_games, rng)) for slug in self.sampling.against}

    def entry_fields(self, machine):
        return {"epsilon": 0.0, "n_lessons": machine.n_lessons}

    def entrant(self, entry, game):
        counts = counts_at(entry.machine_id, entry.n_lessons)
        return ContestPlayer(None, WinCounter(game, WinCounterRule.from_json(entry.rule), counts))
