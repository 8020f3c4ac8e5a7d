"""Files of earlier releases keep their meaning. A native file survives a round trip to the byte."""

from pathlib import Path

import pytest

from beadbox.rules.outcome import Side
from learning.kinds.machines import machine_export
from learning.models import Machine
from learning.services.machines import machine_import

pytestmark = pytest.mark.django_db

DATA_FOLDER = Path(__file__).parents[2] / "data" / "exports"


def import_file(name: str, **options: object) -> Machine:
    return machine_import(user=None, content=(DATA_FOLDER / name).read_bytes(), **options).machine


@pytest.mark.parametrize("name", ["boxes.json", "hexapawn.json", "values.json"])
def test_native_files_survive_a_round_trip_to_the_byte(name: str) -> None:
    assert machine_export(import_file(name)).text == (DATA_FOLDER / name).read_text()


@pytest.mark.parametrize(("name", "form"), [("boxes.csv", "csv"), ("hexapawn.hexapawn-rl.json", "hexapawn-rl")])
def test_tables_and_save_files_survive_a_round_trip(name: str, form: str) -> None:
    options = {"boxes.csv": {"preset": "scroggs"}}.get(name, {})
    assert machine_export(import_file(name, **options), form).text == (DATA_FOLDER / name).read_text()


def test_a_file_for_matchbox_ai_holds_the_same_beads() -> None:
    native_machine, matchbox_ai_machine = (
        import_file("boxes.json"),
        import_file("boxes.matchbox-ai.json", preset="scroggs"),
    )
    assert matchbox_ai_machine.side == native_machine.side == Side.FIRST
    beads = [dict(one.boxes.values_list("position", "beads")) for one in (native_machine, matchbox_ai_machine)]
    assert beads[0] == beads[1]
