"""Pages of machines that keep values: the machine, and what it makes of a position."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from games.answers import not_found, refused_json
from games.exceptions import PlayError
from games.selectors import game_view
from learning.access import is_master, machine_for, machines_visible
from learning.core.exchange.values import MAX_VALUES
from learning.core.machines.presets import Q_PRESETS
from learning.exceptions import BoxNotFoundError
from learning.models import Machine
from learning.selectors import machines as selectors
from learning.selectors import runs as selectors_runs
from learning.selectors import values as selectors_values
from learning.selectors.strength import machine_strength
from learning.views.runs import CURVE_AGAINST


def machine_values_page(request: HttpRequest, machine: Machine, recent: list[dict[str, Any]]) -> HttpResponse:
    """The record of a machine that keeps values, how strong it was when last measured, and how it learns."""
    preset = Q_PRESETS.get(machine.preset)
    learns_for_us = machine.learns and is_master(request.user, machine)
    strength = machine_strength(machine)
    context = {
        "machine": {
            **selectors.machine_brief(machine),
            "side_name": machine.get_side_display(),
            "description": machine.description,
            "owner_name": machine.owner.get_username() if machine.owner else "",
            "n_values": machine.n_values,
            "full": selectors_values.values_full(machine) if machine.learns else "",
            "rule_name": preset.name if preset else "a rule of its own",
            "rule_source": preset.source if preset else "",
            "rule_sentences": selectors.rule_sentences(machine.rule),
        },
        "game": game_view(machine.game_rules),
        "roles": list(zip(machine.game_rules.layout.roles, machine.game_rules.layout.role_names, strict=True)),
        "strength": [(name, strength[slug]) for slug, name in CURVE_AGAINST.items() if slug in strength],
        "is_master": is_master(request.user, machine),
        "is_public": machine.is_public,
        "runs": selectors_runs.run_list_open(machine),
        "partners": selectors.opponent_machines(machine, machines_visible(request.user)) if learns_for_us else [],
        "recent": recent,
        "most_in_file": MAX_VALUES,
    }
    return render(request, "learning/machine_values.html", context)


def _walk(game: Any, view: dict[str, Any]) -> dict[str, Any]:
    """The position as its board shows it, and where each plain move leads; flips and turns are in the table only."""
    position = game.decode(view["position"])
    moves = {one["move"]: game.parse_move(one["move"]) for one in view["moves"]}
    plain = {text: move for text, move in moves.items() if game.kind(move) == "move"}
    return {
        "board": list(game.pieces(position)),
        "role": view["role"],
        "paths": {text: game.path_ids(move) for text, move in plain.items()},
        "next": {one["move"]: one["next"] for one in view["moves"]},
    }


@require_GET
def values_page(request: HttpRequest, machine_id: int) -> HttpResponse:
    """What the machine makes of a position that somebody walks to or types: every action with its value."""
    try:
        machine = machine_for(request.user, machine_id)
        if not machine.keeps_values:
            raise BoxNotFoundError(f"{machine.name} keeps beads in boxes, and no values.")
    except PlayError as error:
        return not_found(request, error)
    game = machine.game_rules
    start = game.encode(game.initial_position())
    asked, problem = request.GET.get("position", "").strip() or start, ""
    try:
        view = selectors_values.position_values(machine, asked)
    except BoxNotFoundError as error:
        if request.headers.get("Accept", "").startswith("application/json"):
            return refused_json(error)
        problem, view = str(error), selectors_values.position_values(machine, start)
    context = {
        "machine": selectors.machine_brief(machine),
        "view": view,
        "asked": asked,
        "problem": problem,
        "is_start": view["position"] == start,
        "layout": game_view(game)["layout"],
        "walk": _walk(game, view),
    }
    return render(request, "learning/values.html", context, status=404 if problem else 200)
