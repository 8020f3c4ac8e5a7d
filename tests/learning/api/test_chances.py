"""No chance above 1 or below 0: every preset of every kind, through every address that returns chances.

Beads are random: sums of their rounded products can exceed 1 by one unit in the last place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.test import Client
from rest_framework.test import APIClient

from beadbox.kernels.random_source import RandomSource
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.table_learner.presets import TABLE_PRESETS
from beadbox.policies.registry import UNIFORM
from beadbox.rules.game import Game
from beadbox.rules.outcome import Side
from beadbox.rules.registry import game_get
from beadbox.rules.romgon.rules import Position
from learning.kinds.registry import KINDS
from learning.models import Box, JobStatus, Machine
from learning.services.machines import machine_create
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_start
from learning.workers.pairings import tournament_play
from learning.workers.runs import RUNS, run_execute
from tests.bench.asked_ladder import request_body
from tests.factories import NC, trained_machine

pytestmark = pytest.mark.django_db

CHANCE_FIELDS = re.compile(
    r"(probabilit(y|ies)|chance|share|win|draw|loss|holds|points|expected|epsilon\w*|win_rate|progress|\w+_interval|low|high)$"
)
CURVE_FIELDS = ("curve", "points_curve")
"""Fields with pairs of a number of games and a chance, or with columns of chances by name."""
ROUNDING_ERROR = 1e-12
"""The rounding error allowed in the sum of the chances of all outcomes."""
GAMES_WITH_QUESTIONS = (NC, "hexapawn", "hexapawn-5x4", "romgon", "romgon-flip")
N_POSITIONS = 4
LARGE_GAME = "hexapawn-5x4"
"""A game too large to list. Its strength is a sample for every kind of machine, which takes a minute."""
FITTING_PRESETS = [
    (slug, kind.rule.kind, preset)
    for slug in GAMES_WITH_QUESTIONS
    for kind in KINDS.values()
    for preset, known in kind.page.presets.items()
    if known.rule.fits(game_get(slug))
]
MACHINE_CASES = [
    *(one for one in FITTING_PRESETS if one[0] != LARGE_GAME),
    pytest.param(*next(one for one in FITTING_PRESETS if one[0] == LARGE_GAME), marks=pytest.mark.soak),
]


def chances(data: Any, name: str = "") -> Iterator[float]:
    """Yield every chance in an answer, at any depth."""
    if isinstance(data, dict):
        for key, one in data.items():
            yield from chances(one, key)
    elif isinstance(data, list):
        for one in data:
            is_point = name in CURVE_FIELDS and isinstance(one, list)
            yield from chances(one[1], "chance") if is_point else chances(one, name)
    elif CHANCE_FIELDS.match(name) and isinstance(data, int | float):
        yield float(data)


def check_chances(answer: Any, at_least: int = 1) -> Any:
    """Check all chances of a successful answer, of which there are at least ``at_least``, and return its JSON."""
    assert answer.status_code == 200, answer.content
    data = answer.json()
    all_chances = list(chances(data))
    assert len(all_chances) >= at_least, data
    assert all(0 <= one <= 1 for one in all_chances), data
    return data


def random_positions(game: Game[Any, Any], rng: RandomSource, n: int) -> list[Any]:
    """Positions of random play from the initial position on; none is terminal."""
    position, positions = game.initial_position(), []
    while len(positions) < n:
        positions.append(position)
        moves = game.legal_moves(position)
        position = game.apply(position, moves[rng.below(len(moves))])
        if game.is_terminal(position):
            position = game.initial_position()
    return positions


def body(position: Any, game: Game[Any, Any]) -> dict[str, Any]:
    """Return the fields of a request about a position."""
    if isinstance(position, Position):
        body = request_body(position, "easy")
        return {**body, "game": game.slug, "flipModeEnabled": game.slug == "romgon-flip"}
    return {"game": game.slug, "board": game.encode(position)}


def ask_for_advice(path: str, fields: dict[str, Any]) -> Any:
    """Ask for advice, and check the chances of the answer."""
    return check_chances(Client().post(f"/api/ai/{path}", json.dumps(fields), content_type="application/json"))


def scatter_beads(machine: Machine, seed: int) -> None:
    """Put between 1 and 29 beads into every slot at random."""
    boxes, rng = list(Box.objects.filter(machine=machine)), np.random.default_rng(seed)
    for box in boxes:
        box.beads = rng.integers(1, 30, len(box.beads)).tolist()
    Box.objects.bulk_update(boxes, ["beads"])


@pytest.mark.parametrize(("slug", "kind", "preset"), MACHINE_CASES)
def test_no_chance_of_a_machine_is_above_one(slug: str, kind: str, preset: str) -> None:
    game, api, rng = game_get(slug), APIClient(), RandomSource(5)
    for side in [None] if KINDS[kind].occupant_class.either_side else list(Side):
        machine = machine_create(game=slug, side=side, name="M", preset=preset, is_public=True)
        if game.supports_boxes:  # other games stay untrained, which is enough for a choice among all moves
            trained_machine(machine, 20)
        scatter_beads(machine, seed=side or 0)
        address = f"/api/machines/{machine.pk}"
        for chance in check_chances(api.get(f"{address}/strength"), at_least=game.supports_boxes).values():
            assert chance["win"] + chance["draw"] + chance["loss"] == pytest.approx(1, abs=ROUNDING_ERROR)
        if side is not None:
            check_chances(api.get(f"{address}/progress"))
            check_chances(api.get(f"{address}/boxes"))
        for position in random_positions(game, rng, N_POSITIONS):
            if side not in (None, game.side_to_move(position)):
                continue
            answer = ask_for_advice("move", {**body(position, game), "machine": machine.pk})
            assert sum(move["probability"] for move in answer["candidateMoves"]) == pytest.approx(1, abs=ROUNDING_ERROR)
            view_answer = api.get(f"{address}/{'values' if side is None else 'boxes'}/{game.encode(position)}")
            if side is None or view_answer.status_code != 404:  # boxes that were not met are not found
                check_chances(view_answer, at_least=0 if side is None else 1)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.rule.kind)
def test_no_chance_of_a_training_or_a_match_is_above_one(kind: Any) -> None:
    preset, slug = next(
        (preset, slug)
        for slug in GAMES_WITH_QUESTIONS
        for preset, preset_object in kind.page.presets.items()
        if preset_object.rule.fits(game_get(slug))
    )
    side = None if kind.occupant_class.either_side else Side.SECOND
    machine = machine_create(game=slug, side=side, name="M", preset=preset, is_public=True)
    run = training_run_start(machine=machine.slug, stages=[Stage("random", 4)], seed=5, enqueue=False)
    claimed_run = RUNS.claim(run.pk)
    assert claimed_run is not None
    assert run_execute(claimed_run).status == JobStatus.FINISHED
    api = APIClient()
    check_chances(api.get(f"/api/training-runs/{run.pk}"))
    check_chances(api.get(f"/api/machines/{machine.pk}/snapshots"), at_least=0)
    options = {"game": slug, "opponent": "machine", "machine": machine.pk}
    room = api.post("/api/rooms", options, format="json").json()
    address, token = f"/api/rooms/{room['code']}", room["seat_token"]
    state = api.get(address).json()
    state = api.post(f"{address}/move", {"move": state["legal_moves"][0], "seat_token": token}, format="json")
    check_chances(state, at_least=1 if side is not None else 0)


@pytest.mark.soak
def test_no_chance_in_a_tournament_is_above_one() -> None:
    entries: list[str] = [*UNIFORM]
    for preset in [*PRESETS, *TABLE_PRESETS]:
        for side in Side if preset in PRESETS else [None]:
            machine = machine_create(game=NC, side=side, name="M", preset=preset, is_public=True)
            trained_machine(machine, 20)
            scatter_beads(machine, seed=side or 0)
            entries.append(machine.slug)
    tournament = tournament_start(user=None, entries=entries, games=10, game=NC, seed=1, enqueue=False)
    tournament_play(tournament.pk)
    tournament = APIClient().get(f"/api/tournaments/{tournament.pk}").json()
    expected = [pairing["expected"] for pairing in tournament["pairings"]]
    assert len(expected) > len(entries)
    assert all(0 <= one <= 1 for three in expected for one in three)
    assert all(row["expected"] <= row["games"] for row in tournament["standings"])
