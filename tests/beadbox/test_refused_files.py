"""Every refusal of a file, of every format, with its reason, place, code and sentence.

Refusals of single fields are the product of fields and mistakes. Other tables list the refusals of one format.
"""

import gzip
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest

from beadbox.engines.romgon.entry_keys import entry_key
from beadbox.learners.boxes.exchange import recorded_games
from beadbox.learners.exchange.document import ImportOptions
from beadbox.learners.exchange.errors import SENTENCES, ExchangeError
from beadbox.learners.exchange.file_text import MAX_BYTES
from beadbox.learners.exchange.values import MAX_VALUES, ValueData, ValuesData, dump_values
from beadbox.learners.formats import FORMATS, machine_read
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.value_learner.document import WeightsData, weights_text
from beadbox.learners.value_learner.learner import zero_weights
from beadbox.learners.value_learner.rule import ValueRule
from beadbox.rules.registry import GAMES
from tests.beadbox.files import (
    BOX_ENTRY,
    MATCHBOX_AI_ENTRY,
    NATIVE_FILE,
    hexapawn_rl_text,
    matchbox_ai_text,
    native_text,
    native_text_with_boxes,
)

ROMGON = GAMES["romgon"]
START = ROMGON.initial_position()
KEYS = sorted(entry_key(START.board, move) for move in ROMGON.legal_moves(START))
KEY_PIECES = KEYS[0].partition("#")[2]
VALUE_RULE = ValueRule(features="squares-1", search_depth=1, play_depth=1, average_games=10.0, restlessness=0.01)
CSV_HEADING, CSV_ROW_START = "position,move,beads\n", ".........,1,"


def values_file(**changed: Any) -> dict[str, Any]:
    """Return a file of values as JSON, without the fields that are ``None``."""
    entries = tuple(ValueData(key, index / 7, index) for index, key in enumerate(KEYS[:3]))
    data = ValuesData(game=ROMGON, rule=QRule(), epsilon=0.1, name="Q", values=entries, wins=2, losses=1)
    fields = json.loads(dump_values(data)) | changed
    return {name: value for name, value in fields.items() if value is not None}


def file_of_one_value(**changed: Any) -> dict[str, Any]:
    return values_file(values=[{"key": KEYS[0], "value": 0.5, "visits": 1, **changed}])


def weights_file(**changed: Any) -> dict[str, Any]:
    none = zero_weights(ROMGON, VALUE_RULE)
    file = json.loads(weights_text(WeightsData(ROMGON, VALUE_RULE, "V", weights=none, average=none, n_learnt=3)))
    return {name: value for name, value in (file | changed).items() if value is not None}


read_hexapawn_games = partial(recorded_games.load, game=GAMES["hexapawn"])


def error_of_file(file: Any, form: str = "") -> ExchangeError:
    """Read a file given as bytes, as text or as JSON, check the error that refuses it, and return the error."""
    text = file if isinstance(file, str | bytes) else json.dumps(file)
    content = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    with pytest.raises(ExchangeError) as refused:
        read_hexapawn_games(content.decode()) if form == "games" else machine_read(content, ImportOptions(), form)
    error = refused.value
    assert error.reason == SENTENCES[error.code].format(**error.parameters)
    assert str(error) == (f"{error.where}: {error.reason}" if error.where else error.reason)
    assert len(str(error).encode()) < 600
    return error


# Fields of each type, in every format


def file_of_one_box(**fields: Any) -> dict[str, Any]:
    return {**NATIVE_FILE, "boxes": [{**BOX_ENTRY, **fields}]}


def hexapawn_rl_file(**fields: Any) -> dict[str, Any]:
    return {"memory": {"X........": {"validMoves": ["2"], "confidenceScores": [1], **fields}}}


