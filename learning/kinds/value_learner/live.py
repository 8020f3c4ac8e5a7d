"""A value learner in a live match: its moves, its thoughts and its lessons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

import numpy as np
from django.conf import settings

from beadbox.kernels.exact_floats import value_of_score
from beadbox.learners.choice import Candidate, Chosen
from beadbox.learners.memory import TouchedBox
from beadbox.learners.value_learner.learner import Thought as Scores
from beadbox.learners.value_learner.learner import ValueLearner, valuer_of
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import AnyMove, AnyPosition
from beadbox.rules.outcome import Result, Side, Tally
from games.live.players import Choice, DecisionRecord, LiveMatch, Statement
from games.live.states import Insight, LessonState, PartsThought, WeightsLearnt
from learning.exceptions import HistoryCompactedError
from learning.kinds.live import EndedMatch, KindLive, LevelMove
from learning.kinds.value_learner import explanation
from learning.kinds.value_learner.levels import level_thought, position_before
from learning.kinds.value_learner.memory import (
    MEMORY,
    learner_and_lessons,
    weights_around,
    weights_learner,
    weights_learner_at,
)
from learning.models import LessonKind, Machine, Thought, Weights
from learning.selectors.matches import lesson_summary, nothing_learnt
from learning.storage.lessons import Cause

MAX_WEIGHTS_SHOWN = 12
"""Maximum number of weights shown among a match's changes, largest changes first."""


def match_moves(live: LiveMatch) -> list[tuple[AnyPosition, AnyMove]]:
    """Return each position of a match, with its history, and the move made there by either side."""
    game = live.game
    position, moves = game.initial_position(), list[tuple[AnyPosition, AnyMove]]()
    for ply in live.plies:
        move = game.parse_move(ply.move)
        moves.append((position, move))
        position = game.apply(position, move)
    return moves


@dataclass(frozen=True, slots=True)
class MoveRecord:
    """The record of a move: the machine and its number of lessons before the move, the position, and the scores."""

    machine: ValueLearner
    n_lessons: int
    position: AnyPosition
    scores: Scores


THOUGHT_COLUMNS = ("machine_id", "seat_id", "ply", "n_lessons", "chosen", "depth", "near", "deep")


@dataclass(frozen=True, slots=True)
class FrozenLearner:
    """The present machine, which evaluates positions and does not learn."""

    machine: ValueLearner

    def best(self, position: AnyPosition) -> Chosen | None:
        """Return the best move, and every move with its value from -1 to 1; ``None`` where there is no move."""
        if not self.machine.game.legal_moves(position):
            return None
        result = self.machine.search(position, whole=True, time_limit_s=settings.AI_QUICK_TIME_BUDGET_S)
        discount = self.machine.rule.value_discount
        candidates = tuple(
            Candidate(move, "", value_of_score(score, discount), 0.0)
            for move, score in zip(result.moves, result.deep, strict=True)
        )
        return Chosen(candidates, result.best, explored=False, depth=result.depth)


class ValueLearnerLive(KindLive):
    """Live play by a search with the learnt values. The machine learns from all moves of a match."""

    either_side = True
    tells = "parts"
    thought: tuple[int, MoveRecord] | None = None
    """The ply and the record of the machine's last move, if this request has made the move."""

    def choose(self, live: LiveMatch, position: AnyPosition) -> Choice:
        learner, n_lessons = learner_and_lessons(self.machine)
        move, scores = learner.think(position, time_limit_s=settings.AI_TIME_BUDGET_S)
        return Choice(move, record=MoveRecord(learner, n_lessons, position, scores))

    def follow(self, live: LiveMatch, position: AnyPosition, move: AnyMove) -> MoveRecord:
        """Return the machine's thought on a move that a person makes in its seat."""
        learner, n_lessons = learner_and_lessons(self.machine)
        _, scores = learner.think(position, move, time_limit_s=settings.AI_TIME_BUDGET_S)
        return MoveRecord(learner, n_lessons, position, scores)

    def remember(self, records: Sequence[DecisionRecord]) -> Statement:
        """Return the statement that stores the machine's thoughts.

        The last thought also stays in memory, for the next state of the room.
        """
        chosen = cast("Sequence[tuple[int, MoveRecord]]", records)
        self.thought = chosen[-1]
        rows = [
            [
                self.machine.pk,
                self.row.pk,
                ply,
                record.n_lessons,
                scores.chosen,
                scores.depth,
                list(scores.near),
                list(scores.deep),
            ]
            for ply, record in chosen
            for scores in (record.scores,)
        ]
        return Statement.insert(Thought, THOUGHT_COLUMNS, rows)

    def learn(self, ended: Sequence[EndedMatch]) -> Sequence[TouchedBox]:
        machine = self.machine
        for match in ended:
            memory, tally = MEMORY.load(machine), Tally()
            memory.learn_match(match_moves(match.live), match.outcome)
            for player in match.players:
                tally.add(Result.of(match.outcome, Side(player.row.side)))
            MEMORY.lesson_give(machine, memory, LessonKind.MATCH, Cause(tally, match_id=match.live.match.pk))
        return ()

    @classmethod
    def insight_of(cls, live: LiveMatch, players: Sequence[Self]) -> Insight | None:
        """Return the machines' thoughts on their last moves and, if the match is over, their lessons."""
        thoughts = _thoughts(live, players)
        if not (thoughts or live.match.is_over):
            return None
        roles = live.game.presentation.layout.roles
        lessons, changes = _lessons(live, players) if live.match.is_over else ([], [])
        role = max(thoughts, key=lambda thought: thought["ply"])["role"] if thoughts else lessons[0]["role"]
        machine = next(player.machine for player in players if roles[player.row.side] == role)
        lesson = next((lesson for lesson in lessons if lesson["role"] == role), None)
        return {
            "role": role,
            "machine": machine.brief,
            "box": None,
            "beads_before": None,
            "slot": None,
            "draws": [],
            "lesson": lesson and {"result": lesson["result"], "sentence": lesson["sentence"]},
            "lessons": lessons,
            "changes": [],
            "parts": {"thoughts": thoughts, "changes": changes},
        }

    @staticmethod
    def level_insight(live: LiveMatch, moves: Sequence[LevelMove]) -> Insight | None:
        """Return the thoughts of levels on their last moves."""
        thoughts = [thought for move in moves if (thought := level_thought(live, move)) is not None]
        if not thoughts:
            return None
        return {
            "role": max(thoughts, key=lambda thought: thought["ply"])["role"],
            "machine": None,
            "box": None,
            "beads_before": None,
            "slot": None,
            "draws": [],
            "lesson": None,
            "lessons": [],
            "changes": [],
            "parts": {"thoughts": thoughts, "changes": []},
        }

    @staticmethod
    def frozen_policy(machine: Machine, position: AnyPosition) -> FrozenLearner:
        return FrozenLearner(weights_learner(machine))


