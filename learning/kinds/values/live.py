"""A machine that keeps values in a live match: it looks its actions up, and learns from its decisions when it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from games.models import Match, Seat
from games.players import Choice
from games.rules.base import Outcome, Side
from learning.core.kernels.random_source import RandomSource
from learning.core.machines.box_machine import Result
from learning.core.machines.q_learning import Chosen
from learning.core.machines.q_learning import Decision as Learnt
from learning.core.training.episodes import Tally
from learning.core.training.q_episodes import QMemory
from learning.models import Decision, Machine
from learning.selectors.values import decision_positions
from learning.storage.values import values_learner


def choose(machine: Machine, position: Any, rng: RandomSource) -> Choice:
    """What it plays."""
    chosen = values_learner(machine).choose(position, rng)
    return Choice(chosen.move, memo=chosen)


def remember(seat: Seat, machine: Machine, chosen: Chosen) -> None:
    """Store the decision."""
    Decision.objects.create(
        machine=machine,
        seat=seat,
        ply=seat.match.n_plies,
        key=chosen.decision.key,
        chosen=chosen.index,
        values=[one.value for one in chosen.candidates],
        explored=chosen.explored,
        epsilon=machine.epsilon or 0.0,
    )


def teach(match: Match, memory: QMemory, seats: Sequence[Seat], outcome: Outcome) -> Tally:
    """Let it learn from its seat, or from both where it has met itself: from the first side's first."""
    tally = Tally()
    stored = list(Decision.objects.filter(seat__in=seats).order_by("ply"))
    positions = decision_positions(match, {one.ply for one in stored})
    for seat in seats:
        own = [one for one in stored if one.seat_id == seat.pk]
        result = Result.of(outcome, Side(seat.side))
        memory.teach([(one.ply, Learnt(one.key, memory.machine.keys(positions[one.ply]))) for one in own], result)
        tally.add(result)
    return tally
