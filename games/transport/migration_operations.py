"""Migration operations that run while people play (``docs/releases.md``)."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation

BRIEFLY = migrations.RunSQL("SET LOCAL lock_timeout = '500ms'", migrations.RunSQL.noop)
"""First operation of a migration that locks a table exclusively, even for an instant.

A long reader, such as a back-up, keeps the migration waiting, and the migration would keep all later queries waiting.
With the timeout the migration fails instead, and ``set_up`` tries again.
"""


def index_concurrently(model_name: str, index: models.Index) -> list[Operation]:
    """Build an index without blocking reads or writes, even if an interrupted attempt has left an invalid index.

    Args:
        model_name: name of the model.
        index: the index, with its name.
    """
    drop = migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop)
    return [drop, AddIndexConcurrently(model_name, index)]
