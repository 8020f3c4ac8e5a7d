"""Exchange and printing with a game whose moves are two squares each, and with save files that HexapawnRL wrote."""

import json
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from games.rules.base import Side
from games.rules.registry import GAMES
from learning.exceptions import MachineFileError
from learning.exchange import hexapawn_rl
from learning.exchange.document import BoxData, MachineData, Wanted
from learning.exchange.errors import ExchangeError
from learning.exchange.registry import FORMATS, machine_read
from learning.machines.boxes import Cabinet
from learning.machines.presets import PRESETS
from learning.printing.sheets import PrintOptions, sheets_pdf
from learning.selectors_boxes import ledger_errors, why_view
from learning.selectors_exchange import machine_export
from learning.services import machine_import
from learning.training.tables import boxes_compile, graph_compile
from tests.learning.pawns import MIRROR, Pawns

SAVED = Path(__file__).parent.parent / "data" / "hexapawn-rl"


@pytest.fixture
def pawns(monkeypatch: pytest.MonkeyPatch) -> Pawns:
    game = Pawns()
    monkeypatch.setitem(GAMES, game.slug, game)
    return game


def mirrored(position: str) -> str:
    return "".join(position[cell] for cell in MIRROR)


def folded(game: Pawns, memory: dict[str, Any]) -> dict[str, dict[str, int]]:
    """A memory of HexapawnRL up to mirror image."""
    result = {}
    for position, entry in memory.items():
        moves = dict(zip(entry["validMoves"], entry["confidenceScores"], strict=True))
        if mirrored(position) < position:
            flip = game.symmetries[1]
            moves = {game.format_move(game.transform_move(game.parse_move(m), flip)): n for m, n in moves.items()}
        result[min(position, mirrored(position))] = moves
    return result


def test_the_tiny_game_has_the_counts_of_docs_learning(pawns: Pawns) -> None:
    positions = graph_compile(pawns, reduced=True).positions
    sides = [pawns.side_to_move(position) for position in positions]
    assert (sides.count(Side.FIRST), sides.count(Side.SECOND)) == (18, 19)


@pytest.mark.django_db
@pytest.mark.parametrize(("file", "side", "level"), [("player1", 0, 20), ("player2", 1, 23)])
def test_a_save_file_of_hexapawn_rl_comes_in_and_goes_out(pawns: Pawns, file: str, side: int, level: int) -> None:
    content = (SAVED / f"{file}.json").read_bytes()
    learner = machine_import(user=None, content=content)
    saved = json.loads(content)
    assert (learner.game, learner.side, learner.level, learner.name) == ("pawns", side, level, saved["name"])
    assert (learner.n_wins, learner.n_losses) == (saved["wins"], saved["losses"])
    out = json.loads(machine_export(learner, "hexapawn-rl").text)
    assert folded(pawns, out["memory"]) == folded(pawns, saved["memory"])
    assert list(out) == list(saved)
    assert {key: out[key] for key in out if key != "memory"} == {k: saved[k] for k in saved if k != "memory"}
    assert ledger_errors() == []
    # In either orientation it plays what is listed, as often as its scores say (moves that are alike count together).
    for position, entry in saved["memory"].items():
        scores = dict(zip(entry["validMoves"], entry["confidenceScores"], strict=True))
        if not scores and pawns.ply(position) < 2:
            continue  # the very first box is filled again when it is empty
        for asked, symmetry in zip((position, mirrored(position)), pawns.symmetries, strict=True):
            played = {line["move"]: line["probability"] for line in why_view(learner, asked)["moves"]}
            listed = {
                pawns.format_move(pawns.transform_move(pawns.parse_move(move), symmetry)): score
                for move, score in scores.items()
            }
            for alike in pawns.distinct_moves(asked):
                names = [pawns.format_move(move) for move in alike]
                share = sum(listed.get(name, 0) for name in names) / max(sum(scores.values()), 1)
                assert sum(played[name] for name in names) == pytest.approx(share)


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("form", ["native", "hexapawn-rl", "csv"])
def test_every_format_that_names_moves(pawns: Pawns, form: str, side: Side) -> None:
    rule = PRESETS["michie-1961"].rule
    table = boxes_compile(pawns, side, rule)
    cabinet = Cabinet(pawns, side, rule)
    boxes = []
    for number, key in enumerate(table.keys):
        beads = tuple(number + slot for slot in range(len(cabinet.slots(key))))
        boxes.append(BoxData(key, beads, (0,) * len(beads)))
    boxes.sort(key=lambda box: (pawns.ply(box.position), box.position))
    data = MachineData(pawns, side, rule, "Pawns", tuple(boxes), preset="michie-1961")
    read = machine_read(FORMATS[form].dump(data).encode(), Wanted(rule=rule, preset="michie-1961", name="Pawns"))
    assert read == data


def test_squares_cannot_hold_the_beads_of_such_a_game(pawns: Pawns) -> None:
    data = MachineData(pawns, Side.FIRST, hexapawn_rl.RULE, "Pawns", (BoxData("ooo---OOO", (1, 1, 1), (0, 0, 0)),))
    with pytest.raises(ExchangeError, match="more than one square"):
        FORMATS["matchbox-ai"].dump(data)
    with pytest.raises(ExchangeError, match="a move is more than a square"):
        machine_read(json.dumps([{"state": "ooo---OOO", "beads": [1] * 9}]).encode(), Wanted())


@pytest.mark.django_db
def test_a_position_that_no_game_can_reach(pawns: Pawns) -> None:
    memory = {"memory": {"o-----O--": {"validMoves": ["a1a2"], "confidenceScores": [1]}}}
    with pytest.raises(MachineFileError, match=r"^memory\['o-----O--'\]: no game can reach '--o-----O'"):
        machine_import(user=None, content=json.dumps(memory).encode())


def test_its_boxes_are_printed(pawns: Pawns) -> None:
    cabinet = Cabinet(pawns, Side.SECOND, hexapawn_rl.RULE)
    keys = boxes_compile(pawns, Side.SECOND, hexapawn_rl.RULE).keys
    boxes = [(key, [1] * len(cabinet.slots(key))) for key in keys]
    reader = PdfReader(sheets_pdf(cabinet, "HER", boxes, PrintOptions(with_beads=False)))
    lines = [line.strip() for page in reader.pages[1:] for line in page.extract_text().splitlines()]
    assert set(keys) <= set(lines)
    assert {"a3a2", "b3c2"} <= set(lines)
