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


@pytest.mark.parametrize("road", ["api", "command"])
@pytest.mark.parametrize(
    ("name", "game", "side", "preset"),
    [
        ("menace", NC, Side.FIRST, "michie-1961"),
        ("her", "hexapawn", Side.SECOND, "gardner-her"),
        ("q-table", NC, None, "q-table"),
    ],
    ids=["menace", "her", "q-table"],
)
def test_a_stored_run_is_replayed(name: str, game: str, side: Side | None, preset: str, road: str) -> None:
    owner = user()
    machine = machine_create(game=game, side=side, name=name, preset=preset, owner=owner)
    if road == "command":
        call_command("train", machine.slug, games=N_GAMES, seed=SEED)
    else:
        asked = {"machine": machine.pk, "opponents": [{"opponent": "random", "games": N_GAMES}], "seed": SEED}
        answer = api_with(owner).post("/api/training-runs", asked, format="json")
        assert answer.status_code == 201, answer.json()
        if (claimed := RUNS.claim(answer.json()["id"])) is not None:
            run_execute(claimed)

    words = replay.Source(SEED)
    found = replay.replay(name, words, N_GAMES)
    assert TrainingRun.objects.get(machine=machine).random_state == f"{words.a:016x}:{words.b:016x}"
    if side is None:
        assert dict(machine.values.values_list("key", "value")) == found
    else:
        stored = dict(machine.boxes.values_list("position", "beads"))
        assert {position: stored[position] for position in found} == found
