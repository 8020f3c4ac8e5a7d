"""Decisions and lessons of machines that keep values in a match, for the state of the room."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from beadbox.learners.choice import OUTLOOK, Candidate
from beadbox.rules.game import AnyGame, AnyPosition
from games.live.players import LiveMatch
from games.live.states import ActionValue, LessonState, Thought, ValueChangeState
from learning.kinds.live import KindLive
from learning.models import Decision, LessonKind, Machine, ValueChange
from learning.selectors.matches import lesson_summary, nothing_learnt


@dataclass(frozen=True, slots=True)
class Explainer:
    """How a kind of machine that keeps values evaluates a position, and describes its lessons."""

    candidates: Callable[[AnyGame, Any, Sequence[float]], Sequence[Candidate]]
    """Returns the legal actions of a position, with the given stored values of a decision."""
    evaluate_actions: Callable[[Machine, Any], tuple[Sequence[Candidate], Collection[int]]]
    """Returns a machine's actions in a position, and the indices of the actions that it may play as the best."""
    effect: Callable[[Machine, int], str]
    """Returns a sentence on a match's effect on a machine's values, from the number of changes (at least 1)."""
    has_outlook: bool
    """Whether a machine's choice depends on more than its values."""
    n_shown: int | None = None
    """Maximum number of actions shown of a decision, best first; the played action is always shown. ``None``: all."""


def decision_positions(live: LiveMatch, plies: Collection[int]) -> dict[int, AnyPosition]:
    """Return the positions before these plies of a match, by ply."""
    game = live.game
    position, positions = game.initial_position(), {}
    moves = [ply.move for ply in live.plies]
    for ply in range(len(moves) + 1):
        if ply in plies:
            positions[ply] = position
        if ply < len(moves):
            position = game.apply(position, game.parse_move(moves[ply]))
    return positions


def thought_view(
    live: LiveMatch, decision: Decision, position: AnyPosition, role: str, explainer: Explainer
) -> Thought:
    """Return a decision with its actions, best first, and the values at the time of the decision."""
    game = live.game
    candidates = explainer.candidates(game, position, decision.values)
    order = sorted(range(len(candidates)), key=lambda index: (-candidates[index].total, index))
    shown_indices = order[: explainer.n_shown]
    if decision.chosen not in shown_indices:
        shown_indices[-1] = decision.chosen
    return {
        "ply": decision.ply,
        "role": role,
        "epsilon": decision.epsilon,
        "explored": decision.explored,
        "has_outlook": explainer.has_outlook,
        "n_candidates": len(candidates),
        "candidates": [
            {**candidate_view(game, position, candidates[index]), "chosen": index == decision.chosen}
            for index in shown_indices
        ],
    }


def candidate_view(game: AnyGame, position: AnyPosition, candidate: Candidate) -> ActionValue:
    return {
        "move": game.format_move(candidate.move),
        "name": game.presentation.tell_move(position, candidate.move),
        "value": candidate.value,
        "outlook": candidate.evaluation / OUTLOOK,
        "total": candidate.total,
        "ends": candidate.result_at_once,
    }


def lessons_and_changes(
    live: LiveMatch, players: Sequence[KindLive], explainer: Explainer
) -> tuple[list[LessonState], list[ValueChangeState]]:
    """Return the lesson of the match for each machine, and every change of a value, in order of play."""
    roles = live.game.presentation.layout.roles
    changes = list(
        ValueChange.objects.filter(lesson__match=live.match).select_related("entry").order_by("ply", "lesson_id", "pk")
    )
    learner_ids = set(live.match.lessons.filter(kind=LessonKind.MATCH).values_list("machine_id", flat=True))
    of_ply = {ply.number: ply for ply in live.plies}
    lessons: list[LessonState] = []
    for player in players:
        machine, side = player.machine, player.row.side
        result = "draw" if live.match.winner is None else "win" if live.match.winner == side else "loss"
        own_changes = [change for change in changes if change.entry.machine_id == machine.pk and change.ply is not None]
        n_changes = sum(of_ply[change.ply or 0].side == side for change in own_changes)
        has_learnt = machine.pk in learner_ids
        effect = _effect(explainer, machine, n_changes) if has_learnt else nothing_learnt(live.match, machine, "values")
        summary = lesson_summary(machine.name, result, effect, changed=has_learnt and n_changes > 0)
        lessons.append({"role": roles[side], "machine": machine.brief, **summary})
    game = live.game
    return lessons, [
        {
            "ply": change.ply,
            "role": roles[of_ply[change.ply].side],
            "name": game.presentation.describe_move(game.parse_move(of_ply[change.ply].move)),
            "before": change.before,
            "after": change.after,
        }
        for change in changes
        if change.ply is not None
    ]


def _effect(explainer: Explainer, machine: Machine, n_changes: int) -> str:
    return explainer.effect(machine, n_changes) if n_changes else "Its values stay as they are."
