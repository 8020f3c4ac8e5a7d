"""The page of a value learner: its present or earlier weights, or the changes by a lesson, on a board and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from beadbox.engines.position_values import WeightSheet, WeightTable
from beadbox.engines.registry import engine_of
from beadbox.learners.value_learner.learner import ValueLearner, WeightsError, zero_weights
from beadbox.learners.value_learner.learner import Weights as Numbers
from beadbox.learners.value_learner.presets import VALUE_PRESETS
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from learning.exceptions import RuleRefusedError
from learning.kinds.page import KindPage, Page
from learning.kinds.value_learner.explanation import position_view
from learning.kinds.value_learner.levels import level_machine, level_url
from learning.kinds.value_learner.memory import MEMORY, weights_around, weights_learner, weights_learner_at
from learning.kinds.value_learner.text import TEXT, sentences
from learning.models import LessonKind, Machine, Weights
from learning.selectors.machines import history_compacted_text
from learning.selectors.strength import Strength

MAX_WEIGHTS_SHOWN = 12
"""Maximum number of weights that are named first, largest first."""
N_SHADES = 5
"""Shades of each colour (``static/css/heat.css``)."""


class WeightsView(NamedTuple):
    """A list of weights, with its title."""

    weights: Numbers
    title: str
    after: int | None = None
    """The number of games trained before the snapshot, if the weights are a snapshot's."""
    lesson: int | None = None
    """The number of the lesson, if the list shows the changes of a lesson."""


class ValueLearnerPage(KindPage):
    """The page of a machine's weights: the present or earlier weights, or their changes by a lesson."""

    presets = VALUE_PRESETS
    text = TEXT
    rule_sentences = staticmethod(sentences)

    def rule_require(self, game: AnyGame, rule: ValueRule) -> None:
        try:
            zero_weights(game, rule)
        except WeightsError as error:
            raise RuleRefusedError(f"rule.features: {error}") from None

    def usual_name(self, game: AnyGame, side: Side | None, preset: str) -> str:
        return f"{game.name} value learner"

    def content_phrase(self, machine: Machine) -> str:
        memory = MEMORY.load(machine)
        return f"{len(memory.machine.weights):,} weights, learnt from {memory.machine.n_learnt:,} games"

    def machine_page(self, machine: Machine, strength: Strength, query: Mapping[str, str]) -> Page:
        """Return the page. The URL's ``after`` selects a snapshot by games, ``lesson`` the changes of a lesson."""
        learner = weights_learner(machine)
        snapshots = sorted(set(machine.snapshots.values_list("n_trained", "n_left")))
        present = WeightsView(learner.played, f"its weights as it plays now, after {_games_text(learner.n_learnt)}")
        shown, error_text = present, ""
        for field, find in (("after", _snapshot), ("lesson", _change)):
            if query.get(field, "") and not error_text:
                selected = find(machine, query[field])
                absent = (
                    history_compacted_text(machine.n_folded)
                    if field == "lesson" and machine.n_folded
                    else _ABSENT_TEXT[field]
                )
                shown, error_text = (present, f"{field}: {absent}") if selected is None else (selected, "")
        page_context = {
            **weights_context(learner, shown.weights),
            "problem": error_text,
            "shown": shown,
            "plays_by_mean": bool(learner.rule.average_games),
            "snapshots": [(n_trained, f"after {_trained_text(n_trained, n_left)}") for n_trained, n_left in snapshots],
            "n_learnt": learner.n_learnt,
            "n_lessons": machine.n_lessons,
            "n_changed": int(np.count_nonzero(shown.weights)),
        }
        context = super().machine_page(machine, strength, query).context | page_context
        return Page("learning/machine_weights.html", context, status=404 if error_text else 200)

    def position_page(self, machine: Machine, text: str) -> Page:
        return Page("learning/weights_why.html", position_view(weights_learner(machine), text))

    def level_page(self, game: AnyGame) -> Page | None:
        """Return the page of the weights with which the levels of a game play, if they have learnt weights."""
        machine, engine = level_machine(game), engine_of(game)
        if machine is None or engine is None:
            return None
        context = {
            "levels": [level for level, _ in engine.ladder(game) if level.uses_learnt_value],
            "elsewhere": [
                (other, level_url(other)) for other in map(game_get, engine.ladder_games.values()) if other is not game
            ],
            "n_learnt": machine.n_learnt,
            "n_weights": len(machine.weights),
            **weights_context(machine, machine.played),
        }
        return Page("learning/learnt.html", context)


