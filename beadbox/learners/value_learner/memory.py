"""Training of value learners: alone and compiled, or move by move against other players; and their snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from beadbox.engines.level import Level
from beadbox.engines.position_values import FastValuer, Learnt
from beadbox.engines.registry import engine_of
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.value_learner.learner import Turn, ValueLearner, Weights
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.policies.opponent import Opponent
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Outcome, Result, Side, Tally
from beadbox.rules.play import Mover
from beadbox.strength.snapshots import Meeting, Opening, is_snapshot, snapshot_after


@dataclass
class ValueMemory:
    """A machine with its weights, and the weights of its snapshots.

    A run changes only the weights, their mean, the number of games, the snapshots and its random source. A run resumed
    with these goes on as if it had never stopped.
    """

    machine: ValueLearner
    snapshots: dict[int, Weights] = field(default_factory=dict)
    """The weights for play, by games learnt from: after 1, 100, 300, 1,000, …"""
    n_left_out: int = 0

    @classmethod
    def load(
        cls,
        game: AnyGame,
        rule: ValueRule,
        weights: Weights,
        n_learnt: int = 0,
        snapshots: Mapping[int, Weights] | None = None,
        average: Weights | None = None,
    ) -> ValueMemory:
        """Return the memory with copies of these weights and their mean."""
        mean = None if average is None else average.copy()
        return cls(ValueLearner(game, rule, weights.copy(), n_learnt, mean), dict(snapshots or {}))

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent; return our tally. Everything is updated in place.

        The random source draws the sides of every game. The machine learns from the moves of both sides.
        """
        return self._play(lambda: opponent.mover(self.machine.game), n_games, rng, None)

    def train_against(self, opponent: ValueMemory, n_games: int, rng: RandomSource, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against another memory, or itself; return our tally, or that of the first side.

        Against itself the machine learns from every game once, for any value of ``opponent_learns``.
        """
        if opponent is self:
            return self._train_alone(n_games, rng)
        other = opponent.machine
        if not opponent_learns:
            return self._play(lambda: lambda position, _: other.choose(position), n_games, rng, None)
        return self._play(lambda: lambda position, rng: other.try_move(position, rng)[1], n_games, rng, opponent)

    def learn_match(self, moves: list[tuple[AnyPosition, AnyMove]], outcome: Outcome) -> None:
        """Learn from a finished match: each position with the move played there, by either side."""
        self._learn([self.machine.turn(position, move) for position, move in moves], outcome, 0)

    def _learn(self, turns: list[Turn], outcome: Outcome, n_opening: int) -> None:
        self.machine.learn(turns, outcome, n_opening)
        self._keep_snapshot()

    def _keep_snapshot(self) -> None:
        if is_snapshot(self.machine.n_learnt):
            self.snapshots[self.machine.n_learnt] = self.machine.played.copy()

    def _train_alone(self, n_games: int, rng: RandomSource) -> Tally:
        machine, tally = self.machine, Tally()
        end = machine.n_learnt + n_games
        while machine.n_learnt < end:
            n = min(end, snapshot_after(machine.n_learnt)) - machine.n_learnt
            lessons = machine.rule.lessons
            found = fast_valuer(machine.game).train(
                machine.game, machine.weights, machine.average, lessons, machine.n_learnt, n, rng
            )
            machine.n_learnt += n
            self._keep_snapshot()
            for outcome, number in found.items():
                for _ in range(number):
                    tally.add(Result.of(outcome, Side.FIRST))
        return tally

    def _play(self, other: Callable[[], Mover], n_games: int, rng: RandomSource, also: ValueMemory | None) -> Tally:
        """Play games against another player and learn from both sides' moves; the memory ``also`` learns likewise."""
        game, machine, tally = self.machine.game, self.machine, Tally()
        for _ in range(n_games):
            side, mover, position = Side(rng.below(2)), other(), game.initial_position()
            n_opening = rng.below(machine.rule.random_opening + 1)
            turns, moves = list[Turn](), list[tuple[AnyPosition, AnyMove]]()
            while (outcome := game.outcome(position)) is None:
                if len(turns) < n_opening:
                    legal = game.legal_moves(position)
                    turn, move = Turn(position, 0.0, followed=False), legal[rng.below(len(legal))]
                elif game.side_to_move(position) is side:
                    turn, move = machine.try_move(position, rng)
                else:
                    move = mover(position, rng)
                    turn = machine.turn(position, move)
                turns.append(turn)
                moves.append((position, move))
                position = game.apply(position, move)
            self._learn(turns, outcome, n_opening)
            if also is not None:
                also.learn_match(moves, outcome)
            tally.add(Result.of(outcome, side))
        return tally


def fast_valuer(game: AnyGame) -> FastValuer[AnyGame, AnyPosition, AnyMove]:
    """Return the compiled games between values, for a game that value rules fit."""
    engine = engine_of(game)
    assert engine is not None, "the rule fits only games with this engine"
    assert engine.valuer is not None, "the rule fits only games with this engine"
    return engine.valuer


@dataclass(frozen=True, slots=True)
class ValuePlayer:
    """A frozen value learner, for games without learning."""

    machine: ValueLearner

    def mover(self, game: AnyGame) -> Mover:
        """Return a function that chooses the moves of a game."""
        return lambda position, rng: self.machine.choose(position)


def value_meeting(game: AnyGame, one: Learnt | Level, other: Learnt | Level) -> Meeting:
    """Return a function that plays compiled games between values and levels of the engine.

    It does the same as ``beadbox.strength.snapshots.meeting``, a hundred times as fast. A level with a time limit
    always gets the time that it needs.
    """
    valuer = fast_valuer(game)

    def play(opening: Opening, side: Side, rng: RandomSource) -> Result:
        players = (one, other) if side is Side.FIRST else (other, one)
        return Result.of(valuer.contest(game, opening, players, rng), side)

    return play
