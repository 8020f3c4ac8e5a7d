"""A machine that learns a value of positions in a live match: what it learns from, and what it has learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from games.models import Match, Seat
from games.rules.base import Side
from games.selectors import plies_read
from games.states import Insight, LessonState
from learning.core.kernels.exact_floats import worth
from learning.core.machines.box_machine import Result
from learning.core.machines.q_learning import Candidate, Chosen
from learning.core.machines.value_learner import ValueLearner, valuer_of
from learning.models import Machine, Weights
from learning.selectors.machines import machine_brief, machine_in
from learning.selectors.matches import lesson_told
from learning.storage.weights import weights_change


def match_moves(match: Match) -> list[tuple[Any, Any]]:
    """Each position of a match, history and all, with the move that was made there, by whomever."""
    game = match.room.game_rules
    position, moves = game.initial_position(), list[tuple[Any, Any]]()
    for ply in plies_read(match):
        move = game.parse_move(ply.move)
        moves.append((position, move))
        position = game.apply(position, move)
    return moves


@dataclass(frozen=True, slots=True)
class Thinker:
    """The machine as it stands, when a question about a board is asked."""

    machine: ValueLearner

    def best(self, position: Any) -> Chosen | None:
        """What it plays, out of every move with its worth, from -1 to 1; ``None`` where there is no move."""
        if not self.machine.game.legal_moves(position):
            return None
        found, discount = self.machine.look(position, whole=True), self.machine.rule.value_discount
        candidates = tuple(
            Candidate(move, "", worth(score, discount), 0.0)
            for move, score in zip(found.moves, found.deep, strict=True)
        )
        return Chosen(candidates, found.best, explored=False)


def insight(match: Match, seats: Sequence[Seat]) -> Insight | None:
    """What the machines in these seats have learnt from a match that is over (docs/protocol.md)."""
    sitting = [(seat, machine) for seat in seats if (machine := machine_in(seat)) is not None]
    if not match.is_over or not sitting:
        return None
    roles = match.room.game_rules.look.layout.roles
    taught = {row.machine_id: row for row in Weights.objects.filter(lesson__match=match)}
    lessons: list[LessonState] = []
    for seat, machine in sitting:
        row = taught.get(machine.pk)
        result = Result.of(match.outcome, Side(seat.side)).name.lower()
        told = lesson_told(machine.name, result, _deed(machine, row), changed=row is not None)
        lessons.append({"role": roles[seat.side], "machine": machine_brief(machine), **told})
    first = lessons[0]
    return {
        "role": first["role"],
        "machine": first["machine"],
        "box": None,
        "beads_before": None,
        "slot": None,
        "draws": [],
        "lesson": {"result": first["result"], "sentence": first["sentence"]},
        "lessons": lessons,
        "changes": [],
    }


def _deed(machine: Machine, row: Weights | None) -> str:
    """What a match did to a machine's weights, in words; ``row`` is what it knew after it, if it has learnt."""
    if row is None:
        return "It is frozen, so its weights stay as they are."
    change = weights_change(row)
    most = int(np.argmax(np.abs(change)))
    if not change[most]:
        return "Its weights stay as they are."
    sign, mark = ("more", "+") if change[most] > 0 else ("less", "−")
    about = valuer_of(machine.game_rules).told(most)
    return (
        f"Of its {len(change)} weights {np.count_nonzero(change)} change. Most of all, this counts {sign} than before: "
        f"{about} ({mark}{abs(change[most]):.3f})."
    )
