"""The boxes of a machine, and the moves that the beads of a box stand for.

All positions of an orbit share one box, which belongs to the canonical position of the orbit. Moves of this position
are equivalent if one of its symmetries maps them onto each other; equivalent moves form a class. A box has one *slot*
for each class if the rule merges symmetric moves, or else one slot for each move. In both cases a drawn bead stands
for the whole class: the machine plays a uniformly random move of the class, mapped to the board. So the chances of
moves are the same on all images of a position, whichever symmetry maps the box to the board.
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
        """Return the position of this position's box: the canonical one if the rule reduces symmetry, else itself."""
        return self.game.to_canonical(position)[0] if self.rule.reduce_symmetry else position

    def box_and_placement(self, position: AnyPosition) -> tuple[AnyPosition, Symmetry]:
        """Return the position of this position's box, and the first symmetry that maps it to this position."""
        if not self.rule.reduce_symmetry:
            return position, self.game.symmetries[0]
        box_position, symmetry = self.game.to_canonical(position)
        return box_position, self.game.inverses[symmetry]

    def has_box(self, position: AnyPosition) -> bool:
        """Whether the machine has a box for a position.

        It has one where it is to move and the game is not over. If the rule has boxes for decisions alone, there must
        also be at least two legal moves.
        """
        n_moves = len(self.game.legal_moves(position))
        has_enough_moves = n_moves > 1 if self.rule.box_set is BoxSet.DECISIONS else n_moves > 0
        return has_enough_moves and self.game.side_to_move(position) == self.side

    def move_number(self, position: AnyPosition) -> int:
        """Return the number of moves that the machine has made before this position: 0 at its first move."""
        return self.game.ply(position) // 2

    def slot_classes(self, box_position: AnyPosition) -> tuple[tuple[AnyMove, ...], ...]:
        """Return for each slot the class of moves that its beads stand for, as moves of the box's position."""
        if not self.rule.reduce_symmetry:
            return tuple((move,) for move in self.game.legal_moves(box_position))
        classes = self.game.distinct_moves(box_position)
        if self.rule.merge_symmetric_moves:
            return classes
        class_of = {move: members for members in classes for move in members}
        return tuple(class_of[move] for move in self.game.legal_moves(box_position))

    def slot_index(self, box_position: AnyPosition, move: AnyMove) -> int:
        """Return the index of the slot for a legal move of the box's position."""
        if self.rule.merge_symmetric_moves:
            return next(slot for slot, members in enumerate(self.slot_classes(box_position)) if move in members)
        return self.game.legal_moves(box_position).index(move)

    def slot_moves(self, position: AnyPosition) -> tuple[tuple[AnyMove, ...], ...]:
        """Return for each slot of a position's box the moves of *this position* that its beads stand for.

        The moves of a slot have the order of the rules.
        """
        box_position, placement = self.box_and_placement(position)
        legal = self.game.legal_moves(position)
        images = (
            {self.game.transform_move(move, placement) for move in members}
            for members in self.slot_classes(box_position)
        )
        return tuple(tuple(move for move in legal if move in members) for members in images)

    def slot_labels(self, box_position: AnyPosition) -> tuple[AnyMove, ...]:
        """Return for each slot the move that labels its beads, as a move of the box's position.

        The label of a merged class is its first move.
        """
        if self.rule.merge_symmetric_moves:
            return tuple(members[0] for members in self.slot_classes(box_position))
        return self.game.legal_moves(box_position)

    def initial_beads(self, box_position: AnyPosition) -> list[int]:
        """Return the initial beads of a box, one number per slot."""
        initial = self.rule.initial
        match self.rule.initial_by:
            case InitialBy.MOVE_NUMBER:
                keys = [self.move_number(box_position)] * len(self.slot_classes(box_position))
            case InitialBy.PLY:
                keys = [self.game.ply(box_position)] * len(self.slot_classes(box_position))
            case InitialBy.CELL:
                keys = [self.game.path(move)[-1] for move in self.slot_labels(box_position)]
        return [initial[min(key, len(initial) - 1)] for key in keys]
