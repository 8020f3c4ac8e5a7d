"""Old and new code on one database: what a migration may do while yesterday's processes still run (docs/releases.md).

A migration *expands*: it adds what yesterday's code need not know of, and stops nobody who moves. What takes away or
tightens is a *contraction*: a migration of its own, called ``NNNN_contract_...``, in a later release than the code that
stopped using it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

BEFORE_THE_RULE = {"games": 10, "learning": 29}
"""The last migrations from before there was a rule: sites that run them are stopped meanwhile."""
TAKES_AWAY = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
    migrations.RemoveConstraint,
    migrations.AlterUniqueTogether,
)
STOPS_NOBODY = (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    migrations.AlterModelManagers,
    migrations.AlterModelOptions,
)


def wrongs(migration: Any) -> Iterator[str]:
    """What of a migration would break yesterday's code, or hold it up."""
    made: set[str] = set()
    is_contraction = "_contract_" in migration.name
    for operation in migration.operations:
        name = f"{migration.name}: {type(operation).__name__}"
        if isinstance(operation, migrations.CreateModel):
            made.add(operation.name_lower)
        elif isinstance(operation, migrations.SeparateDatabaseAndState):
            inner = SimpleNamespace(
                name=migration.name, operations=operation.database_operations, atomic=migration.atomic
            )
            yield from wrongs(inner)
        elif getattr(operation, "model_name_lower", None) in made:
            continue  # nobody knows of the table yet
        elif isinstance(operation, TAKES_AWAY):
            if not is_contraction:
                yield f"{name} takes away what yesterday's code may use: in a later release, in NNNN_contract_..."
        elif isinstance(operation, migrations.AddField):
            yield from _wrong_field(name, operation.field)
        elif isinstance(operation, (migrations.RunPython, migrations.RunSQL)):
            if len(migration.operations) > 1 or migration.atomic:
                yield f"{name} keeps its locks for as long as others run: alone, atomic = False, in small transactions."
        elif isinstance(operation, ValidateConstraint):
            if len(migration.operations) > 1:
                yield f"{name} reads the whole table: in a migration of its own, after AddConstraintNotValid's."
        elif not isinstance(operation, STOPS_NOBODY) and not is_contraction:
            yield f"{name} locks or rewrites a table: {_instead(operation)}"


def _wrong_field(name: str, field: Any) -> Iterator[str]:
    told = field.null or field.db_default is not NOT_PROVIDED
    if not told and not isinstance(field, models.ManyToManyField):
        yield f"{name}: yesterday's code inserts rows without it; null or db_default."
    if field.unique or field.db_index:
        yield f"{name} builds an index while nobody can write: AddIndexConcurrently."


def _instead(operation: Operation) -> str:
    if isinstance(operation, (migrations.AddIndex, migrations.RemoveIndex)):
        return "AddIndexConcurrently, RemoveIndexConcurrently, with atomic = False."
    if isinstance(operation, migrations.AddConstraint):
        return "AddConstraintNotValid, and ValidateConstraint in the next migration."
    return "a new column beside the old, filled in small transactions, and a contraction later."


def ours() -> list[Any]:
    """The migrations since there is a rule, in order."""
    loader = MigrationLoader(None)
    return [
        migration
        for (app, name), migration in sorted(loader.disk_migrations.items())
        if app in BEFORE_THE_RULE and int(name[:4]) > BEFORE_THE_RULE[app]
    ]


def test_yesterdays_code_can_go_on_with_every_migration() -> None:
    assert [wrong for migration in ours() for wrong in wrongs(migration)] == []


def expands(*operations: Operation, name: str = "0099_more", atomic: bool = True) -> list[str]:
    return list(wrongs(SimpleNamespace(name=name, operations=operations, atomic=atomic)))


def nothing(*states: Any) -> None:
    """A step of a migration."""


NULLABLE = models.IntegerField(null=True)
INDEX = models.Index(fields=["name"], name="machine_name")
CHECK: Any = models.CheckConstraint(condition=models.Q(n_games__gte=0), name="machine_games")
MAKES = migrations.CreateModel("New", [("id", models.BigAutoField(primary_key=True))])


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("machine", "n_left", NULLABLE),
        migrations.AddField("machine", "n_left", models.IntegerField(db_default=0)),
        AddIndexConcurrently("machine", INDEX),
        AddConstraintNotValid("machine", CHECK),
        ValidateConstraint("machine", "machine_games"),
        migrations.AlterModelOptions("machine", {}),
        MAKES,
    ],
)
def test_what_expands_passes(operation: Operation) -> None:
    assert expands(operation) == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("machine", "n_left", models.IntegerField(default=0)),
        migrations.AddField("machine", "n_left", models.IntegerField(null=True, db_index=True)),
        migrations.AddIndex("machine", INDEX),
        migrations.AddConstraint("machine", CHECK),
        migrations.AlterField("machine", "name", models.TextField()),
        migrations.RemoveField("machine", "name"),
        migrations.RenameField("machine", "name", "title"),
        migrations.DeleteModel("machine"),
        migrations.RunSQL("UPDATE learning_machine SET name = ''"),
        migrations.RunPython(nothing),
        migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("machine", "name")]),
    ],
)
def test_what_breaks_yesterdays_code_or_holds_it_up_is_refused(operation: Operation) -> None:
    assert len(expands(operation)) == 1


def test_a_contraction_may_take_away_but_not_hold_up() -> None:
    name = "0099_contract_machine_name"
    assert expands(migrations.RemoveField("machine", "name"), name=name) == []
    assert len(expands(migrations.AddField("machine", "n_left", models.IntegerField()), name=name)) == 1


def test_of_a_table_that_is_made_with_it_nobody_knows() -> None:
    index: Any = migrations.AddIndex("new", models.Index(fields=["id"], name="new_id"))
    assert expands(MAKES, index) == []


def test_rows_are_changed_alone_and_in_small_transactions() -> None:
    assert expands(migrations.RunPython(nothing), atomic=False) == []
    assert len(expands(migrations.RunPython(nothing), migrations.AddField("machine", "x", NULLABLE), atomic=False)) == 1
