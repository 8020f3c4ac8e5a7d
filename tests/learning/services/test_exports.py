"""Files of earlier releases are read as meant, and a machine's native file survives a round trip to the byte."""

from pathlib import Path

import pytest

from beadbox.rules.outcome import Side
from learning.kinds.machines import machine_export
from learning.models import Machine
from learning.services.machines import machine_import

pytestmark = pytest.mark.django_db

WRITTEN = Path(__file__).parents[2] / "data" / "exports"


def read(name: str, **wanted: object) -> Machine:
    return machine_import(user=None, content=(WRITTEN / name).read_bytes(), **wanted).machine


@pytest.mark.parametrize("name", ["boxes.json", "hexapawn.json", "values.json"])
def test_a_machines_own_format_comes_back_to_the_byte(name: str) -> None:
    assert machine_export(read(name)).text == (WRITTEN / name).read_text()


@pytest.mark.parametrize(("name", "form"), [("boxes.csv", "csv"), ("hexapawn.hexapawn-rl.json", "hexapawn-rl")])
def test_a_table_and_a_save_come_back_to_the_byte(name: str, form: str) -> None:
    wanted = {"boxes.csv": {"preset": "scroggs"}}.get(name, {})
    assert machine_export(read(name, **wanted), form).text == (WRITTEN / name).read_text()


def test_a_file_for_matchbox_ai_holds_the_same_beads() -> None:
    whole, read_in = read("boxes.json"), read("boxes.matchbox-ai.json", preset="scroggs")
    assert read_in.side == whole.side == Side.FIRST
    beads = [dict(one.boxes.values_list("position", "beads")) for one in (whole, read_in)]
    assert beads[0] == beads[1]
