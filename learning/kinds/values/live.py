"""A machine that keeps values in a live match: it looks its actions up, and learns from its decisions when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from games.models import Seat
from games.players import Choice
from games.rules.base import Side
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.box_machine import Result
from learning.core.machines.q_learning import Chosen
from learning.core.machines.q_learning import Decision as Learnt
from learning.core.training.episodes import Tally
from learning.core.training.q_episodes import QMemory
from learning.kinds.base import Ended
from learning.models import Decision, Machine
from learning.selectors.values import decision_positions
from learning.storage.values import values_learner


def choose(machine: Machine, position: Any, rng: RandomSource) -> Choice:
    """What it plays."""
    chosen = values_learner(machine).choose(position, rng)
    return Choice(chosen.move, memo=chosen)


def remember(seat: Seat, machine: Machine, memos: Sequence[tuple[int, Chosen]]) -> None:
    """Store the decisions."""
    Decision.objects.bulk_create(
        Decision(
            machine=machine,
            seat=seat,
            ply=ply,
            key=chosen.decision.key,
            chosen=chosen.index,
            values=[one.value for one in chosen.candidates],
            explored=chosen.explored,
            epsilon=machine.epsilon or 0.0,
        )
        for ply, chosen in memos
    )


def teach(memory: QMemory, ended: Ended) -> Tally:
    """Let it learn from its seat, or from both where it has met itself: from the first side's first."""
    tally = Tally()
    stored = list(Decision.objects.filter(seat__in=ended.seats).order_by("ply"))
    positions = decision_positions(ended.match, {one.ply for one in stored})
    for seat in ended.seats:
        own = [one for one in stored if one.seat_id == seat.pk]
        result = Result.of(ended.outcome, Side(seat.side))
        memory.teach([(one.ply, Learnt(one.key, memory.machine.keys(positions[one.ply]))) for one in own], result)
        tally.add(result)
    return tally
