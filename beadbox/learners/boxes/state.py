"""The complete state of a machine with boxes: its beads, for programs that use the library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.episodes import Episode
from beadbox.learners.boxes.exchange.document import BoxData, MachineData, boxes_sorted
from beadbox.learners.boxes.exchange.native import boxes_machine, dump
from beadbox.learners.boxes.frozen import FrozenBoxes
from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.open_memory import OpenMemory
from beadbox.learners.boxes.rule import OpenBoxes
from beadbox.learners.boxes.strength import readable_machine
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.state import BoxView, LearnerState
from beadbox.policies.opponent import Opponent, UniformOpponent
from beadbox.policies.table import ContestPlayer
from beadbox.rules.errors import InvalidPositionError
from beadbox.rules.game import AnyGame, AnyMove, AnyPosition
from beadbox.rules.outcome import Side, Tally
from beadbox.rules.play import PlayedGame

Rows = Mapping[str, tuple[Sequence[int], Sequence[int]]]
"""The beads and the visits of each box, by its position; both have a number for each slot."""


@dataclass
class BoxState(LearnerState):
    """The boxes of a machine in arrays, for games that can be listed."""

    file_read: ClassVar[Any] = staticmethod(boxes_machine)
    file_text: ClassVar[Any] = staticmethod(dump)

    memory: Memory

    @property
    def side(self) -> Side:
        return self.memory.table.cabinet.side

    @classmethod
    def fresh(cls, game: AnyGame, side: Side, rule: Any) -> Self:
        return cls(Memory.fresh(boxes_compile(game, side, rule)))

    @classmethod
    def read(cls, document: MachineData) -> Self:
        table = boxes_compile(document.game, document.side, document.rule)
        rows = ((box.position, box.beads, box.visits) for box in document.boxes)
        return cls(Memory.load(table, rows, document.removed))

    def document(self, head: Mapping[str, Any]) -> MachineData:
        memory = self.memory
        visits = memory.visits
        rows = {
            key: (memory.beads[slots].tolist(), visits[slots].tolist())
            for box, key in enumerate(memory.table.keys)
            for slots in (memory.slots(box),)
        }
        if memory.table.cabinet.rule.open_boxes is OpenBoxes.WHEN_MET:
            rows = {key: row for key, row in rows.items() if any(row[1])}
        return _document(memory.table.cabinet, rows, memory.n_removed, head)

    def copy(self) -> BoxState:
        return BoxState(self.memory.copy())

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        if isinstance(opponent, UniformOpponent):
            return self.memory.train(opponent, n_games, rng)
        boxes = self._open()
        tally = boxes.train(opponent, n_games, rng)
        self._take(boxes)
        return tally

    def train_against(self, other: BoxState, n_games: int, rng: RandomSource, *, other_learns: bool) -> Tally:
        return self.memory.train_against(other.memory, n_games, rng, opponent_learns=other_learns)

    def learn(self, played: PlayedGame, side: Side) -> None:
        boxes = self._open()
        _learn(boxes, played)
        self._take(boxes)

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        return readable_machine(self.memory).policy(position)

    def player(self) -> ContestPlayer:
        frozen = FrozenBoxes(self.memory)
        return ContestPlayer(frozen, frozen)

    def box(self, position: AnyPosition) -> BoxView:
        cabinet, memory = self.memory.table.cabinet, self.memory
        key = _key(cabinet, position)
        slots = memory.slots(memory.table.box_id[key])
        return _view(cabinet, key, memory.beads[slots].tolist(), memory.visits[slots].tolist())

    def keys(self) -> tuple[str, ...]:
        return self.memory.table.keys

    def _open(self) -> OpenMemory:
        cabinet, memory = self.memory.table.cabinet, self.memory

        def fetch(key: str) -> tuple[list[int], list[int]]:
            slots = memory.slots(memory.table.box_id[key])
            return memory.beads[slots].tolist(), memory.visits[slots].tolist()

        return OpenMemory.load(cabinet.game, cabinet.side, cabinet.rule, fetch, memory.n_removed)

    def _take(self, boxes: OpenMemory) -> None:
        memory = self.memory
        for touched in boxes.touched():
            box = memory.table.box_id[touched.position]
            memory.beads[memory.slots(box)], memory.visits[memory.slots(box)] = touched.beads, touched.visits
            memory.totals[box] = sum(touched.beads)
        memory.n_removed = boxes.n_removed


@dataclass
class OpenBoxState(LearnerState):
    """The boxes that a machine has opened so far, in a game with too many positions to list."""

    file_read: ClassVar[Any] = staticmethod(boxes_machine)
    file_text: ClassVar[Any] = staticmethod(dump)

    cabinet: Cabinet
    boxes: dict[str, tuple[Sequence[int], Sequence[int]]] = field(default_factory=dict)
    n_removed: int = 0

    @property
    def side(self) -> Side:
        return self.cabinet.side

    @classmethod
    def fresh(cls, game: AnyGame, side: Side, rule: Any) -> Self:
        return cls(Cabinet(game, side, rule))

    @classmethod
    def read(cls, document: MachineData) -> Self:
        rows: dict[str, tuple[Sequence[int], Sequence[int]]] = {
            box.position: (box.beads, box.visits) for box in document.boxes
        }
        return cls(document.cabinet, rows, document.removed)

    def document(self, head: Mapping[str, Any]) -> MachineData:
        return _document(self.cabinet, self.boxes, self.n_removed, head)

    def copy(self) -> OpenBoxState:
        return OpenBoxState(self.cabinet, self.boxes.copy(), self.n_removed)

    def train(self, opponent: Opponent, n_games: int, rng: RandomSource) -> Tally:
        boxes = self._open()
        tally = boxes.train(opponent, n_games, rng)
        self._take(boxes)
        return tally

    def train_against(self, other: OpenBoxState, n_games: int, rng: RandomSource, *, other_learns: bool) -> Tally:
        boxes, other_boxes = self._open(), other._open()
        tally = boxes.train_against(other_boxes, n_games, rng, opponent_learns=other_learns)
        self._take(boxes)
        if other_learns:
            other._take(other_boxes)
        return tally

    def learn(self, played: PlayedGame, side: Side) -> None:
        boxes = self._open()
        _learn(boxes, played)
        self._take(boxes)

    def policy(self, position: AnyPosition) -> Mapping[AnyMove, float]:
        return self._open().machine.policy(position)

    def player(self) -> ContestPlayer:
        machine = self._open().machine
        machine.learns = False
        return ContestPlayer(None, machine)

    def box(self, position: AnyPosition) -> BoxView:
        """Return the box that the machine opens in a position. A box that is not in memory has its initial beads."""
        key = _key(self.cabinet, position)
        initial = self.cabinet.initial_beads(self.cabinet.game.decode(key))
        return _view(self.cabinet, key, *self.boxes.get(key, (initial, [0] * len(initial))))

    def keys(self) -> tuple[str, ...]:
        return tuple(sorted(self.boxes))

    def _open(self) -> OpenMemory:
        cabinet = self.cabinet
        return OpenMemory.load(cabinet.game, cabinet.side, cabinet.rule, self.boxes.get, self.n_removed)

    def _take(self, boxes: OpenMemory) -> None:
        self.boxes |= {touched.position: (touched.beads, touched.visits) for touched in boxes.touched()}
        self.n_removed = boxes.n_removed


def _key(cabinet: Cabinet, position: AnyPosition) -> str:
    """Return the text of the position of the box that a machine opens in a position.

    Raises:
        InvalidPositionError: the machine has no box for the position.
    """
    if not cabinet.has_box(position):
        text = cabinet.game.encode(position)
        raise InvalidPositionError(f"Only one move is possible in {text!r}, so there is no box for it.")
    return cabinet.game.encode(cabinet.box_position(position))


def _view(cabinet: Cabinet, key: str, beads: Sequence[int], visits: Sequence[int]) -> BoxView:
    return BoxView(key, cabinet.slot_labels(cabinet.game.decode(key)), tuple(beads), tuple(visits))


def _document(cabinet: Cabinet, rows: Rows, n_removed: int, head: Mapping[str, Any]) -> MachineData:
    boxes: Iterable[BoxData] = (BoxData(key, tuple(beads), tuple(visits)) for key, (beads, visits) in rows.items())
    return MachineData(side=cabinet.side, boxes=boxes_sorted(cabinet.game, boxes), removed=n_removed, **head)


def _learn(boxes: OpenMemory, played: PlayedGame) -> None:
    """Let a machine learn from a game as if it had drawn a bead for each move of its side."""
    machine = boxes.machine
    own_turns = [turn for turn in played.turns if machine.game.side_to_move(turn[0]) is machine.side]
    draws = [draw for position, move in own_turns if (draw := machine.follow(position, move)) is not None]
    boxes.learn(Episode.of(played, machine.side, draws))
