"""Reading a question that a stranger sends as JSON: every field is checked once, here, in the order that is promised.

The texts of the refusals are fixed: section 12 of the rules of Romgon, which all games follow.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from games.rules.base import Side

COLOURS = {"white": Side.FIRST, "black": Side.SECOND}
"""The sides as every game may be told of them."""


class AdviceError(ValueError):
    """A question that cannot be answered; the message is one of the fixed texts.

    Args:
        error: the fixed text.
        detail: what is wrong in words, where the text alone would not say.
    """

    def __init__(self, error: str, detail: str = "") -> None:
        super().__init__(error)
        self.detail = detail


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a body.

    Raises:
        AdviceError: the body is anything else, such as JSON that is nested too deeply to be read.
    """
    try:
        fields = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # bytes that are no text, and numbers of thousands of digits, are ValueErrors
        raise AdviceError("Invalid JSON") from None
    if not isinstance(fields, dict):
        raise AdviceError("Invalid JSON")
    return fields


def require(fields: Mapping[str, Any], *, colour: bool) -> None:
    """Refuse a question without a board or, where it decides something, without the side that asks.

    Raises:
        AdviceError: a field is absent or null. An empty board is there.
    """
    if fields.get("board") is None or (colour and not _colours(fields)):
        raise AdviceError("Missing required fields")


def read_side(fields: Mapping[str, Any], sides: Mapping[str, Side] = COLOURS) -> Side | None:
    """The side that asks, from ``playerColor`` or ``currentPlayer``; ``None`` if neither is given.

    Raises:
        AdviceError: a side there is none of, or two that differ.
    """
    given = {sides.get(colour) if isinstance(colour, str) else None for colour in _colours(fields)}
    if None in given or len(given) > 1:
        raise AdviceError("Invalid playerColor")
    return given.pop() if given else None


def read_flip_mode(fields: Mapping[str, Any]) -> bool:
    """Whether flip mode is on; off if nothing is said.

    Raises:
        AdviceError: it is neither true nor false.
    """
    flip_mode = fields.get("flipModeEnabled")
    if flip_mode is not None and not isinstance(flip_mode, bool):
        raise AdviceError("Invalid flipModeEnabled")
    return flip_mode is True


def read_level(fields: Mapping[str, Any], levels: Collection[str]) -> str:
    """The difficulty; ``hard`` if nothing is said.

    Raises:
        AdviceError: it is none of the levels.
    """
    level = fields.get("difficulty")
    if level is None:
        return "hard"
    if not isinstance(level, str) or level not in levels:
        raise AdviceError("Invalid difficulty")
    return level


def _colours(fields: Mapping[str, Any]) -> list[Any]:
    return [colour for name in ("playerColor", "currentPlayer") if (colour := fields.get(name)) is not None]


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
