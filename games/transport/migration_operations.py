"""Migration operations that run while people play (``docs/releases.md``)."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

LOCK_TIMEOUT = migrations.RunSQL("SET LOCAL lock_timeout = '500ms'", migrations.RunSQL.noop)
"""First operation of a migration that locks a table exclusively, even for an instant.

A migration waits for a long reader, such as a back-up, and all later queries wait for the migration. With the timeout
the migration fails after half a second instead, and ``set_up`` tries again.
"""


def index_concurrently(model_name: str, index: models.Index) -> list[Operation]:
    """Return the operations that build an index without blocking reads or writes.

    The first operation drops an invalid index, which an interrupted attempt may have left behind.

    Args:
        model_name: name of the model.
        index: the index, with its name.
    """
    drop = migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop)
    return [drop, AddIndexConcurrently(model_name, index)]


class AlterHelpTexts(Operation):
    """Change the help texts of fields: a state operation, because the database does not store them."""

    reduces_to_sql = False

    def __init__(self, texts: dict[str, str]) -> None:
        """Keep the new help texts by field, as in ``machine.epsilon``."""
        self.texts = texts

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        for name, text in self.texts.items():
            model_name, field_name = name.split(".")
            field = state.models[app_label, model_name].fields[field_name].clone()
            field.help_text = text
            state.alter_field(app_label, model_name, field_name, field, preserve_default=True)
