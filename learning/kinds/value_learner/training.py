"""Training of value learners: a search plays every game, so strength is a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, cast

from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.memory import ValueMemory, ValuePlayer, compiled_meeting
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.strength.sampled import Sampled, sample
from beadbox.strength.snapshots import CHOICE_SEED, Meeting, Opening, openings
from learning.kinds.training import KindTraining, Sampling
from learning.kinds.value_learner.memory import floats, weights_learner_at, weights_row_at
from learning.models import Machine, TournamentEntry, Weights
from learning.selectors.strength import Strength


class ValueLearnerTraining(KindTraining):
    """Strength and snapshots are measured against an engine's levels.

    A machine beats random play after a few hundred games, so later results against random play say nothing.
    """

    sampling = Sampling(("random", "medium"), n_first_games=2)
    levels = ("medium", "hard")

    def measure_strength(self, memory: ValueMemory, rng: RandomSource) -> Strength:
        learner = memory.machine
        engine = engine_of(learner.game)
        assert engine is not None, "a value learner plays only games with an engine"
        opening_list = openings(learner.game, (self.sampling.n_games + 1) // 2, seed=CHOICE_SEED)
        # The weakest level of an engine plays at random.
        weakest = next(iter(engine.levels.values()))
        meetings = {
            slug: compiled_meeting(learner.game, learner.player, engine.levels.get(slug, weakest))
            for slug in self.sampling.against
        }
        return {
            slug: asdict(_sample(meet, opening_list, rng, self.sampling.n_games)) for slug, meet in meetings.items()
        }

    def meeting(self, game: AnyGame, player: Any, level: str) -> Meeting:
        engine = engine_of(game)
        assert engine is not None, "a value learner plays only games with an engine"
        return compiled_meeting(game, player.machine.player, engine.levels[level])

    def restore_memory(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        """Store the weights after ``n_lessons`` lessons again, as the weights after the lesson ``lesson_id``."""
        row = weights_row_at(machine.pk, n_lessons)
        Weights.objects.create(
            machine=machine, lesson_id=lesson_id, n_learnt=row.n_learnt, weights=row.weights, average=row.average
        )

    def weights_around_lesson(self, machine: Machine, n_lessons: int) -> dict[str, object]:
        after = weights_row_at(machine.pk, n_lessons)
        # A new, imported or reset machine begins with a row without a lesson. There are no weights before that row.
        before = None if after.lesson_id is None else weights_row_at(machine.pk, n_lessons - 1)
        return {
            "lesson": n_lessons,
            "features": cast("ValueRule", machine.rule).features,
            "before": None if before is None else floats(before.weights).tolist(),
            "after": floats(after.weights).tolist(),
            "mean_before": None if before is None else floats(before.average).tolist(),
            "mean_after": floats(after.average).tolist(),
        }

    def entry_fields(self, machine: Machine) -> dict[str, object]:
        """Return the number of lessons; the entry reads the weights after this lesson from the ledger."""
        return {"epsilon": 0.0, "n_lessons": machine.n_lessons}

    def entrant(self, entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
        assert entry.machine_id is not None
        assert entry.n_lessons is not None
        rule = ValueRule.from_json(entry.rule or {})
        learner = weights_learner_at(entry.machine_id, entry.n_lessons, game, rule)
        return ContestPlayer(None, ValuePlayer(learner))


def _sample(meet: Meeting, opening_list: Sequence[Opening], rng: RandomSource, n_games: int) -> Sampled:
    """Return the sampled strength of ``n_games`` games with these openings, each from both sides."""
    games = ((opening, side) for opening in opening_list for side in Side)
    return sample(lambda: meet(*next(games), rng), n_games)
