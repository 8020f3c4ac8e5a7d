"""Look-up of names in tables, with a suggestion where a name is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from beadbox.errors import UnknownNameError
from beadbox.names import MAX_SLUG_CHARACTERS, name_near

ValueT = TypeVar("ValueT")


class Names(Mapping[str, ValueT]):
    """A read-only table by name. An unknown name raises an error that suggests the most similar one.

    Args:
        noun: the kind of name, for the message, such as "game".
        values: returns the table; called at every use, because other programs may register more.
    """

    def __init__(self, noun: str, values: Callable[[], Mapping[str, ValueT]]) -> None:
        self._noun = noun
        self._values = values

    def __getitem__(self, name: str) -> ValueT:
        """Return the value with this name.

        Raises:
            UnknownNameError: there is no such name.
        """
        values = self._values()
        if isinstance(name, str) and name in values:
            return values[name]
        raise unknown(self._noun, name, values)

    def __contains__(self, name: object) -> bool:
        return name in self._values()

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def __repr__(self) -> str:
        return f"<{self._noun}s: {', '.join(self)}>"


def unknown(noun: str, name: object, known: Mapping[str, object]) -> UnknownNameError:
    """Return the error for a name that is none of the known ones."""
    text = str(name)[:MAX_SLUG_CHARACTERS]
    near = name_near(text, known)
    advice = f"Did you mean {near!r}?" if near else f"There are: {', '.join(known)}."
    return UnknownNameError(f"{text!r} is no {noun}. {advice}")
