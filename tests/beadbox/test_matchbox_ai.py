"""Import from matchbox-ai and export to it, checked by a second implementation of its lookup of boxes and moves.

The second implementation uses none of our symmetries, canonical forms and cabinets.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from beadbox.learners.boxes.cabinet import Cabinet
from beadbox.learners.boxes.exchange.document import BoxData, MachineData
from beadbox.learners.boxes.machine import BoxMachine
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.boxes.table import boxes_compile
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.formats import FORMATS, machine_read
from beadbox.rules.outcome import Side
from beadbox.rules.registry import GAMES
from tests.beadbox.box_rules import EXAMPLE_RULES

DATA_FOLDER = Path(__file__).parents[1] / "data" / "matchbox-ai"
GAME = GAMES["noughts-and-crosses"]
FORM = FORMATS["matchbox-ai"]

# Square i of the turned board is square turn[i] of the board: identity, three rotations, four reflections.
TURNS = (
    (0, 1, 2, 3, 4, 5, 6, 7, 8),
    (6, 3, 0, 7, 4, 1, 8, 5, 2),
    (8, 7, 6, 5, 4, 3, 2, 1, 0),
    (2, 5, 8, 1, 4, 7, 0, 3, 6),
    (2, 1, 0, 5, 4, 3, 8, 7, 6),
    (0, 3, 6, 1, 4, 7, 2, 5, 8),
    (6, 7, 8, 3, 4, 5, 0, 1, 2),
    (8, 5, 2, 7, 4, 1, 6, 3, 0),
)
QUARTER_TURNS = (1, 3)
"""The rotations that differ from their inverses. matchbox-ai wrongly maps moves back with the rotation itself."""

Memory = dict[str, list[int]]


def key_and_turn(board: str) -> tuple[str, int]:
    """Return the key under which matchbox-ai looks up a board, and the number of the turn from the board to the key."""
    return min(("".join(board[square] for square in turn), number) for number, turn in enumerate(TURNS))


def chances_of_squares(memory: Memory, board: str, *, as_it_plays: bool = False) -> dict[int, Fraction]:
    """Return the chance of each empty square under matchbox-ai, or nothing if the box has no bead for any of them.

    ``as_it_plays`` includes the program's fault with rotations; otherwise its own description applies.
    """
    key, number = key_and_turn(board)
    turn = TURNS[number]
    beads = memory[key]
    found = {
        square: beads[turn[square] if as_it_plays else turn.index(square)]
        for square, mark in enumerate(board)
        if mark == "_"
    }
    total = sum(found.values())
    return {square: Fraction(count, total) for square, count in found.items()} if total else {}


def memory_of(text: str) -> Memory:
    """Return the memory of matchbox-ai after reading a file; assert that keys are unique and totals are right."""
    entries = json.loads(text)
    memory = {entry["state"]: entry["beads"] for entry in entries}
    assert len(memory) == len(entries)
    assert all(entry["totalBeads"] == sum(entry["beads"]) for entry in entries)
    return memory


def boards_to_move(side: Side) -> Iterator[str]:
    """Return every reachable board in which a side is to move."""
    queue, positions = [GAME.initial_position()], set()
    while queue:
        position = queue.pop()
        if position in positions or GAME.is_terminal(position):
            continue
        positions.add(position)
        queue += [GAME.apply(position, move) for move in GAME.legal_moves(position)]
    return (GAME.encode(one).replace(".", "_") for one in sorted(positions) if GAME.side_to_move(one) is side)


def machine_with(rule: BoxRule, side: Side, seed: int = 1) -> MachineData:
    """Return a machine with random beads that its rule allows, with removed slots and empty boxes."""
    random, cabinet = Random(seed), Cabinet(GAME, side, rule)
    boxes = []
    for key in boxes_compile(GAME, side, rule).keys:
        n_slots = len(cabinet.slot_classes(GAME.decode(key)))
        beads = [random.randint(rule.floor, min(rule.highest, rule.floor + 9)) for _ in range(n_slots)]
        if rule.removes or not rule.floor:
            beads = [0 if random.random() < 0.2 else count for count in beads]
            beads = [0] * n_slots if random.random() < 0.1 else beads
        boxes.append(BoxData(key, tuple(beads), (0,) * n_slots))
    return MachineData(GAME, side, rule, "Any", tuple(boxes))


RULES = {**{slug: preset.rule for slug, preset in PRESETS.items()}, **EXAMPLE_RULES}
REDUCING_RULES = {name: rule for name, rule in RULES.items() if rule.reduce_symmetry}


class TestExport:
    @pytest.mark.parametrize("side", Side)
    @pytest.mark.parametrize("name", REDUCING_RULES)
    @pytest.mark.sampled(5)
    def test_matchbox_ai_finds_every_box_with_equal_chances(self, name: str, side: Side) -> None:
        data = machine_with(REDUCING_RULES[name], side)
        memory = memory_of(FORM.dump(data))
        machine = BoxMachine(GAME, side, data.rule, {box.position: list(box.beads) for box in data.boxes}, learns=False)
        found = set()
        for board in boards_to_move(side):
            position = GAME.decode(board.replace("_", "."))
            if not data.cabinet.has_box(position):
                continue  # only one move is left, and matchbox-ai plays it
            key, number = key_and_turn(board)
            found.add(key)
            theirs = chances_of_squares(memory, board)
            if number not in QUARTER_TURNS:
                assert chances_of_squares(memory, board, as_it_plays=True) == theirs
            if not theirs:
                assert not any(machine.open_box(position))
                continue
            ours = machine.policy(position)
            for like_squares in GAME.distinct_moves(position):
                assert sum(theirs[move] for move in like_squares) == pytest.approx(
                    sum(ours[move] for move in like_squares)
                )
                if data.rule.merge_symmetric_moves:
                    counts = [memory[key][TURNS[number].index(move)] for move in like_squares]
                    assert max(counts) - min(counts) <= 1, "the beads of a slot are shared out evenly among its squares"
        assert found == set(memory)
        assert len(memory) == len(data.boxes)

    @pytest.mark.parametrize(("side", "n_boards", "n_quarters"), [(Side.FIRST, 2423, 665), (Side.SECOND, 2097, 574)])
    def test_number_of_boards_turned_by_a_quarter(self, side: Side, n_boards: int, n_quarters: int) -> None:
        numbers = [key_and_turn(board)[1] for board in boards_to_move(side)]
        assert len(numbers) == n_boards
        assert sum(number in QUARTER_TURNS for number in numbers) == n_quarters

    def test_three_beads_are_shared_among_four_corners(self) -> None:
        box = BoxData(".........", (3, 5, 2), (0, 0, 0))
        text = FORM.dump(MachineData(GAME, Side.FIRST, PRESETS["michie-1961"].rule, "Any", (box,)))
        assert json.loads(text) == [{"state": "_________", "beads": [1, 2, 1, 1, 2, 1, 1, 1, 0], "totalBeads": 10}]

    @pytest.mark.parametrize("name", [name for name in RULES if name not in REDUCING_RULES])
    def test_export_of_unreduced_boards_is_refused(self, name: str) -> None:
        """matchbox-ai has one box for all turned boards, so a machine with a box for each cannot be exported."""
        with pytest.raises(ExchangeError, match="a box for each turned board, and matchbox-ai one for all"):
            FORM.dump(machine_with(RULES[name], Side.FIRST))


N_SET_ASIDE = {"o_50_games": (3, 1), "o_500_games": (164, 30), "x_50_games": (30, 13)}


def file_entries(name: str) -> Any:
    return json.loads((DATA_FOLDER / f"{name}.json").read_text())


def read_machine(entries: Any, **options: Any) -> Any:
    return machine_read(json.dumps(entries).encode(), ImportOptions(**options))


class TestImport:
    @pytest.mark.parametrize("name", N_SET_ASIDE)
    def test_files_survive_a_round_trip_except_taken_squares(self, name: str) -> None:
        """A file of matchbox-ai is exported as it was imported, except for beads on taken squares."""
        data = read_machine(file_entries(name))
        assert data.side == (Side.FIRST if name.startswith("x") else Side.SECOND)
        assert (data.preset, data.rule) == ("matchbox-ai-as-shipped", PRESETS["matchbox-ai-as-shipped"].rule)
        assert (data.reading.beads_set_aside, data.reading.boxes_set_aside) == N_SET_ASIDE[name]
        theirs, ours = memory_of(json.dumps(file_entries(name))), memory_of(FORM.dump(data))
        assert ours == {
            key: [count if mark == "_" else 0 for mark, count in zip(key, beads, strict=True)]
            for key, beads in theirs.items()
        }
        assert all(key_and_turn(key) == (key, 0) for key in ours)

    @pytest.mark.parametrize("name", N_SET_ASIDE)
    def test_import_plays_like_the_description_of_the_program(self, name: str) -> None:
        data, memory = read_machine(file_entries(name)), memory_of(json.dumps(file_entries(name)))
        machine = BoxMachine(
            GAME, data.side, data.rule, {box.position: list(box.beads) for box in data.boxes}, learns=False
        )
        n_met = 0
        for board in boards_to_move(data.side):
            if key_and_turn(board)[0] not in memory:
                continue
            n_met += 1
            position = GAME.decode(board.replace("_", "."))
            ours, theirs = machine.policy(position), chances_of_squares(memory, board)
            empty = [square for square, mark in enumerate(board) if mark == "_"]
            # Without a bead both programs play any move.
            theirs = theirs or dict.fromkeys(empty, Fraction(1, len(empty)))
            for like_squares in GAME.distinct_moves(position):
                assert sum(ours[move] for move in like_squares) == pytest.approx(
                    float(sum(theirs[move] for move in like_squares))
                )
        assert n_met > len(memory)

    def test_a_wrong_total_is_refused_first(self) -> None:
        entries = file_entries("o_500_games")
        n_free_beads = [
            sum(n for n, mark in zip(one["beads"], one["state"], strict=True) if mark == "_") for one in entries
        ]
        number = next(n for n, one in enumerate(entries) if n_free_beads[n] < one["totalBeads"])
        n_free, n_stated = n_free_beads[number], entries[number]["totalBeads"]
        entries[number]["totalBeads"] = n_free
        with pytest.raises(
            ExchangeError, match=rf"^\[{number}\]\.totalBeads: The beads add up to {n_stated}, not {n_free}"
        ):
            read_machine(entries)

    def test_a_box_with_beads_on_taken_squares_only_is_empty(self) -> None:
        data = read_machine([{"state": "OX_______", "beads": [3, 2, 0, 0, 0, 0, 0, 0, 0], "totalBeads": 5}])
        (box,) = data.boxes
        assert not any(box.beads)
        assert (data.reading.beads_set_aside, data.reading.boxes_set_aside) == (5, 1)
        machine = BoxMachine(GAME, Side.FIRST, data.rule, {box.position: list(box.beads)}, learns=False)
        assert set(machine.policy(GAME.decode("OX.......")).values()) == {1 / 7}

    def test_boxes_of_the_other_side_are_not_counted(self) -> None:
        both = [*file_entries("o_50_games"), *file_entries("x_50_games")]
        data = read_machine(both, side=Side.FIRST)
        assert (data.reading.beads_set_aside, data.reading.boxes_set_aside) == N_SET_ASIDE["x_50_games"]

    def test_the_import_uses_a_chosen_rule(self) -> None:
        rule = PRESETS["michie-refill"].rule
        data = read_machine(
            [{"state": "O___X___X", "beads": [1, 2, 3, 4, 0, 5, 6, 7, 0]}], rule=rule, preset="michie-refill"
        )
        assert (data.rule, data.preset, data.reading.is_chosen) == (rule, "michie-refill", True)
        assert (data.reading.beads_set_aside, data.reading.boxes_set_aside) == (1, 1)


def old_entries(data: MachineData) -> Any:
    """Return the entries of an older release: text with dots, and all beads of equivalent squares on the first."""
    entries = []
    for box in data.boxes:
        beads = [0] * 9
        for square, count in zip(data.cabinet.slot_labels(GAME.decode(box.position)), box.beads, strict=True):
            beads[square] += count
        entries.append({"state": box.position, "beads": beads, "totalBeads": sum(beads)})
    return entries


class TestOldFiles:
    @pytest.mark.parametrize("name", ["michie-1961", "matchbox-ai", "go-server", "apl-notebook"])
    def test_files_of_older_releases_are_read(self, name: str) -> None:
        data = machine_with(RULES[name], Side.SECOND)
        assert read_machine(old_entries(data), rule=data.rule, side=data.side).boxes == tuple(
            sorted(data.boxes, key=lambda box: (GAME.ply(GAME.decode(box.position)), box.position))
        )

    def test_refusal_of_a_duplicate_box_names_both_keys(self) -> None:
        before = old_entries(machine_with(RULES["michie-1961"], Side.SECOND))
        both = [*before, *file_entries("o_50_games")]
        with pytest.raises(ExchangeError) as refused:
            read_machine(both)
        number = int(refused.value.where.strip("[]"))
        assert number >= len(before)
        theirs = both[number]["state"]
        ours = next(entry["state"] for entry in before if key_and_turn(entry["state"].replace(".", "_"))[0] == theirs)
        place = next(n for n, entry in enumerate(before) if entry["state"] == ours)
        assert refused.value.reason.startswith(
            f"The box '{theirs}' is the same as '{ours}' of [{place}], turned. It holds other beads."
        )
