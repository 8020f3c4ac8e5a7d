"""What the site asks of a machine, whatever its kind.

Nobody outside a kind's own modules asks which kind a machine is: they ask :func:`learning.kinds.registry.kind_of` and
one of these. Only what differs from kind to kind is asked here. ``docs/adding-a-machine.md`` tells how to add one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from io import BytesIO
from typing import Any, ClassVar, NamedTuple

from django.db.models import QuerySet

from beadbox import field_text
from beadbox.engines.level import Level
from beadbox.exchange.document import Document
from beadbox.exchange.registry import Format
from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.memory import TouchedBox
from beadbox.learners.memory import AnyMemory
from beadbox.learners.presets import Preset
from beadbox.learners.rule import Rule, RuleError
from beadbox.policies.registry import OPPONENTS
from beadbox.printing.sheets import PrintChoices, PrintOptions
from beadbox.rules.game import Game
from beadbox.rules.outcome import Outcome, Side
from beadbox.rules.play import MovePlayer
from beadbox.strength.snapshots import Meeting, meeting
from beadbox.tournaments.contest import ContestPlayer
from games.live.players import MACHINE, Choice, LiveMatch, LiveSeat, Memo, Statement
from games.live.states import Insight
from learning.exceptions import (
    BoxNotFoundError,
    MachineWrongSideError,
    NoBoxesError,
    NoWeightsError,
    PrintRefusedError,
    TrainingRefusedError,
)
from learning.models import LessonKind, Machine, TournamentEntry, Value
from learning.selectors.experiments import experiments_about
from learning.selectors.machines import machine_brief
from learning.selectors.snapshots import snapshots_told
from learning.selectors.strength import CURVE_AGAINST, Strength
from learning.states import Progress
from learning.storage.folding import Ledger
from learning.storage.lessons import Cause, lessons_open

FIRST_CHUNK_GAMES = 50_000
"""How many games to begin a training with where a compiled loop plays them, before it is known how long they take."""


@dataclass(frozen=True, slots=True)
class Words:
    """What a field of a rule is called, what it does, and what its choices mean."""

    label: str
    does: str
    choices: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Fields that the editor shows together, and the formula that they stand in, if there is one."""

    name: str
    fields: tuple[str, ...]
    exactly: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """A match that is over, how, and the seats that a machine had in it: two where it has met itself."""

    live: LiveMatch
    outcome: Outcome
    seats: list[LiveSeat]


@dataclass(frozen=True, slots=True)
class Page:
    """A page, what stands in it, and how it is answered: 404 where what was asked of it is not to be had."""

    template: str
    context: dict[str, Any]
    status: int = 200


def percent(share: float) -> str:
    """A share in words, to three digits: 0.004 is 0.4 %, and not none."""
    return f"{100 * share:.3g}%"


class LevelMove(NamedTuple):
    """The last move of a level that plays by something learnt: its seat, at which ply, and whether it was any move."""

    seat: LiveSeat
    ply: int
    level: Level
    anything: bool


