"""The readable training loop of table learners: the oracle of their kernel."""

from __future__ import annotations

from beadbox.learners.table_learner.learner import SeatLesson, TableLearner
from beadbox.policies.given import PolicyOpponent
from beadbox.policies.opponent import Opponent
from beadbox.rules.chance import Random
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.strength.graph import unchanged


def train_table_episodes(
    learner: TableLearner,
    opponent: TableLearner | Opponent,
    n_games: int,
    rng: Random,
    side: Side | None = None,
) -> Tally:
    """Play and learn ``n_games`` and return the learner's tally; an opponent that is a learning machine learns too.

    The learner plays ``side``; for ``None`` one random word decides in each game. The learner may be its own opponent,
    and then learns from both seats. A policy of a program may treat symmetric boards differently, so games against it
    are played on the real boards. Other games are played on canonical boards. A game that is not over after
    ``game.ply_limit`` plies has the result of endless play.
    """
    tally = Tally()
    for _ in range(n_games):
        seat = Side(rng.below(2)) if side is None else side
        result = _episode(learner, opponent, seat, rng)
        tally.add(result)
    return tally


def _episode(learner: TableLearner, opponent: TableLearner | Opponent, seat: Side, rng: Random) -> Result:
    game = learner.game
    board_played = unchanged if isinstance(opponent, PolicyOpponent) else game.canonical
    position = board_played(game.initial_position())
    lessons = {seat: SeatLesson(learner)}
    if isinstance(opponent, TableLearner):
        lessons[seat.other] = SeatLesson(opponent)
    n_plies = 0
    while (outcome := game.outcome(position)) is None and n_plies < game.ply_limit:
        side = game.side_to_move(position)
        if side in lessons:
            move = game.legal_moves(position)[lessons[side].choose(position, rng)]
        else:
            assert isinstance(opponent, Opponent)
            move = opponent.choose(game, position, rng)
        position, n_plies = board_played(game.apply(position, move)), n_plies + 1
    outcome = outcome or game.ply_limit_outcome
    for side, lesson in lessons.items():  # the learner first
        lesson.end(Result.of(outcome, side))
    return Result.of(outcome, seat)
