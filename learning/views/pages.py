"""Pages that join games and learning: the lobby, a machine, a box, an account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from games.models import Match
from games.players import PLAYERS
from games.rules.base import Game, Side
from games.rules.registry import GAMES, family_games
from games.selectors import (
    game_view,
    match_list_live,
    match_list_of,
    match_list_waiting,
    opponent_list,
    role_of,
)
from learning import selectors, selectors_boxes, selectors_matches, selectors_runs, selectors_strength
from learning.access import is_master, machine_for, machines_visible
from learning.core.machines.menace import Result
from learning.core.machines.presets import PRESETS
from learning.core.opponents.registry import UNIFORM, opponent_at
from learning.exceptions import BoxNotFoundError, MachineNotFoundError
from learning.models import Lesson, LessonKind, Machine
from learning.selectors_experiments import experiments_about
from learning.selectors_strength import STRENGTH_OPPONENTS
from learning.views.runs import CURVE_AGAINST
from learning.views.values import machine_values_page

LOBBY_MACHINES = 12
HISTORY_PAGE = 50
ACCOUNT_MATCHES = 50


@require_GET
def lobby(request: HttpRequest) -> HttpResponse:
    """Start a game in one click, join one, watch one, look at machines."""
    families = [game for game in GAMES.values() if game.slug == game.family]
    houses = selectors.machines_of_house()
    context = {
        "games": [
            {**game_view(game), "rivals": rivals(game, houses), "plain_only": _plain_only(game)} for game in families
        ],
        "opponents": opponent_list(families[0]),
        "open_rooms": [room for match in match_list_waiting() if (room := _waiting(match))],
        "live_rooms": [_live(match) for match in match_list_live()],
        "machines": [_card(machine) for machine in selectors.machine_list_public()[:LOBBY_MACHINES]],
    }
    return render(request, "games/lobby.html", context)


@require_GET
def machine_page(request: HttpRequest, machine_id: int) -> HttpResponse:
    """All boxes of a machine, its record and its exact strength."""
    try:
        machine = machine_for(request.user, machine_id)
    except MachineNotFoundError as error:
        return _not_found(request, error)
    recent = [lesson_line(lesson) for lesson in selectors.lesson_list_recent(machine)]
    if machine.keeps_values:
        return machine_values_page(request, machine, recent)
    wall = selectors_boxes.box_wall(machine)
    n_boxes, n_beads = selectors_boxes.box_totals(machine, wall)
    learns_for_us = machine.learns and is_master(request.user, machine)
    preset = PRESETS.get(machine.preset)
    context = {
        "machine": {
            **_card_facts(machine),
            "description": machine.description,
            "rule_name": preset.name if preset else "a rule of its own",
            "rule_source": preset.source if preset else "",
            "rule_sentences": selectors.rule_sentences(machine.learning_rule),
            "wins": machine.n_wins,
            "draws": machine.n_draws,
            "losses": machine.n_losses,
            "owner_name": machine.owner.get_username() if machine.owner else "",
            "level": machine.level,
            "win_percent": f"{100 * machine.n_wins / machine.n_games:.0f}\u00a0%" if machine.n_games else "–",
            "beads": n_beads,
            "n_boxes": n_boxes,
            "n_hung": len(wall["boxes"]),
            "game": machine.game,
            "other_role": machine.rules.layout.roles[machine.cabinet.side.other],
        },
        "strength": selectors_strength.machine_strength(machine),
        "packed": wall,
        "game": game_view(machine.rules),
        "drawn": selectors_boxes.draw_last(machine),
        "has_drawings": selectors_boxes.has_drawings(machine),
        "is_master": is_master(request.user, machine),
        "is_public": machine.is_public,
        "runs": selectors_runs.run_list_open(machine),
        "partners": selectors.opponent_machines(machine, machines_visible(request.user)) if learns_for_us else [],
        "recent": recent,
        "experiments": experiments_about(machine.preset),
    }
    return render(request, "learning/machine.html", context)


@require_GET
def box_page(request: HttpRequest, machine_id: int, position: str) -> HttpResponse:
    """One box and every change of its beads."""
    try:
        machine = machine_for(request.user, machine_id)
        box = selectors_boxes.box_get(machine, position)
    except (MachineNotFoundError, BoxNotFoundError) as error:
        return _not_found(request, error)
    view = selectors_boxes.box_view(machine.cabinet, box)
    page = Paginator(selectors_boxes.box_history(box), HISTORY_PAGE).get_page(request.GET.get("page"))
    context = {
        "machine": {"id": machine.pk, "name": machine.name, "url": machine.get_absolute_url()},
        "box_json": view,
        "box": {
            "position": box.position,
            "move_number": box.move_number,
            "n_beads": sum(box.beads),
            "n_draws": sum(box.draws),
            "start": list(zip(view["slots"], box.start, strict=True)),
            "visits": [
                (UNIFORM[slug].name, visits[box.position])
                for slug in STRENGTH_OPPONENTS
                if (visits := selectors_strength.visit_probabilities(machine, slug)) is not None
            ],
        },
        "game": game_view(machine.rules),
        "page_obj": page,
        "history": [_change(change, view["slots"]) for change in page],
    }
    return render(request, "learning/box.html", context)


@login_required
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """A person's own matches and machines."""
    assert request.user.pk is not None
    matches = match_list_of(user_id=request.user.pk, guest=None)[:ACCOUNT_MATCHES]
    context = {
        "matches": [_own_match(match) for match in matches],
        "machines": [_card_facts(machine) for machine in selectors.machine_list_of(request.user.pk)],
    }
    return render(request, "games/account.html", context)


