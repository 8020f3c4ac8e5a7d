"""Recorded trainings of the built-in machines. They come with the program, so that a new site need not train.

``manage.py record_house`` writes the files, one for each built-in machine (``learners/built_in.py``).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from beadbox.learners.boxes.memory import Memory
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.built_in import HouseMachine
from beadbox.learners.memory import TouchedBox, TouchedValue
from beadbox.learners.q_learning.memory import QMemory
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.rule import Rule
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side, Tally

FOLDER = Path(__file__).parent / "trained"


class RecordedStep(NamedTuple):
    """The state of a machine with boxes after some games of its training, as the difference from the step before.

    Attributes:
        tally: results of all games so far.
        n_removed: slots removed so far.
        beads: the beads of each box that differs from the step before, by position.
    """

    tally: Tally
    n_removed: int
    beads: Mapping[str, list[int]]


class StepRecorder:
    """Records the steps of a training in progress. It records nothing for a memory without boxes."""

    def __init__(self, memory: object) -> None:
        self.memory: Memory | None = memory if isinstance(memory, Memory) else None
        self.previous = None if self.memory is None else self.memory.copy()
        self.steps: list[RecordedStep] = []

    def record(self, tally: Tally) -> None:
        """Record the state of the memory; ``tally`` has the results of all games so far."""
        if self.memory is not None and self.previous is not None:
            changed = {box.position: box.beads for box in self.memory.since(self.previous)}
            self.steps.append(RecordedStep(tally, self.memory.n_removed, changed))
            self.previous = self.memory.copy()


@dataclass(frozen=True, slots=True)
class RecordedPart:
    """The games between two steps of a training, in the form that a lesson stores."""

    tally: Tally
    n_removed: int
    epsilon: float | None
    entries: tuple[TouchedBox, ...] | tuple[TouchedValue, ...]

    @property
    def n_new(self) -> int:
        """The number of entries that the games added."""
        return len(self.entries)

    def touched(self) -> tuple[TouchedBox, ...] | tuple[TouchedValue, ...]:
        """Return the boxes or values that the games changed."""
        return self.entries


class RecordedPoint(NamedTuple):
    """A point of the learning curve: a number of games, their tally, and the strength after them."""

    games: int
    tally: Tally
    strength: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class RecordedTraining:
    """The training of a new machine: its inputs, its course and its result.

    Attributes:
        recipe: the inputs that determine the training: game, side, preset, opponent, number of games, seed.
        curve: the points of the learning curve, by number of games.
        random_state: the state of the random source after the last game.
        n_removed: slots removed by all games.
        epsilon: the exploration rate after the last game; ``None`` for a machine with boxes.
        steps: states during the training, by number of games; empty for a machine without boxes.
        boxes: the boxes that have changed; empty for a machine without boxes.
        values: the entries that have changed; empty for a machine without values.
    """

    recipe: Mapping[str, Any]
    curve: tuple[RecordedPoint, ...]
    random_state: str
    n_removed: int
    epsilon: float | None
    steps: tuple[RecordedStep, ...]
    boxes: tuple[TouchedBox, ...]
    values: tuple[TouchedValue, ...]

    def parts(self) -> Iterator[RecordedPart]:
        """Yield the training part by part. In every part, the visits of a box are those after the last game."""
        final_tally = self.curve[-1].tally
        current_beads = {box.position: box.start for box in self.boxes}
        tally_so_far, positions_so_far = Tally(), set[str]()
        for step in self.steps:
            boxes = tuple(
                _box_after_part(box, current_beads, step.beads[box.position])
                for box in self.boxes
                if box.position in step.beads
            )
            yield RecordedPart(step.tally - tally_so_far, step.n_removed, self.epsilon, boxes)
            tally_so_far = step.tally
            positions_so_far |= step.beads.keys()
        rest = [
            box
            for box in self.boxes
            if box.beads != current_beads[box.position] or box.position not in positions_so_far
        ]
        boxes = tuple(_box_after_part(box, current_beads, box.beads) for box in rest)
        yield RecordedPart(final_tally - tally_so_far, self.n_removed, self.epsilon, boxes or self.values)

    def text(self) -> str:
        """Return the training as the text of its file, a line of JSON."""
        index_of = {box.position: index for index, box in enumerate(self.boxes)}
        fields = {
            "recipe": self.recipe,
            "curve": [[point.games, _counts(point.tally), point.strength] for point in self.curve],
            "random_state": self.random_state,
            "n_removed": self.n_removed,
            "epsilon": self.epsilon,
            "steps": [
                [
                    _counts(step.tally),
                    step.n_removed,
                    [[index_of[position], beads] for position, beads in step.beads.items()],
                ]
                for step in self.steps
            ],
            "boxes": [[box.position, box.start, box.beads, box.visits] for box in self.boxes],
            "values": [[value.key, value.before, value.after, value.visits] for value in self.values],
        }
        return json.dumps(fields, separators=(",", ":")) + "\n"

    @classmethod
    def read(cls, text: str) -> RecordedTraining:
        """Return the training that the text of a file describes."""
        fields = json.loads(text)
        boxes = [
            TouchedBox(
                position, start, beads, visits, [after - before for after, before in zip(beads, start, strict=True)]
            )
            for position, start, beads, visits in fields.pop("boxes")
        ]
        steps = (
            RecordedStep(Tally(*tally), n_removed, {boxes[index].position: beads for index, beads in changed})
            for tally, n_removed, changed in fields.pop("steps")
        )
        values = (TouchedValue(*value) for value in fields.pop("values"))
        curve = (RecordedPoint(games, Tally(*tally), strength) for games, tally, strength in fields.pop("curve"))
        return cls(curve=tuple(curve), steps=tuple(steps), boxes=tuple(boxes), values=tuple(values), **fields)


def recipe_of(house: HouseMachine) -> dict[str, object]:
    """Return the inputs that determine the training of a built-in machine."""
    inputs = ("game", "side", "preset", "opponent", "n_games", "seed")
    return {name: value for name, value in asdict(house).items() if name in inputs}


def file_of(house: HouseMachine) -> Path:
    """Return the path of the file with the training of a built-in machine."""
    return FOLDER / f"{house.slug}.json.gz"


def read_recorded_training(house: HouseMachine) -> RecordedTraining | None:
    """Return the recorded training of a built-in machine; ``None`` if its file is missing or has another recipe."""
    try:
        training = RecordedTraining.read(gzip.decompress(file_of(house).read_bytes()).decode())
    except FileNotFoundError:
        return None
    return training if training.recipe == recipe_of(house) else None


def fresh_memory(game: AnyGame, side: Side | None, rule: Rule) -> Memory | QMemory:
    """Return the memory of a machine that has learnt nothing; a rule of boxes needs ``side``."""
    if isinstance(rule, QRule):
        return QMemory.load(game, rule, rule.epsilon, lambda keys: {})
    assert isinstance(rule, BoxRule), "built-in machines have boxes or action values"
    assert side is not None, "a machine with boxes plays one side"
    return Memory.fresh(boxes_compile(game, side, rule))


def recorded_training(
    house: HouseMachine,
    memory: Memory | QMemory,
    random_state: str,
    curve: Sequence[RecordedPoint],
    steps: Sequence[RecordedStep],
) -> RecordedTraining:
    """Return the training of a built-in machine, from its memory after the last game."""
    return RecordedTraining(
        recipe=recipe_of(house),
        curve=tuple(curve),
        random_state=random_state,
        n_removed=memory.n_removed if isinstance(memory, Memory) else 0,
        epsilon=None if isinstance(memory, Memory) else memory.epsilon,
        steps=tuple(steps),
        boxes=tuple(memory.touched()) if isinstance(memory, Memory) else (),
        values=() if isinstance(memory, Memory) else tuple(memory.touched()),
    )


def _box_after_part(box: TouchedBox, current_beads: dict[str, list[int]], beads: list[int]) -> TouchedBox:
    """Return the box after a part, and update ``current_beads``."""
    beads_before, current_beads[box.position] = current_beads[box.position], beads
    return TouchedBox(
        box.position,
        beads_before,
        beads,
        box.visits,
        [after - before for after, before in zip(beads, beads_before, strict=True)],
    )


def _counts(tally: Tally) -> list[int]:
    return [tally.wins, tally.draws, tally.losses]
