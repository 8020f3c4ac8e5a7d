"""The memory of a machine with too many boxes to list. A box is fetched when a game first reaches its position.

The readable training loop uses this memory, as the compiled loops use
:class:`~beadbox.learners.boxes.memory.Memory`. It has only the boxes that a chunk of training opens.
"""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from beadbox.learners.boxes.episodes import Episode, play_episode, play_without_reduction
from beadbox.learners.boxes.machine import BeadDraw, BoxMachine
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.memory import TouchedBox
from beadbox.policies.given import PolicyOpponent
from beadbox.policies.opponent import Opponent
from beadbox.rules.chance import Random
from beadbox.rules.game import Game
from beadbox.rules.outcome import Result, Side, Tally
from beadbox.strength.sampled import Sampled, sample

Fetch = Callable[[str], tuple[Sequence[int], Sequence[int]] | None]
"""Reads the stored beads and visits of a position's box; ``None`` if the box was never opened."""


class FetchedBoxes(MutableMapping[str, list[int]]):
    """The beads of each box by its position; a box is fetched when a program first asks for it."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._beads: dict[str, list[int] | None] = {}
        self.stored: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    def __getitem__(self, key: str) -> list[int]:
        if key not in self._beads:
            row = self._fetch(key)
            if row is not None:
                self.stored[key] = tuple(row[0]), tuple(row[1])
            self._beads[key] = None if row is None else list(row[0])
        beads = self._beads[key]
        if beads is None:
            raise KeyError(key)
        return beads

    def __setitem__(self, key: str, beads: list[int]) -> None:
        self._beads[key] = beads

    def __delitem__(self, key: str) -> None:
        del self._beads[key]

    def __iter__(self) -> Iterator[str]:
        return (key for key, beads in self._beads.items() if beads is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass
class OpenMemory:
    """A readable machine with fetched boxes.

    ``played`` counts how often each slot was played since its box was fetched. ``steps`` are the changes of boxes by a
    match, in order of play.
    """

    machine: BoxMachine
    boxes: FetchedBoxes
    played: Counter[tuple[str, int]] = field(default_factory=Counter)
    steps: list[TouchedBox] = field(default_factory=list)
    n_left_out: ClassVar[int] = 0

    @classmethod
    def load(
        cls, game: Game[object, object], side: Side, rule: BoxRule, fetch: Fetch, n_removed: int = 0
    ) -> OpenMemory:
        """Return a memory that reads boxes with ``fetch``. It has read none yet."""
        boxes = FetchedBoxes(fetch)
        return cls(BoxMachine(game, side, rule, boxes, n_removed), boxes)

    @property
    def n_removed(self) -> int:
        """The number of slots taken out of play so far."""
        return self.machine.n_removed

    def learn(self, episode: Episode) -> None:
        """Learn from one game, if the machine learns."""
        if self.machine.learns:
            self.machine.restock(
                episode.draws, episode.result, resigned=episode.resigned, unfinished=episode.unfinished
            )
            self.played.update((draw.box, draw.slot) for draw in episode.draws if draw.slot is not None)

    def teach(
        self, draws: Sequence[tuple[int, BeadDraw]], result: Result, *, resigned: bool, unfinished: bool = False
    ) -> None:
        """Learn from a match. All boxes of the draws must be stored.

        ``draws``: pairs of a ply and a draw that led to a move, in order of play.
        """
        beads = {draw.box: list(self.boxes[draw.box]) for _, draw in draws}
        changes = self.machine.restock([draw for _, draw in draws], result, resigned=resigned, unfinished=unfinished)
        self.played.update((draw.box, draw.slot) for _, draw in draws if draw.slot is not None)
        for (ply, draw), change in zip(draws, changes, strict=True):
            self._step(draw.box, beads, list(change.deltas), ply)

    def refilled(self, draw: BeadDraw, ply: int) -> None:
        """Record that the empty box of a draw was refilled."""
        empty = self.boxes[draw.box]
        self.boxes[draw.box] = list(draw.beads)
        self._step(draw.box, {draw.box: empty}, list(draw.beads), ply)

    def _step(self, key: str, beads: dict[str, list[int]], deltas: list[int], ply: int) -> None:
        """Record one change of a box, and update ``beads``."""
        before, (start, visits) = beads[key], self.boxes.stored[key]
        beads[key] = [count + delta for count, delta in zip(before, deltas, strict=True)]
        after = [n + self.played[key, slot] for slot, n in enumerate(visits)]
        self.steps.append(TouchedBox(key, list(start), beads[key], after, deltas, ply))

    def touched(self) -> list[TouchedBox]:
        """Return the boxes that are new or have changed since they were stored, sorted by position.

        After a match, return every single change of a box instead, in order of play.
        """
        if self.steps:
            return self.steps
        found = []
        for key in sorted(self.boxes):
            beads = self.boxes[key]
            initial = self.machine.cabinet.initial_beads(self.machine.game.decode(key))
            before, visits = self.boxes.stored.get(key, (tuple(initial), (0,) * len(beads)))
            after = [n + self.played[key, slot] for slot, n in enumerate(visits)]
            if key not in self.boxes.stored or tuple(beads) != before or tuple(after) != visits:
                deltas = [b - a for a, b in zip(before, beads, strict=True)]
                found.append(TouchedBox(key, list(before), list(beads), after, deltas))
        return found

    def sample(self, opponent: Opponent, n_games: int, rng: Random) -> Sampled:
        """Play games against a fixed opponent without learning; return the shares. New boxes are not stored."""
        machine = self.machine
        boxes = ChainMap[str, list[int]]({}, self.boxes)
        frozen = BoxMachine(machine.game, machine.side, machine.rule, boxes, learns=False)

        def play() -> Result:
            return play_episode(frozen, opponent, rng)[0].result

        return sample(play, n_games)

    def train(self, opponent: Opponent, n_games: int, rng: Random) -> Tally:
        """Play and learn ``n_games`` against a fixed opponent by the readable loop; return our tally."""
        tally, is_policy = Tally(), isinstance(opponent, PolicyOpponent)
        for _ in range(n_games):
            if is_policy:
                episode = play_without_reduction(self.machine, opponent, rng)
            else:
                episode, _opponent_episode = play_episode(self.machine, opponent, rng)
            self.learn(episode)
            tally.add(episode.result)
        return tally

    def train_against(self, opponent: OpenMemory, n_games: int, rng: Random, *, opponent_learns: bool) -> Tally:
        """Play ``n_games`` against a machine of the other side by the readable loop; return our tally."""
        opponent.machine.learns = opponent_learns
        tally = Tally()
        for _ in range(n_games):
            episode, opponent_episode = play_episode(self.machine, opponent.machine, rng)
            self.learn(episode)
            opponent.learn(opponent_episode)
            tally.add(episode.result)
        return tally
