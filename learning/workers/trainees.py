"""The machines that a chunk of a training run trains: loaded, trained, and stored lesson by lesson."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from django.db import transaction

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.memory import AnyMemory, TouchedBox
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.outcome import Tally
from learning import events
from learning.kinds.registry import kind_of
from learning.kinds.snapshots import snapshot_take
from learning.models import LessonKind, Machine, RunStage, TrainingRun
from learning.states import BoxNews, box_news
from learning.storage.lessons import Cause


@dataclass(slots=True)
class News:
    """Changes of boxes of the machines in training since the last message to their pages."""

    machines: dict[int, Machine] = field(default_factory=dict)
    boxes: dict[int, dict[str, BoxNews]] = field(default_factory=dict)
    lessons: dict[int, list[int]] = field(default_factory=dict)

    def add(self, machine: Machine, touched: Iterable[TouchedBox], lesson: int) -> None:
        """Add a stored lesson of the machine."""
        changed = box_news(touched, lesson)
        self.machines[machine.pk] = machine
        self.boxes.setdefault(machine.pk, {}).update((box["position"], box) for box in changed)
        self.lessons.setdefault(machine.pk, []).append(lesson)

    def tell(self) -> None:
        """Send one message to each machine's page; a message that fails is sent again with the next changes."""
        for pk, machine in list(self.machines.items()):
            if events.boxes_changed(machine, list(self.boxes[pk].values()), self.lessons[pk]):
                del self.machines[pk], self.boxes[pk], self.lessons[pk]


@dataclass(slots=True)
class Trainees:
    """A run's machine and the machine that it plays against, if any, with the memory of each. Both are locked.

    Games are added to the run as they are played; the caller saves it.

    Attributes:
        opponent: the same object if the machine plays itself; ``None`` if the opponent is no machine.
        tally: the games of the machine since its last lesson.
    """

    run: TrainingRun
    stage: RunStage
    machine: Machine
    opponent: Machine | None = None
    tally: Tally = field(default_factory=Tally, init=False)
    memory: AnyMemory = field(init=False)
    opponent_memory: AnyMemory = field(init=False)

    @property
    def plays_itself(self) -> bool:
        """Whether both seats are the same machine, which has one memory."""
        return self.opponent is self.machine

    @property
    def opponent_learns(self) -> bool:
        """Whether the opponent is a machine that learns from these games, too."""
        return self.opponent is not None and self.stage.opponent_learns and self.opponent.learns

    def load(self) -> None:
        """Read the memory of each machine, and take a snapshot if one is due before the next game."""
        snapshot_take(self.run, self.machine)
        self.memory = self.opponent_memory = kind_of(self.machine).memory.load(self.machine, self.run.most_values)
        if self.opponent is not None and not self.plays_itself:
            self.opponent_memory = kind_of(self.opponent).memory.load(self.opponent, self.stage.most_values)

    def train(self, n_games: int, rng: RandomSource) -> None:
        """Play and learn ``n_games``; nothing is stored."""
        if self.opponent is None:
            played = self.memory.train(OPPONENTS[self.stage.opponent], n_games, rng)
        else:
            played = self.memory.train_against(self.opponent_memory, n_games, rng, opponent_learns=self.opponent_learns)
        self.tally += played
        self.run.games_done += n_games
        self.run.n_wins += played.wins
        self.run.n_draws += played.draws
        self.run.n_losses += played.losses

    def store(self, news: News) -> None:
        """Store a lesson of each machine that learns, and a snapshot if one is due; load again before more games."""
        tally = self.tally
        if self.plays_itself and self.opponent_learns:
            tally += tally.mirrored()  # a machine that learns from both seats of a game has learnt from two games
        self._lesson_give(self.machine, self.memory, tally, news)
        if self.opponent is not None and self.opponent_learns and not self.plays_itself:
            self._lesson_give(self.opponent, self.opponent_memory, tally.mirrored(), news)
        self.run.n_left_out += self.memory.n_left_out
        self.tally = Tally()
        snapshot_take(self.run, self.machine)

    def _lesson_give(self, machine: Machine, memory: AnyMemory, tally: Tally, news: News) -> None:
        touched = kind_of(machine).memory.lesson_give(
            machine, memory, LessonKind.TRAINING, Cause(tally, run_id=self.run.pk)
        )
        transaction.on_commit(partial(news.add, machine, touched, machine.n_lessons))
