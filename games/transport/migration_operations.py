"""Migration operations that run while people play (``docs/releases.md``)."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

BRIEFLY = migrations.RunSQL("SET LOCAL lock_timeout = '500ms'", migrations.RunSQL.noop)
"""First operation of a migration that locks a table exclusively, even for an instant.

A migration waits for a long reader, such as a back-up, and all later queries wait for the migration. With the timeout
the migration fails after half a second instead, and ``set_up`` tries again.
"""


def index_concurrently(model_name: str, index: models.Index) -> list[Operation]:
    """Return the operations that build an index without blocking reads or writes.

    They first drop an invalid index, which an interrupted attempt may have left.

    Args:
        model_name: name of the model.
        index: the index, with its name.
    """
    drop = migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop)
    return [drop, AddIndexConcurrently(model_name, index)]
