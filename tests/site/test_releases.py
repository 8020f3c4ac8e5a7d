"""Old and new code on one database: what a migration may do while older processes still run (docs/releases.md).

A migration *expands*: it makes only additions that the old code can ignore, and blocks no player. A removal or
tightening is a *contraction*: a separate migration with the name ``NNNN_contract_...``. It comes in a later release
than the code that stopped using the removed part.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.functions import RandomUUID
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)
from django.core.management import CommandError
from django.db import OperationalError, connection, migrations, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import CASCADE, NOT_PROVIDED, Value
from django.db.models.fields import PositiveIntegerRelDbTypeMixin
from django.db.models.functions import Now

from games.transport.migration_operations import LOCK_TIMEOUT, index_concurrently
from learning.models import Machine
from menace_site.local.servers import BASE_DIR
from menace_site.management.commands import set_up

LAST_MIGRATIONS_BEFORE_RULE = {"games": 10, "learning": 29}
"""Number of each app's last migration before this rule. An update from such a release stops the site."""
REMOVALS = (
    migrations.RemoveField,
    migrations.DeleteModel,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.AlterModelTable,
    migrations.RemoveConstraint,
)
"""Operations that remove or rename something. They take an instant for any number of rows."""
TABLE_LOCKS = (*REMOVALS, AddConstraintNotValid, migrations.AddField)
"""Operations that lock a table for an instant, but may wait long for that lock."""
NON_BLOCKING = (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    migrations.AlterModelManagers,
    migrations.AlterModelOptions,
)


INDEX_STATEMENT = r"(CREATE|DROP) INDEX CONCURRENTLY [^;]+"


def violations(migration: Any) -> Iterator[str]:
    """Yield the reasons why a migration would break or block old code."""
    new_tables: set[str] = set()
    is_contraction = "_contract_" in migration.name
    waits_briefly = migration.atomic and migration.operations[0] is LOCK_TIMEOUT
    operations = [
        operation for operation in _database_operations(migration.operations) if operation is not LOCK_TIMEOUT
    ]
    for operation in operations:
        name = f"{migration.name}: {type(operation).__name__}"
        if isinstance(operation, migrations.CreateModel):
            new_tables.add(operation.name_lower)
        elif getattr(operation, "model_name_lower", None) in new_tables:
            continue  # no code uses the new table yet
        elif isinstance(operation, TABLE_LOCKS) and not waits_briefly:
            yield f"{name} may wait long, and block later queries. Put LOCK_TIMEOUT first, in a transaction."
        elif isinstance(operation, REMOVALS):
            if not is_contraction:
                yield f"{name} removes a part that old code may use. Do it in a later NNNN_contract_... migration."
        elif isinstance(operation, migrations.AddField):
            yield from _field_violations(name, operation.field)
        elif isinstance(operation, migrations.RunPython):
            if len(operations) > 1 or migration.atomic:
                yield f"{name} holds locks for long. Give it a migration with atomic = False and small transactions."
        elif isinstance(operation, ValidateConstraint):
            if len(operations) > 1:
                yield f"{name} reads the whole table. Give it its own migration, after that of AddConstraintNotValid."
        elif not isinstance(operation, NON_BLOCKING) and not _is_index_statement(operation, migration.atomic):
            yield f"{name} may lock or rewrite a table. Use {_alternative(operation)}"


def _database_operations(operations: Iterable[Operation]) -> Iterator[Operation]:
    """Yield the operations on the database, in order."""
    for operation in operations:
        if isinstance(operation, migrations.SeparateDatabaseAndState):
            yield from _database_operations(operation.database_operations)
        else:
            yield operation


def _is_index_statement(operation: Operation, is_atomic: bool) -> bool:
    """Return whether an operation is SQL that concurrently creates or drops an index that no model names."""
    text = getattr(operation, "sql", None)
    return isinstance(text, str) and not is_atomic and re.fullmatch(INDEX_STATEMENT, text) is not None


def _field_violations(name: str, field: Any) -> Iterator[str]:
    """Yield the reasons why adding a column needs a long lock, as PostgreSQL logs at ``client_min_messages=debug1``."""
    has_default = field.db_default is not NOT_PROVIDED
    if not field.null and not has_default and not isinstance(field, models.ManyToManyField):
        yield f"{name}: the previous release inserts rows without the column. Use null or db_default."
    if field.unique or field.db_index:
        yield f"{name} builds an index and blocks all writes. Use AddIndexConcurrently."
    if field.generated or (has_default and not _is_constant(field.db_default)):
        yield f"{name} rewrites every row. Use null, and fill the column in small transactions."
    if isinstance(field, models.ForeignKey) and has_default and field.db_constraint:
        yield f"{name} checks every row against the other table. Use null or db_constraint=False."
    if isinstance(field, PositiveIntegerRelDbTypeMixin):
        yield f"{name} reads every row for its check. Use a field without a check, and AddConstraintNotValid."


