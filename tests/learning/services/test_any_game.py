"""Exchange and printing for a game with moves of two squares, and for save files of HexapawnRL."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pypdf import PdfReader

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.exchange import hexapawn_rl
from beadbox.learners.boxes.exchange.document import BoxData, MachineData
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.printing.sheets import sheets_pdf
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.formats import FORMATS, machine_read
from beadbox.printing.options import PrintOptions
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from games.live.rooms import room_create
from games.live.store import room_get
from learning.exceptions import MachineFileError
from learning.kinds.boxes.memory import ledger_errors
from learning.kinds.boxes.why import why_view
from learning.kinds.machines import import_notes, machine_export
from learning.models import Box, Machine
from learning.services.machines import machine_import
from tests.factories import guest, machine_strength, room_view

DATA_FOLDER = Path(__file__).parents[2] / "data" / "hexapawn-rl"
HEXAPAWN = GAMES["hexapawn"]
HEXAPAWN_4X4 = GAMES["hexapawn-4x4"]


def reduced_memory(memory: dict[str, Any], side: Side) -> dict[str, dict[str, int]]:
    """Return a memory of HexapawnRL, reduced by the mirror symmetry."""
    result = {}
    for text, entry in memory.items():
        position, symmetry = HEXAPAWN.to_canonical(HEXAPAWN.decode_as(text, side))
        moves = [HEXAPAWN.transform_move(HEXAPAWN.parse_move(move), symmetry) for move in entry["validMoves"]]
        scores = dict(zip(map(HEXAPAWN.format_move, moves), entry["confidenceScores"], strict=True))
        result[HEXAPAWN.encode(position)] = scores
    return result


@pytest.mark.django_db
@pytest.mark.parametrize(("file", "side", "level"), [("player1", 0, 20), ("player2", 1, 23)])
def test_save_files_of_hexapawn_rl_survive_a_round_trip(file: str, side: int, level: int) -> None:
    content = (DATA_FOLDER / f"{file}.json").read_bytes()
    learner = machine_import(user=None, content=content).machine
    save_file = json.loads(content)
    assert (learner.game, learner.side, learner.level, learner.name) == ("hexapawn", side, level, save_file["name"])
    assert (learner.n_wins, learner.n_losses) == (save_file["wins"], save_file["losses"])
    exported_file = json.loads(machine_export(learner, "hexapawn-rl").text)
    assert reduced_memory(exported_file["memory"], Side(side)) == reduced_memory(save_file["memory"], Side(side))
    assert list(exported_file) == list(save_file)
    assert {key: exported_file[key] for key in exported_file if key != "memory"} == {
        k: save_file[k] for k in save_file if k != "memory"
    }
    assert ledger_errors() == []
    # In both orientations the listed moves have the chances of their scores; equivalent moves count together.
    for text, entry in save_file["memory"].items():
        position = HEXAPAWN.decode_as(text, Side(side))
        scores = dict(zip(entry["validMoves"], entry["confidenceScores"], strict=True))
        for symmetry in HEXAPAWN.symmetries:
            turned_position = HEXAPAWN.transform(position, symmetry)
            why_json = why_view(learner, HEXAPAWN.encode(turned_position))
            assert why_json["moves"] == why_view(learner, HEXAPAWN.encode_short(turned_position))["moves"]
            chances = {line["move"]: line["probability"] for line in why_json["moves"]}
            listed_scores = {
                HEXAPAWN.format_move(HEXAPAWN.transform_move(HEXAPAWN.parse_move(move), symmetry)): score
                for move, score in scores.items()
            }
            for equivalent_moves in HEXAPAWN.distinct_moves(turned_position):
                names = [HEXAPAWN.format_move(move) for move in equivalent_moves]
                share = sum(listed_scores.get(name, 0) for name in names) / max(sum(scores.values()), 1)
                assert sum(chances[name] for name in names) == pytest.approx(share)


@pytest.mark.django_db
class TestRuleAsShipped:
    """The machine of a save file plays under the rule of the program as shipped, whatever settings the file has."""

    def test_imported_machine_has_the_rule_as_shipped(self) -> None:
        learner = machine_import(user=None, content=(DATA_FOLDER / "player2.json").read_bytes()).machine
        assert (learner.preset, learner.box_rule) == (hexapawn_rl.PRESET, PRESETS["hexapawn-rl-as-shipped"].rule)

    def test_an_empty_first_box_is_reported_as_resigning_forever(self, client: Client) -> None:
        content = (DATA_FOLDER / "player1.json").read_bytes()
        imported = machine_import(user=None, content=content)
        learner = imported.machine
        assert machine_strength(learner)["random"]["loss"] == 1
        for _ in range(2):
            seated = room_create(
                person=guest(), game="hexapawn", opponent="machine", machine=learner.slug, side=Side.SECOND
            )
            state = room_view(room_get(seated.room.code))
            assert (state["status"], state["outcome"]["termination"], state["ply"]) == ("finished", "empty_box", 0)
        assert learner.boxes.get(ply=0).beads == [0, 0, 0]
        sentence = "Its first box is empty, and its rule never fills it again"
        assert sentence in import_notes(learner, imported.data, "")[-1]
        assert sentence in client.get(learner.get_absolute_url()).content.decode()

    def test_a_chosen_rule_refills_the_first_box(self, client: Client) -> None:
        content = (DATA_FOLDER / "player1.json").read_bytes()
        imported = machine_import(user=None, content=content, preset="hexapawn-rl")
        assert machine_strength(imported.machine)["random"]["win"] == pytest.approx(89 / 162)
        assert len(import_notes(imported.machine, imported.data, "")) == 1
        assert 'id="stopped"' not in client.get(imported.machine.get_absolute_url()).content.decode()

    @pytest.mark.parametrize(("n_empty", "sentence"), [(1, "1 first box is empty"), (2, "2 first boxes are empty")])
    def test_empty_first_boxes_are_counted(self, n_empty: int, sentence: str) -> None:
        replies = {"ooo-O-O-O": ["a3a2"], "oooO---OO": ["c3c2"]}
        memory = {
            text: {"validMoves": [] if number < n_empty else moves, "confidenceScores": [1] * (number >= n_empty)}
            for number, (text, moves) in enumerate(replies.items())
        }
        imported = machine_import(user=None, content=json.dumps({"memory": memory}).encode())
        assert sentence in import_notes(imported.machine, imported.data, "")[-1]


def mirror_text(text: str) -> str:
    """Return a board or move of HexapawnRL in mirror image."""
    if len(text) == 9:
        return "".join(text[row : row + 3][::-1] for row in (0, 3, 6))
    return text.translate(str.maketrans("ac", "ca"))


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("preset", ["hexapawn-rl-as-shipped", "gardner-her-reward", "michie-1961", "apl-notebook"])
def test_hexapawn_rl_finds_and_plays_every_exported_box(preset: str, side: Side) -> None:
    rule = PRESETS[preset].rule
    cabinet = Cabinet(HEXAPAWN, side, rule)
    boxes = {}
    for number, key in enumerate(boxes_compile(HEXAPAWN, side, rule).keys):
        n_slots = len(cabinet.slot_classes(HEXAPAWN.decode(key)))
        boxes[key] = [max((number + slot) % 5, rule.floor if not rule.removes else 0) for slot in range(n_slots)]
    data = [BoxData(key, tuple(beads), (0,) * len(beads)) for key, beads in boxes.items()]
    memory = json.loads(hexapawn_rl.dump(MachineData(HEXAPAWN, side, rule, "Pawns", tuple(data))))["memory"]
    menace = BoxMachine(HEXAPAWN, side, rule, boxes, learns=False)
    looked_up_keys, open_positions, seen_positions = set(), [HEXAPAWN.initial_position()], set()
    while open_positions:
        position = open_positions.pop()
        if position in seen_positions or HEXAPAWN.is_terminal(position):
            continue
        seen_positions.add(position)
        open_positions += [HEXAPAWN.apply(position, move) for move in HEXAPAWN.legal_moves(position)]
        if not cabinet.has_box(position):
            continue  # the other side's turn, or a forced move
        board = HEXAPAWN.encode_short(position)
        # HexapawnRL looks up the unchanged board first, then its mirror image.
        key = board if board in memory else mirror_text(board)
        looked_up_keys.add(key)
        moves, scores = memory[key]["validMoves"], memory[key]["confidenceScores"]
        listed_scores = dict(zip(moves if key == board else map(mirror_text, moves), scores, strict=True))
        assert set(listed_scores) <= set(map(HEXAPAWN.format_move, HEXAPAWN.legal_moves(position)))
        assert listed_scores or not any(menace.open_box(position))
        policy = menace.policy(position)
        for equivalent_moves in HEXAPAWN.distinct_moves(position) if listed_scores else ():
            share = sum(listed_scores.get(HEXAPAWN.format_move(move), 0) for move in equivalent_moves) / sum(scores)
            assert sum(policy[move] for move in equivalent_moves) == pytest.approx(share)
    assert looked_up_keys == set(memory)


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("form", ["native", "hexapawn-rl", "csv"])
def test_formats_with_moves_as_text_hold_every_box(form: str, side: Side) -> None:
    rule = PRESETS["michie-1961"].rule
    table = boxes_compile(HEXAPAWN, side, rule)
    cabinet = Cabinet(HEXAPAWN, side, rule)
    boxes = []
    for number, key in enumerate(table.keys):
        beads = tuple(number + slot for slot in range(len(cabinet.slot_classes(HEXAPAWN.decode(key)))))
        boxes.append(BoxData(key, beads, (0,) * len(beads)))
    boxes.sort(key=lambda box: (HEXAPAWN.ply(HEXAPAWN.decode(box.position)), box.position))
    data = MachineData(HEXAPAWN, side, rule, "Pawns", tuple(boxes), preset="michie-1961")
    copied_data = machine_read(
        FORMATS[form].dump(data).encode(), ImportOptions(rule=rule, preset="michie-1961", name="Pawns")
    )
    assert copied_data == data


def test_formats_with_squares_refuse_such_games() -> None:
    data = MachineData(HEXAPAWN, Side.FIRST, hexapawn_rl.RULE, "Pawns", (BoxData("ooo---OOO:1", (1, 1, 1), (0, 0, 0)),))
    with pytest.raises(ExchangeError, match="more than one square"):
        FORMATS["matchbox-ai"].dump(data)
    with pytest.raises(ExchangeError, match="a move is more than a square"):
        machine_read(json.dumps([{"state": "ooo---OOO", "beads": [1] * 9}]).encode(), ImportOptions())


@pytest.mark.django_db
def test_an_unreachable_position_is_refused() -> None:
    memory = {"memory": {"o-----O--": {"validMoves": ["a1a2"], "confidenceScores": [1]}}}
    with pytest.raises(MachineFileError, match=r"^memory\['o-----O--'\]: No game can reach 'o-----O--:1'"):
        machine_import(user=None, content=json.dumps(memory).encode(), game="hexapawn")
    with pytest.raises(MachineFileError, match="No game has the position"):
        machine_import(user=None, content=json.dumps(memory).encode())


def test_boxes_are_printed() -> None:
    cabinet = Cabinet(HEXAPAWN, Side.SECOND, hexapawn_rl.RULE)
    keys = boxes_compile(HEXAPAWN, Side.SECOND, hexapawn_rl.RULE).keys
    boxes = [(key, [1] * len(cabinet.slot_classes(HEXAPAWN.decode(key)))) for key in keys]
    reader = PdfReader(sheets_pdf(cabinet, "HER", boxes, PrintOptions()))
    lines = [line.strip() for page in reader.pages[1:] for line in page.extract_text().splitlines()]
    assert [line for line in lines if line.startswith("No. ")] == [f"No. {n + 1}" for n in range(len(keys))]
    assert not {*keys, "a3a2", "white", "black"} & set(lines)  # boards, moves and pieces are drawn, not written


def save_file_of_4x4(side: Side) -> dict[str, Any]:
    """Return a save file of the 4 × 4 board, including positions that fit either side to move."""
    cabinet = Cabinet(HEXAPAWN_4X4, side, hexapawn_rl.RULE)
    keys = boxes_compile(HEXAPAWN_4X4, side, hexapawn_rl.RULE).keys[40:80]
    sizes = [len(cabinet.slot_classes(HEXAPAWN_4X4.decode(key))) for key in keys]
    boxes = [BoxData(key, (1,) * n, (0,) * n) for key, n in zip(keys, sizes, strict=True)]
    text: dict[str, Any] = json.loads(
        hexapawn_rl.dump(MachineData(HEXAPAWN_4X4, side, hexapawn_rl.RULE, "Wide", tuple(boxes)))
    )
    return text


@pytest.mark.parametrize("side", Side)
def test_missing_side_of_a_save_file_follows_from_positions(side: Side) -> None:
    data = machine_read(json.dumps(save_file_of_4x4(side)).encode(), ImportOptions())
    assert (data.game, data.side, len(data.boxes)) == (HEXAPAWN_4X4, side, 40)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"game": "noughts-and-crosses"}, "is not nine characters from 'X', 'O'"),
        ({"game": "hexapawn-4x4"}, "is not 16 characters"),
        ({"game": "hexapawn", "side": Side.SECOND}, "No game can reach"),
        ({"move": "a1a3"}, "The move 'a1a3' is not legal in 'oo-O-o-OO'"),
        ({"move": "Hb1"}, "'Hb1' is not two squares"),
        ({"score": 101}, "Please give a number from|above the rule's cap of"),
        ({"score": -1}, "Please give a number from 1"),
        ({"score": 1.5}, "Please give a whole number"),
        ({"score": 1 << 30}, "Please give a number from 1"),
        ({"cut": 700}, "^line [0-9]+, column [0-9]+: This is not JSON"),
    ],
    ids=str,
)
def test_refusal_of_a_wrong_save_file_names_the_place(change: dict[str, Any], problem: str) -> None:
    save_file = json.loads((DATA_FOLDER / "player1.json").read_text())
    entry = save_file["memory"]["oo-O-o-OO"]
    if "move" in change:
        entry["validMoves"][0] = change["move"]
    if "score" in change:
        entry["confidenceScores"][0] = change["score"]
    text = json.dumps(save_file, indent=1)[: change.get("cut")]
    options = {name: change[name] for name in ("game", "side") if name in change}
    preset = {"preset": "hexapawn-rl"} if change.get("score") == 101 else {}
    with pytest.raises(MachineFileError, match=problem):
        machine_import(user=None, content=text.encode(), **options, **preset)
    assert not Machine.objects.exists()
    assert not Box.objects.exists()
