"""Validation of questions from clients as JSON: every field is checked once, here, in the documented order.

The error texts are fixed by section 12 of the rules of Romgon, which all games follow.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from beadbox.names import name_near
from beadbox.rules.outcome import Side

COLOURS = {"white": Side.FIRST, "black": Side.SECOND}
"""Names of the sides that every game accepts."""


EXAMPLE = 'an object such as {"game": "noughts-and-crosses", "board": "X...O...."}'
MAX_SHOWN = 60
"""Characters of a wrong value that an error message repeats."""


class AdviceError(ValueError):
    """An invalid question; the message is one of the fixed texts.

    Args:
        error: the fixed text.
        detail: a sentence that tells the client what to send instead.
    """

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(error)
        self.detail = detail


def read_object(body: bytes, content_type: str = "application/json") -> dict[str, object]:
    """Parse a request body as a JSON object.

    ``content_type`` is the type that the client declared; only the error message depends on it.

    Raises:
        AdviceError: the body is no JSON object, or is nested too deeply to be parsed.
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
    """Return a value of a question for an error message: as JSON, shortened, without the content of collections."""
    text = "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else json.dumps(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def require(fields: Mapping[str, object], *, colour: bool) -> None:
    """Require a board and, if ``colour`` is set, the side that asks.

    Raises:
        AdviceError: a required field is absent or null. An empty board counts as present.
    """
    missing = []
    if fields.get("board") is None:
        missing.append("The field board is missing.")
    if colour and not _colours(fields):
        missing.append("The field playerColor is missing: it is white or black.")
    if missing:
        raise AdviceError("Missing required fields", " ".join(missing))


def read_side(fields: Mapping[str, object], sides: Mapping[str, Side] = COLOURS) -> Side | None:
    """Return the side that asks, from ``playerColor`` or ``currentPlayer``; ``None`` if neither is given.

    Raises:
        AdviceError: a side is unknown, or the two fields name different sides.
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
    """Whether flip mode is on; off by default.

    Raises:
        AdviceError: the field is neither true nor false.
    """
    flip_mode = fields.get("flipModeEnabled")
    if flip_mode is not None and not isinstance(flip_mode, bool):
        raise AdviceError("Invalid flipModeEnabled", f"flipModeEnabled is true or false, not {shown(flip_mode)}.")
    return flip_mode is True


def read_level(fields: Mapping[str, object], levels: Collection[str]) -> str:
    """Return the difficulty; ``hard`` by default.

    Raises:
        AdviceError: the field is none of the levels.
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
