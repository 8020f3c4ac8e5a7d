"""The proposal for a new class: a forecast, from simulations, of what its machines will learn.

This module has all sentences of the proposal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from beadbox.experiments.lesson_forecast import N_MACHINES, LessonForecast, lesson_forecast, model_pupil
from beadbox.learners.facts import facts_of
from beadbox.policies.opponent import Opponent
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from learning.forms.classrooms import MAX_MINUTES, MAX_SMALL_BOXES
from learning.forms.games import n_boxes, usual_games
from learning.models import class_sides
from learning.selectors.game_facts import PLY_S
from learning.services.classrooms import ClassPlan, plan_check
from learning.services.machines import preset_usual
from learning.services.personal_machines import personal_machine_name, personal_machine_side

BETWEEN_S = 30
"""Seconds between two games, in which pupils look at the beads that changed."""
MIN_GAIN = 1.0
"""Minimum gain of points from the first ten games to the last ten, so that a class can see its machines learn."""
SIDE_WORDS = {Side.FIRST: "first", Side.SECOND: "second"}


@dataclass(frozen=True)
class Proposal:
    """The sentences of a proposal. ``problem`` and ``advice`` are empty if the gain is at least :data:`MIN_GAIN`."""

    title: str
    results: list[str]
    model: list[str]
    problem: list[str]
    advice: list[str]


def proposal_of(plan: ClassPlan) -> Proposal:
    """Return a forecast of what the machines of a class will learn, and better choices if it is too little.

    Raises:
        ClassRefusedError: no class can play this game by this rule.
    """
    game = plan_check(plan)
    sides = class_sides(plan.side)
    forecasts = [_forecast(plan, side) for side in sides]
    name = personal_machine_name(game, sides[0]) if len(sides) == 1 else game.name
    n_games = forecasts[0].n_games
    games = "1 game" if n_games == 1 else f"{n_games} games"
    worst = min(forecasts, key=lambda one: one.gain)
    has_problem = worst.gain < MIN_GAIN
    return Proposal(
        f"{plan.n_pupils} pupils, {plan.minutes} minutes: {name}, about {games} each.",
        _results(plan),
        [
            (
                f"A game takes about {_game_s(game)} seconds: {_n_plies(game):.0f} moves of {PLY_S} seconds, "
                f"and {BETWEEN_S} to look at the beads."
            ),
            f"We simulated {N_MACHINES} machines for each side. {_model_words(model_pupil(game))}",
        ],
        _problem(worst) if has_problem else [],
        list(_advice(plan)) if has_problem else [],
    )


def _game_s(game: AnyGame) -> int:
    return round(_n_plies(game) * PLY_S) + BETWEEN_S


def _n_plies(game: AnyGame) -> float:
    return facts_of(game)["random_play"]["plies"]


def _forecast(plan: ClassPlan, side: Side) -> LessonForecast:
    game = game_get(plan.game)
    n_games = max(1, plan.minutes * 60 // _game_s(game))
    return lesson_forecast(game, side, plan.preset or preset_usual(game, side), n_games)


def _results(plan: ClassPlan) -> list[str]:
    sides = class_sides(plan.side)
    return [
        _result(_forecast(plan, side), f" that play {SIDE_WORDS[side]}" if len(sides) > 1 else "") for side in sides
    ]


def _result(found: LessonForecast, which: str) -> str:
    verb = "win or draw" if found.has_draws else "win"
    last = f"of their last {found.n_last}"
    if found.most_reach:
        return f"Nine of ten machines{which} will {verb} at least {found.most_reach} {last}."
    if found.mean < 0.5:
        return f"Most machines{which} will {verb} none {last}."
    return f"Machines{which} will {verb} about {found.mean:.0f} {last}."


def _model_words(pupil: Opponent) -> str:
    if pupil.slug == "random":
        return "The simulated pupil moves at random."
    return "The simulated pupil sees one move ahead, as a child does: it wins or blocks if it can."


def _problem(found: LessonForecast) -> list[str]:
    return [
        "That is too little to see a machine learn.",
        (
            f"A machine opens about {found.n_opened:.0f} of its {found.n_boxes} boxes, "
            "and its last games go little better than its first."
        ),
    ]


def _advice(plan: ClassPlan) -> Iterator[str]:
    """Yield changes of the plan with enough gain: all machines on one side, more minutes, or a smaller game."""
    for side in Side:
        if side != plan.side and _learns(other := replace(plan, side=side)):
            yield f"All machines play {SIDE_WORDS[side]}. {_results(other)[0]}"
    for minutes in (2 * plan.minutes, 4 * plan.minutes):
        if minutes <= MAX_MINUTES and _learns(longer := replace(plan, minutes=minutes)):
            yield f"Take {minutes} minutes, perhaps in several lessons. {' '.join(_results(longer))}"
            break
    smaller = [
        replace(plan, game=game.slug, side=personal_machine_side(game), preset="")
        for game in usual_games()
        if game.supports_boxes and n_boxes(game) <= MAX_SMALL_BOXES and game.slug != plan.game
    ]
    best = max(smaller, key=lambda one: _forecast(one, class_sides(one.side)[0]).gain)
    if _learns(best):
        game = game_get(best.game)
        side = class_sides(best.side)[0]
        yield (
            f"Choose {game.name} with {n_boxes(game)} boxes, and let all machines play {SIDE_WORDS[side]}. "
            f"{_results(best)[0]}"
        )


def _learns(plan: ClassPlan) -> bool:
    return all(_forecast(plan, side).gain >= MIN_GAIN for side in class_sides(plan.side))
