"""What a native file says of a machine that keeps values: its head, and one entry for each value that it has learnt.

Numbers are written so that reading gives the very same ones, bit for bit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from games.rules.base import Game
from learning.core.engines.registry import engine_of
from learning.core.exchange import json_text
from learning.core.exchange.document import whole_number, words
from learning.core.exchange.errors import ExchangeError, shown
from learning.core.machines.rule import Rule

MAX_VALUES = 20_000
"""So many entries fit into the largest file that is read, whatever they are."""
LARGEST = 1_000_000.0
"""Nothing that can be learnt comes near; beyond it sums would lose what a game teaches."""
MAX_KEY = 700


@dataclass(frozen=True, slots=True)
class ValueData:
    """What an action on a board, or a board, is worth, and how often that was learnt."""

    key: str
    value: float
    visits: int


@dataclass(frozen=True, slots=True)
class ValuesData:
    """Everything a machine that keeps values is, its past apart."""

    game: Game[Any, Any]
    rule: Rule
    epsilon: float
    name: str
    values: tuple[ValueData, ...]
    description: str = ""
    preset: str = ""
    learns: bool = True
    wins: int = 0
    draws: int = 0
    losses: int = 0


def values_lines(data: ValuesData) -> str:
    """The entries as JSON, one in a line."""
    return ",".join(
        f"\n  {json.dumps({'key': one.key, 'value': one.value, 'visits': one.visits})}" for one in data.values
    )


KeyProblem = Callable[[str], str]
"""What is wrong with the key of an entry, in words that quote it; nothing if it is one."""


def epsilon_read(fields: dict[str, Any], least: float, most: float) -> float:
    """How often it tries anything: the most if the file says nothing, which is where its rule begins.

    Raises:
        ExchangeError: it is no number between those.
    """
    epsilon = _number(fields.get("epsilon", most), "epsilon")
    if not least <= epsilon <= most:
        raise ExchangeError("epsilon", f"must lie between {least} and {most}, not {epsilon}")
    return epsilon


def engine_key_problem(game: Game[Any, Any]) -> KeyProblem:
    """What is wrong with the key of an action on a board, of a game with an engine."""
    engine = engine_of(game)
    assert engine is not None, "the rule fits the game"

    def problem(key: str) -> str:
        try:
            position, move = engine.entry_read(key)
        except ValueError as error:
            return f"{shown(key)} is no key: {error}"
        found = engine.entry_problem(game, position, move)
        return f"{found}: {shown(key)}" if found else ""

    return problem


def values_read(value: object, key_problem: KeyProblem, *, any_size: bool = False) -> tuple[ValueData, ...]:
    """The entries, by key.

    Raises:
        ExchangeError: one cannot be an entry of such a machine, or they are too many.
    """
    items = json_text.items(value, "values")
    if len(items) > MAX_VALUES and not any_size:
        raise ExchangeError("values", f"has {len(items):,} entries; {MAX_VALUES:,} are the most")
    found: dict[str, ValueData] = {}
    for index, item in enumerate(items):
        one = _value(key_problem, item, f"values[{index}]")
        if one.key in found:
            raise ExchangeError(f"values[{index}].key", f"{shown(one.key)} stands twice in the file")
        found[one.key] = one
    return tuple(found[key] for key in sorted(found))


def _value(key_problem: KeyProblem, item: object, where: str) -> ValueData:
    fields = json_text.members(item, where)
    odd = fields.keys() - {"key", "value", "visits"}
    if odd:
        raise ExchangeError(where, f"has a field {shown(min(odd))}; fields of an entry are key, value, visits")
    key = words(json_text.need(fields, "key", where), f"{where}.key", longest=MAX_KEY)
    if problem := key_problem(key):
        raise ExchangeError(f"{where}.key", problem)
    number = _number(json_text.need(fields, "value", where), f"{where}.value")
    if abs(number) > LARGEST:
        raise ExchangeError(f"{where}.value", f"must lie between {-LARGEST:,.0f} and {LARGEST:,.0f}, not {number}")
    return ValueData(key, number, whole_number(fields.get("visits", 0), f"{where}.visits"))


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ExchangeError(where, f"must be a number, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        number = float("inf")
    if not isfinite(number):
        raise ExchangeError(where, "must be a number that is finite")
    return number
