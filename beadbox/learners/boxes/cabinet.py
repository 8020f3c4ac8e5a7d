"""The box that a position opens, and the moves that its beads stand for.

The canonical position of an orbit has the box. A *slot* of the box is a class of moves that its stabiliser maps onto
each other (merged), or one move of such a class (not merged). Either way a bead is played on a uniformly chosen
member of its class, mapped to the position on the board. Play is therefore equivariant: the choice depends on the
orbit alone, and not on the one of several symmetries that is found first.
"""

from __future__ import annotations

from dataclasses import dataclass

from beadbox.learners.boxes.rule import BoxRule, BoxSet, InitialBy
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition, Symmetry
from beadbox.rules.outcome import Side


@dataclass(frozen=True, slots=True)
class Cabinet:
    """All boxes that a machine has or may open, as its game, side and rule determine."""

    game: AnyGame
    side: Side
    rule: BoxRule

    def box_position(self, position: AnyPosition) -> AnyPosition:
        """Return the position of the box opened here: canonical if the rule reduces symmetry, else the same."""
        return self.game.to_canonical(position)[0] if self.rule.reduce_symmetry else position

    def placed(self, position: AnyPosition) -> tuple[AnyPosition, Symmetry]:
        """Return the position of the box opened here, and the first symmetry that maps the printed box to the board."""
        if not self.rule.reduce_symmetry:
            return position, self.game.symmetries[0]
        box_position, symmetry = self.game.to_canonical(position)
        return box_position, self.game.inverses[symmetry]

    def has_box(self, position: AnyPosition) -> bool:
        """Whether the machine opens a box here: its own turn, the game not over, a choice if the rule needs one."""
        n_moves = len(self.game.legal_moves(position))
        enough = n_moves > 1 if self.rule.box_set is BoxSet.DECISIONS else n_moves > 0
        return enough and self.game.side_to_move(position) == self.side

    def move_number(self, position: AnyPosition) -> int:
        """Return the machine's own move number here, 0 for its first move."""
        return self.game.ply(position) // 2

    def slots(self, box_position: AnyPosition) -> tuple[tuple[AnyMove, ...], ...]:
        """Return for each slot of the box the moves of the printed position that its beads can be played on."""
        if not self.rule.reduce_symmetry:
            return tuple((move,) for move in self.game.legal_moves(box_position))
        classes = self.game.distinct_moves(box_position)
        if self.rule.merge_symmetric_moves:
            return classes
        class_of = {move: members for members in classes for move in members}
        return tuple(class_of[move] for move in self.game.legal_moves(box_position))

    def slot_of(self, box_position: AnyPosition, move: AnyMove) -> int:
        """Return the slot for a legal move of the printed position."""
        if self.rule.merge_symmetric_moves:
            return next(slot for slot, members in enumerate(self.slots(box_position)) if move in members)
        return self.game.legal_moves(box_position).index(move)

    def slot_moves(self, position: AnyPosition) -> tuple[tuple[AnyMove, ...], ...]:
        """Return for each slot of the box opened here its moves *on this board*, in the order of the rules."""
        box_position, placement = self.placed(position)
        legal = self.game.legal_moves(position)
        carried = (
            {self.game.transform_move(move, placement) for move in members} for members in self.slots(box_position)
        )
        return tuple(tuple(move for move in legal if move in members) for members in carried)

    def printed_moves(self, box_position: AnyPosition) -> tuple[AnyMove, ...]:
        """Return for each slot the move printed on its bead: the first of a merged class, else the move itself."""
        if self.rule.merge_symmetric_moves:
            return tuple(members[0] for members in self.slots(box_position))
        return self.game.legal_moves(box_position)

    def initial_beads(self, box_position: AnyPosition) -> list[int]:
        """Return the initial beads of a box, one number per slot."""
        initial = self.rule.initial
        match self.rule.initial_by:
            case InitialBy.MOVE_NUMBER:
                keys = [self.move_number(box_position)] * len(self.slots(box_position))
            case InitialBy.PLY:
                keys = [self.game.ply(box_position)] * len(self.slots(box_position))
            case InitialBy.CELL:
                keys = [self.game.path(move)[-1] for move in self.printed_moves(box_position)]
        return [initial[min(key, len(initial) - 1)] for key in keys]