def rivals(game: Game[Any, Any], houses: Mapping[tuple[str, Side], Machine]) -> list[dict[str, str]]:
    """Whom a person meets who just wants to play, beginning and not: the house's machine, else a middling opponent."""
    met = []
    for side in Side:
        house = houses.get((game.slug, side.other))
        other = opponent_at("medium", game)
        assert other is not None, "every game has a middling opponent"
        slug, name = ("menace", house.name) if house else (other.slug, other.name)
        met.append({"side": str(side.value), "opponent": slug, "name": name})
    return met


def _plain_only(game: Game[Any, Any]) -> set[str]:
    """Who plays the usual game of a family, and not with every choice of additions."""
    variants = family_games(game.family)
    return {slug for slug, player in PLAYERS.items() if not all(player.plays(one) for one in variants)}


def _not_found(request: HttpRequest, error: Exception) -> HttpResponse:
    return render(request, "404.html", {"reason": str(error)}, status=404)


def _names(match: Match) -> list[str]:
    return [seat.name or "a free seat" for seat in match.seats.all()]


def _waiting(match: Match) -> dict[str, Any] | None:
    """A room to join; ``None`` when somebody has taken its seat between two reads."""
    free = next((seat for seat in match.seats.all() if seat.is_free), None)
    host = next((seat for seat in match.seats.all() if not seat.is_free), None)
    if free is None:
        return None
    return {
        "code": match.room.code,
        "game_name": match.room.rules.name,
        "host_name": host.name if host else "nobody",
        "free_role": role_of(match, free.side),
        "age": match.created_at,
    }


def _live(match: Match) -> dict[str, Any]:
    return {
        "code": match.room.code,
        "game_name": match.room.rules.name,
        "names": _names(match),
        "ply": match.n_plies,
    }


def _card_facts(machine: Machine) -> dict[str, Any]:
    return {
        "id": machine.pk,
        "name": machine.name,
        "game_name": machine.rules.name,
        "side_name": machine.get_side_display(),
        "games": machine.n_games,
        "url": machine.get_absolute_url(),
        "learns": machine.learns,
    }


def _card(machine: Machine) -> dict[str, Any]:
    strength = selectors_strength.machine_strength(machine)
    return {**_card_facts(machine), "strength": [(CURVE_AGAINST[slug], found) for slug, found in strength.items()]}


def lesson_line(lesson: Lesson) -> dict[str, Any]:
    """A lesson as a line of the machine's record; if it stands for all of its run, with what they came to."""
    if lesson.kind == LessonKind.TRAINING:
        own = {"wins": lesson.n_wins, "draws": lesson.n_draws, "losses": lesson.n_losses}
        tally = getattr(lesson, "run_tally", None) or own
        games = sum(tally.values())
        won = f"{tally['wins']:,} won, {tally['draws']:,} drawn, {tally['losses']:,} lost"
        sentence = f"Trained {games:,} game{'' if games == 1 else 's'}: {won}."
        address = None if lesson.run_id is None else reverse("run", args=[lesson.run_id])
        return {"sentence": sentence, "url": address, "age": lesson.created_at, "result": "training"}
    result = Result.WIN if lesson.n_wins else Result.DRAW if lesson.n_draws else Result.LOSS
    word = {Result.WIN: "Won", Result.DRAW: "Drew", Result.LOSS: "Lost"}[result]
    url = lesson.match.room.get_absolute_url() if lesson.match else None
    return {"sentence": f"{word} a match.", "url": url, "age": lesson.created_at, "result": result.name.lower()}


def _change(change: Any, slots: list[dict[str, Any]]) -> dict[str, Any]:
    """A change of a box as a line of its history."""
    lesson = change.lesson
    line = lesson_line(lesson)
    return {
        "when": lesson.created_at,
        "cause": "Filled again: it was empty." if lesson.kind == LessonKind.REFILL else line["sentence"],
        "url": line["url"],
        "changes": list(_bead_changes(change.deltas, slots)),
        "after": change.after,
    }


def _bead_changes(deltas: list[int], slots: list[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for slot, delta in zip(slots, deltas, strict=True):
        if delta:
            yield {"mark": slot["mark"], "colour": slot["colour"], "name": slot["name"], "delta": delta}


def _own_match(match: Any) -> dict[str, Any]:
    others = [seat.name or "nobody yet" for seat in match.seats.all() if seat.side != match.own_side]
    return {
        "code": match.room.code,
        "number": match.number,
        "game_name": match.room.rules.name,
        "opponent": others[0] if others else "",
        "result_sentence": selectors_matches.match_sentence(match, match.own_side),
        "when": match.created_at,
        "url": match.room.get_absolute_url(),
    }