MEMORY_PLACE = "memory['X........']"
COUNT_FIELDS: dict[str, Callable[[Any], Any]] = {
    "side": lambda value: {**NATIVE_FILE, "side": value},
    "boxes[0].beads[1]": lambda value: file_of_one_box(beads=[1, value, 1, 1, 1]),
    "boxes[0].draws[4]": lambda value: file_of_one_box(draws=[0, 0, 0, 0, value]),
    "totals.games": lambda value: {**NATIVE_FILE, "totals": {"games": value}},
    "totals.removed": lambda value: {**NATIVE_FILE, "totals": {"removed": value}},
    "totals.wins": lambda value: values_file(totals={"wins": value}),
    "values[0].visits": lambda value: file_of_one_value(visits=value),
    "learnt": lambda value: {**weights_file(), "learnt": value},
    "seed": lambda value: {**weights_file(), "seed": value},
    "[0].beads[2]": lambda value: [{"state": "X........", "beads": [0, 1, value, 1, 1, 1, 1, 1, 1]}],
    "[0].totalBeads": lambda value: [{**MATCHBOX_AI_ENTRY, "totalBeads": value}],
    "level": lambda value: hexapawn_rl_file() | {"level": value},
    "draws": lambda value: hexapawn_rl_file() | {"draws": value},
    f"{MEMORY_PLACE}.confidenceScores[0]": lambda value: hexapawn_rl_file(confidenceScores=[value]),
}
WRONG_COUNTS = {
    "null": (None, "whole_number"),
    "true": (True, "whole_number"),
    "a fraction": (1.5, "whole_number"),
    "a text": ("4", "whole_number"),
    "a list": ([4], "whole_number"),
    "negative": (-1, "between"),
    "huge": (1 << 80, "between"),
    "of hundreds of digits": (10**400, "between"),
}
TEXT_FIELDS: dict[str, Callable[[Any], Any]] = {
    "game": lambda value: {**NATIVE_FILE, "game": value},
    "name": lambda value: {**NATIVE_FILE, "name": value},
    "description": lambda value: weights_file() | {"description": value},
    "preset": lambda value: values_file() | {"preset": value},
    "boxes[0].position": lambda value: file_of_one_box(position=value),
    "values[0].key": lambda value: file_of_one_value(key=value),
    f"{MEMORY_PLACE}.validMoves[0]": lambda value: hexapawn_rl_file(validMoves=[value]),
    "games[0].moves[0]": lambda value: {"games": [{"moves": [value], "winner": 1}]},
}
WRONG_TEXTS = {
    "null": (None, "text"),
    "a number": (3, "text"),
    "a list": (["a"], "text"),
    "too long": ("x" * 2001, "too_long"),
    "a NUL": ("a\0b", "characters"),
    "half a pair": ("\ud800", "characters"),
}
NUMBER_FIELDS: dict[str, Callable[[Any], Any]] = {
    "epsilon": lambda value: {**values_file(), "epsilon": value},
    "values[0].value": lambda value: file_of_one_value(value=value),
}
WRONG_NUMBERS = {
    "null": (None, "number"),
    "true": (True, "number"),
    "a text": ("0.5", "number"),
    "too large": (2e6, "between"),
    "too small": (-2e6, "between"),
    "without end": ("1e999", "finite"),
    "below without end": ("-1e999", "finite"),
    "of hundreds of digits": (10**400, "finite"),
}
FLAG_FIELDS: dict[str, Callable[[Any], Any]] = {
    "learns": lambda value: {**NATIVE_FILE, "learns": value},
    "isLearning": lambda value: hexapawn_rl_file() | {"isLearning": value},
}
LIST_FIELDS: dict[str, Callable[[Any], Any]] = {
    "boxes": lambda value: {**NATIVE_FILE, "boxes": value},
    "boxes[0].beads": lambda value: file_of_one_box(beads=value),
    "values": lambda value: {**values_file(), "values": value},
    "weights": lambda value: {**weights_file(), "weights": value},
    "average": lambda value: {**weights_file(), "average": value},
    "[0].beads": lambda value: [{**MATCHBOX_AI_ENTRY, "beads": value}],
    f"{MEMORY_PLACE}.validMoves": lambda value: hexapawn_rl_file(validMoves=value),
    "games": lambda value: {"games": value},
    "games[0].moves": lambda value: {"games": [{"moves": value, "winner": 1}]},
}
OBJECT_FIELDS: dict[str, Callable[[Any], Any]] = {
    "boxes[1]": lambda value: {**NATIVE_FILE, "boxes": [BOX_ENTRY, value]},
    "totals": lambda value: {**NATIVE_FILE, "totals": value},
    "values[0]": lambda value: {**values_file(), "values": [value]},
    "[1]": lambda value: [MATCHBOX_AI_ENTRY, value],
    "memory": lambda value: {"memory": value},
    MEMORY_PLACE: lambda value: {"memory": {"X........": value}},
    "games[1]": lambda value: {"games": [{"moves": [], "winner": 2}, value]},
}
REFUSED_FIELDS = [
    (f"{place}, {name}", file_with, value, code)
    for fields, mistakes in (
        (COUNT_FIELDS, WRONG_COUNTS),
        (TEXT_FIELDS, WRONG_TEXTS),
        (NUMBER_FIELDS, WRONG_NUMBERS),
        (
            FLAG_FIELDS,
            {"null": (None, "true_or_false"), "1": (1, "true_or_false"), "a text": ("true", "true_or_false")},
        ),
        (LIST_FIELDS, {"null": (None, "list"), "an object": ({}, "list"), "a text": ("none", "list")}),
        (OBJECT_FIELDS, {"null": (None, "object"), "a number": (5, "object"), "a list": ([1], "object")}),
    )
    for (place, file_with), (name, (value, code)) in product(fields.items(), mistakes.items())
]


