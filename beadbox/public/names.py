"""Look-up of names in tables, with a suggestion where a name is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from beadbox.errors import UnknownNameError
from beadbox.names import MAX_SLUG_CHARACTERS, name_near

ValueT = TypeVar("ValueT")


class Names(Mapping[str, ValueT]):
    """A read-only table by name. An unknown name raises an error that suggests the most similar one.

    Args:
        noun: the kind of name, for the message, such as "game".
        values: the table, which is not copied: names that are registered later are found too.
    """

    def __init__(self, noun: str, values: Mapping[str, ValueT]) -> None:
        self._noun = noun
        self._values = values

    def __getitem__(self, name: str) -> ValueT:
        """Return the value with this name.

        Raises:
            UnknownNameError: there is no such name.
        """
        if isinstance(name, str) and name in self._values:
            return self._values[name]
        text = str(name)[:MAX_SLUG_CHARACTERS]
        near = name_near(text, self._values)
        advice = f"Did you mean {near!r}?" if near else f"There are: {', '.join(self._values)}."
        raise UnknownNameError(f"{text!r} is no {self._noun}. {advice}")

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{self._noun}s: {', '.join(self)}>"
