"""What a file of any kind of machine says, and what is wanted of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.rule import Rule
from beadbox.names import name_problem
from beadbox.rules.game import AnyGame
from beadbox.rules.outcome import Side

FORMAT = "beadbox-machine"
"""The name of the format in native files."""
VERSION = 1
MAX_TEXT = 100
"""The longest text of a position or a move."""


class Document(Protocol):
    """Everything a machine of any kind is, its past apart: what a file has been read as."""

    @property
    def game(self) -> AnyGame: ...
    @property
    def rule(self) -> Rule: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def preset(self) -> str: ...
    @property
    def learns(self) -> bool: ...
    @property
    def wins(self) -> int: ...
    @property
    def draws(self) -> int: ...
    @property
    def losses(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the person who imports has said; what is left out, the file decides."""

    game: AnyGame | None = None
    side: Side | None = None
    rule: Rule | None = None
    preset: str = ""
    name: str = ""
    any_size: bool = False
    """The operator's own file, which may be as large as it likes."""


def name_or(own: str, wanted: Wanted) -> str:
    """The name that was asked for, else that in the file; empty if there is neither.

    Raises:
        ExchangeError: it is no name.
    """
    if not wanted.name:
        name_require(own.strip())
    return wanted.name or own.strip()


def name_require(name: str) -> None:
    """Refuse a name that cannot be shown.

    Raises:
        ExchangeError: it cannot.
    """
    if name and (problem := name_problem(name)):
        raise ExchangeError("name", "name", problem=problem)


def native_text(
    data: Document, name: str, lines: str, *, side: int | None = None, removed: int | None = None, **more: Any
) -> str:
    """A native file: the head that every kind has, ``more`` that this kind has, and ``lines`` under a name.

    A file says what a machine *is*, not how it came to be so: the ledger stays behind.
    ``lines`` are what stands between the brackets of a JSON list.
    """
    head = {
        "format": FORMAT,
        "version": VERSION,
        "game": data.game.slug,
        **({} if side is None else {"side": side}),
        "name": data.name,
        "description": data.description,
        "preset": data.preset,
        "rule": data.rule.to_json(),
        "learns": data.learns,
        **more,
        "totals": {
            "games": data.wins + data.draws + data.losses,
            "wins": data.wins,
            "draws": data.draws,
            "losses": data.losses,
            **({} if removed is None else {"removed": removed}),
        },
    }
    return f'{json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "{name}": [{lines}\n ]\n}}\n'