@pytest.mark.parametrize(
    ("file_with", "value", "code"), [one[1:] for one in REFUSED_FIELDS], ids=[one[0] for one in REFUSED_FIELDS]
)
def test_refusal_of_a_wrong_type_names_the_place(
    file_with: Callable[[Any], Any], value: Any, code: str, request: pytest.FixtureRequest
) -> None:
    place = request.node.callspec.id.rpartition(", ")[0]
    text = re.sub('"(-?1e999)"', r"\1", json.dumps(file_with(value)))
    error = error_of_file(text, "games" if place.startswith("games") else "")
    assert (error.where, error.code) == (place, code)


FILES_WITHOUT_A_FIELD = {
    "game": {**NATIVE_FILE, "game": ...},
    "rule": {**NATIVE_FILE, "rule": ...},
    "side": {**NATIVE_FILE, "side": ...},
    "boxes": {**NATIVE_FILE, "boxes": ...},
    "boxes[0].position": file_of_one_box(position=...),
    "boxes[0].beads": file_of_one_box(beads=...),
    "values": {**values_file(), "values": ...},
    "values[0].key": file_of_one_value(key=...),
    "values[0].value": file_of_one_value(value=...),
    "learnt": {**weights_file(), "learnt": ...},
    "weights": {**weights_file(), "weights": ...},
    "average": {**weights_file(), "average": ...},
    "[0].state": [{**MATCHBOX_AI_ENTRY, "state": ...}],
    "[0].beads": [{**MATCHBOX_AI_ENTRY, "beads": ...}],
    "memory": {"level": 1, "memory": ...},
    f"{MEMORY_PLACE}.validMoves": hexapawn_rl_file(validMoves=...),
    f"{MEMORY_PLACE}.confidenceScores": hexapawn_rl_file(confidenceScores=...),
    "games": {"players": []},
    "games[0].moves": {"games": [{"winner": 1}]},
    "games[0].winner": {"games": [{"moves": ["b1b2"]}]},
}


def without_missing_fields(file: Any) -> Any:
    """Return the file without the fields that have the value ``...``."""
    if isinstance(file, dict):
        return {name: without_missing_fields(value) for name, value in file.items() if value is not ...}
    return [without_missing_fields(item) for item in file] if isinstance(file, list) else file


@pytest.mark.parametrize("place", FILES_WITHOUT_A_FIELD)
def test_refusal_of_a_missing_field_names_the_place(place: str) -> None:
    form = "hexapawn-rl" if place == "memory" else "games" if place.startswith("games") else ""
    error = error_of_file(without_missing_fields(FILES_WITHOUT_A_FIELD[place]), form)
    assert (error.where, error.code) == (place, "missing")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(
    "file",
    [native_text(side=0.125), file_of_one_value(value=0.125), weights_file(weights=[0.125])],
    ids=["box", "value", "w"],
)
def test_numbers_that_json_does_not_have_are_refused(file: Any, number: str) -> None:
    text = (file if isinstance(file, str) else json.dumps(file)).replace("0.125", number)
    assert error_of_file(text).code == "constant"


# Refusals of one format alone: the file, and a pattern of the error's text

