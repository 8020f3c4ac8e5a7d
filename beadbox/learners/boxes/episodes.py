"""The readable training loop. Tests compare the kernels with it, and games too large for a table use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.policies.opponent import Opponent
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyMove, AnyPosition
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.rules.play import Mover, PlayedGame, game_recorded


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a training game: the position before the move, and the move (``None`` for a resignation).

    ``draw`` is the draw from the box that the machine opened, or ``None`` if it has no box for the position.
    """

    position: AnyPosition
    move: AnyMove
    draw: BeadDraw | None


@dataclass(frozen=True, slots=True)
class Episode:
    """One training game of a machine: its result, whether it resigned, and the draws that led to moves.

    ``turns`` are the turns of both sides. ``unfinished`` says that the game stopped at the ply limit.
    """

    result: Result
    resigned: bool
    draws: tuple[BeadDraw, ...]
    turns: tuple[Turn, ...]
    unfinished: bool = False

    @classmethod
    def of(cls, played: PlayedGame, side: Side, draws: Sequence[BeadDraw]) -> Episode:
        """Return the episode of one side for a game that was played. The episode has no turns."""
        return cls(played.result(side), played.resigned is side, tuple(draws), (), played.is_unfinished)


def play_without_reduction(learner: BoxMachine, opponent: Opponent, rng: Random) -> Episode:
    """Play one game from the start without learning, and return the learner's episode.

    Positions are not replaced by canonical ones, because the opponent may treat symmetric positions differently.
    """
    draws = list[BeadDraw]()

    def move(position: AnyPosition, rng: Random) -> AnyMove | None:
        chosen, draw = learner.choose(position, rng)
        if draw is not None and draw.slot is not None:
            draws.append(draw)
        return chosen

    movers: dict[Side, Mover] = {learner.side: move, learner.side.other: opponent.mover(learner.game)}
    return Episode.of(game_recorded(learner.game, movers, rng), learner.side, draws)


def play_episode(learner: BoxMachine, opponent: Opponent | BoxMachine, rng: Random) -> tuple[Episode, Episode]:
    """Play one game from the start without learning; return the learner's episode and the opponent's.

    If the learner's rule reduces symmetry, every position of the game is replaced by its canonical position. All moves
    of a slot's class then lead to the same canonical position, so no random word is needed to choose one of them. A
    game that is not over after ``game.ply_limit`` plies has the result of endless play.
    """
    game = learner.game
    canonicalise = learner.cabinet.box_position
    draws: tuple[list[BeadDraw], list[BeadDraw]] = ([], [])
    turns: list[Turn] = []
    position = canonicalise(game.initial_position())
    resigned: Any = None
    while (outcome := game.outcome(position)) is None and len(turns) < game.ply_limit:
        side = game.side_to_move(position)
        player = learner if side is learner.side else opponent
        draw = None
        if isinstance(player, Opponent):
            move = player.choose(game, position, rng)
        elif not player.cabinet.has_box(position):
            (move,) = game.legal_moves(position)
        else:
            draw = player.draw(position, rng)
            if draw.slot is None:
                resigned = side
                turns.append(Turn(position, None, draw))
                break
            draws[side].append(draw)
            move = player.cabinet.slot_labels(player.cabinet.box_position(position))[draw.slot]
        turns.append(Turn(position, move, draw))
        position = canonicalise(game.apply(position, move))

    def episode(player_side: Side) -> Episode:
        """Return the game as the episode of one side."""
        if resigned is not None:
            result = Result.LOSS if player_side is resigned else Result.WIN
        else:
            result = Result.of(outcome or game.ply_limit_outcome, player_side)
        unfinished = outcome is None and resigned is None
        return Episode(result, resigned is player_side, tuple(draws[player_side]), tuple(turns), unfinished)

    return episode(learner.side), episode(learner.side.other)


def train_episodes(learner: BoxMachine, opponent: Opponent | BoxMachine, n_games: int, rng: Random) -> Tally:
    """Play and learn ``n_games``, and return the learner's tally. An opponent that is a machine learns too.

    Raises:
        ValueError: only one of the two machines reduces symmetry.
    """
    if isinstance(opponent, BoxMachine) and opponent.rule.reduce_symmetry != learner.rule.reduce_symmetry:
        raise ValueError("two machines must both see boards as they lie, or both up to symmetry")
    tally = Tally()
    for _ in range(n_games):
        episode, other = play_episode(learner, opponent, rng)
        learner.restock(episode.draws, episode.result, resigned=episode.resigned, unfinished=episode.unfinished)
        if isinstance(opponent, BoxMachine):
            opponent.restock(other.draws, other.result, resigned=other.resigned, unfinished=other.unfinished)
        tally.add(episode.result)
    return tally
