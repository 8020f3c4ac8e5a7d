"""What users of the site notice is as it is recorded in ``tests/data/recorded``, so that moved code is proven equal.

``RECORD=1 python -m pytest tests/site/test_recorded.py`` writes the recordings anew, where a change is meant.
Seeds are fixed and ids begin at 1; moments, codes of rooms and tokens have placeholders.
"""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.apps import apps
from django.core.cache import caches
from django.core.management.color import no_style
from django.db import connection
from django.urls import URLPattern, URLResolver, get_resolver

from games.rules.base import Side
from games.services import Seated
from learning.models import TrainingRun
from learning.services.runs import Stage, training_run_start
from learning.services.tournaments import tournament_start
from learning.workers.jobs import TurnEnd
from learning.workers.pairings import claimable, pairing_claim, pairing_play
from learning.workers.runs import run_claim, run_execute
from tests.factories import NC, api_with, house, machine, room
from tests.recording import hold
from tests.sockets import RunSocket, Socket

in_db = database_sync_to_async
on_sockets = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "randbits", lambda bits: 7)
    monkeypatch.setattr(secrets, "randbelow", lambda limit: 7 % limit)
    # Tournaments are told of each pairing, however quickly the next one follows.
    monkeypatch.setattr(type(caches["default"]), "add", lambda *args, **options: True)


def first_ids() -> None:
    """Give the first row of each table the id 1, whatever tests were run before."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)


def routes(patterns: list[Any], before: str = "") -> Iterator[str]:
    for one in patterns:
        route = f"{before}{one.pattern}"
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        elif isinstance(one, URLPattern):
            yield f"{route}  {one.name or ''}".rstrip()


def test_addresses() -> None:
    hold("addresses.txt", "\n".join(routes(get_resolver().url_patterns)) + "\n")


def test_names_and_refusals() -> None:
    told = subprocess.run([sys.executable, "-m", "tests.recording"], capture_output=True, check=True, text=True)
    for name, found in json.loads(told.stdout).items():
        hold(f"names/{name}.json", found)


@pytest.mark.django_db
def test_schema() -> None:
    hold("schema.yaml", api_with(None).get("/api/schema").content.decode())


@on_sockets
async def test_frames_of_a_match() -> None:
    def begin() -> Seated:
        first_ids()
        house()
        return room("menace")

    seated = await in_db(begin)()
    frames: list[Any] = []

    async def heard(who: str, socket: Any) -> Any:
        frames.append({who: await socket.receive_json_from()})
        return frames[-1][who]["data"]

    async with (
        Socket(seated.room.code, seated.token) as player,
        Socket(seated.room.code) as spectator,
        RunSocket("/api/machines/2/ws") as page,
    ):
        state = (await heard("player", player))["state"]
        await heard("spectator", spectator)
        await heard("machine's page", page)
        for kind, data in (("ping", None), ("castle", None), ("move", {"move": "10"}), ("move", {})):
            await player.frame(kind, data)
            await heard("player", player)
        await spectator.frame("move", {"move": "1"})
        await heard("spectator", spectator)
        while state["status"] == "playing":
            await player.frame("move", {"move": state["legal_moves"][0], "ply": state["ply"]})
            state = await heard("player", player)
            await heard("spectator", spectator)
            await heard("machine's page", page)
        await player.frame("reset", {"swap": False})
        await heard("player", player)
        await heard("spectator", spectator)
    hold("frames/match.json", frames)


@on_sockets
async def test_frames_of_a_training() -> None:
    def begin() -> TrainingRun:
        first_ids()
        stages = [Stage("random", 60), Stage("perfect", 30)]
        return training_run_start(machine=machine(Side.FIRST).slug, stages=stages, seed=1, enqueue=False)

    def turn() -> bool:
        claimed = run_claim(run.pk)
        assert claimed is not None
        return run_execute(claimed, turn=TurnEnd(0)).finished_at is not None

    run = await in_db(begin)()
    frames: list[Any] = []
    async with (
        RunSocket(f"/api/training-runs/{run.pk}/ws") as runs,
        RunSocket(f"/api/machines/{run.machine_id}/ws") as machines,
    ):
        sockets = {"run": runs, "machine": machines}
        is_over = False
        while True:
            frames += [{who: await socket.receive_json_from()} for who, socket in sockets.items()]
            if is_over:
                break
            is_over = await in_db(turn)()
    hold("frames/training.json", frames)


@on_sockets
async def test_frames_of_a_tournament() -> None:
    def begin() -> int:
        first_ids()
        learner = machine(Side.FIRST)
        entries = [learner.slug, "random", "perfect"]
        return tournament_start(entries=entries, game=NC, user=None, games=20, seed=1, enqueue=False).pk

    def play() -> None:
        pairing = pairing_claim(claimable(tournament)[0])
        assert pairing is not None
        pairing_play(pairing)

    tournament = await in_db(begin)()
    async with RunSocket(f"/api/tournaments/{tournament}/ws") as socket:
        frames = [await socket.receive_json_from()]
        while frames[-1]["data"]["status"] == "running":
            await in_db(play)()
            frames.append(await socket.receive_json_from())
    hold("frames/tournament.json", frames)
