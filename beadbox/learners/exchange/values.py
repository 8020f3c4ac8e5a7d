"""What a native file says of a machine that keeps values: its head, and one entry for each value that it has learnt.

Numbers are written so that reading gives the very same ones, bit for bit.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from beadbox.engines.registry import engine_of
from beadbox.learners.exchange.document import native_text
from beadbox.learners.exchange.errors import ExchangeError, shown
from beadbox.learners.rule import Rule
from beadbox.rules.game import AnyGame

MAX_VALUES = 20_000
"""So many entries fit into the largest file that is read, whatever they are."""


@dataclass(frozen=True, slots=True)
class ValueData:
    """What an action on a board, or a board, is worth, and how often that was learnt."""

    key: str
    value: float
    visits: int


@dataclass(frozen=True, slots=True)
class ValuesData:
    """Everything a machine that keeps values is, its past apart."""

    game: AnyGame
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


def dump_values(data: ValuesData) -> str:
    """The file of a machine that keeps values: a head, then one line for each of them."""
    lines = ",".join(
        f"\n  {json.dumps({'key': one.key, 'value': one.value, 'visits': one.visits})}" for one in data.values
    )
    return native_text(data, "values", lines, epsilon=data.epsilon)


KeyProblem = Callable[[str], str]
"""What is wrong with the key of an entry, in words that quote it; nothing if it is one."""


def engine_key_problem(game: AnyGame) -> KeyProblem:
    """What is wrong with the key of an action on a board, of a game with an engine."""
    engine = engine_of(game)
    assert engine is not None, "the rule fits the game"

    def problem(key: str) -> str:
        try:
            position, move = engine.entry_read(key)
        except ValueError as error:
            return f"The text {shown(key)} is not a key. {error}"
        found = engine.entry_problem(game, position, move)
        return f"The site cannot keep {shown(key)}. {found}" if found else ""

    return problem


def values_document(
    fields: dict[str, Any],
    game: AnyGame,
    rule: Rule,
    head: dict[str, Any],
    key_problem: KeyProblem,
    exploring: tuple[float, float],
    *,
    any_size: bool = False,
) -> ValuesData:
    """A machine that keeps values by any key, as its native file has it.

    Args:
        fields: the file, whose head was read.
        game: its game.
        rule: its rule.
        head: name, description, preset, learns.
        key_problem: tells the keys of such a machine from others.
        exploring: how rarely and how often it may try anything; a file that does not say begins with the latter.
        any_size: whether it may hold more values than files of accounts.

    Raises:
        ExchangeError: something in it is wrong.
    """
    from beadbox.learners.exchange import schemas  # only when a file is read

    for name in ("side", "boxes"):
        if fields.get(name) is not None:
            raise ExchangeError(name, "either_side")
    items = fields.get("values")
    if isinstance(items, list) and len(items) > MAX_VALUES and not any_size:
        raise ExchangeError("values", "too_many", max_length=MAX_VALUES, actual_length=len(items))
    file = schemas.read(schemas.ValueFile, fields)
    values: dict[str, ValueData] = {}
    for index, one in enumerate(file.values):
        where = f"values[{index}].key"
        if problem := key_problem(one.key):
            raise ExchangeError(where, "key", problem=problem)
        if one.key in values:
            raise ExchangeError(where, "key_twice", key=shown(one.key))
        values[one.key] = ValueData(one.key, one.value, one.visits)
    least, most = exploring
    epsilon = most if file.epsilon is None else file.epsilon
    if not least <= epsilon <= most:
        raise ExchangeError("epsilon", "between", least=least, most=most, value=epsilon)
    return ValuesData(
        game=game,
        rule=rule,
        epsilon=epsilon,
        values=tuple(values[key] for key in sorted(values)),
        **head,
        **file.totals.counted(),
    )


def values_machine(
    fields: dict[str, Any], game: AnyGame, rule: Any, head: dict[str, Any], any_size: bool
) -> ValuesData:
    """A machine that keeps values of actions, as its file has it (``READERS``).

    Raises:
        ExchangeError: something in it is wrong.
    """
    exploring = rule.epsilon_floor, rule.epsilon
    return values_document(fields, game, rule, head, engine_key_problem(game), exploring, any_size=any_size)
