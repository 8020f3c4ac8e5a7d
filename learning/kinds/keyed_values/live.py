"""Machines that keep a value for each key, in live matches. Each choice is stored as a ``Decision``."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self, cast

from beadbox.learners.choice import Chosen
from beadbox.learners.memory import TouchedBox
from beadbox.rules.game import AnyPosition
from beadbox.rules.outcome import Result, Side, Tally
from games.live.players import DecisionRecord, LiveMatch, Statement
from games.live.states import Insight
from learning.kinds.keyed_values.insight import Explainer, decision_positions, lessons_and_changes, thought_view
from learning.kinds.keyed_values.memory import KeyedMemory
from learning.kinds.live import EndedMatch, KindLive
from learning.models import Decision, LessonKind
from learning.storage.bounds import machine_values_limit
from learning.storage.lessons import Cause

DECISION_COLUMNS = ("machine_id", "seat_id", "ply", "key", "chosen", "values", "explored", "epsilon")


class KeyedLive(KindLive):
    """Live play in which the record of a choice is a ``Chosen``. A kind implements :meth:`teach` for one match."""

    either_side = True
    memory: ClassVar[KeyedMemory]
    explainer: ClassVar[Explainer | None] = None
    """The source of a machine's thoughts for the page; ``None``: no thoughts are shown."""

    def remember(self, records: Sequence[DecisionRecord]) -> Statement:
        """Return the statement that stores the machine's decisions."""
        rows = [
            [
                self.machine.pk,
                self.row.pk,
                ply,
                chosen.decision.key,
                chosen.index,
                [candidate.value for candidate in chosen.candidates],
                chosen.explored,
                self.machine.epsilon or 0.0,
            ]
            for ply, chosen in cast("Sequence[tuple[int, Chosen]]", records)
        ]
        return Statement.insert(Decision, DECISION_COLUMNS, rows)

    def learn(self, ended: Sequence[EndedMatch]) -> Sequence[TouchedBox]:
        machine = self.machine
        for match in ended:
            # The memory is loaded here rather than in ``teach``, so that every kind obeys the limit of entries.
            memory = self.memory.load(machine, machine_values_limit(machine))
            tally = self.teach(memory, match)
            self.memory.lesson_give(machine, memory, LessonKind.MATCH, Cause(tally, match_id=match.live.match.pk))
        return ()

    @abstractmethod
    def teach(self, memory: Any, ended: EndedMatch) -> Tally:
        """Let a memory learn from a match in which its machine had seats; return the results of these seats."""

    @classmethod
    def insight_of(cls, live: LiveMatch, players: Sequence[Self]) -> Insight | None:
        """Return ``learning`` of a room's state: thoughts and lessons of these machines.

        docs/protocol.md describes its fields.
        """
        explainer = players[0].explainer
        if explainer is None:
            return None
        seat_ids = [player.row.pk for player in players]
        decisions = list(Decision.objects.filter(seat__in=seat_ids, ply__lt=live.match.n_plies).order_by("ply"))
        if not (decisions or live.match.is_over):
            return None
        roles = live.game.presentation.layout.roles
        by_seat = {player.row.pk: player for player in players}
        last_decision = decisions[-1] if decisions else None
        player = players[0] if last_decision is None else by_seat[last_decision.seat_id]
        thought = None
        if last_decision is not None:
            position = decision_positions(live, {last_decision.ply})[last_decision.ply]
            thought = thought_view(live, last_decision, position, roles[player.row.side], explainer)
        lessons, changes = lessons_and_changes(live, players, explainer) if live.match.is_over else ([], [])
        return {
            "role": roles[player.row.side],
            "machine": player.machine.brief,
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
                        "role": roles[by_seat[decision.seat_id].row.side],
                        "value": decision.values[decision.chosen],
                        "explored": decision.explored,
                    }
                    for decision in decisions
                ],
                "changes": changes,
            },
        }


def decisions_by_seat(ended: EndedMatch) -> Iterator[tuple[Result, list[tuple[Decision, AnyPosition]]]]:
    """Yield the result of a match for each seat of the machine, and the seat's decisions with their positions.

    If the machine played itself, the decisions of the first side come first.
    """
    decisions = list(Decision.objects.filter(seat__in=[player.row.pk for player in ended.players]).order_by("ply"))
    positions = decision_positions(ended.live, {decision.ply for decision in decisions})
    for player in ended.players:
        row = player.row
        of_seat = [(decision, positions[decision.ply]) for decision in decisions if decision.seat_id == row.pk]
        yield Result.of(ended.outcome, Side(row.side)), of_seat
