"""Training of value learners, and their snapshots.

A machine trains against itself in compiled games, or against other players in readable ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from beadbox.engines.level import Level
from beadbox.engines.position_values import FastValuer, LearntPlayer
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

    A training run changes only the weights, their mean, the number of games, the snapshots and the run's random
    source. A run that is resumed with these five goes on as if it had never stopped.
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
        """Play and learn ``n_games`` against a fixed opponent; return our tally. The memory is updated in place.

        The machine plays a random side in each game, and learns from the moves of both sides.
        """
        return self._play(lambda: opponent.mover(self.machine.game), n_games, rng, None)

    def train_against(self, opponent: ValueMemory, n_games: int, rng: RandomSource, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against another memory, and return our tally.

        A memory that plays against itself learns from every game once, whatever ``opponent_learns`` is, and returns
        the tally of the first side.
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
        """Play games against another player and learn from both sides' moves.

        The memory ``also`` learns from the same games.
        """
        game, machine, tally = self.machine.game, self.machine, Tally()
        for _ in range(n_games):
            side, mover, position = Side(rng.below(2)), other(), game.initial_position()
            n_opening = rng.below(machine.rule.random_opening + 1)
            turns, moves = list[Turn](), list[tuple[AnyPosition, AnyMove]]()
            while (outcome := game.outcome(position)) is None:
                if len(turns) < n_opening:
                    legal = game.legal_moves(position)
                    turn, move = Turn(position, 0.0, is_best_played=False), legal[rng.below(len(legal))]
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
    """Return the object that trains values and plays contests of a game in compiled code.

    The game must be one that :class:`ValueRule` fits.
    """
    engine = engine_of(game)
    assert engine is not None, f"no value rule fits {game.slug}, which has no engine"
    assert engine.valuer is not None, f"no value rule fits {game.slug}, whose engine has no valuer"
    return engine.valuer


@dataclass(frozen=True, slots=True)
class ValuePlayer:
    """A frozen value learner, for games without learning."""

    machine: ValueLearner

    def mover(self, game: AnyGame) -> Mover:
        """Return a function that chooses the moves of a game."""
        return lambda position, rng: self.machine.choose(position)


def compiled_meeting(game: AnyGame, one: LearntPlayer | Level, other: LearntPlayer | Level) -> Meeting:
    """Return a function that plays compiled games between two players: learnt values, or levels of the engine.

    The function gives the results of ``beadbox.strength.snapshots.meeting``, a hundred times as fast. A level with a
    time limit always gets the time that it needs.
    """
    valuer = fast_valuer(game)

    def play(opening: Opening, side: Side, rng: RandomSource) -> Result:
        players = (one, other) if side is Side.FIRST else (other, one)
        return Result.of(valuer.contest(game, opening, players, rng), side)

    return play
