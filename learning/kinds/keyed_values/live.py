"""Machines that keep a value for each key, in live matches. Each choice is stored as a ``Decision``."""

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
    """Live play in which the record of a choice is a ``Chosen``. A kind implements :meth:`teach` for one match."""

    either_side = True
    memory: ClassVar[KeyedMemory]
    explainer: ClassVar[Explainer | None] = None
    """The source of a machine's thoughts for the page; ``None``: no thoughts are shown."""

    def remember(self, seat: LiveSeat, machine: Machine, records: Sequence[tuple[int, Chosen]]) -> Statement:
        """Return the statement that stores the machine's decisions."""
        rows = [
            [
                machine.pk,
                seat.row.pk,
                ply,
                chosen.decision.key,
                chosen.index,
                [candidate.value for candidate in chosen.candidates],
                chosen.explored,
                machine.epsilon or 0.0,
            ]
            for ply, chosen in records
        ]
        return Statement.insert(Decision, DECIDED, rows)

    def learn(self, machine: Machine, ended: Sequence[Ended]) -> Sequence[TouchedBox]:
        for match in ended:
            # The memory is loaded here rather than in ``teach``, so that every kind obeys the limit of entries.
            memory = self.memory.load(machine, values_most(machine))
            tally = self.teach(memory, match)
            self.memory.lesson_give(machine, memory, LessonKind.MATCH, Cause(tally, match_id=match.live.match.pk))
        return ()

    @abstractmethod
    def teach(self, memory: Any, ended: Ended) -> Tally:
        """Let a memory learn from a match in which its machine had seats; return the results of these seats."""

    def insight(self, live: LiveMatch, seats: list[LiveSeat]) -> Insight | None:
        """Return ``learning`` of a room's state: thoughts and lessons of the machines in these seats.

        docs/protocol.md describes its fields.
        """
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
        last_decision = decisions[-1] if decisions else None
        seat = next((seat for seat in seats if last_decision and seat.row.pk == last_decision.seat_id), seats[0])
        machine = machines[0] if seat.occupant is None else seat.occupant.machine
        thought = None
        if last_decision is not None:
            position = decision_positions(live, {last_decision.ply})[last_decision.ply]
            thought = thought_view(live, last_decision, position, roles[sides[last_decision.seat_id]], explainer)
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
                        "ply": decision.ply,
                        "role": roles[sides[decision.seat_id]],
                        "value": decision.values[decision.chosen],
                        "explored": decision.explored,
                    }
                    for decision in decisions
                ],
                "changes": changes,
            },
        }


def seats_decided(ended: Ended) -> Iterator[tuple[Result, list[tuple[Decision, AnyPosition]]]]:
    """Yield the result of a match for each seat of the machine, and the seat's decisions with their positions.

    If the machine played itself, the decisions of the first side come first.
    """
    decisions = list(Decision.objects.filter(seat__in=[seat.row.pk for seat in ended.seats]).order_by("ply"))
    positions = decision_positions(ended.live, {decision.ply for decision in decisions})
    for seat in ended.seats:
        of_seat = [(decision, positions[decision.ply]) for decision in decisions if decision.seat_id == seat.row.pk]
        yield Result.of(ended.outcome, Side(seat.row.side)), of_seat
