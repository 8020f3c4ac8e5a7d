"""A Q-learner in a live match: it reads the values of its actions, and learns from its decisions after the match."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.choice import Candidate, Chosen
from beadbox.learners.choice import Decision as LearnerDecision
from beadbox.learners.q_learning.learner import QLearner
from beadbox.learners.q_learning.memory import QMemory
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Tally
from games.live.players import Choice, LiveMatch
from learning.kinds.keyed_values.insight import Explainer
from learning.kinds.keyed_values.live import KeyedLive, decisions_by_seat
from learning.kinds.live import EndedMatch
from learning.kinds.q_learning.memory import MEMORY, values_learner
from learning.models import Machine


def evaluate_actions(machine: Machine, position: AnyPosition) -> tuple[Sequence[Candidate], Collection[int]]:
    """Return the machine's actions in a position, and a list with the index of the action that the machine plays.

    Of equally good actions the machine plays the first.
    """
    chosen = values_learner(machine).best(position)
    assert chosen is not None, "the game is not over"
    return chosen.candidates, [chosen.index]


def _candidates(game: AnyGame, position: AnyPosition, values: Sequence[float]) -> list[Candidate]:
    engine = engine_of(game)
    assert engine is not None, "a Q-learner plays only games with an engine"
    return [
        Candidate(entry.move, entry.key, value, entry.evaluation, entry.result_at_once)
        for entry, value in zip(engine.entries(game, position), values, strict=True)
    ]


def _effect(machine: Machine, n_changes: int) -> str:
    moves = "its one move" if n_changes == 1 else f"each of its {n_changes} moves"
    return f"The value of {moves} changes a little. The last move changes most."


EXPLAINER = Explainer(_candidates, evaluate_actions, _effect, has_outlook=True, n_shown=8)


class QLearningLive(KeyedLive):
    """A Q-learner in a seat of a live match. It reads only the values that it needs from the database."""

    slug = "machine-q"
    tells = "values"
    memory = MEMORY
    explainer = EXPLAINER

    def choose(self, live: LiveMatch, position: AnyPosition) -> Choice:
        rng = RandomSource(live.match.seed, live.match.n_plies)
        chosen = values_learner(self.machine).choose(position, rng)
        return Choice(chosen.move, record=chosen)

    def follow(self, live: LiveMatch, position: AnyPosition, move: AnyMove) -> Chosen:
        return values_learner(self.machine).follow(position, move)

    def teach(self, memory: QMemory, ended: EndedMatch) -> Tally:
        """Let the memory learn from each seat of its machine. If it had both seats, the first side comes first."""
        tally, learner = Tally(), memory.machine
        for result, decisions in decisions_by_seat(ended):
            memory.teach(
                [
                    (decision.ply, LearnerDecision(decision.key, learner.engine.keys(learner.game, position)))
                    for decision, position in decisions
                ],
                result,
            )
            tally.add(result)
        return tally

    @staticmethod
    def frozen_policy(machine: Machine, position: AnyPosition) -> QLearner:
        return values_learner(machine)