REFUSED_FILES: dict[str, tuple[Any, str]] = {
    "empty": ("", "empty"),
    "blank": (" \n ", "empty"),
    "cut off": ('{"format": "beadbox-machine",\n"side": ', r"^line 2, column 9: This is not JSON"),
    "nested": ("[" * 100_000, "nested too deeply"),
    "long number": ('{"memory": ' + "9" * 5000 + "}", "too long"),
    "infinite": ('{"memory": Infinity}', "The site cannot keep the number Infinity"),
    "twice": ('{"memory": {}, "memory": {}}', "'memory': This name stands twice"),
    "another object": ('{"hello": 1}', r"^format: Please give 'beadbox-machine', not None"),
    "version": (native_text(version=2), r"^version: Please give 1, not 2"),
    "game": (native_text(game="go"), r"^game: 'go' is not a game"),
    "side": (native_text(side=2), r"^side: Please give a number from 0 to 1, not 2"),
    "rule": (native_text(rule={"cap": 0}), r"^rule\.cap: Please give a number from"),
    "rule unknown": (native_text(rule={"luck": 1}), r"^rule\.luck: There is no such field"),
    "rule no object": (native_text(rule=[]), r"^rule\.rule: Please give an object"),
    "rule unknown with a colon": (native_text(rule={"a: b": 1}), r"^rule\.a: b: There is no such field"),
    "field unknown": (native_text(luck=1), r"^There is no field 'luck'. The fields are .* side, boxes, totals\.$"),
    "field unknown by its case": (native_text(Boxes=[]), r"^There is no field 'Boxes'. "),
    "field of machines with values": (native_text(epsilon=0.1), r"^There is no field 'epsilon'. "),
    "field without a name": (native_text(**{"": 1}), r"^There is no field ''. "),
    "field with a long name": (native_text(**{"x" * 999: 1}), r"^There is no field 'x+…"),
    "totals unknown": (
        native_text(totals={"lost": 1}),
        r"^totals: There is no field 'lost'. The fields are games, ",
    ),
    "box unknown": (
        native_text_with_boxes({}, {"start": [4] * 5}),
        r"^boxes\[1\]: There is no field 'start'. The fields are",
    ),
    "totals": (native_text(totals={"games": 3, "wins": 1}), r"^totals\.games: Wins, .* add up to 1, not 3"),
    "name": (native_text(name="x" * 81), r"^name: Please use at most 80 characters, not 81"),
    "position": (
        native_text_with_boxes({}, {"position": "XXXXXXXXX"}),
        r"^boxes\[1\]\.position: 'XXXXXXXXX' has 9 crosses",
    ),
    "position turned": (
        native_text_with_boxes({"position": "X........"}),
        r"^boxes\[0\]\.position: The board 'X\.+' is printed .* '\.+X'",
    ),
    "position twice": (native_text_with_boxes({}, {}), r"^boxes\[1\]\.position: The box .* stands twice"),
    "other side": (
        native_text_with_boxes({"position": "........."}),
        r"^boxes\[0\]: The other side is to move in '\.+'",
    ),
    "slots": (native_text_with_boxes({"beads": [1, 2]}), r"^boxes\[0\]: The box '\.+X' needs 5 numbers"),
    "draws": (native_text_with_boxes({"draws": [1]}), r"^boxes\[0\]: The box '\.+X' needs 5 numbers"),
    "above the cap": (
        native_text(rule={"cap": 9}, boxes=[{**BOX_ENTRY, "beads": [10] * 5}]),
        r"^boxes\[0]: The number 10 is above the rule's cap",
    ),
    "below the floor": (
        native_text(rule={"floor": 1}, boxes=[{**BOX_ENTRY, "beads": [1, 0, 1, 1, 1]}]),
        r"^boxes\[0]: The number 0 is below the rule's floor",
    ),
    "states empty": ("[]", "no box"),
    "state unknown": (matchbox_ai_text(state="X.......Z"), r"^\[1\]: 'X\.+Z' is not nine characters"),
    "state too long": (
        matchbox_ai_text(state="X" * 200, beads=[0] * 200, totalBeads=0),
        r"^\[1\]: The text .* is not a position",
    ),
    "state over": (matchbox_ai_text(state="XXXOO....", beads=[0] * 9, totalBeads=0), r"^\[1\]: The game is over"),
    "state of a wrong type": (matchbox_ai_text(state=7), r"^\[1\]\.state: Please give a text or a list"),
    "beads too few": (
        matchbox_ai_text(beads=[1] * 8),
        r"^\[1\]\.beads: Please give one number for each of the 9 squares, not 8",
    ),
    "total": (matchbox_ai_text(totalBeads=31), r"^\[1\]\.totalBeads: The beads add up to 32, not 31"),
    "state unknown field": (matchbox_ai_text(colour=1), r"^\[1\]: There is no field 'colour'. The fields are state, "),
    "memory unknown": (
        hexapawn_rl_text(["2"], [1], ties=1),
        r"^There is no field 'ties'. The fields are name, memory",
    ),
    "memory unknown in a position": (
        '{"memory": {"X........": {"validMoves": ["2"], "confidenceScores": [1], "moves": 1}}}',
        r"^memory\['X\.+'\]: There is no field 'moves'.",
    ),
    "memory empty": ('{"memory": {}}', "no box"),
    "moves and scores": (
        hexapawn_rl_text(["1"], []),
        r"^memory\['X\.+'\]\.confidenceScores: Please give one number for each of the 1 moves, not 0",
    ),
    "move unknown": (hexapawn_rl_text(["b1b2"], [1]), r"^memory\['X\.+'\]: 'b1b2' is not a square"),
    "move taken": (hexapawn_rl_text(["1"], [1]), r"^memory\['X\.+'\]: The move '1' is not legal"),
    "move twice": (
        hexapawn_rl_text(["2", "2"], [1, 1]),
        r"^memory\['X\.+'\]\.validMoves\[1\]: The move '2' stands twice",
    ),
    "score of what is out of play": (
        hexapawn_rl_text(["2"], [0]),
        r"confidenceScores\[0\]: Please give a number from 1 to [\d,]+, not 0",
    ),
    "score above its cap": (
        hexapawn_rl_text(["a1a2", "b1b2"], [100, 101], "ooo---OOO"),
        r"^memory\['ooo---OOO'\]\.confidenceScores: HexapawnRL has at most 100 beads for a move, not 101",
    ),
    "hexapawn over": (hexapawn_rl_text([], [], "-oOo--O-O"), r"^memory\['-oOo--O-O'\]: The game is over"),
    "hexapawn move": (
        hexapawn_rl_text(["b1b3"], [1], "ooo---OOO"),
        r"^memory\['ooo---OOO'\]: The move 'b1b3' is not legal",
    ),
    "hexapawn size": (hexapawn_rl_text(["b1b2"], [1], "ooo---OO"), r"No game has the position 'ooo---OO'"),
    "csv heading": ("position,beads\n", r"^line 1: The heading has no column move"),
    "csv column twice": ("position,move,beads,beads\n", r"^line 1: The heading names a column twice"),
    "csv empty": ("position,move,beads\n", "no box"),
    "csv short": (
        "position,move,beads\n.........,1,4\n.........,2\n",
        r"^line 3: This line has 2 fields, and the heading has 3",
    ),
    "csv beads": ("position,move,beads\n.........,1,four\n", r"^line 2, beads: Please give a whole number, not 'four'"),
    "csv move twice": ("position,move,beads\n.........,1,4\n.........,1,4\n", r"^line 3: The move '1' .* twice"),
    "csv position": ("position,move,beads\n.........,1,4\nZ........,1,4\n", r"^line 3: 'Z\.+' is not nine"),
    "csv quotes": ('position,move,beads\n"........,1,4\n', r"^line 2: This is not CSV"),
    "csv long field": ("position,move,beads\n" + "X" * 200_000 + ",1,4\n", r"^line 2: This is not CSV"),
    "matchbox: too many crosses": (
        matchbox_ai_text(state="XXXO.....", beads=[0] * 9, totalBeads=0),
        "has 3 crosses and 1 noughts",
    ),
    "matchbox: both sides": (
        json.dumps([MATCHBOX_AI_ENTRY, {"state": "_________", "beads": [4] * 9}]),
        r"^\[1\]: Here it is the turn of crosses, and in \[0\] of noughts\. A machine plays one side\. Say which one",
    ),
    "csv: ended game of quotes": (f"{CSV_HEADING}XXXOO....,9,4\n", r"^line 2: The game is over in"),
    "csv: thousands or decimals": (
        f"{CSV_HEADING}{CSV_ROW_START}4.000\n",
        r"^line 2, beads: The text '4\.000' may mean 4 or 4000. Write it without",
    ),
    "csv: thousands with a comma": (
        f'{CSV_HEADING}{CSV_ROW_START}"4,000"\n',
        r"^line 2, beads: The text '4,000' may mean 4 or 4000",
    ),
    "csv: thousands with a blank": (
        f"{CSV_HEADING}{CSV_ROW_START}4 000\n",
        r"^line 2, beads: Please give a whole number, not '4 000'",
    ),
    "csv: thousands with a hard blank": (
        f"{CSV_HEADING}{CSV_ROW_START}4\u00a0000\n",
        r"^line 2, beads: Please give a whole number, not '4\\xa0000'",
    ),
    "csv: a fraction": (
        f"{CSV_HEADING}{CSV_ROW_START}4.5\n",
        r"^line 2, beads: Please give a whole number, not '4\.5'",
    ),
    "csv: a rounded number": (
        f"{CSV_HEADING[:-1]},draws\n{CSV_ROW_START}4,1.15E+18\n",
        r"^line 2, draws: Please give a whole number, not '1\.15E",
    ),
    "csv: a formula": (
        f"{CSV_HEADING}{CSV_ROW_START}=2+2\n",
        r"^line 2, beads: Please give a whole number, not '=2\+2'",
    ),
    "csv: a formula that hides a number": (
        f'{CSV_HEADING}{CSV_ROW_START}"=""4"""\n',
        r"^line 2, beads: Please give a whole number, not '=\"4\"'",
    ),
    "csv: a formula that failed": (f"{CSV_HEADING}#NAME?,1,4\n", r"^line 2: No game has the position '#NAME\?'"),
    "csv: a number below zero": (
        f"{CSV_HEADING}{CSV_ROW_START}-4\n",
        r"^line 2, beads: Please give a whole number, not '-4'",
    ),
    "csv: a percentage": (f"{CSV_HEADING}{CSV_ROW_START}4%\n", r"^line 2, beads: Please give a whole number, not '4%'"),
    "csv: no number": (f"{CSV_HEADING}{CSV_ROW_START}\n", r"^line 2, beads: Please give a whole number, not ''"),
    "csv: a decimal comma among commas": (
        f"{CSV_HEADING}{CSV_ROW_START}4,0\n",
        r"^line 2: This line has 4 fields, and the heading has 3",
    ),
    "csv: a decimal comma under no name": (
        f"{CSV_HEADING[:-1]},\n{CSV_ROW_START}4,0\n",
        r"^line 2: Column 4 holds '0', but has no name",
    ),
    "csv: the line after empty rows": (
        f"sep=,\n\n{CSV_HEADING}\n,,\n{CSV_ROW_START}x\n",
        r"^line 6, beads: Please give a whole number, not 'x'",
    ),
    "csv: another separator": (
        CSV_HEADING.replace(",", "|"),
        r"^line 1: The heading has no column position, move, beads. A comma, a",
    ),
    "csv: no heading": (f"{CSV_ROW_START}4\n", r"^line 1: The heading has no column position"),
    "csv: nothing but separators": (",,,\n;;\n", r"^line 2: The heading has no column position"),
    "weights: too few": (weights_file(weights=[0.0] * 600), r"^weights: Please give 601 weights, not 600\.$"),
    "weights: too fine": (weights_file(weights=[0.1] * 601), r"^weights: Weight 0 is 0\.1, "),
    "weights: too large": (weights_file(weights=[1e300] * 601), r"^weights: Weight 0 is 1e\+300\. Please give"),
    "weights: unknown": (weights_file(luck=1), "^There is no field 'luck'"),
    "weights: removed": (weights_file(totals={"removed": 0}), "^totals: There is no field 'removed'"),
    "weights: a mean that the rule has not": (
        weights_file(rule={**VALUE_RULE.to_json(), "average_games": 0.0}),
        "^There is no field 'average'",
    ),
    "weights: a game it does not see": (weights_file(game="romgon-turn"), "^rule: A machine of this kind cannot play"),
    "weights: no such features": (
        weights_file(rule={**VALUE_RULE.to_json(), "features": "squares-2"}),
        r"^rule\.features: ",
    ),
    "weights: other features": (
        weights_file(rule={**VALUE_RULE.to_json(), "features": "full-1"}),
        "^weights: Please give 765 weights, not 601",
    ),
    "values: a side": (values_file(side=0), "^side: A machine that keeps values plays either side and has no boxes"),
    "values: boxes": (values_file(boxes=[]), "^boxes: A machine that keeps values plays either side and has no boxes"),
    "values: too many": (
        values_file(values=[0] * (MAX_VALUES + 1)),
        "^values: Please give at most 20,000 entries, not 20,001",
    ),
    "values: another game": (values_file(game="hexapawn"), "^rule: A machine of this kind cannot play Hexapawn"),
    "values: no game": (values_file(game="romgon-9"), "^game: "),
    "values: no kind": (values_file(rule={"kind": "menace"}), r"^rule\.kind: Please choose one of these"),
    "values: a rule out of range": (values_file(rule={"kind": "q-learning", "epsilon": 2}), r"^rule\.epsilon: "),
    "values: a rule of hundreds of digits": (
        values_file(rule={"kind": "q-learning", "epsilon": 10**400}),
        r"^rule\.epsilon: ",
    ),
    "values: a rule of a long text": (
        values_file(rule={"kind": "q-learning", "epsilon": "x" * 9000}),
        r"^rule\.epsilon: ",
    ),
    "values: a rule with half a pair": (values_file(rule={"kind": "q-learning", "\ud800": 1}), r"^rule\.\\ud800: "),
    "values: a rule of half pairs": (
        values_file(rule={"\ud800" * 9: 1}),
        r"^rule\.(\\ud800){6}\\udd?8?: |^rule\.\\ud800",
    ),
    "values: the rule of boxes": (values_file(rule={}), "^rule: A machine of this kind cannot play Romgon"),
    "values: epsilon above its beginning": (
        values_file(epsilon=0.3),
        r"^epsilon: Please give a number from 0\.05 to 0\.2, not 0\.3",
    ),
    "values: epsilon below its floor": (values_file(epsilon=0.01), "^epsilon: Please give a number from"),
    "values: unknown": (values_file(luck=1), "^There is no field 'luck'"),
    "values: removed": (values_file(totals={"removed": 1}), "^totals: There is no field 'removed'"),
    "values: totals": (values_file(totals={"games": 5}), r"^totals\.games: Wins, draws and losses add up to 0, not 5"),
    "values: entry unknown": (file_of_one_value(start=1), r"^values\[0\]: There is no field 'start'"),
    "values: entry of half pairs": (
        file_of_one_value(**{"\ud800" * 99: 1}),
        r"^values\[0\]: There is no field '\\ud800",
    ),
    "values: key twice": (
        values_file(values=[{"key": KEYS[0], "value": n} for n in (1, 1)]),
        r"^values\[1\]\.key: The key .* stands twice in the file",
    ),
    **{
        f"values: key {name}": (file_of_one_value(key=key), r"^values\[0\]\.key: The (text|site) .*")
        for name, key in {
            "of no action": "start#" + KEY_PIECES,
            "of other marks": KEYS[0].replace(":", ";"),
            "of a piece too many": KEYS[0] + "|6-6:scU",
            "of another action": f"3-3-3-4#{KEY_PIECES}",
            "of no move": f"0-0-0-0#{KEY_PIECES}",
            "of another face": KEYS[0].replace("twU", "twF"),
            "of a turned piece": KEYS[0].replace("twU", "twU@2"),
            "of a piece turned by nothing": KEYS[0].replace("twU", "twU@0"),
            "of a piece twice": KEYS[0].replace("twU", "swU"),
            "of a piece too few": KEYS[0].replace("3-0:rwU|", ""),
            "in another order": f"{KEYS[0].partition('#')[0]}#{'|'.join(reversed(KEY_PIECES.split('|')))}",
        }.items()
    },
    "too large": (b" " * (MAX_BYTES + 1), "^The file has 4,194,305 bytes. It may have at most 4,194,304"),
}