def _thoughts(live: LiveMatch, players: Sequence[ValueLearnerLive]) -> list[PartsThought]:
    """Return each machine's thought on its last move, in order of side. Thoughts that are not in memory are read."""
    absent = [player.row.pk for player in players if player.thought is None]
    rows_by_seat = dict[int, Thought]()
    if absent and live.match.n_plies:
        rows = (
            Thought.objects.filter(seat__in=absent, ply__lt=live.match.n_plies)
            .order_by("seat", "-ply")
            .distinct("seat")
        )
        rows_by_seat = {row.seat_id: row for row in rows}
    thoughts = list[PartsThought]()
    for player in players:
        row, machine = player.row, player.machine
        latest = player.thought or _stored_thought(live, machine, rows_by_seat.get(row.pk))
        if latest is not None:
            ply, record = latest
            url = f"{machine.get_absolute_url()}#weights"
            thoughts.append(explanation.thought(row, ply, record.machine, record.position, record.scores, url))
    return thoughts


def _stored_thought(live: LiveMatch, machine: Machine, row: Thought | None) -> tuple[int, MoveRecord] | None:
    """Return a stored thought with its ply; ``None`` without a row, or if its weights were deleted or compacted."""
    if row is None:
        return None
    game = live.game
    try:
        rule = cast("ValueRule", machine.rule)
        learner = weights_learner_at(machine.pk, row.n_lessons, game, rule)
    except (Weights.DoesNotExist, HistoryCompactedError):
        return None
    scores = Scores(row.chosen, tuple(row.near), tuple(row.deep), row.depth)
    return row.ply, MoveRecord(learner, row.n_lessons, position_before(live, row.ply), scores)


def _lessons(live: LiveMatch, players: Sequence[ValueLearnerLive]) -> tuple[list[LessonState], list[WeightsLearnt]]:
    """Return the lesson of the match for each machine, in order of side, and the changes of its weights."""
    roles = live.game.presentation.layout.roles
    weights_of = {
        row.machine_id: row for row in Weights.objects.filter(lesson__match=live.match).select_related("lesson")
    }
    lessons, changes = list[LessonState](), list[WeightsLearnt]()
    for player in players:
        machine, side = player.machine, Side(player.row.side)
        row, role = weights_of.get(machine.pk), roles[side]
        change = None if row is None else _weights_learnt(machine, role, row)
        result = Result.of(live.match.outcome, side).name.lower()
        effect = nothing_learnt(live.match, machine, "weights") if change is None else _effect(change)
        summary = lesson_summary(machine.name, result, effect, changed=change is not None)
        lessons.append({"role": role, "machine": machine.brief, **summary})
        changes += [] if change is None else [change]
    return lessons, changes


def _weights_learnt(machine: Machine, role: str, row: Weights) -> WeightsLearnt:
    """Return the changes of a lesson; ``row`` holds the machine's weights after it."""
    before, after = weights_around(row)
    change, name_of = np.abs(after - before), valuer_of(machine.game_rules).describe_feature
    largest = [int(index) for index in np.argsort(-change, kind="stable")[:MAX_WEIGHTS_SHOWN] if change[index]]
    assert row.lesson is not None, "the match has taught the machine"
    return {
        "role": role,
        "url": f"{machine.get_absolute_url()}?lesson={row.lesson.number}#weights",
        "n_changed": int(np.count_nonzero(change)),
        "weights": [
            {"name": name_of(index), "before": float(before[index]), "after": float(after[index])} for index in largest
        ],
    }


def _effect(weights_change: WeightsLearnt) -> str:
    """Return a sentence on a match's effect on a machine's weights."""
    if not weights_change["weights"]:
        return "Its weights do not change."
    largest = weights_change["weights"][0]
    change = largest["after"] - largest["before"]
    sign, mark = ("more", "+") if change > 0 else ("less", "−")
    n = weights_change["n_changed"]
    return (
        f"{n} of its weights {'changes' if n == 1 else 'change'}. The largest change: "
        f"{largest['name']} counts {sign} than before ({mark}{abs(change):.3f})."
    )
