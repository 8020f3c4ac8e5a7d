"""Recorded games played again into two machines that learn from them, each as if it had drawn its own moves."""

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
    """The moves of a game that the rules allow, and who won (``None``: nobody).

    ``resigned`` is the side that gave up, for a game that stops while moves remain.
    """

    moves: tuple[AnyMove, ...]
    winner: Side | None
    resigned: Side | None = None


@dataclass
class Trainee:
    """A machine that watches, what it has learnt so far, and how often each of its slots was played."""

    machine: BoxMachine
    tally: Tally = field(default_factory=Tally)
    played: Counter[tuple[str, int]] = field(default_factory=Counter)

    def learn(self, draws: list[BeadDraw], result: Result, *, resigned: bool) -> None:
        """Take the lesson of one game."""
        self.machine.restock(draws, result, resigned=resigned)
        self.played.update((draw.box, draw.slot) for draw in draws if draw.slot is not None)
        self.tally.add(result)


def trainees_fresh(game: AnyGame, rules: Sequence[BoxRule]) -> tuple[Trainee, Trainee]:
    """Machines of these rules that have seen nothing yet, first side first."""
    first, second = (Trainee(BoxMachine(game, side, rule)) for side, rule in zip(Side, rules, strict=True))
    return first, second


def replay(trainees: tuple[Trainee, Trainee], recorded: RecordedGame) -> None:
    """Play one recorded game; the pupils, first side first, learn from it.

    A move goes to the very slot that it names in the printed box, also where the rule keeps a slot for each of several
    moves that are alike. Whoever resigned opened the box of the last position and found nothing that it would play.
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
