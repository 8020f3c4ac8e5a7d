"""Which box a position opens, and which moves its beads stand for.

The canonical position of an orbit has the box. A *slot* of the box is a class of moves that its stabiliser carries into
each other (merged), or one move of such a class (not merged). Either way a bead is played on a uniformly chosen
member of its class, carried to the position on the board. This is what makes play equivariant: the choice depends on
the orbit alone, never on which of several symmetries happened to be found first.
"""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.learners.boxes.rule import BoxRule, BoxSet, InitialBy
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition, Symmetry
from beadbox.rules.outcome import Side


@dataclass(frozen=True, slots=True)
class Cabinet:
    """All the boxes that a machine has or may open: the game, its side and its rule decide."""

    game: AnyGame
    side: Side
    rule: BoxRule

    def box_position(self, position: AnyPosition) -> AnyPosition:
        """The position whose box is opened here."""
        return self.game.canonical(position) if self.rule.reduce_symmetry else position

    def placement(self, position: AnyPosition) -> Symmetry:
        """How the printed box is turned to lie as the board does (the first of several ways)."""
        if not self.rule.reduce_symmetry:
            return self.game.symmetries[0]
        return self.game.placement(position)

    def has_box(self, position: AnyPosition) -> bool:
        """Whether the machine opens a box here: its own turn, the game not over, a choice if the rule asks for one."""
        n_moves = len(self.game.legal_moves(position))
        enough = n_moves > 1 if self.rule.box_set is BoxSet.DECISIONS else n_moves > 0
        return enough and self.game.side_to_move(position) == self.side

    def move_number(self, position: AnyPosition) -> int:
        """The machine's own move number here, 0 for its first."""
        return self.game.ply(position) // 2

    def slots(self, box_position: AnyPosition) -> tuple[tuple[AnyMove, ...], ...]:
        """For each slot of the box the moves of the printed position that its beads can be played on."""
        if not self.rule.reduce_symmetry:
            return tuple((move,) for move in self.game.legal_moves(box_position))
        classes = self.game.distinct_moves(box_position)
        if self.rule.merge_symmetric_moves:
            return classes
        class_of = {move: members for members in classes for move in members}
        return tuple(class_of[move] for move in self.game.legal_moves(box_position))

    def slot_of(self, box_position: AnyPosition, move: AnyMove) -> int:
        """The slot whose beads stand for this legal move of the printed position."""
        if self.rule.merge_symmetric_moves:
            return next(slot for slot, members in enumerate(self.slots(box_position)) if move in members)
        return self.game.legal_moves(box_position).index(move)

    def slot_moves(self, position: AnyPosition) -> tuple[tuple[AnyMove, ...], ...]:
        """For each slot of the box opened here the moves *on this board* it stands for, in the order of the rules."""
        placement, legal = self.placement(position), self.game.legal_moves(position)
        carried = (
            {self.game.transform_move(move, placement) for move in members}
            for members in self.slots(self.box_position(position))
        )
        return tuple(tuple(move for move in legal if move in members) for members in carried)

    def printed_moves(self, box_position: AnyPosition) -> tuple[AnyMove, ...]:
        """For each slot the move printed on its bead: of a merged class the first, else the move itself."""
        if self.rule.merge_symmetric_moves:
            return tuple(members[0] for members in self.slots(box_position))
        return self.game.legal_moves(box_position)

    def initial_beads(self, box_position: AnyPosition) -> list[int]:
        """The beads a box is laid out with, one number per slot."""
        initial = self.rule.initial
        match self.rule.initial_by:
            case InitialBy.MOVE_NUMBER:
                keys = [self.move_number(box_position)] * len(self.slots(box_position))
            case InitialBy.PLY:
                keys = [self.game.ply(box_position)] * len(self.slots(box_position))
            case InitialBy.CELL:
                keys = [self.game.path(move)[-1] for move in self.printed_moves(box_position)]
        return [initial[min(key, len(initial) - 1)] for key in keys]
