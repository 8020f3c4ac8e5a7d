"""A run stored by the site equals the run of docs/replay.md: the same beads and values, however it was started."""

import pytest
from django.core.management import call_command

from beadbox.rules.outcome import Side
from learning.models import TrainingRun
from learning.services.machines import machine_create
from learning.workers.runs import RUNS, run_execute
from tests import replay
from tests.factories import NC, api_with, user

pytestmark = pytest.mark.django_db
SEED, N_GAMES = 1962, 1_000


@pytest.mark.parametrize("interface", ["api", "command"])
@pytest.mark.parametrize(
    ("name", "game", "side", "preset"),
    [
        ("menace", NC, Side.FIRST, "michie-1961"),
        ("her", "hexapawn", Side.SECOND, "gardner-her"),
        ("q-table", NC, None, "q-table"),
    ],
    ids=["menace", "her", "q-table"],
)
def test_a_stored_run_is_replayed(name: str, game: str, side: Side | None, preset: str, interface: str) -> None:
    owner = user()
    machine = machine_create(game=game, side=side, name=name, preset=preset, owner=owner)
    if interface == "command":
        call_command("train", machine.slug, games=N_GAMES, seed=SEED)
    else:
        body = {"machine": machine.pk, "opponents": [{"opponent": "random", "games": N_GAMES}], "seed": SEED}
        answer = api_with(owner).post("/api/training-runs", body, format="json")
        assert answer.status_code == 201, answer.json()
        if (claimed_run := RUNS.claim(answer.json()["id"])) is not None:
            run_execute(claimed_run)

    source = replay.Source(SEED)
    expected = replay.replay(name, source, N_GAMES)
    assert TrainingRun.objects.get(machine=machine).random_state == f"{source.a:016x}:{source.b:016x}"
    if side is None:
        assert dict(machine.values.values_list("key", "value")) == expected
    else:
        stored_beads = dict(machine.boxes.values_list("position", "beads"))
        assert {position: stored_beads[position] for position in expected} == expected
