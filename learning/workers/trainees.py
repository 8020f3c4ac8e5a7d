"""The machines in a chunk of a training run: loading, training, and storing lesson by lesson."""

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
    """Changes of the machines in training that have not been sent to their pages yet; by id of the machine."""

    machines: dict[int, Machine] = field(default_factory=dict)
    boxes: dict[int, dict[str, BoxNews]] = field(default_factory=dict)
    lessons: dict[int, list[int]] = field(default_factory=dict)

    def add(self, machine: Machine, touched: Iterable[TouchedBox], lesson: int) -> None:
        """Add the changes of a stored lesson, by its number."""
        changed = box_news(touched, lesson)
        self.machines[machine.pk] = machine
        self.boxes.setdefault(machine.pk, {}).update((box["position"], box) for box in changed)
        self.lessons.setdefault(machine.pk, []).append(lesson)

    def send(self) -> None:
        """Send one message to each machine's page. If a send fails, its changes are sent with the next ones."""
        for pk, machine in list(self.machines.items()):
            if events.machine_changed(machine, list(self.boxes[pk].values()), self.lessons[pk]):
                del self.machines[pk], self.boxes[pk], self.lessons[pk]


@dataclass(slots=True)
class Trainees:
    """The machine of a run and the opponent, with their memories. The caller holds the locks of both machines.

    Games are added to the run's counts as they are played; the caller saves the run.

    Attributes:
        opponent: the opponent if it is a machine, else ``None``; the same object as ``machine`` in self-play.
        tally: results of the machine's games since its last lesson.
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
        """Whether the opponent is a machine that also learns from these games."""
        return self.opponent is not None and self.stage.opponent_learns and self.opponent.learns

    def load(self) -> None:
        """Take a snapshot if one is due, and read the memory of each machine."""
        snapshot_take(self.run, self.machine)
        self.memory = self.opponent_memory = kind_of(self.machine).memory.load(self.machine, self.run.most_values)
        if self.opponent is not None and not self.plays_itself:
            self.opponent_memory = kind_of(self.opponent).memory.load(self.opponent, self.stage.most_values)

    def train(self, n_games: int, rng: RandomSource) -> None:
        """Play ``n_games`` games and learn from them in memory; nothing is stored."""
        if self.opponent is None:
            results = self.memory.train(OPPONENTS[self.stage.opponent], n_games, rng)
        else:
            results = self.memory.train_against(
                self.opponent_memory, n_games, rng, opponent_learns=self.opponent_learns
            )
        self.tally += results
        self.run.games_done += n_games
        self.run.n_wins += results.wins
        self.run.n_draws += results.draws
        self.run.n_losses += results.losses

    def store(self, news: News) -> None:
        """Store a lesson of each machine that learns, and a snapshot if one is due. Call ``load`` before more games."""
        tally = self.tally
        if self.plays_itself and self.opponent_learns:
            tally += tally.mirrored()  # in self-play, each game teaches the machine twice: once from each seat
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
