"""The native file of a table learner: its keys follow from its game and its rule."""

from __future__ import annotations

from typing import Any

from beadbox.learners.exchange.errors import shown
from beadbox.learners.exchange.values import KeyProblem, ValuesData, values_document
from beadbox.learners.table_learner.memory import entries_compile
from beadbox.learners.table_learner.rule import TableRule
from beadbox.rules.game import AnyGame


def table_document(
    fields: dict[str, Any], game: AnyGame, rule: TableRule, head: dict[str, Any], any_size: bool
) -> ValuesData:
    """Return a table learner from its native file; a reader of ``READERS``, which checks every key.

    Raises:
        ExchangeError: the file is invalid.
    """
    exploring = rule.exploring_floor, rule.exploring
    return values_document(fields, game, rule, head, _key_problem(game, rule), exploring, any_size=any_size)


def _key_problem(game: AnyGame, rule: TableRule) -> KeyProblem:
    """Return a check of a key in a file: it names the problem of a key that such a machine cannot have."""
    entries = entries_compile(game, rule).entry_of
    key_name = "board after a move" if rule.of_boards else "move on a board"
    return lambda key: "" if key in entries else f"The text {shown(key)} is not the key of a {key_name} of {game.name}."
