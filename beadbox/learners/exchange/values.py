"""Native files of machines that keep values: a head, and one entry for each learnt value.

A number that is read from a file has exactly the bits of the number that was written.
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
"""Maximum number of entries of a file. A file of the maximum size has room for them even with the longest keys."""


@dataclass(frozen=True, slots=True)
class ValueData:
    """The learnt value of an action on a board, or of a board, and its number of visits."""

    key: str
    value: float
    visits: int


@dataclass(frozen=True, slots=True)
class ValuesData:
    """The complete state of a machine that keeps values, without its history."""

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
    random_state: str = ""


def dump_values(data: ValuesData) -> str:
    """Return the file of a machine that keeps values: a head, then one line for each value."""
    lines = ",".join(
        f"\n  {json.dumps({'key': one.key, 'value': one.value, 'visits': one.visits})}" for one in data.values
    )
    return native_text(data, "values", lines, epsilon=data.epsilon)


KeyProblem = Callable[[str], str]
"""Returns the reason why a text is not the key of an entry, in a sentence with the text; empty for a valid key."""


def engine_key_problem(game: AnyGame) -> KeyProblem:
    """Return the check of keys of actions on boards, for a game with an engine."""
    engine = engine_of(game)
    assert engine is not None, "the rule fits the game"

    def problem(key: str) -> str:
        """Return why the text is not a key of the game, or not one that the site can keep; empty for a valid key."""
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
    """Return a machine that keeps values under keys of any form, from its native file.

    Args:
        fields: the file, after its head was read.
        game: its game.
        rule: its rule.
        head: name, description, preset, learns.
        key_problem: the check of keys for such a machine.
        exploring: the least and the greatest exploration rate; a file without a rate gets the greatest.
        any_size: whether the file may hold more values than files of accounts.

    Raises:
        ExchangeError: the file is invalid.
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
    """Return a machine that keeps values of actions, from its native file. ``READERS`` lists this function.

    Raises:
        ExchangeError: the file is invalid.
    """
    exploring = rule.epsilon_floor, rule.epsilon
    return values_document(fields, game, rule, head, engine_key_problem(game), exploring, any_size=any_size)
