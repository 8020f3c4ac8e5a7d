"""The contents of a file of any kind of machine, and the choices of an import."""

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
"""Maximum length of the text of a position or a move, in characters."""


class Document(Protocol):
    """The complete state of a machine of any kind, without its history: the result of reading a file.

    ``preset`` is the slug of the preset, or empty for a rule that is no preset. ``wins``, ``draws`` and ``losses``
    count games. ``random_state`` is the state of the machine's random source; only files of the library have one.
    """

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
    @property
    def random_state(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The choices of an import; the file decides where a choice is missing."""

    game: AnyGame | None = None
    side: Side | None = None
    rule: Rule | None = None
    preset: str = ""
    name: str = ""
    any_size: bool = False
    """Whether the file may have any size, like the operator's own files."""


def name_or(name_in_file: str, options: ImportOptions) -> str:
    """Return the name in the options, or else the name in the file; empty if both are missing.

    Raises:
        ExchangeError: the name in the file cannot be shown.
    """
    if not options.name:
        name_require(name_in_file.strip())
    return options.name or name_in_file.strip()


def name_require(name: str) -> None:
    """Refuse a name that cannot be shown; an empty name is accepted.

    Raises:
        ExchangeError: the name cannot be shown.
    """
    if name and (problem := name_problem(name)):
        raise ExchangeError("name", "name", problem=problem)


def native_text(
    data: Document, name: str, lines: str, *, side: int | None = None, removed: int | None = None, **more: Any
) -> str:
    """Return a native file: the common head, the fields ``more`` of this kind, and the list ``name``.

    ``lines`` is the text between the brackets of this JSON list. A file describes the present state of a machine and
    not its history, so it omits the ledger.
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
        **({"random_state": data.random_state} if data.random_state else {}),
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
