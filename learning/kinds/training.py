"""How machines of a kind are trained, measured, kept as snapshots and entered in tournaments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import QuerySet

from beadbox.kernels.random_source import RandomSource
from beadbox.policies.registry import OPPONENTS
from beadbox.rules.game import AnyGame
from beadbox.rules.play import MovePlayer
from beadbox.strength.snapshots import Meeting, meeting
from beadbox.tournaments.contest import ContestPlayer
from learning.exceptions import MachineWrongSideError, NoWeightsError, TrainingRefusedError
from learning.models import Machine, TournamentEntry
from learning.selectors.strength import Strength, strength_measured_last


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a kind is trained and measured if its games are played move by move."""

    against: tuple[str, ...] = ("random",)
    """The fixed opponents of the sample: slugs, with underscores for hyphens."""
    n_games: int = 100
    """The number of games of the sample against each opponent."""
    off_by: str = "a tenth"
    """The error of such a sample, in words."""
    n_first_games: int = 50
    """The number of games with which a training begins, before the time of a game is known."""
    games_per_point: int = 0
    """A point of the curve takes the time of this many games, so a short run has fewer points; 0: no such limit."""


class KindTraining(ABC):
    """How the machines of a kind learn from training, and how strong they are."""

    sampling: ClassVar[Sampling] = Sampling()
    levels: ClassVar[tuple[str, ...]] = ()
    """The fixed opponents (slugs) by which the best snapshot of a training is chosen.

    Where there are any, trainings keep snapshots if strength is a sample (docs/decisions/0085). Such a kind has
    :meth:`put_back`. Of an entry, its :meth:`entrant` needs only the number of its lessons and its ε."""

    def has_table(self, machine: Machine) -> bool:
        """Whether the machine plays by a table of probabilities: a compiled loop plays, and strength is a sum."""
        return False

    def partner_require(self, machine: Machine, other: Machine) -> None:
        """Refuse a machine of the same game to train against.

        Raises:
            TrainingRefusedError, MachineWrongSideError.
        """
        if other.rule.kind != machine.rule.kind:
            raise TrainingRefusedError(f"opponent: {other.name} is a machine of another kind.")
        if machine.side is not None and other.side == machine.side:
            raise MachineWrongSideError(f"{other.name} plays the same side as {machine.name}.")

    def partners(self, machine: Machine, among: QuerySet[Machine]) -> QuerySet[Machine]:
        """The machines that :meth:`partner_require` does not refuse."""
        same = among.filter(game=machine.game, rule_json__kind=machine.rule.kind)
        return same.filter(side=None if machine.side is None else 1 - machine.side)

    def measured_against(self, machine: Machine) -> Sequence[str]:
        """The keys of its :meth:`strength`, in the order of the page."""
        return self.sampling.against

    @abstractmethod
    def measured(self, memory: Any, rng: RandomSource) -> Strength:
        """Win, draw and loss of a memory: exact, or a sample taken from ``rng``."""

    def strength(self, machine: Machine) -> Strength:
        """Win, draw and loss of a machine as it stands or was last measured: a page cannot wait for games."""
        return strength_measured_last(machine)

    def meeting(self, game: AnyGame, player: MovePlayer, level: str) -> Meeting:
        """Games of a snapshot, as :meth:`entrant` plays it, against one of its levels."""
        return meeting(game, player, OPPONENTS[level])

    def put_back(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        """Restore the machine's memory after ``n_lessons`` lessons; the changes belong to the lesson ``lesson_id``.

        Raises:
            SnapshotFarError: the changes are too many for one transaction.
        """
        raise NotImplementedError

    def knew(self, machine: Machine, n_lessons: int) -> dict[str, object]:
        """The machine's weights before and after a lesson.

        Raises:
            NoWeightsError: the kind keeps no list of weights.
        """
        raise NoWeightsError(f"{machine.name} keeps {machine.rule.keeps}, and no list of weights.")

    @abstractmethod
    def entry_fields(self, machine: Machine) -> dict[str, object]:
        """Fields of an entry (``TournamentEntry``) that hold the machine as it is now. Its lock is held.

        If they include ``n_lessons``, the entry reads the machine's memory of that time from its ledger.
        """

    @abstractmethod
    def entrant(self, entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
        """The machine as it was when the tournament of this game began. The caller has checked that it can be read."""