def _is_constant(default: Any) -> bool:
    return isinstance(default, (Value, Now)) or not hasattr(default, "resolve_expression")


def _alternative(operation: Operation) -> str:
    if isinstance(operation, (migrations.AddIndex, migrations.RemoveIndex)):
        return "AddIndexConcurrently or RemoveIndexConcurrently, with atomic = False."
    if isinstance(operation, (migrations.AddConstraint, migrations.AlterUniqueTogether)):
        return "AddConstraintNotValid, and ValidateConstraint in the next migration; a unique index concurrently."
    if isinstance(operation, migrations.RunSQL):
        return "one of Django's operations, or RunPython in small transactions."
    return "a new column and a later contraction; if no table changes, use state_operations."


LOADER = MigrationLoader(None)
LOCAL = {config.label for config in apps.get_app_configs() if (BASE_DIR / config.name.partition(".")[0]).is_dir()}


def migrations_under_the_rule() -> list[Any]:
    """Return the migrations since this rule, in order."""
    return [
        migration
        for (app, name), migration in sorted(LOADER.disk_migrations.items())
        if app in LOCAL and int(name[:4]) > LAST_MIGRATIONS_BEFORE_RULE.get(app, 0)
    ]


def test_every_migration_allows_the_previous_release_to_run() -> None:
    assert [violation for migration in migrations_under_the_rule() for violation in violations(migration)] == []


def test_rule_covers_every_own_app_with_tables() -> None:
    migrated = {app for app, _ in LOADER.disk_migrations} & LOCAL
    assert migrated == set(LAST_MIGRATIONS_BEFORE_RULE)
    assert {model._meta.app_label for model in apps.get_models()} & LOCAL <= migrated
    for app, last in LAST_MIGRATIONS_BEFORE_RULE.items():
        assert any(name.startswith(f"{last:04}_") for label, name in LOADER.disk_migrations if label == app)


def expands(*operations: Operation, name: str = "0099_more", atomic: bool = True) -> list[str]:
    first = [LOCK_TIMEOUT] if atomic else []
    return list(violations(SimpleNamespace(name=name, operations=[*first, *operations], atomic=atomic)))


def nothing(*states: Any) -> None:
    """Do nothing, as a step of a migration."""


NULLABLE = models.IntegerField(null=True)
GENERATED: Any = models.GeneratedField(
    expression=models.F("n_games") / 2, output_field=models.IntegerField(null=True), db_persist=True, null=True
)
CONTRACTION = "0099_contract_machine_name"
INDEX = models.Index(fields=["name"], name="machine_name")
CHECK: Any = models.CheckConstraint(condition=models.Q(n_games__gte=0), name="machine_games")
CREATES_TABLE = migrations.CreateModel("New", [("id", models.BigAutoField(primary_key=True))])


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("machine", "n_left", NULLABLE),
        migrations.AddField("machine", "n_left", models.IntegerField(db_default=0)),
        migrations.AddField("machine", "left_at", models.DateTimeField(db_default=Now())),
        migrations.AddField("machine", "model", models.ForeignKey("model", CASCADE, null=True, db_index=False)),
        AddIndexConcurrently("machine", INDEX),
        AddConstraintNotValid("machine", CHECK),
        ValidateConstraint("machine", "machine_games"),
        migrations.AlterModelOptions("machine", {}),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.AlterField("machine", "name", NULLABLE)]),
        CREATES_TABLE,
    ],
)
def test_expanding_operations_are_allowed(operation: Operation) -> None:
    assert expands(operation) == []


REMOVING = [
    migrations.RemoveField("machine", "name"),
    migrations.RenameField("machine", "name", "title"),
    migrations.RenameModel("machine", "engine"),
    migrations.AlterModelTable("machine", "engine"),
    migrations.RemoveConstraint("machine", "machine_games"),
    migrations.DeleteModel("machine"),
    migrations.SeparateDatabaseAndState(database_operations=[migrations.RemoveField("machine", "name")]),
]
BLOCKING = [
    migrations.AddField("machine", "n_left", models.IntegerField(default=0)),
    migrations.AddField("machine", "n_left", models.IntegerField(null=True, db_index=True)),
    migrations.AddField("machine", "n_left", models.IntegerField(null=True, unique=True)),
    migrations.AddField("machine", "n_left", models.PositiveIntegerField(db_default=0)),
    migrations.AddField("machine", "key", models.UUIDField(db_default=RandomUUID())),
    migrations.AddField("machine", "half", GENERATED),
    migrations.AddField("machine", "model", models.ForeignKey("model", CASCADE, db_default=1, db_index=False)),
    migrations.AddField("machine", "model", models.ForeignKey("model", CASCADE, null=True)),
    migrations.AddIndex("machine", INDEX),
    migrations.RemoveIndex("machine", "machine_name"),
    migrations.AddConstraint("machine", CHECK),
    migrations.AlterUniqueTogether("machine", {("name", "game")}),
    migrations.AlterField("machine", "name", models.TextField()),
    migrations.RunSQL("UPDATE learning_machine SET name = ''"),
    migrations.RunSQL("ALTER TABLE learning_machine DROP COLUMN name"),
    migrations.RunSQL("CREATE INDEX machine_name ON learning_machine (name)"),
    migrations.RunSQL("DROP INDEX CONCURRENTLY machine_name; DROP TABLE learning_machine"),
    migrations.RunPython(nothing),
    migrations.SeparateDatabaseAndState(database_operations=[migrations.AddIndex("machine", INDEX)]),
]


