"""Dictionaries by name that suggest a similar name if a name is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from beadbox.errors import UnknownNameError
from beadbox.names import MAX_SLUG_CHARACTERS, name_near

ValueT = TypeVar("ValueT")


class Names(dict[str, ValueT]):
    """A dictionary by name. An unknown name raises an error that suggests the most similar known name.

    Args:
        noun: the kind of name, for the message, such as "game".
        values: the values by name.

    >>> import beadbox as bb
    >>> [name for name, opponent in bb.opponents.items() if opponent.plays("hexapawn")]
    ['random', 'win-block', 'perfect', 'perfect-fast']
    """

    def __init__(self, noun: str, values: Mapping[str, ValueT]) -> None:
        super().__init__(values)
        self._noun = noun

    def __missing__(self, name: object) -> ValueT:
        text = str(name)[:MAX_SLUG_CHARACTERS]
        near = name_near(text, self)
        advice = f"Did you mean {near!r}?" if near else f"There are: {', '.join(self)}."
        raise UnknownNameError(f"{text!r} is no {self._noun}. {advice}")

    def __repr__(self) -> str:
        return f"<{self._noun}s: {', '.join(self)}>"
