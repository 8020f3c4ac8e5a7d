"""Replay of recorded games for two machines. Each machine learns as if it had drawn the moves of its side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.rule import BoxRule
from beadbox.rules.game import AnyGame, AnyMove
from beadbox.rules.outcome import Result, Side, Tally


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A legal game: its moves, and its winner (``None`` for a draw).

    ``resigned`` is the side that resigned, for a game that stops while moves remain.
    """

    moves: tuple[AnyMove, ...]
    winner: Side | None
    resigned: Side | None = None


@dataclass
class Trainee:
    """A machine that learns from recorded games, its tally, and how often each of its slots was played."""

    machine: BoxMachine
    tally: Tally = field(default_factory=Tally)
    played: Counter[tuple[str, int]] = field(default_factory=Counter)

    def learn(self, draws: list[BeadDraw], result: Result, *, resigned: bool) -> None:
        """Learn from one game, and count its result and its slots."""
        self.machine.restock(draws, result, resigned=resigned)
        self.played.update((draw.box, draw.slot) for draw in draws if draw.slot is not None)
        self.tally.add(result)


def trainees_fresh(game: AnyGame, rules: Sequence[BoxRule]) -> tuple[Trainee, Trainee]:
    """Return new machines with these rules, first side first."""
    first, second = (Trainee(BoxMachine(game, side, rule)) for side, rule in zip(Side, rules, strict=True))
    return first, second


def replay(trainees: tuple[Trainee, Trainee], recorded: RecordedGame) -> None:
    """Replay one recorded game, from which both trainees learn; the trainee of the first side comes first.

    A move counts for the slot of exactly this move, even if the rule has separate slots for equivalent moves. If a side
    resigned, its machine has opened the box of the last position and has found no bead.
    """
    game = trainees[0].machine.game
    draws: tuple[list[BeadDraw], list[BeadDraw]] = ([], [])
    position = game.initial_position()
    for move in recorded.moves:
        side = game.side_to_move(position)
        draw = trainees[side].machine.follow(position, move)
        if draw is not None:
            draws[side].append(draw)
        position = game.apply(position, move)
    if recorded.resigned is not None and trainees[recorded.resigned].machine.cabinet.has_box(position):
        trainees[recorded.resigned].machine.open_box(position)
    for side in Side:
        result = Result.DRAW if recorded.winner is None else Result.WIN if recorded.winner is side else Result.LOSS
        trainees[side].learn(draws[side], result, resigned=recorded.resigned is side)
