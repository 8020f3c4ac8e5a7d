"""Errors about files. An error has a place, a code, and the parameters of the code's sentence."""

from __future__ import annotations

from beadbox import field_text
from beadbox.errors import FileError
from beadbox.field_text import rather

MAX_QUOTED_CHARACTERS = 60

_PROBLEM = "{problem}"
"""The sentence of another module, about the rules of a game, a learning rule or a key."""
_AS_CSV = "Save the table as CSV and bring that file in."
_UNPACK = "Unpack it and bring in the file inside."
_DOWNLOAD = "Download the file itself, or save the table as CSV."

SENTENCES: dict[str, str] = {
    # A field of any file, in JSON and in CSV: found by the schemas.
    "missing": field_text.MISSING,
    "unknown_field": field_text.unknown_field(["{known}"], "{name}"),
    "object": rather(field_text.OBJECT, "{value}"),
    "list": rather(field_text.LIST, "{value}"),
    "too_many": rather(field_text.at_most("{max_length:,} entries"), "{actual_length:,}"),
    "text": rather(field_text.TEXT, "{value}"),
    "too_long": rather(field_text.at_most_characters("{max_length}"), "{length}"),
    "characters": "The site cannot keep some characters of this text.",
    "true_or_false": rather(field_text.TRUE_OR_FALSE, "{value}"),
    "number": rather(field_text.NUMBER, "{value}"),
    "finite": "Please give a finite number.",
    "whole_number": rather(field_text.WHOLE_NUMBER, "{value}"),
    "between": rather(field_text.between("{least:,}", "{most:,}"), "{value}"),
    "expected": "Please give {expected}, not {value}.",
    # JSON itself.
    "not_json": "This is not JSON ({problem}).",
    "nested": "The file is nested too deeply.",
    "long_number": "The file holds a number that is too long.",
    "constant": "The site cannot keep the number {constant}.",
    "name_twice": "This name stands twice in one object.",
    # CSV itself.
    "not_csv": "This is not CSV ({problem}).",
    "no_column": "The heading has no column {columns}. A comma, a semicolon or a tab separates columns.",
    "column_twice": "The heading names a column twice.",
    "n_fields": "This line has {n_fields} fields, and the heading has {n_columns}.",
    "nameless_column": "Column {number} holds {value}, but has no name in the heading.",
    "ambiguous_number": "The text {value} may mean {decimal} or {thousands}. Write it without separators.",
    # Files of another kind.
    "file_too_large": "The file has {n_bytes:,} bytes. It may have at most {max_bytes:,}.",
    "empty": "The file is empty.",
    "encoding": "This is not {encoding} text. Save the file as UTF-8.",
    "nul": "This line holds a NUL character. Save the file as UTF-8.",
    "gzip": f"The file is compressed (.gz). {_UNPACK}",
    "compressed": f"The file is compressed. {_UNPACK}",
    "zip": f"The file is a zip archive. {_UNPACK}",
    "spreadsheet": f"The file is a spreadsheet ({{ending}}). {_AS_CSV}",
    "old_office": f"The file is an old Office document (.xls). {_AS_CSV}",
    "pdf": f"The file is a PDF document. {_AS_CSV}",
    "rtf": f"The file is a text document (.rtf). {_AS_CSV}",
    "web_page": f"The file is a web page (HTML). {_DOWNLOAD}",
    "markup": f"The file is XML or HTML. {_DOWNLOAD}",
    # Choices made beside the file, and machines that a format cannot hold.
    "choice": field_text.one_of(["{choices}"]),
    "game_keeps_values": "Machines that play {game} keep values, and this format holds boxes.",
    "machine_keeps_other": "{format} holds boxes, and {machine} keeps {kept}. Save it as native instead.",
    "too_many_values": "{machine} has {n_values:,} values. A file holds at most {max_values:,}.",
    "every_turned_board": "This machine has a box for each turned board, and matchbox-ai one for all. "
    "Save it as native or csv.",
    "move_of_squares": "In {game} a move is more than one square, and this format counts squares.",
    # Sentences of other modules.
    "name": _PROBLEM,
    "game": _PROBLEM,
    "rule": _PROBLEM,
    "unsuited_rule": _PROBLEM,
    "position": _PROBLEM,
    "move": _PROBLEM,
    "key": _PROBLEM,
    "weights": _PROBLEM,
    # Machines.
    "cannot_play": "A machine of this kind cannot play {game}.",
    "either_side": "A machine that keeps values plays either side and has no boxes.",
    "totals": "Wins, draws and losses add up to {total}, not {value}.",
    "key_twice": "The key {key} stands twice in the file.",
    # Boxes.
    "no_box": "The file holds no box.",
    "no_box_of_side": "The file holds no box of {role}.",
    "box_twice": "The box {position} stands twice in the file.",
    "boxes_differ": "The box {box} is the same as {other} of {place}, turned. It holds other beads. "
    "Keep only one of the two.",
    "printed_otherwise": "The board {position} is printed on its box as {printed}.",
    "no_position": "The text {text} is not a position.",
    "no_game": "No game has the position {position}. Please name your game.",
    "unreachable": "No game can reach {position}.",
    "box_of_ended_game": "The game is over in {position}, so there is no box for it.",
    "other_side": "The other side is to move in {position}.",
    "both_sides": "Here it is the turn of {role}, and in {place} of {other}. A machine plays one side. Say which one.",
    "forced_move": "Only one move is possible in {position}. This rule keeps no box for a forced move.",
    "illegal_move": "The move {move} is not legal in {position}.",
    "move_twice": "The move {move} stands twice.",
    "move_of_box_twice": "The move {move} of {position} stands twice.",
    "beads_on_squares": "In {game} a move is more than a square, so beads cannot lie on squares.",
    "n_slots": "The box {position} needs {n_slots} numbers of beads and of draws.",
    "one_for_each": "Please give one number for each of the {wanted} {things}, not {given}.",
    "above_cap": "The number {count} is above the rule's cap of {cap}.",
    "below_floor": "The number {count} is below the rule's floor of {floor}.",
    "too_many_beads": "A box cannot hold so many beads.",
    "beads_sum": "The beads add up to {total}, not {value}.",
    "cap_of_hexapawn_rl": "HexapawnRL has at most {cap} beads for a move, not {count}. "
    "Name the preset of another machine.",
    # Recorded games.
    "ended_game": "The game is over in {position}.",
    "gave_up": "After the last move it is the turn of {role}: that side gave up and lost.",
    "winner": "In {position} {winner} have won.",
    "no_winner": "In {position} nobody has won.",
}
"""The sentence of each code, with the parameters of the refusal in braces."""


class ExchangeError(FileError):
    """A file, or a part of it, was refused.

    Args:
        where: a line (``line 3``) or a path (``boxes[2].beads``); empty for the whole file.
        code: the reason, a key of ``SENTENCES``.
        parameters: the values that the sentence quotes.
    """

    def __init__(self, where: str, code: str, /, **parameters: object) -> None:
        self.where = where
        self.code = code
        self.parameters = parameters
        self.reason: str = SENTENCES[code].format(**parameters)
        super().__init__(f"{where}: {self.reason}" if where else self.reason)


def shown(value: object) -> str:
    """Return the text of a value for a message, in at most :data:`MAX_QUOTED_CHARACTERS` ASCII characters."""
    text = ascii(value)
    return text if len(text) <= MAX_QUOTED_CHARACTERS else f"{text[: MAX_QUOTED_CHARACTERS - 1]}…"
