"""Validation of questions that clients send as JSON. Every field is checked once, in the documented order.

The error texts are part of the public interface (docs/ai.md), and are the same for all games.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from beadbox.names import name_near
from beadbox.rules.outcome import Side

COLOURS = {"white": Side.FIRST, "black": Side.SECOND}
"""Sides by the names that every game accepts."""


EXAMPLE = 'an object such as {"game": "noughts-and-crosses", "board": "X...O...."}'
MAX_SHOWN = 60
"""Maximum number of characters of a wrong value in an error message."""


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
    instruction = (
        f"Send {EXAMPLE}."
        if content_type == "application/json"
        else f"Send Content-Type: application/json and {EXAMPLE}."
    )
    if not body:
        raise AdviceError("Invalid JSON", f"The body is empty. {instruction}")
    try:
        fields = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise AdviceError("Invalid JSON", f"The body is not UTF-8. {instruction}") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise AdviceError("Invalid JSON", f"The body is not JSON ({error.msg}, {place}). {instruction}") from None
    except RecursionError:
        raise AdviceError("Invalid JSON", f"The body is nested too deeply. {instruction}") from None
    except ValueError as error:  # for example, a number with thousands of digits
        raise AdviceError("Invalid JSON", f"The body is not JSON ({abbreviated(str(error))}). {instruction}") from None
    if not isinstance(fields, dict):
        raise AdviceError("Invalid JSON", f"The body is JSON, but not an object. {instruction}")
    return fields


def abbreviated(value: object) -> str:
    """Return a wrong value as an error message shows it: short JSON, or only "an object" or "a list"."""
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
    """Return the side that asks, from ``playerColor`` or ``currentPlayer``; ``None`` if neither field is given.

    ``sides`` has the side for each accepted name.

    Raises:
        AdviceError: a side is unknown, or the two fields name different sides.
    """
    named_sides = {sides.get(colour) if isinstance(colour, str) else None for colour in _colours(fields)}
    if None in named_sides:
        wrong_name = next(name for name in _colours(fields) if not isinstance(name, str) or name not in sides)
        raise AdviceError("Invalid playerColor", f"playerColor is {' or '.join(sides)}, not {abbreviated(wrong_name)}.")
    if len(named_sides) > 1:
        raise AdviceError(
            "Invalid playerColor", "playerColor and currentPlayer name different sides. Send one of them."
        )
    return named_sides.pop() if named_sides else None


def read_flip_mode(fields: Mapping[str, object]) -> bool:
    """Whether flip mode is on; off by default.

    Raises:
        AdviceError: the field is neither true nor false.
    """
    flip_mode = fields.get("flipModeEnabled")
    if flip_mode is not None and not isinstance(flip_mode, bool):
        raise AdviceError("Invalid flipModeEnabled", f"flipModeEnabled is true or false, not {abbreviated(flip_mode)}.")
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
        similar = name_near(level, levels) if isinstance(level, str) else ""
        suggestion = f" Did you mean {similar}?" if similar else ""
        raise AdviceError(
            "Invalid difficulty", f"difficulty is one of {', '.join(levels)}, not {abbreviated(level)}.{suggestion}"
        )
    return level


def _colours(fields: Mapping[str, Any]) -> list[Any]:
    return [colour for name in ("playerColor", "currentPlayer") if (colour := fields.get(name)) is not None]


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