class Kind(ABC):
    """A kind of machine. There is one object of each; it keeps nothing between two questions.

    What writes is called inside a transaction that holds the machine's lock, if it does not say otherwise.
    """

    rule: ClassVar[type[Rule]]
    """The class of its rules; ``rule.kind`` names the kind, on the wire and in files."""
    presets: ClassVar[Mapping[str, Preset[Rule]]]
    """Rules with a name, by slug; the first is the usual one. Slugs are unique among those of all kinds."""
    words: ClassVar[Mapping[str, Words]]
    """Every field of its rule in words."""
    groups: ClassVar[tuple[RuleGroup, ...]]
    """The fields of its rule in the order of the editor, each once."""

    noun: ClassVar[str]
    """What a machine of this kind keeps, in a word: "A machine that keeps boxes"."""
    see: ClassVar[str] = "See the machine"
    """What leads to its page after a training."""
    see_all: ClassVar[str] = "See the machine"
    """What leads there after a match, where it played alone."""
    see_named: ClassVar[str] = "See {name}"
    """The same where it played with another machine."""
    why: ClassVar[str] = "machine"
    """The name of the page (of its id) that tells why it moves as it does."""
    position_template: ClassVar[str] = "learning/values.html"
    """What shows a :meth:`position_view` there, where ``why`` is ``values``."""
    tells: ClassVar[str] = ""
    """Which part of a match's ``learning`` tells of it beside ``lessons``: ``boxes``, ``values`` (docs/protocol.md)."""
    player: ClassVar[str] = MACHINE
    """The player that moves for it in live matches (``learning.players.machines``)."""

    either_side: ClassVar[bool] = False
    """Whether it plays either side, and may meet itself; else it plays one for good."""
    copies_rows: ClassVar[bool] = True
    """Whether a copy gets rows: then its original is locked while they are read, and ``n_values`` bounds copies."""
    ledger: ClassVar[Ledger]
    """Where its ledger is, and how that is folded up."""
    grows: ClassVar[bool] = False
    """Whether what it keeps has no end, so that ``n_values`` bounds what its trainings may bring."""

    @property
    def slug(self) -> str:
        """What it is called on the wire and in files."""
        return self.rule.kind

    # A new machine, and what becomes of it

    def usual_preset(self, game: Game[Any, Any], side: Side | None) -> str:
        """The slug of the preset that a machine gets when nobody says otherwise.

        Raises:
            RuleRefusedError: there is none for such a side.
        """
        return next(iter(self.presets))

    def suited(self, game: Game[Any, Any], rule: Any) -> Rule:
        """The rule of a preset, as it fits this game."""
        fitting: Rule = rule
        return fitting

    def rule_require(self, game: Game[Any, Any], rule: Any) -> None:
        """Refuse a rule that asks of its game what that cannot give. That it fits has been seen to.

        Raises:
            GameTooLargeError.
        """

    def usual_name(self, game: Game[Any, Any], side: Side | None, preset: str) -> str:
        """What the API calls a machine that nobody named."""
        return f"{self.presets[preset].name if preset else game.name}"

    def fields_new(self, rule: Any) -> dict[str, Any]:
        """Fields of the row of a machine that has learnt nothing yet, as far as they depend on its rule."""
        return {}

    def lay_out(self, machine: Machine) -> None:
        """Store what a machine has before its first game."""

    def fields_copied(self, original: Machine) -> dict[str, Any]:
        """Fields of the row of a copy, as far as they differ from kind to kind. The original stays as long as we do."""
        return {}

    def copy(self, original: Machine, copy: Machine) -> None:
        """Give a machine that has nothing yet what it is to have of another beside its row; its ledger begins there."""

    def unshare(self, machine: Machine) -> None:
        """Give others what they share of its memory, or of its past, as that is about to be forgotten."""

    @abstractmethod
    def forget(self, machine: Machine) -> None:
        """Delete the changes of its ledger and as much of its memory as would take long to delete with its row."""

    def reset(self, machine: Machine) -> None:
        """Put what a machine has beside its row back to its beginning. Its ledger is forgotten."""

    # Its memory

    @abstractmethod
    def load(self, machine: Machine, most: int | None = None) -> AnyMemory:
        """The machine's memory as it stands; of one that grows, with room up to so many entries. Needs no lock."""

    @abstractmethod
    def store(self, machine: Machine, memory: Any, lesson_id: int) -> Sequence[TouchedBox]:
        """Store what a memory has learnt since it was loaded, and the lesson's changes; the boxes among it."""

    def fields_learnt(self, machine: Machine, memory: Any) -> dict[str, Any]:
        """Fields of the machine's row as the memory leaves them, to be saved with the lesson."""
        return {}

    def lesson_give(self, machine: Machine, memory: Any, kind: LessonKind, cause: Cause) -> Sequence[TouchedBox]:
        """Write the machine's next lesson: what its memory has learnt, as :meth:`store`.

        Call inside a transaction that holds the machine's lock since the memory was loaded.

        Args:
            machine: the machine; its row is saved.
            memory: its memory, loaded under this lock and taught since.
            kind: what taught it.
            cause: the games that it was taught by, for its totals, and the match or the run.
        """
        for field, value in self.fields_learnt(machine, memory).items():
            setattr(machine, field, value)
        (lesson_id,) = lessons_open(machine, kind, [cause])
        return self.store(machine, memory, lesson_id)

    # Training

    def n_first_games(self, machine: Machine) -> int:
        """How many games to begin a training with, before it is known how long they take."""
        return 50

    def has_table(self, machine: Machine) -> bool:
        """Whether it plays by a table of chances: its games are a compiled loop, and their result a sum."""
        return False

    def is_sampled(self, machine: Machine) -> bool:
        """Whether its strength is a sample, which takes its time, and not a sum."""
        return not self.has_table(machine)

    def n_points(self, n_games: int) -> int:
        """How many points, its start apart, the curve of so many games has at most where its strength is a sample."""
        return 12

    def partner_require(self, machine: Machine, other: Machine) -> None:
        """Refuse a machine of the same game to train against.

        Raises:
            TrainingRefusedError, MachineWrongSideError.
        """
        if other.rule.kind != self.slug:
            raise TrainingRefusedError(f"opponent: {other.name} is a machine of another kind.")
        if machine.side is not None and other.side == machine.side:
            raise MachineWrongSideError(f"{other.name} plays the same side as {machine.name}.")

    def partners(self, machine: Machine, among: QuerySet[Machine]) -> QuerySet[Machine]:
        """Those machines that :meth:`partner_require` does not refuse."""
        same = among.filter(game=machine.game, rule_json__kind=self.slug)
        return same.filter(side=None if machine.side is None else 1 - machine.side)

    # Strength

    against: ClassVar[tuple[str, ...]] = ("random",)
    """Whom its strength is a sample against: slugs of fixed opponents, hyphens as underscores."""
    n_sample: ClassVar[int] = 100
    """How many games that sample is of, against each."""
    off_by: ClassVar[str] = "a tenth"
    """How far such a sample may be off."""

    def measured_against(self, machine: Machine) -> Sequence[str]:
        """The keys of its :meth:`strength`, in the order of the page."""
        return self.against

    @abstractmethod
    def measured(self, memory: Any, rng: RandomSource) -> Strength:
        """Win, draw and loss of a memory: exact, or a sample taken from ``rng``."""

    @abstractmethod
    def strength(self, machine: Machine) -> Strength:
        """The same of a machine as it stands, or as it was when last measured: for a page, which cannot wait."""

    def progress(self, machine: Machine, *, to_owner: bool) -> Progress:
        """How far the machine has come; ``to_owner`` says "you" of who teaches it.

        Raises:
            NoBoxesError: its kind tells nothing of it.
        """
        raise NoBoxesError(f"{machine.name} has no boxes: it keeps {self.rule.keeps}.")

    # Snapshots of a training (``learning.kinds.machines``, docs/decisions/0085)

    keeps_snapshots: ClassVar[bool] = False
    """Whether its trainings keep snapshots, where its strength is a sample: then :meth:`put_back` is there, and
    :meth:`entrant` needs of an entry no more than the number of its lessons and its ε."""

    levels: ClassVar[tuple[str, ...]] = ("random",)
    """The fixed opponents (slugs) by which the best of its snapshots is chosen."""

    def meeting(self, game: Game[Any, Any], player: MovePlayer, level: str) -> Meeting:
        """Games of a snapshot, as :meth:`entrant` plays it, against one of its levels."""
        return meeting(game, player, OPPONENTS[level])

    def put_back(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        """Let the machine know again what it knew after so many lessons; what that changes belongs to this lesson.

        Raises:
            SnapshotFarError: that is too much for one transaction.
        """
        raise NotImplementedError

    def knew(self, machine: Machine, n_lessons: int) -> dict[str, Any]:
        """What the machine knew before and after a lesson, where that is a list of weights.

        Raises:
            NoWeightsError: it is something else.
        """
        raise NoWeightsError(f"{machine.name} keeps {self.rule.keeps}, and no list of weights.")

    # Files and paper

    @staticmethod
    @abstractmethod
    def read(file: dict[str, Any], game: Game[Any, Any], rule: Any, head: dict[str, Any], any_size: bool) -> Document:
        """What a native file holds beyond its head, and with it the whole.

        Args:
            file: all of its fields, nothing about them known but the head.
            game: its game.
            rule: its rule, one of this kind.
            head: name, description, preset, learns.
            any_size: whether it may be larger than files of accounts.

        Raises:
            ExchangeError: something is wrong; the place is named.
        """

    @abstractmethod
    def dump(self, machine: Machine, form: Format, *, any_size: bool = False) -> str:
        """The machine as a file of a format.

        Raises:
            ExchangeError: it does not fit into one.
        """

    @abstractmethod
    def fields_read(self, data: Any) -> dict[str, Any]:
        """Fields of the row of a machine that comes from a file, as far as they differ from kind to kind."""

    @abstractmethod
    def restore(self, machine: Machine, data: Any) -> None:
        """Store the memory that a file holds as that of a machine that has none yet; its ledger begins with it."""

    def import_notes(self, machine: Machine, data: Any, rule_name: str, choose: str) -> list[str]:
        """What to tell whoever has brought this machine in, a sentence each.

        ``rule_name`` is what its rule is called; ``choose`` ends "import the file again and …".
        """
        return [f"The machine keeps the rule of the file: {rule_name}. For another rule, make a new machine."]

    def print_choices(self, machine: Machine) -> PrintChoices:
        """What can be chosen when its boxes are printed.

        Raises:
            PrintRefusedError: it has none.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {self.rule.keeps}.")

    def sheets(self, machine: Machine, options: PrintOptions) -> BytesIO:
        """Its boxes on paper, as PDF.

        Raises:
            PrintRefusedError: it has none, or they do not fit.
        """
        raise PrintRefusedError(f"{machine.name} has no boxes to print. It keeps {self.rule.keeps}.")

    @abstractmethod
    def holds(self, machine: Machine) -> str:
        """What it holds, counted: "304 boxes"."""

    # Live matches

    @abstractmethod
    def choose(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, rng: RandomSource) -> Choice:
        """What the machine in this seat plays. The memo of the choice is what :meth:`remember` gets.

        Without the machine's lock: whoever writes takes those of the seat's match (``storage.locks``), and for that
        the match has to be held (``games.live.players.NotHeldError``).
        """

    @abstractmethod
    def follow(self, match: LiveMatch, seat: LiveSeat, machine: Machine, position: Any, move: Any) -> Any:
        """The memo of a move that a person makes in the machine's seat, as if it had made it; ``None``: nothing."""

    @abstractmethod
    def remember(self, seat: LiveSeat, machine: Machine, memos: Sequence[Memo]) -> Statement | None:
        """What stores how moves of the seat came about, if anything does."""

    @abstractmethod
    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        """Learn from matches that are over, in their order, each with a lesson of its own; the boxes as :meth:`store`.

        What the machine has in memory of itself is as its row stands now: it has just been locked.
        """

    def insight(self, match: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        """What the machines in these seats thought and learnt (``learning`` of the state, docs/protocol.md)."""
        return None

    def level_insight(self, match: LiveMatch, moves: Sequence[LevelMove]) -> Insight | None:
        """What levels saw that play by what such a machine has learnt, there being moves of theirs; else ``None``."""
        return None

    def level_page(self, game: Game[Any, Any]) -> Page | None:
        """The page of what levels of a game play by, if that is what such a machine has learnt."""
        return None

    @abstractmethod
    def mind(self, machine: Machine, position: Any) -> Any:
        """The machine as it stands, frozen, for a question about one position: nothing is locked, nothing written.

        What it has to be able to do the adviser of its game says (``learning.advice``).
        """

    # Pages

    def counts_level(self, rule: Any) -> bool:
        """Whether a machine with this rule has a level that a page should show."""
        return False

    @abstractmethod
    def rule_sentences(self, rule: Any) -> list[tuple[str, str]]:
        """A rule in words, field by field that matters, as (label, sentence)."""

    def page(self, machine: Machine, asked: Mapping[str, str]) -> Page:
        """The page of a machine: what it has beside what every such page has (``views.machines.machine_page``).

        ``asked`` is what stands behind the question mark of its address, as it came.
        """
        layout, strength = machine.game_rules.look.layout, self.strength(machine)
        sides = [Side(machine.side).other] if machine.side is not None else list(Side)
        facts = self.facts(machine) | {"keeps": self.rule.keeps, "holds": self.holds(machine)}
        own = {
            "machine": facts,
            "roles": [(layout.roles[side], layout.role_names[side]) for side in sides],
            "kept": snapshots_told(machine),
            "strength": [(name, strength[slug]) for slug, name in CURVE_AGAINST.items() if slug in strength],
            "experiments": experiments_about(machine.preset),
        }
        return Page("learning/machine_plain.html", own)

    def facts(self, machine: Machine) -> dict[str, Any]:
        """What the page of a machine of any kind says of it."""
        preset = self.presets.get(machine.preset)
        return {
            **machine_brief(machine),
            "side_name": machine.get_side_display(),
            "description": machine.description,
            "owner_name": machine.owner.get_username() if machine.owner else "",
            "rule_name": preset.name if preset else "a rule of its own",
            "rule_source": preset.source if preset else "",
            "rule_sentences": self.rule_sentences(machine.rule),
            "folded_at": machine.folded_at,
        }

    def position_view(self, machine: Machine, text: str) -> dict[str, Any]:
        """What it makes of a position, whoever is to move: every action with its value.

        Raises:
            BoxNotFoundError: the text is no position, or the machine keeps no values.
        """
        raise BoxNotFoundError(f"{machine.name} keeps {self.rule.keeps}, and no values.")

    def admin_list(self, machine: Machine) -> tuple[str, str]:
        """Where the staff sees what it holds: the model of the list and its query."""
        return "value", f"machine={machine.pk}"

    def entry_board(self, entry: Value) -> str | None:
        """The position that a value of its machine belongs to, as text; ``None`` if its key tells of none."""
        return None

    # The form that makes one

    def rule_to_form(self, rule: Any) -> dict[str, Any]:
        """The values of the rule's form fields."""
        return {field.name: getattr(rule, field.name) for field in fields(rule)}

    def rule_from_form(self, values: dict[str, Any]) -> dict[str, Any]:
        """What the form fields of its rule say, as the fields of its rule in JSON.

        Raises:
            RuleError: one cannot be read.
        """
        if empty := [name for name, value in values.items() if value is None]:
            raise RuleError(empty[0], field_text.REQUIRED)
        return values

    # Tournaments

    @abstractmethod
    def entry_fields(self, machine: Machine) -> dict[str, Any]:
        """Fields of an entry (``TournamentEntry``) that hold the machine as it is now. Its lock is held."""

    @abstractmethod
    def entrant(self, entry: TournamentEntry, game: Game[Any, Any]) -> ContestPlayer:
        """The machine as it was when the tournament of this game began.

        Raises:
            EntryGoneError: what it knew then is no more.
        """

    def entrant_require(self, entry: TournamentEntry) -> None:
        """Refuse to count the games of an entry of which something was lost while they were played.

        Raises:
            EntryGoneError.
        """
