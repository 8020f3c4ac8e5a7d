"""Operations of migrations that run while people play (``docs/releases.md``)."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

BRIEFLY = migrations.RunSQL("SET LOCAL lock_timeout = '500ms'", migrations.RunSQL.noop)
"""The first operation of a migration that takes a table for itself, if only for an instant.

Whoever reads it for long, as a back-up does, keeps the migration waiting, and that keeps everybody waiting who comes
later. So it gives up instead, and ``set_up`` tries again.
"""


def index_beside(model_name: str, index: models.Index) -> list[Operation]:
    """Build an index while everybody reads and writes, also where one that was broken off has left half of it.

    Args:
        model_name: of the model.
        index: with its name.
    """
    drop = migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop)
    return [drop, AddIndexConcurrently(model_name, index)]
