"""The rule of a machine with boxes. docs/learning.md explains its fields."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar

from beadbox import field_text
from beadbox.learners.rule import RuleError, fields_read
from beadbox.rules.game import AnyGame

MAX_BEADS = 1 << 27
"""Maximum number of beads in a slot, even without a cap: the sum over a box must stay below 2**32."""


class InitialBy(StrEnum):
    """The quantity that decides how many beads a slot starts with."""

    MOVE_NUMBER = "move_number"
    PLY = "ply"
    CELL = "cell"


class FinalWin(StrEnum):
    """The change of the last box used in a won game, instead of the usual reward."""

    NONE = "none"
    SOLE = "sole"


class FinalLoss(StrEnum):
    """The change of the last box used in a lost game, instead of the usual punishment."""

    NONE = "none"
    REMOVE = "remove"


class WhenEmpty(StrEnum):
    """The action of a machine that opens a box without beads."""

    RESIGN = "resign"
    REFILL = "refill"
    UNIFORM = "uniform"


class EmptyOpening(StrEnum):
    """The action of a machine that resigns at empty boxes when the box of its first move is empty."""

    REFILL = "refill"
    STOP = "stop"


class BoxSet(StrEnum):
    """The positions that have a box: only positions with at least two legal moves, or all."""

    DECISIONS = "decisions"
    ALL = "all"


class RepeatedVisits(StrEnum):
    """The visits that are restocked if a game opens a box several times."""

    EVERY = "every"
    FIRST = "first"
    LAST = "last"


class Unfinished(StrEnum):
    """The result that a machine learns from a game that reached the ply limit or that the players agreed to draw."""

    RESULT = "result"
    NONE = "none"


class OpenBoxes(StrEnum):
    """The time at which a box is added: before the first game (MENACE), or when a game needs it (HexapawnRL)."""

    IN_ADVANCE = "in_advance"
    WHEN_MET = "when_met"


@dataclass(frozen=True, slots=True)
class BoxRule:
    """The initial beads of a box, and the changes of beads by a game.

    ``initial`` has the numbers of beads by the machine's own move number (from 0), by ply, or by the cell on which a
    move ends; the last number also holds for all greater indices. ``floor`` and ``cap`` bound the beads of a slot that
    is not removed. If ``cap`` is ``None``, the only upper bound is :data:`MAX_BEADS`.

    A slot counts as *removed* when it is empty and the rule can remove slots (``final_win`` or ``final_loss``). No
    reward restores a removed slot; only a refill of the whole box does.

    ``repeated_visits`` determines which visits of a box count if a game visits the box several times. The last move of
    a game may follow ``final_win`` or ``final_loss`` instead. Source: R. S. Sutton and A. G. Barto, "Reinforcement
    Learning" (2018), section 5.1.

    Raises:
        RuleError: a field is out of range or contradicts another; the field is named.
    """

    kind: ClassVar[str] = "boxes"
    keeps: ClassVar[str] = "beads in boxes"
    has_boxes: ClassVar[bool] = True

    initial: tuple[int, ...] = (4, 3, 2, 1)
    initial_by: InitialBy = InitialBy.MOVE_NUMBER
    win: int = 3
    draw: int = 1
    loss: int = -1
    final_win: FinalWin = FinalWin.NONE
    final_loss: FinalLoss = FinalLoss.NONE
    only_last: bool = False
    floor: int = 0
    cap: int | None = None
    when_empty: WhenEmpty = WhenEmpty.RESIGN
    empty_opening: EmptyOpening = EmptyOpening.REFILL
    punish_previous_on_resign: bool = False
    merge_symmetric_moves: bool = True
    reduce_symmetry: bool = True
    box_set: BoxSet = BoxSet.DECISIONS
    open_boxes: OpenBoxes = OpenBoxes.IN_ADVANCE
    repeated_visits: RepeatedVisits = RepeatedVisits.EVERY
    unfinished: Unfinished = Unfinished.RESULT

    def __post_init__(self) -> None:
        if not self.initial:
            raise RuleError("initial", "Please give at least one number of beads.")
        if not 0 <= self.floor <= MAX_BEADS:
            raise RuleError("floor", field_text.rather(field_text.between(0, MAX_BEADS), self.floor))
        if self.cap is not None and not 1 <= self.cap <= MAX_BEADS:
            raise RuleError("cap", field_text.rather(field_text.between(1, MAX_BEADS), self.cap))
        if self.floor > self.highest:
            raise RuleError("floor", f"The floor {self.floor} is above the cap {self.cap}.")
        for beads in self.initial:
            if beads < 0:
                raise RuleError("initial", f"A box cannot hold {beads} beads.")
            if not self.floor <= beads <= self.highest:
                raise RuleError("initial", field_text.rather(field_text.between(self.floor, self.highest), beads))
        if not any(self.initial):
            raise RuleError("initial", "Boxes that start empty can never play.")
        for name in ("win", "draw", "loss"):
            if abs(getattr(self, name)) > MAX_BEADS:
                raise RuleError(name, field_text.between(-MAX_BEADS, MAX_BEADS))
        if self.final_win is FinalWin.SOLE and self.cap is None:
            raise RuleError("cap", "A winning move gets as many beads as the cap. Please give a cap.")
        if self.merge_symmetric_moves and not self.reduce_symmetry:
            raise RuleError("merge_symmetric_moves", "This needs reduce_symmetry. Without it no moves are symmetric.")

    @classmethod
    def fits(cls, game: AnyGame) -> bool:
        """Whether a machine with such a rule can play the game."""
        return game.supports_boxes

    def require_suited(self, game: AnyGame) -> None:
        """Accept every game that :meth:`fits`."""

    @property
    def highest(self) -> int:
        """The greatest number of beads that a slot can hold."""
        return MAX_BEADS if self.cap is None else self.cap

    @property
    def removes(self) -> bool:
        """Whether the rule can take a slot out of play for good."""
        return self.final_win is FinalWin.SOLE or self.final_loss is FinalLoss.REMOVE

    @property
    def counts_level(self) -> bool:
        """Whether machines with the rule have HexapawnRL's level, which grows by 1 for each removed slot."""
        return self.final_win is FinalWin.SOLE and self.final_loss is FinalLoss.REMOVE

    def to_json(self) -> dict[str, object]:
        """Return the rule as JSON types; :meth:`from_json` gives the same rule back."""
        return {**asdict(self), "initial": list(self.initial)}

    @classmethod
    def from_json(cls, data: object) -> BoxRule:
        """Return the rule that a JSON object describes; missing fields have their defaults.

        Raises:
            RuleError: a field is unknown, of the wrong type or out of range; the field is named.
        """
        return cls(**fields_read(cls, data))