@pytest.mark.parametrize(("file", "reason"), REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_each_refusal_of_a_format_has_place_and_reason(file: Any, reason: str) -> None:
    assert re.search(reason, str(error_of_file(file)))


WON_GAME = {"moves": ["b1b2", "a3a2", "b2c3"], "winner": 1}
REFUSED_GAMES: dict[str, tuple[Any, str]] = {
    "black for white": ({**WON_GAME, "winner": 2}, r"^games\[1\]\.winner: In .* white pawns have won"),
    "a draw for white": ({**WON_GAME, "winner": "draw"}, "white pawns have won"),
    "a winner true": ({**WON_GAME, "winner": True}, 'Please give 1, 2 or "draw", not True'),
    "a winner in words": ({**WON_GAME, "winner": "1"}, "Please give 1, 2 or \"draw\", not '1'"),
    "given up and won": ({"moves": ["b1b2"], "winner": 2}, "the turn of black pawns: that side gave up and lost"),
    "given up and drawn": ({"moves": ["b1b2"], "winner": "draw"}, "the turn of black pawns"),
    "an illegal move": ({"moves": ["b1b3"], "winner": 1}, r"^games\[1\]\.moves\[0\]: 'b1b3' is not a legal move"),
    "no move": ({"moves": ["b1"], "winner": 1}, r"moves\[0\]: 'b1' is not two squares"),
    "a move too many": ({"moves": [*WON_GAME["moves"], "a2a1"], "winner": 1}, r"moves\[3\]: The game is over"),
    "too many moves": ({"moves": ["b1b2"] * 1001, "winner": 1}, "moves: Please give at most 1,000 entries, not 1,001"),
}


@pytest.mark.parametrize(("game", "reason"), REFUSED_GAMES.values(), ids=REFUSED_GAMES)
def test_impossible_recorded_games_are_refused(game: Any, reason: str) -> None:
    assert re.search(reason, str(error_of_file({"games": [WON_GAME, game]}, "games")))


CSV_TABLE = f"{CSV_HEADING}{CSV_ROW_START}4\n"


def zip_archive(*names: str, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name in names:
            archive.writestr(name, "x")
    return out.getvalue()


CSV_ADVICE = r"Save the table as CSV and bring that file in\.$"
UNPACK_ADVICE = r"Unpack it and bring in the file inside\.$"
DOWNLOAD_ADVICE = r"Download the file itself, or save the table as CSV\.$"
OTHER_FILES = {
    "xlsx of Excel": (
        zip_archive("[Content_Types].xml", "_rels/.rels", "xl/workbook.xml"),
        rf"\(\.xlsx\)\. {CSV_ADVICE}",
    ),
    "xlsx of another program": (zip_archive("docProps/app.xml", "xl/workbook.xml"), rf"\(\.xlsx\)\. {CSV_ADVICE}"),
    "ods": (zip_archive("mimetype", "content.xml", method=zipfile.ZIP_STORED), rf"\(\.ods\)\. {CSV_ADVICE}"),
    "numbers": (zip_archive("Index/Document.iwa"), rf"\(\.numbers\)\. {CSV_ADVICE}"),
    "zip": (zip_archive("machine.csv"), rf"zip archive\. {UNPACK_ADVICE}"),
    "zip without files": (zip_archive(), rf"zip archive\. {UNPACK_ADVICE}"),
    "zip cut off": (zip_archive("machine.csv")[:40], rf"zip archive\. {UNPACK_ADVICE}"),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, rf"\(\.xls\)\. {CSV_ADVICE}"),
    "gz": (gzip.compress(CSV_TABLE.encode()), rf"\(\.gz\)\. {UNPACK_ADVICE}"),
    "bz2": (b"BZh91AY&SY", rf"compressed\. {UNPACK_ADVICE}"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3", rf"a PDF document\. {CSV_ADVICE}"),
    "rtf": (b"{\\rtf1\\ansi", rf"\(\.rtf\)\. {CSV_ADVICE}"),
    "html": (b"\xef\xbb\xbf\n<!DOCTYPE html>\n<HTML><body>", rf"a web page \(HTML\)\. {DOWNLOAD_ADVICE}"),
    "html in UTF-16": ("\ufeff<html><table>".encode("utf-16-le"), rf"a web page \(HTML\)\. {DOWNLOAD_ADVICE}"),
    "xml": (b'<?xml version="1.0"?><Workbook>', rf"XML or HTML\. {DOWNLOAD_ADVICE}"),
    "UTF-16 without its mark": (
        CSV_TABLE.encode("utf-16-le"),
        r"^line 1: This line holds a NUL character. Save the file as UTF-8",
    ),
    "UTF-16 cut off": (b"\xff\xfe\x00", r"^line 1: This is not UTF-16 text. Save the file as UTF-8"),
    "the encoding of a country": (
        "position,notes\nx,ü\n".encode("cp1252"),
        r"^line 2: This is not UTF-8 text. Save the file as",
    ),
}


@pytest.mark.parametrize("form", ["", *FORMATS])
@pytest.mark.parametrize(("content", "reason"), OTHER_FILES.values(), ids=OTHER_FILES)
def test_files_of_other_kinds_get_a_helpful_refusal(content: bytes, reason: str, form: str) -> None:
    assert re.search(reason, str(error_of_file(content, form)))


@pytest.mark.parametrize("form", ["native", "hexapawn-rl"])
def test_reading_stops_at_the_first_mistake_of_a_list(form: str) -> None:
    mistakes = [None] * 200_000
    file = (
        file_of_one_box(beads=mistakes)
        if form == "native"
        else hexapawn_rl_file(validMoves=["2"] * 200_000, confidenceScores=mistakes)
    )
    assert error_of_file(file, form).where.endswith("[0]")


def test_file_checks_are_imported_on_first_use() -> None:
    program = (
        "import django, sys; django.setup();"
        "from django.urls import get_resolver; get_resolver().url_patterns;"
        "import menace_site.asgi, learning.tasks, beadbox.learners.formats as formats;"
        "from beadbox.learners.exchange.document import ImportOptions;"
        "assert 'pydantic' not in sys.modules;"
        "from contextlib import suppress\n"
        "with suppress(ValueError): formats.machine_read(b'[]', ImportOptions())\n"
        "assert 'pydantic' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
