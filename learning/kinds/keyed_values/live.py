"""Machines that keep a value for each key in live matches: each choice is stored as a ``Decision``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from beadbox.learners.choice import Chosen
from beadbox.learners.memory import TouchedBox
from beadbox.rules.game import AnyPosition
from beadbox.rules.outcome import Result, Side, Tally
from games.live.players import LiveMatch, LiveSeat, Statement
from games.live.states import Insight
from learning.kinds.keyed_values.insight import Explainer, decision_positions, learnt, thought_view
from learning.kinds.keyed_values.memory import KeyedMemory
from learning.kinds.live import Ended, KindLive
from learning.models import Decision, LessonKind, Machine
from learning.selectors.machines import machine_brief
from learning.storage.bounds import values_most
from learning.storage.lessons import Cause

DECIDED = ("machine_id", "seat_id", "ply", "key", "chosen", "values", "explored", "epsilon")


class KeyedLive(KindLive[Chosen]):
    """Each choice is noted as a ``Chosen``. A kind implements :meth:`teach` for one match instead of ``learn``."""

    either_side = True
    memory: ClassVar[KeyedMemory]
    explainer: ClassVar[Explainer | None] = None
    """The source of the thoughts shown for a machine; ``None``: nothing is shown."""

    def remember(self, seat: LiveSeat, machine: Machine, records: Sequence[tuple[int, Chosen]]) -> Statement:
        """The statement that stores its decisions, each noted as a ``Chosen``."""
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
            for ply, chosen in records
        ]
        return Statement.insert(Decision, DECIDED, rows)

    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        for one in ended:  # loaded here, so that every kind obeys the limit of the machine's entries
            memory = self.memory.load(machine, values_most(machine))
            tally = self.teach(memory, one)
            self.memory.lesson_give(machine, memory, LessonKind.MATCH, Cause(tally, match_id=one.live.match.pk))
        return ()

    @abstractmethod
    def teach(self, memory: Any, ended: Ended) -> Tally:
        """Teach a memory a match in which its machine had seats; return the results of these seats."""

    def insight(self, live: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        """``learning`` of a room's state: thoughts and lessons of the machines in these seats (docs/protocol.md)."""
        explainer = self.explainer
        if explainer is None:
            return None
        machines = [seat.occupant.machine for seat in seats if seat.occupant is not None]
        decisions = list(
            Decision.objects.filter(seat__in=[seat.row.pk for seat in seats], ply__lt=live.match.n_plies).order_by(
                "ply"
            )
        )
        if not machines or not (decisions or live.match.is_over):
            return None
        roles = live.game.look.layout.roles
        sides = {seat.row.pk: seat.row.side for seat in seats}
        last = decisions[-1] if decisions else None
        seat = next((one for one in seats if last and one.row.pk == last.seat_id), seats[0])
        machine = machines[0] if seat.occupant is None else seat.occupant.machine
        thought = None
        if last is not None:
            position = decision_positions(live, {last.ply})[last.ply]
            thought = thought_view(live, last, position, roles[sides[last.seat_id]], explainer)
        lessons, changes = learnt(live, seats, explainer) if live.match.is_over else ([], [])
        return {
            "role": roles[seat.row.side],
            "machine": machine_brief(machine),
            "box": None,
            "beads_before": None,
            "slot": None,
            "draws": [],
            "lesson": {"result": lessons[0]["result"], "sentence": lessons[0]["sentence"]} if lessons else None,
            "lessons": lessons,
            "changes": [],
            "values": {
                "thought": thought,
                "plies": [
                    {
                        "ply": one.ply,
                        "role": roles[sides[one.seat_id]],
                        "value": one.values[one.chosen],
                        "explored": one.explored,
                    }
                    for one in decisions
                ],
                "changes": changes,
            },
        }


def seats_decided(ended: Ended) -> Iterator[tuple[Result, list[tuple[Decision, AnyPosition]]]]:
    """The result of a match for each seat of the machine, and the seat's decisions with their positions.

    If the machine played itself, the decisions of the first side come first.
    """
    stored = list(Decision.objects.filter(seat__in=[seat.row.pk for seat in ended.seats]).order_by("ply"))
    positions = decision_positions(ended.live, {one.ply for one in stored})
    for seat in ended.seats:
        own = [(one, positions[one.ply]) for one in stored if one.seat_id == seat.row.pk]
        yield Result.of(ended.outcome, Side(seat.row.side)), own