@pytest.mark.parametrize("operation", [*REMOVING, *BLOCKING])
def test_breaking_or_blocking_operations_are_refused(operation: Operation) -> None:
    assert len(expands(operation)) == 1


@pytest.mark.parametrize("operation", REMOVING)
def test_contraction_may_remove_columns_and_tables(operation: Operation) -> None:
    assert expands(operation, name=CONTRACTION) == []


@pytest.mark.parametrize("operation", BLOCKING)
def test_contraction_may_not_block_queries(operation: Operation) -> None:
    assert len(expands(operation, name=CONTRACTION)) == 1


@pytest.mark.parametrize("operation", [one for one in BLOCKING if not isinstance(one, migrations.RunPython)])
def test_operations_block_queries_outside_a_transaction_too(operation: Operation) -> None:
    assert len(expands(operation, atomic=False)) == 1


@pytest.mark.parametrize("words", ["CREATE INDEX CONCURRENTLY a ON b (c)", "DROP INDEX CONCURRENTLY IF EXISTS a"])
def test_indexes_of_fields_are_made_and_dropped_concurrently(words: str) -> None:
    assert expands(migrations.RunSQL(words), atomic=False) == []
    assert len(expands(migrations.RunSQL(words))) == 1


@pytest.mark.parametrize("operation", [migrations.AddField("machine", "n_left", NULLABLE), REMOVING[0]])
def test_operations_that_lock_a_table_need_a_lock_timeout(operation: Operation) -> None:
    for operations, atomic in (
        ([operation, LOCK_TIMEOUT], True),
        ([LOCK_TIMEOUT, operation], False),
        ([operation], True),
    ):
        (violation,) = violations(SimpleNamespace(name=CONTRACTION, operations=operations, atomic=atomic))
        assert "LOCK_TIMEOUT" in violation


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("n_tries", [2, 3, 4])
def test_migration_retries_while_a_table_is_locked(n_tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_up, "MAX_TRIES", 3)
    monkeypatch.setattr(set_up, "TRY_INTERVAL_S", 0.0)
    reader, calls = connection.copy(), []
    reader.set_autocommit(False)
    reader.cursor().execute("SELECT FROM learning_trainingrun")

    def migrate(name: str, **_: Any) -> None:
        calls.append(name)
        if len(calls) == n_tries:
            reader.close()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(LOCK_TIMEOUT.sql)
            cursor.execute("LOCK TABLE learning_trainingrun")

    monkeypatch.setattr(set_up, "call_command", migrate)
    try:
        with contextlib.nullcontext() if n_tries <= 3 else pytest.raises(CommandError, match="in use"):
            set_up.Command().migrate()
    finally:
        reader.close()
    assert calls == ["migrate"] * min(n_tries, 3)


@pytest.mark.django_db(transaction=True)
def test_migration_does_not_retry_other_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def migrate(*_: Any, **__: Any) -> None:
        connection.cursor().execute("SELECT pg_terminate_backend(pg_backend_pid())")

    monkeypatch.setattr(set_up, "call_command", migrate)
    with pytest.raises(OperationalError):
        set_up.Command().migrate()
    connection.close()


@pytest.mark.django_db(transaction=True)
def test_half_built_index_is_built_again() -> None:
    state = LOADER.project_state()
    (index,) = (one for one in Machine._meta.indexes if one.name == "machine_folding")
    for _ in range(2):
        with connection.schema_editor(atomic=False) as editor:
            for operation in index_concurrently("machine", index):
                operation.database_forwards("learning", editor, state, state)


def test_index_on_a_new_table_is_allowed() -> None:
    index: Any = migrations.AddIndex("new", models.Index(fields=["id"], name="new_id"))
    assert expands(CREATES_TABLE, index) == []


def test_row_changes_are_separate_and_in_small_transactions() -> None:
    assert expands(migrations.RunPython(nothing), atomic=False) == []
    index = AddIndexConcurrently("machine", INDEX)
    assert len(expands(migrations.RunPython(nothing), index, atomic=False)) == 1
    hidden = migrations.SeparateDatabaseAndState(database_operations=[migrations.RunPython(nothing)])
    assert len(expands(hidden, index, atomic=False)) == 1
