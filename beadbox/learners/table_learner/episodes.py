"""The readable training loop of table learners: the oracle of their kernel."""

from __future__ import annotations

from beadbox.learners.choice import Decision
from beadbox.learners.table_learner.learner import TableLearner
from beadbox.policies.opponent import UniformOpponent
from beadbox.rules.chance import Random
from beadbox.rules.outcome import Result, Side, Tally


def train_table_episodes(
    learner: TableLearner,
    opponent: TableLearner | UniformOpponent,
    n_games: int,
    rng: Random,
    side: Side | None = None,
) -> Tally:
    """Play and learn ``n_games`` and return the learner's tally; an opponent that is a learning machine learns too.

    The learner plays ``side``; for ``None`` one random word decides in each game. The learner may be its own opponent,
    and then learns from both seats. Games are played on canonical boards.
    """
    tally = Tally()
    for _ in range(n_games):
        seat = Side(rng.below(2)) if side is None else side
        result = _episode(learner, opponent, seat, rng)
        tally.add(result)
    return tally


def _episode(learner: TableLearner, opponent: TableLearner | UniformOpponent, seat: Side, rng: Random) -> Result:
    game = learner.game
    position = game.canonical(game.initial_position())
    decisions: dict[Side, list[Decision]] = {side: [] for side in Side}
    while (outcome := game.outcome(position)) is None:
        side = game.side_to_move(position)
        player = learner if side is seat else opponent
        if isinstance(player, UniformOpponent):
            move = player.choose(game, position, rng)
        else:
            index = player.choose(position, rng).index
            move = game.legal_moves(position)[index]
            decision = player.decision(position, index)
            decisions[side] += [] if decision is None else [decision]
        position = game.canonical(game.apply(position, move))
    learner.learn(decisions[seat], Result.of(outcome, seat))
    if isinstance(opponent, TableLearner):
        opponent.learn(decisions[seat.other], Result.of(outcome, seat.other))
    return Result.of(outcome, seat)
