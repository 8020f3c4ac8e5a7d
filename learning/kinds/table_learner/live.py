"""A machine with a table of values in a live match, and in answers to questions about a board."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.choice import Candidate, Chosen
from beadbox.learners.choice import Decision as LearnerDecision
from beadbox.learners.table_learner.learner import SeatLesson, TableLearner
from beadbox.learners.table_learner.memory import TableMemory
from beadbox.learners.table_learner.rule import TableRule
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side, Tally
from games.live.players import Choice, LiveMatch
from learning.kinds.keyed_values.insight import Explainer
from learning.kinds.keyed_values.live import KeyedLive, decisions_by_seat
from learning.kinds.keyed_values.memory import entries_fetch, values_fetch
from learning.kinds.live import EndedMatch
from learning.kinds.table_learner.memory import MEMORY
from learning.models import Machine


def learner_at(machine: Machine, position: AnyPosition) -> TableLearner:
    """Return the present machine with only the values that it needs in this position."""
    learner = TableLearner(
        machine.game_rules, cast("TableRule", machine.rule), epsilon=machine.epsilon, learns=machine.learns
    )
    learner.values.update(values_fetch(machine)([key for key in learner.keys(position) if key is not None]))
    return learner


def learner_in(live: LiveMatch, side: Side, machine: Machine, position: AnyPosition) -> TableLearner:
    """Return the machine as the match has taught it so far, with only the values that it needs in this position.

    In a game whose boards can return, a machine learns after every move. But its lesson is stored only after the match.
    So at each move, this function repeats the learning steps of the earlier moves.
    """
    game = machine.game_rules
    if game.always_ends or not machine.learns:
        return learner_at(machine, position)
    learner = TableLearner(game, cast("TableRule", machine.rule), epsilon=machine.epsilon)
    decisions = _decisions_before(live, side, learner)
    keys = [key for key in learner.keys(position) if key is not None]
    found = entries_fetch(machine, [*dict.fromkeys(key for decision in decisions for key in decision.keys), *keys])
    learner.values.update((key, value) for key, (value, _) in found.items())
    learner.visits.update((key, n_visits) for key, (_, n_visits) in found.items())
    lesson = SeatLesson(learner)
    for decision in decisions:
        lesson.arrive(decision.keys)
        lesson.play(decision)
    lesson.arrive(keys)
    return learner


def _decisions_before(live: LiveMatch, side: Side, learner: TableLearner) -> list[LearnerDecision]:
    """Return the decisions of a side in a match so far, in order of play."""
    game, decisions = live.game, list[LearnerDecision | None]()
    position = game.initial_position()
    for ply in live.plies:
        move = game.parse_move(ply.move)
        if ply.side == side:
            decisions.append(learner.decision(position, game.legal_moves(position).index(move)))
        position = game.apply(position, move)
    return [decision for decision in decisions if decision is not None]


def candidates(learner: TableLearner, position: AnyPosition) -> tuple[Candidate, ...]:
    """Return every legal move with its expected value; the key of a move that ends the game may be empty."""
    moves = zip(
        learner.game.legal_moves(position), learner.keys(position), learner.expected_returns(position), strict=True
    )
    return tuple(Candidate(move, key or "", value, 0.0) for move, key, value in moves)


def evaluate_actions(machine: Machine, position: AnyPosition) -> tuple[Sequence[Candidate], Collection[int]]:
    """Return the machine's moves in a position, and the indices of the moves with the greatest value."""
    learner = learner_at(machine, position)
    chances = learner.policy(position).values()
    return candidates(learner, position), [index for index, chance in enumerate(chances) if chance > 0]


@dataclass(frozen=True, slots=True)
class FrozenLearner:
    """The present machine, which neither explores nor learns, for questions about a board."""

    learner: TableLearner

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        """Return the probability of each legal move."""
        return self.learner.policy(position)

    def choose(self, position: AnyPosition, rng: Random) -> tuple[AnyMove, None]:
        """Return the machine's move, and ``None`` because the machine opens no box."""
        return self.learner.game.legal_moves(position)[self.learner.choose(position, rng).index], None


def _candidates(game: AnyGame, position: AnyPosition, values: Sequence[float]) -> list[Candidate]:
    return [Candidate(move, "", value, 0.0) for move, value in zip(game.legal_moves(position), values, strict=True)]


def _effect(machine: Machine, n_changes: int) -> str:
    rule = cast("TableRule", machine.rule)
    unit = "board that it brought about" if rule.of_boards else "of its moves"
    if n_changes == 1:
        return f"The value of one {unit} changes."
    return f"The value of each {unit} changes." if rule.of_boards else f"The values of {n_changes} {unit} change."


EXPLAINER = Explainer(_candidates, evaluate_actions, _effect, has_outlook=False)


class TableLearnerLive(KeyedLive):
    """Live play in which only the values that are needed in a position are read."""

    tells = "values"
    memory = MEMORY
    explainer = EXPLAINER

    def choose(self, live: LiveMatch, position: AnyPosition) -> Choice:
        learner = learner_in(live, Side(self.row.side), self.machine, position)
        rng = RandomSource(live.match.seed, live.match.n_plies)
        moves = candidates(learner, position)
        choice = learner.choose_among([move.value for move in moves], rng)
        chosen = Chosen(moves, choice.index, choice.explored)
        return Choice(chosen.move, record=chosen)

    def follow(self, live: LiveMatch, position: AnyPosition, move: AnyMove) -> Chosen:
        """Return the choice that corresponds to a person's move in the machine's seat."""
        index = live.game.legal_moves(position).index(move)
        learner = learner_in(live, Side(self.row.side), self.machine, position)
        return Chosen(candidates(learner, position), index, explored=False)

    def teach(self, memory: TableMemory, ended: EndedMatch) -> Tally:
        """Let the memory learn from each seat of its machine: both seats, first side first, if it played itself."""
        tally, reader = Tally(), TableLearner(memory.game, memory.rule)
        for result, rows in decisions_by_seat(ended):
            decisions = [(row.ply, reader.decision(position, row.chosen)) for row, position in rows]
            memory.teach([(ply, decision) for ply, decision in decisions if decision is not None], result)
            tally.add(result)
        return tally

    @staticmethod
    def frozen_policy(machine: Machine, position: AnyPosition) -> FrozenLearner:
        learner = learner_at(machine, position)
        learner.learns = False
        return FrozenLearner(learner)
