"""Machines as files: round trips are exact, faults are refused with their place, and no import is partial."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.exchange.document import BoxData, MachineData
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.formats import FORMATS, machine_read
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from beadbox.strength.graph import graph_compile
from learning.exceptions import MachineFileError
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.machines import machine_export
from learning.models import Box, Machine
from learning.services.machines import machine_import
from tests.beadbox.box_rules import box_rules
from tests.beadbox.files import (
    MATCHBOX_AI_ENTRY,
    hexapawn_rl_text,
    matchbox_ai_text,
    native_text,
    native_text_with_boxes,
)
from tests.factories import guest, machine, machine_strength, play_out, room, trained_machine, user

DATA_FOLDER = Path(__file__).parents[2] / "data" / "matchbox-ai"
FOREIGN_FORMATS = ["matchbox-ai", "hexapawn-rl", "csv"]


def import_text(text: str, **options: Any) -> Machine:
    options.setdefault("user", None)
    return machine_import(content=text.encode(), **options).machine


def readable_machine(learner: Machine) -> BoxMachine:
    boxes = dict(learner.boxes.values_list("position", "beads"))
    return BoxMachine(learner.game_rules, Side(learner.side), learner.box_rule, boxes)


def turned_file(text: str, learner: Machine, symmetry: Any) -> str:
    """Return a matchbox-ai file with every box turned by a symmetry."""
    game = learner.game_rules
    entries = json.loads(text)
    for entry in entries:
        beads = [0] * 9
        for square, count in enumerate(entry["beads"]):
            beads[symmetry.cells[square]] = count
        position = game.transform(game.decode(entry["state"].replace("_", ".")), symmetry)
        entry["state"] = game.encode(position)
        entry["beads"] = beads
    return json.dumps(entries)


@pytest.mark.django_db
class TestRoundTrip:
    @pytest.mark.parametrize("side", Side)
    @pytest.mark.parametrize("preset", PRESETS)
    def test_native_gives_an_identical_machine_byte_for_byte(self, preset: str, side: Side) -> None:
        learner = trained_machine(machine(side, preset, name="Ünïcödé", description="two\nlines"), games=500)
        text = machine_export(learner).text
        copy = import_text(text)
        assert machine_export(copy).text == text
        for field in ("name", "description", "game", "side", "preset", "rule", "learns", "n_games", "n_wins"):
            assert getattr(copy, field) == getattr(learner, field), field
        assert machine_strength(copy) == machine_strength(learner)

    @pytest.mark.parametrize("name", ["no\u00a0break", "\U0001f469\u200d\U0001f52c", "\u0645\u06cc\u200c\u062e"])
    @pytest.mark.parametrize("middle", ["", "a\nb", "\u202eleft", "\x1b[1m"])
    def test_names_survive_a_round_trip(self, name: str, middle: str) -> None:
        learner = machine(name=name, description=f"{name}\u2028{middle}{name}")
        for form in ("native", "hexapawn-rl"):
            text = machine_export(learner, form).text
            assert (
                machine_export(import_text(text, preset="" if form == "native" else learner.preset), form).text == text
            )

    def test_original_and_import_learn_the_same(self) -> None:
        learner = trained_machine(machine(Side.FIRST), games=500)
        copy = import_text(machine_export(learner).text)
        trained_machine(learner, games=500, seed=2)
        trained_machine(copy, games=500, seed=2)
        assert machine_export(copy).text == machine_export(learner).text
        assert ledger_errors() == []

    @pytest.mark.parametrize("form", FOREIGN_FORMATS)
    @pytest.mark.parametrize("preset", [slug for slug in PRESETS if slug != "apl-notebook"])
    def test_foreign_formats_survive_a_round_trip(self, form: str, preset: str) -> None:
        learner = trained_machine(machine(Side.SECOND, preset), games=2000)
        text = machine_export(learner, form).text
        copy = import_text(text, file_format=form)
        assert machine_export(copy, form).text == text
        copy_with_rule = import_text(text, preset=preset)
        assert readable_machine(copy_with_rule).boxes == readable_machine(learner).boxes
        assert machine_strength(copy_with_rule) == machine_strength(learner)

    @pytest.mark.parametrize("form", ["hexapawn-rl", "csv"])
    def test_a_machine_without_symmetry_needs_its_rule_named(self, form: str) -> None:
        learner = trained_machine(machine(Side.FIRST, "apl-notebook"), games=3000)
        text = machine_export(learner, form).text
        with pytest.raises(MachineFileError, match="holds other beads"):
            import_text(text)
        assert readable_machine(import_text(text, preset="apl-notebook")).boxes == readable_machine(learner).boxes

    def test_the_ledger_begins_with_the_beads_of_the_file(self) -> None:
        copy = import_text(machine_export(trained_machine(machine())).text)
        assert all(box.start == box.beads for box in copy.boxes.all())
        play_out(room("machine", machine=copy.slug).room.code, guest())
        assert ledger_errors() == []

    def test_boxes_keep_their_orientation(self) -> None:
        learner = machine(Side.SECOND)
        copy = import_text(machine_export(learner).text)
        keys = ("position", "ply", "move_number", "beads", "visits")
        assert list(copy.boxes.order_by("position").values(*keys)) == list(
            learner.boxes.order_by("position").values(*keys)
        )


SMALL_GAMES = ["hexapawn", "hexapawn-3x4", "noughts-and-crosses"]


@settings(max_examples=60)
@given(rule=box_rules(), side=st.sampled_from(Side), data=st.data(), slug=st.sampled_from(SMALL_GAMES))
def test_any_rule_and_any_beads_survive_a_round_trip(rule: Any, side: Side, data: Any, slug: str) -> None:
    game = GAMES[slug]
    cabinet = Cabinet(game, side, rule)
    positions = [p for p in graph_compile(game, reduced=rule.reduce_symmetry).positions if cabinet.has_box(p)]
    random = data.draw(st.randoms(use_true_random=False))
    boxes = []
    for position in random.sample(positions, 12):
        beads = tuple(
            random.randint(rule.floor, min(rule.highest, rule.floor + 50)) for _ in cabinet.slot_classes(position)
        )
        boxes.append(BoxData(game.encode(position), beads, tuple(random.randint(0, 1 << 40) for _ in beads)))
    boxes.sort(key=lambda box: (game.ply(game.decode(box.position)), box.position))
    machine_data = MachineData(game, side, rule, "Any", tuple(boxes), wins=3, losses=2, removed=1)
    text = FORMATS["native"].dump(machine_data)
    assert machine_read(text.encode(), ImportOptions()) == machine_data
    # Foreign formats hold beads and some of the totals; with the rule given, the beads are equal.
    for form in FOREIGN_FORMATS:
        if form == "matchbox-ai" and (slug != "noughts-and-crosses" or not rule.reduce_symmetry):
            continue  # the format's beads lie on squares of symmetric boards only
        text = FORMATS[form].dump(machine_data)
        copied_data = machine_read(text.encode(), ImportOptions(game=game, side=side, rule=rule), form)
        assert [(box.position, box.beads) for box in copied_data.boxes] == [(box.position, box.beads) for box in boxes]


@pytest.mark.django_db
class TestCanonicalForm:
    @pytest.mark.parametrize("preset", ["michie-1961", "matchbox-ai"])
    def test_any_orientation_becomes_the_same_machine(self, preset: str) -> None:
        learner = trained_machine(machine(Side.SECOND, preset), games=2000)
        text = machine_export(learner, "matchbox-ai").text
        menace = readable_machine(learner)
        for symmetry in learner.game_rules.symmetries:
            copy = import_text(turned_file(text, learner, symmetry), preset=preset)
            other = readable_machine(copy)
            for position in map(learner.game_rules.decode, menace.boxes):
                assert other.policy(position) == pytest.approx(menace.policy(position))

    def test_equal_entries_of_one_orbit_are_accepted(self) -> None:
        entries = [
            {"state": "X........", "beads": [0, 1, 2, 1, 3, 4, 2, 4, 5], "totalBeads": 22},
            {"state": "..X......", "beads": [2, 1, 0, 4, 3, 1, 5, 4, 2], "totalBeads": 22},
        ]
        copy = import_text(json.dumps(entries))
        assert [sum(box.beads) for box in copy.boxes.all()] == [22]

    def test_refusal_of_contradictory_entries_names_both_places(self) -> None:
        entries = [
            {"state": "X........", "beads": [0, 1, 2, 1, 3, 4, 2, 4, 5], "totalBeads": 22},
            {"state": "..X......", "beads": [9, 1, 0, 4, 3, 1, 5, 4, 2], "totalBeads": 29},
        ]
        with pytest.raises(MachineFileError, match=r"^\[1\]: The box '..X......' is the same as 'X........' of \[0\]"):
            import_text(json.dumps(entries))

    def test_beads_of_equivalent_squares_add_up_in_a_slot(self) -> None:
        entry = {"state": ".........", "beads": [8, 4, 8, 4, 2, 4, 8, 4, 8], "totalBeads": 50}
        merged = import_text(json.dumps([entry]), preset="michie-1961")
        assert [box.beads for box in merged.boxes.all()] == [[32, 16, 2]]

    @pytest.mark.parametrize("state", ["X   O    ", "X___O____", "X---O----", ["X", "", None, "", "O", "", "", "", ""]])
    def test_every_notation_of_an_empty_square_is_read(self, state: Any) -> None:
        entry = {"state": state, "beads": [0, 1, 2, 3, 0, 4, 5, 6, 7]}
        assert [sum(box.beads) for box in import_text(json.dumps([entry])).boxes.all()] == [28]

    def test_only_matchbox_ai_files_lose_beads_on_taken_squares(self) -> None:
        assert [sum(box.beads) for box in import_text(matchbox_ai_text(beads=[4] * 9, totalBeads=36)).boxes.all()] == [
            32
        ]
        with pytest.raises(MachineFileError, match="The move '1' is not legal"):
            import_text("position,move,beads\nX........,1,4\n")

    def test_a_file_with_both_sides_needs_a_chosen_side(self) -> None:
        entries = [
            {"state": ".........", "beads": [8] * 9},
            {"state": "X........", "beads": [0] + [4] * 8},
        ]
        with pytest.raises(MachineFileError, match="Say which one"):
            import_text(json.dumps(entries))
        assert import_text(json.dumps(entries), side=Side.SECOND).boxes.get().position == min(
            GAMES["noughts-and-crosses"].orbit("X........")
        )

    def test_import_of_hexapawn_rl(self) -> None:
        text = json.dumps(
            {
                "memory": {"..X......": {"validMoves": ["5", "9"], "confidenceScores": [100, 7]}},
                "name": "P2 AI",
                "level": 7,
                "losses": 2,
                "wins": 5,
                "isLearning": False,
            }
        )
        copy = import_text(text)
        assert (copy.name, copy.level, copy.n_losses, copy.n_wins, copy.learns) == ("P2 AI", 7, 2, 5, False)
        policy = readable_machine(copy).policy("..X......")
        # A bead is played on any equivalent square: here the two corners beside the cross.
        assert {move: chance for move, chance in policy.items() if chance} == pytest.approx(
            {4: 100 / 107, 0: 3.5 / 107, 8: 3.5 / 107}
        )

    def test_a_table_with_foreign_separators_is_read(self) -> None:
        text = "\ufeffPosition;Move;Beads\r\n.........;1;4\r\n.........;2;0\r\n.........;5;9\r\n"
        assert [box.beads for box in import_text(text).boxes.all()] == [[4, 0, 9]]


@pytest.mark.django_db
class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (native_text_with_boxes({}, {}), r"^boxes\[1\]\.position: The box .* stands twice"),
            (matchbox_ai_text(totalBeads=31), r"^\[1\]\.totalBeads: The beads add up to 32, not 31"),
            (hexapawn_rl_text(["1"], [1]), r"^memory\['X\.+'\]: The move '1' is not legal"),
            ("position,move,beads\n.........,1,four\n", r"^line 2, beads: Please give a whole number, not 'four'"),
        ],
        ids=["native", *FOREIGN_FORMATS],
    )
    def test_refusal_has_place_and_reason_and_stores_nothing(self, text: str, reason: str) -> None:
        with pytest.raises(MachineFileError, match=reason):
            import_text(text)
        assert not Machine.objects.exists()
        assert not Box.objects.exists()

    def test_a_chosen_rule_allows_a_score_above_the_cap(self) -> None:
        copy = import_text(hexapawn_rl_text(["a1a2", "b1b2"], [100, 101], "ooo---OOO"), preset="gardner-her-reward")
        assert copy.boxes.get().beads == [100, 101]

    @pytest.mark.parametrize(
        ("options", "reason"),
        [
            ({"file_format": "xml"}, "^format: Please choose one of these"),
            ({"preset": "luck"}, "^preset: Please choose one of these"),
            ({"game": "go"}, "'go' is not a game"),
            ({"name": "x" * 81}, "^name: Please use at most 80"),
            ({"side": Side.FIRST}, "holds no box of crosses"),
        ],
    )
    def test_wrong_options_are_refused(self, options: dict[str, Any], reason: str) -> None:
        with pytest.raises(MachineFileError, match=reason):
            import_text(json.dumps([MATCHBOX_AI_ENTRY]), **options)

    def test_a_forced_move_without_a_box_is_refused(self) -> None:
        position = "XOXOXOOX."
        with pytest.raises(MachineFileError, match="keeps no box for a forced move"):
            import_text(hexapawn_rl_text(["9"], [1], position), preset="michie-1961")
        assert import_text(hexapawn_rl_text(["9"], [1], position)).boxes.count() == 1


@pytest.mark.django_db
class TestCommands:
    def test_export_and_import_by_commands(self, tmp_path: Any, capsys: Any) -> None:
        learner = trained_machine(machine())
        file = tmp_path / "machine.json"
        call_command("export_machine", learner.slug, out=file)
        user("anna")
        call_command("import_machine", str(file), owner="anna", name="Second life")
        copy = Machine.objects.get(owner__username="anna")
        assert copy.name == "Second life"
        assert "289 boxes" in capsys.readouterr().out
        call_command("export_machine", str(copy.pk))
        assert capsys.readouterr().out == file.read_text().replace('"MENACE"', '"Second life"')

    @pytest.mark.parametrize("form", FORMATS)
    def test_every_format(self, form: str, tmp_path: Any, capsys: Any) -> None:
        learner = trained_machine(machine())
        call_command("export_machine", learner.slug, format=form)
        text = capsys.readouterr().out
        file = tmp_path / "machine"
        file.write_text(text)
        call_command("import_machine", str(file))
        call_command("export_machine", str(Machine.objects.latest("pk").pk), format=form)
        assert text in capsys.readouterr().out

    @pytest.mark.parametrize("form", [form for form in FORMATS if form != "native"])
    def test_import_names_its_rule_and_how_to_get_another(self, form: str, tmp_path: Any, capsys: Any) -> None:
        file = tmp_path / "machine"
        file.write_text(machine_export(machine(), form).text)
        call_command("import_machine", str(file))
        usual_rules = {
            "csv": "Michie 1961 (michie-1961)",
            "hexapawn-rl": "HexapawnRL, as shipped (hexapawn-rl-as-shipped)",
        }
        rule_name = usual_rules.get(form, "Matchbox AI, as shipped (matchbox-ai-as-shipped)")
        assert (
            f"The machine has the usual rule for such files: {rule_name}. For another rule, " in capsys.readouterr().out
        )
        call_command("import_machine", str(file), preset="michie-refill")
        output = capsys.readouterr().out
        assert "has the rule that you chose: Michie with refill (michie-refill). For another" in output
        assert "name a preset with --preset" in output

    def test_a_changed_rule_is_reported(self, tmp_path: Any, capsys: Any) -> None:
        file = tmp_path / "machine.csv"
        file.write_text("position,move,beads\n" + "".join(f".........,{move},4\n" for move in range(1, 10)))
        call_command("import_machine", str(file))
        assert "Michie 1961 (michie-1961), changed so that it holds every box of the file." in capsys.readouterr().out
        assert Machine.objects.get().preset == ""

    def test_our_own_file_brings_its_rule_along(self, tmp_path: Any, capsys: Any) -> None:
        file = tmp_path / "machine.json"
        file.write_text(machine_export(machine(preset="scroggs")).text)
        call_command("import_machine", str(file))
        assert "keeps the rule of the file: Scroggs (scroggs). For another rule, save" in capsys.readouterr().out
        file.write_text(native_text(preset="scroggs"))
        call_command("import_machine", str(file))
        assert "keeps the rule of the file: a rule of its own. For another" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("o_50_games", "Left out: 3 beads on taken squares, in 1 box."),
            ("o_500_games", "Left out: 164 beads on taken squares, in 30 boxes."),
        ],
    )
    def test_beads_left_out_are_reported_with_the_reason(self, name: str, sentence: str, capsys: Any) -> None:
        call_command("import_machine", str(DATA_FOLDER / f"{name}.json"))
        output = capsys.readouterr().out
        assert sentence in output
        assert "On boards that it turns by a quarter, matchbox-ai reads and adds beads at the wrong square." in output
        assert ledger_errors() == []

    def test_commands_report_errors(self, tmp_path: Any) -> None:
        with pytest.raises(CommandError, match="There is no machine 'nobody'"):
            call_command("export_machine", "nobody")
        with pytest.raises(CommandError, match="No such file"):
            call_command("import_machine", str(tmp_path / "none"))
        file = tmp_path / "bad"
        file.write_text("[1]")
        with pytest.raises(CommandError, match=r"^\[0\]: Please give an object"):
            call_command("import_machine", str(file))
        with pytest.raises(CommandError, match="no account 'nobody'"):
            call_command("import_machine", str(file), owner="nobody")

    def test_a_table_can_be_read_by_a_spreadsheet(self, capsys: Any) -> None:
        learner = machine()
        call_command("export_machine", learner.slug, format="csv")
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert sum(int(row["beads"]) for row in rows) == sum(map(sum, learner.boxes.values_list("beads", flat=True)))
        assert rows[0]["move_number"] == "1"