def weights_context(learner: ValueLearner, numbers: Numbers) -> dict[str, object]:
    """Return the context of ``learning/_weights.html`` for weights of a machine, or for changes of its weights."""
    sheet, name_of = learner.valuer.sheet(learner.game, learner.rule.features), learner.valuer.describe_feature
    weights = numbers.tolist()
    order = sorted(range(len(weights)), key=lambda index: -abs(weights[index]))[:MAX_WEIGHTS_SHOWN]
    return {
        "most": [{"name": name_of(index), "weight": weights[index]} for index in order if weights[index]],
        "maps": _maps(sheet, numbers),
        "tables": [_table(table, numbers) for table in (sheet.squares, *sheet.tables)],
    }


_ABSENT_TEXT = {
    "after": "nothing was kept after so many games. Choose one of the list.",
    "lesson": "it has had no such lesson, or does not remember it. The first is 1.",
}


def _snapshot(machine: Machine, number: str) -> WeightsView | None:
    snapshot = machine.snapshots.filter(n_trained=_number(number)).order_by("pk").last()
    if snapshot is None:
        return None
    learner = weights_learner_at(machine.pk, snapshot.n_lessons, machine.game_rules, cast("ValueRule", machine.rule))
    title = f"its weights as they were after {_trained_text(snapshot.n_trained, snapshot.n_left)}"
    return WeightsView(learner.played, title, after=snapshot.n_trained)


def _change(machine: Machine, number: str) -> WeightsView | None:
    rows = Weights.objects.filter(machine=machine, lesson__number=_number(number), lesson__number__gt=machine.n_folded)
    row = rows.select_related("lesson").first()
    if row is None or row.lesson is None:
        return None
    lesson = row.lesson
    n_games = lesson.n_wins + lesson.n_draws + lesson.n_losses
    kinds = {LessonKind.MATCH: "a match", LessonKind.CHOICE: "which put back what it knew earlier"}
    cause = kinds.get(LessonKind(lesson.kind), f"{_games_text(n_games)} of training")
    before, after = weights_around(row)
    return WeightsView(after - before, f"what lesson {lesson.number:,}, {cause}, has changed", lesson=lesson.number)


def _number(text: str) -> int:
    """Return the number in a text; for other text -1, which no row has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else -1


def _trained_text(n_games: int, n_left: int) -> str:
    left = f", {n_left:,} of them left behind" if n_left else ""
    return f"{_games_text(n_games)} of training{left}"


def _games_text(n_games: int) -> str:
    return "1 game" if n_games == 1 else f"{n_games:,} games"


def _maps(sheet: WeightSheet, weights: Numbers) -> list[dict[str, Any]]:
    """Return the weights of each kind of piece by its hex, for the script that draws the maps."""
    return [
        {
            "kind": weight_map.kind,
            "own": weight_map.own,
            "flipped": weight_map.flipped,
            "piece": weight_map.piece,
            "weights": weights[list(weight_map.cells)].tolist(),
        }
        for weight_map in sheet.maps
    ]


def _table(table: WeightTable, weights: Numbers) -> dict[str, Any]:
    rows = [(name, weights[list(indices)].tolist()) for name, indices in table.rows]
    largest = max((abs(weight) for _, row in rows for weight in row), default=0.0)
    cells = [(name, [(weight, shade(weight, largest)) for weight in row]) for name, row in rows]
    return {"title": table.title, "about": table.about, "columns": table.columns, "rows": cells}


def shade(weight: float, largest: float) -> str:
    """Return the CSS class of a weight: ``heat-m5`` to ``heat-m1``, ``heat-0``, or ``heat-p1`` to ``heat-p5``.

    ``largest`` is the largest absolute weight in the table.
    """
    step = 0 if not largest else round(N_SHADES * abs(weight) / largest)
    return "heat-0" if not step else f"heat-{'p' if weight > 0 else 'm'}{step}"
