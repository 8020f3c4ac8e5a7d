"""The matchbox machine as readable code, for the rules of Michie's MENACE and Gardner's HER and for their variants.

This module defines how a machine draws beads and learns. Live matches use it directly. Tests compare the kernels of
bulk training with it, bead for bead. Sources: D. Michie (1961, 1963), M. Gardner (1962); docs/learning.md.
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
    """A draw from a box: the text of the box's position, the beads before the draw, and the drawn slot.

    ``slot`` is ``None`` if the box had no bead and the machine resigned. ``refilled`` says that the box was empty and
    got its initial beads back before the draw; ``beads`` are then the initial beads.
    """

    box: str
    beads: tuple[int, ...]
    slot: int | None
    refilled: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The change of the beads of one box: ``deltas[slot]`` beads were added to a slot (removed if negative)."""

    box: str
    deltas: tuple[int, ...]


class BoxMachine:
    """A machine that keeps beads in boxes and learns by changing their number.

    Args:
        game: the rules.
        side: the side that the machine plays.
        rule: the rule by which it plays and learns.
        boxes: the beads of each slot, by the text of the box's position. When the machine first reaches a position
            without a box, it adds a box with the initial beads. Changed in place.
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
        """Return the beads of the box for this position. A new box gets its initial beads."""
        box_position = self.cabinet.box_position(position)
        return self._open_beads(box_position, self.game.encode(box_position))

    def draw(self, position: AnyPosition, rng: Random, *, greedy: bool = False) -> BeadDraw:
        """Open the box of this position and draw a bead: slot ``k`` with probability ``beads[k] / sum(beads)``.

        With ``greedy`` the draw takes the slot with most beads instead, and a random one of several such slots. The
        position must have a box. Takes one random word, or none if the machine resigns. An empty box may be refilled,
        which changes it.
        """
        box_position = self.cabinet.box_position(position)
        key = self.game.encode(box_position)
        beads, refilled = self._beads_before_draw(box_position, key)
        before = tuple(beads)
        if not any(beads):
            if self.rule.when_empty is not WhenEmpty.UNIFORM:
                return BeadDraw(key, before, None)
            slots = self._slots_by_moves(box_position)
            return BeadDraw(key, before, slots[rng.below(len(slots))])
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
        """Choose a move; return it with the draw. A forced move has no draw, and a resignation has no move."""
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
        """Return the draw from which the machine learns, for a move that another player made in its place.

        It is the draw that would have led to this move. As in a real draw, a missing box is added, and an empty box is
        refilled if the rule refills it. The result is ``None`` if the machine has no box for the position.
        """
        if not self.cabinet.has_box(position):
            return None
        box_position, placement = self.cabinet.box_and_placement(position)
        key = self.game.encode(box_position)
        beads, refilled = self._beads_before_draw(box_position, key)
        box_move = self.game.transform_move(move, self.game.inverses[placement])
        return BeadDraw(key, tuple(beads), self.cabinet.slot_index(box_position, box_move), refilled)

    def policy(self, position: AnyPosition, *, greedy: bool = False) -> dict[AnyMove, float]:
        """Return the probability of each legal move, without a change of any box.

        The sum is 1, or 0 if the machine resigns.
        """
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
        """Learn from an episode, and return the change of the box of each draw.

        ``draws`` are the draws that led to a move, in order of play. A machine that does not learn returns no changes.

        In the box of each draw, the played slot gains ``rule.win``, ``rule.draw`` or ``rule.loss`` beads, within
        ``floor`` and ``cap``. The last draw follows ``final_win`` or ``final_loss`` if the rule has them. A box that
        was opened several times changes each time, or only for its first or last visit (``repeated_visits``).

        ``resigned`` says that the machine itself resigned. A resignation counts as any other loss. The last draw counts
        as the final move of a lost game only with ``punish_previous_on_resign`` (Gardner).

        ``unfinished`` says that the game stopped at the ply limit, or that the players agreed on a draw. If the rule's
        ``unfinished`` is ``none``, the machine learns nothing from such a game.
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
        """Return the indices of the draws that get the usual reward, by ``repeated_visits``."""
        if self.rule.repeated_visits is RepeatedVisits.FIRST:
            return set({draws[index].box: index for index in reversed(indices)}.values())
        if self.rule.repeated_visits is RepeatedVisits.LAST:
            return set({draws[index].box: index for index in indices}.values())
        return set(indices)

    def _open_beads(self, box_position: AnyPosition, key: str) -> list[int]:
        """Return the beads of a box. A new box gets its initial beads."""
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
        is_first = self.cabinet.move_number(box_position) == 0
        return self.rule.when_empty is WhenEmpty.RESIGN and self.rule.empty_opening is EmptyOpening.REFILL and is_first

    def _refill(self, box_position: AnyPosition, beads: list[int]) -> list[int]:
        """Return the initial beads of a box; a machine that learns also puts them into the box."""
        initial = self.cabinet.initial_beads(box_position)
        if not self.learns:
            return initial
        beads[:] = initial
        return beads

    def _slots_by_moves(self, box_position: AnyPosition) -> list[int]:
        """Return a list with each slot once for each of its legal moves; a random entry gives a random move."""
        classes = self.cabinet.slot_classes(box_position)
        if len(classes) == len(self.game.legal_moves(box_position)):
            return list(range(len(classes)))
        return [slot for slot, members in enumerate(classes) for _ in members]
