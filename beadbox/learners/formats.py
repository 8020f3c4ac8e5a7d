"""Every format that machines travel in. A new one is a module of a learner's ``exchange`` and an entry here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beadbox.learners.boxes.exchange import csv_table, hexapawn_rl, matchbox_ai, native
from beadbox.learners.boxes.exchange.document import MachineData
from beadbox.learners.boxes.presets import PRESETS
from beadbox.learners.boxes.rule import BoxRule
from beadbox.learners.exchange import json_text
from beadbox.learners.exchange.document import FORMAT, Document, Wanted, name_or, name_require
from beadbox.learners.exchange.errors import ExchangeError
from beadbox.learners.exchange.file_text import text_of
from beadbox.learners.exchange.values import values_machine
from beadbox.learners.q_learning.rule import QRule
from beadbox.learners.registry import rule_read
from beadbox.learners.rule import RuleError
from beadbox.rules.errors import UnknownGameError
from beadbox.rules.game import AnyGame
from beadbox.rules.registry import game_get

RULES_TO_CHOOSE = PRESETS
"""The presets whose rule a file without a rule may follow, by slug: such a file holds boxes."""
READERS: dict[str, Callable[[dict[str, Any], AnyGame, Any, dict[str, Any], bool], Document]] = {
    BoxRule.kind: native.boxes_machine,
    QRule.kind: values_machine,
}
"""How what a file holds beyond its head is read, by the kind of its rule: (the file, game, rule, head, whether it may
be larger than those of accounts). A kind that is registered (``learning/kinds``) brings its own."""


def native_load(text: str, wanted: Wanted) -> Document:
    """The machine that a file holds. Its rule, game and side are its own: of what is wanted, only the name counts.

    Raises:
        ExchangeError: something in it is wrong.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    fields = json_text.parse(text)
    head = schemas.read(schemas.Head, fields)
    try:
        game, rule = game_get(head.game), rule_read(head.rule)
    except UnknownGameError as error:
        raise ExchangeError("game", "game", problem=error.sentence) from None
    except RuleError as error:
        problem = str(error).removeprefix(f"{error.field}: ")
        raise ExchangeError(f"rule.{error.field}", "rule", problem=problem) from None
    if not rule.fits(game):
        raise ExchangeError("rule", "cannot_play", game=game.name)
    kept: dict[str, Any] = {
        "name": name_or(head.name, wanted) or f"Imported: {game.name}",
        "description": head.description,
        "preset": head.preset,
        "learns": head.learns,
    }
    return READERS[rule.kind](fields, game, rule, kept, wanted.any_size)


@dataclass(frozen=True, slots=True)
class Format:
    """How machines are written in one format, and how they are read."""

    slug: str
    name: str
    summary: str
    suffix: str
    media_type: str
    dump: Callable[[MachineData], str]
    load: Callable[[str, Wanted], Document]


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
    """The format with this slug.

    Raises:
        ExchangeError: there is none.
    """
    if slug not in FORMATS:
        raise ExchangeError("format", "choice", choices=", ".join(FORMATS))
    return FORMATS[slug]


def machine_read(content: bytes, wanted: Wanted, slug: str = "") -> Document:
    """The machine in a file; the format is told by the file itself when nobody names it.

    Raises:
        ExchangeError: the file is too large, no text, of no known format, or wrong in some place.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    schemas.read(schemas.Named, {"name": wanted.name})
    name_require(wanted.name)
    text = text_of(content, any_size=wanted.any_size)
    return (format_get(slug) if slug else _format_of(text)).load(text, wanted)


def _format_of(text: str) -> Format:
    """The format of a text, by how it begins and what it names."""
    match text.lstrip()[0]:
        case "[":
            return FORMATS["matchbox-ai"]
        case "{":
            # A full reading follows; here a look for the name that only save files of that program have is enough.
            return FORMATS["native" if f'"{FORMAT}"' in text or '"memory"' not in text else "hexapawn-rl"]
        case _:
            return FORMATS["csv"]
