"""The matchbox machine, readable: Michie's MENACE, Gardner's HER and every rule between them.

This module defines how beads are drawn and learnt. Live matches use it directly, and tests compare the kernels of bulk
training with it bead for bead. Sources: D. Michie (1961, 1963), M. Gardner (1962); docs/learning.md.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.rule import (
    BoxRule,
    EmptyOpening,
    FinalLoss,
    FinalWin,
    RepeatedVisits,
    Unfinished,
    WhenEmpty,
)
from beadbox.rules.chance import Random
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Result, Side
from beadbox.rules.play import Mover


@dataclass(frozen=True, slots=True)
class BeadDraw:
    """One opening of a box: the box (as text), its beads before, the slot drawn.

    ``slot`` is ``None`` when the machine found no bead and resigned. ``refilled`` says that the box was empty and first
    got its initial beads back; ``beads`` are then the initial beads.
    """

    box: str
    beads: tuple[int, ...]
    slot: int | None
    refilled: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """Beads added to (or taken from) the slots of one box: ``deltas[slot]``, as applied."""

    box: str
    deltas: tuple[int, ...]


class BoxMachine:
    """A machine that keeps beads in boxes and learns by changing their number.

    Args:
        game: the rules.
        side: the side it plays.
        rule: how it learns.
        boxes: beads per slot by the text of the position; a missing box is opened with its initial beads when it is
            first met. Changed in place.
        n_removed: slots taken out of play so far.
        learns: whether the machine changes its boxes; a frozen machine plays the same way and changes none.
    """

    def __init__(
        self,
        game: AnyGame,
        side: Side,
        rule: BoxRule,
        boxes: MutableMapping[str, list[int]] | None = None,
        n_removed: int = 0,
        *,
        learns: bool = True,
    ) -> None:
        self.game = game
        self.side = side
        self.rule = rule
        self.cabinet: Cabinet = Cabinet(game, side, rule)
        self.boxes: MutableMapping[str, list[int]] = {} if boxes is None else boxes
        self.n_removed: int = n_removed
        self.learns = learns

    @property
    def level(self) -> int:
        """HexapawnRL's measure of experience: 1 plus the number of slots removed so far."""
        return 1 + self.n_removed

    def open_box(self, position: AnyPosition) -> list[int]:
        """Return the beads of the box for this position, opened with its initial beads when first met."""
        box_position = self.cabinet.box_position(position)
        return self._open_beads(box_position, self.game.encode(box_position))

    def draw(self, position: AnyPosition, rng: Random, *, greedy: bool = False) -> BeadDraw:
        """Open the box of this position and draw a bead: slot ``k`` with probability ``beads[k] / sum(beads)``.

        ``greedy`` takes the fullest slot instead, ties uniformly. The position must have a box. Takes one random word,
        or none if the machine resigns. An empty box may be refilled, which changes it.
        """
        box_position = self.cabinet.box_position(position)
        key = self.game.encode(box_position)
        beads, refilled = self._beads_before_draw(box_position, key)
        before = tuple(beads)
        if not any(beads):
            if self.rule.when_empty is not WhenEmpty.UNIFORM:
                return BeadDraw(key, before, None)
            anything = self._slots_by_moves(box_position)
            return BeadDraw(key, before, anything[rng.below(len(anything))])
        if greedy:
            fullest = [slot for slot, count in enumerate(beads) if count == max(beads)]
            return BeadDraw(key, before, fullest[rng.below(len(fullest))], refilled)
        ticket = rng.below(sum(beads))
        for slot, count in enumerate(beads):
            if ticket < count:
                return BeadDraw(key, before, slot, refilled)
            ticket -= count
        raise AssertionError(f"ticket beyond the beads of {key!r}")

    def choose(
        self, position: AnyPosition, rng: Random, *, greedy: bool = False
    ) -> tuple[AnyMove | None, BeadDraw | None]:
        """Choose a move; return it with the draw behind it: no draw for a forced move, no move for a resignation."""
        if not self.cabinet.has_box(position):
            (forced,) = self.game.legal_moves(position)
            return forced, None
        draw = self.draw(position, rng, greedy=greedy)
        if draw.slot is None:
            return None, draw
        moves = self.cabinet.slot_moves(position)[draw.slot]
        return moves[rng.below(len(moves))], draw

    def mover(self, game: AnyGame) -> Mover:
        """Return a function that chooses the moves of a game; nothing is learnt."""
        return lambda position, rng: self.choose(position, rng)[0]

    def follow(self, position: AnyPosition, move: AnyMove) -> BeadDraw | None:
        """Return the draw to learn from for a move that another player has made for the machine.

        The draw is as if the bead of the move had been drawn. The box is opened, and refilled if it is empty and the
        rule says so; ``None`` where the machine has no box.
        """
        if not self.cabinet.has_box(position):
            return None
        box_position, placement = self.cabinet.box_and_placement(position)
        key = self.game.encode(box_position)
        beads, refilled = self._beads_before_draw(box_position, key)
        printed = self.game.transform_move(move, self.game.inverses[placement])
        return BeadDraw(key, tuple(beads), self.cabinet.slot_index(box_position, printed), refilled)

    def policy(self, position: AnyPosition, *, greedy: bool = False) -> dict[AnyMove, float]:
        """Return the probability of each legal move; they sum to 1, or to 0 for a resignation. Changes nothing."""
        legal = self.game.legal_moves(position)
        if not self.cabinet.has_box(position):
            return dict.fromkeys(legal, 1.0 / len(legal))
        box_position = self.cabinet.box_position(position)
        beads: Sequence[int] = self.boxes.get(self.game.encode(box_position)) or ()
        if not any(beads) and (not beads or self._refills(box_position)):
            beads = self.cabinet.initial_beads(box_position)
        if not any(beads):
            share = 1.0 / len(legal) if self.rule.when_empty is WhenEmpty.UNIFORM else 0.0
            return dict.fromkeys(legal, share)
        weights = [float(count == max(beads)) for count in beads] if greedy else beads
        probabilities = dict.fromkeys(legal, 0.0)
        for moves, weight in zip(self.cabinet.slot_moves(position), weights, strict=True):
            for move in moves:
                probabilities[move] += weight / sum(weights) / len(moves)
        return probabilities

    def restock(
        self, draws: Sequence[BeadDraw], result: Result, *, resigned: bool = False, unfinished: bool = False
    ) -> list[Change]:
        """Learn from an episode: ``draws`` that led to a move, in order of play. Return the change of each as applied.

        A machine that does not learn returns none.

        Every box used gains ``rule.win``, ``draw`` or ``loss`` beads on the slot played, between ``floor`` and ``cap``.
        The last box used follows ``final_win`` or ``final_loss`` if the rule has them. A box used several times changes
        each time, or only by its first or last use (``repeated_visits``).

        ``resigned`` says that the machine itself resigned. That is a loss like any other in the boxes used. The last of
        them counts as the final move of a loss only with ``punish_previous_on_resign`` (Gardner).

        ``unfinished`` says that the game stopped at the ply limit, or that the players agreed on a draw. It teaches
        nothing if the rule's ``unfinished`` is ``none``.
        """
        if not self.learns:
            return []
        rule = self.rule
        final_counts = not resigned or rule.punish_previous_on_resign
        is_sole = final_counts and result is Result.WIN and rule.final_win is FinalWin.SOLE
        is_removed = final_counts and result is Result.LOSS and rule.final_loss is FinalLoss.REMOVE
        teaches = not (unfinished and rule.unfinished is Unfinished.NONE)
        final = len(draws) - 1 if teaches and (is_sole or is_removed) else len(draws)
        begin = len(draws) - final_counts if rule.only_last else 0
        usual = self._rewarded(draws, range(begin, final)) if teaches else set()
        delta = (rule.win, rule.draw, rule.loss)[result]
        changes = []
        for index, draw in enumerate(draws):
            assert draw.slot is not None, "a resignation is not a move played"
            beads = self.boxes[draw.box]
            before = tuple(beads)
            if index == final and is_sole:
                self.n_removed += sum(count > 0 for count in beads) - (beads[draw.slot] > 0)
                beads[:] = [rule.highest if slot == draw.slot else 0 for slot in range(len(beads))]
            elif index == final:
                self.n_removed += beads[draw.slot] > 0
                beads[draw.slot] = 0
            elif index in usual and (beads[draw.slot] > 0 or not rule.removes):
                beads[draw.slot] = min(max(beads[draw.slot] + delta, rule.floor), rule.highest)
            changes.append(Change(draw.box, tuple(b - a for a, b in zip(before, beads, strict=True))))
        return changes

    def _rewarded(self, draws: Sequence[BeadDraw], indices: range) -> set[int]:
        """Return which of these draws get the usual reward, where a game opened a box several times."""
        if self.rule.repeated_visits is RepeatedVisits.FIRST:
            return set({draws[index].box: index for index in reversed(indices)}.values())
        if self.rule.repeated_visits is RepeatedVisits.LAST:
            return set({draws[index].box: index for index in indices}.values())
        return set(indices)

    def _open_beads(self, box_position: AnyPosition, key: str) -> list[int]:
        """Return the beads of a box, opened with its initial beads when first met."""
        if key not in self.boxes:
            self.boxes[key] = self.cabinet.initial_beads(box_position)
        return self.boxes[key]

    def _beads_before_draw(self, box_position: AnyPosition, key: str) -> tuple[list[int], bool]:
        """Return the beads of a box before a draw, and whether the box was refilled."""
        beads = self._open_beads(box_position, key)
        if any(beads) or not self._refills(box_position):
            return beads, False
        return self._refill(box_position, beads), True

    def _refills(self, box_position: AnyPosition) -> bool:
        """Whether this box gets its initial beads back when it is empty."""
        if self.rule.when_empty is WhenEmpty.REFILL:
            return True
        opening = self.cabinet.move_number(box_position) == 0
        return self.rule.when_empty is WhenEmpty.RESIGN and self.rule.empty_opening is EmptyOpening.REFILL and opening

    def _refill(self, box_position: AnyPosition, beads: list[int]) -> list[int]:
        """Return the initial beads; only a machine that learns puts them into the box itself."""
        initial = self.cabinet.initial_beads(box_position)
        if not self.learns:
            return initial
        beads[:] = initial
        return beads

    def _slots_by_moves(self, box_position: AnyPosition) -> list[int]:
        """Return every slot once for each legal move it stands for, to draw a uniformly random move from."""
        slots = self.cabinet.slot_classes(box_position)
        if len(slots) == len(self.game.legal_moves(box_position)):
            return list(range(len(slots)))
        return [slot for slot, members in enumerate(slots) for _ in members]
