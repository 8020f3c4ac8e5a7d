"""The part of a kind of machine that trains, measures strength, restores snapshots and enters tournaments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import QuerySet

from beadbox.kernels.random_source import RandomSource
from beadbox.policies.registry import OPPONENTS
from beadbox.policies.table import ContestPlayer
from beadbox.rules.game import AnyGame
from beadbox.rules.play import MovePlayer
from beadbox.strength.snapshots import Meeting, meeting
from learning.exceptions import MachineWrongSideError, NoWeightsError, TrainingRefusedError
from learning.models import Machine, TournamentEntry
from learning.selectors.strength import Strength, strength_at_last_point


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings for training and measuring machines with games played move by move."""

    against: tuple[str, ...] = ("random",)
    """The fixed opponents of the sample: slugs, with underscores for hyphens."""
    n_games: int = 100
    """The number of games of the sample against each opponent."""
    off_by: str = "a tenth"
    """The typical error of the sample, in words."""
    n_first_games: int = 50
    """The number of games in the first chunk of a run, when the duration of a game is not yet known."""
    games_per_point: int = 0
    """The minimum number of games between points of the curve, because measuring takes time; 0: no minimum."""


class KindTraining(ABC):
    """Training, strength and tournament entries of the machines of a kind."""

    sampling: ClassVar[Sampling] = Sampling()
    levels: ClassVar[tuple[str, ...]] = ()
    """The slugs of the fixed opponents. Games against these decide which snapshot of a run is the best.

    If there are levels and strength is a sample, training keeps snapshots (docs/decisions/0085). Such a kind implements
    :meth:`restore_memory`, and its :meth:`entrant` reads only the number of lessons and the ε of an entry.
    """

    def has_table(self, machine: Machine) -> bool:
        """Return whether the machine plays from a table: a compiled loop trains it, and its strength is exact."""
        return False

    def partner_require(self, machine: Machine, other: Machine) -> None:
        """Refuse to train a machine against another machine of the same game if the two do not match.

        Raises:
            TrainingRefusedError, MachineWrongSideError.
        """
        if other.rule.kind != machine.rule.kind:
            raise TrainingRefusedError(f"opponent: {other.name} is a machine of another kind.")
        if machine.side is not None and other.side == machine.side:
            raise MachineWrongSideError(f"{other.name} plays the same side as {machine.name}.")

    def partners(self, machine: Machine, among: QuerySet[Machine]) -> QuerySet[Machine]:
        """Return the machines of a queryset that :meth:`partner_require` accepts."""
        same_kind = among.filter(game=machine.game, rule_json__kind=machine.rule.kind)
        return same_kind.filter(side=None if machine.side is None else 1 - machine.side)

    def strength_keys(self, machine: Machine) -> Sequence[str]:
        """Return the keys of the machine's :meth:`strength`, in the order of its page."""
        return self.sampling.against

    @abstractmethod
    def measure_strength(self, memory: Any, rng: RandomSource) -> Strength:
        """Return the shares of wins, draws and losses of a memory: exact, or a sample taken from ``rng``."""

    def strength(self, machine: Machine) -> Strength:
        """Return the shares of wins, draws and losses of a machine without playing games.

        Exact strength is that of the present machine. Sampled strength is the result of the latest measurement.
        """
        return strength_at_last_point(machine)

    def meeting(self, game: AnyGame, player: MovePlayer, level: str) -> Meeting:
        """Return a function that plays a game of a snapshot (a player as from :meth:`entrant`) with a level."""
        return meeting(game, player, OPPONENTS[level])

    def restore_memory(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        """Restore the memory that the machine had after ``n_lessons`` lessons.

        The changes are stored as those of the lesson ``lesson_id``. The machine's lock is held.

        Raises:
            SnapshotFarError: the changes are too many for one transaction.
        """
        raise NotImplementedError

    def weights_around_lesson(self, machine: Machine, n_lessons: int) -> dict[str, object]:
        """Return the machine's weights before and after its lesson number ``n_lessons``.

        Raises:
            NoWeightsError: the kind keeps no list of weights.
        """
        raise NoWeightsError(f"{machine.name} keeps {machine.rule.keeps}, and no list of weights.")

    @abstractmethod
    def entry_fields(self, machine: Machine) -> dict[str, object]:
        """Return the fields of a ``TournamentEntry`` that hold the present machine. The machine's lock is held.

        If the fields include ``n_lessons``, the entry later reads the machine's present memory from the ledger.
        """

    @abstractmethod
    def entrant(self, entry: TournamentEntry, game: AnyGame) -> ContestPlayer:
        """Return the machine as it was when the tournament of this game began.

        The caller has checked that the memory of that time still exists.
        """
