"""Kinds of machine whose memory is a table: a number for each key, with a ledger of every change.

The rows are those of ``Value`` and ``ValueChange``, whatever the keys stand for, so such a kind needs no table of its
own. In live matches what it chose is a ``Decision``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from beadbox.exchange import native
from beadbox.exchange.errors import ExchangeError
from beadbox.exchange.registry import Format
from beadbox.exchange.values import MAX_VALUES, ValueData, ValuesData
from beadbox.learners.boxes.memory import TouchedBox
from beadbox.learners.memory import AnyMemory, TouchedValue
from beadbox.rules.outcome import Result, Side, Tally
from games.live.players import LiveSeat, Memo, Statement
from learning.exceptions import EntryGoneError, SnapshotFarError
from learning.kinds.base import Ended, Kind
from learning.models import Decision, LessonKind, Machine, TournamentEntry
from learning.selectors.strength import Strength, strength_measured_last
from learning.selectors.values import decision_positions
from learning.storage import values as storage
from learning.storage.bounds import values_most
from learning.storage.folding import VALUES
from learning.storage.lessons import Cause, lessons_go_back_to

DECIDED = ("machine_id", "seat_id", "ply", "key", "chosen", "values", "explored", "epsilon")
PUT_BACK_MOST = 20_000
"""No more values are put back at once: whoever ends a match with the machine waits for them, half a second or less."""


class TableMemory(AnyMemory, Protocol):
    """A memory of such a machine."""

    @property
    def epsilon(self) -> float:
        """The chance that it tries anything, as it has become; 0 if it never does."""

    @property
    def n_new(self) -> int:
        """How many entries were added."""

    def touched(self) -> list[TouchedValue]:
        """The entries that have changed, in the order in which their changes are to stand in the ledger."""


class Entries(Kind):
    """What such kinds have in common. Each has its rule, its memory, and how it plays."""

    noun = "values"
    either_side = True
    grows = True
    keeps_snapshots = True
    ledger = VALUES

    def fields_new(self, rule: Any) -> dict[str, Any]:
        return {"epsilon": 0.0}

    def copy(self, original: Machine, copy: Machine) -> None:
        storage.values_copy(original, copy)

    def forget(self, machine: Machine) -> None:
        storage.values_forget(machine)

    @abstractmethod
    def load(self, machine: Machine, most: int | None = None) -> TableMemory:
        """The memory, none of it read yet."""

    def store(self, machine: Machine, memory: TableMemory, lesson_id: int) -> Sequence[TouchedBox]:
        storage.values_store(machine, memory.touched(), lesson_id)
        return ()

    def fields_learnt(self, machine: Machine, memory: TableMemory) -> dict[str, Any]:
        return {"epsilon": memory.epsilon, "n_values": machine.n_values + memory.n_new}

    def strength(self, machine: Machine) -> Strength:
        return strength_measured_last(machine)

    def dump(self, machine: Machine, form: Format, *, any_size: bool = False) -> str:
        if form.slug != "native":
            names = {"format": form.name, "machine": machine.name, "kept": "values"}
            raise ExchangeError("format", "machine_keeps_other", **names)
        return native.dump_values(values_data(machine, any_size=any_size))

    def fields_read(self, data: ValuesData) -> dict[str, Any]:
        return {"side": None, "epsilon": data.epsilon, "n_values": len(data.values)}

    def restore(self, machine: Machine, data: ValuesData) -> None:
        storage.values_restore(machine, ((one.key, one.value, one.visits) for one in data.values))

    def remember(self, seat: LiveSeat, machine: Machine, memos: Sequence[Memo]) -> Statement:
        """Its decisions, each of which was noted as a ``Chosen``."""
        rows = [
            [
                machine.pk,
                seat.row.pk,
                ply,
                chosen.decision.key,
                chosen.index,
                [one.value for one in chosen.candidates],
                chosen.explored,
                machine.epsilon or 0.0,
            ]
            for ply, chosen in memos
        ]
        return Statement.insert(Decision, DECIDED, rows)

    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        for one in ended:  # loaded here, so that no kind can forget how many entries the machine may come to have
            memory = self.load(machine, values_most(machine))
            tally = self.teach(memory, one)
            self.lesson_give(machine, memory, LessonKind.MATCH, Cause(tally, match_id=one.live.match.pk))
        return ()

    @abstractmethod
    def teach(self, memory: Any, ended: Ended) -> Tally:
        """Teach a memory what a match was in which its machine had seats; how these ended."""

    def put_back(self, machine: Machine, n_lessons: int, lesson_id: int) -> None:
        differ = storage.values_changed_since(machine, n_lessons, PUT_BACK_MOST + 1)
        if len(differ) > PUT_BACK_MOST:
            raise SnapshotFarError
        storage.values_store(machine, differ, lesson_id)

    def holds(self, machine: Machine) -> str:
        return f"{machine.values.count():,} values"

    def entry_fields(self, machine: Machine) -> dict[str, Any]:
        """Values can be a million, so they are not copied: what they were is read from the ledger."""
        return {"epsilon": machine.epsilon, "n_lessons": machine.n_lessons}

    def entrant_require(self, entry: TournamentEntry) -> None:
        assert entry.n_lessons is not None
        if entry.machine_id is None or not lessons_go_back_to(entry.machine_id, entry.n_lessons):
            raise EntryGoneError(f"{entry.name} was deleted or made to forget while the tournament went on.")


def seats_decided(ended: Ended) -> Iterator[tuple[Result, list[tuple[Decision, Any]]]]:
    """What a match was for each seat of its machine, and what was decided there, each with the position it was in.

    Where it has met itself those of the first side come first.
    """
    stored = list(Decision.objects.filter(seat__in=[seat.row.pk for seat in ended.seats]).order_by("ply"))
    positions = decision_positions(ended.live, {one.ply for one in stored})
    for seat in ended.seats:
        own = [(one, positions[one.ply]) for one in stored if one.seat_id == seat.row.pk]
        yield Result.of(ended.outcome, Side(seat.row.side)), own


def values_data(machine: Machine, *, any_size: bool = False) -> ValuesData:
    """Everything such a machine is, at one moment: values and totals come from one query.

    Raises:
        ExchangeError: it has more values than a file that anybody can bring in holds, and not ``any_size`` will do.
    """
    head = ("n_wins", "n_draws", "n_losses", "learns", "epsilon")
    found = machine.values.values_list("key", "value", "n_visits", *(f"machine__{name}" for name in head))
    rows = list(found if any_size else found[: MAX_VALUES + 1])
    if len(rows) > MAX_VALUES and not any_size:
        counts = {"n_values": machine.values.count(), "max_values": MAX_VALUES}
        raise ExchangeError("values", "too_many_values", machine=machine.name, **counts)
    wins, draws, losses, learns, epsilon = rows[0][3:] if rows else (getattr(machine, name) for name in head)
    return ValuesData(
        game=machine.game_rules,
        rule=machine.rule,
        epsilon=epsilon,
        name=machine.name,
        description=machine.description,
        preset=machine.preset,
        learns=learns,
        wins=wins,
        draws=draws,
        losses=losses,
        values=tuple(sorted((ValueData(*row[:3]) for row in rows), key=lambda one: one.key)),
    )
