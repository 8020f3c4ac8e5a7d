"""The registry of file formats of machines. A new format needs a module in a learner's ``exchange`` and an entry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beadbox.learners.boxes.exchange import csv_table, hexapawn_rl, matchbox_ai, native
from beadbox.learners.boxes.exchange.document import MachineData
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.exchange import json_text
from beadbox.learners.exchange.document import FORMAT, Document, ImportOptions, name_or, name_require
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.exchange.file_text import text_of
from beadbox.learners.registry import STATES, rule_read
from beadbox.learners.rule import RuleError, UnsuitedRuleError
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.registry import game_get

IMPORT_PRESETS = PRESETS
"""The presets, by slug, that a user can choose for a file without a rule; all such files have boxes."""
READERS: dict[str, Callable[[dict[str, Any], AnyGame, Any, dict[str, Any], bool], Document]] = {
    kind: state.file_read for kind, state in STATES.items()
}
"""Readers of the part of a native file after its head, by the kind of its rule.

Arguments: the file, game, rule, head, and whether the file may be larger than the files of accounts. A kind
outside the library adds its reader when it is registered (``learning/kinds``)."""


def native_load(text: str, options: ImportOptions) -> Document:
    """Return the machine in a native file. Only ``name`` and ``any_size`` of the options have an effect.

    Raises:
        ExchangeError: the file is invalid.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    fields = json_text.parse(text)
    head = schemas.read(schemas.Head, fields)
    try:
        game, rule = game_get(head.game), rule_read(head.rule)
    except UnknownGameError as error:
        raise ExchangeError("game", "game", problem=error.sentence) from None
    except RuleError as error:
        raise ExchangeError(f"rule.{error.field}", "rule", problem=error.problem) from None
    if not rule.fits(game):
        raise ExchangeError("rule", "cannot_play", game=game.name)
    try:
        rule.require_suited(game)
    except UnsuitedRuleError as error:
        raise ExchangeError(f"rule.{error.field}", error.code, problem=error.problem) from None
    kept: dict[str, Any] = {
        "name": name_or(head.name, options) or f"Imported: {game.name}",
        "description": head.description,
        "preset": head.preset,
        "learns": head.learns,
        "random_state": head.random_state,
    }
    return READERS[rule.kind](fields, game, rule, kept, options.any_size)


@dataclass(frozen=True, slots=True)
class Format:
    """A file format of machines, with its writer and its reader."""

    slug: str
    name: str
    summary: str
    suffix: str
    media_type: str
    dump: Callable[[MachineData], str]
    load: Callable[[str, ImportOptions], Document]


FORMATS: dict[str, Format] = {
    form.slug: form
    for form in (
        Format(
            "native",
            "Beadbox",
            "Everything about the machine. Importing the file gives an identical machine.",
            "json",
            "application/json",
            native.dump,
            native_load,
        ),
        Format(
            "matchbox-ai",
            "matchbox-ai",
            "The states that Matchbox AI saves, with the beads of each square. Beads on taken squares are left out. "
            "The machine then learns like Matchbox AI as shipped.",
            "json",
            "application/json",
            matchbox_ai.dump,
            matchbox_ai.load,
        ),
        Format(
            "hexapawn-rl",
            "HexapawnRL",
            "The file that HexapawnRL saves: the moves left in each position, and their scores. "
            "The machine then learns like HexapawnRL as shipped.",
            "json",
            "application/json",
            hexapawn_rl.dump,
            hexapawn_rl.load,
        ),
        Format(
            "csv",
            "Table (CSV)",
            "A table for spreadsheets. Each kind of bead in a box has a row. The machine then learns like Michie 1961.",
            "csv",
            "text/csv",
            csv_table.dump,
            csv_table.load,
        ),
    )
}


def format_get(slug: str) -> Format:
    """Return the format with this slug.

    Raises:
        ExchangeError: there is no such format.
    """
    if slug not in FORMATS:
        raise ExchangeError("format", "choice", choices=", ".join(FORMATS))
    return FORMATS[slug]


def machine_read(content: bytes, options: ImportOptions, slug: str = "") -> Document:
    """Return the machine in a file; without a ``slug`` the format follows from the file itself.

    Raises:
        ExchangeError: the file is too large, not text, of no known format, or invalid in some place.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    schemas.read(schemas.Named, {"name": options.name})
    name_require(options.name)
    text = text_of(content, any_size=options.any_size)
    return (format_get(slug) if slug else _format_of(text)).load(text, options)


def _format_of(text: str) -> Format:
    """Return the format of a text, by its first character and the names in it."""
    match text.lstrip()[0]:
        case "[":
            return FORMATS["matchbox-ai"]
        case "{":
            # A full parse follows, so it is enough to look for the name that only save files of HexapawnRL have.
            return FORMATS["native" if f'"{FORMAT}"' in text or '"memory"' not in text else "hexapawn-rl"]
        case _:
            return FORMATS["csv"]
