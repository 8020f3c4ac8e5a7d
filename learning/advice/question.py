"""Reading a question that a stranger sends as JSON: every field is checked once, here, in the order that is promised.

The texts of the refusals are fixed: section 12 of the rules of Romgon, which all games follow.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from beadbox.names import name_near
from beadbox.rules.outcome import Side

COLOURS = {"white": Side.FIRST, "black": Side.SECOND}
"""The sides as every game may be told of them."""


EXAMPLE = 'an object such as {"game": "noughts-and-crosses", "board": "X...O...."}'
MAX_SHOWN = 60
"""So many characters of a wrong value are repeated."""


class AdviceError(ValueError):
    """A question that cannot be answered; the message is one of the fixed texts.

    Args:
        error: the fixed text.
        detail: a sentence that says what to send instead.
    """

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(error)
        self.detail = detail


def read_object(body: bytes, content_type: str = "application/json") -> dict[str, object]:
    """The JSON object of a body; ``content_type`` is what its sender calls it, which only the refusal heeds.

    Raises:
        AdviceError: the body is anything else, such as JSON that is nested too deeply to be read.
    """
    send = (
        f"Send {EXAMPLE}."
        if content_type == "application/json"
        else f"Send Content-Type: application/json and {EXAMPLE}."
    )
    if not body:
        raise AdviceError("Invalid JSON", f"The body is empty. {send}")
    try:
        fields = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise AdviceError("Invalid JSON", f"The body is not UTF-8. {send}") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise AdviceError("Invalid JSON", f"The body is not JSON ({error.msg}, {where}). {send}") from None
    except RecursionError:
        raise AdviceError("Invalid JSON", f"The body is nested too deeply. {send}") from None
    except ValueError as error:  # a number of thousands of digits
        raise AdviceError("Invalid JSON", f"The body is not JSON ({shown(str(error))}). {send}") from None
    if not isinstance(fields, dict):
        raise AdviceError("Invalid JSON", f"The body is JSON, but not an object. {send}")
    return fields


def shown(value: object) -> str:
    """A value of a question as a refusal repeats it: as JSON, the beginning of a long one, nothing of what is in it."""
    text = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else json.dumps(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def require(fields: Mapping[str, object], *, colour: bool) -> None:
    """Refuse a question without a board or, where it decides something, without the side that asks.

    Raises:
        AdviceError: a field is absent or null. An empty board is there.
    """
    missing = []
    if fields.get("board") is None:
        missing.append("The field board is missing.")
    if colour and not _colours(fields):
        missing.append("The field playerColor is missing: it is white or black.")
    if missing:
        raise AdviceError("Missing required fields", " ".join(missing))


def read_side(fields: Mapping[str, object], sides: Mapping[str, Side] = COLOURS) -> Side | None:
    """The side that asks, from ``playerColor`` or ``currentPlayer``; ``None`` if neither is given.

    Raises:
        AdviceError: a side there is none of, or two that differ.
    """
    given = {sides.get(colour) if isinstance(colour, str) else None for colour in _colours(fields)}
    if None in given:
        wrong = next(one for one in _colours(fields) if not isinstance(one, str) or one not in sides)
        raise AdviceError("Invalid playerColor", f"playerColor is {' or '.join(sides)}, not {shown(wrong)}.")
    if len(given) > 1:
        raise AdviceError(
            "Invalid playerColor", "playerColor and currentPlayer name different sides. Send one of them."
        )
    return given.pop() if given else None


def read_flip_mode(fields: Mapping[str, object]) -> bool:
    """Whether flip mode is on; off if nothing is said.

    Raises:
        AdviceError: it is neither true nor false.
    """
    flip_mode = fields.get("flipModeEnabled")
    if flip_mode is not None and not isinstance(flip_mode, bool):
        raise AdviceError("Invalid flipModeEnabled", f"flipModeEnabled is true or false, not {shown(flip_mode)}.")
    return flip_mode is True


def read_level(fields: Mapping[str, object], levels: Collection[str]) -> str:
    """The difficulty; ``hard`` if nothing is said.

    Raises:
        AdviceError: it is none of the levels.
    """
    level = fields.get("difficulty")
    if level is None:
        return "hard"
    if not isinstance(level, str) or level not in levels:
        near = name_near(level, levels) if isinstance(level, str) else ""
        more = f" Did you mean {near}?" if near else ""
        raise AdviceError("Invalid difficulty", f"difficulty is one of {', '.join(levels)}, not {shown(level)}.{more}")
    return level


def _colours(fields: Mapping[str, Any]) -> list[Any]:
    return [colour for name in ("playerColor", "currentPlayer") if (colour := fields.get(name)) is not None]


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
